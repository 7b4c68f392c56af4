#include "core/order/uopcache.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

static struct uop_window *set_of(const struct uop_cache *c, uint64_t window)
{
	return c->held + (window & c->set_mask) * (unsigned)c->desc->uopcache_ways;
}

static bool search(struct uop_cache *c, uint64_t window)
{
	struct uop_window *set = set_of(c, window);

	for (int i = 0; i < c->desc->uopcache_ways; i++) {
		if (set[i].window == window && set[i].ways) {
			set[i].used = ++c->stamp;
			c->hint[window % UOPCACHE_HINTS] = &set[i];
			return true;
		}
	}
	return false;
}

static inline bool lookup(struct uop_cache *c, uint64_t window)
{
	struct uop_window *hint = c->hint[window % UOPCACHE_HINTS];

	if (hint->window != window || !hint->ways)
		return search(c, window);
	hint->used = ++c->stamp;
	return true;
}

/* Evicts the least recently used windows of the set until the new one's ways fit. */
static void insert(struct uop_cache *c, uint64_t window, unsigned ways)
{
	struct uop_window *set = set_of(c, window), *slot = NULL;
	int total = c->desc->uopcache_ways, taken = 0;

	for (int i = 0; i < total; i++) {
		if (set[i].ways && set[i].window == window)
			set[i].ways = 0;
		taken += set[i].ways;
	}
	while (taken + (int)ways > total) {
		struct uop_window *old = NULL;
		for (int i = 0; i < total; i++)
			if (set[i].ways && (!old || set[i].used < old->used))
				old = &set[i];
		taken -= old->ways;
		old->ways = 0;
	}
	for (int i = 0; i < total && !slot; i++)
		if (!set[i].ways)
			slot = &set[i];
	*slot = (struct uop_window){ .window = window, .used = ++c->stamp, .ways = (uint8_t)ways };
}

static void drop(struct uop_cache *c, uint64_t window)
{
	struct uop_window *set = set_of(c, window);

	for (int i = 0; i < c->desc->uopcache_ways; i++)
		if (set[i].window == window)
			set[i].ways = 0;
}

/*
 * Whether the window may come in, which itself can, or not. With uopcache.pairs one that cannot keeps the other of its
 * pair out, the next time that this is decoded: a loop over both never gets in, one that does not come there again, as
 * where the path was wrong, does.
 */
static bool may(struct uop_cache *c, uint64_t window, bool can)
{
	uint64_t *own = &c->spoilt[window % UOPCACHE_SPOILT], *other = &c->spoilt[(window ^ 1) % UOPCACHE_SPOILT];

	if (!c->desc->uopcache_pairs)
		return can;
	if (!can) {
		*own = window + 1;
		drop(c, window ^ 1);
		return false;
	}
	if (*own == window + 1)
		*own = 0;
	if (*other != (window ^ 1) + 1)
		return true;
	*other = 0;
	return false;
}

/* Not if `in`, in the window, keeps it out, which shows where it came in without having been decoded to there. */
static bool has(struct uop_cache *c, const struct insn *in, uint64_t window, bool here)
{
	if (!here && !lookup(c, window))
		return false;
	if (!c->desc->uopcache_jcc_erratum || !(in->flags & INSN_JCC_ERRATUM))
		return true;
	drop(c, window);
	may(c, window, false);
	return false;
}

bool uop_cache_delivers(struct uop_cache *c, const struct insn *in, bool broken, bool here)
{
	uint64_t window = in->pc >> c->shift;

	if ((window == c->building && !broken) || !has(c, in, window, here))
		return false;
	uop_cache_build_end(c);
	return true;
}

void uop_cache_build_next(struct uop_cache *c, uint64_t window)
{
	unsigned per_way = (unsigned)c->desc->uopcache_line_uops, ways = (c->build_uops + per_way - 1) / per_way;
	bool fits = ways <= (unsigned)c->desc->uopcache_max_ways && ways <= (unsigned)c->desc->uopcache_ways;

	if (c->building != UOPCACHE_NONE && may(c, c->building, c->build_ok && fits))
		insert(c, c->building, ways);
	c->building = window;
	c->build_uops = 0;
	c->build_ok = true;
}

int uop_cache_init(struct uop_cache *c, const struct core_desc *d)
{
	int err;

	*c = (struct uop_cache){ .desc = d, .building = UOPCACHE_NONE };
	if (!d->uopcache_sets)
		return 0;
	err = core_desc_power_of_two(d, "uopcache.window", d->uopcache_window);
	if (!err)
		err = core_desc_power_of_two(d, "uopcache.sets", d->uopcache_sets);
	if (err)
		return err;
	c->shift = (unsigned)__builtin_ctz((unsigned)d->uopcache_window);
	c->set_mask = (uint64_t)d->uopcache_sets - 1;
	c->held = calloc((size_t)d->uopcache_sets * (size_t)d->uopcache_ways, sizeof *c->held);
	if (!c->held)
		return error_errno(ENOMEM, "uop cache");
	for (unsigned i = 0; i < UOPCACHE_HINTS; i++)
		c->hint[i] = c->held;
	return 0;
}

void uop_cache_fini(struct uop_cache *c)
{
	free(c->held);
	c->held = NULL;
}
