/*
 * Many variants of a core driven by one run of a program, in threads.
 *
 * How variants are timed side by side is for the model to say (core_ops.variants: on the abstract core, what executions
 * meet is found out once for most of them); of a model that does not, each is a core (variant_group.h). What is timed
 * at a time is handed to all variants before the next is, and they are independent of each other: threads change
 * nothing in the figures.
 *
 * What is to be weighted must be known before the first batch. What is asked only when the run is over is timed by
 * variants of their own, from the steps that were kept (replay_log.h).
 *
 * Cycles are of counted instructions, each from the commit before it to its own, summed over the guest's threads, each
 * of which has cores of its own.
 */
#ifndef CYCLEWISE_RUN_VARIANTS_H
#define CYCLEWISE_RUN_VARIANTS_H

#include "core/vary.h"
#include "run/drive.h"

extern const struct variant variant_as_is;

struct variants;

/*
 * All resources of a core that variants can weight on `model`, with the groups of ports that its cost file has. 0 or
 * -errno.
 */
int variants_resources(struct vary out[VARY_MAX], unsigned *nr, const struct core_desc *d,
                       const struct core_ops *model);

/* None yet. `run` is copied; what it points to must outlive them. */
struct variants *variants_new(const struct driven_run *run);
void variants_free(struct variants *v);

/*
 * Adds one, before the first batch; its number in *nr, from 0 on. -ERANGE, without a message, where the weight changes
 * nothing, or the model cannot do it.
 */
int  variants_add(struct variants *v, const struct variant *variant, unsigned *nr);

/* 0 or -errno. */
int  variants_batch(struct variants *v, const struct step_batch *b);
/* All that an ended replay log holds, with a progress line where the options want one. 0 or -errno. */
int  variants_read(struct variants *v, const struct replay_log *steps);
/* Cycles of variant `nr` so far; instructions counted, which are the same of all. */
uint64_t variants_cycles(struct variants *v, unsigned nr);
uint64_t variants_instructions(struct variants *v);

#endif
