#include "core/gus/outcome.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/gus/deliver.h"
#include "core/gus/memory.h"
#include "core/order/foresee.h"
#include "core/order/memory_renaming.h"
#include "core/order/pair.h"
#include "core/order/repeat.h"
#include "core/order/stack.h"

enum { PASSED = 64 };                  /* most accesses of one instruction that are looked at one by one for sources */

struct outcomes {
	const struct core_desc *desc;
	const struct code *code;
	struct recipes *recipes;
	uint64_t loaded;               /* general registers that come straight from a load, where that makes a
	                                  difference: a bit set */
	bool renames;                  /* rename may know the store that a load reads from */
	bool merges;                   /* stores may be merged */
	bool aliases;                  /* 4 KiB aliases cost something */
	bool fused;                    /* the instruction before makes a pair with the next */
	struct stack_engine stack;
	size_t skip;                   /* steps of the next batch that belong to an instruction already seen */
	struct branch_unit *branch;
	struct delivery delivery;
	struct outcome_memory memory;
	struct shadow shadow;
	struct merge merge;
	struct memory_renaming renaming;
	uint64_t base_by[NR_REGS];     /* instruction that wrote the register last, pushes and pops of the stack
	                                  pointer apart */
	uint64_t nr_insns;
};

void outcome_stream_fini(struct outcome_stream *s)
{
	g_free(s->word);
	*s = (struct outcome_stream){ 0 };
}

void outcome_stream_grow(struct outcome_stream *s)
{
	s->room = s->room ? 2 * s->room : 1 << 14;
	s->word = g_realloc_n(s->word, s->room, sizeof *s->word);
}

/* --- memory ------------------------------------------------------------------------------------------ */

static struct renaming_place place_of(const struct outcomes *o, const struct insn *in)
{
	uint8_t base = in->addr[0], index = renaming_index(in);

	return (struct renaming_place){ o->base_by[base], o->base_by[index], base, index };
}

static void note_written(struct outcomes *o, const struct insn *in)
{
	o->nr_insns++;
	for (unsigned i = 0; i < in->nr_dst; i++)
		if (in->stack != STACK_MOVES || in->dst[i] != in->addr[0])
			o->base_by[in->dst[i]] = o->nr_insns;
}

/* The instruction has written its registers. Without a branch, which would be foreseen badly. */
static inline void written(struct outcomes *o, const struct insn *in, const struct recipe *p)
{
	o->loaded = (o->loaded & ~p->writes) | (p->loads & -(p->from_load | (o->loaded >> p->copies & 1)));
	if (o->renames)
		note_written(o, in);
}

/* `base`: the recipe's. */
static inline void load(struct outcomes *o, const struct insn *in, uint8_t base, const struct step *s,
                        struct outcome_stream *out)
{
	struct source from = shadow_load(&o->shadow, s->addr, s->bytes);
	bool simple = o->loaded >> base & 1;
	enum outcome_kind kind = (enum outcome_kind)from.kind;

	if (o->renames && from.distance && kind == OUTCOME_LOAD &&
	    renaming_finds(&o->renaming, o->desc, in, s->bytes, o->shadow.nr_stores, from.distance, place_of(o, in)))
		kind = OUTCOME_RENAMED;
	if (o->aliases && !from.distance) {
		from.distance = shadow_alias(&o->shadow, s->addr, s->bytes);
		kind = from.distance ? OUTCOME_ALIAS : OUTCOME_LOAD;
	}
	outcome_access(&o->memory, outcome_access_word(kind, from.distance, simple), s->addr, s->bytes, in->pc, out);
}

static inline void store(struct outcomes *o, const struct insn *in, const struct step *s, struct outcome_stream *out)
{
	unsigned merges = 0;

	if (o->merges) {
		struct merging is = merge_store(&o->merge, o->desc, s->addr, s->bytes);
		merges = outcome_of_merging(&is);
	}
	outcome_access(&o->memory, outcome_access_word(OUTCOME_STORE, merges, false), s->addr, s->bytes, in->pc, out);
	if (o->renames)
		renaming_stored(&o->renaming, in, s->bytes, o->shadow.nr_stores, place_of(o, in));
	shadow_store(&o->shadow, s->addr, s->bytes, o->aliases);
}

static __attribute__((noinline)) void accesses(struct outcomes *o, const struct insn *in, uint8_t base,
                                               const struct step *s, uint32_t nr_steps, struct outcome_stream *out)
{
	uint32_t i;

	if (in->flags & INSN_PREFETCH) {
		if (s->addr)
			outcome_access(&o->memory, OUTCOME_SOFT, s->addr, 1, in->pc, out);
		return;
	}
	for (i = 0; i < nr_steps; i++) {
		if (step_kind(&s[i]) == STEP_REPEAT) {
			if (repeat_is_slow(in, s, nr_steps))
				outcome_push(out, OUTCOME_REPEAT | s[i].addr << 16);
			continue;
		}
		if (s[i].flags & STEP_LOAD && s[i].bytes) {
			if (i < PASSED)
				load(o, in, base, &s[i], out);
			else
				outcome_access(&o->memory, OUTCOME_LOAD, s[i].addr, s[i].bytes, in->pc, out);
		}
	}
	for (i = 0; i < nr_steps; i++) {
		if (s[i].flags & STEP_STORE && s[i].bytes)
			store(o, in, &s[i], out);
	}
}

/* --- branches ---------------------------------------------------------------------------------------- */

/* `next` is what follows it, where that is `known`. */
static inline unsigned resolve(struct outcomes *o, const struct insn *in, const struct step *s, const struct step *next,
                               bool known)
{
	bool taken = s->flags & STEP_TAKEN;
	unsigned flags = taken ? OUTCOME_TAKEN : 0;
	struct prediction p;

	foresee_branch(o->branch, in, taken, known ? code_insn(o->code, next->insn) : NULL, &p);
	if (p.mispredicted)
		flags |= OUTCOME_MISPREDICT;
	else if (p.redirect)
		flags |= OUTCOME_REDIRECT;
	else if (taken && p.btb == BTB_SECOND)
		flags |= OUTCOME_BTB2;
	return flags;
}

/* --- one instruction --------------------------------------------------------------------------------- */

/* What is left to find out of an execution that is a single step without a fault, and not the second of a pair. */
enum shape {
	SHAPE_PLAIN,                   /* how its code comes into the core, and what its accesses meet */
	SHAPE_BRANCH,                  /* the same, and where it leads */
	SHAPE_FIRST,                   /* the same, and whether it makes a pair with the next */
	SHAPE_ANY,
};

/*
 * Its head and words, of the records from `s` to `next`. `shape` is constant: nothing is looked for that there is not
 * that way, for which an instruction must be a single step without STEP_ENTER or STEP_FAULT, and an instruction behind
 * it.
 */
static inline __attribute__((always_inline)) void one(struct outcomes *o, const struct insn *in, const struct step *s,
                                                      const struct step *next, size_t ahead, const enum shape shape,
                                                      struct outcome_stream *out)
{
	unsigned kind = RECIPE_PLAIN, flags = (unsigned)(s->flags & STEP_COUNTED) << 1;
	uint16_t ports = 0;
	size_t head = out->nr;
	bool at_hand = true;

	_Static_assert(STEP_COUNTED << 1 == OUTCOME_COUNTED, "it is shifted in place");
	if (shape == SHAPE_ANY && s->flags & STEP_ENTER) {
		flags |= OUTCOME_ENTER;
		deliver_anew(&o->delivery);
	}
	if (shape != SHAPE_PLAIN && o->fused)
		kind = RECIPE_SECOND;
	else
		at_hand = deliver_at_hand(&o->delivery, in, &flags);
	/* A head without words is made when all is known. */
	const bool alone = shape != SHAPE_ANY && at_hand && !s->bytes;
	if (!alone)
		outcome_push(out, 0);
	if (__builtin_expect(!at_hand, 0))
		flags |= deliver_slow(&o->delivery, in, out);
	if (shape != SHAPE_PLAIN)
		o->fused = false;
	const struct insn *second =
		shape == SHAPE_FIRST || shape == SHAPE_ANY ? pair_second(o->desc, o->code, in, s, next, ahead) : NULL;
	if (second) {
		ports = pair_ports(o->desc, o->code, second, next->flags & STEP_TAKEN);
		kind |= next->flags & STEP_TAKEN ? RECIPE_FIRST | RECIPE_TAKEN : RECIPE_FIRST;
		o->fused = true;
	}
	if (shape == SHAPE_BRANCH || (shape == SHAPE_ANY && in->branch && !(s->flags & STEP_FAULT))) {
		bool follows = shape == SHAPE_BRANCH || (ahead && step_kind(next) == STEP_INSN);
		flags |= resolve(o, in, s, next, follows && !(next->flags & STEP_ENTER));
		kind |= flags & OUTCOME_TAKEN ? RECIPE_TAKEN : 0;
	}
	if (in->stack && stack_engine_syncs(&o->stack, o->desc, in)) {
		o->recipes->stack_pointer = o->stack.pointer;
		kind |= RECIPE_SYNC;
	}
	if ((shape == SHAPE_BRANCH || shape == SHAPE_ANY) &&
	    (flags & (OUTCOME_TAKEN | OUTCOME_MISPREDICT) ||
	     (shape == SHAPE_ANY && in->flags & (INSN_SYSCALL | INSN_FLUSH)))) {
		deliver_anew(&o->delivery);
		uop_cache_build_end(&o->delivery.uops);
	}
	const uint32_t recipe = recipe_of(o->recipes, s->insn, kind, ports);
	const struct recipe *p = &o->recipes->recipe[recipe];
	if (shape == SHAPE_ANY && (next - s > 1 || in->flags & INSN_PREFETCH)) {
		accesses(o, in, p->base, s, (uint32_t)(next - s), out);
	} else if (s->bytes) {
		if (s->flags & STEP_LOAD)
			load(o, in, p->base, s, out);
		if (s->flags & STEP_STORE)
			store(o, in, s, out);
	}
	if (shape == SHAPE_ANY && s->flags & STEP_FAULT) {
		flags |= OUTCOME_FAULT;
		deliver_anew(&o->delivery);
		o->fused = false;
	}
	written(o, in, p);
	if (alone)
		outcome_push(out, outcome_head(recipe, flags, 0));
	else
		out->word[head] = outcome_head(recipe, flags, out->nr - head - 1);
}

/* What begins at `s`, be it what it may: where the next begins. *done: counts instructions. */
static __attribute__((noinline)) const struct step *any(struct outcomes *o, const struct step *s,
                                                        const struct step *all, size_t *done,
                                                        struct outcome_stream *out)
{
	const struct step *end = s + 1;

	if (step_kind(s) != STEP_INSN) {
		if (step_kind(s) == STEP_UNMAP)
			outcome_unmap(&o->memory, s->addr, s->insn);
		return end;
	}
	while (end < all && step_belongs(end))
		end++;
	one(o, code_insn(o->code, s->insn), s, end, (size_t)(all - end), SHAPE_ANY, out);
	++*done;
	return end;
}

/* What begins at `s`, where one of the short ways is its; else false. */
static inline __attribute__((always_inline)) bool short_way(struct outcomes *o, const struct step *s,
                                                            const struct step *all, struct outcome_stream *out)
{
	const struct step *next = s + 1;

	if (__builtin_expect(s->flags & (STEP_KIND | STEP_ENTER | STEP_FAULT) || next == all ||
	                     step_kind(next) != STEP_INSN, 0))
		return false;
	const struct insn *in = code_insn(o->code, s->insn);
	size_t ahead = (size_t)(all - next);

	if (in->flags & (INSN_SYSCALL | INSN_FLUSH | INSN_PREFETCH))
		return false;
	if (in->branch && !(in->flags & INSN_FUSES_NEXT))
		one(o, in, s, next, ahead, SHAPE_BRANCH, out);
	else if (in->branch)
		return false;
	else if (in->flags & INSN_FUSES_NEXT)
		one(o, in, s, next, ahead, SHAPE_FIRST, out);
	else if (!o->fused)
		one(o, in, s, next, ahead, SHAPE_PLAIN, out);
	else
		return false;
	return true;
}

size_t outcomes_batch(struct outcomes *o, const struct step *s, size_t n, size_t ahead, struct outcome_stream *out)
{
	const struct step *last = s + n, *all = last + ahead;
	size_t skip = o->skip < n ? o->skip : n, done = 0;

	o->skip -= skip;
	s += skip;
	while (s < last) {
		if (short_way(o, s, all, out)) {
			done++;
			s++;
		} else {
			s = any(o, s, all, &done, out);
		}
	}
	o->skip += (size_t)(s - last);
	return done;
}

/* --- the whole --------------------------------------------------------------------------------------- */

void outcomes_free(struct outcomes *o)
{
	if (!o)
		return;
	outcome_memory_fini(&o->memory);
	branch_free(o->branch);
	delivery_fini(&o->delivery);
	free(o);
}

int outcomes_new(struct outcomes **out, const struct core_desc *d, const struct code *code, struct recipes *recipes)
{
	struct outcomes *o = calloc(1, sizeof *o);
	int err;

	*out = NULL;
	if (!o)
		return error_errno(ENOMEM, "abstract core");
	o->desc = d;
	o->code = code;
	o->recipes = recipes;
	o->aliases = d->alias4k_penalty || d->load_queue_restart;
	o->renames = d->forward_renamed;
	o->merges = d->store_queue_merge_bytes;
	err = core_desc_power_of_two(d, "fetch.bytes", d->fetch_bytes);
	if (!err)
		err = outcome_memory_init(&o->memory, d);
	if (!err)
		err = branch_new(&o->branch, d);
	if (!err)
		err = delivery_init(&o->delivery, d, &o->memory);
	if (err) {
		if (err == -ENOMEM)
			error_errno(ENOMEM, "abstract core");
		outcomes_free(o);
		return err;
	}
	*out = o;
	return 0;
}
