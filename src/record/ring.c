/*
 * The slow paths of the ring: waiting for room, waking who waits, noticing that the other side has died.
 *
 * The producer that finds the ring full announces that it sleeps and then looks at tail once more; the consumer
 * publishes tail and then looks whether it sleeps. All four are sequentially consistent, so one sees the other.
 * The timeout is no part of that: it is there to notice a consumer that was killed.
 */
#include "record/ring.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "record/futex.h"

void ring_writer_init(struct ring_writer *w, struct ring *ring, uint64_t *words, uint64_t nr_words,
                      const struct ring_peer *peer)
{
	assert(nr_words && !(nr_words & (nr_words - 1)));
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	*w = (struct ring_writer){
		.ring = ring, .words = words, .mask = nr_words - 1, .head = head, .limit = head, .peer = peer
	};
}

void ring_reader_init(struct ring_reader *r, struct ring *ring, const uint64_t *words, uint64_t nr_words)
{
	assert(nr_words && !(nr_words & (nr_words - 1)));
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	*r = (struct ring_reader){ .ring = ring, .words = words, .mask = nr_words - 1, .head = tail, .tail = tail };
}

bool ring_peer_gone(const struct ring_peer *peer)
{
	if (atomic_load_explicit(peer->stop, memory_order_relaxed))
		return true;
	if (peer->parent && getppid() != peer->parent)
		return true;
	int error = errno;
	bool dead = peer->consumer && kill(peer->consumer, 0) && errno == ESRCH;
	errno = error;
	return dead;
}

bool ring_wait(struct ring_writer *w)
{
	struct ring *ring = w->ring;

	while (!w->closed) {
		uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_seq_cst);
		if (w->head - tail <= w->mask) {
			w->limit = tail + w->mask + 1;
			atomic_store_explicit(&ring->sleeping, 0, memory_order_relaxed);
			break;
		}
		if (atomic_exchange_explicit(&ring->sleeping, 1, memory_order_seq_cst)) {
			futex_wait(&ring->sleeping, 1);
			if (ring_peer_gone(w->peer) || ring->refused)
				break;
		}
	}
	if (!w->closed && !ring_peer_gone(w->peer) && !ring->refused)
		return true;
	w->closed = true;
	w->limit = w->head;
	return false;
}

uint64_t ring_refresh(struct ring_reader *r)
{
	uint64_t head = atomic_load_explicit(&r->ring->head, memory_order_acquire);

	if (r->broken || head - r->tail > r->mask + 1) {
		r->broken = true;
		return 0;
	}
	r->head = head;
	if (head == r->tail && atomic_load_explicit(&r->ring->sleeping, memory_order_relaxed))
		ring_take(r, 0);
	return head - r->tail;
}

void ring_wake(struct ring_reader *r)
{
	if (!atomic_load_explicit(&r->ring->sleeping, memory_order_seq_cst))
		return;
	uint64_t head = atomic_load_explicit(&r->ring->head, memory_order_relaxed);
	if (head - r->tail > (r->mask + 1) / 2)
		return;
	atomic_store_explicit(&r->ring->sleeping, 0, memory_order_seq_cst);
	futex_wake(&r->ring->sleeping);
}

void ring_refuse(struct ring *ring)
{
	atomic_store_explicit(&ring->refused, 1, memory_order_seq_cst);
	if (atomic_exchange_explicit(&ring->sleeping, 0, memory_order_seq_cst))
		futex_wake(&ring->sleeping);
}
