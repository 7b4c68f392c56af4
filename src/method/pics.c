/*
 * Per-instruction cycle stacks, without sampling: for every static instruction and signature, how often it was
 * executed and how many cycles it cost. This is the golden reference that sampling methods are measured against,
 * and what `report` shows. The sum over all rows is the number of counted cycles, exactly.
 *
 * Executions that met no event are counted in an array over the static instructions; other signatures, and
 * instructions beyond the array, in a hash table. Memory grows with the code that was executed, not with the
 * length of the run.
 *
 * A row may have cycles without an execution: a flusher that never commits, or one before the counted region.
 * Ref: TEA §2 (PICS), §4 (golden reference).
 */
#include <errno.h>
#include <glib.h>

#include "method/tally.h"
#include "method/walker.h"
#include "profile/profile.h"

struct plain { uint64_t executions, units; };

struct pics {
	struct plain *plain;           /* [TALLY_INSNS]: executions without an event */
	uint32_t nr;                   /* of them in use */
	struct tally events;           /* by tally_key() */
};

struct pics_lane { struct walker walker; };

static int pics_open(void *state, const struct run *run)
{
	struct pics *p = state;

	p->plain = tally_array_new(sizeof(*p->plain));
	if (!p->plain)
		return -ENOMEM;
	tally_init(&p->events);
	return 0;
}

static int pics_lane(void *state, void *lane, uint32_t thread)
{
	walker_init(&((struct pics_lane *)lane)->walker);
	return 0;
}

static inline void add(struct pics *p, uint32_t insn, uint16_t psv, uint64_t executions, uint64_t units)
{
	if (__builtin_expect(!psv && insn < TALLY_INSNS, 1)) {
		p->plain[insn].executions += executions;
		p->plain[insn].units += units;
		if (insn >= p->nr)
			p->nr = insn + 1;
		return;
	}
	struct tally_row *row = tally_row(&p->events, tally_key(insn, psv));
	row->count += executions;
	row->units += units;
}

static void take(struct pics *p, const struct interval *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t from = v[i].from;

		if (!interval_counts(&v[i]))
			continue;
		if (__builtin_expect(!v[i].own && v[i].enter > from, 0)) {
			add(p, v[i].payer, v[i].payer_psv, 0, (v[i].enter - from) * CYCLE_UNITS);
			from = v[i].enter;
		}
		add(p, v[i].insn, v[i].psv, interval_commits(&v[i]), (v[i].commit - from) * CYCLE_UNITS + v[i].units);
	}
}

static void pics_batch(void *state, void *lane, const struct timed *t, size_t n)
{
	struct pics_lane *l = lane;
	const struct timed *end = t + n;
	const struct interval *v;

	while (t < end) {
		size_t nr = walker_read(&l->walker, &t, end, &v);
		take(state, v, nr);
	}
}

static void pics_finish(void *state, void *lane)
{
	struct pics_lane *l = lane;
	const struct interval *v;
	size_t nr = walker_finish(&l->walker, &v);

	take(state, v, nr);
}

/* By instruction, then signature. */
static int pics_save(const void *state, struct profile *out)
{
	const struct pics *p = state;
	size_t nr, k = 0;
	int err = 0;
	struct tally_row *rows = tally_sorted(&p->events, &nr);

	for (uint32_t insn = 0; insn < p->nr && !err; insn++) {
		const struct plain *plain = &p->plain[insn];
		if (plain->executions || plain->units)
			err = profile_cycles(out, insn, 0, plain->executions, plain->units);
		for (; k < nr && tally_insn(rows[k].key) == insn && !err; k++)
			err = profile_cycles(out, insn, tally_psv(rows[k].key), rows[k].count, rows[k].units);
	}
	for (; k < nr && !err; k++)
		err = profile_cycles(out, tally_insn(rows[k].key), tally_psv(rows[k].key), rows[k].count, rows[k].units);
	g_free(rows);
	return err;
}

static void pics_close(void *state)
{
	struct pics *p = state;

	tally_array_free(p->plain, sizeof(*p->plain));
	tally_fini(&p->events);
}

const struct method method_pics = {
	.name = "pics",
	.help = "exact cycle stack of every instruction (the golden reference)",
	.state_size = sizeof(struct pics),
	.lane_size = sizeof(struct pics_lane),
	.open = pics_open,
	.lane = pics_lane,
	.batch = pics_batch,
	.finish = pics_finish,
	.save = pics_save,
	.close = pics_close,
};
