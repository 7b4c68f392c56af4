/*
 * ProfileMe: counts fetched instructions, wrong path included, and tags one; what comes back is a whole record of what
 * happened to it: its events, how long it spent in each stage, and whether it retired or why it was aborted. In pairs:
 * a second instruction is tagged within a window of the first, and what of it fell into the flight of the first, and
 * the other way round, estimates how much else went on while an instruction was in flight.
 *
 * The counter's mean is the clock's period times the thread's instructions fetched a cycle so far, more where there are
 * more samples by now than of the methods that sample cycles, less where there are fewer. A sample stands for the
 * instructions since the one before: that is its weight, so that nothing is biased by a mean that changes.
 *
 * Aborted samples are counted as dropped; they are answers, but no part of the profile. The second of a pair is no
 * sample of the profile either. Of an instruction in several records the first is its sample. Beside each answer stands
 * its exact value over all executions (`exact/...`): what no hardware could know.
 * Ref: Dean et al., "ProfileMe", MICRO 1997 (latency registers, paired sampling); "Transparent, Low-Overhead
 * Profiling".
 */
#include <errno.h>
#include <glib.h>

#include "method/inflight.h"
#include "method/sampler.h"
#include "profile/profile.h"

/* Of the nine, what its event register has: misses of caches and TLBs, mispredictions, traps and replays. */
enum { EVENTS = PSV_DR_L1 | PSV_DR_TLB | PSV_FL_MB | PSV_FL_EX | PSV_FL_MO | PSV_ST_L1 | PSV_ST_TLB };

enum abort { ABORT_BRANCH, ABORT_MEMORY_ORDER, ABORT_EXCEPTION, NR_ABORTS };
static const char *const abort_names[NR_ABORTS] = { "branch", "memory_order", "exception" };

enum stage { MAP, DATA_READY, ISSUE, RETIRE_READY, RETIRE, NR_STAGES };
static const char *const stage_names[NR_STAGES] = {
	"fetch_to_map", "map_to_data_ready", "data_ready_to_issue", "issue_to_retire_ready", "retire_ready_to_retire",
};

/* Sums over attempts, each times its weight; of cycles, those that retired. */
struct answers {
	uint64_t retired, loads;
	uint64_t until[NR_STAGES];     /* from the fetch to each stage: what is between two is a difference */
	uint64_t loading;              /* from the issue of loads until their data came */
	uint64_t aborted[NR_ABORTS];
};

/* Over pairs of which it is one and retired, by its place in the pair. */
struct pairs { uint64_t nr, slots, retired; };

/* What each attempt touches comes first, in two cache lines. */
struct instruction {
	_Alignas(64) struct answers exact;
	uint64_t slots, retired;       /* in flight, exactly, over all executions that retired */
	struct answers sampled;
	struct pairs pairs[2];
	uint64_t own_slots;            /* of retired samples, times weight */
};

struct profileme_lane {
	struct sampler_lane lane;      /* its ticks are not used: this method does not sample in cycles */
	struct profileme_lane *next;
	uint64_t random;
	uint64_t fetched;
	uint64_t interval;             /* of the counter */
	uint64_t attempts;             /* counted so far ... */
	uint64_t sample, partner;      /* ... and with the next sample, and the second of a pair; NEVER: none is
	                                * awaited */
	uint64_t due;                  /* the earlier of the two */
	uint64_t number;               /* of the last sample, in those of level 0, as of the clock's ticks */
	uint64_t ticked;               /* the same of the last tick: how many samples there should be */
	struct timed first;            /* of the pair ... */
	uint64_t weight;               /* ... and what it stands for */
	enum abort squasher;           /* why the records behind it, if squashed, are */
	bool counting;
	struct inflight inflight;
};

#define NEVER UINT64_MAX

struct profileme {
	struct sampler sampler;
	struct instruction *insn;      /* [TALLY_INSNS] */
	uint32_t nr;                   /* of them in use */
	uint64_t width, window, seed;
	struct profileme_lane *lanes;
};

static int profileme_open(void *state, const struct run *run)
{
	struct profileme *s = state;

	s->width = (uint64_t)run->desc->rename_width;
	s->window = 2 * (uint64_t)run->desc->rob_entries;
	s->seed = run->seed;
	sampler_open(&s->sampler, run);
	s->insn = tally_array_new(sizeof(*s->insn));
	return s->insn ? 0 : -ENOMEM;
}

static uint64_t pick(struct profileme_lane *l, uint64_t choices)
{
	return (uint64_t)((unsigned __int128)clock_random(&l->random) * choices >> 64);
}

/* As the clock numbers its ticks. */
static uint64_t next_number(const struct clock *clock, uint64_t number)
{
	uint64_t step = (uint64_t)1 << clock->level;

	return (number + step) & -step;
}

/* So many samples ahead double the mean. */
enum { GAIN = 64 };

static void arm(const struct profileme *s, struct profileme_lane *l, uint64_t cycle)
{
	const struct clock *clock = s->sampler.clock;
	uint64_t mean = clock_period(clock);

	if (cycle) {
		int64_t ahead = (int64_t)(l->number >> clock->level) - (int64_t)(l->ticked >> clock->level);
		mean = (uint64_t)((unsigned __int128)mean * l->fetched / cycle);
		mean = mean * (uint64_t)(GAIN + CLAMP(ahead, -GAIN / 2, GAIN)) / GAIN;
	}
	mean = MAX(mean, 1);
	l->interval = mean - mean / 8 + pick(l, 2 * (mean / 8) + 1);
	l->sample = l->attempts + l->interval;
	l->due = MIN(l->sample, l->partner);
}

static int profileme_lane(void *state, void *lane, uint32_t thread)
{
	struct profileme *s = state;
	struct profileme_lane *l = lane;

	l->random = s->seed * 0x100000001b3u + thread;
	l->next = s->lanes;
	s->lanes = l;
	l->partner = NEVER;
	arm(s, l, 0);
	inflight_init(&l->inflight);
	return sampler_lane(&s->sampler, &l->lane, thread);
}

/* --- one attempt ------------------------------------------------------------------------------------- */

/* A stage that it had no need of takes no time. */
static inline uint32_t stage(uint32_t cycle, uint32_t before)
{
	return MAX(cycle == TIMED_NEVER ? 0 : cycle, before);
}

/* One that retired. */
static inline void answer(struct answers *a, const struct timed *t, uint64_t weight)
{
	uint32_t ready = stage(t->ready, t->dispatch), issue = stage(t->issue, ready),
		 complete = stage(t->complete, issue);

	a->retired += weight;
	a->until[MAP] += weight * t->dispatch;
	a->until[DATA_READY] += weight * ready;
	a->until[ISSUE] += weight * issue;
	a->until[RETIRE_READY] += weight * complete;
	a->until[RETIRE] += weight * t->leave;
	if (!(t->flags & TIMED_LOAD))
		return;
	a->loads += weight;
	a->loading += weight * (stage(t->drain, issue) - issue);
}

static bool during(uint64_t cycle, const struct timed *flight)
{
	return cycle >= flight->fetch && cycle < timed_leave(flight);
}

/* What `other` did in the flight of t, which is the first or the second of the pair. */
static void overlap(struct profileme *s, const struct timed *t, const struct timed *other, unsigned place,
                    uint64_t weight)
{
	if (!timed_commits(t))
		return;
	struct pairs *p = &s->insn[t->insn].pairs[place];
	p->nr += weight;
	if (!timed_commits(other))
		return;
	p->slots += during(timed_dispatch(other), t) ? weight * other->slots : 0;
	p->retired += during(timed_leave(other), t) ? weight : 0;
}

static void sample(struct profileme *s, struct profileme_lane *l, const struct timed *t, enum abort abort)
{
	const struct clock *clock = s->sampler.clock;
	struct tick tick = { .cycle = t->fetch };

	l->number = next_number(clock, l->number);
	tick.level = MIN((uint32_t)__builtin_ctzll(l->number), CLOCK_LEVELS - 1);
	if (!timed_commits(t))
		sampler_drop(&s->sampler, tick);
	else
		sampler_add_weighted(&s->sampler, tick, t->insn, t->psv & EVENTS,
		                     (uint32_t)(l->interval * CYCLE_UNITS / clock_period(clock)));
	struct instruction *i = &s->insn[t->insn];
	if (timed_commits(t)) {
		answer(&i->sampled, t, l->interval);
		i->own_slots += l->interval * t->slots;
	} else {
		i->sampled.aborted[abort] += l->interval;
	}
	if (l->partner != NEVER)
		return;                        /* it waits for its second, lest only near ones be found */
	l->first = *t;
	l->weight = l->interval;
	l->partner = l->attempts + 1 + pick(l, s->window);
}

static void slots_in_flight(void *ctx, uint32_t insn, uint64_t slots)
{
	((struct profileme *)ctx)->insn[insn].slots += slots;
}

static void retired_in_flight(void *ctx, uint32_t insn, uint64_t retired)
{
	((struct profileme *)ctx)->insn[insn].retired += retired;
}

/* The attempt l->attempts is the second of a pair, or a sample. */
static void take(struct profileme *s, struct profileme_lane *l, const struct timed *t)
{
	if (l->attempts == l->partner) {
		overlap(s, &l->first, t, 0, l->weight);
		overlap(s, t, &l->first, 1, l->weight);
		l->partner = NEVER;
	}
	if (l->attempts == l->sample) {
		sample(s, l, t, t->flags & TIMED_WRONG ? ABORT_BRANCH : l->squasher);
		arm(s, l, t->fetch);
	}
	l->due = MIN(l->sample, l->partner);
}

static void profileme_block(void *state, void *lane, const struct block *b)
{
	struct profileme *s = state;
	struct profileme_lane *l = lane;
	uint32_t nr = s->nr;

	for (size_t i = 0; i < b->nr_ticks; i++)
		l->ticked = next_number(s->sampler.clock, l->ticked);
	for (const struct timed *t = b->t; t < b->t + b->n; t++) {
		if (t->flags & TIMED_CONTINUED || t->insn >= TALLY_INSNS)
			continue;
		struct instruction *insn = &s->insn[t->insn];
		l->fetched++;
		if (__builtin_expect(t->flags & TIMED_FLUSHER, 0) && !(t->flags & TIMED_WRONG))
			l->squasher = t->psv & PSV_FL_MO ? ABORT_MEMORY_ORDER : ABORT_EXCEPTION;
		if (timed_commits(t)) {
			l->counting = t->flags & TIMED_COUNTED;
			inflight_push(&l->inflight, t, slots_in_flight, retired_in_flight, s);
			if (l->counting)
				answer(&insn->exact, t, 1);
		} else if (l->counting) {
			insn->exact.aborted[t->flags & TIMED_WRONG ? ABORT_BRANCH : l->squasher]++;
		}
		if (!l->counting)
			continue;
		nr = t->insn < nr ? nr : t->insn + 1;
		if (__builtin_expect(++l->attempts == l->due, 0))
			take(s, l, t);
	}
	s->nr = nr;
}

static void profileme_finish(void *state, void *lane)
{
	struct profileme_lane *l = lane;

	inflight_finish(&l->inflight, slots_in_flight, state);
}

/* --- saving ------------------------------------------------------------------------------------------ */

struct saving { struct profile *out; uint32_t insn; int err; };

static void figure(struct saving *v, const char *prefix, const char *name, double sum, uint64_t of)
{
	char *full = g_strconcat(prefix, name, NULL);

	if (of && !v->err)
		v->err = profile_insn_figure(v->out, "ProfileMe", v->insn, full, sum / (double)of);
	g_free(full);
}

static uint64_t fetched(const struct answers *a)
{
	uint64_t sum = a->retired;

	for (unsigned i = 0; i < NR_ABORTS; i++)
		sum += a->aborted[i];
	return sum;
}

static void save_answers(struct saving *v, const struct answers *a, const char *prefix)
{
	char *latency = g_strconcat(prefix, "latency/", NULL), *aborted = g_strconcat(prefix, "abort/", NULL);

	figure(v, prefix, "retired", (double)a->retired, fetched(a));
	for (unsigned i = 0; i < NR_ABORTS; i++)
		if (a->aborted[i])
			figure(v, aborted, abort_names[i], (double)a->aborted[i], fetched(a));
	for (unsigned i = 0; i < NR_STAGES; i++)
		figure(v, latency, stage_names[i], (double)(a->until[i] - (i ? a->until[i - 1] : 0)), a->retired);
	figure(v, latency, "load_issue_to_completion", (double)a->loading, a->loads);
	g_free(latency);
	g_free(aborted);
}

/* A partner stands for the window of instructions that it was picked from. */
static double from_pairs(const struct profileme *s, const struct instruction *i, bool slots)
{
	double sum = 0;

	for (unsigned k = 0; k < 2; k++)
		sum += (double)(slots ? i->pairs[k].slots : i->pairs[k].retired) * (double)s->window /
		       (double)i->pairs[k].nr;
	return sum;
}

static int save_insn(const struct profileme *s, uint32_t insn, struct profile *out)
{
	const struct instruction *i = &s->insn[insn];
	struct saving v = { out, insn, 0 };

	if (!i->exact.retired)
		return 0;
	figure(&v, "", "weight", (double)fetched(&i->sampled), 1);
	save_answers(&v, &i->sampled, "");
	if (i->pairs[0].nr && i->pairs[1].nr && i->sampled.retired) {
		double latency = (double)i->sampled.until[RETIRE] / (double)i->sampled.retired;
		double own = (double)i->own_slots / (double)i->sampled.retired;
		figure(&v, "", "wasted_slots", latency * (double)s->width - own - from_pairs(s, i, true), 1);
		figure(&v, "", "retired_in_flight", from_pairs(s, i, false), 1);
	}
	save_answers(&v, &i->exact, "exact/");
	figure(&v, "exact/", "wasted_slots", (double)i->exact.until[RETIRE] * (double)s->width - (double)i->slots,
	       i->exact.retired);
	figure(&v, "exact/", "retired_in_flight", (double)i->retired, i->exact.retired);
	return v.err;
}

static int profileme_save(const void *state, struct profile *out)
{
	const struct profileme *s = state;
	int err = sampler_save(&s->sampler, "ProfileMe", EVENTS, out);

	for (uint32_t insn = 0; insn < s->nr && !err; insn++)
		err = save_insn(s, insn, out);
	return err;
}

static void profileme_close(void *state)
{
	struct profileme *s = state;

	for (struct profileme_lane *l = s->lanes; l; l = l->next)
		inflight_fini(&l->inflight);
	tally_array_free(s->insn, sizeof(*s->insn));
	sampler_close(&s->sampler);
}

const struct method method_profileme = {
	.name = "profileme",
	.help = "ProfileMe: samples fetched instructions, single and in pairs, with what became of each",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct profileme),
	.lane_size = sizeof(struct profileme_lane),
	.open = profileme_open,
	.lane = profileme_lane,
	.block = profileme_block,
	.finish = profileme_finish,
	.save = profileme_save,
	.close = profileme_close,
};
