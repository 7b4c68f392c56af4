/*
 * The critical path of the run by instruction (critical.h), for advice: what an instruction's executions on it waited
 * for, and how many stood in a chain of operands that leads from one execution of the instruction to the next.
 *
 * Figures of instructions: "share" of the path, "class" (enum latency_class), "carried" and "bound/NAME", parts of the
 * instruction's executions on the path; "bound/port.NAME" and "bound/unit.NAME" say which by the instruction's uops,
 * "bound/decode.erratum" that a jump keeps its window out of the uop cache.
 */
#include <glib.h>

#include "core/params.h"
#include "method/critical.h"
#include "method/feed.h"
#include "profile/profile.h"

struct chains {
	const struct core_desc *desc;
	const struct code *code;
	GPtrArray *lanes;              /* struct critical * */
};

struct lane { struct critical *critical; };

static int chains_open(void *state, const struct run *run)
{
	struct chains *s = state;

	s->desc = run->desc;
	s->code = run->code;
	s->lanes = g_ptr_array_new();
	return 0;
}

static int chains_lane(void *state, void *lane, uint32_t thread)
{
	struct chains *s = state;
	struct lane *l = lane;

	l->critical = critical_new();
	g_ptr_array_add(s->lanes, l->critical);
	return 0;
}

static void chains_block(void *state, void *lane, const struct block *b)
{
	critical_batch(((struct lane *)lane)->critical, b->t, b->n);
}

static void chains_finish(void *state, void *lane)
{
	critical_finish(((struct lane *)lane)->critical);
}

static struct critical_row sum_of(const struct chains *s, uint32_t insn)
{
	struct critical_row sum = { .count = 0 };

	for (guint i = 0; i < s->lanes->len; i++) {
		const struct critical_row *row = critical_row(s->lanes->pdata[i], insn);

		if (!row)
			continue;
		sum.count += row->count;
		sum.carried += row->carried;
		for (unsigned k = 0; k < NR_BOUNDS; k++)
			sum.bound[k] += row->bound[k];
	}
	return sum;
}

/* The ports of the uop that can choose from the fewest, or the unit that one holds. */
static void bound_figure(const struct chains *s, uint32_t insn, enum bound bound, char *buf, size_t size)
{
	const struct insn *in = code_insn(s->code, insn);
	const struct uop *u = &s->code->uops[in->uop];
	uint16_t ports = 0;
	uint8_t unit = 0;
	char name[128];

	for (unsigned i = 0; i < in->nr_uops; i++) {
		if (u[i].ports && (!ports || __builtin_popcount(u[i].ports) < __builtin_popcount(ports)))
			ports = u[i].ports;
		unit = unit ? unit : u[i].unit;
	}
	if (bound == BOUND_PORT && ports)
		g_snprintf(buf, (gulong)size, "bound/port.%s", ports_name(s->desc, ports, name));
	else if (bound == BOUND_UNIT && unit)
		g_snprintf(buf, (gulong)size, "bound/unit.%s", s->desc->unit_names[unit - 1]);
	else
		g_snprintf(buf, (gulong)size, "bound/%s", bound_name(bound));
}

static uint64_t *window_of(const struct chains *s, const struct insn *in, uint64_t *window)
{
	*window = in->pc / (uint64_t)s->desc->uopcache_window / (s->desc->uopcache_pairs ? 2 : 1);
	return window;
}

/*
 * Windows of the uop cache, or pairs of them, with a jump that keeps them out of it. Free with
 * g_hash_table_destroy().
 */
static GHashTable *spoilt_windows(const struct chains *s)
{
	GHashTable *spoilt = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	uint64_t window;

	for (uint32_t i = 0; i < s->code->nr && s->desc->uopcache_sets && s->desc->uopcache_jcc_erratum; i++) {
		const struct insn *in = code_insn(s->code, i);
		if (in->flags & INSN_JCC_ERRATUM)
			g_hash_table_add(spoilt, g_memdup2(window_of(s, in, &window), sizeof window));
	}
	return spoilt;
}

static bool is_spoilt(const struct chains *s, GHashTable *spoilt, uint32_t insn)
{
	uint64_t window;

	return g_hash_table_size(spoilt) &&
	       g_hash_table_contains(spoilt, window_of(s, code_insn(s->code, insn), &window));
}

static int chains_save(const void *state, struct profile *out)
{
	const struct chains *s = state;
	GHashTable *spoilt = spoilt_windows(s);
	uint64_t total = 0;
	int err = 0;

	for (guint i = 0; i < s->lanes->len; i++)
		total += critical_total(s->lanes->pdata[i]);
	for (uint32_t insn = 0; insn < s->code->nr && !err; insn++) {
		struct critical_row sum = sum_of(s, insn);

		if (!sum.count)
			continue;
		err = profile_insn_figure(out, "chains", insn, "share", (double)sum.count / (double)total);
		if (!err)
			err = profile_insn_figure(out, "chains", insn, "class",
			                          latency_class(code_insn(s->code, insn)));
		if (!err && sum.carried)
			err = profile_insn_figure(out, "chains", insn, "carried",
			                          (double)sum.carried / (double)sum.count);
		for (unsigned k = 0; k < NR_BOUNDS && !err; k++) {
			char name[160];

			if (!sum.bound[k])
				continue;
			bound_figure(s, insn, k, name, sizeof name);
			if (k == BOUND_DECODE && is_spoilt(s, spoilt, insn))
				g_strlcat(name, ".erratum", sizeof name);
			err = profile_insn_figure(out, "chains", insn, name, (double)sum.bound[k] / (double)sum.count);
		}
	}
	g_hash_table_destroy(spoilt);
	return err;
}

static void chains_close(void *state)
{
	struct chains *s = state;

	for (guint i = 0; i < s->lanes->len; i++)
		critical_free(s->lanes->pdata[i]);
	g_ptr_array_free(s->lanes, TRUE);
}

const struct method method_chains = {
	.name = "chains",
	.help = "the critical path by instruction, and the chains of operands along it",
	.set = METHODS_ADVICE,
	.state_size = sizeof(struct chains),
	.lane_size = sizeof(struct lane),
	.open = chains_open,
	.lane = chains_lane,
	.block = chains_block,
	.finish = chains_finish,
	.save = chains_save,
	.close = chains_close,
};
