/*
 * Threads that share a job whose parts do not depend on each other: as many as there are processors, and the caller's
 * own.
 */
#ifndef CYCLEWISE_RUN_WORKERS_H
#define CYCLEWISE_RUN_WORKERS_H

struct workers;

/* A thread that cannot be had is done without. */
struct workers *workers_new(void);
/* Threads that work, the caller's own included: at least 1. */
unsigned workers_threads(const struct workers *w);
/* NULL is fine. */
void workers_free(struct workers *w);

/*
 * Has part(ctx, i) called for every i of [0, nr), each once, in any order and in any of the threads. The caller may do
 * something else meanwhile; its own thread is one of them in workers_end(), which returns when all are done, or at once
 * where nothing was begun.
 */
void workers_begin(struct workers *w, unsigned nr, void (*part)(void *ctx, unsigned i), void *ctx);
void workers_end(struct workers *w);
/* Both. */
void workers_do(struct workers *w, unsigned nr, void (*part)(void *ctx, unsigned i), void *ctx);

#endif
