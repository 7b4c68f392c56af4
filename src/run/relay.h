/*
 * Carries timed records from the thread that models the cores to one that runs the accounting methods.
 *
 * Records are copied into a bounded queue of large batches, or made there; a full queue makes the giver wait. Batches
 * arrive in the order they were given, so what the methods see does not depend on how the threads are scheduled.
 *
 * Where one thread more would only wait for a processor, there is none: batches are small enough to stay in a level-1
 * cache, and who fills them takes them too.
 */
#ifndef CYCLEWISE_RUN_RELAY_H
#define CYCLEWISE_RUN_RELAY_H

#include <stdbool.h>
#include <stddef.h>

#include "record/timed.h"

struct relay;

/*
 * Takes a batch of `lane`; t NULL: the lane's stream has ended. Called in the relay's thread, or in relay_give() and
 * relay_wait().
 */
typedef void relay_take(void *ctx, void *lane, const struct timed *t, size_t n);

/* `beside`: with a thread of its own. 0 or -errno. */
int  relay_new(struct relay **out, bool beside, relay_take *take, void *ctx);
/* Waits until all has been taken, then ends the thread. NULL is fine. */
void relay_free(struct relay *r);

/*
 * Where the next records of `lane` may be written, up to *n of them, which is at least 1. The next call is relay_give()
 * of some, which does not copy them.
 */
struct timed *relay_room(struct relay *r, void *lane, size_t *n);
/* As relay_take(), in batches of the relay's own; returns when the records are copied. */
void relay_give(struct relay *r, void *lane, const struct timed *t, size_t n);
/* Waits until all that was given has been taken: what the methods hold may be read until the next relay_give(). */
void relay_wait(struct relay *r);

#endif
