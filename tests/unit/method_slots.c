/* Issue slots, regions and top-down: hand-made streams, and random ones against a slot-by-slot reference. Executions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "method/slots.h"
#include "method_fake.h"
#include "method_reference.h"

#define U CYCLE_UNITS

extern const struct method method_slots;

static struct timed at(uint32_t avail, uint32_t dispatch, uint32_t leave, unsigned slots, unsigned flags)
{
	return (struct timed){ .avail = avail, .dispatch = dispatch, .leave = leave, .complete = leave - 1,
	                       .slots = (uint8_t)slots, .uops = (uint8_t)slots, .flags = (uint16_t)(flags | TIMED_COUNTED) };
}

static struct profile *profile_slots(const struct timed *t, size_t n, unsigned width)
{
	struct stream_config config = { .width = width };

	return fake_profile(method_find("slots"), fake_desc(&config), t, n);
}

static void assert_slots(const struct slot_counts *s, uint64_t total, uint64_t filled, uint64_t issued, uint64_t retired,
                         uint64_t recovery)
{
	assert_int_equal(s->total, total);
	assert_int_equal(s->filled, filled);
	assert_int_equal(s->issued, issued);
	assert_int_equal(s->retired, retired);
	assert_int_equal(s->recovery, recovery);
}

/* Four wide: two dispatch in cycle 3; in 4 nothing is there; from 5 three wait for cycle 7. */
static void test_classes(void **ctx)
{
	const struct timed t[] = {
		at(3, 3, 5, 1, 0), at(3, 3, 5, 1, 0), at(5, 7, 9, 1, 0), at(5, 7, 9, 1, 0), at(6, 7, 9, 1, 0),
	};
	struct profile *p = profile_slots(t, G_N_ELEMENTS(t), 4);

	assert_slots(&p->thread[0].slots, 40, 2 + 2 + 3 + 3, 5, 5, 0);
	assert_int_equal(p->thread[0].instructions, 5);
	assert_int_equal(p->thread[0].uops, 5);
	assert_int_equal(p->thread[0].units, 10 * U);
	free(p);
}

/* More wait than there are slots; one instruction takes the slots of several cycles. */
static void test_wide(void **ctx)
{
	const struct timed t[] = { at(1, 2, 9, 6, 0), at(1, 3, 9, 1, 0), at(2, 4, 9, 9, 0), at(2, 6, 9, 1, 0) };
	struct profile *p = profile_slots(t, G_N_ELEMENTS(t), 4);

	/* 0: -, 1: 4 wait, 2: 4 issue, 3: 3 issue and 1 waits, 4, 5: 4 issue, 6: 2 issue, 7..9: - */
	assert_slots(&p->thread[0].slots, 40, 4 + 4 + 4 + 4 + 4 + 2, 17, 17, 0);
	free(p);
}

/*
 * A branch resolved in cycle 8: wrong-path uops issue in 4, others wait until the squash, the cycle of it
 * included; 9..12 recover, and so do no more than those: in 13 two slots are just empty.
 */
static void test_recovery(void **ctx)
{
	struct timed t[] = {
		at(3, 3, 9, 1, TIMED_MISPREDICT | TIMED_FLUSHER),
		at(4, 4, 8, 2, TIMED_WRONG), at(6, TIMED_NEVER, 8, 1, TIMED_WRONG), at(TIMED_NEVER, TIMED_NEVER, 8, 1, TIMED_WRONG),
		at(3, 3, 5, 2, 0),
	};
	struct profile *p;

	t[4].fetch = 10;
	p = profile_slots(t, G_N_ELEMENTS(t), 4);
	assert_slots(&p->thread[0].slots, 64, 1 + 2 + 3 + 2, 5, 3, 4 * 4);
	free(p);
}

/* One that violates memory order, a branch mispredicted in its shadow, and the second try. */
static void test_nested_recovery(void **ctx)
{
	struct timed t[] = {
		at(1, 1, 20, 1, TIMED_SQUASHED | TIMED_FLUSHER),
		at(1, 1, 20, 1, TIMED_SQUASHED | TIMED_FLUSHER | TIMED_MISPREDICT), at(2, 2, 6, 1, TIMED_WRONG),
		at(2, 2, 13, 1, TIMED_SQUASHED), at(3, 3, 9, 1, 0),
	};
	struct profile *p;

	t[1].complete = 6;
	t[3].fetch = 7;                        /* offered in 9: 7 and 8 recover */
	t[4].fetch = 22;                       /* offered in 25: 21 to 24 recover */
	p = profile_slots(t, G_N_ELEMENTS(t), 2);
	assert_slots(&p->thread[0].slots, 64, 5, 5, 1, 4 + 8);
	free(p);
}

/* A region is what dispatches from its begin to its end: slots before it in the same cycle are not in it. */
static void test_region(void **ctx)
{
	struct timed t[] = {
		at(1, 1, 4, 1, 0), at(1, 1, 5, 1, TIMED_MARK), at(3, 3, 8, 1, 0), at(3, 3, 8, 1, TIMED_WRONG),
		at(4, 4, 9, 1, TIMED_MARK), at(4, 4, 9, 1, 0), at(4, 4, 9, 1, TIMED_MARK), at(4, 4, 10, 1, 0),
	};
	struct profile *p;

	t[1].insn = STREAM_MARK + 2;           /* begin r1 */
	t[4].insn = STREAM_MARK + 3;
	t[6].insn = STREAM_MARK + 2;           /* again, and to the end */
	p = profile_slots(t, G_N_ELEMENTS(t), 4);
	assert_slots(&p->thread[0].slots, 44, 8, 8, 7, 0);
	assert_false(p->region[0].set);
	/* 1: 3 slots, one issued; 2: 4, empty; 3: 4, two issued; then 2 of cycle 4 and all up to 10 */
	assert_slots(&p->region[1].slots, 11 + 26, 3 + 2, 3 + 2, 2 + 2, 0);
	assert_int_equal(p->region[1].entries, 2);
	assert_int_equal(p->region[1].instructions, 2 + 2);
	assert_int_equal(p->region[1].units, (1 + 3) * U + U / 3 + U); /* its begin's and the next's; a third of 9 and 10 */
	free(p);
}

/* --- the slow reference ------------------------------------------------------------------------------ */

struct window {                        /* of the run, or one region */
	unsigned depth;
	struct slot_counts slots;
	uint64_t latency, branch, memory; /* slots, of top-down's second level */
};

struct reference {
	struct window run, region[STREAM_REGIONS];
	struct fake_counters retired, regions[STREAM_REGIONS];
	bool *inside[STREAM_REGIONS];  /* [record] */
	bool *miss;                    /* [cycle]: the oldest instruction has one and is not done */
};

enum slot_class { EMPTY, RECOVERY, WAITS, WRONG, RIGHT };

static void count_one(struct window *w, enum slot_class class)
{
	w->slots.total++;
	w->slots.recovery += class == RECOVERY;
	w->slots.filled += class >= WAITS;
	w->slots.issued += class >= WRONG;
	w->slots.retired += class == RIGHT;
}

/* One slot, and whether it is in the first part of its class. */
static void count(struct reference *r, enum slot_class class, bool latency, bool branch, bool memory)
{
	if (!r->run.depth)
		return;
	for (unsigned i = 0; i <= STREAM_REGIONS; i++) {
		struct window *w = i < STREAM_REGIONS ? &r->region[i] : &r->run;
		if (!w->depth)
			continue;
		count_one(w, class);
		w->latency += latency;
		w->branch += branch;
		w->memory += memory;
	}
}

static void nest(unsigned *depth, bool begin)
{
	*depth = begin ? *depth + 1 : *depth ? *depth - 1 : 0;
}

/* Of a cycle of recovery, the earliest flush that it recovers from. */
struct recovery { bool recovers, branch; uint64_t flush; };

/* Cycles between each flush and the first right-path uop's offer. */
static void mark_recovery(const struct timed *t, size_t n, struct recovery *recovery)
{
	for (size_t i = 0; i < n; i++) {
		if (!(t[i].flags & TIMED_FLUSHER) || t[i].flags & TIMED_WRONG)
			continue;
		uint64_t flush = t[i].flags & TIMED_MISPREDICT ? t[i].fetch + t[i].complete : timed_leave(&t[i]);
		for (size_t k = i + 1; k < n; k++) {
			if (t[k].flags & TIMED_WRONG || !t[k].slots || t[k].avail == TIMED_NEVER)
				continue;
			if (t[k].flags & TIMED_SQUASHED && t[k].fetch < flush)
				continue;
			for (uint64_t x = flush + 1; x < t[k].fetch + t[k].avail; x++)
				if (!recovery[x].recovers || flush < recovery[x].flush)
					recovery[x] = (struct recovery){ true, t[i].flags & TIMED_MISPREDICT, flush };
			break;
		}
	}
}

static bool waits(const struct timed *t, uint64_t cycle)
{
	return t->avail != TIMED_NEVER && t->fetch + t->avail <= cycle &&
	       (t->dispatch != TIMED_NEVER || timed_leave(t) >= cycle);
}

static void slot_by_slot(struct reference *r, const struct timed *t, size_t n, unsigned width, uint64_t cycles)
{
	struct recovery *recovery = calloc(cycles + 1000, sizeof(*recovery));
	size_t head = 0;
	unsigned gone = 0;             /* slots of the head */

	mark_recovery(t, n, recovery);
	r->run.depth = t->flags & TIMED_COUNTED ? 1 : 0;
	for (uint64_t x = 0; x < cycles; x++) {
		unsigned left = width;

		while (head < n) {
			const struct timed *h = &t[head];
			if (gone == h->slots || (!timed_commits(h) && timed_leave(h) < x)) {
				head++;
				gone = 0;
				continue;
			}
			if (!left || h->dispatch == TIMED_NEVER || timed_dispatch(h) > x)
				break;
			if (!gone && timed_commits(h)) {
				r->run.depth = h->flags & TIMED_COUNTED ? 1 : 0;
				if (h->flags & TIMED_MARK)
					nest(&r->region[(h->insn - STREAM_MARK) / 2].depth, h->insn % 2 == 0);
			}
			count(r, timed_commits(h) ? RIGHT : WRONG, false, h->flags & TIMED_WRONG, false);
			gone++;
			left--;
		}
		unsigned first = gone;
		for (size_t k = head; k < n && left && waits(&t[k], x); k++, first = 0)
			for (unsigned s = first; s < t[k].slots && left; s++, left--)
				count(r, WAITS, false, false, r->miss[x]);
		bool nothing = left == width;
		for (; left; left--)
			count(r, recovery[x].recovers ? RECOVERY : EMPTY, !recovery[x].recovers && nothing,
			      recovery[x].recovers && recovery[x].branch, false);
	}
	free(recovery);
}

static void find_regions(struct reference *r, const struct timed *t, size_t n)
{
	unsigned depth[STREAM_REGIONS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (timed_commits(&t[i]) && t[i].flags & TIMED_MARK) {
			unsigned region = (t[i].insn - STREAM_MARK) / 2;
			bool begin = t[i].insn % 2 == 0;
			r->regions[region].entries += begin && !depth[region] && t[i].flags & TIMED_COUNTED;
			nest(&depth[region], begin);
		}
		for (unsigned k = 0; k < STREAM_REGIONS; k++)
			r->inside[k][i] = depth[k] > 0;
	}
}

static void add(const struct charge *c, void *ctx)
{
	struct reference *r = ctx;

	r->miss[c->cycle] |= c->state == STATE_STALLED && c->psv & (PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC);
	if (!c->counted)
		return;
	r->retired.units += c->units;
	r->retired.instructions += c->state == STATE_COMPUTE;
	for (unsigned k = 0; k < STREAM_REGIONS; k++) {
		r->regions[k].units += r->inside[k][c->head] ? c->units : 0;
		r->regions[k].instructions += r->inside[k][c->head] && c->state == STATE_COMPUTE;
	}
}

static void assert_same(const struct fake_counters *c, const struct window *w, const struct fake_counters *retired)
{
	assert_slots(&c->slots, w->slots.total, w->slots.filled, w->slots.issued, w->slots.retired, w->slots.recovery);
	assert_int_equal(c->instructions, retired->instructions);
	assert_int_equal(c->units, retired->units);
	assert_int_equal(c->entries, retired->entries);
}

static void assert_parts(const struct profile *p, const char *name, const struct window *w)
{
	assert_int_equal(fake_value(p, name, "frontend_latency", 0), w->latency);
	assert_int_equal(fake_value(p, name, "branch_mispredicts", 0), w->branch);
	assert_int_equal(fake_value(p, name, "memory_bound", 0), w->memory);
}

static void check(const struct profile *checkpoint, void *ctx)
{
	const struct slot_counts *s = &checkpoint->thread[0].slots;

	assert_true(s->retired <= s->issued && s->issued <= s->filled && s->filled + s->recovery <= s->total);
	for (unsigned k = 0; k < STREAM_REGIONS; k++) {
		const struct slot_counts *part = &checkpoint->region[k].slots;
		assert_true(part->retired <= part->issued && part->issued <= part->filled && part->filled <= part->total);
		assert_true(part->total <= s->total && part->filled <= s->filled && part->retired <= s->retired);
	}
}

static void test_random(void **ctx)
{
	uint64_t seen[3] = { 0 }, in_regions = 0;

	for (unsigned k = 0; k < 120; k++) {
		struct stream_config config = { .seed = k + 1, .records = 4000, .width = 1 + k % 6, .commit_width = 1 + k % 9,
		                                .rob = 32 + k * 2, .trouble = k % 3 * 20, .misses = k % 4 * 15,
		                                .windows = k % 5 == 4 ? 10 : 0, .marks = k % 2 ? 8 : 0 };
		size_t n;
		struct timed *t = stream_new(&config, &n);
		struct reference *r = calloc(1, sizeof(*r));
		struct profile *p = calloc(1, sizeof(*p));
		struct fake_run run = { .method = method_find("slots"), .profile = p, .checkpoints = true, .check = check,
		                        .run = { .desc = fake_desc(&config), .regions = fake_regions() } };
		uint64_t cycles = 0;

		for (size_t i = 0; i < n; i++)
			if (timed_commits(&t[i]))
				cycles = timed_leave(&t[i]) + 1;
		for (unsigned i = 0; i < STREAM_REGIONS; i++)
			r->inside[i] = calloc(n, sizeof(bool));
		find_regions(r, t, n);
		r->miss = calloc(cycles + 1, sizeof(bool));
		reference_walk(t, n, add, r);
		slot_by_slot(r, t, n, config.width, cycles);

		fake_drive(&run, &t, &n, 1);
		assert_same(&p->thread[0], &r->run, &r->retired);
		struct profile *top = calloc(1, sizeof(*top));
		struct fake_run topdown = { .method = method_find("topdown"), .profile = top,
		                            .run = { .desc = fake_desc(&config), .regions = fake_regions() } };
		fake_drive(&topdown, &t, &n, 1);
		assert_parts(top, "topdown", &r->run);
		assert_parts(top, "topdown/thread/0", &r->run);
		for (unsigned i = 0; i < STREAM_REGIONS; i++) {
			char name[32];
			snprintf(name, sizeof(name), "topdown/region/r%u", i);
			if (p->region[i].set)
				assert_parts(top, name, &r->region[i]);
			in_regions += r->region[i].latency && r->region[i].branch && r->region[i].memory;
		}
		seen[0] += r->run.latency;
		seen[1] += r->run.branch;
		seen[2] += r->run.memory;
		free(top);
		free(r->miss);
		if (!config.windows) {
			assert_int_equal(p->thread[0].slots.total, config.width * cycles);
			assert_int_equal(p->thread[0].units, cycles * U);
		}
		for (unsigned i = 0; i < STREAM_REGIONS; i++) {
			if (p->region[i].set)
				assert_same(&p->region[i], &r->region[i], &r->regions[i]);
			else
				assert_int_equal(r->region[i].slots.total + r->regions[i].entries, 0);
			free(r->inside[i]);
		}
		free(p);
		free(r);
		free(t);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_true(seen[i] > 100000);
	assert_true(in_regions > 30);
}

/* --- read while it runs ------------------------------------------------------------------------------ */

/* What a program reads behind the last of these records. */
static struct counters read_slots(const struct timed *t, size_t n, unsigned width)
{
	struct stream_config config = { .width = width };
	struct run run = { .desc = fake_desc(&config), .code = fake_code(), .regions = fake_regions(), .seed = 1 };
	void *state = calloc(1, method_slots.state_size), *lane = calloc(1, method_slots.lane_size);
	const struct feed_target target = { &method_slots, state, lane };
	struct counters counters;
	struct clock clock;
	struct feed feed;

	clock_init(&clock, &run);
	run.clock = &clock;
	assert_int_equal(method_slots.open(state, &run), 0);
	assert_int_equal(method_slots.lane(state, lane, 0), 0);
	feed_init(&feed, &clock, 0, &target, 1);
	feed_batch(&feed, t, n);
	slots_read(state, lane, &feed.walker, &counters);
	feed_finish(&feed);
	feed_fini(&feed);
	method_slots.close(state);
	free(lane);
	free(state);
	return counters;
}

/* Cycles run to the end of that of the commit, slots to the one of the dispatch, whatever shares the cycles later. */
static void test_read(void **ctx)
{
	struct timed t[] = { at(3, 3, 5, 1, 0), at(3, 3, 5, 1, 0), at(5, 7, 9, 2, 0), at(5, 7, 9, 1, 0) };
	const struct { uint64_t cycles, total, filled, issued; } want[] = { { 6, 13, 1, 1 }, { 6, 14, 2, 2 }, { 10, 30, 8, 4 }, { 10, 31, 11, 5 } };
	struct counters c;

	for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
		c = read_slots(t, i + 1, 4);
		assert_int_equal(c.cycles, want[i].cycles);
		assert_int_equal(c.instructions, i + 1);
		assert_int_equal(c.slots_total, want[i].total);
		assert_int_equal(c.slots_filled, want[i].filled);
		assert_int_equal(c.slots_issued, want[i].issued);
		assert_int_equal(c.slots_retired, want[i].issued);
	}
	t[0].flags = t[2].flags = 0;           /* before and outside of what is counted */
	c = read_slots(t, 4, 4);
	assert_int_equal(c.instructions, 2);
	assert_int_equal(c.cycles, 1);         /* two halves: of 5 and of 9 */
	assert_int_equal(c.slots_total, 28 - 13 + 1);
}

/* At any place of a stream it is what a run that ends there has in all. */
static void test_read_anywhere(void **ctx)
{
	struct stream_config config = { .seed = 9, .records = 20000, .width = 6, .commit_width = 8, .rob = 96, .trouble = 10, .misses = 10 };
	size_t n, tried = 0;
	struct timed *t = stream_new(&config, &n);

	for (size_t i = 1; i < n; i += 1 + i % 1009) {
		if (!timed_commits(&t[i]))
			continue;
		struct counters c = read_slots(t, i + 1, config.width);
		struct profile *p = profile_slots(t, i + 1, config.width);
		const struct slot_counts *s = &p->thread[0].slots;

		assert_int_equal(c.cycles * U, p->thread[0].units);
		assert_int_equal(c.instructions, p->thread[0].instructions);
		assert_int_equal(c.slots_issued, s->issued);
		assert_int_equal(c.slots_retired, s->retired);
		assert_int_equal(c.slots_filled, s->filled);
		assert_in_range(c.slots_total, s->filled, s->total);
		tried++;
		free(p);
	}
	assert_true(tried > 20);
	free(t);
}

/* --- executions -------------------------------------------------------------------------------------- */

static void test_unmodelled(void **ctx)
{
	struct stream_config config = { .seed = 5, .records = 20000, .width = 4, .commit_width = 4, .rob = 96, .trouble = 20,
	                                .misses = 10, .windows = 3 };
	size_t n;
	struct timed *t = stream_new(&config, &n);
	struct profile *p = fake_profile(method_find("pics"), NULL, t, n);
	struct profile *pics = fake_profile(method_find("pics"), NULL, t, n);
	uint64_t all = 0, even = 0, odd = 0;

	for (unsigned i = 0; i < FAKE_INSNS; i++)
		for (unsigned s = 0; s < FAKE_PSVS; s++) {
			all += pics->executions[i][s];
			even += i % 16 == 0 ? pics->executions[i][s] : 0;
			odd += i % 16 == 8 ? pics->executions[i][s] : 0;
		}
	assert_true(even > 100 && odd > 100);
	assert_int_equal(fake_value(p, "run", "executions", 0), all);
	assert_int_equal(fake_value(p, "unmodelled", "EVEN", 0), even);
	assert_int_equal(fake_value(p, "unmodelled", "ODD", 0), odd);
	assert_int_equal(p->nr_rows, 3);
	free(pics);
	free(p);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes), cmocka_unit_test(test_wide), cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_nested_recovery), cmocka_unit_test(test_region), cmocka_unit_test(test_random),
		cmocka_unit_test(test_read), cmocka_unit_test(test_read_anywhere), cmocka_unit_test(test_unmodelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
