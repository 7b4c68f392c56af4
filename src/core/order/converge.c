#include "core/order/converge.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/order/foresee.h"

enum {
	REACH = 128,                   /* instructions on either path that they must meet within */
	SURE = 2,                      /* times in a row that a stride was kept, for the next to be believed */
};

/* Sets of registers, a bit each: integer bank, vector bank. */
struct register_set {
	uint64_t bank[2];
};

/* What an instruction reads and writes. */
struct effect {
	struct register_set addr, data, dst; /* data: all it reads but the addresses */
};

/* The addresses that an instruction has had on the right path. */
struct habit {
	uint64_t last;
	int64_t stride;
	uint64_t turn;                 /* the wrong path in hand, where `times` is of that one */
	uint16_t times;                /* it was met on it */
	uint16_t bytes;
	uint8_t sure;                  /* times in a row the stride was kept; saturates at SURE */
};

/* Where a path passes an instruction first. */
struct passing {
	uint64_t turn;
	uint32_t wrong, right;         /* instructions from the branch on + 1; 0: it does not, so far */
};

struct converge {
	struct code *code;
	unsigned entries;              /* of the reorder buffer: what it cannot hold is not executed */
	struct effect *effect;         /* this and the next two by static instruction: [room], [nr] of them filled in */
	struct habit *habit;
	struct passing *passing;
	uint32_t nr, room;
	uint64_t turn;                 /* number of the wrong path in hand */
};

/* --- registers --------------------------------------------------------------------------------------- */

static void add_registers(struct register_set *r, const uint8_t *reg, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		r->bank[reg[i] / 64] |= UINT64_C(1) << reg[i] % 64;
}

static bool meet(const struct register_set *a, const struct register_set *b)
{
	return (a->bank[0] & b->bank[0]) | (a->bank[1] & b->bank[1]);
}

static void join(struct register_set *a, const struct register_set *b)
{
	a->bank[0] |= b->bank[0];
	a->bank[1] |= b->bank[1];
}

static void leave_out(struct register_set *a, const struct register_set *b)
{
	a->bank[0] &= ~b->bank[0];
	a->bank[1] &= ~b->bank[1];
}

/* --- tables ------------------------------------------------------------------------------------------ */

static void grow(struct converge *c)
{
	if (c->room < c->code->nr) {
		c->room = 2 * c->code->nr;
		c->effect = g_renew(struct effect, c->effect, c->room);
		c->habit = g_renew(struct habit, c->habit, c->room);
		c->passing = g_renew(struct passing, c->passing, c->room);
	}
	for (; c->nr < c->code->nr; c->nr++) {
		const struct insn *in = code_insn(c->code, c->nr);
		struct effect *e = &c->effect[c->nr];

		*e = (struct effect){ 0 };
		add_registers(&e->addr, in->addr, in->nr_addr);
		add_registers(&e->data, in->data, in->nr_data);
		add_registers(&e->dst, in->dst, in->nr_dst);
		if (in->flags & (INSN_ZERO | INSN_LEAF_RESULT))
			e->data = (struct register_set){ 0 };
		c->habit[c->nr] = (struct habit){ 0 };
		c->passing[c->nr] = (struct passing){ 0 };
	}
}

void converge_saw(struct converge *c, const struct step *s)
{
	if (s->insn >= c->nr)
		grow(c);
	struct habit *h = &c->habit[s->insn];
	int64_t stride = (int64_t)(s->addr - h->last);

	h->sure = stride != h->stride ? 0 : (uint8_t)(h->sure + (h->sure < SURE));
	h->stride = stride;
	h->last = s->addr;
	h->bytes = s->bytes;
}

/* --- paths ------------------------------------------------------------------------------------------- */

/* A wrong path, instruction by instruction. */
struct trail {
	const struct wrong_run *run, *end;
	uint32_t done;                 /* of the present run */
};

/* The next instruction, or CODE_NONE. */
static inline uint32_t trail_next(struct trail *t)
{
	if (t->run == t->end)
		return CODE_NONE;
	uint32_t index = t->run->first + t->done;

	if (++t->done == t->run->nr) {
		t->run++;
		t->done = 0;
	}
	return index;
}

/* The first instruction of the right path in [s, end), or `end` where an interruption or a gap comes first. */
static inline const struct step *right_insn(const struct step *s, const struct step *end)
{
	while (s < end && step_kind(s) != STEP_INSN && step_kind(s) != STEP_LOST)
		s++;
	return s < end && step_kind(s) == STEP_INSN && !(s->flags & STEP_ENTER) ? s : end;
}

static struct passing *passes(struct converge *c, uint32_t insn)
{
	struct passing *p = &c->passing[insn];

	if (p->turn != c->turn)
		*p = (struct passing){ .turn = c->turn };
	return p;
}

/* Where the paths meet: so many instructions behind the branch, on either. The nearest place counts. */
struct meeting {
	uint32_t wrong, right;
};

static bool find_meeting(struct converge *c, struct trail t, const struct step *right, const struct step *end,
                         struct meeting *m)
{
	for (uint32_t n = 0; n < REACH; n++) {
		uint32_t wrong = trail_next(&t);
		const struct passing *p, *q;

		right = right_insn(right, end);
		if (wrong == CODE_NONE && right == end)
			return false;
		p = q = &(const struct passing){ 0 };
		if (wrong != CODE_NONE) {
			struct passing *w = passes(c, wrong);
			w->wrong = w->wrong ? w->wrong : n + 1;
			p = w;
		}
		if (right != end) {
			struct passing *r = passes(c, right->insn);
			r->right = r->right ? r->right : n + 1;
			q = r;
			right++;
		}
		if (p->right && (!q->wrong || p->right <= q->wrong)) {
			*m = (struct meeting){ n, p->right - 1 };
			return true;
		}
		if (q->wrong) {
			*m = (struct meeting){ q->wrong - 1, n };
			return true;
		}
	}
	return false;
}

/* What the two paths did differently, and what follows from it. */
struct difference {
	struct register_set dirty;
	uint64_t stored;               /* a bit for each hash of 8 bytes that the right path alone has written */
};

static uint64_t hash_of(uint64_t addr)
{
	return UINT64_C(1) << ((addr >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* The right path's instructions up to the meeting; returns the one there. */
static const struct step *differ(struct converge *c, struct difference *d, const struct step *right,
                                 const struct step *end, uint32_t nr)
{
	for (;; right++) {
		right = right_insn(right, end);
		if (!nr--)
			return right;
		join(&d->dirty, &c->effect[right->insn].dst);
		for (const struct step *s = right; s == right || (s < end && step_kind(s) == STEP_ACCESS); s++) {
			if (s->flags & STEP_STORE && s->bytes)
				d->stored |= hash_of(s->addr) | hash_of(s->addr + s->bytes - 1u);
		}
	}
}

/* By habit; 0 bytes: unknown. */
static inline struct wrong_access guess(struct converge *c, uint32_t insn)
{
	struct habit *h = &c->habit[insn];

	if (h->turn != c->turn) {
		h->turn = c->turn;
		h->times = 0;
	}
	h->times++;
	if (h->sure < SURE)
		return (struct wrong_access){ 0 };
	return (struct wrong_access){ .addr = h->last + (uint64_t)h->stride * h->times, .bytes = h->bytes };
}

static inline bool accesses(const struct insn *in)
{
	return in->flags & (INSN_LOAD | INSN_STORE) && !(in->flags & (INSN_REP | INSN_PREFETCH));
}

/* Both paths execute `insn`, the right one as step `s`: the access, where the addresses are the same. */
static struct wrong_access follow(struct converge *c, struct difference *d, const struct insn *in, const struct step *s)
{
	const struct effect *e = &c->effect[s->insn];
	bool other = meet(&e->addr, &d->dirty), differs = other || meet(&e->data, &d->dirty);
	struct wrong_access a = { 0 };

	if (accesses(in)) {
		struct wrong_access g = guess(c, s->insn);

		a = other ? g : (struct wrong_access){ .addr = s->addr, .bytes = s->bytes };
		differs |=
			(in->flags & INSN_LOAD) && ((hash_of(s->addr) | hash_of(s->addr + s->bytes - 1u)) & d->stored);
	}
	if (differs)
		join(&d->dirty, &e->dst);
	else
		leave_out(&d->dirty, &e->dst);
	return a;
}

/* The accesses of one wrong path, as they are found. */
struct found {
	struct wrong_access *next;
	uint16_t at;                   /* instructions so far */
	unsigned slots;                /* of the reorder buffer, at least */
};

/*
 * Counts an instruction; false: the reorder buffer cannot hold it. It may be the second of a fused pair where it is a
 * branch.
 */
static inline bool count(const struct converge *c, struct found *f, const struct insn *in)
{
	f->at++;
	f->slots += in->branch == BRANCH_CONDITIONAL ? 0 : in->slots;
	return f->slots <= c->entries;
}

static inline void add(struct found *f, struct wrong_access a)
{
	a.at = f->at;
	*f->next = a;
	f->next += a.bytes != 0;
}

/* The wrong path alone, up to the meeting. */
static bool alone(struct converge *c, struct trail *t, struct found *f, uint32_t nr, struct register_set *dirty)
{
	for (; nr; nr--) {
		uint32_t insn = trail_next(t);
		const struct insn *in = code_insn(c->code, insn);

		join(dirty, &c->effect[insn].dst);
		if (accesses(in))
			add(f, guess(c, insn));
		if (!count(c, f, in))
			return false;
	}
	return true;
}

/* Both, as long as they do the same. */
static bool together(struct converge *c, struct trail *t, struct found *f, struct difference *d,
                     const struct step *right, const struct step *end)
{
	while (right != end && t->run != t->end && right->insn == t->run->first + t->done) {
		const struct insn *in = code_insn(c->code, trail_next(t));

		add(f, follow(c, d, in, right));
		if (!count(c, f, in))
			return false;
		right = right_insn(right + 1, end);
	}
	return true;
}

/* The rest of the wrong path: by habit alone. */
static void apart(struct converge *c, const struct trail *t, struct found *f)
{
	uint32_t done = t->done;

	for (const struct wrong_run *run = t->run; run < t->end; run++, done = 0) {
		const struct insn *in = code_insn(c->code, run->first);

		for (; done < run->nr; done++) {
			if (accesses(in + done))
				add(f, guess(c, run->first + done));
			if (!count(c, f, in + done))
				return;
		}
	}
}

size_t converge_path(struct converge *c, const struct wrong_run *run, size_t nr, const struct step *right, size_t ahead,
                     struct wrong_access *out)
{
	const struct step *end = right + ahead;
	struct trail t = { .run = run, .end = run + nr };
	struct found f = { .next = out };
	struct difference d = { 0 };
	struct meeting m;

	c->turn++;
	if (c->nr < c->code->nr)
		grow(c);
	bool fits = true;
	if (find_meeting(c, t, right, end, &m)) {
		fits = alone(c, &t, &f, m.wrong, &d.dirty);
		right = differ(c, &d, right, end, m.right);
		fits = fits && together(c, &t, &f, &d, right, end);
	}
	if (fits)
		apart(c, &t, &f);
	return (size_t)(f.next - out);
}

/* --- its life ---------------------------------------------------------------------------------------- */

int converge_new(struct converge **out, const struct core_desc *desc, struct code *code)
{
	*out = calloc(1, sizeof **out);
	if (!*out)
		return error_errno(ENOMEM, "wrong path");
	(*out)->code = code;
	(*out)->entries = (unsigned)desc->rob_entries;
	return 0;
}

void converge_free(struct converge *c)
{
	if (!c)
		return;
	g_free(c->effect);
	g_free(c->habit);
	g_free(c->passing);
	free(c);
}
