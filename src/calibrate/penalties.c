/* Kernels with an event in each round; penalties.h has the method. */
#include "calibrate/penalties.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { REPEAT = 24, BRANCHES = 4096 };

/* `line` REPEAT times in a round; cycles of one. */
static int time_line(const struct experiment *x, const char *before, const char *line, struct estimate *e)
{
	GString *body = g_string_new(NULL);
	int ret;

	for (int i = 0; i < REPEAT; i++)
		g_string_append(body, line);
	ret = bench_measure_text(x->bench, &(struct kernel_text){ .before = before, .body = body->str, .wide = true }, e);
	*e = estimate_scaled(*e, 1.0 / REPEAT);
	g_string_free(body, TRUE);
	return ret;
}

/*
 * A load from one of two places that have just been written, of which it cannot be known beforehand: where it always is
 * the same, Zen renames memory, and the load takes no time.
 */
static int changing_source(struct experiment *x, struct estimate *e)
{
	enum { ROUNDS = 60, PLACES = 4096 };
	struct kernel k = { .memory = x->bench->scratch, .rounds = ROUNDS };
	GString *body = g_string_new(NULL);
	uint64_t seed = 0x9fb21c651e98df25u;
	int ret;

	for (size_t i = 0; i < ROUNDS * REPEAT; i++) {
		uint64_t place;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		place = (seed >> 33 & 1) * 64;
		memcpy(x->bench->scratch + PLACES + i * sizeof place, &place, sizeof place);
	}
	for (int i = 0; i < REPEAT; i++)
		g_string_append_printf(body, "movq %%rax, 64(%%rdi)\nmovq %%rax, 128(%%rdi)\nmovq %d(%%r9), %%r10\nmovq 64(%%rdi,%%r10), %%rax\n", 8 * i);
	g_string_append_printf(body, "addq $%d, %%r9\n", 8 * REPEAT);
	ret = bench_make(x->bench, &(struct kernel_text){ .before = "leaq 4096(%rdi), %r9\n", .body = body->str }, &k.run);
	if (!ret)
		*e = estimate_scaled(bench_measure(x->bench, &k), 1.0 / REPEAT);
	g_string_free(body, TRUE);
	return ret;
}

static int forwarding(struct experiment *x)
{
	struct estimate same, e, fails;
	int ret = time_line(x, NULL, "movq %rax, 64(%rdi)\nmovq 64(%rdi), %rax\n", &same);

	if (!ret)
		ret = changing_source(x, &e);
	if (!ret)
		ret = time_line(x, "leaq 64(%rdi), %r8\n", "movl %eax, 64(%rdi)\nmovl %eax, 68(%rdi)\nmovq (%r8), %rax\n", &fails);
	if (ret)
		return ret;
	/* The model counts from the cycle the store's data is known, one behind its uop. */
	findings_add(x->findings, "store to load", "cycles", e, "forward.latency", fmax(0, e.value - 1),
	             "%.2f where a load always reads what the same store wrote", same.value);
	fails = estimate_minus(fails, e);
	findings_add(x->findings, "store to load, two into one", "cycles", fails, "forward.fail_penalty", fails.value,
	             "beyond what forwarding takes");
	return 0;
}

struct pattern {
	uint8_t *bytes;
	uint64_t seed;
	bool random;
};

static void new_pattern(void *ctx)
{
	struct pattern *p = ctx;

	for (size_t i = 0; i < BRANCHES; i++) {
		p->seed ^= p->seed << 13;
		p->seed ^= p->seed >> 7;
		p->seed ^= p->seed << 17;
		p->bytes[i] = p->random && p->seed >> 40 & 1;
	}
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
	findings_add(x->findings, "mispredicted branch, its load included", "cycles", e, NULL, 0, "half of a random pattern is mispredicted");
	e = estimate_minus(e, estimate_exact(load + 1));
	path = d->uopcache_sets ? d->uopcache_latency : d->fetch_latency + d->decode_latency;
	findings_add(x->findings, "refill after a mispredicted branch", "cycles", e, "branch.mispredict",
	             e.value - path - d->rename_latency - d->issue_latency,
	             "without %.0f cycles of the load and the compare; of it %.0f from fetch to the queue, %d to rename, %d to issue, as the parent has them",
	             load + 1, path, d->rename_latency, d->issue_latency);
	return 0;
}

/* Loads and stores whose lines or pages end within them, by what they take beyond aligned ones. */
static int splits(struct experiment *x)
{
	static const struct {
		const char *name, *param, *before, *aligned, *split;
	} rows[] = {
		{ "load across lines", "split.line_latency", "leaq 128(%rdi), %r8\nmovq %r8, (%r8)\nleaq 60(%rdi), %r9\nmovq %r9, (%r9)\n",
		  "movq (%r8), %r8\n", "movq (%r9), %r9\n" },
		{ "load across pages", "split.page_latency", "leaq 128(%rdi), %r8\nmovq %r8, (%r8)\nleaq 4092(%rdi), %r9\nmovq %r9, (%r9)\n",
		  "movq (%r8), %r8\n", "movq (%r9), %r9\n" },
		{ "store across lines", "split.line_store", "leaq 64(%rdi), %r8\nleaq 60(%rdi), %r9\n", "movq %rcx, (%r8)\n", "movq %rcx, (%r9)\n" },
		{ "store across pages", "split.page_store", "leaq 64(%rdi), %r8\nleaq 4092(%rdi), %r9\n", "movq %rcx, (%r8)\n", "movq %rcx, (%r9)\n" },
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
		findings_add(x->findings, rows[i].name, "cycles", e, rows[i].param, fmax(0, e.value), "beyond an aligned one");
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
		findings_add(x->findings, "load 4 KiB behind a store", "cycles", alias, "alias4k.penalty", fmax(0, alias.value),
		             "beyond one that is no alias");
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
