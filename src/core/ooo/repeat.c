/*
 * `rep` string instructions: one instruction of the program, many lines of memory.
 *
 * Copies and fills move `repeat.bytes` a cycle in pieces of a line, each a timed record of its own
 * (TIMED_CONTINUED behind the first) with its slots, its place in the load and store queues and its misses, which
 * overlap as those of a loop do; slow ones (core/order/repeat.h) take `repeat.slow` cycles an iteration. All pieces
 * belong to the one static instruction.
 */
#include "core/ooo/commit.h"
#include "core/ooo/rename.h"
#include "core/ooo/span.h"
#include "core/order/repeat.h"

enum { PIECE_SLOTS = 4 };

/* Makes the attempt the next piece: as late as the pieces before it allow. */
static void piece_dispatch(struct ooo *o, struct attempt *a)
{
	uint64_t free = a->never & PSV_DR_SQ ? 0 : lsq_stores_free(&o->lsq, 1);

	a->fetched.avail = a->dispatch_last + 1;
	a->fetched.psv = 0;
	a->fetched.icache_stall = a->fetched.itlb_stall = 0;
	a->fetched.merged = 0;
	a->fetched.packet_first = false;
	a->slots = PIECE_SLOTS;
	a->psv = a->in->flags & INSN_STORE && free > a->fetched.avail ? PSV_DR_SQ : 0;
	if (a->psv)
		o->serial_until = later(o->serial_until, free);
	a->level = LEVEL_NONE;
	a->merged = 0;
	rename_dispatch(o, a, false);
}

static void piece_commit(struct ooo *o, struct attempt *a, uint64_t load_done, uint64_t store, uint32_t store_bytes,
                         uint16_t flags)
{
	attempt_commit(o, a);
	a->drain = later(load_done, a->issue);
	if (store_bytes) {
		a->drain = lsq_add_store(&o->lsq, a->in->pc, store, store_bytes, a->issue + 1,
		                         later(load_done, a->issue + 1), a->leave, o->record);
		o->stores_freed = later(o->stores_freed, a->drain);
	}
	if (load_done) {
		lsq_add_load(&o->lsq, a->leave, o->record);
		o->loads_done = later(o->loads_done, load_done);
	}
	rename_committed(o, a);
	frontend_left(&o->front, a->leave);
	attempt_record(o, a, flags);
	if (o->nr_out > OUT_RECORDS - OUT_ROOM)
		ooo_flush_out(o);
}

/* A piece that writes asks for its line as a store does: when its address is known. */
static void piece_own(struct ooo *o, struct attempt *a, uint64_t addr, uint32_t bytes)
{
	struct access m;

	memory_own(o->memory, a->issue + 1, addr, bytes, &m);
	a->psv |= m.tlb_miss ? PSV_ST_TLB : 0;
	if (m.tlb_merged)
		a->merged = MERGED_DTLB;
	a->complete = later(a->complete, m.tlb_done);
}

static uint64_t piece_load(struct ooo *o, struct attempt *a, uint64_t cycle, uint64_t addr, uint32_t bytes)
{
	struct lsq_answer q;
	struct access m;

	lsq_search(&o->lsq, addr, bytes, cycle, &q);
	if (q.store && q.kind != SOURCE_PARTIAL)
		return later(cycle + (unsigned)o->desc->l1d_latency,
		             q.store->data + (unsigned)o->desc->forward_latency);
	if (q.store)
		cycle = later(cycle, q.store->freed) + (unsigned)o->desc->forward_fail_penalty;
	memory_load(o->memory, cycle, addr, bytes, a->in->pc, &m);
	a->psv |=
		(uint16_t)((m.l1_miss ? PSV_ST_L1 : 0) | (m.tlb_miss ? PSV_ST_TLB : 0) | (m.llc_miss ? PSV_ST_LLC : 0));
	a->level = m.level;
	a->merged = m.tlb_merged ? MERGED_DTLB : 0;
	return m.done;
}

void repeat_execute(struct ooo *o, struct attempt *a, uint16_t flags)
{
	const struct core_desc *d = o->desc;
	const struct insn *in = a->in;
	struct rep_span load = { a->step, a->step + a->nr_steps, 0, STEP_LOAD },
			store = { a->step, a->step + a->nr_steps, 0, STEP_STORE };
	bool writes = in->flags & INSN_STORE, fast = !repeat_is_slow(in, a->step, a->nr_steps);
	uint32_t each;                         /* bytes that an iteration reads */
	uint64_t count = repeat_iterations(a->step, a->nr_steps, &each);
	uint64_t start = a->dispatch_last + (unsigned)d->issue_latency, step_cycles;

	for (unsigned i = 0; i < in->nr_addr; i++)
		start = later(start, o->reg_ready[in->addr[i]]);
	for (unsigned i = 0; i < in->nr_data; i++)
		start = later(start, o->reg_ready[in->data[i]]);
	start = later(start, o->memory_floor);
	a->ready = start;
	a->issue = start;
	start += (unsigned)d->repeat_startup;
	/* Slow ones: as many iterations in a piece as make the cycles of a line. */
	uint64_t per_piece = fast ? PIECE : PIECE / 8;
	uint32_t most = fast ? PIECE : each * (uint32_t)per_piece;
	step_cycles = fast ? (PIECE + (unsigned)d->repeat_bytes - 1) / (unsigned)d->repeat_bytes
	                   : per_piece * (unsigned)d->repeat_slow;
	a->nr_uops = 0;
	for (bool first = true; ; first = false) {
		uint64_t from = 0, to = 0, done = 0;
		uint32_t written = rep_span_take(&store, most, &to),
			 read = rep_span_take(&load, written ? written : most, &from);
		uint64_t left = writes ? (read || written) : count;
		if (!first) {
			if (!left)
				break;
			piece_dispatch(o, a);
			start = later(start, a->dispatch_last + (unsigned)d->issue_latency);
			a->issue = a->ready = start;
			flags |= TIMED_CONTINUED;
		}
		if (read)
			done = piece_load(o, a, start, from, read);
		a->complete = later(later(a->dispatch_last, start + step_cycles), done);
		if (!left)
			a->complete = later(a->dispatch_last, start);
		if (written)
			piece_own(o, a, to, written);
		count = count > per_piece ? count - per_piece : 0;
		start += step_cycles;
		piece_commit(o, a, done, to, written, flags);
		if (!left)
			break;
	}
	frontend_hold(&o->front, a->fetched.avail);
	for (unsigned i = 0; i < in->nr_dst; i++)
		write_register(o, a, in->dst[i], a->complete, o->record, 0);
}
