#include "core/gus/taint.h"

#include <errno.h>
#include <stdlib.h>

enum { LINE = 64 };                    /* bytes: a set of 512 instructions is one */

static void *new_lines(uint64_t size)
{
	uint64_t whole = (size + LINE - 1) / LINE * LINE;
	void *p = aligned_alloc(LINE, whole);

	if (p)
		memset(p, 0, whole);
	return p;
}

int taints_init(struct taints *p, uint32_t window)
{
	uint64_t bits = 64, sets = 1;

	while (bits < window + UINT64_C(63))
		bits *= 2;
	while (sets < bits * TAINT_SETS_EACH)
		sets *= 2;
	*p = (struct taints){ .words = (uint32_t)(bits / 64), .mask = sets - 1 };
	p->bits = new_lines(sets * p->words * sizeof *p->bits);
	p->made = calloc(sets, sizeof *p->made);
	return p->bits && p->made ? 0 : -ENOMEM;
}

void taints_fini(struct taints *p)
{
	free(p->bits);
	free(p->made);
	p->bits = p->made = NULL;
}

int taint_users_init(struct taint_users *u, const struct taints *p)
{
	*u = (struct taint_users){ .bits = new_lines(p->words * sizeof *u->bits) };
	return u->bits ? 0 : -ENOMEM;
}

void taint_users_fini(struct taint_users *u)
{
	free(u->bits);
	u->bits = NULL;
}

/* --- words ------------------------------------------------------------------------------------------- */

/* What ended with instruction `old` goes on to `now`: nobody in the words from behind that one's to this one's. */
static inline void taint_go_on(uint64_t *bits, const uint32_t words, uint64_t old, uint64_t now)
{
	uint64_t word = now / 64 - old / 64 < words ? old / 64 : now / 64 - words;

	while (__builtin_expect(word++ != now / 64, 0))
		bits[word & (words - 1)] = 0;
}

/* Whether a word of what ended with that instruction is remembered. */
static inline bool taint_remembers(const struct taints *p, uint64_t old)
{
	return p->now / 64 - old / 64 < p->words;
}

/* Whether the set still says anything: it was not passed by, and someone in it can still be in the window. */
static inline bool taint_alive(const struct taints *p, taint a)
{
	return a && p->next - a + 2 < p->mask && taint_remembers(p, p->made[(a - 1) & p->mask]);
}

/* Members, as they were when `made` was the youngest instruction. */
struct held {
	const uint64_t *bits;
	uint64_t made;
};

static struct held held(const struct taints *p, taint a)
{
	uint64_t at = (a - 1) & p->mask;
	return (struct held){ &p->bits[at * p->words], p->made[at] };
}

/* Where the next set's members go. */
static inline uint64_t *new_set(struct taints *p)
{
	uint64_t at = p->next++ & p->mask;

	p->made[at] = p->now;
	return &p->bits[at * p->words];
}

/* a | b, of instructions up to now. Where the older has what was a ring before, the younger's alone holds. */
static taint new_union(struct taints *p, struct held a, struct held b)
{
	struct held older = a.made < b.made ? a : b, younger = a.made < b.made ? b : a;
	uint64_t *restrict to = new_set(p);
	const uint32_t words = p->words;

	for (uint32_t i = 0; i < words; i++)
		to[i] = a.bits[i] | b.bits[i];
	for (uint64_t word = older.made / 64; word++ != younger.made / 64;)
		to[word & (words - 1)] = younger.bits[word & (words - 1)];
	taint_go_on(to, words, younger.made, p->now);
	return p->next;
}

static uint64_t *new_copy(struct taints *p, struct held a)
{
	uint64_t *to = new_set(p);

	memcpy(to, a.bits, p->words * sizeof *to);
	taint_go_on(to, p->words, a.made, p->now);
	return to;
}

/* --- sets -------------------------------------------------------------------------------------------- */

bool taint_has(const struct taints *p, taint a, uint64_t insn)
{
	if (insn > p->made[(a - 1) & p->mask] || !taint_alive(p, a))
		return false;
	uint64_t at = insn & (p->words * UINT64_C(64) - 1);
	return p->bits[((a - 1) & p->mask) * p->words + at / 64] >> (at & 63) & 1;
}

taint taint_union(struct taints *p, taint a, taint b)
{
	if (a == b || !taint_alive(p, b))
		return a;
	return taint_alive(p, a) ? new_union(p, held(p, a), held(p, b)) : b;
}

taint taint_add(struct taints *p, taint a)
{
	uint64_t *bits;

	if (taint_has(p, a, p->now))
		return a;
	if (__builtin_expect(taint_alive(p, a), 1)) {
		bits = new_copy(p, held(p, a));
	} else {
		bits = new_set(p);
		memset(bits, 0, p->words * sizeof *bits);
	}
	bits[p->now / 64 & (p->words - 1)] |= UINT64_C(1) << (p->now & 63);
	return p->next;
}

taint taint_of_users(struct taints *p, const struct taint_users *u)
{
	const struct held users = { u->bits, u->last };

	if (!taint_remembers(p, u->last))
		return u->from;
	if (taint_alive(p, u->from))
		return new_union(p, users, held(p, u->from));
	new_copy(p, users);
	return p->next;
}

taint taint_union_users(struct taints *p, taint a, const struct taint_users *u)
{
	return taint_union(p, a, taint_of_users(p, u));
}

void taint_use(const struct taints *p, struct taint_users *u, bool idle, taint from)
{
	if (idle) {
		memset(u->bits, 0, p->words * sizeof *u->bits);
		u->from = from;
	} else {
		taint_go_on(u->bits, p->words, u->last, p->now);
	}
	u->bits[p->now / 64 & (p->words - 1)] |= UINT64_C(1) << (p->now & 63);
	u->last = p->now;
}
