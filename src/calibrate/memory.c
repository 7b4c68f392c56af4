/* Chains, streams and pages; memory.h has the methods. */
#include "calibrate/memory.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/random.h"

enum { LINE = 64, SMALL_PAGE = 4096, CHASE_LOADS = 16, MAX_POINTS = 64 };
#define HUGE_PAGE ((size_t)2 << 20)

/* Whether at least nine tenths of [base, base + size) stand in huge pages, by /proc/self/smaps. */
static bool in_huge_pages(const struct memory_area *a)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	uint64_t from = 0, to = 0, huge = 0, kilobytes;
	char line[512];

	while (f && fgets(line, sizeof line, f)) {
		uint64_t start, end;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2) {
			from = start;
			to = end;
		}
		if (from < (uintptr_t)a->base + a->size && to > (uintptr_t)a->base &&
		    sscanf(line, "AnonHugePages: %" SCNu64 " kB", &kilobytes) == 1)
			huge += kilobytes * 1024;
	}
	if (f)
		fclose(f);
	return huge >= a->size / 10 * 9;
}

int memory_area_init(struct memory_area *a, size_t size, bool huge)
{
	*a = (struct memory_area){ .size = size, .mapped = size + HUGE_PAGE };
	a->mapping = mmap(NULL, a->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->mapping == MAP_FAILED) {
		a->mapping = NULL;
		return error_errno(errno, "memory for measuring");
	}
	a->base = (uint8_t *)(((uintptr_t)a->mapping + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
	madvise(a->base, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(a->base, 1, size);
	a->cell = a->base;
	a->huge = huge && in_huge_pages(a);
	return 0;
}

void memory_area_fini(struct memory_area *a)
{
	if (a->mapping)
		munmap(a->mapping, a->mapped);
	a->mapping = NULL;
}

void memory_chain(struct memory_area *a, size_t n, size_t stride, bool rotate, uint64_t seed)
{
	uint32_t *order = g_new(uint32_t, n);
	void **first, **at;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n; i-- > 1; ) {
		size_t k = next_random(&seed) % (i + 1);
		uint32_t swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
#define ELEMENT(i) \
	((void **)(void *)(a->base + order[i] * stride + (rotate ? order[i] % (SMALL_PAGE / LINE) * LINE : 0)))
	first = at = ELEMENT(0);
	for (size_t i = 1; i < n; i++) {
		*at = ELEMENT(i);
		at = *at;
	}
#undef ELEMENT
	*at = first;
	a->cell = first;
	g_free(order);
}

/* Once around the chain, so that what the caches can hold is there. */
static void walk(struct memory_area *a, size_t n)
{
	void **p = a->cell;

	for (size_t i = 0; i < n; i++)
		p = *(void **volatile *)p;
	a->cell = p;
}

int memory_chase(struct bench *b, struct memory_area *a, size_t n, struct estimate *e)
{
	GString *body = g_string_new(NULL);
	struct kernel_text text = { .before = "movq (%rdi), %r8", .after = "movq %r8, (%rdi)" };
	struct kernel k = { .memory = &a->cell };
	int ret;

	for (int i = 0; i < CHASE_LOADS; i++)
		g_string_append(body, "movq (%r8), %r8\n");
	text.body = body->str;
	ret = bench_make(b, &text, &k.run);
	if (!ret) {
		walk(a, n);
		*e = estimate_scaled(bench_measure(b, &k), 1.0 / CHASE_LOADS);
	}
	g_string_free(body, TRUE);
	return ret;
}

struct curve {
	double x[MAX_POINTS], y[MAX_POINTS];
	struct estimate e[MAX_POINTS];
	size_t n;
};

/* The point of the curve nearest to x. */
static size_t point_at(const struct curve *c, double x)
{
	size_t best = 0;

	for (size_t i = 1; i < c->n; i++)
		if (fabs(c->x[i] - x) < fabs(c->x[best] - x))
			best = i;
	return best;
}

/*
 * Latency of n lines. What lies in a cache that others share is measured several times, and the fastest taken: their
 * streams may empty it within a millisecond.
 */
static int latency_of(const struct experiment *x, struct memory_area *a, size_t lines, struct estimate *e)
{
	unsigned times = lines * LINE <= x->host->l1d ? 1 : x->quick || lines * LINE <= x->host->l2 ? 2 : 5;
	struct estimate again;
	int ret = 0;

	memory_chain(a, lines, LINE, false, 0x9e3779b97f4a7c15u + lines);
	ret = memory_chase(x->bench, a, lines, e);
	for (unsigned i = 1; i < times && !ret; i++) {
		ret = memory_chase(x->bench, a, lines, &again);
		if (!ret && (e->noisy > again.noisy || (e->noisy == again.noisy && again.value < e->value)))
			*e = again;
	}
	return ret;
}

/*
 * Latency over footprints from 8 KiB to the area's size. A smaller footprint is no slower than a larger one, and noise
 * only adds: so each point is as low as the lowest to its right.
 */
static int latency_curve(const struct experiment *x, struct memory_area *a, struct curve *c)
{
	double factor = x->quick ? sqrt(2) : sqrt(sqrt(2));
	int ret = 0;

	c->n = 0;
	for (double size = 8192; size <= (double)a->size * 1.01 && c->n < MAX_POINTS && !ret; size *= factor) {
		size_t lines = (size_t)fmin(size, (double)a->size) / LINE;
		char what[64];

		snprintf(what, sizeof what, "latency of %zu KiB", lines * LINE / 1024);
		ret = experiment_step(x, what);
		if (ret)
			break;
		ret = latency_of(x, a, lines, &c->e[c->n]);
		c->x[c->n++] = (double)(lines * LINE);
	}
	for (size_t i = c->n; i-- > 0; ) {
		if (i + 1 < c->n && c->e[i + 1].value < c->e[i].value && !c->e[i + 1].noisy)
			c->e[i] = c->e[i + 1];
		c->y[i] = c->e[i].value;
	}
	return ret;
}

/* Loads in order through `bytes`, `block` of them a round, both powers of two; bytes a cycle. */
static int stream(const struct experiment *x, struct memory_area *a, size_t bytes, size_t block, struct estimate *e)
{
	const char *load = x->bench->avx ? "vmovaps %d(%%r9), %%ymm0\n" : "movaps %d(%%r9), %%xmm0\n";
	size_t width = x->bench->avx ? 32 : 16;
	GString *body = g_string_new("leaq (%r8,%r11), %r9\n");
	char *before = g_strdup_printf("movq (%%rdi), %%r8\nmovabsq $%p, %%r11\n", (void *)a->base);
	struct kernel_text text = { .before = before, .after = "movq %r8, (%rdi)" };
	struct kernel k = { .memory = &a->cell };
	struct estimate cycles;
	int ret;

	for (size_t i = 0; i < block; i += width)
		g_string_append_printf(body, load, (int)i);
	g_string_append_printf(body, "addq $%zu, %%r8\nandq $%zu, %%r8\n", block, bytes - 1);
	text.body = body->str;
	a->cell = NULL;
	ret = bench_make(x->bench, &text, &k.run);
	if (!ret && bench_try(x->bench, &k, bytes / block))
		ret = error_set(EFAULT, "bandwidth", "the kernel does not run");
	if (!ret) {
		cycles = bench_measure(x->bench, &k);
		*e = estimate_ratio(estimate_exact((double)block), cycles);
	}
	g_free(before);
	g_string_free(body, TRUE);
	return ret;
}

/* Loads of random lines all over the area, whose addresses are known beforehand; cycles each. */
static int scatter(const struct experiment *x, struct memory_area *a, struct estimate *e)
{
	enum { LOADS = 16, OFFSETS = 1 << 18 };
	uint32_t *offsets = g_new(uint32_t, OFFSETS);
	GString *body = g_string_new(NULL);
	char *before = g_strdup_printf("movq (%%rdi), %%r8\nmovabsq $%p, %%r11\nmovabsq $%p, %%r9\n", (void *)a->base,
	                               (void *)offsets);
	struct kernel_text text = { .before = before, .after = "movq %r8, (%rdi)" };
	struct kernel k = { .memory = &a->cell };
	uint64_t seed = 0x2545f4914f6cdd1du;
	int ret;

	for (size_t i = 0; i < OFFSETS; i++)
		offsets[i] = (uint32_t)(next_random(&seed) % (a->size / LINE) * LINE);
	for (int i = 0; i < LOADS; i++)
		g_string_append_printf(body, "movl %d(%%r9,%%r8), %%eax\nmovq (%%r11,%%rax), %%rcx\n", 4 * i);
	g_string_append_printf(body, "addq $%d, %%r8\nandq $%d, %%r8\n", 4 * LOADS, 4 * OFFSETS - 1);
	text.body = body->str;
	a->cell = NULL;
	ret = bench_make(x->bench, &text, &k.run);
	if (!ret)
		*e = estimate_scaled(bench_measure(x->bench, &k), 1.0 / LOADS);
	g_free(before);
	g_free(offsets);
	g_string_free(body, TRUE);
	return ret;
}

static void add_sizes(const struct experiment *x)
{
	const struct host *h = x->host;
	const struct {
		const char *size, *ways;
		uint64_t bytes;
		unsigned nr_ways;
	} levels[] = { { "l1d.size", "l1d.ways", h->l1d, h->l1d_ways }, { "l2.size", "l2.ways", h->l2, h->l2_ways } };

	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
		if (!levels[i].bytes)
			continue;
		findings_add(x->findings, i ? "size of L2" : "size of L1", "bytes",
		             estimate_exact((double)levels[i].bytes), levels[i].size, (double)levels[i].bytes,
		             "as the processor says");
		findings_add(x->findings, i ? "ways of L2" : "ways of L1", "ways", estimate_exact(levels[i].nr_ways),
		             levels[i].ways, levels[i].nr_ways, "as the processor says");
	}
}

/*
 * Where the last level is flattest, between twice L2 and what the processor says it holds, and how far it reaches.
 * False where nothing there is at most half as far away as memory: others have taken it.
 */
static bool find_last_level(const struct curve *c, uint64_t l2, uint64_t llc, size_t *at, double *reach)
{
	size_t first = point_at(c, 2 * (double)l2), end = point_at(c, llc ? (double)llc : c->x[c->n - 1]) + 1, flat;
	double half;

	if (first + 2 >= end)
		return false;
	flat = flattest(c->y, end, first);
	if (c->y[c->n - 1] < 2 * c->y[flat])
		return false;
	half = (c->y[flat] + c->y[c->n - 1]) / 2;
	*at = flat;
	*reach = c->x[c->n - 1];
	for (size_t i = flat; i + 1 < c->n; i++)
		if (c->y[i] <= half && c->y[i + 1] > half) {
			*reach = c->x[i];
			break;
		}
	return true;
}

/* A load of L1 whose address is no simple one: see l1d.simple_latency. */
static int general_load(const struct experiment *x, struct estimate *e)
{
	enum { LOADS = 24 };
	GString *body = g_string_new(NULL);
	int ret;

	for (int i = 0; i < LOADS; i++)
		g_string_append(body, "movq 2048(%rbx), %rbx\n");
	ret = bench_measure_text(
		x->bench,
		&(struct kernel_text){ .before = "movq %rdi, %rbx\nmovq %rdi, 2048(%rdi)\n", .body = body->str }, e);
	*e = estimate_scaled(*e, 1.0 / LOADS);
	g_string_free(body, TRUE);
	return ret;
}

static int levels(struct experiment *x, struct memory_area *a)
{
	struct core_desc *d = &x->parent->desc;
	uint64_t l1 = x->host->l1d ? x->host->l1d : (uint64_t)d->l1d_size,
		 l2 = x->host->l2 ? x->host->l2 : (uint64_t)d->l2_size;
	struct curve c = { .n = 0 };
	struct estimate e, memory, rate;
	double reach = 0, mhz = x->bench->ticks_per_second / x->bench->ticks_per_cycle / 1e6;
	size_t at = 0;
	bool last;
	int ret = latency_curve(x, a, &c);

	if (ret)
		return ret;
	e = c.e[point_at(&c, (double)l1 / 2)];
	findings_add(x->findings, "load to use, L1, simple address", "cycles", e, "l1d.simple_latency", e.value, NULL);
	ret = general_load(x, &e);
	if (ret)
		return ret;
	findings_add(x->findings, "load to use, L1", "cycles", e, "l1d.latency", e.value,
	             "with an offset of 2048, which no short way takes");
	e = c.e[flattest(c.y, point_at(&c, (double)l2 / 2) + 1, point_at(&c, 2 * (double)l1))];
	findings_add(x->findings, "load to use, L2", "cycles", e, "l2.latency", e.value, NULL);
	memory = c.e[point_at(&c, (double)a->size / 2)];
	findings_add(x->findings, "load to use, memory", "cycles", memory, NULL, 0, "%.0f ns%s",
	             memory.value * 1000 / mhz,
	             a->huge ? "" : "; in small pages, which the system gave, so that page walks are in it");
	last = find_last_level(&c, l2, x->host->llc, &at, &reach);
	if (last) {
		unsigned ways = (unsigned)d->llc_ways;
		double sets = floor(reach / LINE / ways);

		findings_add(x->findings, "load to use, last level", "cycles", c.e[at], "llc.latency", c.y[at],
		             "at %.0f KiB", c.x[at] / 1024);
		findings_add(x->findings, "reach of the last level", "bytes", estimate_exact(reach), "llc.size",
		             sets * ways * LINE,
		             x->host->llc && reach < (double)x->host->llc / 2
		                     ? "what answers: the processor says %.0f KiB, of which others may hold some"
		                     : "the processor says %.0f KiB",
		             (double)x->host->llc / 1024);
	} else {
		findings_leave(x->findings, "load to use, last level", "llc.latency",
		               "no plateau between L2 and memory: others may have taken it");
	}
	if (last || findings_of(x->findings, "l2.latency")) {
		double above = findings_param(x->findings, "llc.latency"),
		       row = d->dram_cas_ns + d->dram_rcd_ns + d->dram_rp_ns;
		double rest = (memory.value - above) * 1000 / mhz - row;

		findings_add(x->findings, "memory controller and interconnect", "ns",
		             estimate_scaled(memory, 1000 / mhz), "dram.latency_ns", rest,
		             "load to use without the last level's %.0f cycles and a row's %.0f ns", above, row);
	}

	ret = experiment_step(x, "line-fill buffers");
	if (!ret)
		ret = scatter(x, a, &rate);
	if (!ret)
		ret = latency_of(x, a, a->size / LINE, &memory); /* of the same minute: others load the memory too */
	if (!ret) {
		e = estimate_ratio(memory, rate);
		findings_add(x->findings, "misses that overlap", "lines", e, "l1d.mshrs", e.value,
		             "memory's latency over %.1f cycles that each of many random loads takes", rate.value);
	}
	return ret;
}

/*
 * The fastest of some streams, since who shares a cache or memory may take both. Of several blocks: what each load
 * strides over is the block, and a prefetcher by instruction whose table mixes up some of them may bring every line
 * twice (Zen 5 with blocks of 2048 bytes: half of L2's bandwidth).
 */
static int fastest_stream(const struct experiment *x, struct memory_area *a, size_t bytes, unsigned times,
                          struct estimate *e)
{
	static const size_t blocks[] = { 512, 1024, 2048 };
	struct estimate again;
	int ret = 0;

	*e = (struct estimate){ .noisy = true };
	for (unsigned i = 0; i < times * G_N_ELEMENTS(blocks) && !ret; i++) {
		ret = stream(x, a, bytes, blocks[i % G_N_ELEMENTS(blocks)], &again);
		if (!ret && (e->noisy > again.noisy || (e->noisy == again.noisy && again.value > e->value)))
			*e = again;
	}
	return ret;
}

/* The last level's is that of so little that L2 keeps none of it: of more, others may have taken a part. */
static int bandwidths(struct experiment *x, struct memory_area *a)
{
	uint64_t l1 = (uint64_t)findings_param(x->findings, "l1d.size"),
		 l2 = (uint64_t)findings_param(x->findings, "l2.size");
	uint64_t llc = (uint64_t)findings_param(x->findings, "llc.size");
	bool seen = findings_of(x->findings, "llc.size"); /* how far it reaches, not what the parent says it could */
	double mhz = x->bench->ticks_per_second / x->bench->ticks_per_cycle / 1e6;
	enum { L1, L2, LAST_LEVEL, MEMORY };
	const struct {
		const char *name, *param;
		uint64_t bytes;
	} rows[] = {
		[L1] = { "bandwidth of L1, loads", "l1d.bandwidth", l1 / 2 },
		[L2] = { "bandwidth of L2, loads", "l2.bandwidth", l2 / 2 },
		[LAST_LEVEL] = { "bandwidth of the last level, loads", "llc.bandwidth",
		  seen && llc > 4 * l2 ? MIN(llc / 2, 8 * l2) : 2 * l2 },
		[MEMORY] = { "bandwidth of memory, loads", "dram.bandwidth", a->size },
	};
	struct estimate e[G_N_ELEMENTS(rows)];
	uint64_t bytes[G_N_ELEMENTS(rows)];
	int ret = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rows) && !ret; i++) {
		bytes[i] = 2048;
		while (2 * bytes[i] <= MIN(rows[i].bytes, a->size))
			bytes[i] *= 2;
		ret = experiment_step(x, rows[i].name);
		if (!ret)
			ret = fastest_stream(x, a, bytes[i], x->quick ? 1 : 3, &e[i]);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(rows) && !ret; i++) {
		double kilobytes = (double)bytes[i] / 1024;

		if (i == L1 && e[i].value < x->parent->desc.l1d_bandwidth)
			findings_add(
				x->findings, rows[i].name, "bytes/cycle", e[i], NULL, 0,
				"what %d-byte loads reach: the ports limit it, l1d.bandwidth is left to the parent",
				x->bench->avx ? 32 : 16);
		else if (i == LAST_LEVEL && e[i].value < e[MEMORY].value * 1.5)
			findings_leave(x->findings, rows[i].name, rows[i].param,
			               "%.0f KiB in order come at %.1f bytes a cycle, and memory's at %.1f: others may "
			               "have taken it",
			               kilobytes, e[i].value, e[MEMORY].value);
		else
			findings_add(x->findings, rows[i].name, "bytes/cycle", e[i], rows[i].param,
			             i == MEMORY ? e[i].value * mhz : e[i].value,
			             i == MEMORY ? "%.1f GB/s" : "%.0f KiB in order",
			             i == MEMORY ? e[i].value * mhz / 1000 : kilobytes);
	}
	return ret;
}

/* As much memory as shows all levels: four times the last, within what the machine can spare. */
static size_t area_size(const struct experiment *x)
{
	uint64_t llc = x->host->llc ? x->host->llc : (uint64_t)32 << 20, size = HUGE_PAGE;
	uint64_t spare = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
	uint64_t most = MIN(MIN(4 * llc, (uint64_t)512 << 20), spare);

	while (2 * size <= most)
		size *= 2;
	return size;
}

int memory_measure(struct experiment *x)
{
	struct memory_area a;
	int ret = memory_area_init(&a, area_size(x), true);

	if (ret)
		return ret;
	add_sizes(x);
	ret = levels(x, &a);
	if (!ret)
		ret = bandwidths(x, &a);
	memory_area_fini(&a);
	return ret;
}
