#include "symbol/interval.h"

#include <glib.h>
#include <stdbool.h>

/*
 * A sweep over the starts in ascending order, with a max-heap of the intervals that have begun. Those that have
 * ended leave the heap when they come to its top.
 */
struct sweep {
	const struct interval *given;
	size_t *heap;              /* indices into `given`; heap[0] wins */
	size_t nr;
};

static bool wins(const struct sweep *s, size_t a, size_t b)
{
	if (s->given[a].priority != s->given[b].priority)
		return s->given[a].priority > s->given[b].priority;
	return a > b;
}

static void heap_push(struct sweep *s, size_t item)
{
	size_t at = s->nr++, parent;

	for (; at; at = parent) {
		parent = (at - 1) / 2;
		if (wins(s, s->heap[parent], item))
			break;
		s->heap[at] = s->heap[parent];
	}
	s->heap[at] = item;
}

static void heap_pop(struct sweep *s)
{
	size_t item = s->heap[--s->nr], at = 0, child;

	for (; (child = 2 * at + 1) < s->nr; at = child) {
		if (child + 1 < s->nr && wins(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (wins(s, item, s->heap[child]))
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = item;
}

static void emit(GArray *out, const struct interval *owner, uint64_t start, uint64_t end)
{
	struct interval piece = { start, end, owner->id, owner->priority }, *last;

	if (out->len) {
		last = &g_array_index(out, struct interval, out->len - 1);
		if (last->end == start && last->id == owner->id) {
			last->end = end;
			return;
		}
	}
	g_array_append_val(out, piece);
}

/* Gives out [from, to) to those that have begun. */
static void advance(struct sweep *s, GArray *out, uint64_t from, uint64_t to)
{
	while (s->nr && from < to) {
		const struct interval *top = &s->given[s->heap[0]];

		if (top->end <= from) {
			heap_pop(s);
			continue;
		}
		emit(out, top, from, MIN(top->end, to));
		from = MIN(top->end, to);
	}
}

static int by_start(gconstpointer a, gconstpointer b, gpointer given)
{
	const struct interval *all = given, *x = &all[*(const size_t *)a], *y = &all[*(const size_t *)b];

	return (x->start > y->start) - (x->start < y->start);
}

void interval_map_init(struct interval_map *map, const struct interval *given, size_t nr)
{
	struct sweep s = { .given = given, .heap = g_new(size_t, nr + 1) };
	GArray *out = g_array_new(FALSE, FALSE, sizeof(struct interval));
	GArray *order = g_array_new(FALSE, FALSE, sizeof(size_t));
	uint64_t at = 0;

	for (size_t i = 0; i < nr; i++)
		if (given[i].start < given[i].end)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_start, (gpointer)given);
	for (guint i = 0; i < order->len; i++) {
		size_t item = g_array_index(order, size_t, i);

		advance(&s, out, at, given[item].start);
		at = given[item].start;
		heap_push(&s, item);
	}
	advance(&s, out, at, UINT64_MAX);
	map->nr = out->len;
	map->at = (struct interval *)(void *)g_array_free(out, FALSE);
	g_array_free(order, TRUE);
	g_free(s.heap);
}

void interval_map_fini(struct interval_map *map)
{
	g_free(map->at);
	map->at = NULL;
	map->nr = 0;
}
