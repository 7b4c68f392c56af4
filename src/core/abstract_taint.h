/*
 * Sets of dynamic instructions, for causality: which of the last Q instructions determine a time.
 *
 * Instructions are numbered as they come. A set is a bit for each of the last Q numbers, in a ring of Q bits (Q rounded up to
 * a power of two). Sets never change once they are made: to copy one is to copy its number, and to add to one makes a new
 * one, in a ring of sets. Nothing is counted or freed: a set made more than Q instructions ago holds only members that
 * everybody has forgotten, so that what the ring has passed by is the empty set.
 *
 * Invariant: set s, made when instruction `made[s]` was the youngest, holds members in (made[s] - Q, made[s]].
 *
 * A `users` is the set of a resource, which only ever gets further members: it is changed in place, and made
 * a set of its own when somebody has to wait for the resource.
 * Ref: Gus, algorithm 1 (taint).
 */
#ifndef CYCLEWISE_CORE_ABSTRACT_TAINT_H
#define CYCLEWISE_CORE_ABSTRACT_TAINT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A set: its number + 1; 0: the empty set. */
typedef uint64_t taint;

enum { TAINT_SETS_EACH = 16 };         /* sets an instruction may make on average before sets still in use are lost */

struct taints {
	uint64_t *bits;                /* [sets][words] */
	uint64_t *made;                /* [sets]: number of the youngest instruction then */
	uint32_t words;                /* of a set; a power of two */
	uint64_t mask;                 /* sets - 1 */
	uint64_t next;                 /* number of the next set */
	uint64_t now;                  /* the youngest instruction */
};

struct taint_users {
	uint64_t *bits;                /* [words]: those since the resource was idle */
	uint64_t last;                 /* the youngest of them */
	taint from;                    /* those that determine since when it is not */
};

/* `window`: Q. 0 or -ENOMEM. */
int  taints_init(struct taints *p, uint32_t window);
void taints_fini(struct taints *p);
int  taint_users_init(struct taint_users *u, const struct taints *p);
void taint_users_fini(struct taint_users *u);

/* a | b, and a | {the youngest}. */
taint taint_union_slow(struct taints *p, taint a, taint b);
taint taint_add_slow(struct taints *p, taint a);
/* The users and those in `from`, as a set. */
taint taint_of_users(struct taints *p, const struct taint_users *u);
/* a | these */
taint taint_union_users(struct taints *p, taint a, const struct taint_users *u);

/* Clears those of [from, to]. */
static inline void taint_clear(uint64_t *bits, const uint32_t words, uint64_t from, uint64_t to)
{
	const uint64_t mask = words - 1, first = from / 64, last = to / 64;
	const uint64_t low = UINT64_MAX << (from & 63), high = UINT64_MAX >> (63 - (to & 63));

	if (from > to)
		return;
	if (__builtin_expect(first == last, 1)) {
		bits[first & mask] &= ~(low & high);
		return;
	}
	if (to - from >= words * UINT64_C(64) - 1) {
		memset(bits, 0, words * sizeof *bits);
		return;
	}
	bits[first & mask] &= ~low;
	for (uint64_t i = first + 1; i < last; i++)
		bits[i & mask] = 0;
	bits[last & mask] &= ~high;
}

/* Whether the set still says anything: it was not passed by, and someone in it can still be in the window. */
static inline bool taint_alive(const struct taints *p, taint a)
{
	return a && p->next - a + 2 < p->mask && p->now - p->made[(a - 1) & p->mask] < p->words * UINT64_C(64);
}

static inline bool taint_has(const struct taints *p, taint a, uint64_t insn)
{
	if (!taint_alive(p, a) || insn > p->made[(a - 1) & p->mask])
		return false;
	uint64_t at = insn & (p->words * UINT64_C(64) - 1);
	return p->bits[((a - 1) & p->mask) * p->words + at / 64] >> (at & 63) & 1;
}

static inline taint taint_union(struct taints *p, taint a, taint b)
{
	return a == b || !taint_alive(p, b) ? a : !taint_alive(p, a) ? b : taint_union_slow(p, a, b);
}

static inline taint taint_add(struct taints *p, taint a)
{
	return taint_has(p, a, p->now) ? a : taint_add_slow(p, a);
}

/* The youngest instruction uses the resource; `idle`: nobody has been using it since it was free, and `from` determines when it begins to. */
static inline void taint_use(const struct taints *p, struct taint_users *u, bool idle, taint from)
{
	uint64_t at = p->now & (p->words * UINT64_C(64) - 1);

	if (idle) {
		memset(u->bits, 0, p->words * sizeof *u->bits);
		u->from = from;
	} else if (p->now > u->last) {
		taint_clear(u->bits, p->words, u->last + 1, p->now);
	}
	u->bits[at / 64] |= UINT64_C(1) << (at & 63);
	u->last = p->now;
}

#endif
