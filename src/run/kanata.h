/*
 * A log of when instructions passed each stage, in the format Kanata 0004, which the viewer Konata draws.
 *
 * The first thread that counts anything is logged, from there on: KANATA_MOST attempts, those on wrong paths and
 * squashed ones among them. Stages: F in the front end, D held up before dispatch, S in a scheduler, X executing, C
 * done and waiting to commit. An arrow leads to an instruction from the one whose result, port or place it waited for.
 * What it leaves out: uops one by one, a line's way through the caches, and stores behind their commit.
 * Ref: Konata, docs/kanata-log-format.md.
 */
#ifndef CYCLEWISE_RUN_KANATA_H
#define CYCLEWISE_RUN_KANATA_H

#include <stddef.h>

#include "isa/code.h"
#include "profile/query.h"
#include "record/timed.h"

enum { KANATA_MOST = 100000 };

struct kanata;

/* Opens the file: one that cannot be written is found out at once. 0 or -errno. */
int  kanata_new(struct kanata **out, const char *path);
/* Keeps what is to be logged of a batch of `thread`, which is compared only. */
void kanata_take(struct kanata *k, const void *thread, const struct timed *t, size_t n);
/* Writes what was kept; `q` names what committed. 0 or -errno. */
int  kanata_write(struct kanata *k, struct code *code, struct query *q);
void kanata_free(struct kanata *k); /* NULL is fine */

#endif
