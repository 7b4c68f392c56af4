/*
 * What is fetched in vain: the wrong path behind a mispredicted branch, read from the real code by a copy of the
 * predictor's state, and right-path steps behind a squash, which will run again.
 *
 * They use fetch, the instruction cache and TLB, the uop cache and the queues of the front end, issue slots and
 * reorder-buffer entries. Not modelled: their execution (schedulers, ports, data caches).
 */
#include "core/ooo.h"

/* A walk: its own view of the reorder buffer and the rename width, thrown away at the squash. */
struct walk {
	uint64_t squash;
	uint64_t cycle;                /* of its youngest dispatched slot */
	uint32_t used;                 /* slots in that cycle */
	uint64_t slots;                /* ROB entries it would hold */
	bool blocked;                  /* nothing more dispatches */
};

/* The cycle in which the attempt's first slot dispatches, or UINT64_MAX: not before the squash. */
static uint64_t walk_dispatch(const struct ooo *o, struct walk *w, const struct attempt *a)
{
	uint64_t entries = (uint64_t)o->desc->rob_entries, last = o->nr_slots + w->slots + a->slots, cycle = a->fetched.avail;
	unsigned width = (unsigned)o->desc->rename_width;

	if (w->blocked)
		return UINT64_MAX;
	cycle = later(cycle, w->cycle + (w->used >= width));
	cycle = later(cycle, o->serial_until);
	if (last > entries) {
		if (last - entries > o->nr_slots)
			return UINT64_MAX;     /* it would need entries that only the squash frees */
		cycle = later(cycle, o->rob_leave[(last - entries - 1) & o->ring_mask] + 1);
	}
	if (cycle > w->squash)
		return UINT64_MAX;
	if (cycle > w->cycle) {
		w->cycle = cycle;
		w->used = 0;
	}
	w->slots += a->slots;
	unsigned total = w->used + a->slots;
	if (a->slots) {
		w->cycle += (total - 1) / width;
		w->used = (total - 1) % width + 1;
	}
	return cycle;
}

/* Fetches one instruction; false: not before the squash. */
static bool walk_one(struct ooo *o, struct walk *w, struct attempt *a, bool fused, uint16_t flags)
{
	frontend_deliver(&o->front, a->in, fused, &a->fetched);
	if (a->fetched.fetch >= w->squash)
		return false;
	a->fused = fused;
	a->slots = fused ? 0 : a->in->slots ? a->in->slots : 1;
	a->nr_uops = fused ? 0 : a->in->nr_uops;
	uint64_t dispatch = walk_dispatch(o, w, a);
	frontend_dispatched(&o->front, a->slots, dispatch < w->squash ? dispatch : w->squash);
	if (dispatch == UINT64_MAX)
		w->blocked = true;
	if (a->in->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL))
		w->blocked = true;

	struct timed *t = attempt_record(o, a, flags, FLUSH_NONE);
	t->leave = (uint32_t)(w->squash - a->fetched.fetch);
	t->ready = t->issue = t->complete = t->drain = TIMED_NEVER;
	if (a->fetched.avail > w->squash)
		t->avail = TIMED_NEVER;
	t->dispatch = dispatch == UINT64_MAX ? TIMED_NEVER : (uint32_t)(dispatch - a->fetched.fetch);
	t->addr = 0;
	return true;
}

void wrong_path(struct ooo *o, uint64_t pc, uint64_t squash)
{
	struct walk w = { .squash = squash, .cycle = o->rename_cycle, .used = o->rename_used };
	bool fused = false;
	uint64_t fall_through = 0;
	uint32_t fall_index = CODE_NONE;

	branch_save(o->branch, o->guess);
	for (unsigned n = 0; n < WRONG_MAX; n++) {
		uint32_t index = pc == fall_through && fall_index != CODE_NONE ? fall_index : code_find(o->code, pc);
		if (index == CODE_NONE)
			return;
		const struct insn *in = code_insn(o->code, index);
		if (in->flags & INSN_UNDECODED)
			return;
		struct attempt a = { .index = index, .in = in };
		struct prediction p = { .target = pc + in->length };
		uint16_t flags = TIMED_WRONG;
		if (in->branch) {
			branch_guess(o->branch, o->guess, in, &p);
			a.predicted = p;
			if (p.taken)
				flags |= TIMED_TAKEN;
		}
		if (!walk_one(o, &w, &a, fused, flags))
			return;
		fused = false;
		if (in->branch) {
			if (!p.target)
				return;
			if (p.taken)
				frontend_taken(&o->front, in, &p);
		}
		pc = p.target;
		if (in->flags & INSN_FUSES_NEXT && o->desc->decode_macro_fusion) {
			fall_through = in->pc + in->length;
			fall_index = code_find(o->code, fall_through);
			fused = fall_index != CODE_NONE && code_insn(o->code, fall_index)->branch == BRANCH_CONDITIONAL;
		}
	}
}

void squashed_path(struct ooo *o, const struct step *s, size_t n, uint64_t squash)
{
	struct walk w = { .squash = squash, .cycle = o->rename_cycle, .used = o->rename_used };

	for (size_t i = 0, done = 0; i < n && done < WRONG_MAX; i++) {
		if (step_kind(&s[i]) != STEP_INSN)
			continue;
		const struct insn *in = code_insn(o->code, s[i].insn);
		if (s[i].flags & STEP_ENTER || in->flags & INSN_REP)
			return;
		struct attempt a = { .index = s[i].insn, .in = in };
		bool taken = s[i].flags & STEP_TAKEN;
		uint16_t flags = (uint16_t)(TIMED_SQUASHED | (taken ? TIMED_TAKEN : 0));
		if (!walk_one(o, &w, &a, false, flags))
			return;
		done++;
		if (taken) {
			struct prediction p = { .taken = true, .btb = BTB_FIRST, .target = in->target };
			frontend_taken(&o->front, in, &p);
		}
	}
}
