#include "stream.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"

enum { QUEUE = 32 };

struct toy {
	const struct stream_config *config;
	GArray *out;                   /* struct timed */
	uint64_t random;
	uint64_t fetch;                /* of the next */
	uint64_t avail;                /* of the one before */
	uint64_t queued[QUEUE];        /* dispatch of the last ones: their places in the queue between */
	size_t fetched;
	uint64_t cycle;                /* dispatched in last ... */
	unsigned used;                 /* ... and slots of it taken */
	uint64_t commit;               /* the same for commit */
	unsigned committed;
	bool counted;
};

uint64_t stream_random(uint64_t *state, uint64_t n)
{
	return (next_random(state) >> 11) % n;
}

static uint64_t pick(struct toy *y, uint64_t n) { return stream_random(&y->random, n); }
static bool chance(struct toy *y, unsigned per_1000) { return pick(y, 1000) < per_1000; }
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static struct timed *newest(struct toy *y)
{
	return &g_array_index(y->out, struct timed, y->out->len - 1);
}

/* Slots in the reorder buffer in `cycle`: an entry is free again in the cycle its holder leaves. */
static unsigned occupied(const struct toy *y, uint64_t cycle)
{
	unsigned sum = 0;
	size_t n = y->out->len, first = n > 8u * y->config->rob ? n - 8u * y->config->rob : 0;

	for (size_t i = first; i < n; i++) {
		const struct timed *t = &g_array_index(y->out, struct timed, i);
		if (t->dispatch != TIMED_NEVER && timed_dispatch(t) <= cycle && timed_leave(t) > cycle)
			sum += t->slots;
	}
	return sum;
}

/* Fetches one instruction and offers it. Not yet dispatched: `leave` is the cycle that may squash it, or 0. */
static struct timed begin(struct toy *y, uint32_t insn, unsigned flags, unsigned slots)
{
	struct timed t = { .insn = insn, .slots = (uint8_t)slots, .uops = (uint8_t)slots,
	                   .flags = (uint16_t)(flags | (y->counted ? TIMED_COUNTED : 0)) };

	t.fetch = later(y->fetch, y->queued[y->fetched % QUEUE]);
	if (chance(y, y->config->misses)) {
		t.psv |= PSV_DR_L1;
		t.icache_stall = (uint16_t)(1 + pick(y, 60));
		t.level = timed_level(LEVEL_NONE, pick(y, 2) ? ILEVEL_MEMORY : ILEVEL_L2, 0);
	}
	if (chance(y, y->config->misses / 2)) {
		t.psv |= PSV_DR_TLB;
		t.itlb_stall = (uint16_t)(1 + pick(y, 30));
	}
	t.avail = 2u + t.icache_stall + t.itlb_stall + (uint32_t)pick(y, 3);
	if (t.fetch + t.avail < y->avail)
		t.avail = (uint32_t)(y->avail - t.fetch);
	return t;
}

/* Room for its first slot; false (and nothing changed) where that would be after `limit`. */
static bool dispatch(struct toy *y, struct timed *t, uint64_t earliest, uint64_t limit)
{
	uint64_t cycle = later(later(t->fetch + t->avail, earliest), y->cycle);

	if (cycle == y->cycle && y->used == y->config->width && t->slots)
		cycle++;
	while (cycle <= limit && t->slots && occupied(y, cycle) + t->slots > y->config->rob)
		cycle++;
	if (cycle > limit) {
		t->dispatch = TIMED_NEVER;
		return false;
	}
	t->dispatch = (uint32_t)(cycle - t->fetch);
	if (cycle > y->cycle)
		y->used = 0;
	y->cycle = cycle;
	for (unsigned s = t->slots; s > 0; s--) {
		if (y->used == y->config->width) {
			y->cycle++;
			y->used = 0;
		}
		y->used++;
	}
	return true;
}

static void execute(struct toy *y, struct timed *t)
{
	uint32_t latency = (uint32_t)(1 + pick(y, 4));

	if (chance(y, y->config->misses)) {
		t->flags |= TIMED_LOAD;
		t->psv |= PSV_ST_L1;
		latency += 10;
		if (pick(y, 2)) {
			t->psv |= PSV_ST_LLC;
			latency += (uint32_t)pick(y, 300);
		}
	}
	if (chance(y, y->config->misses / 2)) {
		t->psv |= PSV_ST_TLB;
		latency += 30;
	}
	if (chance(y, 100)) {
		t->flags |= TIMED_LONG;
		latency += 20;
	}
	t->ready = (uint32_t)(y->cycle - t->fetch) + 1; /* all its slots are in by then */
	t->issue = t->ready + (uint32_t)pick(y, 3);
	t->complete = t->issue + latency;
}

static void push(struct toy *y, struct timed *t)
{
	y->avail = t->fetch + t->avail;
	y->fetch = t->fetch + t->icache_stall + t->itlb_stall + (pick(y, 3) == 0);
	t->drain = t->leave;
	y->queued[y->fetched++ % QUEUE] = t->fetch + (t->dispatch != TIMED_NEVER ? t->dispatch : 0);
	g_array_append_val(y->out, *t);
}

static void commit(struct toy *y, struct timed *t)
{
	uint64_t cycle = t->fetch + t->complete + 1;

	if (cycle > y->commit) {
		y->commit = cycle;
		y->committed = 0;
	}
	for (unsigned s = t->slots; s > 0; s--) {
		if (y->committed == y->config->commit_width) {
			y->commit++;
			y->committed = 0;
		}
		y->committed++;
	}
	t->leave = (uint32_t)(y->commit - t->fetch);
}

static uint32_t any_insn(struct toy *y) { return (uint32_t)pick(y, STREAM_INSNS); }

static unsigned any_slots(struct toy *y)
{
	if (chance(y, 900))
		return 1;
	return (unsigned)(chance(y, 900) ? 2 + pick(y, 3) : 1 + pick(y, y->config->rob / 2));
}

/* What is fetched until the cycle `end`, in which it is squashed. */
static void doomed(struct toy *y, unsigned flags, uint64_t end, bool nest)
{
	bool stuck = false;                    /* dispatch is in order */

	for (uint64_t n = pick(y, 24); n > 0 && y->fetch < end; n--) {
		struct timed t = begin(y, any_insn(y), flags, any_slots(y));
		uint64_t resolved = 0;

		if (t.fetch >= end)
			return;
		t.leave = (uint32_t)(end - t.fetch);
		if (t.fetch + t.avail > end)
			t.avail = t.dispatch = TIMED_NEVER;
		else
			stuck = !dispatch(y, &t, 0, stuck ? 0 : end);
		t.ready = t.issue = t.complete = TIMED_NEVER;
		if (t.dispatch != TIMED_NEVER) {
			execute(y, &t);
			if (t.fetch + t.complete > end)
				t.complete = TIMED_NEVER;
			else if (pick(y, 5) == 0) {
				t.flags |= TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER;
				t.psv |= PSV_FL_MB;
				resolved = t.fetch + t.complete;
			}
		}
		uint64_t avail = y->avail;
		push(y, &t);
		if (t.avail == TIMED_NEVER) {
			y->avail = avail;
			return;
		}
		if (resolved && nest) {
			doomed(y, TIMED_WRONG, resolved, false);
			y->fetch = later(y->fetch, resolved + 1);
		}
	}
}

static void refetch(struct toy *y, uint64_t cycle)
{
	y->fetch = later(y->fetch, cycle);
	y->avail = 0;
}

/* An attempt that squashes itself and what is younger: a violating load, or a fault at the ROB's head. */
static void attempt(struct toy *y, uint32_t insn, bool fault)
{
	struct timed t = begin(y, insn, TIMED_SQUASHED | TIMED_FLUSHER | (fault ? 0 : TIMED_LOAD), 1);

	dispatch(y, &t, 0, UINT64_MAX);
	execute(y, &t);
	t.psv |= fault ? PSV_FL_EX : PSV_FL_MO;
	uint64_t end = t.fetch + t.complete + pick(y, 30);
	if (fault)
		end = later(end, y->commit + 1);
	t.leave = (uint32_t)(end - t.fetch);
	push(y, &t);
	doomed(y, TIMED_SQUASHED, end, true);
	refetch(y, end + 1 + pick(y, 8));
}

/* Everything about a right-path instruction that commits; `earliest` dispatch. */
static void plain(struct toy *y, uint32_t insn, unsigned flags, unsigned slots, uint64_t earliest, uint16_t psv)
{
	struct timed t = begin(y, insn, flags, slots);

	dispatch(y, &t, earliest, UINT64_MAX);
	execute(y, &t);
	t.psv |= psv;
	commit(y, &t);
	push(y, &t);
}

static void mispredict(struct toy *y)
{
	struct timed *t;

	plain(y, any_insn(y), TIMED_BRANCH, 1, 0, 0);
	if (pick(y, 2)) {                      /* it was a compare: the branch is the second of a fused pair */
		struct timed second = *newest(y);
		second.insn = any_insn(y);
		second.slots = second.uops = 0;
		second.psv = second.icache_stall = second.itlb_stall = 0;
		second.flags |= TIMED_FUSED;
		newest(y)->flags &= (uint16_t)~TIMED_BRANCH;
		g_array_append_val(y->out, second);
	}
	t = newest(y);
	t->flags |= TIMED_MISPREDICT | TIMED_FLUSHER;
	t->psv |= PSV_FL_MB;
	uint64_t resolved = t->fetch + t->complete;
	doomed(y, TIMED_WRONG, resolved, false);
	refetch(y, resolved + 1 + pick(y, 4));
}

static void flush_at_commit(struct toy *y)
{
	plain(y, any_insn(y), TIMED_FLUSHER, 1, 0, PSV_FL_EX);
	uint64_t end = y->commit;
	doomed(y, TIMED_SQUASHED, end, true);
	refetch(y, end + 1);
}

static void serialise(struct toy *y)
{
	plain(y, any_insn(y), TIMED_FLUSHER, 1, y->commit + 1, PSV_FL_EX);
	newest(y)->why = WAIT_SERIAL;
	plain(y, any_insn(y), 0, 1, y->commit + 1, 0);
	newest(y)->why = WAIT_SERIAL;
}

static void long_one(struct toy *y)
{
	uint32_t insn = any_insn(y);
	unsigned slots = 1 + (unsigned)pick(y, y->config->rob / 3);

	plain(y, insn, 0, slots, 0, 0);
	for (uint64_t n = 1 + pick(y, 3); n > 0; n--)
		plain(y, insn, TIMED_CONTINUED, slots, 0, 0);
}

struct timed *stream_new(const struct stream_config *config, size_t *nr)
{
	struct toy y = { .config = config, .random = config->seed * 0x9e3779b97f4a7c15u | 1, .counted = !config->windows };
	unsigned each = config->trouble;

	y.out = g_array_new(FALSE, FALSE, sizeof(struct timed));
	while (y.out->len < config->records) {
		uint32_t insn = any_insn(&y);

		if (chance(&y, config->windows))
			y.counted = !y.counted;
		if (chance(&y, config->marks))
			plain(&y, STREAM_MARK + (uint32_t)pick(&y, 2 * STREAM_REGIONS), TIMED_MARK, 1, 0, 0);
		if (chance(&y, each)) {
			mispredict(&y);
		} else if (chance(&y, each)) {
			attempt(&y, insn, false);
			if (pick(&y, 4) == 0)
				attempt(&y, insn, false);
			plain(&y, insn, TIMED_LOAD, 1, 0, PSV_FL_MO);
		} else if (chance(&y, each / 2)) {
			attempt(&y, insn, true);
			plain(&y, any_insn(&y), pick(&y, 2) ? TIMED_ENTER : 0, 1, 0, 0);
		} else if (chance(&y, each / 2)) {
			flush_at_commit(&y);
		} else if (chance(&y, each / 2)) {
			serialise(&y);
		} else if (chance(&y, each / 2)) {
			long_one(&y);
		} else {
			plain(&y, insn, 0, any_slots(&y), 0, 0);
		}
	}
	*nr = y.out->len;
	struct timed *stream = malloc(*nr * sizeof(*stream));
	for (size_t i = 0; i < *nr; i++)
		stream[i] = g_array_index(y.out, struct timed, i);
	g_array_free(y.out, TRUE);
	return stream;
}
