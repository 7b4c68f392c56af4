#include "core/vary_code.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"

enum { MOST_INSNS = 1 << 24, MOST_UOPS = 1 << 26 };

struct vary_code {
	const struct code *from;
	struct code code;              /* as the core sees it */
	const struct core_desc *desc;  /* the variant's, with its twins */
	uint32_t latency[NR_LATENCIES]; /* weight of each class, thousandths */
	uint32_t busy[CORE_UNITS];     /* of the cycles that each unit is held */
};

bool vary_code_wanted(const struct vary *const *part, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (part[i]->kind != VARY_PARAMETERS)
			return true;
	return false;
}

static unsigned nr_ports(const struct core_desc *d)
{
	unsigned n = 0;

	while (n < CORE_PORTS && d->port_names[n])
		n++;
	return n;
}

bool vary_code_able(const struct vary *const *part, unsigned nr, uint32_t weight, const struct core_desc *d)
{
	uint16_t doubled = 0;

	for (unsigned i = 0; i < nr; i++) {
		if (part[i]->kind == VARY_OWN)
			return false;
		if (part[i]->kind == VARY_PORTS)
			doubled |= part[i]->ports;
	}
	return !doubled ||
	       (weight == 2 * WEIGHT_ONE && nr_ports(d) + (unsigned)__builtin_popcount(doubled) <= CORE_PORTS);
}

static void add_twins(uint16_t ports, struct core_desc *d)
{
	static const char *const names[CORE_PORTS] = {
		"twin0", "twin1", "twin2", "twin3", "twin4", "twin5", "twin6", "twin7",
		"twin8", "twin9", "twin10", "twin11", "twin12", "twin13", "twin14", "twin15",
	};
	int32_t *const sets[] = {
		&d->sched0_ports,       &d->sched1_ports,     &d->sched2_ports,       &d->sched3_ports,
		&d->sched4_ports,       &d->sched5_ports,     &d->sched6_ports,       &d->sched7_ports,
		&d->branch_taken_ports, &d->wide_closes,      &d->split_vector_ports, &d->waiting_ports,
		&d->rename_stack_ports, &d->l1d_victim_ports,
	};
	unsigned n = nr_ports(d);

	for (unsigned i = 0; i < CORE_PORTS; i++) {
		if (!(ports >> i & 1) || d->port_twin[i])
			continue;
		d->port_twin[i] = (uint8_t)n;
		d->port_names[n] = names[n];
		d->port_names[++n] = NULL;
	}
	for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++)
		*sets[i] = core_desc_with_twins(d, (uint16_t)*sets[i]);
}

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

int vary_code_new(struct vary_code **out, const struct code *code, const struct vary *const *part, unsigned nr,
                  uint32_t weight, struct core_desc *d)
{
	struct vary_code *v = calloc(1, sizeof *v);

	*out = NULL;
	if (!v)
		return error_errno(ENOMEM, "variant of the instructions");
	v->desc = d;
	v->from = code;
	v->code = *code;
	v->code.nr = 0;
	for (unsigned i = 0; i < NR_LATENCIES; i++)
		v->latency[i] = WEIGHT_ONE;
	for (unsigned i = 0; i < CORE_UNITS; i++)
		v->busy[i] = WEIGHT_ONE;
	for (unsigned i = 0; i < nr; i++) {
		uint32_t time = WEIGHT_ONE * WEIGHT_ONE / weight;
		if (part[i]->kind == VARY_PORTS)
			add_twins(part[i]->ports, d);
		if (part[i]->kind == VARY_UNIT)
			v->busy[part[i]->unit_nr] = time;
		for (unsigned k = 0; k < NR_LATENCIES && part[i]->kind == VARY_LATENCY; k++)
			if (part[i]->classes >> k & 1)
				v->latency[k] = time;
	}
	v->code.insn = reserve(MOST_INSNS * sizeof *v->code.insn);
	v->code.uops = reserve(MOST_UOPS * sizeof *v->code.uops);
	if (!v->code.insn || !v->code.uops) {
		vary_code_free(v);
		return error_errno(ENOMEM, "variant of the instructions");
	}
	*out = v;
	return 0;
}

void vary_code_free(struct vary_code *v)
{
	if (!v)
		return;
	if (v->code.insn)
		munmap(v->code.insn, MOST_INSNS * sizeof *v->code.insn);
	if (v->code.uops)
		munmap(v->code.uops, MOST_UOPS * sizeof *v->code.uops);
	free(v);
}

/* Cycles at a weight, to the nearest; what takes any takes at least one. */
static uint8_t weighted(uint8_t cycles, uint32_t weight)
{
	uint32_t w = (cycles * weight + WEIGHT_ONE / 2) / WEIGHT_ONE;
	return (uint8_t)(cycles && !w ? 1 : w > 127 ? 127 : w);
}

static void take_over(struct vary_code *v, uint32_t i)
{
	struct insn *in = &v->code.insn[i];
	uint32_t weight;

	*in = v->from->insn[i];
	weight = v->latency[latency_class(in)];
	in->latency = weighted(in->latency, weight);
	for (unsigned k = 0; k < in->nr_dst; k++)
		if (!(in->dst_latency[k] & DST_WRITEBACK))
			in->dst_latency[k] = weighted(in->dst_latency[k], weight);
	for (unsigned k = 0; k < in->nr_data; k++)
		in->data_late[k] = in->data_late[k] < in->latency ? in->data_late[k] : in->latency;
	for (uint32_t k = in->uop; k < in->uop + in->nr_uops; k++) {
		struct uop *u = &v->code.uops[k];
		*u = v->from->uops[k];
		u->ports = core_desc_with_twins(v->desc, u->ports);
		if (u->unit) {
			uint32_t busy = (u->busy * v->busy[u->unit - 1] + WEIGHT_ONE / 2) / WEIGHT_ONE;
			u->busy = (uint16_t)(busy ? busy : 1);
		}
		if (u->kind == UOP_COMPUTE)
			u->latency = weighted(u->latency, weight);
	}
}

void vary_code_follow(struct vary_code *v)
{
	if (v->code.nr == v->from->nr)
		return;
	/* That an instruction makes a pair with the next is found out after it came into the table. */
	for (uint32_t i = 0; i < v->code.nr; i++)
		v->code.insn[i].flags = v->from->insn[i].flags;
	for (uint32_t i = v->code.nr; i < v->from->nr; i++)
		take_over(v, i);
	v->code.nr = v->from->nr;
}

struct code *vary_code(struct vary_code *v)
{
	return &v->code;
}
