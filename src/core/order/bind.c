#include "core/order/bind.h"

#include <assert.h>

void binder_add(struct binder *b, const struct core_desc *d, enum bind_kind kind, uint16_t ports)
{
	uint16_t all = kind == BIND_ALTERNATE ? ports : core_desc_with_twins(d, ports);

	if (!ports)
		return;
	assert(b->nr <= CORE_BINDS);
	b->group[b->nr++] = (struct bind_group){
		.kind = kind, .ports = all, .rest = all, .most = (uint32_t)__builtin_popcount(ports),
	};
	b->counted |= kind == BIND_COUNT ? all : 0;
	b->spreads |= kind == BIND_SPREAD;
}

void binder_init(struct binder *b, const struct core_desc *d)
{
	*b = (struct binder){ .counted_in = UINT64_MAX };
	for (unsigned i = 0; i < d->nr_binds; i++)
		binder_add(b, d, (enum bind_kind)d->binds[i].kind, d->binds[i].ports);
}
