/*
 * What is fetched and squashed: the wrong path behind a mispredicted branch, as it was foreseen, and right-path steps
 * behind a squash, which will run again.
 *
 * They use fetch, the instruction cache and TLB, the uop cache and the queues of the front end, issue slots and
 * reorder-buffer entries. With branch.wrong_path = full they also take load-queue and store-queue entries, physical
 * registers and, where they cannot issue before the squash, scheduler entries; they wait for their operands; and the
 * loads and stores whose address is known (core/order/converge.c) translate it and ask for its line, with all that a
 * miss takes and leaves behind. A load whose address is not known takes as long as a hit in L1D and touches nothing.
 *
 * Whatever the wrong path holds, it gives back at the squash, before which nothing on the right path can dispatch
 * behind it; what is older has chosen first. So nothing has to be undone, and ports need not be booked: nobody contends
 * for them but the wrong path itself. Not modelled: just that; schedulers full of what still issues before the squash;
 * branches of the wrong path that would be found mispredicted in turn; unpipelined units that are still busy after the
 * squash; loads that read from older stores in flight (their lines are asked for by the stores, too).
 */
#include "core/ooo/ooo.h"

#include <string.h>

#include "core/order/pair.h"

/* A walk: its own view of the reorder buffer and the rename width, thrown away at the squash. */
struct walk {
	uint64_t squash;
	uint64_t cycle;                /* of its youngest dispatched slot */
	uint32_t used;                 /* slots in that cycle */
	uint64_t slots;                /* ROB entries it would hold */
	bool blocked;                  /* nothing more dispatches */
	const struct insn *first_of_pair; /* the youngest, where it may make a pair with a branch behind it; else
	                                   * NULL */

	/* full */
	uint32_t loads, stores;        /* queue entries it would hold */
	uint32_t regs[NR_BANKS];       /* physical registers */
	uint16_t waiting[CORE_SCHEDULERS]; /* uops that the squash finds in the schedulers */
	uint64_t issue, complete;      /* of the youngest: what a fused second inherits */
	const struct wrong_access *access, *access_end; /* the next */

	struct timed *first, *next;    /* records */
};

static struct walk walk_begin(struct ooo *o, uint64_t squash)
{
	memory_suppose(o->memory, false, 0);
	if (o->full)
		memcpy(o->wrong_ready, o->reg_ready, sizeof o->wrong_ready);
	struct timed *out = &o->out[o->nr_out];
	return (struct walk){
		.squash = squash, .cycle = o->rename_cycle, .used = o->rename_used, .first = out, .next = out
	};
}

static void walk_end(struct ooo *o, const struct walk *w)
{
	size_t nr = (size_t)(w->next - w->first);

	o->record += nr;
	o->nr_out += nr;
	assert(o->nr_out <= OUT_RECORDS);
}

/* --- dispatch ---------------------------------------------------------------------------------------- */

/*
 * Of a structure whose entries are freed in order: the cycle from which `n` more are free, where `right` were taken on
 * the right path, their holders in `ring`, and `wrong` behind them. UINT64_MAX: only the squash frees them.
 */
static inline uint64_t entries_free(const struct holder *ring, uint64_t mask, uint64_t entries, uint64_t right,
                                    uint64_t wrong, uint64_t n)
{
	uint64_t last = right + wrong + n;

	if (last <= entries)
		return 0;
	return last - entries > right ? UINT64_MAX : ring[(last - entries - 1) & mask].leave + 1;
}

/* The same for the load queue (store queue). */
static inline uint64_t loads_free(const struct lsq *q, uint64_t wrong, unsigned n)
{
	int64_t i = lsq_holder(q, q->nr_loads + wrong, q->desc->load_queue_entries, n);

	return i < 0 ? 0 : wrong + n > (unsigned)q->desc->load_queue_entries ? UINT64_MAX : q->load_leave[i] + 1;
}

static inline uint64_t stores_free(const struct lsq *q, uint64_t wrong, unsigned n)
{
	int64_t i = lsq_holder(q, q->nr_stores + wrong, q->desc->store_queue_entries, n);

	return i < 0 ? 0 : wrong + n > (unsigned)q->desc->store_queue_entries ? UINT64_MAX : q->store[i].freed;
}

static inline unsigned store_uops(const struct insn *in)
{
	return (unsigned)(in->nr_uops - in->nr_loads - in->nr_compute + 1) / 2;
}

/* The cycle from which queues and registers let it dispatch; UINT64_MAX: not before the squash. It takes them. */
__attribute__((always_inline))
static inline uint64_t take_entries(const struct ooo *o, struct walk *w, const struct insn *in)
{
	uint64_t cycle = 0;

	for (unsigned b = 0; b < NR_BANKS && !may_share(o, in); b++) {
		unsigned n = b == BANK_INTEGER ? in->nr_integer : in->nr_vector;
		if (n)
			cycle = later(cycle, entries_free(o->reg[b], o->ring_mask, (uint64_t)o->reg_usable[b],
			                                  o->nr_regs[b], w->regs[b], n));
		w->regs[b] += n;
	}
	if (in->flags & INSN_LOAD && in->nr_loads) {
		cycle = later(cycle, loads_free(&o->lsq, w->loads, in->nr_loads));
		w->loads += in->nr_loads;
	}
	if (in->flags & INSN_STORE && in->nr_uops) {
		cycle = later(cycle, stores_free(&o->lsq, w->stores, store_uops(in)));
		w->stores += store_uops(in);
	}
	return cycle;
}

/* The cycle in which the attempt's first slot dispatches, or UINT64_MAX: not before the squash. */
__attribute__((always_inline)) static inline uint64_t walk_dispatch(const struct ooo *o, struct walk *w,
                                                                    const struct insn *in, unsigned slots,
                                                                    uint64_t cycle)
{
	unsigned width = (unsigned)o->desc->rename_width;

	cycle = later(cycle, w->cycle + (w->used >= width));
	cycle = later(cycle, o->serial_until);
	cycle = later(cycle,
	              entries_free(o->rob, o->ring_mask, (uint64_t)o->desc->rob_entries, o->nr_slots, w->slots, slots));
	if (o->full && slots)
		cycle = later(cycle, take_entries(o, w, in));
	if (cycle > w->squash)
		return UINT64_MAX;
	w->used = cycle > w->cycle ? slots : w->used + slots;
	w->cycle = cycle;
	w->slots += slots;
	while (w->used > width) {
		w->cycle++;
		w->used -= width;
	}
	return cycle;
}

/* --- execution --------------------------------------------------------------------------------------- */

/* A stage's cycle as a record says it: from the squash on it was not reached. */
static inline uint32_t reached(const struct walk *w, const struct fetched *f, uint64_t cycle)
{
	return cycle < w->squash ? (uint32_t)(cycle - f->fetch) : TIMED_NEVER;
}

/* Whether the next access is that of the instruction in hand. */
static inline bool walk_accesses(struct walk *w)
{
	uint32_t at = (uint32_t)(w->next - w->first);

	while (w->access < w->access_end && w->access->at < at)
		w->access++;
	return w->access < w->access_end && w->access->at == at;
}

/* The access of a load or store that starts in `cycle`, before the squash; returns when it is done. */
static uint64_t walk_access(struct ooo *o, const struct walk *w, const struct insn *in, uint64_t cycle, struct timed *t)
{
	struct access m;

	memory_wrong(o->memory, cycle, w->squash, w->access->addr, w->access->bytes, !(in->flags & INSN_LOAD), &m);
	t->addr = w->access->addr;
	if (m.tlb_miss)
		t->psv |= PSV_ST_TLB;
	if (m.tlb_merged)
		t->level |= MERGED_DTLB;
	if (in->flags & INSN_LOAD) {
		t->psv |= (uint16_t)((m.l1_miss ? PSV_ST_L1 : 0) | (m.llc_miss ? PSV_ST_LLC : 0));
		t->level |= (uint8_t)m.level;
		return m.done;
	}
	return m.tlb_done;
}

/* Its uops stay in their schedulers until the squash: where one is full, nothing more dispatches. */
static void walk_waits(struct ooo *o, struct walk *w, const struct insn *in, uint64_t dispatch)
{
	const uint8_t *held = &o->held.held.of[HELD_SCHEDULER]; /* at some cycle before: later there are fewer */
	const struct uop *u = o->code->uops + in->uop;

	for (const struct uop *end = u + in->nr_uops; u < end; u++) {
		unsigned s = u->ports ? o->sched_of_port[__builtin_ctz(u->ports)] : NO_SCHEDULER;

		if (s == NO_SCHEDULER || held[s] + ++w->waiting[s] < o->sched_entries[s])
			continue;
		release_advance(&o->held, dispatch);
		w->blocked |= held[s] + w->waiting[s] >= o->sched_entries[s];
	}
}

/* It dispatches in `dispatch`, and is executed; what becomes of it before the squash goes into its record. */
__attribute__((always_inline)) static inline void walk_execute(struct ooo *o, struct walk *w, const struct insn *in,
                                                               const struct fetched *f, bool fused, uint64_t dispatch,
                                                               struct timed *t)
{
	uint64_t floor = dispatch + (in->nr_uops ? (unsigned)o->desc->issue_latency : 0), addr = 0, data = 0;

	if (fused) {
		w->issue = later(dispatch, w->issue);
		w->complete = later(dispatch, w->complete);
		t->ready = t->issue = reached(w, f, w->issue);
		t->complete = reached(w, f, w->complete);
		return;
	}
	for (unsigned i = 0; i < in->nr_addr; i++)
		addr = later(addr, o->wrong_ready[in->addr[i]]);
	for (unsigned i = 0; i < in->nr_data; i++)
		data = later(data, o->wrong_ready[in->data[i]]);
	if (in->flags & (INSN_ZERO | INSN_LEAF_RESULT))
		data = 0;
	uint64_t ready = later(floor, data), first = ready, done = 0;
	if (in->flags & (INSN_LOAD | INSN_STORE)) {
		first = later(later(floor, addr), o->memory_floor);
		done = first + (in->flags & INSN_LOAD ? (unsigned)o->desc->l1d_latency : 1);
		if (first < w->squash && walk_accesses(w))
			done = walk_access(o, w, in, first, t);
		if (in->flags & INSN_LOAD) {
			t->drain = reached(w, f, done);
			/* half, lest latencies make it wrap */
			done = done == UINT64_MAX ? done / 2 : done + in->load_extra + in->address_extra;
			ready = later(ready, done);
		}
	}
	w->complete = later(ready + in->latency, later(first, done));
	t->issue = reached(w, f, first);
	t->complete = reached(w, f, w->complete);
	w->issue = first;
	for (unsigned i = 0; i < in->nr_dst; i++) {
		uint8_t latency = in->dst_latency[i];

		o->wrong_ready[in->dst[i]] =
			(latency & DST_WRITEBACK ? later(floor, addr) : ready) + (latency & (DST_WRITEBACK - 1u));
	}
	if (later(ready, first) < w->squash)
		t->ready = reached(w, f, later(dispatch, later(data, addr)));
	else
		walk_waits(o, w, in, dispatch);
}

/* --- one instruction --------------------------------------------------------------------------------- */

/* What was fetched dispatches, or never does, and is recorded. */
__attribute__((always_inline)) static inline void walk_on(struct ooo *o, struct walk *w, uint32_t index,
                                                          const struct insn *in, const struct fetched *f, bool fused,
                                                          uint32_t flags)
{
	unsigned slots = fused ? 0 : in->slots ? in->slots : 1;
	struct timed *t = w->next;

	*t = (struct timed){
		.fetch = f->fetch,
		.insn = index,
		.avail = f->avail > w->squash ? TIMED_NEVER : (uint32_t)(f->avail - f->fetch),
		.dispatch = TIMED_NEVER,
		.ready = TIMED_NEVER,
		.issue = TIMED_NEVER,
		.complete = TIMED_NEVER,
		.leave = (uint32_t)(w->squash - f->fetch),
		.drain = TIMED_NEVER,
		.psv = f->psv,
		.flags = record_flags(in, f, flags | (fused ? TIMED_FUSED : 0u)),
		.icache_stall = f->icache_stall,
		.itlb_stall = f->itlb_stall,
		.slots = (uint8_t)slots,
		.uops = fused ? 0 : in->nr_uops,
		.level = timed_level(LEVEL_NONE, (enum ilevel)f->code_level, f->merged),
	};
	uint64_t dispatch = w->blocked ? UINT64_MAX : walk_dispatch(o, w, in, slots, f->avail);
	if (dispatch == UINT64_MAX) {
		w->blocked = true;
		frontend_dispatched(&o->front, slots, w->squash);
	} else {
		w->blocked = in->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL);
		frontend_dispatched(&o->front, slots, dispatch);
		t->dispatch = (uint32_t)(dispatch - f->fetch);
		if (o->full)
			walk_execute(o, w, in, f, fused, dispatch, t);
	}
	w->next++;
}

/* Fetches one instruction; false: not before the squash. */
__attribute__((always_inline)) static inline bool walk_one(struct ooo *o, struct walk *w, uint32_t index,
                                                           const struct insn *in, bool fused, uint32_t flags)
{
	struct fetched f;

	frontend_deliver(&o->front, in, fused, &f);
	if (f.fetch >= w->squash)
		return false;
	walk_on(o, w, index, in, &f, fused, flags);
	return true;
}

/* One run; false: not all of it before the squash. */
static bool walk_run(struct ooo *o, struct walk *w, const struct wrong_run *run)
{
	uint32_t index = run->first, end = index + run->nr;
	const struct insn *in = code_insn(o->code, index);

	for (; index < end; index++, in++) {
		if (!walk_one(o, w, index, in, w->first_of_pair && pair_fuses(o->desc, w->first_of_pair, in),
		              TIMED_WRONG))
			return false;
		w->first_of_pair = in->flags & INSN_FUSES_NEXT ? in : NULL;
	}
	if (run->end.taken)
		w->next[-1].flags |= TIMED_TAKEN;
	return true;
}

void wrong_path(struct ooo *o, const struct forecast *c, uint64_t squash)
{
	if (!c->nr_runs)
		return;
	struct walk w = walk_begin(o, squash);

	w.access = o->access;
	w.access_end = o->access + c->nr_accesses;
	for (const struct wrong_run *run = o->run, *end = run + c->nr_runs; run < end && walk_run(o, &w, run); run++) {
		if (run->end.taken && run->end.target)
			frontend_taken(&o->front, code_insn(o->code, run->first + run->nr - 1), &run->end);
	}
	walk_end(o, &w);
}

void squashed_path(struct ooo *o, const struct step *s, size_t n, uint64_t squash)
{
	struct walk w = walk_begin(o, squash);

	for (size_t i = 0, done = 0; i < n && done < WRONG_MAX; i++) {
		if (step_kind(&s[i]) != STEP_INSN)
			continue;
		const struct insn *in = code_insn(o->code, s[i].insn);
		if (s[i].flags & STEP_ENTER || in->flags & INSN_REP)
			break;
		bool taken = s[i].flags & STEP_TAKEN;
		const struct wrong_access own = { .addr = s[i].addr, .bytes = s[i].bytes, .at = (uint16_t)done };
		w.access = &own;
		w.access_end = &own + (own.bytes != 0);
		if (!walk_one(o, &w, s[i].insn, in, false, TIMED_SQUASHED | (taken ? TIMED_TAKEN : 0u)))
			break;
		done++;
		if (taken) {
			struct prediction p = { .taken = true, .btb = BTB_FIRST, .target = in->target };
			frontend_taken(&o->front, in, &p);
		}
	}
	walk_end(o, &w);
}
