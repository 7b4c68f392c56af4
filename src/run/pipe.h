/*
 * Work handed from one thread to another in order, through a bounded number of slots that are used again and again.
 *
 * The giver fills the slot that it is lent and gives it; the taker's function gets it in the pipe's own thread. Where
 * all slots are full the giver waits. What is handed on, and in which order, does not depend on how the threads run.
 */
#ifndef CYCLEWISE_RUN_PIPE_H
#define CYCLEWISE_RUN_PIPE_H

#include <stddef.h>

struct pipe;

/*
 * `slots` of `size` bytes each, all zero at first; what they hold stays between uses. `name`: of the thread, at most 15
 * letters. 0 or -errno.
 */
int pipe_new(struct pipe **out, const char *name, unsigned slots, size_t size, void (*take)(void *ctx, void *slot),
             void *ctx);
/*
 * Waits until all has been taken, ends the thread, and lets `fini` (or NULL) free what each slot holds. NULL is
 * fine.
 */
void pipe_free(struct pipe *p, void (*fini)(void *slot));

/* The next slot to fill; waits until there is one. */
void *pipe_slot(struct pipe *p);
/* That slot is full. */
void pipe_give(struct pipe *p);
/* Waits until all that was given has been taken. */
void pipe_wait(struct pipe *p);

#endif
