/*
 * What is fetched in vain: the wrong path behind a mispredicted branch, as it was foreseen, and right-path steps behind
 * a squash, which will run again.
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
	bool fused;                    /* the youngest makes a pair with a branch behind it */
};

static struct walk walk_begin(const struct ooo *o, uint64_t squash)
{
	return (struct walk){ .squash = squash, .cycle = o->rename_cycle, .used = o->rename_used };
}

/* The cycle in which the attempt's first slot dispatches, or UINT64_MAX: not before the squash. */
__attribute__((always_inline))
static inline uint64_t walk_dispatch(const struct ooo *o, struct walk *w, unsigned slots, uint64_t cycle)
{
	uint64_t entries = (uint64_t)o->desc->rob_entries, last = o->nr_slots + w->slots + slots;
	unsigned width = (unsigned)o->desc->rename_width;

	cycle = later(cycle, w->cycle + (w->used >= width));
	cycle = later(cycle, o->serial_until);
	if (last > entries) {
		if (last - entries > o->nr_slots)
			return UINT64_MAX;     /* it would need entries that only the squash frees */
		cycle = later(cycle, o->rob[(last - entries - 1) & o->ring_mask].leave + 1);
	}
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

/* What was fetched dispatches, or never does, and is recorded. */
__attribute__((always_inline))
static inline void walk_on(struct ooo *o, struct walk *w, uint32_t index, const struct insn *in, const struct fetched *f,
                           bool fused, uint32_t flags)
{
	unsigned slots = fused ? 0 : in->slots ? in->slots : 1;
	uint64_t dispatch = w->blocked ? UINT64_MAX : walk_dispatch(o, w, slots, f->avail);

	frontend_dispatched(&o->front, slots, dispatch < w->squash ? dispatch : w->squash);
	w->blocked = dispatch == UINT64_MAX || in->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL);

	*record_next(o) = (struct timed){
		.fetch = f->fetch,
		.insn = index,
		.avail = f->avail > w->squash ? TIMED_NEVER : (uint32_t)(f->avail - f->fetch),
		.dispatch = dispatch == UINT64_MAX ? TIMED_NEVER : (uint32_t)(dispatch - f->fetch),
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
		.level = timed_level(LEVEL_NONE, (enum ilevel)f->code_level, FLUSH_NONE),
	};
}

/* Fetches one instruction; false: not before the squash. */
static bool walk_one(struct ooo *o, struct walk *w, uint32_t index, const struct insn *in, bool fused, uint32_t flags)
{
	struct fetched f;

	frontend_deliver(&o->front, in, fused, &f);
	if (f.fetch >= w->squash)
		return false;
	walk_on(o, w, index, in, &f, fused, flags);
	return true;
}

/*
 * Fetches straight code from `index` on as far as the present window of the uop cache has it, at most `most`
 * instructions, and returns how many: the greater part of every walk, in a loop of its own for speed's sake.
 */
static unsigned walk_window(struct ooo *o, struct walk *walk, uint32_t index, unsigned most)
{
	struct delivery run = o->front.run;
	struct walk w = *walk;
	const struct insn *in = code_insn(o->code, index);
	unsigned n = 0;

	for (; n < most; n++, in++) {
		struct fetched f;

		if (in->flags & INSN_BRANCH || !frontend_goes_on(&o->front, in))
			break;
		frontend_go_on(&o->front, &run, in, &f);
		walk_on(o, &w, index + n, in, &f, false, TIMED_WRONG);
	}
	o->front.run = run;
	*walk = w;
	return n;
}

/* One run; false: not all of it before the squash. */
static bool walk_run(struct ooo *o, struct walk *w, const struct wrong_run *run)
{
	uint32_t index = run->first, end = index + run->nr;

	while (index < end) {
		const struct insn *in = code_insn(o->code, index);
		bool taken = run->end.taken && index + 1 == end;

		if (!walk_one(o, w, index, in, w->fused && in->branch == BRANCH_CONDITIONAL, TIMED_WRONG | (taken ? TIMED_TAKEN : 0u)))
			return false;
		index++;
		index += walk_window(o, w, index, end - index);
		w->fused = code_insn(o->code, index - 1)->flags & INSN_FUSES_NEXT && o->desc->decode_macro_fusion;
	}
	return true;
}

void wrong_path(struct ooo *o, const struct wrong_run *run, size_t nr, uint64_t squash)
{
	struct walk w = walk_begin(o, squash);

	for (; nr; nr--, run++) {
		if (!walk_run(o, &w, run))
			return;
		if (run->end.taken && run->end.target)
			frontend_taken(&o->front, code_insn(o->code, run->first + run->nr - 1), &run->end);
	}
}

void squashed_path(struct ooo *o, const struct step *s, size_t n, uint64_t squash)
{
	struct walk w = walk_begin(o, squash);

	for (size_t i = 0, done = 0; i < n && done < WRONG_MAX; i++) {
		if (step_kind(&s[i]) != STEP_INSN)
			continue;
		const struct insn *in = code_insn(o->code, s[i].insn);
		if (s[i].flags & STEP_ENTER || in->flags & INSN_REP)
			return;
		bool taken = s[i].flags & STEP_TAKEN;
		if (!walk_one(o, &w, s[i].insn, in, false, TIMED_SQUASHED | (taken ? TIMED_TAKEN : 0u)))
			return;
		done++;
		if (taken) {
			struct prediction p = { .taken = true, .btb = BTB_FIRST, .target = in->target };
			frontend_taken(&o->front, in, &p);
		}
	}
}
