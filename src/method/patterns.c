#include "method/patterns.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/feed.h"
#include "method/tally.h"
#include "profile/profile.h"

enum {
	STORES = 1024, LINE_SHIFT = 6, PAGE_SHIFT = 12, WORD_SHIFT = 3,
	NODES = 1 << 14,               /* loads remembered */
	RECENT = 512,                  /* loads back: what is older was there long before it was needed */
	FURTHEST = 32,                 /* loads that a chain is followed back */
	CHECKED = 16, CHECK_EVERY = 8, /* chains followed: the first of an instruction's executions, then every n-th */
};

/* Rows by static instruction: an index into a pool that grows with the code that was executed. */
struct pool {
	uint32_t *row_of;              /* [TALLY_INSNS]: row + 1; 0: none */
	char *row;                     /* [room] of `size` bytes */
	size_t size;
	uint32_t nr, room;
};

struct patterns {
	const struct code *code;
	struct pool accesses, branches;
};

/*
 * Loads of a thread are numbered from 1. A register or a stored word holds the number of the load that its value came
 * from; 0: none.
 */
struct node {
	uint64_t parent;               /* that gave the address; 0: none */
	uint32_t insn;
};

struct patterns_lane {
	struct node node[NODES];       /* of the last ones, by number */
	uint64_t loads;                /* number of the last */
	uint64_t reg[NR_REGS];
	/* the last store to each word, by its hash */
	struct { uint64_t word; uint32_t store; uint64_t held; } stored[STORES];
	uint32_t branch;               /* the instruction before, where it was a counted branch; CODE_NONE: it was
	                                * none */
	bool taken;
};

/* --- sketches ---------------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdu;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53u;
	return x ^ x >> 33;
}

void sketch_add(struct sketch *s, uint64_t value)
{
	uint64_t h = mixed(value + 1);
	uint8_t rank = (uint8_t)(__builtin_clzll(h >> 7 | 1) - 7 + 1), *cell = &s->rank[h % SKETCH_CELLS];

	*cell = rank > *cell ? rank : *cell;
}

uint64_t sketch_count(const struct sketch *s)
{
	double sum = 0, estimate;
	unsigned empty = 0;

	for (unsigned i = 0; i < SKETCH_CELLS; i++) {
		sum += ldexp(1, -s->rank[i]);
		empty += !s->rank[i];
	}
	estimate = 0.7213 / (1 + 1.079 / SKETCH_CELLS) * SKETCH_CELLS * SKETCH_CELLS / sum;
	if (empty && estimate < 2.5 * SKETCH_CELLS)
		estimate = SKETCH_CELLS * log((double)SKETCH_CELLS / empty);
	return (uint64_t)llround(estimate);
}

/* --- rows -------------------------------------------------------------------------------------------- */

static void *pool_find(const struct pool *p, uint32_t insn)
{
	uint32_t row = insn < TALLY_INSNS ? p->row_of[insn] : 0;
	return row ? p->row + (size_t)(row - 1) * p->size : NULL;
}

/* Zeroed where it is new; NULL for instructions beyond those that are told apart. */
static void *pool_row(struct pool *p, uint32_t insn)
{
	void *row = pool_find(p, insn);

	if (row || insn >= TALLY_INSNS)
		return row;
	if (p->nr == p->room) {
		p->room = p->room ? 2 * p->room : 256;
		p->row = g_realloc_n(p->row, p->room, p->size);
	}
	p->row_of[insn] = ++p->nr;
	row = pool_find(p, insn);
	memset(row, 0, p->size);
	return row;
}

static void add_stride(struct access_pattern *a, int64_t bytes)
{
	unsigned least = 0;

	for (unsigned i = 0; i < STRIDES; i++) {
		if (a->stride[i].count && a->stride[i].bytes == bytes) {
			a->stride[i].count++;
			return;
		}
		if (a->stride[i].count < a->stride[least].count)
			least = i;
	}
	a->stride[least] = (struct stride){ bytes, a->stride[least].count + 1, a->stride[least].count };
}

int64_t access_stride(const struct access_pattern *a, uint64_t *count)
{
	unsigned best = 0;

	for (unsigned i = 1; i < STRIDES; i++)
		if (a->stride[i].count - a->stride[i].over > a->stride[best].count - a->stride[best].over)
			best = i;
	*count = a->stride[best].count - a->stride[best].over;
	return a->stride[best].bytes;
}

static void add_access(struct access_pattern *a, uint64_t addr)
{
	if (a->accesses++) {
		add_stride(a, (int64_t)(addr - a->last));
		a->line_changes += addr >> LINE_SHIFT != a->last >> LINE_SHIFT;
		a->page_changes += addr >> PAGE_SHIFT != a->last >> PAGE_SHIFT;
	} else {
		a->feeder = a->partner = CODE_NONE;
	}
	a->last = addr;
	sketch_add(&a->lines, addr >> LINE_SHIFT);
	sketch_add(&a->pages, addr >> PAGE_SHIFT);
}

/* --- where addresses come from ----------------------------------------------------------------------- */

/* The youngest of what the registers hold, if it is recent. */
static uint64_t youngest(const struct patterns_lane *l, const uint8_t *regs, unsigned nr)
{
	uint64_t load = 0;

	for (unsigned i = 0; i < nr; i++)
		load = l->reg[regs[i]] > load ? l->reg[regs[i]] : load;
	return load + RECENT > l->loads ? load : 0;
}

/* Whether `insn` is among the loads that led to the load `from`, each recent when the next was made. */
static bool led_to(const struct patterns_lane *l, uint64_t from, uint32_t insn)
{
	for (unsigned i = 0; i < FURTHEST && from && from + NODES > l->loads; i++) {
		if (l->node[from % NODES].insn == insn)
			return true;
		from = l->node[from % NODES].parent;
	}
	return false;
}

static uint64_t slot_of(uint64_t word)
{
	return mixed(word) % STORES;
}

static void counted_access(struct patterns *p, const struct patterns_lane *l, const struct timed *t, uint64_t from)
{
	struct access_pattern *a = pool_row(&p->accesses, t->insn);
	uint64_t word = t->addr >> WORD_SHIFT, slot = slot_of(word);

	if (!a)
		return;
	add_access(a, t->addr);
	if (from) {
		a->feeder = l->node[from % NODES].insn;
		if (a->indirect++ < CHECKED || a->indirect % CHECK_EVERY == 0) {
			a->checked++;
			a->chased += led_to(l, from, t->insn);
		}
	}
	if (t->psv & PSV_FL_MO && l->stored[slot].word == word)
		a->partner = l->stored[slot].store;
}

/* What it leaves in its registers and, of a store, in memory. */
static void pass_on(struct patterns_lane *l, const struct insn *in, const struct timed *t, uint64_t from)
{
	uint64_t value = youngest(l, in->data, in->nr_data), word = t->addr >> WORD_SHIFT, slot = slot_of(word);

	if (t->flags & TIMED_LOAD && t->addr) {
		if (timed_data_level(t) == LEVEL_FORWARD && l->stored[slot].word == word) {
			value = l->stored[slot].held > value ? l->stored[slot].held : value;
		} else {
			value = ++l->loads;
			l->node[value % NODES] = (struct node){ from, t->insn };
		}
	}
	if (in->flags & (INSN_ZERO | INSN_LEAF_RESULT))
		value = 0;
	if (t->flags & TIMED_STORE && t->addr) {
		l->stored[slot].word = word;
		l->stored[slot].store = t->insn;
		l->stored[slot].held = value;
	}
	for (unsigned i = 0; i < in->nr_dst; i++)
		l->reg[in->dst[i]] = in->dst_latency[i] & DST_WRITEBACK ? from : value;
}

/* --- branches ---------------------------------------------------------------------------------------- */

static void counted_branch(struct patterns *p, struct patterns_lane *l, const struct timed *t)
{
	struct branch_pattern *b = pool_row(&p->branches, t->insn);
	bool taken = t->flags & TIMED_TAKEN;

	if (!b)
		return;
	if (!b->executions++)
		b->back_to = CODE_NONE;
	else
		b->flips += b->last != taken;
	b->last = taken;
	b->taken += taken;
	b->mispredicted += !!(t->psv & PSV_FL_MB);
	l->branch = t->insn;
	l->taken = taken;
}

/* The instruction behind a branch says where it went. */
static void arrive(struct patterns *p, struct patterns_lane *l, uint32_t insn)
{
	struct branch_pattern *b = pool_find(&p->branches, l->branch);

	if (l->taken && b) {
		sketch_add(&b->targets, insn);
		if (code_insn(p->code, insn)->pc <= code_insn(p->code, l->branch)->pc) {
			b->back++;
			b->back_to = insn;
		}
	}
	l->branch = CODE_NONE;
}

/* --- the stream -------------------------------------------------------------------------------------- */

static void pool_init(struct pool *p, size_t size)
{
	*p = (struct pool){ .row_of = tally_array_new(sizeof *p->row_of), .size = size };
}

static void pool_fini(struct pool *p)
{
	tally_array_free(p->row_of, sizeof *p->row_of);
	g_free(p->row);
}

struct patterns *patterns_new(const struct code *code)
{
	struct patterns *p = g_new0(struct patterns, 1);

	p->code = code;
	pool_init(&p->accesses, sizeof(struct access_pattern));
	pool_init(&p->branches, sizeof(struct branch_pattern));
	if (p->accesses.row_of && p->branches.row_of)
		return p;
	patterns_free(p);
	return NULL;
}

void patterns_free(struct patterns *p)
{
	if (!p)
		return;
	pool_fini(&p->accesses);
	pool_fini(&p->branches);
	g_free(p);
}

struct patterns_lane *patterns_lane_new(void)
{
	struct patterns_lane *l = g_new0(struct patterns_lane, 1);

	l->branch = CODE_NONE;
	return l;
}

void patterns_lane_free(struct patterns_lane *l)
{
	g_free(l);
}

void patterns_batch(struct patterns *p, struct patterns_lane *l, const struct timed *t, size_t n)
{
	for (const struct timed *end = t + n; t < end; t++) {
		const struct insn *in = code_insn(p->code, t->insn);
		bool counted = t->flags & TIMED_COUNTED;
		uint64_t from;

		if (!timed_commits(t))
			continue;
		if (l->branch != CODE_NONE)
			arrive(p, l, t->flags & TIMED_ENTER ? l->branch : t->insn);
		from = youngest(l, in->addr, in->nr_addr);
		if (counted && t->addr && t->flags & (TIMED_LOAD | TIMED_STORE))
			counted_access(p, l, t, from);
		if (counted && t->flags & TIMED_BRANCH && !(t->flags & TIMED_CONTINUED))
			counted_branch(p, l, t);
		pass_on(l, in, t, from);
	}
}

const struct access_pattern *patterns_access(const struct patterns *p, uint32_t insn)
{
	return pool_find(&p->accesses, insn);
}

const struct branch_pattern *patterns_branch(const struct patterns *p, uint32_t insn)
{
	return pool_find(&p->branches, insn);
}

/* --- the method -------------------------------------------------------------------------------------- */

struct state {
	const struct run *run;
	struct patterns *patterns;
	GPtrArray *lanes;              /* struct patterns_lane * */
};
struct lane { struct patterns_lane *lane; };

static int method_open(void *state, const struct run *run)
{
	struct state *s = state;

	s->run = run;
	s->lanes = g_ptr_array_new();
	s->patterns = patterns_new(run->code);
	return s->patterns ? 0 : -ENOMEM;
}

static int method_lane(void *state, void *lane, uint32_t thread)
{
	struct state *s = state;
	struct lane *l = lane;

	l->lane = patterns_lane_new();
	g_ptr_array_add(s->lanes, l->lane);
	return 0;
}

static void method_block(void *state, void *lane, const struct block *b)
{
	struct state *s = state;
	struct lane *l = lane;

	patterns_batch(s->patterns, l->lane, b->t, b->n);
}

struct saving { struct profile *out; uint32_t insn; int err; };

static void figure(struct saving *s, const char *name, double value)
{
	if (!s->err)
		s->err = profile_insn_figure(s->out, "patterns", s->insn, name, value);
}

static void share(struct saving *s, const char *name, uint64_t part, uint64_t whole)
{
	if (part)
		figure(s, name, (double)part / (double)whole);
}

static void save_access(struct saving *s, const struct insn *in, const struct access_pattern *a)
{
	uint64_t times;
	int64_t stride = access_stride(a, &times);

	figure(s, "accesses", (double)a->accesses);
	if (in->flags & INSN_LOAD)
		figure(s, "loads", 1);
	if (times) {
		figure(s, "stride", (double)stride);
		figure(s, "stride_share", (double)times / (double)(a->accesses - 1));
	}
	figure(s, "lines", (double)sketch_count(&a->lines));
	figure(s, "pages", (double)sketch_count(&a->pages));
	share(s, "line_changes", a->line_changes, a->accesses);
	share(s, "page_changes", a->page_changes, a->accesses);
	share(s, "indirect", a->indirect, a->accesses);
	share(s, "chased", a->chased, a->checked);
	if (a->feeder != CODE_NONE)
		figure(s, "feeder", a->feeder);
	if (a->partner != CODE_NONE)
		figure(s, "partner", a->partner);
}

static void save_branch(struct saving *s, const struct insn *in, const struct branch_pattern *b)
{
	figure(s, "branches", (double)b->executions);
	figure(s, "kind", in->branch);
	share(s, "taken", b->taken, b->executions);
	share(s, "flips", b->flips, b->executions);
	share(s, "mispredicted", b->mispredicted, b->executions);
	figure(s, "targets", (double)sketch_count(&b->targets));
	if (b->back) {
		figure(s, "back", (double)b->back);
		figure(s, "back_to", b->back_to);
	}
}

/* What it is, where that is what it costs: facts of the table of instructions that a profile has not. */
static void save_kind(struct saving *s, const struct run *run, const struct insn *in)
{
	if (in->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_FENCE | INSN_FLUSH))
		figure(s, "serialises", 1);
	if (in->flags & INSN_SYSCALL)
		figure(s, "system_call", 1);
	if (in->flags & INSN_LOCKED)
		figure(s, "locked", 1);
	for (unsigned i = 0; i < in->nr_uops; i++) {
		const struct uop *u = &run->code->uops[in->uop + i];
		char name[64];

		if (!u->unit)
			continue;
		g_snprintf(name, sizeof name, "unit.%s", run->desc->unit_names[u->unit - 1]);
		figure(s, name, 1);
		break;
	}
}

static int method_save(const void *state, struct profile *out)
{
	const struct run *run = ((const struct state *)state)->run;
	const struct patterns *p = ((const struct state *)state)->patterns;
	struct saving s = { .out = out };

	for (uint32_t i = 0; i < p->code->nr && i < TALLY_INSNS && !s.err; i++) {
		const struct access_pattern *a = patterns_access(p, i);
		const struct branch_pattern *b = patterns_branch(p, i);

		s.insn = i;
		save_kind(&s, run, code_insn(p->code, i));
		if (a)
			save_access(&s, code_insn(p->code, i), a);
		if (b)
			save_branch(&s, code_insn(p->code, i), b);
	}
	return s.err;
}

static void method_close(void *state)
{
	struct state *s = state;

	for (guint i = 0; i < s->lanes->len; i++)
		patterns_lane_free(s->lanes->pdata[i]);
	g_ptr_array_free(s->lanes, TRUE);
	patterns_free(s->patterns);
}

const struct method method_patterns = {
	.name = "patterns",
	.help = "strides, depths and footprints of accesses, directions of branches",
	.set = METHODS_ADVICE,
	.addresses = true,
	.state_size = sizeof(struct state),
	.lane_size = sizeof(struct lane),
	.open = method_open,
	.lane = method_lane,
	.block = method_block,
	.save = method_save,
	.close = method_close,
};
