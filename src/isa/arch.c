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

static unsigned find(const uint8_t *list, unsigned n, unsigned reg)
{
	unsigned i = 0;

	while (i < n && list[i] != reg)
		i++;
	return i;
}

void shape_address(struct shape *s, unsigned reg)
{
	struct insn *i = s->insn;

	if (find(i->addr, i->nr_addr, reg) < i->nr_addr)
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
	unsigned at = find(i->data, i->nr_data, reg);
	uint8_t cycles = (uint8_t)CLAMP(late, 0, 255);

	if (at == INSN_DATAS) {
		s->overflow = true;
		return;
	}
	i->data_late[at] = at < i->nr_data ? MIN(i->data_late[at], cycles) : cycles;
	i->data[at] = (uint8_t)reg;
	i->nr_data = (uint8_t)MAX(i->nr_data, at + 1);
	s->reads[at] = (uint16_t)(s->reads[at] | 1u << MIN(s->nr_reads, 15));
	s->nr_reads++;
}

static void add_dst(struct shape *s, unsigned reg, int16_t latency, unsigned code)
{
	struct insn *i = s->insn;

	if (find(i->dst, i->nr_dst, reg) < i->nr_dst)
		return;
	if (i->nr_dst == INSN_DSTS) {
		s->overflow = true;
		return;
	}
	s->result[i->nr_dst] = latency;
	i->dst_latency[i->nr_dst] = (uint8_t)code;
	i->dst[i->nr_dst++] = (uint8_t)reg;
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
	if (!r->nr && !(o->role & (OPERAND_DEF | OPERAND_MEMORY)))
		s->nr_reads++;     /* a zero register */
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
