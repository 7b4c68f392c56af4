#include "core/ooo/release.h"

void release_far_push(struct release *r, uint64_t cycle, unsigned kind)
{
	assert(r->nr_far < RELEASE_FAR);
	uint32_t i = r->nr_far++;
	for (; i && r->far[(i - 1) / 2].cycle > cycle; i = (i - 1) / 2)
		r->far[i] = r->far[(i - 1) / 2];
	r->far[i] = (struct release_far){ cycle, (uint8_t)kind };
}

static void pop(struct release *r)
{
	struct release_far last = r->far[--r->nr_far];
	uint32_t i = 0;
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= r->nr_far)
			break;
		if (child + 1 < r->nr_far && r->far[child + 1].cycle < r->far[child].cycle)
			child++;
		if (r->far[child].cycle >= last.cycle)
			break;
		r->far[i] = r->far[child];
		i = child;
	}
	r->far[i] = last;
}

/* Moves what has come within the window into the ring. */
void release_far_pull(struct release *r)
{
	while (r->nr_far && r->far[0].cycle < r->now + RELEASE_WINDOW) {
		struct release_far f = r->far[0];
		pop(r);
		uint64_t slot = f.cycle % RELEASE_WINDOW;
		r->given[slot].of[f.kind]++;
		r->some[slot / 64] |= UINT64_C(1) << (slot % 64);
	}
}
