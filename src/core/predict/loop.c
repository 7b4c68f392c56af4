#include "core/predict/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "core/predict/counter.h"

int loop_init(struct loop *l, uint32_t entries)
{
	assert(!(entries & (entries - 1)));
	l->ways = entries < LOOP_WAYS ? entries : LOOP_WAYS;
	l->sets = entries ? entries / l->ways : 0;
	if (!entries)
		return 0;
	l->entry = calloc(entries, sizeof *l->entry);
	return l->entry ? 0 : -ENOMEM;
}

void loop_fini(struct loop *l)
{
	free(l->entry);
}

static uint32_t first_of_set(const struct loop *l, uint64_t pc)
{
	return (uint32_t)(pc & (l->sets - 1)) * l->ways;
}

static uint32_t tag_of(const struct loop *l, uint64_t pc)
{
	return (uint32_t)(pc / l->sets);
}

void loop_predict_any(const struct loop *l, const uint16_t *iteration, uint64_t pc, struct loop_lookup *at)
{
	uint32_t first = first_of_set(l, pc), tag = tag_of(l, pc);

	for (uint32_t i = first; i < first + l->ways; i++) {
		const struct loop_entry *e = &l->entry[i];

		if (e->tag != tag || !e->age)
			continue;
		at->entry = i;
		at->valid = e->sure == LOOP_SURE;
		at->taken = iteration[i] + 1 == e->count ? !e->body : e->body;
		return;
	}
}

/* In a set without room all grow older, so that one will be free some time. */
static void allocate(struct loop *l, uint16_t *iteration, uint64_t pc, bool taken)
{
	uint32_t first = first_of_set(l, pc);

	if (l->turn++ % 4)
		return;
	for (uint32_t i = first; i < first + l->ways; i++) {
		if (l->entry[i].age)
			continue;
		/* A misprediction is most often the exit: the body goes the other way. */
		l->entry[i] = (struct loop_entry){ .tag = tag_of(l, pc), .age = LOOP_AGE, .body = !taken };
		iteration[i] = 0;
		return;
	}
	for (uint32_t i = first; i < first + l->ways; i++)
		l->entry[i].age--;
}

static void exited(struct loop_entry *e, uint32_t count)
{
	if (count == e->count) {
		counter_up(&e->sure, LOOP_SURE);
	} else {
		e->sure = 0;
		e->count = e->count ? 0 : (uint16_t)count;
	}
	if (count < LOOP_SHORTEST)
		*e = (struct loop_entry){ 0 };
}

void loop_train_any(struct loop *l, uint16_t *iteration, uint64_t pc, const struct loop_lookup *at, bool taken, bool others,
	bool missed)
{
	if (at->entry == LOOP_NONE) {
		if (missed)
			allocate(l, iteration, pc, taken);
		return;
	}
	struct loop_entry *e = &l->entry[at->entry];
	uint16_t *n = &iteration[at->entry];

	if (at->valid && at->taken != others)
		counter_step(&l->pays, at->taken == taken, LOOP_PAYS_MAX);
	if (at->valid && at->taken != taken) {
		*e = (struct loop_entry){ 0 };
		*n = 0;
		return;
	}
	if (at->valid && at->taken != others && e->age < LOOP_AGE)
		e->age++;
	if (taken != e->body) {
		exited(e, *n + 1u);
		*n = 0;
	} else if (++*n == LOOP_LONGEST || (e->count && *n >= e->count)) {
		/* Longer than it was: forget the count, and wait for the exit. */
		e->count = 0;
		e->sure = 0;
		if (*n == LOOP_LONGEST)
			*e = (struct loop_entry){ 0 };
	}
}

void loop_advance(const struct loop *l, uint16_t *iteration, const struct loop_lookup *at, bool taken)
{
	if (at->entry == LOOP_NONE)
		return;
	uint16_t *n = &iteration[at->entry];

	*n = taken == l->entry[at->entry].body ? (uint16_t)(*n + 1) : 0;
}
