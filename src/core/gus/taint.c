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

/* to = a | b, of instructions up to `now`. Where the older has what was a ring before, the younger's alone holds. */
static inline void join(uint64_t *restrict to, const uint32_t words, struct held a, struct held b, uint64_t now)
{
	struct held older = a.made < b.made ? a : b, younger = a.made < b.made ? b : a;

	for (uint32_t i = 0; i < words; i++)
		to[i] = a.bits[i] | b.bits[i];
	for (uint64_t word = older.made / 64; word++ != younger.made / 64;)
		to[word & (words - 1)] = younger.bits[word & (words - 1)];
	taint_go_on(to, words, younger.made, now);
}

static inline void copy(uint64_t *restrict to, const uint32_t words, struct held a, uint64_t now)
{
	memcpy(to, a.bits, words * sizeof *to);
	taint_go_on(to, words, a.made, now);
}

/* Where the next set's members go. */
static inline uint64_t *new_set(struct taints *p)
{
	uint64_t at = p->next++ & p->mask;

	p->made[at] = p->now;
	return &p->bits[at * p->words];
}

/* Of the sizes that cores have, each has a loop of its own, so that the words go in registers. */
static taint new_union(struct taints *p, struct held a, struct held b)
{
	uint64_t *to = new_set(p);

	if (p->words == 8)
		join(to, 8, a, b, p->now);
	else if (p->words == 16)
		join(to, 16, a, b, p->now);
	else
		join(to, p->words, a, b, p->now);
	return p->next;
}

static inline uint64_t *new_copy(struct taints *p, struct held a)
{
	uint64_t *to = new_set(p);

	if (__builtin_expect(p->words == 8, 1))
		copy(to, 8, a, p->now);
	else if (p->words == 16)
		copy(to, 16, a, p->now);
	else
		copy(to, p->words, a, p->now);
	return to;
}

/* --- sets -------------------------------------------------------------------------------------------- */

taint taint_union_slow(struct taints *p, taint a, taint b)
{
	return new_union(p, held(p, a), held(p, b));
}

taint taint_add_slow(struct taints *p, taint a)
{
	uint64_t *bits;

	if (__builtin_expect(taint_alive(p, a), 1)) {
		bits = new_copy(p, held(p, a));
	} else {
		bits = new_set(p);
		taint_none(bits, p->words);
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
