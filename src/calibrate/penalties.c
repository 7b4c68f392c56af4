/* Kernels with an event in each round; penalties.h has the method. */
#include "calibrate/penalties.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/model.h"
#include "core/order/memory_renaming.h"

enum { REPEAT = 24, BRANCHES = 4096 };

/* `line` REPEAT times in a round; cycles of one. */
static int time_line(const struct experiment *x, const char *before, const char *line, struct estimate *e)
{
	GString *body = g_string_new(NULL);
	int ret;

	for (int i = 0; i < REPEAT; i++)
		g_string_append(body, line);
	ret = bench_measure_text(x->bench, &(struct kernel_text){ .before = before, .body = body->str, .wide = true },
	                         e);
	*e = estimate_scaled(*e, 1.0 / REPEAT);
	g_string_free(body, TRUE);
	return ret;
}

/*
 * Loads, `loads` in a round, from one of two places that have just been written, of which it cannot be known
 * beforehand: where it always is the same, Zen renames memory, and the load takes no time.
 */
static int changing_source(struct experiment *x, unsigned loads, struct estimate *e)
{
	enum { CHAIN = 1440, PLACES = 4096 };
	struct kernel k = { .memory = x->bench->scratch, .rounds = CHAIN / loads };
	GString *body = g_string_new(NULL);
	uint64_t seed = 0x9fb21c651e98df25u;
	int ret;

	for (size_t i = 0; i < CHAIN; i++) {
		uint64_t place = (next_random(&seed) >> 33 & 1) * 64;

		memcpy(x->bench->scratch + PLACES + i * sizeof place, &place, sizeof place);
	}
	for (unsigned i = 0; i < loads; i++)
		g_string_append_printf(body,
		                       "movq %%rax, 64(%%rdi)\nmovq %%rax, 128(%%rdi)\nmovq %u(%%r9), %%r10\nmovq "
		                       "64(%%rdi,%%r10), %%rax\n",
		                       8 * i);
	g_string_append_printf(body, "addq $%u, %%r9\n", 8 * loads);
	ret = bench_make(x->bench, &(struct kernel_text){ .before = "leaq 4096(%rdi), %r9\n", .body = body->str },
	                 &k.run);
	if (!ret)
		*e = estimate_scaled(bench_measure(x->bench, &k), 1.0 / loads);
	g_string_free(body, TRUE);
	return ret;
}

/*
 * The least by rounds of some lengths: on Zen 3 some take up to 1.5 cycles a load longer, for no reason that is
 * known.
 */
static int forwarding_at_best(struct experiment *x, struct estimate *e)
{
	static const unsigned loads[] = { 24, 30, 40, 48, 60, 72, 96, 120 };
	struct estimate again;
	int ret = changing_source(x, loads[0], e);

	for (size_t i = 1; i < G_N_ELEMENTS(loads) && !ret; i++) {
		ret = changing_source(x, loads[i], &again);
		if (!ret && !again.noisy && (e->noisy || again.value < e->value))
			*e = again;
	}
	return ret;
}

/* Two stores of 4 bytes and a load of both. */
static const char together[] = "movl %eax, 64(%rdi)\nmovl %eax, 68(%rdi)\nmovq (%r8), %rax\n";
static const struct sequence together_bytes = {
	.bytes = { { 0x89, 0x47, 0x40 }, { 0x89, 0x47, 0x44 }, { 0x49, 0x8b, 0x00 } }, .length = { 3, 3, 3 }, .n = 3,
};
static const struct model_access together_access[] = { { 64, 4 }, { 68, 4 }, { 64, 8 } };

/* Beyond what a load waits for that the model has besides: commit and drain of the store, and the access. */
static int failed_forwarding(struct experiment *x)
{
	struct core_desc d;
	struct estimate e;
	double without;
	int ret = time_line(x, "leaq 64(%rdi), %r8\n", together, &e);

	model_description(x->parent, x->findings, &d);
	d.forward_fail_penalty = 0;
	if (!ret)
		ret = model_round(x->parent, &d, &together_bytes, together_access, &without);
	if (!ret)
		findings_add(x->findings, "store to load, two into one", "cycles", e, "forward.fail_penalty",
		             fmax(0, e.value - without),
		             "beyond the %.0f that the model has without it, to the write of the store and of the load",
		             without);
	return ret;
}

/*
 * What a load takes that gets at `between` stores what was stored before them: by a chain through it, less the chain
 * past it. The code stands so many bytes further on.
 */
static int renamed_over(struct experiment *x, unsigned between, unsigned further, struct estimate *e)
{
	char *before = g_strdup_printf(".nops %u\n", further);
	struct estimate chain[2] = { { .value = 0 }, { .value = 0 } };
	int ret = 0;

	for (int through = 0; through < 2 && !ret; through++) {
		GString *line = g_string_new("movq %rax, 64(%rdi)\n");

		for (unsigned i = 0; i < between; i++)
			g_string_append_printf(line, "movq %%rcx, %u(%%rdi)\n", 128 + 8 * i);
		g_string_append(line, through ? "movq 64(%rdi), %rax\n" : "movq 64(%rdi), %rbx\n");
		/* Long enough that the stores are not what takes the time. */
		for (unsigned i = 0; i < between / 2 + 4; i++)
			g_string_append(line, "imulq %rax, %rax\n");
		ret = time_line(x, before, line->str, &chain[through]);
		g_string_free(line, TRUE);
	}
	*e = estimate_minus(chain[1], chain[0]);
	g_free(before);
	return ret;
}

/* The least of some tries: a predictor may not know some loads by chance of where they stand. */
static int renamed_at_best(struct experiment *x, unsigned between, struct estimate *e)
{
	struct estimate again;
	int ret = renamed_over(x, between, 1, e);

	for (unsigned further = 2; further < 1000 && !ret; further *= 7) {
		ret = renamed_over(x, between, further, &again);
		if (!ret && (e->noisy > again.noisy || (e->noisy == again.noisy && again.value < e->value)))
			*e = again;
	}
	return ret;
}

/* How far back the store may be, by halving: none, or so many that the next takes as long as forwarding does. */
static int renaming(struct experiment *x, double forwarded)
{
	unsigned from = 0, to = RENAMED_STORES; /* renamed over fewer than `from`, and not over `to` */
	struct estimate e, first = { .value = 0 };

	while (from < to) {
		unsigned between = from ? (from + to) / 2 : 0;
		int ret = renamed_at_best(x, between, &e);

		if (ret)
			return ret;
		if (!between)
			first = e;
		if (e.noisy) {
			findings_leave(x->findings, "stores that rename remembers", "forward.renamed",
			               "too noisy with %u stores between", between);
			return 0;
		}
		if (e.value < forwarded / 2)
			from = between + 1;
		else
			to = between;
	}
	findings_add(x->findings, "stores that rename remembers", "stores", estimate_exact(from), "forward.renamed",
	             from, "a load right behind the store takes %.2f cycles", fmax(0, first.value));
	return 0;
}

static int forwarding(struct experiment *x)
{
	struct estimate same, e;
	int ret = time_line(x, NULL, "movq %rax, 64(%rdi)\nmovq 64(%rdi), %rax\n", &same);

	if (!ret)
		ret = forwarding_at_best(x, &e);
	if (ret)
		return ret;
	/* The model counts from the cycle the store's data is known, one behind its uop. */
	findings_add(x->findings, "store to load", "cycles", e, "forward.latency", fmax(0, e.value - 1),
	             "%.2f where a load always reads what the same store wrote", same.value);
	ret = renaming(x, e.value);
	return ret ? ret : failed_forwarding(x);
}

struct pattern {
	uint8_t *bytes;
	uint64_t seed;
	bool random;
};

static void new_pattern(void *ctx)
{
	struct pattern *p = ctx;

	for (size_t i = 0; i < BRANCHES; i++)
		p->bytes[i] = (uint8_t)(next_random(&p->seed) >> 40 & p->random);
}

static int branches(struct experiment *x, bool random, struct estimate *e)
{
	struct pattern p = { .bytes = x->bench->scratch, .seed = 0x106689d45497fdb5u, .random = random };
	struct kernel k = { .memory = x->bench->scratch, .prepare = new_pattern, .ctx = &p, .rounds = BRANCHES };
	int ret = bench_make(x->bench, &(struct kernel_text){
		.body = "cmpb $0, (%rdi)\njne 1f\naddq $1, %rbx\n1:\naddq $1, %rdi\n" }, &k.run);

	if (!ret)
		*e = bench_measure(x->bench, &k);
	return ret;
}

static int mispredictions(struct experiment *x)
{
	struct estimate random, constant, e;
	const struct core_desc *d = &x->parent->desc;
	double load = findings_param(x->findings, "l1d.simple_latency") + 1, path;
	int ret = branches(x, true, &random);

	if (!ret)
		ret = branches(x, false, &constant);
	if (ret)
		return ret;
	e = estimate_scaled(estimate_minus(random, constant), 2);
	findings_add(x->findings, "mispredicted branch, its load included", "cycles", e, NULL, 0,
	             "half of a random pattern is mispredicted");
	e = estimate_minus(e, estimate_exact(load + 1));
	path = d->uopcache_sets ? d->uopcache_latency : d->fetch_latency + d->decode_latency;
	findings_add(x->findings, "refill after a mispredicted branch", "cycles", e, "branch.mispredict",
	             e.value - path - d->rename_latency - d->issue_latency,
	             "without %.0f cycles of the load and the compare; of it %.0f from fetch to the queue, %d to "
	             "rename, %d to issue, as the parent has them",
	             load + 1, path, d->rename_latency, d->issue_latency);
	return 0;
}

/* Loads and stores whose lines or pages end within them, by what they take beyond aligned ones. */
static int splits(struct experiment *x)
{
	static const struct {
		const char *name, *param, *before, *aligned, *split;
	} rows[] = {
		{ "load across lines", "split.line_latency",
		  "leaq 128(%rdi), %r8\nmovq %r8, (%r8)\nleaq 60(%rdi), %r9\nmovq %r9, (%r9)\n",
		  "movq (%r8), %r8\n", "movq (%r9), %r9\n" },
		{ "load across pages", "split.page_latency",
		  "leaq 128(%rdi), %r8\nmovq %r8, (%r8)\nleaq 4092(%rdi), %r9\nmovq %r9, (%r9)\n",
		  "movq (%r8), %r8\n", "movq (%r9), %r9\n" },
		{ "store across lines", "split.line_store", "leaq 64(%rdi), %r8\nleaq 60(%rdi), %r9\n",
		  "movq %rcx, (%r8)\n", "movq %rcx, (%r9)\n" },
		{ "store across pages", "split.page_store", "leaq 64(%rdi), %r8\nleaq 4092(%rdi), %r9\n",
		  "movq %rcx, (%r8)\n", "movq %rcx, (%r9)\n" },
	};
	int ret = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rows) && !ret; i++) {
		struct estimate aligned, e;

		ret = experiment_step(x, rows[i].name);
		if (!ret)
			ret = time_line(x, rows[i].before, rows[i].aligned, &aligned);
		if (!ret)
			ret = time_line(x, rows[i].before, rows[i].split, &e);
		if (ret)
			break;
		e = estimate_minus(e, aligned);
		findings_add(x->findings, rows[i].name, "cycles", e, rows[i].param, fmax(0, e.value),
		             "beyond an aligned one");
	}
	return ret;
}

/* A load behind a store 4 KiB away, and one 4 KiB and a line away. */
static int aliases(struct experiment *x)
{
	struct estimate alias, other;
	int ret = time_line(x, "leaq 4096(%rdi), %r8\n", "movq %rcx, (%rdi)\nmovq (%r8), %rbx\n", &alias);

	if (!ret)
		ret = time_line(x, "leaq 4160(%rdi), %r8\n", "movq %rcx, (%rdi)\nmovq (%r8), %rbx\n", &other);
	if (!ret) {
		alias = estimate_minus(alias, other);
		findings_add(x->findings, "load 4 KiB behind a store", "cycles", alias, "alias4k.penalty",
		             fmax(0, alias.value), "beyond one that is no alias");
	}
	return ret;
}

static int ordering(struct experiment *x)
{
	struct estimate e;
	int ret = time_line(x, NULL, "lock addq $1, 64(%rdi)\n", &e);

	if (!ret) {
		findings_add(x->findings, "atomic addition", "cycles", e, "lock.latency", e.value, NULL);
		ret = time_line(x, NULL, "mfence\n", &e);
	}
	if (!ret)
		findings_add(x->findings, "fence", "cycles", e, "fence.latency", e.value, NULL);
	return ret;
}

int penalties_measure(struct experiment *x)
{
	int ret = experiment_step(x, "store-to-load forwarding");

	if (!ret)
		ret = forwarding(x);
	if (!ret)
		ret = experiment_step(x, "mispredicted branches");
	if (!ret)
		ret = mispredictions(x);
	if (!ret)
		ret = splits(x);
	if (!ret)
		ret = experiment_step(x, "aliases, atomics and fences");
	if (!ret)
		ret = aliases(x);
	if (!ret)
		ret = ordering(x);
	return ret;
}
