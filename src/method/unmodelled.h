/*
 * How much of a run had no cost data: executions of instructions that isa/ marks INSN_UNMODELLED, which ran with
 * assumed costs.
 */
#ifndef CYCLEWISE_METHOD_UNMODELLED_H
#define CYCLEWISE_METHOD_UNMODELLED_H

#include <stdint.h>

#include "isa/code.h"

struct profile;

/* By form, in the order of their names; `executions` says how often each instruction was. 0 or -errno. */
int unmodelled_save(struct code *code, uint64_t (*executions)(const void *ctx, uint32_t insn), const void *ctx,
                    struct profile *out);

#endif
