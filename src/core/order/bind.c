#include "core/order/bind.h"

#include <assert.h>

/* The n-th port of the lower half with the n-th of the upper. To which pair a uop is bound depends on no twins. */
static unsigned bind_pairs(const struct core_desc *d, unsigned ports, uint16_t pair[BIND_PAIRS])
{
	unsigned nr = (unsigned)__builtin_popcount(ports) / 2, upper = ports;

	for (unsigned i = 0; i < nr; i++)
		upper &= upper - 1;
	for (unsigned i = 0; i < nr; i++) {
		pair[i] = core_desc_with_twins(d, (uint16_t)((ports & -ports) | (upper & -upper)));
		ports &= ports - 1;
		upper &= upper - 1;
	}
	return nr;
}

void binder_add(struct binder *b, const struct core_desc *d, enum bind_kind kind, uint16_t ports)
{
	uint16_t all = kind == BIND_ALTERNATE ? ports : core_desc_with_twins(d, ports);

	if (!ports)
		return;
	assert(b->nr <= CORE_BINDS);
	struct bind_group *g = &b->group[b->nr++];
	*g = (struct bind_group){
		.kind = kind, .ports = all, .rest = all, .most = (uint32_t)__builtin_popcount(ports),
	};
	if (kind == BIND_PAIR)
		g->most = bind_pairs(d, ports, g->pair);
	b->counted |= kind == BIND_COUNT ? all : 0;
	b->paired |= kind == BIND_PAIR ? all : 0;
	b->spreads |= kind == BIND_SPREAD;
}

void binder_init(struct binder *b, const struct core_desc *d)
{
	*b = (struct binder){ .counted_in = UINT64_MAX };
	for (unsigned i = 0; i < d->nr_binds; i++)
		binder_add(b, d, (enum bind_kind)d->binds[i].kind, d->binds[i].ports);
}
