/*
 * Threads that share a job whose parts do not depend on each other: as many as there are processors, and the caller's own.
 */
#ifndef CYCLEWISE_CMD_WORKERS_H
#define CYCLEWISE_CMD_WORKERS_H

struct workers;

/* A thread that cannot be had is done without. */
struct workers *workers_new(void);
/* NULL is fine. */
void workers_free(struct workers *w);

/* Calls part(ctx, i) for every i of [0, nr), each once, in any order and in any of the threads; returns when all are done. */
void workers_do(struct workers *w, unsigned nr, void (*part)(void *ctx, unsigned i), void *ctx);

#endif
