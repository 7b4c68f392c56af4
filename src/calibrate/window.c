/* Two misses with fillers between; window.h has the method. */
#include "calibrate/window.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/memory.h"

enum { LINE = 64, MAX_POINTS = 80, FEWEST = 12, MOST = 720 };
static const double rise = 1.3;        /* of a round, where the misses do not overlap any more */
static const double half = 0.75;       /* less than that of the parent's may be what a sibling thread leaves */
static const double broad = 1.25;      /* a step over more than that is none */

enum { MIX = 3 };

/* `#`: the number of a register, in turn, so that fillers do not wait for each other; at most one in a text. */
struct filler {
	const char *name, *unit;
	const char *text[MIX];             /* in turn, up to NULL */
	const char *param;                 /* NULL: the schedulers that the parent has for it */
	int extra;                         /* what the parameter counts beside the fillers */
	const char *note;
};

/*
 * Where two nops take one slot: on a Zen 4 they take one entry, too, and so do two comparisons, or two copies that
 * rename does. Those that follow each other here do not, and of each there are no more than the other structures hold.
 */
static const struct filler reorder_mix = {
	"reorder buffer", "operations",
	{ "cmpl %ecx, (%rdi)\n", "leal 1(%rcx), %r#d\n", "paddd %xmm1, %xmm#\n" },
	"rob.entries", 2, "results of both kinds and loads between two misses, which it holds too",
};

/* r10: 0, once the miss is there; xmm0: the same. */
static const struct filler fillers[] = {
	{ "reorder buffer", "nops", { "nop\n" }, "rob.entries", 2, "nops between two misses, which it holds too" },
	{ "integer register file", "results", { "leal 1(%rcx), %r#d\n" }, "prf.integer", 32,
	  "results behind a miss, and 32 architectural as the model counts them" },
	{ "vector register file", "results", { "paddd %xmm1, %xmm#\n" }, "prf.vector", 32,
	  "results behind a miss, and 32 architectural as the model counts them" },
	{ "load queue", "loads", { "cmpl %ecx, (%rdi)\n" }, "load_queue.entries", 2,
	  "loads between two misses, which it holds too" },
	{ "store queue", "stores", { "movl %ecx, 64(%rdi)\n" }, "store_queue.entries", 0, "stores behind a miss" },
	{ "scheduler, integer", "operations", { "leal 1(%r10), %r#d\n" }, NULL, 1, "operations that wait for a miss" },
	{ "scheduler, loads", "loads", { "movl 128(%rdi,%r10), %r#d\n" }, NULL, 1, "loads that wait for a miss" },
	{ "scheduler, vector", "operations", { "paddd %xmm0, %xmm#\n" }, NULL, 1, "operations that wait for a miss" },
};

static bool waits(const struct filler *f)
{
	return !f->param;
}

static bool is_vector(const char *text)
{
	return strstr(text, "xmm");
}

/* The n-th, with its register's number in the place of `#`. */
static void append_filler(GString *s, const struct filler *f, unsigned n)
{
	unsigned nr = 0;

	while (nr < MIX && f->text[nr])
		nr++;
	const char *text = f->text[n % nr], *at = strchr(text, '#');
	unsigned reg = is_vector(text) ? 2 + n % 12 : 11 + n % 5;
	if (at)
		g_string_append_printf(s, "%.*s%u%s", (int)(at - text), text, reg, at + 1);
	else
		g_string_append(s, text);
}

struct cells {
	void *chain[2];
};

static void append_half(GString *s, const struct filler *f, const char *pointer, unsigned n)
{
	g_string_append_printf(s, "movq (%%%s), %%%s\n", pointer, pointer);
	if (waits(f))
		g_string_append_printf(s, "movq %%%s, %%r10\nandl $0, %%r10d\n", pointer);
	if (waits(f) && is_vector(f->text[0]))
		g_string_append(s, "movd %r10d, %xmm0\n");
	for (unsigned i = 0; i < n; i++)
		append_filler(s, f, i);
}

/* Cycles of a round with n fillers behind each of its two misses. */
static int round_of(const struct experiment *x, const struct filler *f, struct cells *cells, unsigned n, double *cycles)
{
	GString *body = g_string_new(NULL);
	struct kernel_text text = {
		.before = "movq (%rdi), %r8\nmovq 8(%rdi), %r9\nmovq %rdi, %rbp\nmovq 16(%rdi), %rdi\n",
		.after = "movq %r8, (%rbp)\nmovq %r9, 8(%rbp)\n",
	};
	struct {
		struct cells cells;
		void *scratch;
	} memory = { *cells, x->bench->scratch };
	struct kernel k = { .memory = &memory, .rounds = 32 };
	struct estimate e;
	int ret;

	append_half(body, f, "r8", n);
	append_half(body, f, "r9", n);
	text.body = body->str;
	ret = bench_make(x->bench, &text, &k.run);
	if (!ret) {
		e = bench_measure(x->bench, &k);
		*cycles = e.noisy ? e.low : e.value;
	}
	*cells = memory.cells;
	g_string_free(body, TRUE);
	return ret;
}

/*
 * The step between `from` and `to` fillers. A sibling thread that wakes up takes its share of every structure: so each
 * number is tried at several times, the fastest counts, and fewer fillers are no slower than more.
 */
static int scan(const struct experiment *x, const struct filler *f, struct cells *cells, double from, double to,
                double factor, double least, struct knee *k)
{
	double n[MAX_POINTS], cycles[MAX_POINTS], once;
	size_t nr = 0;
	int ret = 0;

	for (double at = from; at <= to && nr < MAX_POINTS; at = fmax(at * factor, at + least)) {
		n[nr] = floor(at);
		cycles[nr++] = INFINITY;
	}
	for (int pass = 0; pass < (x->quick ? 2 : 5) && !ret; pass++)
		for (size_t i = 0; i < nr && !ret; i++) {
			char what[64];

			snprintf(what, sizeof what, "%s, %.0f %s", f->name, n[i], f->unit);
			ret = experiment_step(x, what);
			if (!ret)
				ret = round_of(x, f, cells, (unsigned)n[i], &once);
			if (!ret)
				cycles[i] = fmin(cycles[i], once);
		}
	for (size_t i = nr; i-- > 1; )
		cycles[i - 1] = fmin(cycles[i - 1], cycles[i]);
	if (!ret)
		*k = find_knee(n, cycles, nr, rise);
	return ret;
}

/* The ports that the parent has for the filler. */
static unsigned ports_of(const struct experiment *x, const struct filler *f)
{
	GString *text = g_string_new(NULL);
	uint8_t bytes[SEQUENCE_BYTES];
	unsigned ports = 0;
	size_t length;

	append_filler(text, f, 0);
	if (!assembler_text(x->bench->as, text->str, bytes, sizeof bytes, &length)) {
		const struct insn *i = parent_insn(x->parent, bytes, (unsigned)length);

		for (unsigned u = 0; u < i->nr_uops; u++)
			ports |= x->parent->code->uops[i->uop + u].ports;
	}
	g_string_free(text, TRUE);
	return ports;
}

/*
 * The schedulers that take the filler, by the parent: they share what was found. Where one of them was found already,
 * with fillers that it takes too, the figure is for the reader alone. A queue in front of them is as long as the parent
 * says.
 */
static void add_schedulers(struct experiment *x, const struct filler *f, struct estimate e)
{
	const struct core_desc *d = &x->parent->desc;
	const int32_t ports[] = { d->sched0_ports, d->sched1_ports, d->sched2_ports, d->sched3_ports,
		                  d->sched4_ports, d->sched5_ports, d->sched6_ports, d->sched7_ports };
	int32_t wanted = (int32_t)ports_of(x, f);
	unsigned nr = 0, queued = 0;
	bool known = false;
	char name[32];

	for (size_t n = 0; n < G_N_ELEMENTS(ports); n++) {
		snprintf(name, sizeof name, "sched%zu.entries", n);
		nr += (ports[n] & wanted) != 0;
		if (ports[n] & wanted && ports[n] & d->waiting_ports)
			queued = (unsigned)d->waiting_entries;
		known = known || (ports[n] & wanted && findings_of(x->findings, name));
	}
	if (!nr || known) {
		findings_add(x->findings, f->name, f->unit, e, NULL, 0,
		             "%s; the parent has no scheduler for them alone", f->note);
		return;
	}
	for (size_t n = 0; n < G_N_ELEMENTS(ports); n++) {
		snprintf(name, sizeof name, "sched%zu.entries", n);
		if (ports[n] & wanted)
			findings_add(x->findings, f->name, f->unit, e, name,
			             fmax(1, (e.value + f->extra - queued) / nr),
			             "%s, in %u schedulers of the parent's, and %u in its queue in front of them",
			             f->note, nr, queued);
	}
}

static bool is_reorder(const struct filler *f)
{
	return f->param && !strcmp(f->param, "rob.entries");
}

/* Fillers beyond which a scan sees nothing: the reorder buffer bounds all but itself. */
static double most_of(const struct experiment *x, const struct filler *f)
{
	return is_reorder(f) ? MOST : fmin(MOST, 1.2 * findings_param(x->findings, "rob.entries"));
}

static void add(struct experiment *x, const struct filler *f, struct knee k)
{
	struct estimate e = {
		.value = k.at, .low = k.low, .high = k.high, .agreeing = 1, .samples = 1,
		.noisy = k.high > k.low * broad,
	};
	const struct finding *rob = findings_of(x->findings, "rob.entries");
	bool shared = !findings_of(x->findings, "rename.width");
	double most = 0.9 * (rob ? rob->estimate.low : x->parent->desc.rob_entries);

	if (!k.found)
		findings_leave(x->findings, f->name, f->param, "no step up to %.0f %s", most_of(x, f), f->unit);
	else if (f->param && !is_reorder(f) && k.high > most)
		findings_leave(x->findings, f->name, f->param, "at least %.0f: the reorder buffer may be full first",
		               k.at);
	else if (f->param && shared && k.at + f->extra < half * findings_param(x->findings, f->param))
		findings_leave(
			x->findings, f->name, f->param,
			"%.0f, but rename's width says that another thread shares the core, and this may be its part",
			k.at);
	else if (f->param)
		findings_add(x->findings, f->name, f->unit, e, f->param, k.at + f->extra,
		             "%s: a step from %.0f to %.0f cycles", f->note, k.before, k.after);
	else
		add_schedulers(x, f, e);
}

int window_measure(struct experiment *x)
{
	struct memory_area a;
	struct cells cells;
	size_t size = (size_t)128 << 20, lines = size / LINE;
	int ret = memory_area_init(&a, size, true);

	if (ret)
		return ret;
	memory_chain(&a, lines, LINE, false, 0x853c49e6748fea9bu);
	cells.chain[0] = a.cell;
	for (size_t i = 0; i < lines / 2; i++)
		a.cell = *(void **)a.cell;
	cells.chain[1] = a.cell;
	for (size_t i = 0; i < G_N_ELEMENTS(fillers) && !ret; i++) {
		const struct filler *f = is_reorder(&fillers[i]) && x->nops_pair ? &reorder_mix : &fillers[i];
		struct knee k = { .found = false };

		ret = scan(x, f, &cells, FEWEST, most_of(x, f), x->quick ? 1.12 : 1.08, 1, &k);
		if (!ret && k.found)
			ret = scan(x, f, &cells, floor(k.low * 0.8), ceil(k.high * 1.2), 1, x->quick ? 4 : 2, &k);
		if (!ret)
			add(x, f, k);
	}
	memory_area_fini(&a);
	return ret;
}
