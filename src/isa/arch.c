/* The registry of ISAs and what their files share. */
#include "isa/arch.h"

#include <glib.h>

#include "isa/list.h"

#define X(id, name) extern const struct arch arch_##name;
ISAS(X)
#undef X

const struct arch *const arch_list[NR_ISAS] = {
#define X(id, name) [id] = &arch_##name,
	ISAS(X)
#undef X
};

static bool has(const uint8_t *list, unsigned n, unsigned reg)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == reg)
			return true;
	return false;
}

void shape_address(struct shape *s, unsigned reg)
{
	struct insn *i = s->insn;

	if (has(i->addr, i->nr_addr, reg))
		return;
	if (i->nr_addr == INSN_ADDRS) {
		s->overflow = true;
		return;
	}
	i->addr[i->nr_addr++] = (uint8_t)reg;
}

void shape_data(struct shape *s, unsigned reg, int16_t late)
{
	struct insn *i = s->insn;

	if (has(i->data, i->nr_data, reg))
		return;
	if (i->nr_data == INSN_DATAS) {
		s->overflow = true;
		return;
	}
	i->data_late[i->nr_data] = (uint8_t)CLAMP(late, 0, 255);
	i->data[i->nr_data++] = (uint8_t)reg;
}

static bool add_dst(struct shape *s, unsigned reg, int16_t latency, unsigned code)
{
	struct insn *i = s->insn;

	if (has(i->dst, i->nr_dst, reg))
		return false;
	if (i->nr_dst == INSN_DSTS) {
		s->overflow = true;
		return false;
	}
	s->result[i->nr_dst] = latency;
	i->dst_latency[i->nr_dst] = (uint8_t)code;
	i->dst[i->nr_dst++] = (uint8_t)reg;
	return true;
}

void shape_result(struct shape *s, unsigned reg, int16_t latency)
{
	add_dst(s, reg, latency, 0);
}

void shape_writeback(struct shape *s, unsigned reg, unsigned cycles)
{
	add_dst(s, reg, -1, DST_WRITEBACK | cycles);
}

void shape_operand(struct shape *s, const struct operand *o)
{
	const struct reg *r;

	if (!(o->role & OPERAND_REGISTER) || !o->reg)
		return;
	r = &s->regs[o->reg];
	if (r->special)
		return;
	if (!(o->role & OPERAND_MEMORY)) {
		s->bits = MAX(s->bits, r->bits);
		s->vector = s->vector || (r->nr && r->number[0] >= REG_VECTOR);
		s->high = s->high || r->high;
		s->load_advance = MAX(s->load_advance, o->advance);
	}
	for (unsigned k = 0; k < r->nr; k++) {
		if (o->role & OPERAND_DEF) {
			if (r->merges)
				shape_data(s, r->number[k], 0);
			shape_result(s, r->number[k], o->latency);
		} else if (o->role & OPERAND_MEMORY) {
			shape_address(s, r->number[k]);
		} else {
			shape_data(s, r->number[k], o->advance);
		}
	}
}

uint64_t traits_of(const struct trait *table, unsigned n, const char *form)
{
	uint64_t traits = 0;

	for (unsigned i = 0; i < n; i++)
		if (g_pattern_match_simple(table[i].glob, form))
			traits |= table[i].traits;
	return traits;
}
