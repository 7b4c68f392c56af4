/*
 * A ring of 64-bit words in memory shared by two processes: one producer, one consumer, no lock.
 *
 *         tail               head
 *          v                  v
 *   ...free|xxxxxxxxxxxxxxxxxx|free...      head - tail words are there, 0 <= head - tail <= mask + 1
 *
 * head and tail count words ever pushed and ever taken; they never wrap and are masked on use. The producer
 * publishes head with every word, so that a producer killed at any point leaves all it had pushed. Each side
 * keeps the other's index as it last saw it and looks again only when that runs out.
 *
 * A full ring makes the producer sleep until half of it is free; a consumer that has died or that asks for
 * no more ends that, and from then on the producer drops everything. The consumer trusts nothing it reads, since the
 * program can write there, too: indices that make no sense mark the ring broken, a producer that sleeps at an empty
 * ring has misread `tail` and is told it again, and a ring that the consumer refuses holds its producer up no more.
 */
#ifndef CYCLEWISE_RECORD_RING_H
#define CYCLEWISE_RECORD_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ring {                        /* shared; all zero is an empty ring */
	_Alignas(64) _Atomic uint64_t head; /* by the producer */
	_Alignas(64) _Atomic uint64_t tail; /* by the consumer */
	_Atomic uint32_t sleeping;          /* futex: 1 while the producer waits for room */
	_Atomic uint32_t refused;           /* by the consumer: it takes no more from here */
};

/* Who takes from the ring; the producer stops for good when it is gone. */
struct ring_peer {
	const _Atomic uint32_t *stop;       /* nonzero: wants no more */
	pid_t parent;                       /* of the producer when it began: another is its parent once the consumer
	                                     * is gone; 0: do not check */
	pid_t consumer;                     /* not the parent where that is a wrapper, or where it had died before;
	                                     * 0: do not check */
};

/* Whether it wants no more, or has died. */
bool ring_peer_gone(const struct ring_peer *peer);

struct ring_writer {
	struct ring *ring;
	uint64_t *words;                    /* [mask + 1] */
	uint64_t mask;
	uint64_t head;                      /* pushed so far */
	uint64_t limit;                     /* head may go to here before tail must be looked at again */
	const struct ring_peer *peer;
	_Atomic bool closed;                /* the consumer is gone: everything is dropped */
};

struct ring_reader {
	struct ring *ring;
	const uint64_t *words;
	uint64_t mask;
	uint64_t head;                      /* as last seen */
	uint64_t tail;                      /* taken so far */
	bool broken;                        /* the indices made no sense */
};

/* `nr_words`: a power of two. The writer continues where the ring stands; the reader starts at its tail. */
void ring_writer_init(struct ring_writer *w, struct ring *ring, uint64_t *words, uint64_t nr_words,
                      const struct ring_peer *peer);
void ring_reader_init(struct ring_reader *r, struct ring *ring, const uint64_t *words, uint64_t nr_words);

/* Waits until there is room. False: the consumer is gone. The slow path of ring_push(). */
bool ring_wait(struct ring_writer *w);
/* Looks at head again; how many words there are now. The slow path of ring_available(). */
uint64_t ring_refresh(struct ring_reader *r);
/* Wakes the producer if it sleeps and at least half the ring is free. */
void ring_wake(struct ring_reader *r);
/* Nothing is taken any more: the producer drops what it has and goes on. To be repeated, as the program may undo it. */
void ring_refuse(struct ring *ring);

/* False: dropped, the consumer being gone. */
static inline bool ring_push(struct ring_writer *w, uint64_t word)
{
	if (__builtin_expect(w->head == w->limit, 0) && !ring_wait(w))
		return false;
	w->words[w->head & w->mask] = word;
	atomic_store_explicit(&w->ring->head, ++w->head, memory_order_release);
	return true;
}

/* How many words can be read with ring_at() at offsets 0 and up; 0: none at the moment. */
static inline uint64_t ring_available(struct ring_reader *r)
{
	return r->head != r->tail ? r->head - r->tail : ring_refresh(r);
}

/* Read once, so that what is checked is what is used, whoever scribbles there. */
static inline uint64_t ring_at(const struct ring_reader *r, uint64_t offset)
{
	return __atomic_load_n(&r->words[(r->tail + offset) & r->mask], __ATOMIC_RELAXED);
}

/* Gives `n` words back to the producer; n <= ring_available(). */
static inline void ring_take(struct ring_reader *r, uint64_t n)
{
	r->tail += n;
	atomic_store_explicit(&r->ring->tail, r->tail, memory_order_seq_cst);
	ring_wake(r);
}

#endif
