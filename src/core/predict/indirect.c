#include "core/predict/indirect.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "core/predict/counter.h"

int indirect_init(struct indirect *t, uint32_t entries, unsigned tables, unsigned longest, struct history_shape *shape)
{
	*t = (struct indirect){ .nr_tables = entries ? tables : 0 };
	if (!entries)
		return 0;
	assert(entries / tables && !(entries / tables & (entries / tables - 1)));
	t->size = entries / tables;
	for (unsigned i = 0; i < tables; i++) {
		unsigned length = longest >> (tables - 1 - i);

		t->fold[i] = history_add_path(shape, length ? length : 1);
	}
	t->entry = calloc(entries, sizeof *t->entry);
	return t->entry ? 0 : -ENOMEM;
}

void indirect_fini(struct indirect *t)
{
	free(t->entry);
}

void indirect_predict(const struct indirect *t, const struct history *h, const struct history_shape *s, uint64_t pc,
	uint64_t last, struct indirect_lookup *l)
{
	l->provider = -1;
	l->target = l->shorter = last;
	for (unsigned i = 0; i < t->nr_tables; i++) {
		uint64_t hash = history_hash(h, s, t->fold[i], pc);
		const struct indirect_entry *e;

		l->index[i] = i * t->size + ((uint32_t)(hash >> 48) & (t->size - 1));
		l->tag[i] = (uint16_t)(hash >> 32) & ((1u << INDIRECT_TAG_BITS) - 1);
		e = &t->entry[l->index[i]];
		if (e->tag != l->tag[i] || !e->target)
			continue;
		l->provider = (int8_t)i;
		l->shorter = l->target;
		l->target = e->target;
	}
}

/* An entry of a longer history that nobody finds useful; where all are, they are useful no more. */
static void allocate(struct indirect *t, const struct indirect_lookup *l, uint64_t target)
{
	for (unsigned i = (unsigned)(l->provider + 1); i < t->nr_tables; i++) {
		struct indirect_entry *e = &t->entry[l->index[i]];

		if (e->useful)
			continue;
		*e = (struct indirect_entry){ .target = target, .tag = l->tag[i] };
		return;
	}
	for (unsigned i = (unsigned)(l->provider + 1); i < t->nr_tables; i++)
		t->entry[l->index[i]].useful = 0;
}

void indirect_train(struct indirect *t, const struct indirect_lookup *l, uint64_t target)
{
	if (l->provider >= 0) {
		struct indirect_entry *e = &t->entry[l->index[l->provider]];

		if (e->target == target) {
			counter_up(&e->sure, INDIRECT_SURE_MAX);
			if (l->shorter != target)
				e->useful = 1;
		} else if (e->sure) {
			e->sure--;
		} else {
			e->target = target;
			e->useful = 0;
		}
	}
	if (l->target != target)
		allocate(t, l, target);
}
