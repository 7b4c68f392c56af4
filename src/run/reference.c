#include "run/reference.h"

#include <glib.h>
#include <string.h>

#include "method/cpi.h"
#include "run/variants.h"

enum { ORDERS = 2, PARTS = 7 };

/* Parts in the order in which they become real: what misses behind long data misses first, or those first. */
static const enum cpi order[ORDERS][PARTS] = {
	{ CPI_L1D, CPI_BRANCH, CPI_L1I, CPI_L2I, CPI_ITLB, CPI_L2D, CPI_DTLB },
	{ CPI_L1D, CPI_BRANCH, CPI_L2D, CPI_DTLB, CPI_L1I, CPI_L2I, CPI_ITLB },
};
static const char *const names[ORDERS] = { "simulation", "simulation_inverse" };

/* step[o][k]: the variant with the first k parts of order `o` real. */
struct simulations {
	struct variants *variants;
	unsigned step[ORDERS][PARTS + 1];
};

static bool *part_of(struct core_ideal *ideal, enum cpi k)
{
	switch (k) {
	case CPI_L1I:
		return &ideal->l1i;
	case CPI_L2I:
		return &ideal->l2i;
	case CPI_ITLB:
		return &ideal->itlb;
	case CPI_L1D:
		return &ideal->l1d;
	case CPI_L2D:
		return &ideal->l2d;
	case CPI_DTLB:
		return &ideal->dtlb;
	default:
		g_assert(k == CPI_BRANCH);
		return &ideal->branch;
	}
}

static struct core_ideal ideal_after(const enum cpi *real, unsigned nr)
{
	struct core_ideal ideal = {
		.l1i = true, .l2i = true, .itlb = true, .l1d = true, .l2d = true, .dtlb = true, .branch = true
	};

	for (unsigned i = 0; i < nr; i++)
		*part_of(&ideal, real[i]) = false;
	return ideal;
}

/* --- running ----------------------------------------------------------------------------------------- */

/* The variant with these parts ideal, which both orders may have. */
static int add(struct simulations *s, GArray *had, const struct core_ideal *ideal, unsigned *nr)
{
	for (*nr = 0; *nr < had->len; ++*nr)
		if (!memcmp(ideal, &g_array_index(had, struct core_ideal, *nr), sizeof *ideal))
			return 0;
	g_array_append_vals(had, ideal, 1);
	return variants_add(s->variants, &(struct variant){ .ideal = *ideal }, nr);
}

static int reference_open(void **state, const struct driven_run *run)
{
	struct simulations *s = g_new0(struct simulations, 1);
	GArray *had = g_array_new(FALSE, FALSE, sizeof(struct core_ideal));
	int err = 0;

	*state = s;
	s->variants = variants_new(run);
	for (unsigned o = 0; o < ORDERS; o++)
		for (unsigned k = 0; k <= PARTS && !err; k++) {
			struct core_ideal ideal = ideal_after(order[o], k);
			err = add(s, had, &ideal, &s->step[o][k]);
		}
	g_array_free(had, TRUE);
	return err;
}

static void reference_close(void *state)
{
	struct simulations *s = state;

	if (s)
		variants_free(s->variants);
	g_free(s);
}

static int reference_batch(void *state, const struct step_batch *b)
{
	return variants_batch(((struct simulations *)state)->variants, b);
}

static int reference_finish(void *state)
{
	return 0;
}

/* A part that is real may save cycles: then its component is negative. */
static int reference_save(void *state, struct profile *p)
{
	const struct simulations *s = state;
	int err = 0;

	for (unsigned o = 0; o < ORDERS && !err; o++) {
		uint64_t cycles[NR_CPI] = { 0 };

		for (unsigned k = 0; k < PARTS; k++)
			cycles[order[o][k]] = variants_cycles(s->variants, s->step[o][k + 1]) -
			                      variants_cycles(s->variants, s->step[o][k]);
		err = cpi_save(p, names[o], variants_cycles(s->variants, s->step[o][PARTS]) * CYCLE_UNITS, cycles);
	}
	return err;
}

const struct driven reference = {
	.model = "ooo",
	.beside = true,
	.open = reference_open,
	.batch = reference_batch,
	.finish = reference_finish,
	.save = reference_save,
	.close = reference_close,
};
