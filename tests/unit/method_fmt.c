/*
 * The FMT's and sFMT's CPI stacks: each rule on a hand-made stream, and random streams against the sums that the tables come to,
 * found cycle by cycle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "method_fake.h"

#define U CYCLE_UNITS
enum { MEMORY = 40 };                   /* latency of memory on the toy core */
enum component { BASE, L1I, L2I, ITLB, L1D, L2D, DTLB, BRANCH, LONG_LATENCY, NR_COMPONENTS };
static const char *const names[NR_COMPONENTS] = {
	"base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch", "long_latency",
};

/* Fetched two cycles before it is offered, which is when it dispatches. */
static struct timed at(uint32_t dispatch, uint32_t leave, unsigned flags)
{
	return (struct timed){ .fetch = dispatch - 2, .avail = 2, .dispatch = 2, .complete = leave - dispatch + 1,
	                       .leave = leave - dispatch + 2, .drain = leave - dispatch + 2, .slots = 1, .flags = (uint16_t)(flags | TIMED_COUNTED) };
}

static struct timed missed(uint32_t dispatch, uint32_t leave, uint16_t psv)
{
	struct timed t = at(dispatch, leave, 0);
	t.psv = psv;
	return t;
}

/* Fetch delivered nothing for so many cycles. */
static struct timed stalled(struct timed t, uint16_t tlb, uint16_t cache, enum ilevel level)
{
	uint32_t more = (uint32_t)tlb + cache;

	t.fetch -= more;
	t.avail += more;
	t.dispatch += more;
	t.complete += more;
	t.leave += more;
	t.drain += more;
	t.itlb_stall = tlb;
	t.icache_stall = cache;
	t.level = timed_level(LEVEL_NONE, level, 0);
	return t;
}

/* `cycles` other than 0 are as said; the rest is in the base. */
static void assert_stack_on(const struct core_desc *desc, const char *method, const char *name, const struct timed *t, size_t n,
                            const uint64_t cycles[NR_COMPONENTS])
{
	struct profile *p = fake_profile(method_find(method), desc, t, n);
	struct profile *pics = fake_profile(method_find("pics"), NULL, t, n);
	uint64_t base = fake_total_units(pics);

	for (unsigned k = BASE + 1; k < NR_COMPONENTS; k++) {
		assert_int_equal(fake_value(p, name, names[k], 0), cycles[k] * U);
		base -= cycles[k] * U;
	}
	assert_int_equal(fake_value(p, name, "base", 0), base);
	free(p);
	free(pics);
}

static void assert_stack_of(const char *method, const char *name, const struct timed *t, size_t n, unsigned rob,
                            const uint64_t cycles[NR_COMPONENTS])
{
	struct stream_config config = { .width = 4, .rob = rob };

	assert_stack_on(fake_desc(&config), method, name, t, n, cycles);
}

static void assert_stack(const struct timed *t, size_t n, unsigned rob, const uint64_t cycles[NR_COMPONENTS])
{
	assert_stack_of("fmt", "fmt", t, n, rob, cycles);
}

#define ASSERT_STACK(rob, t, ...) assert_stack(t, G_N_ELEMENTS(t), rob, (const uint64_t[NR_COMPONENTS]){ __VA_ARGS__ })

static void test_instruction_side(void **ctx)
{
	const struct timed t[] = {
		at(2, 3, 0),
		stalled(at(14, 15, 0), 0, 9, ILEVEL_L2), stalled(at(56, 57, 0), 30, 10, ILEVEL_LLC), at(57, 58, TIMED_BRANCH),
		stalled(at(307, 308, TIMED_BRANCH), 0, 240, ILEVEL_MEMORY),
		stalled(at(320, 321, 0), 5, 5, ILEVEL_L2),              /* no branch comes after it */
	};

	ASSERT_STACK(64, t, [L1I] = 9 + 10, [ITLB] = 30, [L2I] = 240);
}

/* From its dispatch to that of the first on the right path; not what is missed on the wrong path. */
static void test_branch(void **ctx)
{
	struct timed t[] = {
		at(2, 3, 0), at(10, 41, TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER),
		stalled(at(30, 40, TIMED_WRONG | TIMED_BRANCH), 0, 15, ILEVEL_L2),
		at(47, 48, 0), at(60, 61, TIMED_BRANCH),
	};

	ASSERT_STACK(64, t, [BRANCH] = 37);
	t[3] = stalled(t[3], 0, 4, ILEVEL_L2);                          /* it is to blame for four of them itself */
	ASSERT_STACK(64, t, [BRANCH] = 33, [L1I] = 4);
	t[4] = stalled(at(60, 61, TIMED_BRANCH), 0, 14, ILEVEL_L2);     /* 46..59, but what came before dispatched in 47 */
	ASSERT_STACK(64, t, [BRANCH] = 33, [L1I] = 4 + 12);
}

/* What fetch waits for is lost only as far as nothing was left to dispatch. */
static void test_buffered(void **ctx)
{
	const struct timed t[] = {
		at(2, 3, 0), at(10, 11, 0), stalled(at(14, 15, TIMED_BRANCH), 3, 5, ILEVEL_L2), /* 6..13, of which 11..13 */
	};

	ASSERT_STACK(64, t, [L1I] = 3);
}

/* A TLB miss until its walk ends, an L2 miss behind it: for the latency of memory, which is 40 here. */
static void test_walk(void **ctx)
{
	const struct timed t[] = {
		missed(2, 100, PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC), at(3, 101, 0), at(4, 101, 0), at(5, 101, 0), at(101, 102, 0),
	};

	ASSERT_STACK(4, t, [DTLB] = 55, [L2D] = 40);                    /* 5..59, 60..99 */
}

/* Back-end misses count while the ROB is full and they block its head. */
static void test_full(void **ctx)
{
	static const struct { uint16_t psv; unsigned flags; enum component component; } heads[] = {
		{ PSV_ST_L1 | PSV_ST_LLC, TIMED_LOAD, L2D }, { PSV_ST_L1 | PSV_ST_TLB, TIMED_LOAD, DTLB },
		{ PSV_ST_L1, TIMED_LOAD | TIMED_LONG, L1D }, { 0, TIMED_LONG, LONG_LATENCY }, { 0, 0, BASE },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(heads); i++) {
		struct timed t[] = { missed(2, 100, heads[i].psv), at(3, 101, 0), at(4, 101, 0), at(5, 101, 0), at(101, 102, 0) };
		uint64_t cycles[NR_COMPONENTS] = { 0 };

		t[0].flags |= (uint16_t)heads[i].flags;
		cycles[heads[i].component] = 95;                        /* 5..99 */
		assert_stack(t, G_N_ELEMENTS(t), 4, cycles);
		cycles[heads[i].component] = 0;
		assert_stack(t, G_N_ELEMENTS(t), 5, cycles);            /* never full */
		t[4].slots = 2;                                         /* full for two */
		cycles[heads[i].component] = 95;
		assert_stack(t, G_N_ELEMENTS(t), 5, cycles);
	}
}

/* A full ROB comes before the front end: for the branch that is in it, and for a miss behind it. */
static void test_overlap(void **ctx)
{
	const struct timed t[] = {
		missed(2, 100, PSV_ST_LLC), at(3, 101, 0), at(4, 101, TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER),
		at(5, 49, TIMED_WRONG),                                 /* full from 5 to its squash */
		stalled(at(75, 105, 0), 0, 9, ILEVEL_L2),               /* 66..74; full again from 75 to 100 */
		stalled(at(102, 106, TIMED_BRANCH), 0, 20, ILEVEL_L2),  /* 82..101 */
	};

	/* 5..49 and 75..99; branch 4..74 without the first and without 66..74 */
	ASSERT_STACK(4, t, [L2D] = 45 + 25, [BRANCH] = 71 - 45 - 9, [L1I] = 9 + 1);
}

/*
 * What sets the shared table apart: a miss on the wrong path is counted if an older one's instruction commits between it and
 * the branch, and forgotten if not; one of the right path is lost as far as it came before the branch's commit.
 */
static void test_shared(void **ctx)
{
	struct timed t[] = {
		stalled(at(14, 40, 0), 0, 9, ILEVEL_L2),                /* 5..13; commits in 40 */
		at(15, 50, TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER),
		stalled(at(31, 45, TIMED_WRONG), 0, 9, ILEVEL_L2),      /* 22..30 */
		stalled(at(56, 63, 0), 0, 10, ILEVEL_LLC),              /* 46..55, after the commit of the branch 50..55 */
		at(62, 64, TIMED_BRANCH),
	};

	assert_stack_of("sfmt", "sFMT", t, G_N_ELEMENTS(t), 64, (const uint64_t[NR_COMPONENTS]){ [L1I] = 9 + 9 + 6, [BRANCH] = 31 });
	assert_stack(t, G_N_ELEMENTS(t), 64, (const uint64_t[NR_COMPONENTS]){ [L1I] = 9 + 10, [BRANCH] = 31 });
	t[0].leave -= 24;                      /* commits in 16, before the wrong path's */
	assert_stack_of("sfmt", "sFMT", t, G_N_ELEMENTS(t), 64, (const uint64_t[NR_COMPONENTS]){ [L1I] = 9 + 6, [BRANCH] = 31 });
}

/* Of two branches in flight only one has a row: the second one's misprediction is in the base, its misses in the third's row. */
static void test_few_rows(void **ctx)
{
	const struct timed t[] = {
		at(2, 50, TIMED_BRANCH), stalled(at(10, 51, 0), 0, 4, ILEVEL_L2), at(11, 52, TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER),
		stalled(at(25, 40, TIMED_WRONG), 0, 6, ILEVEL_L2),      /* not told from the right path: 19..24 */
		at(60, 61, 0), at(63, 64, TIMED_BRANCH),                /* the first has retired by then */
	};
	struct stream_config config = { .width = 4, .rob = 64 };
	struct core_desc *d = fake_desc(&config);

	assert_stack_on(d, "fmt", "fmt", t, G_N_ELEMENTS(t), (const uint64_t[NR_COMPONENTS]){ [L1I] = 4, [BRANCH] = 49 });
	d->fmt_rows = 2;
	assert_stack_on(d, "fmt", "fmt", t, G_N_ELEMENTS(t), (const uint64_t[NR_COMPONENTS]){ [L1I] = 4, [BRANCH] = 49 });
	d->fmt_rows = 1;
	assert_stack_on(d, "fmt", "fmt", t, G_N_ELEMENTS(t), (const uint64_t[NR_COMPONENTS]){ [L1I] = 4 + 6 });
}

/* --- the sums, cycle by cycle ------------------------------------------------------------------------- */

/* What happens in one cycle. */
struct cycle {
	bool full, counted, blocked, stalls;
	enum component blames, stall;
	const struct timed *stalled;
};

struct reference {
	const struct timed *t;
	size_t n;
	uint64_t nr_cycles;
	struct cycle *cycle;           /* [nr_cycles] */
	uint64_t component[NR_COMPONENTS];
};

static enum component blames(const struct timed *t, uint64_t cycle)
{
	if (t->psv & PSV_ST_LLC && t->psv & PSV_ST_TLB)
		return cycle + MEMORY < t->fetch + t->drain ? DTLB : L2D;
	if (t->psv & PSV_ST_LLC)
		return L2D;
	if (t->psv & PSV_ST_TLB)
		return DTLB;
	if (t->psv & PSV_ST_L1)
		return L1D;
	return t->flags & TIMED_LONG ? LONG_LATENCY : BASE;
}

static bool dispatches(const struct timed *t) { return t->dispatch != TIMED_NEVER; }

/* Slots in the ROB at the end of each cycle, of what left in it, too. */
static void find_full(struct reference *r, unsigned width, unsigned entries, bool any_stall)
{
	unsigned *held = calloc(r->nr_cycles + 1, sizeof(*held));
	bool *enters = calloc(r->nr_cycles + 1, sizeof(*enters));
	size_t next = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct timed *t = &r->t[i];
		if (!dispatches(t))
			continue;
		enters[timed_dispatch(t)] = true;
		for (uint64_t x = timed_dispatch(t); x <= timed_leave(t) && x < r->nr_cycles; x++)
			held[x] += t->slots;
	}
	for (uint64_t x = 0; x < r->nr_cycles; x++) {
		unsigned want = 1;
		while (next < r->n && (!dispatches(&r->t[next]) || timed_dispatch(&r->t[next]) <= x))
			next++;
		if (next < r->n)
			want = r->t[next].slots < width ? r->t[next].slots : width;
		r->cycle[x].full = held[x] + want > entries;
		if (any_stall)
			r->cycle[x].full = !enters[x] && next < r->n && r->t[next].fetch + r->t[next].avail <= x;
	}
	free(held);
	free(enters);
}

static void find_heads(struct reference *r)
{
	const struct timed **head = malloc(r->n * sizeof(*head));
	size_t nr = 0, first = 0;
	uint64_t squashed = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct timed *t = &r->t[i];
		if (t->flags & TIMED_WRONG)
			continue;
		if (t->flags & TIMED_SQUASHED) {
			if (!(t->flags & TIMED_FLUSHER) || timed_leave(t) < squashed)
				continue;
			squashed = timed_leave(t) + 1;
		}
		head[nr++] = t;
	}
	for (uint64_t x = 0; x < r->nr_cycles; x++) {
		struct cycle *c = &r->cycle[x];
		while (first < nr && timed_leave(head[first]) < x)
			first++;
		c->counted = head[first]->flags & TIMED_COUNTED;
		c->blocked = timed_dispatch(head[first]) <= x && timed_leave(head[first]) > x;
		c->blames = blames(head[first], x);
		if (timed_leave(head[first]) == x)
			for (size_t k = first; k < nr && timed_leave(head[k]) <= x; k++)
				c->counted &= timed_leave(head[k]) < x || head[k]->flags & TIMED_COUNTED;
	}
	free(head);
}

/* Cycles [from, to) in which nothing was left to dispatch and a record missed. */
struct window { uint64_t from, cache, to; };

/* Of a record to be offered in `avail`; all before `from` are another's. */
static struct window window_of(const struct timed *t, uint64_t avail, uint64_t from)
{
	uint64_t stalls = (uint64_t)t->itlb_stall + t->icache_stall;
	struct window w = { MAX(from, avail > stalls ? avail - stalls : 0), avail > t->icache_stall ? avail - t->icache_stall : 0, avail };

	return w;
}

static enum component kind(const struct timed *t, const struct window *w, uint64_t cycle)
{
	return cycle < w->cache ? ITLB : timed_code_level(t) == ILEVEL_MEMORY ? L2I : L1I;
}

/* The cycles lost to misses of instructions that commit. */
static void find_stalls(struct reference *r)
{
	uint64_t from = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct timed *t = &r->t[i];
		if (!dispatches(t))
			continue;
		struct window w = window_of(t, t->fetch + t->avail, from);
		for (uint64_t x = w.from; x < w.to && timed_commits(t); x++) {
			struct cycle *c = &r->cycle[x];
			c->stalls = true;
			c->stalled = t;
			c->stall = kind(t, &w, x);
		}
		from = timed_dispatch(t) + 1;
	}
}

/* What the rows of branches that commit come to: misses up to the last of them, and penalties. */
static void sum_up(struct reference *r)
{
	const struct timed *last = NULL;

	for (size_t i = 0; i < r->n; i++)
		if (timed_commits(&r->t[i]) && r->t[i].flags & TIMED_BRANCH)
			last = &r->t[i];
	for (uint64_t x = 0; x < r->nr_cycles; x++) {
		const struct cycle *c = &r->cycle[x];
		if (c->stalls && c->counted && !c->full && c->stalled <= last)
			r->component[c->stall]++;
		if (c->full && c->counted && c->blocked)
			r->component[c->blames]++;
	}
	for (size_t i = 0; i < r->n; i++) {
		size_t next = i + 1;
		if (!timed_commits(&r->t[i]) || !(r->t[i].flags & TIMED_MISPREDICT))
			continue;
		while (next < r->n && (r->t[next].flags & TIMED_WRONG || !dispatches(&r->t[next])))
			next++;
		uint64_t end = next < r->n ? timed_dispatch(&r->t[next]) : r->nr_cycles;
		for (uint64_t x = timed_dispatch(&r->t[i]); x < end; x++) {
			const struct cycle *c = &r->cycle[x];
			r->component[BRANCH] += c->counted && !c->full && !(c->stalls && c->stalled == &r->t[next]);
		}
	}
}

/* The shared table, of which L1I, L2I and ITLB differ from the rows'. */
static void run_shared(const struct reference *r, uint64_t component[NR_COMPONENTS])
{
	struct stall { bool is; enum component kind; } *stall = calloc(r->nr_cycles, sizeof(*stall));
	uint64_t local[ITLB + 1] = { 0 }, reset = 0, from = 0;
	size_t commits = 0, n = r->n;

	while (n > 0 && !dispatches(&r->t[n - 1]))
		n--;                           /* behind the last that dispatches nothing is counted */
	for (size_t i = 0; i < n; i++) {
		const struct timed *t = &r->t[i];
		uint64_t stalls = (uint64_t)t->itlb_stall + t->icache_stall;
		uint64_t avail = t->avail != TIMED_NEVER ? t->fetch + t->avail : MIN(t->fetch + stalls, timed_leave(t));
		struct window w = window_of(t, avail, from);

		for (uint64_t x = w.from; x < w.to && x < r->nr_cycles; x++)
			stall[x] = (struct stall){ true, kind(t, &w, x) };
		from = stalls ? MAX(from, w.to) : from;
		from = dispatches(t) ? MAX(from, timed_dispatch(t) + 1) : from;
	}
	for (uint64_t x = 0; x < r->nr_cycles; x++) {
		for (; commits < r->n && (!timed_commits(&r->t[commits]) || timed_leave(&r->t[commits]) <= x); commits++) {
			const struct timed *t = &r->t[commits];
			bool missed = t->itlb_stall || t->icache_stall;

			if (!timed_commits(t))
				continue;
			missed = missed && timed_dispatch(t) >= reset;
			reset = missed ? timed_leave(t) : reset;
			for (unsigned k = L1I; k <= ITLB; k++) {
				component[k] += missed ? local[k] : 0;
				local[k] = missed || t->flags & TIMED_MISPREDICT ? 0 : local[k];
			}
		}
		if (stall[x].is && r->cycle[x].counted && !r->cycle[x].full)
			local[stall[x].kind]++;
	}
	free(stall);
}

static void check(const struct profile *checkpoint, void *ctx)
{
	int64_t sum = 0;

	for (unsigned k = 0; k < NR_COMPONENTS; k++) {
		assert_true(fake_value(checkpoint, "fmt", names[k], 0) >= 0);
		sum += fake_value(checkpoint, "fmt", names[k], 0);
	}
	assert_true(sum <= *(const int64_t *)ctx);
}

static void test_random(void **ctx)
{
	uint64_t seen[NR_COMPONENTS] = { 0 };
	unsigned differs = 0;

	for (unsigned k = 0; k < 120; k++) {
		struct stream_config config = { .seed = k + 1, .records = 3000, .width = 1 + k % 6, .commit_width = 1 + k % 9,
		                                .rob = 24 + k, .trouble = k % 3 * 20, .misses = k % 4 * 15,
		                                .windows = k % 5 == 4 ? 10 : 0 };
		struct reference r = { 0 };
		struct timed *t = stream_new(&config, &r.n);
		struct profile *pics = fake_profile(method_find("pics"), NULL, t, r.n);
		uint64_t units = fake_total_units(pics), base = units;
		struct profile *p = calloc(1, sizeof(*p));
		struct fake_run run = { .method = method_find("fmt"), .profile = p, .run = { .desc = fake_desc(&config) },
		                        .checkpoints = true, .check = check, .check_ctx = &units };

		r.t = t;
		for (size_t i = 0; i < r.n; i++)
			if (timed_commits(&t[i]))
				r.nr_cycles = timed_leave(&t[i]) + 1;
		r.cycle = calloc(r.nr_cycles, sizeof(*r.cycle));
		find_full(&r, config.width, config.rob, false);
		find_heads(&r);
		find_stalls(&r);
		sum_up(&r);
		r.component[BASE] = 0;

		fake_drive(&run, &t, &r.n, 1);
		for (unsigned c = BASE + 1; c < NR_COMPONENTS; c++) {
			assert_int_equal(fake_value(p, "fmt", names[c], 0), r.component[c] * U);
			base -= r.component[c] * U;
			seen[c] += r.component[c];
		}
		assert_int_equal(fake_value(p, "fmt", "base", 0), base);
		assert_true(base <= units);
		r.component[L1I] = r.component[L2I] = r.component[ITLB] = 0;
		run_shared(&r, r.component);
		struct profile *shared = fake_profile(method_find("sfmt"), fake_desc(&config), t, r.n);
		for (unsigned c = BASE + 1; c < NR_COMPONENTS; c++) {
			assert_int_equal(fake_value(shared, "sFMT", names[c], 0), r.component[c] * U);
			differs += fake_value(shared, "sFMT", names[c], 0) != fake_value(p, "fmt", names[c], 0);
			assert_int_equal(fake_value(shared, "fmt", names[c], 0), fake_value(p, "fmt", names[c], 0));
		}
		assert_int_equal(fake_value(shared, "fmt", "overlap", 0), fake_value(p, "fmt", "overlap", 0));
		free(shared);
		memset(r.cycle, 0, r.nr_cycles * sizeof(*r.cycle));
		memset(r.component, 0, sizeof(r.component));
		find_full(&r, config.width, config.rob, true);
		find_heads(&r);
		find_stalls(&r);
		sum_up(&r);
		struct profile *any = fake_profile(method_find("fmt_dispatch"), fake_desc(&config), t, r.n);
		for (unsigned c = BASE + 1; c < NR_COMPONENTS; c++)
			assert_int_equal(fake_value(any, "FMT-dispatch", names[c], 0), r.component[c] * U);
		free(any);
		free(r.cycle);
		free(t);
		free(p);
		free(pics);
	}
	for (unsigned c = BASE + 1; c < NR_COMPONENTS; c++)
		assert_true(seen[c] > 100);
	assert_true(differs > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instruction_side), cmocka_unit_test(test_branch), cmocka_unit_test(test_full),
		cmocka_unit_test(test_buffered), cmocka_unit_test(test_walk), cmocka_unit_test(test_few_rows),
		cmocka_unit_test(test_overlap), cmocka_unit_test(test_shared), cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
