/*
 * Per-instruction cycle stacks, without sampling: for every static instruction and signature, how often it was
 * executed and how many cycles it cost. This is the golden reference that sampling methods are measured against,
 * and what `report` shows. The sum over all rows is the number of counted cycles, exactly.
 *
 * All executions are counted in an array over the static instructions, whatever their signature, so that nothing
 * need be known of most; those that met an event, and instructions beyond the array, in a hash table besides. What
 * an instruction has in the array and not in the table is its Base. Memory grows with the code that was executed,
 * not with the length of the run.
 *
 * A row may have cycles without an execution: a flusher that never commits, or one before the counted region.
 *
 * The sum of the executions (run key `executions`) is there to be compared: instructions counted by the source =
 * steps received = timed records = executions. Those of instructions that isa/ marks INSN_UNMODELLED, which ran with
 * assumed costs, are reported by form instead of silently believed.
 * Ref: TEA §2 (PICS), §4 (golden reference).
 */
#include <errno.h>
#include <glib.h>

#include "method/feed.h"
#include "method/tally.h"
#include "method/unmodelled.h"
#include "profile/profile.h"

struct sums { uint64_t executions, units; };

struct pics {
	struct code *code;
	struct sums *all;              /* [TALLY_INSNS]: of any signature */
	struct tally events;           /* those of a signature, by tally_key(); for insn >= TALLY_INSNS of any */
	uint64_t executions;
};

static int pics_open(void *state, const struct run *run)
{
	struct pics *p = state;

	p->code = run->code;
	p->all = tally_array_new(sizeof(*p->all));
	if (!p->all)
		return -ENOMEM;
	tally_init(&p->events);
	return 0;
}

static int pics_lane(void *state, void *lane, uint32_t thread)
{
	return 0;
}

static inline uint64_t units_of(const struct interval *v)
{
	return (v->commit - v->from) * CYCLE_UNITS + v->units;
}

/* `units` wrap: what an instruction has not got itself is taken from it again. */
static void add_all(struct pics *p, uint32_t insn, uint64_t units)
{
	if (insn < TALLY_INSNS)
		p->all[insn].units += units;
}

static void add_events(struct pics *p, uint32_t insn, uint16_t psv, uint64_t executions, uint64_t units)
{
	if (!psv && insn < TALLY_INSNS)
		return;
	struct tally_row *row = tally_row(&p->events, tally_key(insn, psv));
	row->count += executions;
	row->units += units;
}

/* An interval with an event, or whose first cycles the flusher before it pays. */
static void take_notable(struct pics *p, const struct interval *v)
{
	uint64_t flushed = v->flushed == FLUSHED_BY ? (v->enter - v->from) * CYCLE_UNITS : 0;

	if (flushed) {
		add_all(p, v->insn, -flushed);
		add_all(p, v->flusher, flushed);
		add_events(p, v->flusher, v->flusher_psv, 0, flushed);
	}
	add_events(p, v->insn, v->psv, interval_commits(v), units_of(v) - flushed);
}

/* Beyond the array, without an event: not among the notable. */
static void take_far(struct pics *p, const struct interval *v)
{
	if (!interval_is_notable(v))
		add_events(p, v->insn, 0, interval_commits(v), units_of(v));
}

/* Those of a block, as if none had an event. `plain`, which is constant: all of them count, and commit. */
static inline __attribute__((always_inline)) void take_all(struct pics *p, const struct walked *w, const bool plain)
{
	struct sums *all = p->all;
	uint64_t executions = plain ? w->nr : 0;

	for (const struct interval *v = w->v, *end = v + w->nr; v < end; v++) {
		unsigned commits = plain || interval_commits(v);
		if (!plain && !interval_counts(v))
			continue;
		executions += plain ? 0 : commits;
		if (__builtin_expect(v->insn >= TALLY_INSNS, 0)) {
			take_far(p, v);
			continue;
		}
		all[v->insn].executions += commits;
		all[v->insn].units += units_of(v);
	}
	p->executions += executions;
}

static void pics_block(void *state, void *lane, const struct block *b)
{
	struct pics *p = state;
	const struct walked *w = &b->walked;

	if (w->every & TIMED_COUNTED && !(w->any & TIMED_SQUASHED))
		take_all(p, w, true);
	else
		take_all(p, w, false);
	for (size_t i = 0; i < w->nr_notable; i++)
		if (interval_counts(&w->v[w->notable[i]]))
			take_notable(p, &w->v[w->notable[i]]);
}

/* By instruction, then signature. */
static int save_cycles(const struct pics *p, struct profile *out)
{
	size_t nr, k = 0;
	int err = 0;
	struct tally_row *rows = tally_sorted(&p->events, &nr);

	for (uint32_t insn = 0; insn < p->code->nr && insn < TALLY_INSNS && !err; insn++) {
		struct sums base = p->all[insn];
		for (size_t i = k; i < nr && tally_insn(rows[i].key) == insn; i++) {
			base.executions -= rows[i].count;
			base.units -= rows[i].units;
		}
		if (base.executions || base.units)
			err = profile_cycles(out, insn, 0, base.executions, base.units);
		for (; k < nr && tally_insn(rows[k].key) == insn && !err; k++)
			err = profile_cycles(out, insn, tally_psv(rows[k].key), rows[k].count, rows[k].units);
	}
	for (; k < nr && !err; k++)
		err = profile_cycles(out, tally_insn(rows[k].key), tally_psv(rows[k].key), rows[k].count,
		                     rows[k].units);
	g_free(rows);
	return err;
}

static uint64_t executions_of(const void *ctx, uint32_t insn)
{
	const struct pics *p = ctx;

	return insn < TALLY_INSNS ? p->all[insn].executions : 0;
}

static int pics_save(const void *state, struct profile *out)
{
	const struct pics *p = state;
	int err = save_cycles(p, out);

	if (!err)
		err = profile_set_int(out, "executions", (int64_t)p->executions);
	return err ? err : unmodelled_save(p->code, executions_of, p, out);
}

static void pics_close(void *state)
{
	struct pics *p = state;

	tally_array_free(p->all, sizeof(*p->all));
	tally_fini(&p->events);
}

const struct method method_pics = {
	.name = "pics",
	.help = "exact cycle stack of every instruction (the golden reference), and executions without cost data",
	.state_size = sizeof(struct pics),
	.lane_size = 1,
	.open = pics_open,
	.lane = pics_lane,
	.block = pics_block,
	.end = method_forgets,
	.save = pics_save,
	.close = pics_close,
};
