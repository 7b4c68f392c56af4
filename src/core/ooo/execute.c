/*
 * Execution in the detailed core: operands, ports, units, loads and stores, results.
 *
 * The shape of an instruction is that of isa/insn.h: loads from the addresses; compute uops from the loaded data
 * and the other operands, stage after stage; store address; store data. Older instructions have booked their
 * ports already, so the first free cycle is what oldest-first selection would give.
 *
 * Not modelled: replays of uops that were woken for an L1 hit whose line was missing, bank conflicts of L1D, the extra
 * cycles where base and target of a short-latency load lie in different pages.
 */
#include "core/ooo/execute.h"

/* The slot of the uop `i` of the attempt, from the first of the cycle in which it dispatches. */
static inline unsigned uop_slot(const struct attempt *a, unsigned i)
{
	return a->slot_position + (i < a->slots ? i : a->slots ? a->slots - 1 : 0);
}

/* When the uop `i` of the attempt may issue at the earliest: the cycle its slot was dispatched, and on. */
static inline uint64_t uop_floor(const struct ooo *o, const struct attempt *a, unsigned i)
{
	unsigned slot = uop_slot(a, i), width = (unsigned)o->desc->rename_width;
	return a->dispatch + (slot < width ? 0 : slot / width) + (unsigned)o->desc->issue_latency;
}

uint64_t issue_uop_anywhere(struct ooo *o, struct attempt *a, const struct uop *u, uint16_t ports, uint64_t ready)
{
	unsigned port = 0, unit = u->unit ? (unsigned)CORE_PORTS + u->unit - 1 : 0;
	uint64_t best = ports_first_of(&o->ports, ports, unit, ready, &port);

	if (unit)
		ports_hold(&o->ports, unit, best, u->busy ? u->busy : 1);
	if (best > ready)
		a->issue_wait = unit ? WAIT_UNIT : WAIT_PORT;
	issued(o, a, port, best);
	return best;
}

uint64_t issue_uop_queued(struct ooo *o, struct attempt *a, const struct uop *u, uint16_t ports, uint64_t ready)
{
	struct nsq_place place = { 0, 0 };
	unsigned slot = uop_slot(a, (unsigned)(u - a->uop)), width = (unsigned)o->desc->rename_width;
	uint64_t first = nsq_enter(&o->nsq, ports & o->nsq.ports, a->dispatch + slot / width, &place) + 1;

	if (first > ready)
		a->issue_wait = WAIT_PORT;
	a->queued = first > a->dispatch + 1;
	uint64_t cycle = issue_uop_anywhere(o, a, u, (uint16_t)(1u << place.port), later(ready, first));
	nsq_leave(&o->nsq, place, cycle + 1);
	return cycle;
}

/* --- loads ------------------------------------------------------------------------------------------- */

/*
 * A load that has to start anew, which one does at a time: the cycle from which it could, had it not to wait for
 * others.
 */
static uint64_t start_anew(struct ooo *o, struct attempt *a, uint64_t cycle)
{
	unsigned busy = (unsigned)o->desc->load_queue_restart;

	if (!busy)
		return cycle;
	uint64_t from = ports_first_run(&o->ports, LANE_RESTART, cycle, busy);
	ports_book_run(&o->ports, LANE_RESTART, from, busy);
	if (from > cycle)
		a->issue_wait = WAIT_PORT;
	return from;
}

/* Whether an access touches two pieces of `size` bytes, a power of two. */
static inline bool crosses(const struct step *s, uint64_t size)
{
	return (s->addr & (size - 1)) + s->bytes > size;
}

/* Books the first free cycle from `cycle` on of any of the ports: that cycle; `cycle` itself where there are none. */
static uint64_t book_first(struct ooo *o, uint16_t ports, uint64_t cycle)
{
	unsigned port = 0;
	uint64_t first = ports_first_of(&o->ports, ports, 0, cycle, &port);

	if (first == UINT64_MAX)
		return cycle;
	ports_book(&o->ports, port, first);
	return first;
}

/* What brings in the data of one more access of a load, behind its address port: of a vector, split.vector_ports. */
static uint64_t book_data(struct ooo *o, const struct insn *in, uint64_t cycle)
{
	return in->flags & INSN_VECTOR_MEM ? book_first(o, (uint16_t)o->desc->split_vector_ports, cycle) : cycle;
}

/*
 * The second access of a load that crosses a line, issued in `cycle`; where ports close between the two, for a changed
 * line that leaves L1D (l1d.victim_ports), they do so once more. Over a page, what starts loads anew besides. The cycle
 * in which the load would have been issued to have the last of them in the next.
 */
static __attribute__((noinline)) uint64_t split_load(struct ooo *o, struct attempt *a, const struct uop *u,
                                                     uint64_t cycle, const struct step *s)
{
	if (!u->ports)
		return cycle;                  /* its ports are no limit */
	uint64_t last = book_data(o, a->in, book_first(o, u->ports, cycle + 1));
	if (o->desc->l1d_victim_ports && last > cycle + 1 && ports_closed(&o->ports, cycle + 1))
		ports_close(&o->ports, (unsigned)o->desc->l1d_victim_ports, last + 1, false);
	if (last > cycle + 1)
		a->issue_wait = WAIT_PORT;
	return crosses(s, UINT64_C(1) << o->desc->page_bits) ? start_anew(o, a, last - 1) : last - 1;
}

/* Load to use where the line is in L1D. */
static inline unsigned hit_latency(const struct ooo *o, const struct insn *in)
{
	bool simple = in->flags & INSN_SIMPLE_ADDR && in->nr_addr && o->reg_flags[in->addr[0]] & REG_LOADED;

	return (unsigned)(simple ? o->desc->l1d_simple_latency : o->desc->l1d_latency);
}

enum { WIDE = 32 };                    /* bytes: forward.wide */

/* `bytes` from the store queue: as soon as from L1D, or as soon as the store has them and its address. */
static uint64_t forwarded(const struct ooo *o, const struct insn *in, unsigned bytes, uint64_t cycle,
                          const struct lsq_answer *from)
{
	const struct core_desc *d = o->desc;
	int32_t latency = d->forward_latency;
	unsigned hit = hit_latency(o, in) + (from->kind == SOURCE_INSIDE ? (unsigned)d->forward_offset : 0);

	if (in->flags & INSN_VECTOR_MEM)
		latency += d->forward_vector;
	if (from->kind != SOURCE_WHOLE)
		latency += d->forward_narrow;
	if (bytes >= WIDE)
		latency += d->forward_wide;
	return later(cycle + hit, later(from->store->data, from->store->known + 1) + (unsigned)latency);
}

/*
 * A load that takes its data from the queue in `done`, issued in `cycle`: where it found that the store has none yet,
 * it takes a port again to fetch it (forward.again). Older loads have booked theirs, younger ones have not: of what is
 * ready the oldest goes first.
 */
static uint64_t forwarded_again(struct ooo *o, const struct insn *in, const struct uop *u, uint64_t cycle,
                                uint64_t done)
{
	unsigned hit = hit_latency(o, in);

	if (!o->desc->forward_again || !u || done <= cycle + hit)
		return done;
	return book_first(o, u->ports, done - hit) + hit;
}

/* No younger load, of vectors or of others, issues before: dtlb.again. */
static inline uint64_t *load_floor(struct ooo *o, const struct insn *in)
{
	return &o->load_floor[(in->flags & INSN_VECTOR_MEM) != 0];
}

/*
 * A uop of an access whose translation was missing issues once more when that is there, at `known`, and what brings in
 * its data with it: when. It takes another port than the first time, in turn: the lowest that is free would always be
 * the same, since younger uops, of which many will be bound to it, have booked none yet.
 */
static uint64_t issue_again(struct ooo *o, const struct attempt *a, const struct uop *u, uint64_t known)
{
	const struct insn *in = a->in;

	if (!o->desc->dtlb_again || !u || !u->ports)
		return known;
	const struct bind_group *g = binder_group(&o->binder, u->ports);
	uint16_t any = g && g->kind == BIND_TURN ? g->ports : u->ports, others = any & (uint16_t)~o->port[u - a->uop];
	uint64_t first = book_first(o, bind_in_turn(others ? others : any, any, &o->again_rest), known);

	return u->kind == UOP_LOAD ? book_data(o, in, first) : first;
}

/*
 * The same for a load that was issued in `cycle`: what it is later. Where ports are short, those that issue again go
 * first, being older, and what waits are younger ones; these are kept from issuing before this load would have been,
 * had it waited itself, but for the wait for its translation.
 */
static uint64_t load_again(struct ooo *o, const struct attempt *a, const struct uop *u, uint64_t cycle, uint64_t known)
{
	uint64_t late = issue_again(o, a, u, known) - known;

	if (cycle + late > known)
		*load_floor(o, a->in) = cycle + late - (known - cycle);
	return late;
}

/*
 * One access of a load that could start in `cycle`, by the uop, NULL where it has none of its own; returns when its
 * data is there.
 */
static uint64_t load(struct ooo *o, struct attempt *a, const struct uop *u, uint64_t cycle, const struct step *s)
{
	const struct core_desc *d = o->desc;
	const struct insn *in = a->in;
	struct lsq_answer q;
	struct access m;
	uint64_t held = lsq_hold(&o->lsq, in->pc, cycle), done;

	if (held > cycle) {
		cycle = held;
		a->issue_wait = WAIT_MEMORY_ORDER;
	}
	lsq_search(&o->lsq, s->addr, s->bytes, cycle, &q);
	if (d->forward_renamed && q.store && q.kind == SOURCE_WHOLE &&
	    renaming_finds(&o->renaming, d, in, s->bytes, o->lsq.nr_stores, q.distance, place_of(o, in))) {
		done = forwarded(o, in, s->bytes, later(cycle, q.store->known), &q);
		a->complete = later(a->complete, done + in->load_extra);
		if (a->level < LEVEL_FORWARD)
			a->level = LEVEL_FORWARD;
		done = o->renamed_value[(o->lsq.nr_stores - q.distance) % RENAMED_STORES];
		return later(done, a->dispatch) + in->load_extra;
	}
	if (q.store && q.store->known > cycle && a->never & PSV_FL_MO) {
		cycle = q.store->known;
		a->issue_wait = WAIT_MEMORY_ORDER;
		lsq_search(&o->lsq, s->addr, s->bytes, cycle, &q);
	}
	if (q.store && q.store->known > cycle) {
		/* The older store's address is not there yet and nothing told the load to wait. */
		if (!a->violation || q.store->known < a->violation) {
			a->violation = q.store->known;
			a->violation_pc = q.store->pc;
		}
	}
	if (q.store && q.kind != SOURCE_PARTIAL) {
		done = forwarded_again(o, in, u, cycle, forwarded(o, in, s->bytes, cycle, &q));
		if (q.store->data > cycle)
			a->issue_wait = WAIT_MEMORY_ORDER;
		if (a->level < LEVEL_FORWARD)
			a->level = LEVEL_FORWARD;
		return done + in->load_extra;
	}
	if (q.store) {
		cycle = later(cycle, q.store->freed) + (unsigned)d->forward_fail_penalty;
		a->issue_wait = WAIT_MEMORY_ORDER;
	} else if (q.alias) {
		cycle = start_anew(o, a, cycle) + (unsigned)d->alias4k_penalty;
	}
	memory_load(o->memory, cycle, s->addr, s->bytes, in->pc, &m);
	done = m.done;
	if (m.mshr_wait)
		a->issue_wait = WAIT_MSHR;
	if (m.l1_miss)
		a->psv |= PSV_ST_L1;
	if (m.tlb_miss) {
		a->psv |= PSV_ST_TLB;
		done += load_again(o, a, u, cycle, m.tlb_done);
	}
	if (m.tlb_merged)
		a->merged = MERGED_DTLB;
	if (m.llc_miss)
		a->psv |= PSV_ST_LLC;
	if (m.level > a->level)
		a->level = m.level;
	if (!m.l1_miss && !m.tlb_miss && done == cycle + (unsigned)d->l1d_latency)
		done = cycle + hit_latency(o, in);
	return done + in->load_extra;
}

/*
 * The uop of an access that reads. Where all ports are taken that bring in what it loads, it asks for its address port
 * in vain, and again in the next cycle.
 */
static uint64_t issue_load(struct ooo *o, struct attempt *a, unsigned i, uint64_t ready)
{
	uint16_t brings = 0;
	unsigned port = 0;

	for (unsigned c = a->in->nr_loads, end = c + a->in->nr_compute; o->data_ports && c < end; c++)
		brings |= o->port[c] & o->data_ports;
	while (brings && o->port[i]) {
		uint64_t cycle = ports_first_of(&o->ports, o->port[i], 0, ready, &port);
		if (ports_first_of(&o->ports, brings, 0, cycle, &(unsigned){ 0 }) == cycle)
			break;
		ports_book(&o->ports, port, cycle);
		a->issue_wait = WAIT_PORT;
		ready = cycle + 1;
	}
	return a->asked = issue_uop(o, a, i, ready);
}

/* The accesses of the attempt that read, each with a load uop as long as there are some. */
static uint64_t loads(struct ooo *o, struct attempt *a, unsigned nr, const struct operand_wait *addr)
{
	const struct step *s = a->step, *end = s + (a->nr_steps < MAX_ACCESS ? a->nr_steps : MAX_ACCESS);
	uint64_t done = 0, last = 0;
	bool any = false;

	a->holds_entry = (uint8_t)o->desc->load_queue_holds_entry;
	for (unsigned i = 0; i < nr || s < end; i++) {
		while (s < end && !(s->flags & STEP_LOAD && s->bytes))
			s++;
		if (i >= nr && s >= end)
			break;
		uint64_t floor = uop_floor(o, a, i), ready = later(floor, addr->ready);
		if (ready > floor) {
			a->issue_wait = WAIT_OPERAND;
			a->issue_by = addr->by;
		}
		if (o->memory_floor > ready) {
			ready = o->memory_floor;
			a->issue_wait = WAIT_FENCE;
		}
		if (a->in->flags & INSN_LOCKED && o->stores_freed > ready) {
			ready = o->stores_freed;
			a->issue_wait = WAIT_FENCE;
		}
		if (*load_floor(o, a->in) > ready) {
			ready = *load_floor(o, a->in);
			a->issue_wait = WAIT_PORT;
		}
		a->ready = later(a->ready, ready);
		uint64_t cycle = i < nr ? issue_load(o, a, i, ready) : later(ready, last + 1);
		last = cycle;
		if (s < end) {
			any = true;
			if (__builtin_expect(i < nr && crosses(s, (unsigned)o->desc->cache_line), 0))
				cycle = split_load(o, a, &a->uop[i], cycle, s);
			done = later(done, load(o, a, i < nr ? &a->uop[i] : NULL, cycle + a->in->address_extra, s++));
		} else if (!any) {
			/* a predicated access that was not made */
			done = later(done, cycle + (unsigned)o->desc->l1d_latency);
		}
	}
	a->holds_entry = 0;
	return done;
}

static void prefetches(struct ooo *o, struct attempt *a, unsigned nr, const struct operand_wait *addr)
{
	for (unsigned i = 0; i < nr; i++) {
		uint64_t cycle = issue_uop(o, a, i, later(uop_floor(o, a, i), addr->ready));
		if (a->step->addr)
			memory_prefetch(o->memory, cycle, a->step->addr, false);
		a->complete = later(a->complete, cycle + 1);
	}
}

/* --- stores ------------------------------------------------------------------------------------------ */

static void store_address(struct ooo *o, struct attempt *a, unsigned i, const struct step *s,
                          const struct operand_wait *addr)
{
	uint64_t floor = uop_floor(o, a, i), ready = later(floor, addr->ready);

	if (o->memory_floor > ready)
		ready = o->memory_floor;
	/* A load that issues in the same cycle finds the address: both are generated together. */
	a->known = later(a->known, issue_uop(o, a, i, ready));
	if (s && s->bytes) {
		struct access m;
		memory_own(o->memory, a->known, s->addr, s->bytes, &m);
		if (m.tlb_miss) {
			a->psv |= PSV_ST_TLB;
			m.tlb_done = issue_again(o, a, &a->uop[i], m.tlb_done);
		}
		if (m.tlb_merged)
			a->merged = MERGED_DTLB;
		a->complete = later(a->complete, m.tlb_done);
	}
	a->complete = later(a->complete, a->known + 1);
}

/* --- results ----------------------------------------------------------------------------------------- */

static void write_results(struct ooo *o, struct attempt *a)
{
	const struct insn *in = a->in;
	uint8_t flags = domain(in);

	if (in->flags & INSN_LOAD && a->result == a->load_done && !in->latency)
		flags |= REG_LOADED;
	if (a->eliminated)
		flags = o->reg_flags[in->data[0]] | REG_ELIMINATED;
	for (unsigned i = 0; i < in->nr_dst; i++) {
		uint8_t reg = in->dst[i], latency = in->dst_latency[i];
		if (a->eliminated) {
			uint32_t early = o->reg_early[in->data[0]];
			write_register(o, a, reg, a->result, o->reg_by[in->data[0]], flags);
			o->reg_early[reg] = early;
			continue;
		}
		if (latency & DST_WRITEBACK)
			write_register(o, a, reg, a->write_back + (latency & (DST_WRITEBACK - 1u)), o->record + 1, 0);
		else
			write_register(o, a, reg, a->result + latency, o->record + 1, flags);
		a->complete = later(a->complete, o->reg_ready[reg]);
	}
}

/*
 * Compute uops: those of a stage start when the stage before has its results. Replays are those of the first stage:
 * later ones seldom wait for a register, and the model knows of no other that was woken too soon.
 */
static void compute(struct ooo *o, struct attempt *a, unsigned first, unsigned end, uint64_t ready)
{
	uint64_t stage_end = ready;
	unsigned stage = 0;

	a->chain_end = ready;
	for (unsigned i = first; i < end; i++) {
		const struct uop *u = &a->uop[i];
		if (u->stage != stage) {
			stage = u->stage;
			stage_end = a->chain_end;
		}
		bool brings = first && o->port[i] & o->data_ports; /* what was loaded, whatever the other operands */
		uint64_t from = later(brings ? a->asked : stage_end, uop_floor(o, a, i));
		if (!stage && o->port[i] & o->binder.paired && ready > a->load_done)
			replay(o, o->port[i], later(uop_floor(o, a, i), later(a->load_done, woken(o, a->in))), from);
		uint64_t cycle = issue_uop(o, a, i, from);
		a->chain_end = later(a->chain_end, later(cycle, stage_end) + u->latency);
		if (a->in->flags & INSN_WIDE)
			o->wide_until = later(o->wide_until, cycle);
	}
	a->chain_end -= early(a);
}

/* What the instruction waits for, or makes others wait for, beyond data. */
static void fences(struct ooo *o, struct attempt *a)
{
	const struct core_desc *d = o->desc;
	uint32_t flags = a->in->flags;

	if (flags & INSN_FENCE)
		a->complete = later(later(a->complete, o->memory_floor), later(o->loads_done, o->stores_freed)) +
		              (unsigned)d->fence_latency;
	if (flags & INSN_LOCKED) {
		uint64_t start =
			a->load_done > (unsigned)d->l1d_latency ? a->load_done - (unsigned)d->l1d_latency : a->dispatch;
		uint64_t end = start + (unsigned)d->lock_latency;
		a->result = later(a->result, end);
		a->data = later(a->data, end);
		a->complete = later(a->complete, end);
	}
	if (flags & (INSN_FENCE | INSN_LOCKED | INSN_ACQUIRE))
		o->memory_floor = later(o->memory_floor, a->complete);
	if (flags & INSN_DISPATCH_SERIALIZE && !(a->never & PSV_FL_EX))
		a->complete = later(a->complete, later(o->completed, a->dispatch_last + (unsigned)d->issue_latency));
}

/* From the cycle the uop of the store's data issues in until the store has them. */
static inline unsigned data_latency(const struct ooo *o, const struct insn *in)
{
	return !in->stores_result + (in->flags & INSN_VECTOR_MEM ? (unsigned)o->desc->forward_from_vector : 0);
}

void execute(struct ooo *o, struct attempt *a)
{
	const struct insn *in = a->in;

	struct operand_wait addr = { 0, 0 }, data = { 0, 0 };
	uint64_t floor = a->dispatch + (unsigned)o->desc->issue_latency;
	unsigned nr_loads = a->nr_uops ? in->nr_loads : 0, first_store = nr_loads + (a->nr_uops ? in->nr_compute : 0);

	a->issue = UINT64_MAX;
	a->complete = a->dispatch_last;
	if (a->fused) {                        /* one uop with the instruction before */
		a->ready = a->issue = later(a->dispatch, o->pair_issue);
		a->complete = a->chain_end = a->result = later(a->dispatch, o->pair_complete);
		return;
	}
	for (unsigned i = 0; i < in->nr_addr; i++)
		operand(o, in->addr[i], 0, 0, &addr);
	a->write_back = later(floor, addr.ready);
	if (in->flags & INSN_PREFETCH)
		prefetches(o, a, nr_loads, &addr);
	else if (nr_loads || in->flags & INSN_LOAD)
		a->load_done = loads(o, a, nr_loads, &addr);

	for (unsigned i = 0; i < in->nr_data; i++)
		operand(o, in->data[i], in->data_late[i], a->eliminated ? 0 : bypass(o, in, in->data[i]), &data);
	uint64_t ready = later(data.ready, a->load_done);
	if (in->flags & (INSN_ZERO | INSN_LEAF_RESULT))
		ready = a->load_done;
	if (a->eliminated || in->flags & INSN_ZERO)
		a->chain_end = ready;          /* done at rename: no uop, and no cycle */
	else if (in->flags & INSN_UNMODELLED)
		a->chain_end = later(ready, floor) + (unsigned)o->desc->unmodelled_latency;
	else
		compute(o, a, nr_loads, first_store, later(ready, first_store > nr_loads ? floor : 0));
	if (ready > floor && !a->load_done) {
		if (!a->issue_wait)
			a->issue_wait = WAIT_OPERAND;
		a->issue_by = data.by;
	}
	a->ready = later(a->ready, later(a->dispatch, ready));
	a->result = a->chain_end > in->latency && first_store > nr_loads ? a->chain_end - in->latency
	                                                                 : later(a->chain_end, a->dispatch);
	a->complete = later(a->complete, later(a->chain_end, a->load_done));

	const struct step *s = a->step, *end = s + (a->nr_steps < MAX_ACCESS ? a->nr_steps : MAX_ACCESS);
	for (unsigned i = first_store; i < a->nr_uops; i++) {
		if (a->uop[i].kind == UOP_STA) {
			while (s < end && !(s->flags & STEP_STORE && s->bytes))
				s++;
			store_address(o, a, i, s < end ? s++ : NULL, &addr);
		} else {
			uint64_t from = first_store > nr_loads && !in->branch ? a->chain_end : ready;
			a->value = from;
			a->data = later(a->data,
			                issue_uop(o, a, i, later(uop_floor(o, a, i), from)) + data_latency(o, in));
			a->complete = later(a->complete, a->data);
		}
	}
	fences(o, a);
	if (a->issue == UINT64_MAX)
		a->issue = later(a->dispatch, a->nr_uops ? floor : a->dispatch);
	if (a->ready > a->issue && a->nr_uops == 0)
		a->ready = a->issue;
	a->complete = later(a->complete, a->issue);
	o->completed = later(o->completed, a->complete);
	o->pair_issue = a->issue;
	o->pair_complete = a->chain_end;
	if (!a->violation)
		write_results(o, a);
}
