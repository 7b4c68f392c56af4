#include "isa_bound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PORTS = 8, UNITS = 4, ROUNDS = 40 };

static void read_sequence(struct code *code, const char *hex, struct bound_sequence *s)
{
	uint8_t bytes[1024];
	unsigned size = 0;

	for (; hex[2 * size]; size++) {
		char digits[3] = { hex[2 * size], hex[2 * size + 1], 0 };
		bytes[size] = (uint8_t)strtoul(digits, NULL, 16);
	}
	s->n = 0;
	for (unsigned at = 0; at < size; s->n++) {
		s->insn[s->n] = code_insn(code, code_add(code, 0x1000 + at, bytes + at, size - at));
		assert_false(s->insn[s->n]->flags & INSN_UNMODELLED);
		at += s->insn[s->n]->length;
	}
}

static unsigned latest(const unsigned *ready, const uint8_t *regs, unsigned n, const uint8_t *late)
{
	unsigned t = 0;

	for (unsigned k = 0; k < n; k++) {
		unsigned at = ready[regs[k]] - (late && ready[regs[k]] > late[k] ? late[k] : 0);
		t = at > t ? at : t;
	}
	return t;
}

/* Cycles a round takes where nothing but dependences holds it back. `loaded` by a load, for its short
 * latency; `integer`: a vector result that is late for floating point. */
double bound_dependences(const struct bound_core *core, const struct bound_sequence *s)
{
	unsigned ready[NR_REGS] = { 0 }, end[2] = { 0 };
	bool loaded[NR_REGS] = { false }, integer[NR_REGS] = { false };

	for (unsigned round = 0; round < 2 * ROUNDS; round++)
		for (unsigned k = 0; k < s->n; k++) {
			const struct insn *i = s->insn[k];
			unsigned addresses = latest(ready, i->addr, i->nr_addr, NULL), t = latest(ready, i->data, i->nr_data, i->data_late);
			bool pure = i->flags & INSN_LOAD && i->latency == 0;
			for (unsigned d = 0; d < i->nr_data && i->flags & INSN_FP; d++)
				if (integer[i->data[d]] && ready[i->data[d]] + core->bypass > t)
					t = ready[i->data[d]] + core->bypass;
			if (i->flags & INSN_LEAF_RESULT)
				t = 0;
			if (i->flags & INSN_LOAD) {
				unsigned latency = i->flags & INSN_SIMPLE_ADDR && i->nr_addr && loaded[i->addr[0]] ? core->load_simple : core->load + i->load_extra;
				t = addresses + latency > t ? addresses + latency : t;
			}
			for (unsigned d = 0; d < i->nr_dst; d++) {
				bool copied = core->eliminates && i->flags & INSN_MOVE;
				ready[i->dst[d]] = i->dst_latency[d] & DST_WRITEBACK ? addresses + (i->dst_latency[d] & 127) : t + (copied ? 0 : i->dst_latency[d]);
				loaded[i->dst[d]] = pure;
				integer[i->dst[d]] = i->flags & INSN_VINT;
				if (ready[i->dst[d]] > end[round / ROUNDS])
					end[round / ROUNDS] = ready[i->dst[d]];
			}
		}
	return (double)(end[1] - end[0]) / ROUNDS;
}

double bound_resources(const struct bound_core *core, const struct code *code, const struct bound_sequence *s)
{
	double bound = 0, slots = 0;

	for (unsigned k = 0; k < s->n; k++)
		slots += s->insn[k]->slots;
	bound = slots / core->width;
	for (unsigned set = 1; set < 1u << PORTS; set++) {
		unsigned uops = 0;
		for (unsigned k = 0; k < s->n; k++)
			for (unsigned u = 0; u < s->insn[k]->nr_uops && !(core->eliminates && s->insn[k]->flags & INSN_MOVE); u++) {
				const struct uop *uop = &code->uops[s->insn[k]->uop + u];
				uops += uop->ports && (uop->ports & ~set) == 0;
			}
		double load = (double)uops / __builtin_popcount(set);
		bound = load > bound ? load : bound;
	}
	for (unsigned unit = 1; unit <= UNITS; unit++) {
		double held = 0;
		for (unsigned k = 0; k < s->n; k++)
			for (unsigned u = 0; u < s->insn[k]->nr_uops; u++)
				held += code->uops[s->insn[k]->uop + u].unit == unit ? code->uops[s->insn[k]->uop + u].busy : 0;
		bound = held > bound ? held : bound;
	}
	return bound;
}

static bool is_excepted(const struct bound_exception *excepted, unsigned n, const char *name)
{
	for (unsigned k = 0; k < n; k++)
		if (strcmp(excepted[k].name, name) == 0)
			return true;
	return false;
}

void bound_check(struct code *code, const struct bound_core *core, const struct bound_measured *rows, unsigned n,
		 const struct bound_exception *excepted, unsigned nr_excepted, double noise)
{
	unsigned differences = 0;

	for (unsigned k = 0; k < n; k++) {
		const struct bound_measured *m = &rows[k];
		struct bound_sequence s;
		read_sequence(code, m->hex, &s);
		double chain = bound_dependences(core, &s) / m->parts, resources = bound_resources(core, code, &s) / m->parts;
		double bound = chain > resources ? chain : resources;
		double allowed = chain <= resources && resources <= 1 ? noise : 1.05;
		bool agrees = m->cycles <= bound * allowed && m->cycles >= bound * 0.95, excused = is_excepted(excepted, nr_excepted, m->name);
		if (agrees == excused) {
			print_error("%s: measured %.3f, bound %.3f (dependences %.3f, resources %.3f)%s\n", m->name, m->cycles, bound, chain, resources,
				    agrees ? ", and is excepted" : "");
			differences++;
		}
	}
	assert_int_equal(differences, 0);
}
