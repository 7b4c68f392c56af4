/* Pairs, and the sets that explain them; ports.h has the method. */
#include "calibrate/ports.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/costs.h"

enum { MOST_INSTANCES = SEQUENCE_INSNS / 2, MOST_STEPS = 2000 };

static const double whole = 0.04;      /* how near a throughput must be to that of a whole number of ports */
static const double twice = 1.5;       /* nops that are so much faster than all else share slots */
static const double wrong = 0.10;      /* how far the parent's throughput may be off */

static unsigned count(unsigned set)
{
	return (unsigned)__builtin_popcount(set);
}

/* Whether `set` fits the classes before `c`. */
static bool fits(const struct port_puzzle *p, unsigned c, uint16_t set)
{
	for (unsigned k = 0; k < c; k++) {
		unsigned shared = count(set & p->found[k]);

		if (p->shared[c][k] != PORTS_UNKNOWN ? shared != (unsigned)p->shared[c][k]
		                                     : shared && !(p->parent[c] & p->parent[k]))
			return false;
	}
	return true;
}

static bool solve_from(struct port_puzzle *p, unsigned c, unsigned *steps)
{
	if (c == p->nr)
		return true;
	/*
	 * Nearest to the parent first: by the number of ports that differ. The sets within allowed[c] in ascending
	 * order.
	 */
	for (unsigned distance = 0; distance <= CORE_PORTS; distance++)
		for (uint16_t allowed = p->allowed[c], set = (uint16_t)-allowed & allowed; set;
		     set = (uint16_t)(set - allowed) & allowed) {
			if (count(set) != p->size[c] || count(set ^ p->parent[c]) != distance || !fits(p, c, set))
				continue;
			if (*steps == 0)
				return false;
			--*steps;
			p->found[c] = set;
			if (solve_from(p, c + 1, steps))
				return true;
		}
	return false;
}

bool ports_solve(struct port_puzzle *p)
{
	unsigned steps = MOST_STEPS;

	return solve_from(p, 0, &steps);
}

int ports_shared(unsigned na, unsigned nb, double cycles, double width)
{
	double together = (na + nb) / cycles, shared = na + nb - together, nearest = round(shared);

	/* Near the width, less than the sum of both may be the front end's doing. */
	if (together > 0.7 * width && na + nb > together + 0.4)
		return PORTS_UNKNOWN;
	if (fabs(shared - nearest) > 0.35 || nearest < 0 || nearest > MIN(na, nb))
		return PORTS_UNKNOWN;
	return (int)nearest;
}

/* The only compute uop of a form that neither loads nor stores; NULL: it has none or several. */
static const struct uop *only_uop(const struct parent *parent, const struct form *f)
{
	const struct uop *only = NULL;

	for (unsigned u = 0; u < f->insn->nr_uops; u++) {
		const struct uop *uop = &parent->code->uops[f->insn->uop + u];

		if (uop->kind != UOP_COMPUTE || only)
			return NULL;
		only = uop;
	}
	return only;
}

/* As many ports as a throughput stands for; 0: it is no whole number of them. */
static unsigned whole_ports(const struct estimate *throughput)
{
	double n = 1 / throughput->value;

	if (throughput->noisy || throughput->value <= 0 || n < 1 - whole || round(n) < 1 ||
	    fabs(n / round(n) - 1) > whole)
		return 0;
	return (unsigned)round(n);
}

/* Whether the kernel's own dependences leave the ports as the limit. */
static bool ports_limit(const struct form *f)
{
	return !f->has_latency || f->latency.value / f->throughput_kernel.parts < 0.9 * f->throughput.value;
}

enum bank { BANK_NONE, BANK_INTEGER, BANK_VECTOR, BANK_BOTH };

/* The register files that a form reads and writes, flags apart. */
static enum bank bank_of(const struct insn *i)
{
	unsigned banks = 0;

	for (unsigned k = 0; k < i->nr_data; k++)
		banks |= i->data[k] >= REG_VECTOR ? BANK_VECTOR : i->data[k] < REG_FLAGS ? BANK_INTEGER : 0;
	for (unsigned k = 0; k < i->nr_dst; k++)
		banks |= i->dst[k] >= REG_VECTOR ? BANK_VECTOR : i->dst[k] < REG_FLAGS ? BANK_INTEGER : 0;
	return (enum bank)banks;
}

/*
 * What runs as often as rename lets through says nothing of ports; what goes from one bank to the other may be two
 * uops.
 */
static void add_class(struct ports *p, struct parent *parent, const struct form *f, double width)
{
	const struct uop *uop = f->has_throughput ? only_uop(parent, f) : NULL;
	unsigned n = uop && uop->ports && !uop->unit ? whole_ports(&f->throughput) : 0;

	if (!n || n >= width - 0.5 || n > MOST_INSTANCES / 2 || p->nr == PORT_CLASSES)
		return;
	/* Only what depends on nothing can be mixed with anything. */
	if (parent_chain(parent, &f->throughput_kernel) > 0 || bank_of(f->insn) == BANK_BOTH)
		return;
	for (unsigned c = 0; c < p->nr; c++)
		if (p->classes[c].parent == uop->ports && p->classes[c].n == n)
			return;
	p->classes[p->nr] = (struct port_class){ .example = f, .n = n, .rank = p->nr, .parent = uop->ports };
	p->nr++;
}

/* Those that have as many ports as the parent says first; then in the order of the list. */
static int by_trust(const void *a, const void *b)
{
	const struct port_class *x = a, *y = b;
	int differ = (x->n != count(x->parent)) - (y->n != count(y->parent));

	return differ ? differ : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Cycles for one cycle's worth of each, mixed. */
static int time_pair(struct forms *f, const struct port_class *a, const struct port_class *b, struct estimate *e)
{
	struct sequence s = { .n = 0 };
	unsigned worth = MAX(1, MOST_INSTANCES / (a->n + b->n)), copy = 0;
	int ret;

	for (unsigned w = 0; w < worth; w++)
		for (unsigned i = 0; i < MAX(a->n, b->n); i++) {
			if (i < a->n)
				forms_append(f, a->example, copy++, &s);
			if (i < b->n)
				forms_append(f, b->example, copy++, &s);
		}
	ret = forms_time(f, &s, a->example->floats && b->example->floats, e);
	*e = estimate_scaled(*e, 1.0 / worth);
	return ret;
}

/*
 * Slots of rename that REPEAT times `line`, of `each` instructions, pass in a cycle; the loop's own branch is
 * one more.
 */
static int time_lines(struct experiment *x, const char *line, unsigned each, struct estimate *e)
{
	enum { REPEAT = 480 };
	GString *body = g_string_new(NULL);
	int ret;

	for (unsigned k = 0; k < REPEAT / each; k++)
		g_string_append(body, line);
	ret = bench_measure_text(x->bench, &(struct kernel_text){ .body = body->str }, e);
	if (!ret)
		*e = estimate_ratio(estimate_exact(REPEAT + 1), *e);
	g_string_free(body, TRUE);
	return ret;
}

static void keep_wider(struct estimate *best, struct estimate e)
{
	if (!e.noisy && (best->noisy || e.value > best->value))
		*best = e;
}

struct estimate ports_width(struct estimate nops, struct estimate others, bool *paired)
{
	*paired = !nops.noisy && !others.noisy && nops.value >= others.value * twice;
	if (!others.noisy && !*paired)
		keep_wider(&others, nops);
	return others;
}

/*
 * What needs no port, or all kinds of ports, so that only rename holds it up: the most of it in a cycle, over all
 * calls.
 */
static int time_width(struct experiment *x, struct estimate *nops, struct estimate *others)
{
	static const struct {
		const char *text;
		unsigned each;
		bool nops;
	} lines[] = {
		{ "nop\n", 1, true },
		{ ".byte 0x0f,0x1f,0x40,0x00\n", 1, true },
		{ "movq %rcx, %rbx\n", 1, false },
		{ "xorl %ebx, %ebx\n", 1, false },
		{ "leal 1(%rcx), %ebx\nmovl (%rdi), %r8d\npaddd %xmm1, %xmm2\nleal 1(%rcx), %r9d\nxorl %r10d, "
		  "%r10d\nmovl 8(%rdi), %r11d\n"
		  "paddd %xmm1, %xmm3\nleal 1(%rcx), %r12d\n",
		  8, false },
	};
	int ret = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(lines) && !ret; i++) {
		struct estimate e;

		ret = time_lines(x, lines[i].text, lines[i].each, &e);
		if (!ret)
			keep_wider(lines[i].nops ? nops : others, e);
	}
	return ret;
}

static bool is_whole(const struct estimate *e)
{
	return !e->noisy && fabs(e->value / round(e->value) - 1) <= whole;
}

/*
 * Tried again for a second where it is no whole number, or less than the parent's: then another thread on this core
 * takes its share.
 */
static int measure_width(struct experiment *x, struct forms *f, double *width)
{
	struct estimate nops = { .noisy = true }, others = { .noisy = true };
	int ret = time_width(x, &nops, &others);
	struct estimate best = ports_width(nops, others, &x->nops_pair);

	for (int i = 0;
	     i < (x->quick ? 5 : 20) && !ret && !(is_whole(&best) && round(best.value) >= x->parent->desc.rename_width);
	     i++) {
		g_usleep(50000);
		ret = time_width(x, &nops, &others);
		best = ports_width(nops, others, &x->nops_pair);
	}
	if (ret)
		return ret;
	best.noisy = !is_whole(&best);
	findings_add(x->findings, "width of rename", "slots/cycle", best, "rename.width", best.value,
	             "nops, eliminated copies, a mix for all ports");
	if (x->nops_pair)
		findings_add(x->findings, "nops in a slot of rename", "nops/slot", estimate_ratio(nops, best), NULL, 0,
		             "each takes one in the model");
	*width = findings_param(x->findings, "rename.width");
	if (!best.noisy && *width > findings_param(x->findings, "commit.width"))
		findings_add(x->findings, "width of commit", "slots/cycle", best, "commit.width", *width,
		             "at least that of rename");
	for (size_t i = 0; i < forms_count(f); i++)
		if (forms_at(f, i)->has_throughput && !forms_at(f, i)->throughput.noisy)
			*width = fmax(*width, 1 / forms_at(f, i)->throughput.value);
	return 0;
}

/* Takes class `c` of `from` over as the last one of `to`, whose classes are those of `chosen`. */
static void take_class(struct port_puzzle *to, const struct port_puzzle *from, const unsigned *chosen, unsigned c)
{
	unsigned n = to->nr++;

	to->size[n] = from->size[c];
	to->parent[n] = from->parent[c];
	to->allowed[n] = from->allowed[c];
	to->shared[n][n] = PORTS_UNKNOWN;
	for (unsigned k = 0; k < n; k++)
		to->shared[n][k] = to->shared[k][n] = from->shared[c][chosen[k]];
}

/* Ports that the parent connects with `set`, over any number of classes. */
static uint16_t connected(const struct ports *p, uint16_t set)
{
	uint16_t before;

	do {
		before = set;
		for (unsigned c = 0; c < p->nr; c++)
			if (p->classes[c].parent & set)
				set |= p->classes[c].parent;
	} while (set != before);
	return set;
}

/*
 * Ports that each class may have: those of all classes that the parent connects it with, and as many new ones as the
 * widest of them needs.
 */
static void allow(struct ports *p, struct port_puzzle *all)
{
	for (unsigned c = 0; c < p->nr; c++) {
		uint16_t set = connected(p, p->classes[c].parent);
		unsigned widest = 0;

		if (all->allowed[c])
			continue;
		for (unsigned k = 0; k < p->nr; k++)
			if (p->classes[k].parent & set)
				widest = MAX(widest, p->classes[k].n);
		while (count(set) < widest && p->nr_names < CORE_PORTS) {
			set |= (uint16_t)(1u << p->nr_names);
			p->names[p->nr_names] = g_strdup_printf("x%u", p->nr_names - p->nr_parent);
			p->nr_names++;
		}
		for (unsigned k = c; k < p->nr; k++)
			if (p->classes[k].parent & set)
				all->allowed[k] = set;
	}
}

/*
 * One class after the other. A class that fits no assignment together with those before it is left out: its pairs were
 * misread, or its uops are not what they seem.
 */
static void solve(struct ports *p, struct port_puzzle *all)
{
	struct port_puzzle fit = { .nr = 0 }, trial;
	unsigned chosen[PORT_CLASSES];

	allow(p, all);
	for (unsigned c = 0; c < p->nr; c++) {
		p->classes[c].found = 0;
		trial = fit;
		take_class(&trial, all, chosen, c);
		if (ports_solve(&trial)) {
			chosen[fit.nr] = c;
			fit = trial;
		}
	}
	for (unsigned k = 0; k < fit.nr; k++)
		p->classes[chosen[k]].found = fit.found[k];
	p->nr_solved = fit.nr;
}

/* Banks whose ports the parent keeps apart have none in common: their pairs are not measured. */
static bool apart(const struct ports *p, unsigned a, unsigned b)
{
	return bank_of(p->classes[a].example->insn) != bank_of(p->classes[b].example->insn) &&
		!(connected(p, p->classes[a].parent) & p->classes[b].parent);
}

static int measure_pairs(struct ports *p, struct experiment *x, struct forms *f, struct port_puzzle *puzzle,
                         double width)
{
	int ret = 0;

	puzzle->nr = p->nr;
	for (unsigned a = 0; a < p->nr && !ret; a++) {
		puzzle->size[a] = p->classes[a].n;
		puzzle->parent[a] = p->classes[a].parent;
		for (unsigned b = 0; b < a && !ret; b++) {
			char *what;
			struct estimate e;
			int shared = PORTS_UNKNOWN;

			puzzle->shared[a][b] = puzzle->shared[b][a] = 0;
			if (apart(p, a, b))
				continue;
			what = g_strdup_printf("%s with %s", p->classes[a].example->text, p->classes[b].example->text);
			ret = experiment_step(x, what);
			if (!ret)
				ret = time_pair(f, &p->classes[a], &p->classes[b], &e);
			if (!ret && !e.noisy)
				shared = ports_shared(p->classes[a].n, p->classes[b].n, e.value, width);
			puzzle->shared[a][b] = puzzle->shared[b][a] = shared;
			p->nr_pairs++;
			p->nr_known += shared != PORTS_UNKNOWN;
			g_free(what);
		}
	}
	return ret;
}

/*
 * Whether forms of those ports were found to have them: then it is others of that set alone that have more, not the
 * resource.
 */
static bool kept(const struct port_class *classes, unsigned nr, uint16_t parent)
{
	for (unsigned c = 0; c < nr; c++)
		if (classes[c].parent == parent && classes[c].found == parent)
			return true;
	return false;
}

void ports_extend(const struct port_class *classes, unsigned nr, struct port_extension *x, size_t n)
{
	bool changed;

	for (size_t i = 0; i < n; i++) {
		x[i].wider = x[i].parent;
		if (kept(classes, nr, x[i].parent))
			continue;
		for (unsigned c = 0; c < nr; c++)
			if (classes[c].parent == x[i].parent && !(x[i].parent & ~classes[c].found) &&
			    count(classes[c].found) > count(x[i].wider))
				x[i].wider = classes[c].found;
	}
	do {
		changed = false;
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n && x[i].wider != x[i].parent; k++)
				if (!(x[i].parent & ~x[k].parent) && x[i].wider & ~x[k].wider) {
					x[i].wider = x[i].parent;
					changed = true;
				}
	} while (changed);
}

/* The sets of LLVM's resources, from the parent's costs. */
static int extend(struct ports *p, const struct parent *parent)
{
	unsigned nr = decoder_nr_resources(parent->decoder);
	struct costs *costs = NULL;
	int ret = 0;

	if (*parent->desc.costs_path)
		ret = costs_new(&costs, parent->desc.costs_path, parent->desc.port_names, parent->desc.unit_names);
	if (ret || !costs)
		return ret;
	p->extensions = g_new0(struct port_extension, nr + 1);
	for (unsigned r = 0; r < nr; r++) {
		uint16_t set;
		uint8_t unit;

		costs_resource(costs, decoder_resource(parent->decoder, r), &set, &unit);
		if (set)
			p->extensions[p->nr_extensions++].parent = set;
	}
	costs_free(costs);
	ports_extend(p->classes, p->nr, p->extensions, p->nr_extensions);
	return 0;
}

int ports_measure(struct ports *p, struct experiment *x, struct forms *f)
{
	struct port_puzzle puzzle = { .nr = 0 };
	const struct core_desc *d = &x->parent->desc;
	double width = 0;
	int ret;

	*p = (struct ports){ .nr = 0 };
	while (p->nr_names < CORE_PORTS && d->port_names[p->nr_names]) {
		p->names[p->nr_names] = g_strdup(d->port_names[p->nr_names]);
		p->nr_names++;
	}
	p->nr_parent = p->nr_names;
	ret = experiment_step(x, "width of rename");
	if (!ret)
		ret = measure_width(x, f, &width);
	for (size_t i = 0; i < forms_count(f); i++)
		add_class(p, x->parent, forms_at(f, i), width);
	qsort(p->classes, p->nr, sizeof *p->classes, by_trust);
	if (!ret)
		ret = measure_pairs(p, x, f, &puzzle, width);
	if (!ret) {
		solve(p, &puzzle);
		ret = extend(p, x->parent);
	}
	return ret;
}

void ports_fini(struct ports *p)
{
	for (unsigned i = 0; i < p->nr_names; i++)
		g_free(p->names[i]);
	g_free(p->extensions);
	p->nr_names = 0;
	p->extensions = NULL;
	p->nr_extensions = 0;
}

char *ports_text(const struct ports *p, uint16_t set, const char *separator)
{
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < p->nr_names; i++)
		if (set >> i & 1)
			g_string_append_printf(s, "%s%s", s->len ? separator : "", p->names[i]);
	return g_string_free(s, FALSE);
}

/* The class of n ports whose parent's are nearest to `set`, and share some; NULL: there is none. */
static const struct port_class *class_of(const struct ports *p, unsigned n, uint16_t set)
{
	const struct port_class *best = NULL;

	for (unsigned c = 0; c < p->nr; c++) {
		const struct port_class *k = &p->classes[c];

		if (k->found && k->n == n && k->parent & set &&
		    (!best || count(k->parent ^ set) < count(best->parent ^ set)))
			best = k;
	}
	return best;
}

/* A form that holds a unit: the parent's uops, the unit held for as long as measured. */
static char *held_uops(const struct ports *p, const struct parent *parent, const struct form *f, double busy)
{
	GString *s = g_string_new(NULL);
	bool held = false;

	for (unsigned u = 0; u < f->insn->nr_uops; u++) {
		const struct uop *uop = &parent->code->uops[f->insn->uop + u];
		char *set = uop->ports ? ports_text(p, uop->ports, "|") : g_strdup("none");

		if (uop->kind != UOP_COMPUTE) {
			g_free(set);
			continue;
		}
		g_string_append_printf(s, "%s%s", s->len ? " " : "", set);
		if (uop->unit) {
			g_string_append_printf(s, "/%s*%.0f", parent->desc.unit_names[uop->unit - 1], round(busy));
			held = true;
		}
		g_free(set);
	}
	if (!held)
		g_string_truncate(s, 0);
	return g_string_free(s, !s->len);
}

/*
 * All ports of a form's uops, which are several. Where it is faster than they could be, one of them is the simplest
 * that would be as fast. 0 where memory has a part in it.
 */
static uint16_t compute_ports(const struct parent *parent, const struct form *f)
{
	uint16_t set = 0;

	for (unsigned u = 0; u < f->insn->nr_uops; u++) {
		const struct uop *uop = &parent->code->uops[f->insn->uop + u];

		if (uop->kind != UOP_COMPUTE)
			return 0;
		set |= uop->ports;
	}
	return set;
}

uint16_t ports_extended(const struct ports *p, uint16_t set)
{
	for (size_t i = 0; i < p->nr_extensions; i++)
		if (p->extensions[i].parent == set)
			return p->extensions[i].wider;
	return set;
}

char *ports_uops(const struct ports *p, const struct parent *parent, const struct form *f, const char **why)
{
	const struct uop *uop = only_uop(parent, f);
	double predicted = f->parent_throughput;
	const struct port_class *class;
	uint16_t set;
	unsigned n;

	*why = NULL;
	if (!f->has_throughput || f->throughput.noisy || f->parent_throughput <= 0)
		return NULL;
	if (uop && uop->ports && !uop->unit)
		predicted = 1.0 / count(ports_extended(p, uop->ports));
	if (fabs(f->throughput.value / predicted - 1) <= wrong)
		return NULL;
	if (f->throughput.value > 1.5) {
		char *held = held_uops(p, parent, f, f->throughput.value);

		if (held)
			return held;
	}
	n = whole_ports(&f->throughput);
	set = uop ? uop->ports : f->throughput.value < predicted ? compute_ports(parent, f) : 0;
	if (!set)
		*why = "it is of several uops or of memory, which throughput does not tell apart";
	else if (!ports_limit(f))
		*why = "dependences limit it too";
	else if (!n)
		*why = "no whole number of ports";
	if (*why)
		return NULL;
	class = class_of(p, n, set);
	if (!class) {
		*why = "no ports were found for forms of that throughput";
		return NULL;
	}
	return ports_text(p, class->found, "|");
}
