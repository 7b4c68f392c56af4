/*
 * Rename and dispatch of the detailed core: the choice of ports where it is not by counts alone, reasons for waits, and
 * the start. The rest is in rename.h.
 */
#include "core/ooo/rename.h"
#include "core/order/pair.h"

#include <assert.h>
#include <string.h>

/* --- ports ------------------------------------------------------------------------------------------- */

uint16_t rename_compute_ports(const struct ooo *o, const struct attempt *a, uint16_t ports)
{
	const struct core_desc *d = o->desc;

	if (a->pair_ports)
		return a->pair_ports;
	if (a->in->branch)
		ports = branch_ports(d, ports, a->predicted.taken);
	if (a->in->flags & (INSN_VINT | INSN_FP) && a->dispatch <= o->wide_until && ports & ~d->wide_closes)
		ports &= (uint16_t)~d->wide_closes;
	return ports;
}

/*
 * Of several schedulers that could take the uop, the one with most room, less the `need` of the uops before it; its
 * ports are what is left to choose from.
 */
static uint16_t choose_scheduler(const struct ooo *o, uint16_t ports, const uint8_t need[CORE_SCHEDULERS])
{
	unsigned best = NO_SCHEDULER;
	int64_t most = INT64_MIN;
	uint16_t mine[CORE_SCHEDULERS] = { 0 }, free = 0;

	for (unsigned rest = ports; rest; rest &= rest - 1) {
		unsigned p = (unsigned)__builtin_ctz(rest), s = o->sched_of_port[p];
		if (s == NO_SCHEDULER)
			free |= (uint16_t)(1u << p);
		else
			mine[s] |= (uint16_t)(1u << p);
	}
	for (unsigned s = 0; s < CORE_SCHEDULERS; s++) {
		int64_t room = (int64_t)o->sched_entries[s] - o->held.held.of[HELD_SCHEDULER + s] - need[s];
		if (mine[s] && room > most) {
			best = s;
			most = room;
		}
	}
	return best == NO_SCHEDULER ? free : mine[best];
}

unsigned rename_assign_ports(struct ooo *o, struct attempt *a, uint8_t need[CORE_SCHEDULERS])
{
	unsigned needed = 0;

	o->nr_queued = 0;
	if (o->binder.counted)
		binder_count(&o->binder, &o->held.held.of[HELD_PORT], a->dispatch);
	for (unsigned i = 0; i < a->nr_uops; i++) {
		uint16_t ports = uop_ports(o, a, &a->uop[i]);
		struct bind_group *g = binder_group(&o->binder, ports);
		if (g)
			ports = bind_to(&o->binder, g, ports, a->dispatch,
			                a->slot_position + (i < a->slots ? i : a->slots - 1));
		if (ports & (ports - 1) && !(ports & o->nsq.ports))
			ports = choose_scheduler(o, ports, need);
		if (g && g->kind == BIND_SPREAD)
			bind_spread_took(g, ports);
		o->port[i] = ports;
		if (ports & o->nsq.ports) {
			o->nr_queued++;
		} else if (ports) {
			unsigned s = o->sched_of_port[__builtin_ctz(ports)];
			if (s != NO_SCHEDULER && need[s] < UINT8_MAX) {
				need[s]++;
				needed |= 1u << s;
			}
		}
	}
	return needed;
}

void rename_stack_sync(struct ooo *o, const struct attempt *a)
{
	uint64_t ready = later(a->dispatch + (unsigned)o->desc->issue_latency, o->reg_ready[o->stack.pointer]);
	uint64_t first = UINT64_MAX;
	unsigned port = 0;

	for (unsigned rest = (unsigned)o->desc->rename_stack_ports; rest; rest &= rest - 1) {
		unsigned p = (unsigned)__builtin_ctz(rest);
		uint64_t c = ports_first(&o->ports, p, ready);
		if (c < first) {
			first = c;
			port = p;
		}
	}
	ports_book(&o->ports, port, first);
	o->reg_ready[o->stack.pointer] = first + 1;
}

struct wait rename_reason(const struct ooo *o, const struct attempt *a, const struct limits *l, uint64_t most)
{
	const struct insn *in = a->in;
	unsigned integer = in->nr_integer, vector = in->nr_vector;

	if (most == l->rob)
		return (struct wait){ most, holder_of(o, o->rob, o->nr_slots, (uint64_t)o->desc->rob_entries,
			rob_need(o, a->slots))->record + 1, WAIT_ROB };
	if (most == l->integer)
		return (struct wait){ most, holder_of(o, o->reg[BANK_INTEGER], o->nr_regs[BANK_INTEGER],
			(uint64_t)o->reg_usable[BANK_INTEGER], integer)->record + 1, WAIT_REGISTERS };
	if (most == l->vector)
		return (struct wait){ most, holder_of(o, o->reg[BANK_VECTOR], o->nr_regs[BANK_VECTOR],
			(uint64_t)o->reg_usable[BANK_VECTOR], vector)->record + 1, WAIT_REGISTERS };
	if (most == l->stores)
		return (struct wait){ most, lsq_store_holder(&o->lsq, store_entries(a)) + 1, WAIT_STORE_QUEUE };
	if (most == l->loads)
		return (struct wait){ most, lsq_load_holder(&o->lsq, in->nr_loads) + 1, WAIT_LOAD_QUEUE };
	if (most == l->serial)
		return (struct wait){ most, o->record, WAIT_SERIAL };
	if (most == o->serial_until)
		return (struct wait){ most, o->serial_record + 1, WAIT_SERIAL };
	return (struct wait){ most, o->record, WAIT_WIDTH };
}

/* The queue stands in front of all schedulers that feed one of its ports. */
static void nsq_init(struct ooo *o)
{
	o->nsq.entries = (uint32_t)o->desc->waiting_entries;
	for (unsigned s = 0; s < CORE_SCHEDULERS; s++) {
		uint32_t all = o->sched_entries[s] + o->nsq.entries;
		uint16_t ports = (uint16_t)core_desc_scheduler(o->desc, s).ports;
		if (!o->sched_entries[s] || !(ports & o->desc->waiting_ports))
			continue;
		o->nsq.ports |= ports;
		o->nsq.in[s].entries = o->sched_entries[s];
		for (unsigned rest = ports; rest; rest &= rest - 1) {
			unsigned p = (unsigned)__builtin_ctz(rest);
			o->nsq.feeds[p] |= (uint8_t)(1u << s);
			o->nsq.on[p].entries = SCHEDULER_MOST;
		}
		o->sched_entries[s] = all < SCHEDULER_MOST ? all : SCHEDULER_MOST;
	}
}

void rename_init(struct ooo *o)
{
	const struct core_desc *d = o->desc;

	memset(o->sched_of_port, NO_SCHEDULER, sizeof o->sched_of_port);
	for (unsigned s = 0; s < CORE_SCHEDULERS; s++) {
		const struct core_scheduler sched = core_desc_scheduler(d, s);
		o->sched_entries[s] = (uint32_t)sched.entries;
		for (unsigned p = 0; p < CORE_PORTS; p++)
			if (sched.entries && sched.ports >> p & 1)
				o->sched_of_port[p] = (uint8_t)s;
	}
	if (d->waiting_entries)
		nsq_init(o);
	binder_init(&o->binder, d);
	binder_add(&o->binder, d, BIND_TURN, (uint16_t)d->load_queue_data_ports);
	o->counted = o->binder.counted & (uint16_t)~o->nsq.ports;
	const int32_t files[NR_BANKS] = { d->prf_integer, d->prf_vector };
	for (unsigned b = 0; b < NR_BANKS; b++) {
		int32_t usable = files[b] - NR_ARCHITECTURAL;
		o->reg_usable[b] = usable > INSN_DSTS ? usable : INSN_DSTS;
	}
	o->data_ports = core_desc_with_twins(d, (uint16_t)d->load_queue_data_ports);
	int32_t most = d->rob_entries;
	for (unsigned b = 0; b < NR_BANKS; b++)
		most = o->reg_usable[b] > most ? o->reg_usable[b] : most;
	for (o->ring_mask = 511; o->ring_mask < (uint64_t)most + UINT8_MAX; )
		o->ring_mask = 2 * o->ring_mask + 1;
}
