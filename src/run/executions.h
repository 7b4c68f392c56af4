/*
 * How often each static instruction was executed and counted, for what drives cores without the methods: they say it
 * otherwise (method/unmodelled.c).
 */
#ifndef CYCLEWISE_RUN_EXECUTIONS_H
#define CYCLEWISE_RUN_EXECUTIONS_H

#include "isa/code.h"
#include "profile/profile.h"
#include "source/source.h"

struct executions {
	uint64_t *of;                  /* [nr], by static instruction */
	uint32_t nr;
};

void executions_fini(struct executions *e);
void executions_count(struct executions *e, const struct code *code, const struct step_batch *b);
/* The forms that the core has no cost for, with their executions. 0 or -errno. */
int  executions_save_unmodelled(const struct executions *e, struct code *code, struct profile *p);

#endif
