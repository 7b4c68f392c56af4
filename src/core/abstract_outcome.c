#include "core/abstract_outcome.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/abstract_brief.h"
#include "core/abstract_memory.h"
#include "core/abstract_shadow.h"
#include "core/branch.h"
#include "core/cache.h"
#include "core/lines.h"
#include "core/mirror.h"
#include "core/pair.h"

enum { PASSED = 64 };                  /* most accesses of one instruction that are looked at one by one for sources */

/* What a store's place is named by, where rename may find it again (core/mirror.h). */
struct mirror_place {
	uint64_t addr, by, index_by;   /* by: instruction that wrote the base, the index last before it */
	uint32_t bytes;
	uint8_t base, index;           /* base REG_NONE: not a store of this kind */
};

#define NO_WINDOW UINT64_MAX

struct outcomes {
	const struct core_desc *desc;
	const struct code *code;
	struct recipes *recipes;
	struct briefs briefs;
	struct outcome_memory memory;
	struct branch_unit *branch;
	struct shadow shadow;
	struct merge merge;
	struct mirror_place mirror[MIRRORS]; /* [number of the store % MIRRORS] */
	uint64_t mirror_load[MIRRORS]; /* forward.renamed_loads: those known, by pc */
	uint32_t mirror_next;
	uint64_t base_by[NR_REGS];     /* instruction that wrote the register last, pushes and pops of the stack pointer apart */
	uint64_t nr_insns;
	uint64_t loaded;               /* general registers that come straight from a load: a bit set */
	bool simple, registers;        /* whether that makes a difference; either of these is wanted */
	bool copies;                   /* rename does copies: what they write comes from where its source does */
	bool aliases;                  /* 4 KiB aliases cost something */
	int32_t stack_offset;          /* pushes and calls less pops and returns since the stack pointer was last brought up to date */

	struct cache uops;             /* the uop cache: a line is a way of a window */
	bool uops_on;
	unsigned window_shift, fetch_shift;
	uint64_t window;               /* present window, or fetch block of the decoders */
	bool cached, broken;           /* the present window comes from the uop cache; a taken branch or flush came before */
	uint64_t building;             /* window the decoders are in; UINT64_MAX: none */
	unsigned build_uops;
	bool build_ok;
	struct uop_lines lines;        /* where the uop cache is read line by line */
	uint64_t line;                 /* last code line looked at */

	bool fused;                    /* the instruction before makes a pair with the next */
	uint64_t inside;               /* the present window where it comes from the uop cache, and nothing broke; else NO_WINDOW */
	size_t skip;                   /* steps of the next batch that belong to an instruction already seen */
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

/* --- the uop cache ----------------------------------------------------------------------------------- */

/* The tag of the `way`-th line of a window: in the set of the window. */
static uint64_t uop_tag(uint64_t window, unsigned way)
{
	return window | (uint64_t)way << 60;
}

/* Ways are entered together, and a victim is any of them. */
static inline bool uop_lookup(struct outcomes *o, uint64_t window)
{
	int64_t at = cache_access(&o->uops, uop_tag(window, 0));

	for (unsigned way = 1; at >= 0 && o->uops.lines[at].dirty && way < (unsigned)o->desc->uopcache_max_ways; way++)
		at = cache_access(&o->uops, uop_tag(window, way));
	return at >= 0;
}

/* The decoders have left the window they were building. A line is marked dirty where a further way belongs to the window. */
static __attribute__((noinline)) void build_enter(struct outcomes *o)
{
	unsigned each = (unsigned)o->desc->uopcache_line_uops, ways = (o->build_uops + each - 1) / each;

	if (o->build_ok && ways && ways <= (unsigned)o->desc->uopcache_max_ways) {
		for (unsigned way = 0; way < ways; way++) {
			struct cache_victim victim;
			int64_t at = cache_access(&o->uops, uop_tag(o->building, way));
			uint64_t line = at >= 0 ? (uint64_t)at : cache_insert(&o->uops, uop_tag(o->building, way), &victim);
			o->uops.lines[line].dirty = way + 1 < ways;
		}
	}
	o->building = UINT64_MAX;
}

static inline void build_end(struct outcomes *o)
{
	if (o->building != UINT64_MAX)
		build_enter(o);
}

static void build_add(struct outcomes *o, const struct insn *in, uint64_t window)
{
	if (o->building != window) {
		build_end(o);
		o->building = window;
		o->build_uops = 0;
		o->build_ok = true;
	}
	if (in->flags & INSN_MICROCODED)
		o->build_uops += (unsigned)o->desc->uopcache_line_uops;
	else
		o->build_uops += in->decode_uops ? in->decode_uops : 1;
	if (o->desc->uopcache_jcc_erratum && in->flags & INSN_JCC_ERRATUM)
		o->build_ok = false;
}

enum entry { ENTRY_NONE, ENTRY_STRAIGHT, ENTRY_ANEW };

/* Where the uop cache is read line by line: the reads that pass with the instruction, those left out before it included. */
static unsigned reads(struct uop_lines *l, const struct core_desc *d, const struct insn *in, enum entry entry)
{
	uint32_t before = l->used, cycles = 0;

	if (entry != ENTRY_NONE) {
		bool along = entry == ENTRY_ANEW && d->branch_lookups > 1 && l->used < l->most;
		cycles += !along;
		lines_enter(l, along, entry == ENTRY_STRAIGHT);
	}
	if (in->flags & INSN_MICROCODED)
		lines_end(l);
	else
		cycles += lines_take(l, in->line_words);
	uint32_t n = cycles * l->most + l->used - before;
	return OUTCOME_READ * (n < OUTCOME_READS ? n : OUTCOME_READS);
}

static inline bool same_page(const struct outcomes *o, uint64_t window)
{
	return (window ^ o->window) >> (LINES_PAGE - o->window_shift) == 0;
}

/* A taken branch, or what else begins anew. */
static inline void breaks(struct outcomes *o)
{
	o->broken = true;
	o->inside = NO_WINDOW;
}

/* The uop cache did not have it: its code, up to OUTCOME_ACCESSES where any of that has a word. */
static __attribute__((noinline)) unsigned decode(struct outcomes *o, const struct insn *in, struct outcome_stream *out)
{
	uint64_t last = in->pc + in->length - 1u;
	size_t before = out->nr;

	if (in->pc >> o->memory.line_shift != o->line)
		outcome_fetch(&o->memory, in->pc, out);
	if (last >> o->memory.line_shift != in->pc >> o->memory.line_shift)
		outcome_fetch(&o->memory, last, out);
	o->line = last >> o->memory.line_shift;
	if (out->nr == before)
		return OUTCOME_DECODED;
	outcome_push(out, OUTCOME_ACCESSES);
	return OUTCOME_DECODED | OUTCOME_LINES;
}

/* The path comes into another window, or is not in the uop cache. */
static __attribute__((noinline)) unsigned deliver_slow(struct outcomes *o, const struct insn *in, struct outcome_stream *out)
{
	enum entry entry = ENTRY_NONE;
	unsigned flags = 0;

	if (o->uops_on) {
		uint64_t window = in->pc >> o->window_shift;
		if (o->broken || window != o->window) {
			bool building = window == o->building && !o->broken;
			entry = o->cached && !o->broken && same_page(o, window) ? ENTRY_STRAIGHT : ENTRY_ANEW;
			o->cached = !building && uop_lookup(o, window);
			if (o->cached)
				build_end(o);
			o->window = window;
			o->inside = o->cached ? window : NO_WINDOW;
			flags |= OUTCOME_BLOCK;
		}
		if (!o->cached)
			build_add(o, in, window);
	} else {
		uint64_t block = (in->pc + in->length - 1u) >> o->fetch_shift;
		flags |= o->broken || block != o->window ? OUTCOME_BLOCK : 0;
		o->window = block;
	}
	o->broken = false;
	if (!o->cached)
		return flags | decode(o, in, out);
	return o->lines.most ? flags | reads(&o->lines, o->desc, in, entry) : flags;
}

/* How the instruction comes into the core: flags of the head. Code lines go to `out`. */
static inline unsigned deliver(struct outcomes *o, const struct insn *in, struct outcome_stream *out)
{
	if (in->pc >> o->window_shift != o->inside)
		return deliver_slow(o, in, out);
	return o->lines.most ? reads(&o->lines, o->desc, in, ENTRY_NONE) : 0;
}

/* --- memory ------------------------------------------------------------------------------------------ */

/* Whether rename finds the store that the load reads from, `distance` back: the same base and index, last written by the same instructions. */
static bool renamed(struct outcomes *o, const struct insn *in, const struct step *s, unsigned distance)
{
	if (!distance || distance > (unsigned)o->desc->forward_renamed || !mirror_takes(in, in->dst, in->nr_dst, s->bytes))
		return false;
	if (o->desc->forward_renamed_plain && !mirror_plain(in, s->bytes))
		return false;
	const struct mirror_place *m = &o->mirror[(o->shadow.nr_stores - distance) % MIRRORS];
	if (m->base != in->addr[0] || m->by != o->base_by[m->base] || m->index != mirror_index(in) || m->index_by != o->base_by[m->index] ||
	    m->addr != s->addr || m->bytes != s->bytes)
		return false;
	return !o->desc->forward_renamed_loads || in->stack ||
		mirror_knows(o->mirror_load, &o->mirror_next, (uint32_t)o->desc->forward_renamed_loads, in->pc);
}

/* What the store about to be entered is to loads behind it. */
static void mirror(struct outcomes *o, const struct insn *in, const struct step *s)
{
	bool takes = (in->nr_data || in->nr_compute) && mirror_takes(in, in->data, in->nr_data, s->bytes);

	o->mirror[o->shadow.nr_stores % MIRRORS] = (struct mirror_place){
		.addr = s->addr, .bytes = s->bytes, .by = o->base_by[in->addr[0]], .base = takes ? in->addr[0] : REG_NONE,
		.index_by = o->base_by[mirror_index(in)], .index = mirror_index(in),
	};
}

static void mirror_written(struct outcomes *o, const struct insn *in)
{
	o->nr_insns++;
	for (unsigned i = 0; i < in->nr_dst; i++)
		if (in->stack != STACK_MOVES || in->dst[i] != in->addr[0])
			o->base_by[in->dst[i]] = o->nr_insns;
}

/* The instruction has written its registers. */
static inline void written(struct outcomes *o, const struct insn *in, const struct brief *b)
{
	if (o->desc->forward_renamed)
		mirror_written(o, in);
	if (!o->simple)
		return;
	/* Without a branch, which would be foreseen badly. Register 0 is none: it never comes from a load. */
	uint64_t from_load = b->from_load | (o->copies & o->loaded >> b->copies);
	o->loaded = (o->loaded & ~b->writes) | (b->loads & -from_load);
}

/* Of a load that reads what a store wrote. */
static enum outcome_kind load_kind(struct outcomes *o, const struct insn *in, const struct step *s, const struct source *from)
{
	if (!from->whole)
		return OUTCOME_PARTIAL;
	if (renamed(o, in, s, from->distance))
		return OUTCOME_RENAMED;
	return s->bytes < o->shadow.bytes[(o->shadow.nr_stores - from->distance) & OUTCOME_FAR] ? OUTCOME_NARROW : OUTCOME_LOAD;
}

/* `base`: the brief's. */
static void load(struct outcomes *o, const struct insn *in, uint8_t base, const struct step *s, struct outcome_stream *out)
{
	struct source from = shadow_load(&o->shadow, s->addr, s->bytes);
	bool simple = o->loaded >> base & 1;
	enum outcome_kind kind = from.distance ? load_kind(o, in, s, &from) : OUTCOME_LOAD;

	if (o->aliases && !from.distance) {
		from = shadow_alias(&o->shadow, s->addr, s->bytes);
		kind = !from.distance ? OUTCOME_LOAD : from.whole ? OUTCOME_ALIAS : OUTCOME_ALIAS_PART;
	}
	outcome_access(&o->memory, outcome_access_word(kind, from.distance, simple), s->addr, s->bytes, in->pc, out);
}

static inline void store(struct outcomes *o, const struct insn *in, const struct step *s, struct outcome_stream *out)
{
	unsigned merges = 0;

	if (o->desc->store_queue_merge_bytes) {
		struct merging is = merge_store(&o->merge, o->desc, s->addr, s->bytes);
		merges = outcome_of_merging(&is);
	}
	outcome_access(&o->memory, outcome_access_word(OUTCOME_STORE, merges, false), s->addr, s->bytes, in->pc, out);
	if (o->desc->forward_renamed)
		mirror(o, in, s);
	shadow_store(&o->shadow, s->addr, s->bytes, o->aliases);
}

static __attribute__((noinline)) void accesses(struct outcomes *o, const struct insn *in, uint8_t base, const struct step *s, uint32_t nr_steps,
                                               struct outcome_stream *out)
{
	uint32_t i;

	if (in->flags & INSN_PREFETCH) {
		if (s->addr)
			outcome_access(&o->memory, OUTCOME_SOFT, s->addr, 1, in->pc, out);
		return;
	}
	for (i = 0; i < nr_steps; i++) {
		if (step_kind(&s[i]) == STEP_REPEAT) {
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

/* --- stack engine ------------------------------------------------------------------------------------ */

/* What the instruction does to the offset that rename keeps of the stack pointer: RECIPE_SYNC where that has to be added to it first. */
static __attribute__((noinline)) unsigned stack(struct outcomes *o, const struct insn *in)
{
	bool sets = in->stack == STACK_SETS, adds = !in->stack_data && !o->desc->rename_stack_addresses;

	if (in->stack == STACK_MOVES) {
		o->stack_offset += in->branch == BRANCH_RETURN || !(in->flags & INSN_STORE) ? -1 : 1;
		o->recipes->stack_pointer = in->addr[0];
		return 0;
	}
	if (!o->stack_offset)
		return 0;
	for (unsigned i = 0; adds && i < in->nr_dst; i++)
		sets |= in->dst[i] == o->recipes->stack_pointer;
	if (sets || !adds)
		o->stack_offset = 0;
	return in->stack == STACK_READS && !adds ? RECIPE_SYNC : 0;
}

/* --- branches ---------------------------------------------------------------------------------------- */

/* What the instruction makes a pair with, NULL: nothing. */
static const struct insn *pair(const struct outcomes *o, const struct insn *in, const struct step *s, const struct step *next, size_t ahead)
{
	const struct insn *second = in->flags & INSN_FUSES_NEXT ? pair_behind(o->code, in, s, next, ahead) : NULL;

	if (!second || pair_fuses(o->desc, in, second) || pair_joins(o->desc, o->code, in, s, next, ahead))
		return second;
	return NULL;
}

static unsigned resolve(struct outcomes *o, const struct insn *in, const struct step *s, const struct step *next, size_t ahead)
{
	bool known = ahead && step_kind(next) == STEP_INSN && !(next->flags & STEP_ENTER), taken = s->flags & STEP_TAKEN;
	uint64_t to = known ? code_insn(o->code, next->insn)->pc : taken && in->target ? in->target : in->pc + in->length;
	unsigned flags = taken ? OUTCOME_TAKEN : 0;
	struct prediction p;

	branch_resolve(o->branch, in, taken, to, &p);
	if (p.mispredicted && (known || in->target))
		flags |= OUTCOME_MISPREDICT;
	else if (p.redirect)
		flags |= OUTCOME_REDIRECT;
	else if (taken && p.btb == BTB_SECOND)
		flags |= OUTCOME_BTB2;
	return flags;
}

/* --- one instruction --------------------------------------------------------------------------------- */

/*
 * Its head and words, of the records from `s` to `next`. Most are a single one, which is constant: those have a way of their
 * own, in which nothing is looked for in records that there are not.
 */
static inline __attribute__((always_inline)) void one(struct outcomes *o, const struct step *s, const struct step *next, size_t ahead,
                                                      const bool single, struct outcome_stream *out)
{
	const struct insn *in = code_insn(o->code, s->insn);
	size_t head = out->nr;
	unsigned kind = RECIPE_PLAIN, flags = s->flags & STEP_COUNTED ? OUTCOME_COUNTED : 0;
	uint16_t branch_ports = 0;

	outcome_push(out, 0);
	if (__builtin_expect(s->flags & STEP_ENTER, 0)) {
		flags |= OUTCOME_ENTER;
		breaks(o);
	}
	if (o->fused)
		kind = RECIPE_SECOND;
	else
		flags |= deliver(o, in, out);
	o->fused = false;
	const struct insn *second = pair(o, in, s, next, ahead);
	if (second) {
		branch_ports = second->branch && second->nr_uops ? o->code->uops[second->uop].ports : 0;
		if (next->flags & STEP_TAKEN && branch_ports & o->desc->branch_taken_ports)
			branch_ports &= (uint16_t)o->desc->branch_taken_ports;
		kind |= next->flags & STEP_TAKEN ? RECIPE_FIRST | RECIPE_TAKEN : RECIPE_FIRST;
		o->fused = true;
	}
	if (in->branch && !(s->flags & STEP_FAULT)) {
		flags |= resolve(o, in, s, next, ahead);
		if (flags & OUTCOME_TAKEN)
			kind |= RECIPE_TAKEN;
	}
	if (__builtin_expect(in->stack && o->desc->rename_stack_ports, 0))
		kind |= stack(o, in);
	if (flags & (OUTCOME_TAKEN | OUTCOME_MISPREDICT) || in->flags & (INSN_SYSCALL | INSN_FLUSH)) {
		breaks(o);
		build_end(o);
	}
	uint32_t recipe = brief_recipe(&o->briefs, s->insn, kind, branch_ports);
	const struct brief *b = &o->briefs.of[s->insn];
	if (!single || __builtin_expect(in->flags & INSN_PREFETCH, 0)) {
		accesses(o, in, b->base, s, (uint32_t)(next - s), out);
	} else {
		if (s->flags & STEP_LOAD && s->bytes)
			load(o, in, b->base, s, out);
		if (s->flags & STEP_STORE && s->bytes)
			store(o, in, s, out);
	}
	if (__builtin_expect(s->flags & STEP_FAULT, 0)) {
		flags |= OUTCOME_FAULT;
		breaks(o);
		o->fused = false;
	}
	if (o->registers)
		written(o, in, b);
	out->word[head] = outcome_head(recipe, flags, out->nr - head - 1);
}

/*
 * One whose brief is plain, in no pair, single and without a fault: as one() does it, what is left to find out is how its code comes into the
 * core, and what its accesses meet.
 */
static inline void plain(struct outcomes *o, const struct insn *in, const struct brief *b, const struct step *s, struct outcome_stream *out)
{
	unsigned flags = s->flags & STEP_COUNTED ? OUTCOME_COUNTED : 0;
	size_t head = out->nr;

	outcome_push(out, 0);
	flags |= deliver(o, in, out);
	if (s->bytes) {
		if (s->flags & STEP_LOAD)
			load(o, in, b->base, s, out);
		if (s->flags & STEP_STORE)
			store(o, in, s, out);
	}
	if (o->registers)
		written(o, in, b);
	out->word[head] = outcome_head(b->recipe[0] - 1, flags, out->nr - head - 1);
}

static inline bool belongs_to_the_one_before(const struct step *s)
{
	return step_kind(s) == STEP_ACCESS || step_kind(s) == STEP_REPEAT;
}

size_t outcomes_batch(struct outcomes *o, const struct step *s, size_t n, size_t ahead, struct outcome_stream *out)
{
	const struct step *last = s + n, *all = last + ahead;
	size_t skip = o->skip < n ? o->skip : n, done = 0;

	o->skip -= skip;
	s += skip;
	briefs_begin(&o->briefs);
	while (s < last) {
		if (__builtin_expect(step_kind(s) != STEP_INSN, 0)) {
			if (step_kind(s) == STEP_UNMAP)
				outcome_unmap(&o->memory, s->addr, s->insn);
			s++;
			continue;
		}
		const struct step *end = s + 1;
		if (__builtin_expect(end == all || !belongs_to_the_one_before(end), 1)) {
			const struct insn *in = code_insn(o->code, s->insn);
			const struct brief *b = &o->briefs.of[s->insn];
			if (b->plain && !(s->flags & (STEP_ENTER | STEP_FAULT)) && !(in->flags & INSN_FUSES_NEXT) && !o->fused)
				plain(o, in, b, s, out);
			else
				one(o, s, end, (size_t)(all - end), true, out);
		} else {
			while (end < all && belongs_to_the_one_before(end))
				end++;
			one(o, s, end, (size_t)(all - end), false, out);
		}
		done++;
		s = end;
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
	if (o->uops_on)
		cache_fini(&o->uops);
	briefs_fini(&o->briefs);
	free(o);
}

static int power_of_two(const struct core_desc *d, const char *name, int32_t value)
{
	if (!(value & (value - 1)))
		return 0;
	error_set(EINVAL, d->name, "%s is %d, which is no power of two", name, value);
	error_remedy("choose 16, 32 or another power of two");
	return -EINVAL;
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
	o->briefs = (struct briefs){ .recipes = recipes };
	o->aliases = d->alias4k_penalty || d->alias4k_again || d->load_queue_restart;
	o->simple = d->l1d_simple_latency != d->l1d_latency;
	o->registers = d->forward_renamed || o->simple;
	o->copies = d->rename_move_slots;
	o->broken = true;
	o->building = o->line = UINT64_MAX;
	o->inside = NO_WINDOW;
	err = power_of_two(d, "fetch.bytes", d->fetch_bytes);
	if (!err && d->uopcache_sets)
		err = power_of_two(d, "uopcache.window", d->uopcache_window);
	if (!err)
		err = outcome_memory_init(&o->memory, d);
	if (!err)
		err = branch_new(&o->branch, d);
	if (!err && d->uopcache_sets) {
		err = cache_init(&o->uops, (uint32_t)d->uopcache_sets, (uint32_t)d->uopcache_ways, REPLACE_LRU);
		o->uops_on = !err;
	}
	if (err) {
		if (err == -ENOMEM)
			error_errno(ENOMEM, "abstract core");
		outcomes_free(o);
		return err;
	}
	o->fetch_shift = (unsigned)__builtin_ctz((unsigned)d->fetch_bytes);
	o->window_shift = (unsigned)__builtin_ctz((unsigned)d->uopcache_window);
	lines_init(&o->lines, d);
	*out = o;
	return 0;
}
