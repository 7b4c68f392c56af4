#include "core/cache/warm.h"

#include "core/cache/state.h"
#include "core/cache/timeless.h"

/* The line of `vaddr` and its translation, just used, are there. */
static void arrive(struct memory *m, struct l1 *l, uint64_t vaddr)
{
	struct tlb_entry *e = tlb_find(&l->tlb, vaddr >> m->page_shift);

	if (!e)
		return;
	e->ready = 0;
	int64_t at = cache_find(&l->lines, (e->frame << m->page_shift | (vaddr & m->page_mask)) >> m->line_shift);
	if (at >= 0)
		l->lines.lines[at].fill = 0;
}

void memory_warm_data(struct memory *m, uint64_t vaddr, uint32_t bytes, bool write, bool known, uint64_t pc)
{
	const uint64_t last = vaddr + bytes - 1;
	struct access a;

	if (!bytes)
		return;
	if (write && known)
		memory_own(m, TIMELESS, vaddr, bytes, &a);
	if (write)
		memory_store(m, TIMELESS, vaddr, bytes, &a);
	else
		memory_load(m, TIMELESS, vaddr, bytes, pc, &a);
	for (uint64_t line = vaddr >> m->line_shift; line <= last >> m->line_shift; line++)
		arrive(m, &m->data, line << m->line_shift);
}

void memory_warm_soft(struct memory *m, uint64_t vaddr)
{
	memory_prefetch(m, TIMELESS, vaddr, false);
	arrive(m, &m->data, vaddr);
}

void memory_warm_code(struct memory *m, uint64_t vaddr)
{
	struct access a;

	memory_fetch(m, TIMELESS, vaddr, &a);
	arrive(m, &m->code, vaddr);
}
