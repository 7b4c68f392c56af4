#include "core/gus/time.h"

#include <assert.h>

#include "core/cycle.h"
#include "core/gus/access.h"
#include "core/gus/front.h"
#include "core/gus/record.h"
#include "core/gus/scheduler.h"

/* What makes those behind it wait until it has retired, or be fetched anew. */
#define SERIALIZES (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL | INSN_FLUSH)

/* What is done seldom, to a copy of the way, which so stays in registers. */
#define COPIED(way_, what) do { struct way copy = way_; what; way_ = copy; } while (0)

/* --- execution --------------------------------------------------------------------------------------- */

/* The uop of rename that brings the stack pointer up to date, in no scheduler: who reads it waits for that. */
INLINE void sync_stack(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	const struct part *split = &y->p->part[PART_SPLIT];
	struct when w = y->start;

	constrain_by_reg(v, mode, &w, y->p->stack_pointer);
	use_resources(v, mode, y, v->use + split->use + split->nr_uses, y->p->sync_uses, &w);
	w.t += v->cost.latency[LATENCY_INTEGER];
	add_self(v, mode, &w);
	set_reg_by(v, mode, y->p->stack_pointer, &w);
}

INLINE void wait_fence(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w,
                       const struct when *c)
{
	if (constrain_by(v, mode, w, c))
		y->why = REASON_SERIAL;
}

/*
 * The words of accesses that are no hits, in a copy of what these want of the way: so the way stays in registers where
 * there are none, and what is copied one by one need not have been in memory before.
 */
INLINE void other_accesses(struct chrono *v, const enum chrono_mode mode, struct way *y, const uint64_t *word,
                           const uint64_t *end)
{
	struct way copy;

	copy.p = y->p;
	copy.kind = y->kind;
	copy.begin = copy_of(mode, &y->begin);
	copy.address = copy_of(mode, &y->address);
	copy.loaded = copy_of(mode, &y->loaded);
	copy.complete = copy_of(mode, &y->complete);
	copy.own = copy_of(mode, &y->own);
	copy.store_extra = y->store_extra;
	copy.lines = y->lines;
	copy.iterations = 0;
	copy.nr_stores = y->nr_stores;
	copy.writes = y->writes;
	copy.why = y->why;
	copy.psv = y->psv;
	copy.level = y->level;
	copy.least = y->least;
	while (word < end)
		access_word(v, &copy, *word++);
	y->loaded = copy_of(mode, &copy.loaded);
	y->complete = copy_of(mode, &copy.complete);
	y->own = copy_of(mode, &copy.own);
	y->store_extra = copy.store_extra;
	y->lines = copy.lines;
	y->iterations = copy.iterations;
	y->nr_stores = copy.nr_stores;
	y->writes = copy.writes;
	y->why = copy.why;
	y->psv = copy.psv;
	y->level = copy.level;
	y->least = copy.least;
}

/* By its address: loads, and the addresses of stores. */
INLINE void execute_memory(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct takes takes,
                           const uint64_t *word, const uint64_t *end)
{
	const struct recipe *p = y->p;

	for (unsigned i = 0; i < p->nr_addr; i++)
		if (constrain_by_reg(v, mode, &y->address, p->addr[i])) {
			y->why = REASON_LATENCY;
			y->by = y->address.who;
		}
	wait_fence(v, mode, y, &y->address, &v->memory_floor);
	if (__builtin_expect(y->kind & INSN_LOCKED, 0))
		wait_fence(v, mode, y, &y->address, &v->stores_freed);
	if (takes.loads) {
		issue(v, mode, y, PART_LOAD, &y->address);
		y->loaded = y->address;
		/* A predicated access that was not made. */
		y->loaded.t += word == end && !(y->kind & INSN_PREFETCH) ? v->cost.load[0] : 0;
	}
	if (takes.stores) {
		struct when known = y->address;
		issue(v, mode, y, PART_STA, &known);
		y->complete = known;
		y->complete.t += ABSTRACT_TICKS;
		y->data = y->complete;         /* as a load that waits for the address has it */
		if (!takes.loads)
			y->address = known;
		y->own = known;
	}
	for (; word < end && is_hit(*word); word++)
		access_hit(v, mode, y, *word);
	if (__builtin_expect(word < end, 0))
		other_accesses(v, mode, y, word, end);
}

INLINE void wait_operand(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct when *w)
{
	if (constrain_by(v, mode, &y->end, w)) {
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
INLINE void execute_compute(struct chrono *v, const enum chrono_mode mode, struct way *y, bool eliminated)
{
	const struct recipe *p = y->p;

	if (eliminated)
		y->end = (struct when){ 0 };   /* renamed: neither dispatch nor a port is waited for */
	if (p->simple) {
		wait_reg(v, mode, y, p->data[0]); /* no register where there is none */
		wait_reg(v, mode, y, p->data[1]);
		for (unsigned i = 2; i < p->nr_data; i++)
			wait_reg(v, mode, y, p->data[i]);
	} else {
		for (unsigned i = 0; i < p->nr_data; i++) {
			struct when w = recall_reg(v, mode, p->data[i]);
			uint64_t late = p->data_late[i] * v->cost.latency[p->class];
			w.t = w.t > late ? w.t - late : 0;
			if (p->data[i] >= REG_VECTOR && !eliminated)
				w.t += v->apart[p->takes][v->result[p->data[i]]];
			wait_operand(v, mode, y, &w);
		}
	}
	if (y->kind & INSN_LOAD && constrain_by(v, mode, &y->end, &y->loaded) && y->why == REASON_NONE)
		y->why = REASON_LOAD;
	y->ready = y->end.t;
	issue(v, mode, y, PART_COMPUTE, &y->end);
	if (v->paired && p->simple && p->path == PATH_COMPUTE && p->uops == 1 && !p->branch)
		pair_wake(v, p, y->ready, y->end.t);
	if (__builtin_expect(y->kind & INSN_REP, 0)) {
		uint64_t lines = y->writes > y->lines ? y->writes : y->lines;
		y->end.t += v->cost.repeat_startup;
		y->end.t += y->iterations           ? y->iterations * v->cost.repeat_slow
		            : y->kind & INSN_STORE  ? lines * v->cost.repeat_line
		                                    : 0;
	}
}

INLINE void write_results(struct chrono *v, const enum chrono_mode mode, struct way *y, bool eliminated)
{
	const struct recipe *p = y->p;
	uint64_t each = v->cost.latency[p->class];
	struct when start = y->end;

	if (!eliminated)
		add_self(v, mode, &start);
	y->end = start;
	y->end.t += p->latency * each;
	constrain_by(v, mode, &y->complete, &y->end);
	if (p->simple) {
		set_reg_by(v, mode, p->dst[0], &y->end);
		set_reg_by(v, mode, p->dst[1], &y->end);
		for (unsigned i = 2; i < p->nr_dst; i++)
			set_reg_by(v, mode, p->dst[i], &y->end);
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
		set_reg_by(v, mode, p->dst[i], &w);
		constrain_by(v, mode, &y->complete, &w);
		if (eliminated && p->nr_data)
			v->woken[p->dst[i]] = v->woken[p->data[0]];
		if (p->dst[i] >= REG_VECTOR)
			v->result[p->dst[i]] = eliminated && p->nr_data ? v->result[p->data[0]] : p->result;
	}
}

INLINE void execute_stores(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	struct when s = y->start;

	if (!y->p->branch)                     /* a call stores the address behind it */
		constrain_by(v, mode, &s, &y->end);
	if (v->stored.at)
		for (unsigned i = 0; i < y->nr_stores; i++)
			set_nth_by(mode, &v->stored, (v->nr_written + i) % STORE_RING, &s);
	issue(v, mode, y, PART_STD, &s);
	s.t += y->p->stores_result ? 0 : v->cost.stored[!!(y->kind & INSN_VECTOR_MEM)];
	add_self(v, mode, &s);
	constrain_by(v, mode, &y->data, &s);
	constrain_by(v, mode, &y->complete, &y->data);
	for (unsigned i = 0; i < y->nr_stores; i++)
		set_nth_by(mode, &v->written, v->nr_written++ % STORE_RING, &y->data);
}

/* What the register has comes no sooner than at `end`. */
INLINE void delay_reg(struct chrono *v, const enum chrono_mode mode, unsigned reg, const struct when *end)
{
	struct when w = recall_reg(v, mode, reg);

	constrain_by(v, mode, &w, end);
	set_reg_by(v, mode, reg, &w);
}

static void fences(struct chrono *v, struct way *y)
{
	const enum chrono_mode mode = v->mode;
	uint32_t flags = y->kind;

	if (flags & INSN_FENCE) {
		constrain_by(v, mode, &y->complete, &v->loads_done);
		constrain_by(v, mode, &y->complete, &v->stores_freed);
		y->complete.t += v->cost.fence;
		add_self(v, mode, &y->complete);
	}
	if (flags & INSN_LOCKED) {
		struct when end = y->address;
		end.t += v->cost.lock;
		add_self(v, mode, &end);
		constrain_by(v, mode, &y->complete, &end);
		for (unsigned i = 0; i < y->p->nr_dst; i++)
			delay_reg(v, mode, y->p->dst[i], &end);
	}
	if (flags & (INSN_FENCE | INSN_LOCKED | INSN_ACQUIRE))
		constrain_by(v, mode, &v->memory_floor, &y->complete);
	if (flags & INSN_DISPATCH_SERIALIZE)
		constrain_by(v, mode, &y->complete, &v->flow.retire);
}

/* --- retiring ---------------------------------------------------------------------------------------- */

/* The stores of an instruction, whose words are [word, end): they have left the queue at v->drain. */
INLINE void drain(struct chrono *v, const enum chrono_mode mode, const struct way *y, const uint64_t *word,
                  const uint64_t *end)
{
	if (v->cost.leave && y->nr_stores && !(y->kind & INSN_REP)) {
		struct when from = v->flow.retire;
		constrain_by(v, mode, &from, &y->own);
		drain_merged(v, from, y->nr_stores, y->store_extra, word, end);
		set_by(mode, &v->stores_freed, &v->drain);
		return;
	}
	constrain_by(v, mode, &v->drain, &v->flow.retire);
	constrain_by(v, mode, &v->drain, &y->own);
	v->drain.t += (y->writes ? y->writes : 1) * v->inverse[RESOURCE_DRAIN] + y->store_extra;
	add_self(v, mode, &v->drain);
	set_by(mode, &v->stores_freed, &v->drain);
	for (unsigned i = 1; i <= y->nr_stores; i++)
		set_nth_by(mode, &v->freed, (v->nr_written - i) % STORE_RING, &v->drain);
}

/* Returns when its stores have left the queue; 0: it has none. */
INLINE uint64_t retire(struct chrono *v, const enum chrono_mode mode, const struct way *y, struct takes takes,
                       const uint64_t *word, const uint64_t *end)
{
	struct flow *f = &v->flow;

	constrain_by_later(v, mode, &f->retire, &y->complete, v->cost.commit);
	if (takes.slots) {
		f->retire.t += takes.slots * v->inverse[RESOURCE_RETIRE];
		add_self(v, mode, &f->retire);
	}
	for (unsigned i = 0; i < takes.slots; i++)
		set_nth_by(mode, &v->rob, f->nr_slots++ & v->ring_mask, &f->retire);
	while (takes.loads--)
		set_nth_by(mode, &v->loads, v->nr_loads++ & v->loads_mask, &f->retire);
	if (y->kind & INSN_LOAD)
		constrain_by(v, mode, &v->loads_done, &y->loaded);
	if (!takes.stores && !y->nr_stores)
		return 0;
	drain(v, mode, y, word, end);
	while (takes.stores--)
		set_nth_by(mode, &v->stores, v->nr_stores++ & v->stores_mask, &v->drain);
	return v->drain.t;
}

/* Behind what serialises, flushes or faults. */
static void serialize(struct chrono *v, const struct way *y)
{
	const enum chrono_mode mode = v->mode;
	struct flow *f = &v->flow;
	uint64_t after = 0;

	if (y->kind & INSN_SERIALIZE)
		constrain_by_later(v, mode, &v->serial, &f->retire, v->cost.serialize);
	if (y->kind & INSN_DISPATCH_SERIALIZE)
		constrain_by_later(v, mode, &v->serial, &y->complete, ABSTRACT_TICKS);
	if (y->flags & OUTCOME_FAULT)
		after = v->cost.exception;
	else if (y->kind & INSN_SYSCALL)
		after = v->cost.syscall;
	else if (y->kind & INSN_FLUSH)
		after = v->cost.flush;
	v->nr_blocks = 0;
	if (y->flags & OUTCOME_FAULT)
		v->faulted = f->record;
	if (after && constrain_by_later(v, mode, &f->supply, &f->retire, after))
		because(mode, &f->why_supply, REASON_SERIAL);
}

/* Where fetch goes on behind a branch. Returns whether a misprediction cost anything. */
INLINE bool follow(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	struct flow *f = &v->flow;

	if (y->flags & OUTCOME_TAKEN) {
		bool indirect = y->p->branch == BRANCH_INDIRECT || y->p->branch == BRANCH_INDIRECT_CALL;
		const struct when here = copy_of(mode, &f->supply);
		if (supply_by(v, mode, RESOURCE_TAKEN, indirect ? v->cost.taken : 1, &here) && mode == CHRONO_TAINT)
			y->why = RESOURCE_TAKEN;
		if (y->p->branch == BRANCH_RETURN)
			v->resource[RESOURCE_TAKEN] += v->cost.returned;
	}
	if (y->flags & OUTCOME_MISPREDICT) {
		v->mispredicts += v->cost.mispredicts;
		if (v->mispredicts < WEIGHT_ONE)
			return false;
		v->mispredicts -= WEIGHT_ONE;
		if (constrain_by_later(v, mode, &f->supply, &y->end, v->cost.mispredict))
			because(mode, &f->why_supply, REASON_BRANCH);
		v->nr_blocks = 0;
		return true;
	}
	if (y->flags & (OUTCOME_REDIRECT | OUTCOME_BTB2)) {
		f->supply.t += y->flags & OUTCOME_REDIRECT ? v->cost.redirect : v->cost.btb2;
		add_self(v, mode, &f->supply);
		because(mode, &f->why_supply, RESOURCE_TAKEN);
	}
	return false;
}

/* --- causality --------------------------------------------------------------------------------------- */

/* Algorithm 1, lines 42 to 44; y->why is why the instruction itself waited. */
static void judge(struct chrono *v, const struct recipe *p, unsigned flags, unsigned why)
{
	uint64_t n = v->flow.record;

	if (n > v->window && taint_has(&v->taints, v->flow.dispatch.who, n - v->window))
		chrono_critical_one(v, n - v->window);
	v->retired[n & v->retired_mask] = (struct retired){
		p->insn, (uint16_t)(why == REASON_NONE ? v->flow.why : why), (flags & OUTCOME_COUNTED) != 0,
	};
}

/* --- the stream -------------------------------------------------------------------------------------- */

INLINE void make_record(struct chrono *v, const struct way *y, unsigned slots, bool second, uint64_t drained,
                        bool mispredicted, uint64_t avail, const struct step *step, struct timed *out)
{
	struct passage w = {
		.avail = avail, .dispatch = v->flow.dispatch.t, .ready = y->ready, .issue = y->least,
		.complete = y->complete.t, .leave = v->flow.retire.t, .drain = drained,
		.front_stall = y->front_stall, .translation_stall = y->translation_stall,
		.dispatch_by = second ? 0 : v->flow.dispatch_by, .issue_by = y->by,
		.reason_dispatch = v->flow.why, .reason_issue = y->why,
		.psv = y->psv, .level = y->level, .code_level = y->code_level, .mispredicted = mispredicted,
	};

	if (!slots && !second) {               /* it comes along with the next, and so in that one's slot */
		w.dispatch += v->inverse[RESOURCE_FRONTEND];
		w.complete = later(w.complete, w.dispatch - 1);
		w.leave = later(w.leave + v->inverse[RESOURCE_RETIRE], w.dispatch);
	}
	record(v, y->p, slots, y->flags, step, &w, out);
}

/* One on its path, which is constant; `word`: its head. */
INLINE const uint64_t *pass(struct chrono *v, const enum chrono_mode mode, const enum recipe_path path,
                            const struct recipe *p, const uint64_t *word, const struct step *step, struct timed *out)
{
	const bool second = path == PATH_SECOND || (path == PATH_ANY && p->second), any = path == PATH_ANY;
	const struct takes takes = {
		.slots = any ? p->slots : !second,
		.loads = any ? p->part[PART_LOAD].uops : path == PATH_MEMORY && p->part[PART_LOAD].uops,
		.stores = any ? p->part[PART_STA].uops : path == PATH_MEMORY && p->part[PART_STA].uops,
		.eliminated = (any || path == PATH_COMPUTE) && p->eliminated,
	};
	const uint64_t head = *word++, *end = word + outcome_words(head);
	const unsigned flags = outcome_flags(head);
	struct flow *f = &v->flow;
	bool mispredicted = false;
	struct way y;

	/* One by one: all of it at once would be memory. */
	y.p = p;
	y.flags = flags;
	y.kind = any ? p->flags : p->flags & (path == PATH_COMPUTE ? 0 : ~PATH_ANY_FLAGS);
	y.why = REASON_NONE;
	y.level = LEVEL_NONE;
	y.code_level = LEVEL_L1;
	y.psv = 0;
	y.nr_stores = y.writes = 0;
	y.by = y.walk = y.store_extra = y.lines = y.iterations = y.front_stall = y.translation_stall = y.ready = 0;
	y.least = UINT64_MAX;
	f->record++;
	if (tells_who(mode))
		v->taints.now = f->record;
	if (__builtin_expect((flags ^ f->counting) & OUTCOME_COUNTED, 0))
		f->counting = chrono_count(v, f->counting, f->record, committed(f));
	if (any && flags & OUTCOME_ENTER && v->faulted != f->record - 1 &&
	    constrain_by_later(v, mode, &f->supply, &f->retire, v->cost.exception))
		because(mode, &f->why_supply, REASON_SERIAL);
	if (flags & OUTCOME_BLOCK && v->cost.runahead)
		v->block[v->nr_blocks++ % BLOCKS] = f->supply.t;
	if (any && __builtin_expect(flags & OUTCOME_LINES, 0))
		COPIED(y, word = code_words(v, &copy, word));
	if (!second) {
		offer(v, mode, &y, takes.slots);
		dispatch(v, mode, path, &y, takes);
	}
	y.loaded = y.complete = copy_of(mode, &f->dispatch);
	y.start = y.loaded;
	y.start.t += v->cost.issue;
	y.begin = y.address = y.end = y.data = y.own = y.start;
	if (any && __builtin_expect(p->sync_uses, 0))
		sync_stack(v, mode, &y);
	if (second) {
		y.end = y.complete = copy_of(mode, &v->pair);
	} else {
		if (path == PATH_MEMORY ||
		    (any && (y.kind & (INSN_LOAD | INSN_STORE | INSN_PREFETCH) || p->nr_addr || word < end)))
			execute_memory(v, mode, &y, takes, word, end);
		execute_compute(v, mode, &y, takes.eliminated);
		write_results(v, mode, &y, takes.eliminated);
		if (takes.stores || y.nr_stores)
			execute_stores(v, mode, &y);
		if (any &&
		    __builtin_expect(y.kind & (INSN_FENCE | INSN_LOCKED | INSN_ACQUIRE | INSN_DISPATCH_SERIALIZE), 0))
			COPIED(y, fences(v, &copy));
		set_by(mode, &v->pair, &y.end);
	}
	const uint64_t avail = f->supply.t, drained = retire(v, mode, &y, takes, word, end);
	if (second || (path != PATH_MEMORY && p->branch))
		mispredicted = follow(v, mode, &y);
	if (any && __builtin_expect(y.kind & SERIALIZES || flags & OUTCOME_FAULT, 0))
		COPIED(y, serialize(v, &copy));
	if (mode == CHRONO_TAINT)
		judge(v, p, flags, y.why);
	if (mode == CHRONO_RECORDS)
		make_record(v, &y, takes.slots, second, drained, mispredicted, avail, step, out);
	return end;
}

/* What met nothing but its own accesses goes by the path of its kind. */
INLINE enum recipe_path path_of(const struct recipe *p, uint64_t head)
{
	bool any = outcome_flags(head) & (OUTCOME_LINES | OUTCOME_ENTER | OUTCOME_FAULT) ||
	           (outcome_words(head) && p->path != PATH_MEMORY);

	return __builtin_expect(any, 0) ? PATH_ANY : (enum recipe_path)p->path;
}

/* By each of the variants, on one path. */
INLINE const uint64_t *pass_all(struct chrono *const *v, unsigned nr_v, const enum chrono_mode mode,
                                const enum recipe_path path, const struct recipe *p, const uint64_t *word,
                                const struct step *step, struct timed *out)
{
	const uint64_t *next;

	do
		next = pass(*v, mode, path, p, word, step, out);
	while (mode == CHRONO_PLAIN && (v++, --nr_v));
	return next;
}

/* One instruction, in mode PLAIN by several variants: so its path, which no branch predictor knows, is found once. */
INLINE const uint64_t *one(struct chrono *const *v, unsigned nr_v, const enum chrono_mode mode, const uint64_t *word,
                           const struct step *step, struct timed *out)
{
	const struct recipe *p = &(*v)->recipe[outcome_recipe(*word)];

	switch (path_of(p, *word)) {
	case PATH_COMPUTE:
		return pass_all(v, nr_v, mode, PATH_COMPUTE, p, word, step, out);
	case PATH_MEMORY:
		return pass_all(v, nr_v, mode, PATH_MEMORY, p, word, step, out);
	case PATH_SECOND:
		return pass_all(v, nr_v, mode, PATH_SECOND, p, word, step, out);
	case PATH_ANY:
		break;
	}
	return pass_all(v, nr_v, mode, PATH_ANY, p, word, step, out);
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

size_t chrono_records(struct chrono *v, const uint64_t **from, const uint64_t *end, const struct step **step,
                      struct timed *t, size_t most)
{
	struct timed *first = t, *last = t + most;
	const uint64_t *word = *from;
	const struct step *s = *step;

	learn_groups(v);
	while (word < end && t < last) {
		while (s && step_kind(s) != STEP_INSN)
			s++;
		word = one(&v, 1, CHRONO_RECORDS, word, s, t++);
		s += s != NULL;
	}
	*from = word;
	*step = s;
	return (size_t)(t - first);
}

void chrono_batch(struct chrono *v, const uint64_t *word, size_t nr)
{
	const uint64_t *end = word + nr;

	if (v->mode == CHRONO_PLAIN) {
		chrono_batch_together(&v, 1, word, nr);
		return;
	}
	assert(v->mode == CHRONO_TAINT);
	learn_groups(v);
	while (word < end)
		word = one(&v, 1, CHRONO_TAINT, word, NULL, NULL);
}

/*
 * The lines of L2 that words name are what many variants have more of than a cache holds: asked for ahead. What stands
 * there in other words does no harm.
 */
static void lines_ahead(struct chrono *const *v, unsigned nr_v, const uint64_t *word, const uint64_t *end)
{
	for (; word < end; word++) {
		unsigned slot = outcome_slot2(*word);
		for (unsigned i = 0; __builtin_expect(slot != 0, 0) && i < nr_v; i++)
			__builtin_prefetch(&v[i]->line2.there.at[slot]);
	}
}

/* The words that are timed while what the next ones want is on its way. */
static inline const uint64_t *stretch(const uint64_t *word, const uint64_t *end)
{
	enum { STRETCH = 32 };
	return end - word < STRETCH ? end : word + STRETCH;
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
			word = one(v, nr_v, CHRONO_PLAIN, word, NULL, NULL);
	}
}
