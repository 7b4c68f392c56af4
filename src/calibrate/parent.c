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
			.isa = ISA_X86_64, .cpu = p->desc.cpu, .features = p->desc.features, .ports = p->desc.port_names,
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

static unsigned latest(const unsigned *ready, const uint8_t *regs, unsigned n, const uint8_t *late)
{
	unsigned t = 0;

	for (unsigned k = 0; k < n; k++) {
		unsigned wait = late ? late[k] : 0, at = ready[regs[k]];

		at = at > wait ? at - wait : 0;
		t = MAX(t, at);
	}
	return t;
}

/* When the last result of one instruction is there, its operands' cycles in `ready`, which is brought up to date. */
static unsigned execute(const struct parent *p, const struct insn *i, unsigned *ready, bool *loaded, bool *integer, unsigned *bypass)
{
	unsigned addresses = latest(ready, i->addr, i->nr_addr, NULL), t = latest(ready, i->data, i->nr_data, i->data_late), last = 0;
	bool pure = i->flags & INSN_LOAD && i->latency == 0;

	for (unsigned k = 0; k < i->nr_data && i->flags & INSN_FP; k++)
		if (integer[i->data[k]])
			t = MAX(t, ready[i->data[k]] + (unsigned)p->desc.bypass_fp);
	for (unsigned k = 0; k < i->nr_data && !i->bypass && !vanishes(p, i); k++)
		t = MAX(t, ready[i->data[k]] + bypass[i->data[k]]);
	if (i->flags & INSN_LEAF_RESULT)
		t = 0;
	if (i->flags & INSN_LOAD) {
		bool simple = i->flags & INSN_SIMPLE_ADDR && i->nr_addr && loaded[i->addr[0]];
		unsigned latency = (unsigned)(simple ? p->desc.l1d_simple_latency : p->desc.l1d_latency) + i->load_extra + i->address_extra;

		t = MAX(t, addresses + latency);
	}
	for (unsigned k = 0; k < i->nr_dst; k++) {
		uint8_t reg = i->dst[k], latency = i->dst_latency[k];

		ready[reg] = latency & DST_WRITEBACK ? addresses + (latency & 127) : t + (vanishes(p, i) ? 0 : latency);
		loaded[reg] = pure;
		integer[reg] = i->flags & INSN_VINT;
		bypass[reg] = vanishes(p, i) ? bypass[i->data[0]] : i->bypass;
		last = MAX(last, ready[reg]);
	}
	return last;
}

double parent_chain(struct parent *p, const struct sequence *s)
{
	const struct insn *insns[SEQUENCE_INSNS];
	unsigned ready[NR_REGS] = { 0 }, bypass[NR_REGS] = { 0 }, end[2] = { 0 };
	bool loaded[NR_REGS] = { false }, integer[NR_REGS] = { false };

	take(p, s, insns);
	for (unsigned round = 0; round < 2 * ROUNDS; round++)
		for (unsigned k = 0; k < s->n; k++) {
			unsigned last = execute(p, insns[k], ready, loaded, integer, bypass);

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
