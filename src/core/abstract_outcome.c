#include "core/abstract_outcome.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/abstract_memory.h"
#include "core/branch.h"
#include "core/cache.h"
#include "core/lines.h"
#include "core/mirror.h"
#include "core/pair.h"

/*
 * Which store wrote an 8-byte granule of memory last, byte by byte, as far as the last SHADOW_NODES granules go: more than
 * the stores that a reorder buffer holds have written, and older ones constrain nobody. A bucket holds the youngest of its
 * chain; a node that the ring has passed by ends it.
 */
enum { SHADOW_NODES = 1 << 12, SHADOW_BUCKETS = 1 << 12, SHADOW_PLACES = 4096 / 8, GRANULE = 8, WHOLE_STORE = 4096 };

struct shadow_node {
	uint64_t granule : 56, bytes : 8; /* bytes: written, a bit each */
	uint32_t next, store;          /* lower bits of the number of the next older node + 1, and of its store */
};

/* The youngest store to a granule of any page that has this place in it. */
struct shadow_place {
	uint64_t granule;              /* 0: none */
	uint32_t store;
};

struct shadow {
	struct shadow_node node[SHADOW_NODES];
	uint32_t bucket[SHADOW_BUCKETS]; /* the same of the youngest node; 0: none */
	uint32_t nr_nodes, nr_stores;
	uint16_t bytes[OUTCOME_FAR + 1]; /* [lower bits of its number]: of the store, or as many as fit */
	struct shadow_place place[SHADOW_PLACES]; /* where aliases are looked for */
};

#define SHADOW_GRANULE (UINT64_MAX >> 8)
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
	struct outcome_memory memory;
	struct branch_unit *branch;
	struct shadow shadow;
	struct mirror_place mirror[MIRRORS]; /* [number of the store % MIRRORS] */
	uint64_t base_by[NR_REGS];     /* instruction that wrote the register last, pushes and pops of the stack pointer apart */
	uint64_t nr_insns;
	uint64_t loaded;               /* general registers that come straight from a load: a bit set; 0 where it makes no difference */
	bool registers;                /* either of these is wanted */
	bool aliases;                  /* 4 KiB aliases cost something */

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
	uint64_t inside;               /* the window that one_short() goes on in, NO_WINDOW: it does not */
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

static bool uop_lookup(struct outcomes *o, uint64_t window)
{
	bool all = cache_access(&o->uops, uop_tag(window, 0)) >= 0;

	for (unsigned way = 1; all && way < (unsigned)o->desc->uopcache_max_ways; way++) {
		/* What follows the last way of a window is empty: ways are entered together, and a victim is any of them. */
		int64_t at = cache_find(&o->uops, uop_tag(window, way - 1));
		if (!o->uops.lines[at].dirty)
			break;
		all = cache_access(&o->uops, uop_tag(window, way)) >= 0;
	}
	return all;
}

/* The decoders have left the window they were building. A line is marked dirty where a further way belongs to the window. */
static void build_end(struct outcomes *o)
{
	unsigned each = (unsigned)o->desc->uopcache_line_uops, ways = (o->build_uops + each - 1) / each;

	if (o->building != UINT64_MAX && o->build_ok && ways && ways <= (unsigned)o->desc->uopcache_max_ways) {
		for (unsigned way = 0; way < ways; way++) {
			struct cache_victim victim;
			int64_t at = cache_access(&o->uops, uop_tag(o->building, way));
			uint64_t line = at >= 0 ? (uint64_t)at : cache_insert(&o->uops, uop_tag(o->building, way), &victim);
			o->uops.lines[line].dirty = way + 1 < ways;
		}
	}
	o->building = UINT64_MAX;
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
		cycles += lines_take(l);
	uint32_t n = cycles * l->most + l->used - before;
	return OUTCOME_READ * (n < OUTCOME_READS ? n : OUTCOME_READS);
}

static inline bool same_page(const struct outcomes *o, uint64_t window)
{
	return (window ^ o->window) >> (LINES_PAGE - o->window_shift) == 0;
}

/* How the instruction comes into the core: flags of the head. Code lines go to `out`. */
static unsigned deliver(struct outcomes *o, const struct insn *in, struct outcome_stream *out)
{
	uint64_t last = in->pc + in->length - 1u;
	unsigned flags = 0;
	enum entry entry = ENTRY_NONE;

	if (o->uops_on) {
		uint64_t window = in->pc >> o->window_shift;
		if (o->broken || window != o->window) {
			bool building = window == o->building && !o->broken;
			entry = o->cached && !o->broken && same_page(o, window) ? ENTRY_STRAIGHT : ENTRY_ANEW;
			o->cached = !building && uop_lookup(o, window);
			if (o->cached)
				build_end(o);
			o->window = window;
			flags |= OUTCOME_BLOCK;
		}
		if (!o->cached)
			build_add(o, in, window);
	} else if (o->broken || last >> o->fetch_shift != o->window) {
		o->window = last >> o->fetch_shift;
		flags |= OUTCOME_BLOCK;
	}
	o->broken = false;
	if (o->cached)
		return o->lines.most ? flags | reads(&o->lines, o->desc, in, entry) : flags;
	if (in->pc >> o->memory.line_shift != o->line)
		outcome_fetch(&o->memory, in->pc, out);
	if (last >> o->memory.line_shift != in->pc >> o->memory.line_shift)
		outcome_fetch(&o->memory, last, out);
	o->line = last >> o->memory.line_shift;
	return flags | OUTCOME_DECODED;
}

/* --- memory ------------------------------------------------------------------------------------------ */

static inline unsigned bytes_of(uint64_t granule, uint64_t addr, uint64_t end)
{
	uint64_t from = granule * GRANULE < addr ? addr - granule * GRANULE : 0;
	uint64_t to = (granule + 1) * GRANULE > end ? end - granule * GRANULE : GRANULE;
	return (0xffu >> (GRANULE - (to - from))) << from & 0xffu;
}

static void shadow_store(struct shadow *s, uint64_t addr, uint64_t bytes, bool aliases)
{
	uint32_t store = s->nr_stores++;

	s->bytes[store & OUTCOME_FAR] = (uint16_t)(bytes < UINT16_MAX ? bytes : UINT16_MAX);
	/* Of a huge one (rep stos) the beginning: who reads the rest comes long after it. */
	if (bytes > WHOLE_STORE)
		bytes = WHOLE_STORE;
	for (uint64_t g = addr / GRANULE; bytes && g <= (addr + bytes - 1) / GRANULE; g++) {
		uint32_t *bucket = &s->bucket[g % SHADOW_BUCKETS];
		s->node[s->nr_nodes % SHADOW_NODES] = (struct shadow_node){
			.granule = g & SHADOW_GRANULE, .next = *bucket, .store = store, .bytes = (uint8_t)bytes_of(g, addr, addr + bytes),
		};
		*bucket = ++s->nr_nodes;
		if (aliases)
			s->place[g % SHADOW_PLACES] = (struct shadow_place){ g, store };
	}
}

struct source { unsigned distance; bool whole; };

/* How many stores back the youngest is that wrote any byte of [addr, addr + bytes), 0: none; and whether it wrote them all. */
static inline struct source shadow_load(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	struct source from = { .whole = true };
	uint64_t first = addr / GRANULE;

	for (uint64_t g = first; g <= (addr + bytes - 1) / GRANULE; g++) {
		unsigned want = bytes_of(g, addr, addr + bytes), back = 0;
		bool all = false;
		for (uint32_t at = s->bucket[g % SHADOW_BUCKETS]; at && s->nr_nodes - at < SHADOW_NODES; ) {
			const struct shadow_node *node = &s->node[(at - 1) % SHADOW_NODES];
			if (s->nr_stores - node->store > OUTCOME_FAR)
				break;
			if (node->granule == (g & SHADOW_GRANULE) && node->bytes & want) {
				back = s->nr_stores - node->store;
				all = (node->bytes & want) == want;
				break;
			}
			at = node->next;
		}
		from.whole &= all && (g == first || back == from.distance);
		if (back && (!from.distance || back < from.distance))
			from.distance = back;
	}
	return from;
}

/* How many stores back the youngest is at the same place of another page, by granules; 0: none that is near. */
static unsigned shadow_alias(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	unsigned nearest = 0;

	for (uint64_t g = addr / GRANULE; g <= (addr + bytes - 1) / GRANULE; g++) {
		const struct shadow_place *p = &s->place[g % SHADOW_PLACES];
		uint32_t back = s->nr_stores - p->store;
		if (p->granule && p->granule != g && back <= OUTCOME_FAR && (!nearest || back < nearest))
			nearest = back;
	}
	return nearest;
}

/* Whether rename finds the store that the load reads from, `distance` back: the same base and index, last written by the same instructions. */
static bool renamed(const struct outcomes *o, const struct insn *in, const struct step *s, unsigned distance)
{
	if (!distance || distance > (unsigned)o->desc->forward_renamed || !mirror_takes(in, in->dst, in->nr_dst, s->bytes))
		return false;
	const struct mirror_place *m = &o->mirror[(o->shadow.nr_stores - distance) % MIRRORS];
	return m->base == in->addr[0] && m->by == o->base_by[m->base] && m->index == mirror_index(in) && m->index_by == o->base_by[m->index] &&
		m->addr == s->addr && m->bytes == s->bytes;
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

/* Whether what the instruction writes comes straight from a load. */
static bool comes_from_load(const struct outcomes *o, const struct insn *in)
{
	if (in->flags & INSN_MOVE && o->desc->rename_move_slots && in->nr_data && !(in->flags & (INSN_LOAD | INSN_STORE)))
		return in->data[0] < REG_VECTOR && o->loaded >> in->data[0] & 1;
	return in->flags & INSN_LOAD && !in->nr_compute && !in->latency;
}

/* The instruction has written its registers. */
static inline void written(struct outcomes *o, const struct insn *in)
{
	if (o->desc->forward_renamed)
		mirror_written(o, in);
	if (o->desc->l1d_simple_latency == o->desc->l1d_latency)
		return;
	bool from_load = comes_from_load(o, in);
	for (unsigned i = 0; i < in->nr_dst; i++) {
		uint64_t bit = in->dst[i] < REG_VECTOR ? UINT64_C(1) << in->dst[i] : 0;
		o->loaded = from_load && !(in->dst_latency[i] & DST_WRITEBACK) ? o->loaded | bit : o->loaded & ~bit;
	}
}

static enum outcome_kind load_kind(const struct outcomes *o, const struct insn *in, const struct step *s, const struct source *from)
{
	if (!from->distance)
		return OUTCOME_LOAD;
	if (!from->whole)
		return OUTCOME_PARTIAL;
	if (renamed(o, in, s, from->distance))
		return OUTCOME_RENAMED;
	return s->bytes < o->shadow.bytes[(o->shadow.nr_stores - from->distance) & OUTCOME_FAR] ? OUTCOME_NARROW : OUTCOME_LOAD;
}

static void load(struct outcomes *o, const struct insn *in, const struct step *s, struct outcome_stream *out)
{
	struct source from = shadow_load(&o->shadow, s->addr, s->bytes);
	struct outcome_word what = {
		.kind = (uint8_t)load_kind(o, in, s, &from), .distance = (uint16_t)from.distance,
		.simple = in->flags & INSN_SIMPLE_ADDR && in->nr_addr && in->addr[0] < REG_VECTOR && o->loaded >> in->addr[0] & 1,
	};

	if (o->aliases && !from.distance) {
		what.distance = (uint16_t)shadow_alias(&o->shadow, s->addr, s->bytes);
		what.kind = what.distance ? OUTCOME_ALIAS : OUTCOME_LOAD;
	}
	outcome_access(&o->memory, &what, s->addr, s->bytes, in->pc, out);
}

static inline void store(struct outcomes *o, const struct insn *in, const struct step *s, struct outcome_stream *out)
{
	outcome_access(&o->memory, &(struct outcome_word){ .kind = OUTCOME_STORE }, s->addr, s->bytes, in->pc, out);
	if (o->desc->forward_renamed)
		mirror(o, in, s);
	shadow_store(&o->shadow, s->addr, s->bytes, o->aliases);
}

static void accesses(struct outcomes *o, const struct insn *in, const struct step *s, uint32_t nr_steps, struct outcome_stream *out)
{
	uint32_t i;

	if (in->flags & INSN_PREFETCH) {
		if (s->addr)
			outcome_access(&o->memory, &(struct outcome_word){ .kind = OUTCOME_SOFT }, s->addr, 1, in->pc, out);
		return;
	}
	for (i = 0; i < nr_steps; i++) {
		if (step_kind(&s[i]) == STEP_REPEAT) {
			outcome_push(out, OUTCOME_REPEAT | s[i].addr << 16);
			continue;
		}
		if (s[i].flags & STEP_LOAD && s[i].bytes) {
			if (i < PASSED)
				load(o, in, &s[i], out);
			else
				outcome_access(&o->memory, &(struct outcome_word){ .kind = OUTCOME_LOAD }, s[i].addr, s[i].bytes, in->pc, out);
		}
	}
	for (i = 0; i < nr_steps; i++) {
		if (s[i].flags & STEP_STORE && s[i].bytes)
			store(o, in, &s[i], out);
	}
}

/* --- branches ---------------------------------------------------------------------------------------- */

/* The branch that the instruction makes a pair with, NULL: none. */
static const struct insn *pair(const struct outcomes *o, const struct insn *in, const struct step *s, const struct step *next, size_t ahead)
{
	if (!(in->flags & INSN_FUSES_NEXT) || !ahead || step_kind(next) != STEP_INSN || next->flags & STEP_ENTER ||
	    s->flags & STEP_FAULT)
		return NULL;
	const struct insn *branch = code_insn(o->code, next->insn);
	return pair_fuses(o->desc, in, branch) ? branch : NULL;
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

static void one(struct outcomes *o, const struct step *s, uint32_t nr_steps, size_t ahead, struct outcome_stream *out)
{
	const struct insn *in = code_insn(o->code, s->insn);
	const struct step *next = s + nr_steps;
	size_t head = out->nr;
	unsigned kind = o->fused ? RECIPE_SECOND : RECIPE_PLAIN, flags = 0;
	uint16_t branch_ports = 0;

	outcome_push(out, 0);
	if (s->flags & STEP_ENTER)
		o->broken = true;
	if (!o->fused)
		flags = deliver(o, in, out);
	if (out->nr > head + 1) {
		flags |= OUTCOME_LINES;
		outcome_push(out, OUTCOME_ACCESSES);
	}
	o->fused = false;
	const struct insn *branch = pair(o, in, s, next, ahead);
	if (branch) {
		branch_ports = branch->nr_uops ? o->code->uops[branch->uop].ports : 0;
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
	if (flags & (OUTCOME_TAKEN | OUTCOME_MISPREDICT) || in->flags & (INSN_SYSCALL | INSN_FLUSH)) {
		o->broken = true;
		build_end(o);
	}
	if (nr_steps > 1 || s->flags & (STEP_LOAD | STEP_STORE) || in->flags & INSN_PREFETCH)
		accesses(o, in, s, nr_steps, out);
	if (o->registers)
		written(o, in);
	if (s->flags & STEP_COUNTED)
		flags |= OUTCOME_COUNTED;
	if (s->flags & STEP_ENTER)
		flags |= OUTCOME_ENTER;
	if (s->flags & STEP_FAULT) {
		flags |= OUTCOME_FAULT;
		o->broken = true;
		o->fused = false;
	}
	o->inside = o->cached && !o->broken && !o->fused ? o->window : NO_WINDOW;
	out->word[head] = outcome_head(recipe_of(o->recipes, s->insn, kind, branch_ports), flags, out->nr - head - 1);
}

/* What an instruction never has that goes by the short way. */
#define NOT_SHORT ((uint32_t)INSN_BRANCH | INSN_FUSES_NEXT | INSN_PREFETCH | INSN_SYSCALL | INSN_FLUSH)

/* The short way of most: one step, from the window of the uop cache that the one before came from, no branch. False: not one of them. */
static inline bool one_short(struct outcomes *o, const struct step *s, struct outcome_stream *out)
{
	const struct insn *in = code_insn(o->code, s->insn);
	size_t head = out->nr;

	if (in->pc >> o->window_shift != o->inside || in->flags & NOT_SHORT || s->flags & (STEP_ENTER | STEP_FAULT))
		return false;
	unsigned flags = s->flags & STEP_COUNTED ? OUTCOME_COUNTED : 0;
	if (o->lines.most)
		flags |= reads(&o->lines, o->desc, in, ENTRY_NONE);
	outcome_push(out, 0);
	if (s->flags & STEP_LOAD && s->bytes)
		load(o, in, s, out);
	if (s->flags & STEP_STORE && s->bytes)
		store(o, in, s, out);
	if (o->registers)
		written(o, in);
	out->word[head] = outcome_head(recipe_of(o->recipes, s->insn, RECIPE_PLAIN, 0), flags, out->nr - head - 1);
	return true;
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
	while (s < last) {
		if (__builtin_expect(step_kind(s) != STEP_INSN, 0)) {
			if (step_kind(s) == STEP_UNMAP)
				outcome_unmap(&o->memory, s->addr, s->insn);
			s++;
			continue;
		}
		const struct step *end = s + 1;
		if (end == all || belongs_to_the_one_before(end) || !one_short(o, s, out)) {
			while (end < all && belongs_to_the_one_before(end))
				end++;
			one(o, s, (uint32_t)(end - s), (size_t)(all - end), out);
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
	o->aliases = d->alias4k_penalty || d->load_queue_restart;
	o->registers = d->forward_renamed || d->l1d_simple_latency != d->l1d_latency;
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
