/*
 * Sets of dynamic instructions, for causality: which of the last Q instructions determine a time.
 *
 * Instructions are numbered as they come. A set is a bit for each of the last Q numbers, in a ring of words of 64,
 * which are forgotten as a whole: so the ring has 63 bits more than Q, rounded up to a power of two of words, W. Sets
 * never change once they are made: to copy one is to copy its number, and to add to one makes a new one, in a ring of
 * sets. Nothing is counted or freed: a set made more than Q instructions ago holds only members that everybody has
 * forgotten, so that what the ring has passed by is the empty set.
 *
 * Invariant: set s, made when instruction `made[s]` was the youngest, holds members up to made[s] in the W words that
 * end with its own; word w of these stands at w % W, and its bits beyond made[s] are 0. It is the same of users, up to
 * `last`.
 *
 * A `users` is the set of a resource, which only ever gets further members: it is changed in place, and made
 * a set of its own when somebody has to wait for the resource.
 * Ref: Gus, algorithm 1 (taint).
 */
#ifndef CYCLEWISE_CORE_GUS_TAINT_H
#define CYCLEWISE_CORE_GUS_TAINT_H

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

/* `window`: Q, the youngest among them. 0 or -ENOMEM. */
int  taints_init(struct taints *p, uint32_t window);
void taints_fini(struct taints *p);
int  taint_users_init(struct taint_users *u, const struct taints *p);
void taint_users_fini(struct taint_users *u);

/* a | b, and a | {the youngest}. */
taint taint_union(struct taints *p, taint a, taint b);
taint taint_add(struct taints *p, taint a);
/* Whether `insn`, in the window, is in it. */
bool  taint_has(const struct taints *p, taint a, uint64_t insn);
/* The users and those in `from`, as a set. */
taint taint_of_users(struct taints *p, const struct taint_users *u);
/* a | these */
taint taint_union_users(struct taints *p, taint a, const struct taint_users *u);

/*
 * The youngest instruction uses the resource; `idle`: nobody has been using it since it was free, and `from`
 * determines when it begins to.
 */
void taint_use(const struct taints *p, struct taint_users *u, bool idle, taint from);

#endif
