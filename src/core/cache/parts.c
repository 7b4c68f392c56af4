#include "core/cache/parts.h"

#include <errno.h>

#include "base/error.h"

int parts_lines(const struct core_desc *d)
{
	int32_t line = d->cache_line;

	if (line & (line - 1))
		return error_set(EINVAL, "cache.line", "%d is not a power of two", line);
	return 0;
}

int parts_cache(struct cache *c, const char *group, const char *replacement, int32_t size, int32_t ways, int32_t line)
{
	enum replacement policy;
	int err = replacement_parse(&policy, replacement, group);

	if (err)
		return err;
	if (size < ways * line)
		return error_set(EINVAL, group, "%d bytes are less than one set of %d lines", size, ways);
	return cache_init(c, (uint32_t)(size / (ways * line)), (uint32_t)ways, policy);
}

int parts_tlb(struct tlb *t, const char *group, int32_t entries, int32_t ways)
{
	if (entries < ways)
		return error_set(EINVAL, group, "a TLB of %d entries has no set of %d", entries, ways);
	return tlb_init(t, (uint32_t)entries, (uint32_t)ways);
}

void parts_unmap(struct walker *w, struct tlb *const tlb[], unsigned nr, uint64_t vaddr, uint64_t pages)
{
	if (!pages)
		return;
	uint64_t from = vaddr >> w->page_bits, to = (vaddr + pages * 4096 - 1) >> w->page_bits;

	for (unsigned i = 0; i < nr; i++)
		if (tlb[i]->entries)
			tlb_drop(tlb[i], from, to);
	page_walker_flush(w);
}
