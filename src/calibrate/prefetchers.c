/* Patterns and probes; prefetchers.h has the method. */
#include "calibrate/prefetchers.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/memory.h"

enum { LINE = 64, PAGE = 4096, LINES = PAGE / LINE, MAX_LOADS = 12, FARTHEST = 32 };

/* Shares of trials above which a prefetcher is there, below which it is not. */
static const double there = 0.5, absent = 0.1;

struct pattern {
	int lines[MAX_LOADS];      /* within the page, in order */
	int nr;
	bool one_place;            /* all loads by one instruction, else each by its own */
};

struct prober {
	struct bench *bench;
	struct memory_area *area;
	uint64_t seed;
	double limit;              /* ticks: a line that takes less is in a cache */
	unsigned trials;
};

static void flush(const uint8_t *p)
{
#ifdef __x86_64__
	__builtin_ia32_clflush(p);
#endif
}

static void fence(void)
{
#ifdef __x86_64__
	__builtin_ia32_mfence();
#endif
}

/* Ticks of one load. */
static double probe(const uint8_t *p)
{
	uint64_t from = bench_now();

	*(const volatile uint8_t *)p;
	return (double)(bench_now() - from);
}

/* Long enough for what is on its way to come: some 2000 cycles. */
static void wait_for_fills(const struct prober *pr)
{
	uint64_t from = bench_now();

	while ((double)(bench_now() - from) < 2000 * pr->bench->ticks_per_cycle)
		;
}

/* A page that has not been used for long, all of its lines flushed. */
static uint8_t *fresh_page(struct prober *pr)
{
	uint8_t *page;

	page = pr->area->base + next_random(&pr->seed) % (pr->area->size / PAGE) * PAGE;
	*(volatile uint8_t *)(page + PAGE - LINE); /* its translation is there */
	for (int i = 0; i < LINES; i++)
		flush(page + i * LINE);
	fence();
	return page;
}

/*
 * Code that loads the lines of the pattern, rdi the page: by one instruction in a loop, rsi how often, or by one
 * each.
 */
static int make_pattern(struct prober *pr, const struct pattern *p, kernel_function **run)
{
	GString *body = g_string_new(NULL);
	struct kernel_text text = { .before = NULL };
	char *before = NULL;
	int ret;

	if (p->one_place) {
		before = g_strdup_printf("leaq %d(%%rdi), %%r8\n", p->lines[0] * LINE);
		g_string_append_printf(body, "movq (%%r8), %%rax\nlfence\naddq $%d, %%r8\n",
		                       (p->lines[1] - p->lines[0]) * LINE);
	} else {
		for (int i = 0; i < p->nr; i++)
			g_string_append_printf(body, "movq %d(%%rdi), %%rax\nlfence\n", p->lines[i] * LINE);
	}
	text.before = before;
	text.body = body->str;
	ret = bench_make(pr->bench, &text, run);
	g_free(before);
	g_string_free(body, TRUE);
	return ret;
}

/* How often `line` is there after the pattern. */
static int share_of(struct prober *pr, const struct pattern *p, int line, struct estimate *e)
{
	kernel_function *run;
	unsigned hits = 0;
	int ret = make_pattern(pr, p, &run);

	if (ret)
		return ret;
	for (unsigned t = 0; t < pr->trials; t++) {
		uint8_t *page = fresh_page(pr);

		run(page, p->one_place ? (uint64_t)p->nr : 1);
		wait_for_fills(pr);
		hits += probe(page + line * LINE) < pr->limit;
	}
	*e = estimate_exact((double)hits / pr->trials);
	e->samples = e->agreeing = pr->trials;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Halfway between a line that is there and one that is not, by their medians. False where they are no different. */
static bool find_limit(struct prober *pr)
{
	enum { TIMES = 101 };
	double near[TIMES], far[TIMES];

	for (int i = 0; i < TIMES; i++) {
		uint8_t *page = fresh_page(pr);

		far[i] = probe(page);
		near[i] = probe(page);
	}
	qsort(near, TIMES, sizeof *near, by_value);
	qsort(far, TIMES, sizeof *far, by_value);
	pr->limit = (near[TIMES / 2] + far[TIMES / 2]) / 2;
	return far[TIMES / 2] > 2 * near[TIMES / 2];
}

/* The parent's size where there is one, else the usual one, nought where it is not there. */
static void add_share(struct experiment *x, const char *name, struct estimate share, const char *param, int usual,
                      const char *what)
{
	int32_t parent = findings_param(x->findings, param);
	double value = share.value > there ? (parent ? parent : usual) : 0;

	if (share.value > absent && share.value <= there)
		findings_leave(x->findings, name, param, "%s in %.0f%% of the trials: neither there nor absent", what,
		               share.value * 100);
	else
		findings_add(x->findings, name, "share", share, param, value, "%s in %.0f%% of the trials%s", what,
		             share.value * 100, share.value > there && parent ? ", its size is the parent's" : "");
}

static int stream(struct experiment *x, struct prober *pr)
{
	struct pattern p = { .nr = 10 };
	struct estimate e, nearest = { .noisy = true };
	int farthest = 0, ret = 0;

	for (int i = 0; i < p.nr; i++)
		p.lines[i] = 4 + i;
	for (int ahead = 1; ahead <= FARTHEST && !ret; ahead += ahead < 4 ? 1 : 2) {
		ret = share_of(pr, &p, p.lines[p.nr - 1] + ahead, &e);
		if (ahead == 1)
			nearest = e;
		if (!ret && e.value > there)
			farthest = ahead;
	}
	if (ret)
		return ret;
	add_share(x, "stream prefetcher", nearest, "prefetch.l2_stream", 32,
	          "the line behind ten, each loaded by its own instruction, is there");
	if (farthest && findings_of(x->findings, "prefetch.l2_stream"))
		findings_add(x->findings, "lines that a stream runs ahead", "lines", estimate_exact(farthest),
		             "prefetch.l2_stream_ahead", farthest, "the farthest there");
	return 0;
}

int prefetchers_measure(struct experiment *x)
{
	static const struct {
		const char *name, *param, *what;
		int usual, line;
		struct pattern pattern;
	} rows[] = {
		{ "adjacent-line prefetcher", "prefetch.l2_adjacent",
		  "the lower line of a pair is there after one load of the upper", 1, 20, { { 21 }, 1, false } },
		{ "next-line prefetcher", "prefetch.l1_next", "the line behind two ascending ones is there", 1, 23,
		  { { 21, 22 }, 2, false } },
		{ "stride prefetcher", "prefetch.l1_stride",
		  "the next of five loads five lines apart, by one instruction, is there", 24, 29,
		  { { 4, 9 }, 5, true } },
	};
	static const struct pattern far_away = { { 20 }, 1, false };
	struct estimate control;
	struct memory_area area;
	struct prober pr = {
		.bench = x->bench, .area = &area, .seed = 0xd1b54a32d192ed03u, .trials = x->quick ? 60 : 300
	};
	int ret = experiment_step(x, "prefetchers");

	if (!ret)
		ret = memory_area_init(&area, (size_t)64 << 20, true);
	if (ret)
		return ret;
	if (!find_limit(&pr)) {
		findings_leave(x->findings, "prefetchers", "prefetch.l1_stride",
		               "flushed lines are no slower than others");
		memory_area_fini(&area);
		return 0;
	}
	ret = share_of(&pr, &far_away, 52, &control);
	if (!ret && control.value > absent) {
		findings_leave(x->findings, "prefetchers", "prefetch.l1_stride",
		               "a line that nothing is near is there in %.0f%% of the trials", control.value * 100);
		memory_area_fini(&area);
		return 0;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(rows) && !ret; i++) {
		struct estimate e;

		ret = share_of(&pr, &rows[i].pattern, rows[i].line, &e);
		if (!ret)
			add_share(x, rows[i].name, e, rows[i].param, rows[i].usual, rows[i].what);
	}
	if (!ret)
		ret = stream(x, &pr);
	memory_area_fini(&area);
	return ret;
}
