#include "core/gus/time.h"

#include <assert.h>

#include "core/cycle.h"
#include "core/gus/drain.h"
#include "core/gus/record.h"
#include "core/gus/state.h"

/* --- front end --------------------------------------------------------------------------------------- */

/* When the line of code wanted at `t` was asked for: prediction runs some blocks ahead of fetch, and prefetches. */
static inline uint64_t asked(const struct chrono *v, uint64_t t)
{
	uint32_t ahead = v->cost.runahead;

	return ahead && v->nr_blocks ? v->block[v->nr_blocks > ahead ? (v->nr_blocks - ahead - 1) % BLOCKS : 0] : t;
}

/* The words of its code; returns the first behind them. The stall is the instruction's own. */
INLINE const uint64_t *code_words(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y, const uint64_t *word)
{
	uint64_t walk = 0;

	y->begin = f->supply;
	y->address = f->supply;
	for (; outcome_kind(*word) != OUTCOME_ACCESSES; word++) {
		switch (outcome_kind(*word)) {
		case OUTCOME_CODE: {
			enum level level = outcome_level(*word);
			uint64_t before = f->supply.t, there = asked(v, before), translated;
			if (outcome_tlb(*word) != TLB_HIT)
				there += translate(v, mode, y, &f->supply, outcome_tlb(*word), walk);
			translated = there > before ? there - before : 0;
			if (level != LEVEL_L1) {
				transfer(v, mode, y, &f->supply, level);
				there += v->cost.code[level];
				struct when below = recall(mode, &v->line2.there, within(outcome_slot2(*word), v->line2.nr));
				constrain(v, mode, &f->supply, &below);
				y->psv |= PSV_DR_L1;
				y->code_level = (uint8_t)level;
			}
			if (outcome_tlb(*word) != TLB_HIT)
				y->psv |= PSV_DR_TLB;
			f->supply.t = later(f->supply.t, there);
			translated = translated < f->supply.t - before ? translated : f->supply.t - before;
			y->translation_stall += translated;
			y->front_stall += f->supply.t - before - translated;
			add_self(v, mode, &f->supply);
			because(mode, &f->why_supply, REASON_CODE);
			break;
		}
		case OUTCOME_WALK:
			walk = *word;
			break;
		case OUTCOME_WRITE:
			write_word(v, mode, y, *word);
			break;
		case OUTCOME_FILL_L1:
		case OUTCOME_FILL_L2:
			fill_word(v, mode, y, *word);
			break;
		default:
			assert(false);
		}
	}
	return word + 1;
}

INLINE bool supply_by(struct chrono *v, struct flow *f, const enum chrono_mode mode, unsigned resource, uint64_t amount, const struct when *least)
{
	bool waits = constrain_by(v, mode, &f->supply, resource);

	if (waits)
		because(mode, &f->why_supply, resource);
	use(v, mode, resource, amount, least);
	return waits;
}

/* By uops, or by the lines read for it: what is in the line of the one before waits with it. */
INLINE void supply_cached(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct way *y, const struct when *least)
{
	uint64_t amount = v->cost.lines ? y->flags / OUTCOME_READ : y->p->decode_uops;

	if (constrain_by(v, mode, &f->supply, RESOURCE_UOPCACHE))
		because(mode, &f->why_supply, RESOURCE_UOPCACHE);
	if (amount)
		use(v, mode, RESOURCE_UOPCACHE, amount, least);
}

/* Of its slots, loads or stores, as many as fit into what holds `entries`; where it has one they do. */
INLINE uint64_t at_most(unsigned uops, uint32_t entries)
{
	return __builtin_constant_p(uops) || uops < entries ? uops : entries;
}

/* The front end offers it: as fast as the uop cache or the decoders deliver, as far ahead as the queue reaches. */
INLINE void offer(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y)
{
	const struct recipe *p = y->p;
	uint64_t last = f->nr_slots + at_most(y->slots, v->cost.queue);

	constrain_at(v, mode, &f->supply, &v->queued, (last - v->cost.queue - 1) & v->ring_mask);
	const struct when least = f->supply;
	if (y->flags & OUTCOME_DECODED) {
		if (y->flags & OUTCOME_BLOCK)
			supply_by(v, f, mode, RESOURCE_FETCH, 1, &least);
		supply_by(v, f, mode, RESOURCE_PREDECODE, 1, &least);
		supply_by(v, f, mode, RESOURCE_DECODE, 1, &least);
		if ((p->decode_uops > 1 || p->flags & (INSN_COMPLEX | INSN_MICROCODED)) && v->inverse[RESOURCE_COMPLEX])
			supply_by(v, f, mode, RESOURCE_COMPLEX, 1, &least);
	} else if (!(y->kind & INSN_MICROCODED)) {
		supply_cached(v, f, mode, y, &least);
	}
	if (y->kind & INSN_MICROCODED)
		supply_by(v, f, mode, RESOURCE_MICROCODE, p->decode_uops, &least);
}

/* --- dispatch ---------------------------------------------------------------------------------------- */

INLINE void wait_dispatch(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct when *c, unsigned why)
{
	if (constrain(v, mode, &f->dispatch, c))
		because(mode, &f->why, why);
}

/* For the one that had its entry. */
INLINE void wait_entry(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct times *l, uint64_t n, unsigned why)
{
	const struct when free = recall(mode, l, n);
	wait_dispatch(v, f, mode, &free, why);
}

/* Entries of the queues that the instruction needs, and what serialises. */
INLINE void admit(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct way *y)
{
	uint64_t last = f->nr_slots + at_most(y->slots, v->cost.rob);

	wait_entry(v, f, mode, &v->rob, (last - v->cost.rob - 1) & v->ring_mask, REASON_ROB);
	if (y->loads) {
		last = v->nr_loads + at_most(y->loads, v->cost.load_queue);
		wait_entry(v, f, mode, &v->loads, (last - v->cost.load_queue - 1) & v->loads_mask, REASON_LOAD_QUEUE);
	}
	if (y->stores) {
		last = v->nr_stores + at_most(y->stores, v->cost.store_queue);
		wait_entry(v, f, mode, &v->stores, (last - v->cost.store_queue - 1) & v->stores_mask, REASON_STORE_QUEUE);
	}
	wait_dispatch(v, f, mode, &v->serial, REASON_SERIAL);
	if (__builtin_expect(y->kind & INSN_SERIALIZE, 0))
		wait_dispatch(v, f, mode, &f->retire, REASON_SERIAL);
}

INLINE void enter_scheduler(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct part *part, unsigned which)
{
	const struct part *p = &part[which];
	bool waits = false;

	if (!p->uops)
		return;
	if (p->scheduler < CORE_SCHEDULERS)
		waits = constrain_scheduler(v, mode, &f->dispatch, v->scheduler[p->scheduler], p->uops);
	else if (p->scheduler < RECIPE_BOUND + CORE_SCHEDULERS)
		waits = constrain_scheduler(v, mode, &f->dispatch, v->scheduler[p->scheduler - RECIPE_BOUND], p->uops);
	else if (p->scheduler == RECIPE_SCHEDULERS)
		waits = constrain_schedulers(v, mode, &f->dispatch, &v->chosen[which], p);
	else if (p->scheduler == RECIPE_QUEUED)
		waits = constrain_queue(v, mode, &f->dispatch, which, p);
	if (waits)
		because(mode, &f->why, REASON_SCHEDULER);
}

INLINE void enter_schedulers(struct chrono *v, struct flow *f, const enum chrono_mode mode, const enum recipe_path path, const struct part *part)
{
	if (path == PATH_RENAMED)
		return;
	if (path_takes_words(path))
		enter_scheduler(v, f, mode, part, PART_LOAD);
	enter_scheduler(v, f, mode, part, PART_COMPUTE);
	if (path_takes_words(path) && path != PATH_LOAD) {
		enter_scheduler(v, f, mode, part, PART_STA);
		enter_scheduler(v, f, mode, part, PART_STD);
	}
}

/* Slots that do not fit into what is left of the cycle, but into a whole one, or more than that: from the start of the next. */
INLINE void stay_together(const struct chrono *v, uint64_t *frontend, unsigned slots)
{
	uint64_t taken = *frontend % ABSTRACT_TICKS;

	if (taken + slots * v->inverse[RESOURCE_FRONTEND] > ABSTRACT_TICKS)
		*frontend += taken ? ABSTRACT_TICKS - taken : 0;
}

/* One that accesses memory is dispatched in a later cycle than the one that so many before it were that are dispatched in one. */
INLINE void wait_for_memory(struct chrono *v, struct flow *f, const enum chrono_mode mode)
{
	uint64_t *back = &v->memory[v->nr_memory % v->cost.memory];
	uint64_t free = (cycle_of(*back) + 1) * ABSTRACT_TICKS;

	if (v->nr_memory >= v->cost.memory && f->frontend.t < free) {
		f->frontend.t = free;
		because(mode, &f->why, RESOURCE_FRONTEND);
	}
	v->nr_memory++;
	*back = f->frontend.t;
}

/* Algorithm 1, lines 20 to 26. */
INLINE void dispatch(struct chrono *v, struct flow *f, const enum chrono_mode mode, const enum recipe_path path, struct way *y)
{
	because(mode, &f->why, REASON_NONE);
	admit(v, f, mode, y);
	enter_schedulers(v, f, mode, path, y->p->part);
	if (mode == CHRONO_RECORDS)
		f->dispatch_by = f->why == REASON_NONE ? 0 : f->dispatch.who;
	bool bubble = f->frontend.t < f->dispatch.t;
	constrain(v, mode, &f->frontend, &f->dispatch);
	if (constrain(v, mode, &f->frontend, &f->supply))
		because(mode, &f->why, f->why_supply);
	else if (!bubble)
		because(mode, &f->why, RESOURCE_FRONTEND);
	if (path == PATH_ANY && v->cost.whole)
		stay_together(v, &f->frontend.t, y->slots);
	if (path_takes_words(path) && v->cost.memory && (y->loads || y->stores))
		wait_for_memory(v, f, mode);
	if (y->slots) {
		f->frontend.t += y->slots * v->inverse[RESOURCE_FRONTEND];
		add_self(v, mode, &f->frontend);
	}
	constrain(v, mode, &f->dispatch, &f->frontend);
	for (unsigned i = 0; i < y->slots; i++)
		keep_at(mode, &v->queued, (f->nr_slots + i) & v->ring_mask, &f->dispatch);
	because(mode, &f->why_supply, REASON_NONE);
}

/* --- execution --------------------------------------------------------------------------------------- */

/* The uop of rename that brings the stack pointer up to date, in no scheduler: who reads it waits for that. */
INLINE void sync_stack(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	const struct part *split = &y->p->part[PART_SPLIT];
	struct when w = y->start;

	constrain_reg(v, mode, &w, y->p->stack_pointer);
	take(v, mode, y, v->use + split->use + split->nr_uses, y->p->sync_uses, &w);
	w.t += v->cost.latency[LATENCY_INTEGER];
	add_self(v, mode, &w);
	keep_reg(v, mode, y->p->stack_pointer, &w);
}

INLINE void wait_fence(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, const struct when *c)
{
	if (constrain(v, mode, w, c))
		y->why = REASON_SERIAL;
}

/* By its address: loads, and the addresses of stores. */
INLINE void execute_memory(struct chrono *v, const enum chrono_mode mode, const enum recipe_path path, struct way *y, const uint64_t *word, const uint64_t *end)
{
	const struct recipe *p = y->p;

	for (unsigned i = 0; i < p->nr_addr; i++)
		if (constrain_reg(v, mode, &y->address, p->addr[i])) {
			y->why = REASON_LATENCY;
			y->by = y->address.who;
		}
	wait_fence(v, mode, y, &y->address, &v->memory_floor);
	if (__builtin_expect(y->kind & INSN_LOCKED, 0))
		wait_fence(v, mode, y, &y->address, &v->stores_freed);
	if (y->loads) {
		issue(v, mode, y, PART_LOAD, &y->address);
		y->loaded = y->address;
		y->loaded.t += word == end && !(y->kind & INSN_PREFETCH) ? v->cost.load[0] : 0; /* a predicated access that was not made */
	}
	if (y->stores) {
		struct when known = y->address;
		issue(v, mode, y, PART_STA, &known);
		y->complete = known;
		y->complete.t += ABSTRACT_TICKS;
		y->data = y->complete;         /* as a load that waits for the address has it */
		if (!y->loads)
			y->address = known;
		y->own = known;
	}
	if (path == PATH_LOAD && word < end && plain_load(*word))
		load_plain(v, mode, y, *word++);
	if (path != PATH_LOAD || __builtin_expect(word < end, 0))
		accesses(v, mode, y, word, end);
}

INLINE void wait_operand(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct when *w)
{
	if (constrain(v, mode, &y->end, w)) {
		y->why = REASON_LATENCY;
		y->by = y->end.who;
	}
}

INLINE void wait_reg(struct chrono *v, const enum chrono_mode mode, struct way *y, unsigned reg)
{
	const struct when w = recall_reg(v, mode, reg);
	wait_operand(v, mode, y, &w);
}

/* By its data: what it computes. y->end is its start afterwards, and the time of a result of latency 0. */
INLINE void execute_compute(struct chrono *v, const enum chrono_mode mode, const enum recipe_path path, struct way *y)
{
	const struct recipe *p = y->p;

	if (y->eliminated)
		y->end = (struct when){ 0 };   /* renamed: neither dispatch nor a port is waited for */
	if (path_is_simple(path)) {
		wait_reg(v, mode, y, p->data[0]); /* no register where there is none */
		wait_reg(v, mode, y, p->data[1]);
		for (unsigned i = 2; i < p->nr_data; i++)
			wait_reg(v, mode, y, p->data[i]);
	} else {
		for (unsigned i = 0; i < p->nr_data; i++) {
			struct when w = recall_reg(v, mode, p->data[i]);
			uint64_t late = p->data_late[i] * v->cost.latency[p->class];
			w.t = w.t > late ? w.t - late : 0;
			if (p->data[i] >= REG_VECTOR && !y->eliminated)
				w.t += v->apart[p->takes][v->result[p->data[i]]];
			wait_operand(v, mode, y, &w);
		}
	}
	if (y->kind & INSN_LOAD && constrain(v, mode, &y->end, &y->loaded) && y->why == REASON_NONE)
		y->why = REASON_LOAD;
	y->ready = y->end.t;
	issue(v, mode, y, PART_COMPUTE, &y->end);
	if (__builtin_expect(y->kind & INSN_REP, 0)) {
		uint64_t lines = y->writes > y->lines ? y->writes : y->lines;
		y->end.t += v->cost.repeat_startup + (y->kind & INSN_STORE ? lines * v->cost.repeat_line : y->iterations * v->cost.repeat_slow);
	}
}

INLINE void write_results(struct chrono *v, const enum chrono_mode mode, const enum recipe_path path, struct way *y)
{
	const struct recipe *p = y->p;
	uint64_t each = v->cost.latency[p->class];
	struct when start = y->end;

	if (!y->eliminated)
		add_self(v, mode, &start);
	y->end = start;
	y->end.t += p->latency * each;
	constrain(v, mode, &y->complete, &y->end);
	if (path_is_simple(path)) {
		keep_reg(v, mode, p->dst[0], &y->end);
		keep_reg(v, mode, p->dst[1], &y->end);
		for (unsigned i = 2; i < p->nr_dst; i++)
			keep_reg(v, mode, p->dst[i], &y->end);
		return;
	}
	for (unsigned i = 0; i < p->nr_dst; i++) {
		uint8_t latency = p->dst_latency[i];
		struct when w = latency & DST_WRITEBACK ? y->address : start;
		if (latency & DST_WRITEBACK) {
			w.t += (latency & (DST_WRITEBACK - 1u)) * v->cost.latency[LATENCY_INTEGER];
			add_self(v, mode, &w);
		} else {
			w.t += latency * each;
		}
		keep_reg(v, mode, p->dst[i], &w);
		constrain(v, mode, &y->complete, &w);
		if (y->eliminated && p->nr_data)
			v->woken[p->dst[i]] = v->woken[p->data[0]];
		if (p->dst[i] >= REG_VECTOR)
			v->result[p->dst[i]] = y->eliminated && p->nr_data ? v->result[p->data[0]] : p->result;
	}
}

INLINE void execute_stores(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	struct when s = y->start;

	if (!y->p->branch)                     /* a call stores the address behind it */
		constrain(v, mode, &s, &y->end);
	if (v->stored.at)
		for (unsigned i = 0; i < y->nr_stores; i++)
			keep_at(mode, &v->stored, (v->nr_written + i) % STORE_RING, &s);
	issue(v, mode, y, PART_STD, &s);
	s.t += y->p->stores_result ? 0 : v->cost.stored[!!(y->kind & INSN_VECTOR_MEM)];
	add_self(v, mode, &s);
	constrain(v, mode, &y->data, &s);
	constrain(v, mode, &y->complete, &y->data);
	for (unsigned i = 0; i < y->nr_stores; i++)
		keep_at(mode, &v->written, v->nr_written++ % STORE_RING, &y->data);
}

/* What the register has comes no sooner than at `end`. */
INLINE void delay_reg(struct chrono *v, const enum chrono_mode mode, unsigned reg, const struct when *end)
{
	struct when w = recall_reg(v, mode, reg);

	constrain(v, mode, &w, end);
	keep_reg(v, mode, reg, &w);
}

INLINE void fences(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y)
{
	uint32_t flags = y->kind;

	if (flags & INSN_FENCE) {
		constrain(v, mode, &y->complete, &v->loads_done);
		constrain(v, mode, &y->complete, &v->stores_freed);
		y->complete.t += v->cost.fence;
		add_self(v, mode, &y->complete);
	}
	if (flags & INSN_LOCKED) {
		struct when end = y->address;
		end.t += v->cost.lock;
		add_self(v, mode, &end);
		constrain(v, mode, &y->complete, &end);
		for (unsigned i = 0; i < y->p->nr_dst; i++)
			delay_reg(v, mode, y->p->dst[i], &end);
	}
	if (flags & (INSN_FENCE | INSN_LOCKED | INSN_ACQUIRE))
		constrain(v, mode, &v->memory_floor, &y->complete);
	if (flags & INSN_DISPATCH_SERIALIZE)
		constrain(v, mode, &y->complete, &f->retire);
}

/* --- retiring ---------------------------------------------------------------------------------------- */

INLINE void retire(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y, const uint64_t *word, const uint64_t *end,
                   uint64_t *drained)
{
	unsigned slots = y->slots, loads = y->loads, stores = y->stores;

	constrain_after(v, mode, &f->retire, &y->complete, v->cost.commit);
	if (slots) {
		f->retire.t += slots * v->inverse[RESOURCE_RETIRE];
		add_self(v, mode, &f->retire);
	}
	for (unsigned i = 0; i < slots; i++)
		keep_at(mode, &v->rob, f->nr_slots++ & v->ring_mask, &f->retire);
	while (loads--)
		keep_at(mode, &v->loads, v->nr_loads++ & v->loads_mask, &f->retire);
	if (y->kind & INSN_LOAD)
		constrain(v, mode, &v->loads_done, &y->loaded);
	if (!stores && !y->nr_stores)
		return;
	drain(v, mode, &f->retire, y, word, end);
	while (stores--)
		keep_at(mode, &v->stores, v->nr_stores++ & v->stores_mask, &v->drain);
	*drained = v->drain.t;
}

/* What follows a taken branch is fetched when there is an entry for it among those in flight. */
INLINE void wait_taken(struct chrono *v, struct flow *f, const enum chrono_mode mode)
{
	uint32_t most = v->cost.taken_in_flight;

	keep_at(mode, &v->taken, v->nr_taken++ % most, &f->retire);
	const struct when oldest = recall(mode, &v->taken, v->nr_taken % most);
	if (v->nr_taken >= most && constrain_after(v, mode, &f->supply, &oldest, v->cost.front + ABSTRACT_TICKS))
		because(mode, &f->why_supply, REASON_TAKEN);
}

/* Where fetch goes on, and from when on dispatch may. Returns whether a misprediction cost anything. */
INLINE bool follow(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y)
{
	uint32_t flags = y->kind;
	uint64_t after = 0;

	if (y->flags & OUTCOME_TAKEN) {
		bool indirect = y->p->branch == BRANCH_INDIRECT || y->p->branch == BRANCH_INDIRECT_CALL;
		const struct when here = f->supply;
		if (supply_by(v, f, mode, RESOURCE_TAKEN, indirect ? v->cost.taken : 1, &here) && mode == CHRONO_TAINT)
			y->why = RESOURCE_TAKEN;
		if (y->p->branch == BRANCH_RETURN)
			v->resource[RESOURCE_TAKEN] += v->cost.returned;
		if (v->taken.at)
			wait_taken(v, f, mode);
	}
	if (y->flags & OUTCOME_MISPREDICT) {
		v->mispredicts += v->cost.mispredicts;
		if (v->mispredicts >= WEIGHT_ONE) {
			v->mispredicts -= WEIGHT_ONE;
			if (constrain_after(v, mode, &f->supply, &y->end, v->cost.mispredict))
				because(mode, &f->why_supply, REASON_BRANCH);
			v->nr_blocks = 0;
			return true;
		}
	} else if (y->flags & (OUTCOME_REDIRECT | OUTCOME_BTB2)) {
		f->supply.t += y->flags & OUTCOME_REDIRECT ? v->cost.redirect : v->cost.btb2;
		add_self(v, mode, &f->supply);
		because(mode, &f->why_supply, RESOURCE_TAKEN);
	}
	if (__builtin_expect(!(flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL | INSN_FLUSH)) && !(y->flags & OUTCOME_FAULT), 1))
		return false;
	if (flags & INSN_SERIALIZE)
		constrain_after(v, mode, &v->serial, &f->retire, v->cost.serialize);
	if (flags & INSN_DISPATCH_SERIALIZE)
		constrain_after(v, mode, &v->serial, &y->complete, ABSTRACT_TICKS);
	if (y->flags & OUTCOME_FAULT)
		after = v->cost.exception;
	else if (flags & INSN_SYSCALL)
		after = v->cost.syscall;
	else if (flags & INSN_FLUSH)
		after = v->cost.flush;
	v->nr_blocks = 0;
	if (y->flags & OUTCOME_FAULT)
		v->faulted = f->record;
	if (after && constrain_after(v, mode, &f->supply, &f->retire, after))
		because(mode, &f->why_supply, REASON_SERIAL);
	return false;
}

/* --- causality --------------------------------------------------------------------------------------- */

INLINE void judge(struct chrono *v, struct flow *f, const struct way *y)
{
	uint64_t n = f->record;

	if (n > v->window && taint_has(&v->taints, f->dispatch.who, n - v->window))
		chrono_critical_one(v, n - v->window);
	v->lately[n & v->lately_mask] = (struct lately){
		y->p->insn, y->why == REASON_NONE ? f->why : y->why, (y->flags & OUTCOME_COUNTED) != 0,
	};
}

/* --- the stream -------------------------------------------------------------------------------------- */

/* One on its path, which is constant; `word`: its head. */
INLINE const uint64_t *pass(struct chrono *v, struct flow *f, const enum chrono_mode mode, const enum recipe_path path,
                            const struct recipe *p, const uint64_t *word, const struct step *step, struct timed *out)
{
	uint64_t head = *word++;
	const uint64_t *end = word + outcome_words(head);
	struct way y;
	uint64_t drained = 0;

	y.p = p;
	y.flags = outcome_flags(head);
	y.kind = path == PATH_ANY ? p->flags : p->flags & ~PATH_ANY_FLAGS;
	if (path != PATH_ANY && path != PATH_MEMORY && path != PATH_SECOND)
		y.kind &= ~(uint32_t)(INSN_LOAD | INSN_STORE);
	if (path == PATH_LOAD)
		y.kind |= INSN_LOAD;
	y.slots = path == PATH_ANY || path == PATH_RENAMED ? p->slots : path != PATH_SECOND;
	y.loads = path == PATH_ANY ? p->part[PART_LOAD].uops : path == PATH_LOAD || (path == PATH_MEMORY && p->part[PART_LOAD].uops);
	y.stores = path == PATH_ANY ? p->part[PART_STA].uops : path == PATH_MEMORY && p->part[PART_STA].uops;
	y.eliminated = path == PATH_RENAMED || (path == PATH_ANY && p->eliminated);
	const bool second = path == PATH_SECOND || (path == PATH_ANY && p->second);
	y.why = REASON_NONE;
	y.by = 0;
	y.nr_stores = y.writes = 0;
	y.store_extra = 0;
	y.lines = y.iterations = 0;
	y.psv = 0;
	y.level = LEVEL_NONE;
	y.code_level = LEVEL_L1;
	y.front_stall = y.translation_stall = 0;
	y.least = UINT64_MAX;
	y.ready = 0;
	f->record++;
	if (tells_who(mode))
		v->taints.now = f->record;
	if (__builtin_expect((y.flags ^ f->counting) & OUTCOME_COUNTED, 0))
		f->counting = chrono_count(v, f->counting, f->record, committed(f));
	if (path == PATH_ANY && y.flags & OUTCOME_ENTER && v->faulted != f->record - 1 &&
	    constrain_after(v, mode, &f->supply, &f->retire, v->cost.exception))
		because(mode, &f->why_supply, REASON_SERIAL);
	if (y.flags & OUTCOME_BLOCK && v->cost.runahead)
		v->block[v->nr_blocks++ % BLOCKS] = f->supply.t;
	if (path == PATH_ANY && __builtin_expect(y.flags & OUTCOME_LINES, 0))
		word = code_words(v, f, mode, &y, word);
	if (!second) {
		offer(v, f, mode, &y);
		dispatch(v, f, mode, path, &y);
	}
	y.start = f->dispatch;
	y.start.t += v->cost.issue;
	y.begin = y.start;
	y.address = y.end = y.data = y.own = y.start;
	y.loaded = y.complete = f->dispatch;
	if (path == PATH_ANY && __builtin_expect(p->sync_uses, 0))
		sync_stack(v, mode, &y);
	if (second) {
		y.end = y.complete = v->pair;
	} else {
		if (path == PATH_MEMORY || path == PATH_LOAD ||
		    (path == PATH_ANY && (y.kind & (INSN_LOAD | INSN_STORE | INSN_PREFETCH) || p->nr_addr || word < end)))
			execute_memory(v, mode, path, &y, word, end);
		execute_compute(v, mode, path, &y);
		write_results(v, mode, path, &y);
		if (y.stores || y.nr_stores)
			execute_stores(v, mode, &y);
		if (__builtin_expect(y.kind & (INSN_FENCE | INSN_LOCKED | INSN_ACQUIRE | INSN_DISPATCH_SERIALIZE), 0))
			fences(v, f, mode, &y);
		keep(mode, &v->pair, &y.end);
	}
	struct passage w = { .avail = f->supply.t, .reason_dispatch = f->why, .reason_issue = REASON_NONE };
	if (mode == CHRONO_RECORDS && !second)
		w.dispatch_by = f->dispatch_by;
	retire(v, f, mode, &y, word, end, &drained);
	bool mispredicted = !path_is_simple(path) && follow(v, f, mode, &y);
	if (mode == CHRONO_TAINT)
		judge(v, f, &y);

	if (makes_records(mode)) {
		w.dispatch = f->dispatch.t;
		w.complete = y.complete.t;
		w.leave = f->retire.t;
		w.drain = drained;
		w.front_stall = y.front_stall;
		w.translation_stall = y.translation_stall;
		w.psv = y.psv;
		w.level = y.level;
		w.code_level = y.code_level;
		w.mispredicted = mispredicted;
		if (mode == CHRONO_RECORDS) {
			w.ready = y.ready;
			w.issue = y.least;
			w.issue_by = y.by;
			w.reason_issue = y.why;
		}
		if (!y.slots && !second) {     /* it comes along with the next, and so in that one's slot */
			w.dispatch += v->inverse[RESOURCE_FRONTEND];
			w.complete = later(w.complete, w.dispatch - 1);
			w.leave = later(w.leave + v->inverse[RESOURCE_RETIRE], w.dispatch);
		}
		record(v, f, mode, path, p, y.slots, y.flags, step, &w, out);
	}
	return end;
}

/* What met nothing but its own accesses goes by the path of its kind. */
INLINE enum recipe_path path_of(const struct recipe *p, uint64_t head)
{
	bool any = outcome_flags(head) & (OUTCOME_LINES | OUTCOME_ENTER | OUTCOME_FAULT) ||
	           (outcome_words(head) && !path_takes_words((enum recipe_path)p->path));

	return __builtin_expect(any, 0) ? PATH_ANY : (enum recipe_path)p->path;
}

/* By each of the variants, on one path. */
INLINE const uint64_t *pass_all(struct chrono *const *v, unsigned nr_v, struct flow *f, const enum chrono_mode mode, const enum recipe_path path,
                                const struct recipe *p, const uint64_t *word, const struct step *step, struct timed *out)
{
	const uint64_t *next;

	do
		next = pass(*v, mode == CHRONO_PLAIN ? &(*v)->flow : f, mode, path, p, word, step, out);
	while (mode == CHRONO_PLAIN && (v++, --nr_v));
	return next;
}

/* One instruction; in mode PLAIN by several variants, each with its own flow: so its path, which no branch predictor knows, is found once. */
INLINE const uint64_t *one(struct chrono *const *v, unsigned nr_v, struct flow *f, const enum chrono_mode mode, const uint64_t *word,
                           const struct step *step, struct timed *out)
{
	const struct recipe *p = &(*v)->recipe[outcome_recipe(*word)];

	switch (path_of(p, *word)) {
	case PATH_SIMPLE:
		return pass_all(v, nr_v, f, mode, PATH_SIMPLE, p, word, step, out);
	case PATH_LOAD:
		return pass_all(v, nr_v, f, mode, PATH_LOAD, p, word, step, out);
	case PATH_COMPUTE:
		return pass_all(v, nr_v, f, mode, PATH_COMPUTE, p, word, step, out);
	case PATH_MEMORY:
		return pass_all(v, nr_v, f, mode, PATH_MEMORY, p, word, step, out);
	case PATH_RENAMED:
		return pass_all(v, nr_v, f, mode, PATH_RENAMED, p, word, step, out);
	case PATH_SECOND:
		return pass_all(v, nr_v, f, mode, PATH_SECOND, p, word, step, out);
	case PATH_ANY:
		break;
	}
	return pass_all(v, nr_v, f, mode, PATH_ANY, p, word, step, out);
}

/* Groups of ports that have become known: what their use costs. */
static void learn_groups(struct chrono *v)
{
	unsigned nr = __atomic_load_n(&v->recipes->nr_groups, __ATOMIC_ACQUIRE);

	for (; v->nr_groups < nr; v->nr_groups++) {
		uint16_t ports = v->recipes->group[v->nr_groups];
		uint64_t capacity = 0;
		for (unsigned i = 0; i < CORE_PORTS; i++)
			if (ports >> i & 1)
				capacity += v->cost.port_weight[i];
		v->inverse[RESOURCE_PORTS + v->nr_groups] = (ABSTRACT_TICKS * WEIGHT_ONE + capacity / 2) / capacity;
	}
}

/* The words that are timed while what the next ones want is on its way. */
static inline const uint64_t *stretch(const uint64_t *word, const uint64_t *end)
{
	enum { STRETCH = 32 };
	return end - word < STRETCH ? end : word + STRETCH;
}

INLINE size_t records(struct chrono *v, const enum chrono_mode mode, const uint64_t **from, const uint64_t *end, const struct step **step,
                      struct timed *t, size_t most)
{
	struct timed *first = t, *last = t + most;
	const uint64_t *word = *from;
	const struct step *s = *step;
	struct flow f = v->flow;

	learn_groups(v);
	while (word < end && t < last) {
		if (mode == CHRONO_BRIEF) {
			word = one(&v, 1, &f, mode, word, NULL, t++);
			continue;
		}
		while (step_kind(s) != STEP_INSN)
			s++;
		word = one(&v, 1, &f, mode, word, s++, t++);
	}
	v->flow = f;
	*from = word;
	*step = s;
	return (size_t)(t - first);
}

/* A function for each mode: the state of one loop alone is what the compiler has to keep in registers. */
static __attribute__((noinline)) size_t brief_records(struct chrono *v, const uint64_t **from, const uint64_t *end, const struct step **step,
                                                      struct timed *t, size_t most)
{
	return records(v, CHRONO_BRIEF, from, end, step, t, most);
}

static __attribute__((noinline)) size_t full_records(struct chrono *v, const uint64_t **from, const uint64_t *end, const struct step **step,
                                                     struct timed *t, size_t most)
{
	return records(v, CHRONO_RECORDS, from, end, step, t, most);
}

size_t chrono_records(struct chrono *v, const uint64_t **from, const uint64_t *end, const struct step **step, struct timed *t, size_t most)
{
	return v->mode == CHRONO_BRIEF ? brief_records(v, from, end, step, t, most) : full_records(v, from, end, step, t, most);
}

void chrono_batch(struct chrono *v, const uint64_t *word, size_t nr)
{
	const uint64_t *end = word + nr;
	struct flow f = v->flow;

	assert(!makes_records(v->mode));
	if (v->mode == CHRONO_PLAIN) {
		chrono_batch_together(&v, 1, word, nr);
		return;
	}
	learn_groups(v);
	while (word < end)
		word = one(&v, 1, &f, CHRONO_TAINT, word, NULL, NULL);
	v->flow = f;
}

void chrono_batch_together(struct chrono *const *v, unsigned nr_v, const uint64_t *word, size_t nr)
{
	const uint64_t *end = word + nr;

	for (unsigned i = 0; i < nr_v; i++) {
		assert(v[i]->mode == CHRONO_PLAIN);
		learn_groups(v[i]);
	}
	while (word < end) {
		const uint64_t *stop = stretch(word, end);
		lines_ahead(v, nr_v, stop, stretch(stop, end));
		while (word < stop)
			word = one(v, nr_v, NULL, CHRONO_PLAIN, word, NULL, NULL);
	}
}
