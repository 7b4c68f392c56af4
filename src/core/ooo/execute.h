/*
 * Execution in the detailed core: operands and issue, which every instruction needs. Inline for the short way of plain
 * instructions in ooo.c.
 */
#ifndef CYCLEWISE_CORE_OOO_EXECUTE_H
#define CYCLEWISE_CORE_OOO_EXECUTE_H

#include "core/ooo/ooo.h"

struct operand_wait {
	uint64_t ready, by;            /* by: record number + 1; 0: none made it wait */
};

static inline void operand(const struct ooo *o, uint8_t reg, unsigned late, unsigned bypass, struct operand_wait *w)
{
	uint64_t ready = o->reg_ready[reg] + bypass;

	ready = ready > late ? ready - late : 0;
	if (ready > w->ready) {
		w->ready = ready;
		w->by = o->reg_by[reg];
	}
}

/*
 * An integer vector result takes longer to come to a floating-point consumer; the other way costs nothing (measured).
 * What its own unit forwards to itself takes longer to come to any other.
 */
static inline unsigned bypass(const struct ooo *o, const struct insn *in, uint8_t reg)
{
	unsigned unit = in->bypass ? 0 : (unsigned)o->reg_flags[reg] >> REG_BYPASS_SHIFT;

	return in->flags & INSN_FP && o->reg_flags[reg] & REG_DOMAIN_INT ? unit + (unsigned)o->desc->bypass_fp : unit;
}

/* What a result of the instruction is to that. */
static inline uint8_t domain(const struct insn *in)
{
	return (uint8_t)((in->flags & INSN_VINT ? REG_DOMAIN_INT : 0) | in->bypass << REG_BYPASS_SHIFT);
}

/*
 * The uop issues on `port` in `cycle`: its entry is free in the next, unless it is held for longer, and its port's
 * count, where there is one, is lowered in the one after (uiCA). What waits for a port that no scheduler feeds may be
 * more than a count holds: the rest is not counted.
 */
static inline void issued(struct ooo *o, struct attempt *a, unsigned port, uint64_t cycle)
{
	unsigned scheduler = o->sched_of_port[port];
	bool counted = o->counted >> port & 1 && o->held.held.of[HELD_PORT + port] < UINT8_MAX;

	ports_book(&o->ports, port, cycle);
	if (counted && scheduler != NO_SCHEDULER && !a->holds_entry) {
		release_add_two(&o->held, HELD_SCHEDULER + scheduler, HELD_PORT + port, cycle + 1);
	} else {
		if (scheduler != NO_SCHEDULER)
			release_add(&o->held, HELD_SCHEDULER + scheduler, cycle + 1 + a->holds_entry);
		if (counted)
			release_add(&o->held, HELD_PORT + port, cycle + 2);
	}
	a->issue = cycle < a->issue ? cycle : a->issue;
}

/* issue_uop() where there is a choice of ports, or a unit to hold. */
uint64_t issue_uop_anywhere(struct ooo *o, struct attempt *a, const struct uop *u, uint16_t ports, uint64_t ready);
/* issue_uop() where a queue stands in front of the scheduler. */
uint64_t issue_uop_queued(struct ooo *o, struct attempt *a, const struct uop *u, uint16_t ports, uint64_t ready);

/* Books the uop in the first cycle from `ready` on in which a port (and its unit) is free; returns the cycle. */
static inline uint64_t issue_uop(struct ooo *o, struct attempt *a, unsigned i, uint64_t ready)
{
	const struct uop *u = &a->uop[i];
	uint16_t ports = o->port[i];

	if (!ports)
		return ready;
	if (ports & o->nsq.ports)
		return issue_uop_queued(o, a, u, ports, ready);
	if (!(ports & (ports - 1)) && !u->unit) {
		unsigned only = (unsigned)__builtin_ctz(ports);
		uint64_t cycle = ports_first(&o->ports, only, ready);
		if (cycle > ready)
			a->issue_wait = WAIT_PORT;
		issued(o, a, only, cycle);
		return cycle;
	}
	return issue_uop_anywhere(o, a, u, ports, ready);
}

/*
 * What waits for the result of one cycle of a uop that is bound to a pair of ports is woken when that one asks for a
 * port, as if it were sure to get it at once. Where it does not, what waits is issued from `woken` on on ports of its
 * own pair, and replayed until its operands are there in `ready`. Without this, waking would have to wait for the
 * choice of who issues. Ref: Brown, Stark and Patt, "Select-Free Instruction Scheduling Logic", MICRO-34 (2001), pp.
 * 204-213: those that ask and are not chosen are its collision victims, what these woke too soon its pileup victims.
 * That Zen 5 does so, and loses slots by it, is what its throughput says (docs/measured/zen5.md).
 */
static inline void replay(struct ooo *o, uint16_t ports, uint64_t woken, uint64_t ready)
{
	while (woken < ready) {
		unsigned port = 0;
		uint64_t first = ports_first_of(&o->ports, ports, 0, woken, &port);
		if (first >= ready)
			return;
		ports_book(&o->ports, port, first);
		woken = first + 1;
	}
}

/* When all data operands have been woken for, which may be before they are there. */
static inline uint64_t woken(const struct ooo *o, const struct insn *in)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < in->nr_data; i++) {
		uint8_t reg = in->data[i];
		uint64_t cycle = o->reg_ready[reg] + bypass(o, in, reg), sooner = o->reg_early[reg] + in->data_late[i];
		all = later(all, cycle > sooner ? cycle - sooner : 0);
	}
	return all;
}

/*
 * Cycles that the results of the compute uops are there sooner than insn.latency says, which holds where they came from
 * the queue in front of their scheduler. Zen 5's vector operations of one cycle are of two behind it: that it is the
 * way through the queue, and not how long they wait, is what chains say that just fit, or do not, into the schedulers.
 */
static inline unsigned early(const struct attempt *a)
{
	return a->in->queued && !a->queued && a->in->latency > 1;
}

void execute(struct ooo *o, struct attempt *a);

/* Flags with which an instruction is more than operands in, results out. */
#define NOT_PLAIN (INSN_LOAD | INSN_STORE | INSN_PREFETCH | INSN_LOCKED | INSN_ACQUIRE | INSN_FENCE | \
                   INSN_DISPATCH_SERIALIZE | INSN_ZERO | INSN_LEAF_RESULT | INSN_UNMODELLED | INSN_WIDE)

/* Whether one compute uop and nothing else is to be executed. */
static inline bool execute_is_plain(const struct attempt *a)
{
	const struct insn *in = a->in;

	return a->nr_uops == 1 && in->nr_compute == 1 && !in->nr_addr && !(in->flags & NOT_PLAIN);
}

/* Then this gives what execute() would, by a short way. */
static inline void execute_plain(struct ooo *o, struct attempt *a)
{
	const struct insn *in = a->in;
	struct operand_wait data = { 0, 0 };
	uint64_t floor = a->dispatch + (unsigned)o->desc->issue_latency;

	for (unsigned i = 0; i < in->nr_data; i++)
		operand(o, in->data[i], in->data_late[i], bypass(o, in, in->data[i]), &data);
	uint64_t ready = floor;
	if (data.ready > floor) {
		ready = data.ready;
		a->issue_wait = WAIT_OPERAND;
		a->issue_by = data.by;
	}
	a->ready = later(a->dispatch, data.ready);
	bool paired = o->port[0] & o->binder.paired;
	if (paired && ready > floor)
		replay(o, o->port[0], later(floor, woken(o, in)), ready);
	uint64_t cycle = issue_uop(o, a, 0, ready);
	a->issue = cycle;
	a->chain_end = cycle + a->uop[0].latency - early(a);
	a->result = a->chain_end > in->latency ? a->chain_end - in->latency : a->dispatch;
	a->complete = later(a->dispatch_last, a->chain_end);
	uint8_t flags = domain(in);
	for (unsigned i = 0; i < in->nr_dst; i++) {
		uint8_t reg = in->dst[i], latency = in->dst_latency[i];
		uint64_t there =
			latency & DST_WRITEBACK ? floor + (latency & (DST_WRITEBACK - 1u)) : a->result + latency;
		write_register(o, a, reg, there, o->record + 1, flags);
		if (paired && there == cycle + 1)
			o->reg_early[reg] = (uint32_t)(cycle - ready);
		a->complete = later(a->complete, there);
	}
	o->completed = later(o->completed, a->complete);
	o->pair_issue = a->issue;
	o->pair_complete = a->chain_end;
}

#endif
