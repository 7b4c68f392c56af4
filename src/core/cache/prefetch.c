#include "core/cache/prefetch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int stride_init(struct stride *s, uint32_t entries, uint32_t longest)
{
	assert(entries <= STRIDE_TAGS);
	*s = (struct stride){ .nr = entries, .longest = longest };
	if (!s->nr)
		return 0;
	s->entries = calloc(s->nr, sizeof *s->entries);
	return s->entries ? 0 : -ENOMEM;
}

void stride_fini(struct stride *s)
{
	free(s->entries);
	s->entries = NULL;
}

void stride_enter(struct stride *s, uint64_t pc, uint64_t vaddr)
{
	struct stride_entry *e = &s->entries[s->next];

	if (s->where[e->tag] == s->next + 1)
		s->where[e->tag] = 0;
	*e = (struct stride_entry){ .last = vaddr, .tag = pc % STRIDE_TAGS };
	s->where[e->tag] = (uint16_t)(s->next + 1);
	s->next = s->next + 1 == s->nr ? 0 : s->next + 1;
}

uint64_t stride_train_slow(struct stride *s, struct stride_entry *e, uint64_t vaddr, int64_t step)
{
	if (step > s->longest || step < -s->longest)
		step = 0;
	if (step != e->stride) {
		e->stride = step;
		e->confidence = 1;
		return 0;
	}
	if (e->confidence < 3)
		e->confidence++;
	uint64_t next = vaddr + (uint64_t)step;
	return e->confidence < 2 || !step || (next ^ vaddr) >> PREFETCH_PAGE_BITS ? 0 : next;
}

void next_line_init(struct next_line *n)
{
	for (uint32_t i = 0; i < NEXT_LINES; i++)
		n->recent[i].line = UINT64_MAX;
}

void next_line_filled(struct next_line *n, uint64_t line, uint32_t offset)
{
	uint32_t i = (uint32_t)line % NEXT_LINES;

	n->recent[i].line = line;
	n->recent[i].offset = offset;
}

int streamer_init(struct streamer *s, uint32_t nr, uint32_t ahead, uint32_t degree, uint32_t line_bytes)
{
	assert(degree <= STREAM_DEGREE);
	*s = (struct streamer){ .nr = nr, .ahead = ahead, .degree = degree };
	s->page_lines = (1u << PREFETCH_PAGE_BITS) / line_bytes;
	s->page_shift = (uint32_t)__builtin_ctz(s->page_lines);
	if (!nr)
		return 0;
	s->pages = malloc(nr * sizeof *s->pages);
	s->streams = calloc(nr, sizeof *s->streams);
	if (!s->pages || !s->streams) {
		streamer_fini(s);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr; i++)
		s->pages[i] = UINT64_MAX;
	return 0;
}

void streamer_fini(struct streamer *s)
{
	free(s->pages);
	free(s->streams);
	s->pages = NULL;
	s->streams = NULL;
}

static struct stream *tracker(struct streamer *s, uint64_t page, int32_t at)
{
	uint32_t oldest = 0, i = s->pages[s->recent] == page ? s->recent : 0;

	while (i < s->nr && s->pages[i] != page)
		i++;
	if (i == s->nr) {
		for (i = 1; i < s->nr; i++)
			oldest = s->streams[i].used < s->streams[oldest].used ? i : oldest;
		i = oldest;
		s->pages[i] = page;
		s->streams[i] = (struct stream){ .last = at, .head = at };
	}
	s->recent = i;
	s->streams[i].used = ++s->clock;
	return &s->streams[i];
}

uint32_t streamer_train(struct streamer *s, uint64_t line, uint64_t out[STREAM_DEGREE])
{
	if (!s->nr)
		return 0;

	int32_t at = (int32_t)(line & (s->page_lines - 1)), ahead = (int32_t)s->ahead;
	struct stream *t = tracker(s, line >> s->page_shift, at);
	uint32_t n = 0;

	if (at == t->last)
		return 0;
	int8_t direction = at > t->last ? 1 : -1;
	if (direction != t->direction) {
		t->direction = direction;
		t->moves = 0;
		t->head = at;
	}
	t->moves = t->moves < 2 ? (uint8_t)(t->moves + 1) : 2;
	t->last = at;
	if (t->moves < 2)
		return 0;
	if ((at - t->head) * direction > 0)
		t->head = at;
	while (n < s->degree) {
		int32_t next = t->head + direction;
		if (next < 0 || next >= (int32_t)s->page_lines || (next - at) * direction > ahead)
			break;
		out[n++] = (line & ~(uint64_t)(s->page_lines - 1)) + (uint64_t)next;
		t->head = next;
	}
	return n;
}
