#include "record/answer.h"

#include "record/futex.h"

void answer_expect(struct answer *a)
{
	atomic_store_explicit(&a->given, 0, memory_order_relaxed);
}

bool answer_wait(struct answer *a, const struct ring_peer *peer, struct counters *out)
{
	while (!atomic_load_explicit(&a->given, memory_order_acquire)) {
		if (ring_peer_gone(peer))
			return false;
		futex_wait(&a->given, 0);
	}
	*out = a->counters;
	return true;
}

void answer_give(struct answer *a, const struct counters *counters)
{
	a->counters = *counters;
	atomic_store_explicit(&a->given, 1, memory_order_release);
	futex_wake(&a->given);
}
