#include "core/abstract_taint.h"

#include <errno.h>
#include <stdlib.h>

int taints_init(struct taints *p, uint32_t window)
{
	uint64_t bits = 64, sets = 1;

	while (bits < window)
		bits *= 2;
	while (sets < bits * TAINT_SETS_EACH)
		sets *= 2;
	*p = (struct taints){ .words = (uint32_t)(bits / 64), .mask = sets - 1 };
	p->bits = calloc(sets * p->words, sizeof *p->bits);
	p->made = calloc(sets, sizeof *p->made);
	p->scratch = calloc(p->words, sizeof *p->scratch);
	return p->bits && p->made && p->scratch ? 0 : -ENOMEM;
}

void taints_fini(struct taints *p)
{
	free(p->bits);
	free(p->made);
	free(p->scratch);
	p->bits = p->made = p->scratch = NULL;
}

int taint_users_init(struct taint_users *u, const struct taints *p)
{
	*u = (struct taint_users){ .bits = calloc(p->words, sizeof *u->bits) };
	return u->bits ? 0 : -ENOMEM;
}

void taint_users_fini(struct taint_users *u)
{
	free(u->bits);
	u->bits = NULL;
}

/* A new set, its bits those of `from` as it was made when `made` was the youngest. */
static uint64_t *new_set(struct taints *p, const uint64_t *from, uint64_t made)
{
	uint64_t at = p->next++ & p->mask, *bits = &p->bits[at * p->words];

	p->made[at] = p->now;
	memcpy(bits, from, p->words * sizeof *bits);
	taint_clear(p, bits, made + 1, p->now);
	return bits;
}

static const uint64_t *bits_of(const struct taints *p, taint a)
{
	return &p->bits[((a - 1) & p->mask) * p->words];
}

static uint64_t made(const struct taints *p, taint a)
{
	return p->made[(a - 1) & p->mask];
}

/* The bits of `u` that hold now. */
static void users_bits(const struct taints *p, const struct taint_users *u, uint64_t *bits)
{
	uint64_t size = p->words * UINT64_C(64);

	memcpy(bits, u->bits, p->words * sizeof *bits);
	taint_clear(p, bits, u->last + 1, p->now);
	if (u->first + size > p->now && u->first)
		taint_clear(p, bits, p->now < size ? 0 : p->now - size + 1, u->first - 1);
}

taint taint_union_slow(struct taints *p, taint a, taint b)
{
	uint64_t *bits = new_set(p, bits_of(p, a), made(p, a));

	memcpy(p->scratch, bits_of(p, b), p->words * sizeof *bits);
	taint_clear(p, p->scratch, made(p, b) + 1, p->now);
	for (uint32_t i = 0; i < p->words; i++)
		bits[i] |= p->scratch[i];
	return p->next;
}

taint taint_add_slow(struct taints *p, taint a)
{
	uint64_t at = p->now & (p->words * UINT64_C(64) - 1), *bits;

	if (taint_alive(p, a)) {
		bits = new_set(p, bits_of(p, a), made(p, a));
	} else {
		memset(p->scratch, 0, p->words * sizeof *p->scratch);
		bits = new_set(p, p->scratch, p->now);
	}
	bits[at / 64] |= UINT64_C(1) << (at & 63);
	return p->next;
}

taint taint_of_users(struct taints *p, const struct taint_users *u)
{
	uint64_t at = p->next++ & p->mask;

	p->made[at] = p->now;
	users_bits(p, u, &p->bits[at * p->words]);
	return taint_union(p, p->next, u->from);
}

taint taint_union_users(struct taints *p, taint a, const struct taint_users *u)
{
	if (!taint_alive(p, a))
		return taint_of_users(p, u);
	uint64_t *bits = new_set(p, bits_of(p, a), made(p, a));

	users_bits(p, u, p->scratch);
	for (uint32_t i = 0; i < p->words; i++)
		bits[i] |= p->scratch[i];
	return taint_union(p, p->next, u->from);
}
