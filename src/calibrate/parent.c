/* What the parent's description predicts; parent.h has the reasons. */
#include "calibrate/parent.h"

#include <glib.h>
#include <string.h>

enum { ROUNDS = 40, MAX_SETS = 96 };

int parent_init(struct parent *p, const char *core)
{
	int ret;

	*p = (struct parent){ .pc = 0x10000 };
	ret = core_desc_load(&p->desc, core);
	if (!ret)
		ret = code_new(&p->code, &(struct code_config){
			.isa = ISA_X86_64, .cpu = p->desc.cpu, .features = p->desc.features,
			.ports = p->desc.port_names,
			.units = p->desc.unit_names, .costs = *p->desc.costs_path ? p->desc.costs_path : NULL });
	if (!ret)
		ret = decoder_new(&p->decoder, "x86_64-linux-gnu", p->desc.cpu, p->desc.features);
	if (ret)
		parent_fini(p);
	return ret;
}

void parent_fini(struct parent *p)
{
	code_free(p->code);
	decoder_free(p->decoder);
	p->code = NULL;
	p->decoder = NULL;
}

const struct insn *parent_insn(struct parent *p, const uint8_t *bytes, unsigned length)
{
	const struct insn *i = code_insn(p->code, code_add(p->code, p->pc, bytes, length));

	p->pc += 16;
	return i;
}

static void take(struct parent *p, const struct sequence *s, const struct insn *insns[SEQUENCE_INSNS])
{
	for (unsigned k = 0; k < s->n; k++)
		insns[k] = parent_insn(p, s->bytes[k], s->length[k]);
}

static bool vanishes(const struct parent *p, const struct insn *i)
{
	return i->flags & INSN_MOVE && p->desc.rename_move_slots;
}

/* When the last of the addresses is there. */
static unsigned addressed(const unsigned *ready, const struct insn *i)
{
	unsigned t = 0;

	for (unsigned k = 0; k < i->nr_addr; k++)
		t = MAX(t, ready[i->addr[k]]);
	return t;
}

/* The registers of a chain. */
struct chain {
	unsigned ready[NR_REGS];   /* cycle */
	unsigned bypass[NR_REGS];  /* cycles more until others than its own unit have it */
	bool loaded[NR_REGS];      /* by a load and nothing else */
	bool integer[NR_REGS];     /* a vector of integers */
};

/* When the instruction has the last of its sources. */
static unsigned supplied(const struct parent *p, const struct insn *i, const struct chain *c)
{
	unsigned t = 0;

	for (unsigned k = 0; k < i->nr_data; k++) {
		unsigned reg = i->data[k], at = c->ready[reg];

		if (!i->bypass && !vanishes(p, i))
			at += c->bypass[reg];
		if (i->flags & INSN_FP && c->integer[reg])
			at += (unsigned)p->desc.bypass_fp;
		t = MAX(t, at - MIN(at, i->data_late[k]));
	}
	return t;
}

/* When the last result of one instruction is there. */
static unsigned execute(const struct parent *p, const struct insn *i, struct chain *c)
{
	unsigned addresses = addressed(c->ready, i), t = supplied(p, i, c), last = 0;
	bool pure = i->flags & INSN_LOAD && i->latency == 0;

	if (i->flags & INSN_LEAF_RESULT)
		t = 0;
	if (i->flags & INSN_LOAD) {
		bool simple = i->flags & INSN_SIMPLE_ADDR && i->nr_addr && c->loaded[i->addr[0]];
		unsigned latency = (unsigned)(simple ? p->desc.l1d_simple_latency : p->desc.l1d_latency) +
		                   i->load_extra + i->address_extra;

		t = MAX(t, addresses + latency);
	}
	for (unsigned k = 0; k < i->nr_dst; k++) {
		uint8_t reg = i->dst[k], latency = i->dst_latency[k];

		c->ready[reg] =
			latency & DST_WRITEBACK ? addresses + (latency & 127) : t + (vanishes(p, i) ? 0 : latency);
		c->loaded[reg] = pure;
		c->integer[reg] = i->flags & INSN_VINT;
		c->bypass[reg] = vanishes(p, i) ? c->bypass[i->data[0]] : i->bypass;
		last = MAX(last, c->ready[reg]);
	}
	return last;
}

double parent_chain(struct parent *p, const struct sequence *s)
{
	const struct insn *insns[SEQUENCE_INSNS];
	struct chain c = { .ready = { 0 } };
	unsigned end[2] = { 0 };

	take(p, s, insns);
	for (unsigned round = 0; round < 2 * ROUNDS; round++)
		for (unsigned k = 0; k < s->n; k++) {
			unsigned last = execute(p, insns[k], &c);

			end[round / ROUNDS] = MAX(end[round / ROUNDS], last);
		}
	return (double)(end[1] - end[0]) / ROUNDS;
}

double port_bound(const uint16_t *sets, const double *uops, size_t n)
{
	uint16_t unions[MAX_SETS];
	size_t nr = 0;
	double bound = 0;

	/* Closed under union, as far as there is room: each of few instructions' uops has few different sets. */
	for (size_t i = 0; i < n; i++) {
		size_t before = nr;

		for (size_t k = 0; k <= before && nr < MAX_SETS; k++) {
			uint16_t set = (uint16_t)(sets[i] | (k < before ? unions[k] : 0));
			bool known = !set;

			for (size_t m = 0; m < nr; m++)
				known = known || unions[m] == set;
			if (!known)
				unions[nr++] = set;
		}
	}
	for (size_t k = 0; k < nr; k++) {
		double inside = 0;

		for (size_t i = 0; i < n; i++)
			if (sets[i] && !(sets[i] & ~unions[k]))
				inside += uops[i];
		bound = MAX(bound, inside / __builtin_popcount(unions[k]));
	}
	return bound;
}

double parent_resources(struct parent *p, const struct sequence *s)
{
	const struct insn *insns[SEQUENCE_INSNS];
	uint16_t sets[64];
	double uops[64] = { 0 }, held[CORE_UNITS + 1] = { 0 }, slots = 0, bound;
	size_t nr = 0;

	take(p, s, insns);
	for (unsigned k = 0; k < s->n; k++) {
		slots += insns[k]->slots;
		for (unsigned u = 0; u < insns[k]->nr_uops && !vanishes(p, insns[k]); u++) {
			const struct uop *uop = &p->code->uops[insns[k]->uop + u];
			size_t at = 0;

			held[uop->unit] += uop->busy;
			while (at < nr && sets[at] != uop->ports)
				at++;
			if (at == G_N_ELEMENTS(sets))
				continue;
			if (at == nr)
				sets[nr++] = uop->ports;
			uops[at] += 1;
		}
	}
	bound = MAX(slots / p->desc.rename_width, port_bound(sets, uops, nr));
	for (unsigned unit = 1; unit <= CORE_UNITS; unit++)
		bound = MAX(bound, held[unit]);
	return bound;
}
