/*
 * Many variants of a core driven by one run of a program, in threads.
 *
 * On the abstract core what executions meet is found out once for all variants that leave caches, TLBs and predictors as
 * they are, and each variant only times it; on the detailed core variants share the steps. A batch is handed to all
 * variants before the next is read, and variants are independent of each other: threads change nothing in the figures.
 *
 * Combinations come in late: which resources limit most is known when some of the run has been seen. That part is kept, and
 * what is added then starts with it, so that a combination, too, covers the whole run.
 *
 * Cycles are of counted instructions, each from the commit before it to its own, summed over the guest's threads, each
 * of which has cores of its own.
 */
#ifndef CYCLEWISE_CMD_VARIANTS_H
#define CYCLEWISE_CMD_VARIANTS_H

#include "cmd/drive.h"
#include "core/vary.h"

enum { VARIANT_PARTS = 3 };

/* What is weighted, all alike, and what is made ideal beside it. Nothing of either: the core as it is. */
struct variant {
	struct core_ideal ideal;
	const struct vary *part[VARIANT_PARTS];
	unsigned nr;
	uint32_t weight;               /* relaxing, in thousandths: 2000 halves a time and doubles what else there is */
};

struct variants;

/* All resources of a core that variants can weight, with the groups of ports that its cost file has. 0 or -errno. */
int  variants_resources(struct vary out[VARY_MAX], unsigned *nr, const struct core_desc *d, bool abstract);

/* `run` is copied; what it points to must outlive them. 0 or -errno. */
int  variants_new(struct variants **out, const struct driven_run *run);
void variants_free(struct variants *v);

/*
 * Adds one; its number in *nr. Until the first batch, or while the run so far is kept (variants_kept()). -ERANGE, without
 * a message, where the weight changes nothing, or the model cannot do it.
 */
int  variants_add(struct variants *v, const struct variant *variant, unsigned *nr);
/* Whether the run so far is kept still: until it is longer than what is kept. */
bool variants_kept(const struct variants *v);
/* The run so far need not be kept. */
void variants_forget(struct variants *v);

int  variants_batch(struct variants *v, const struct step_batch *b);
/* Cycles of variant `nr` so far; instructions counted. */
uint64_t variants_cycles(const struct variants *v, unsigned nr);
uint64_t variants_instructions(const struct variants *v);

#endif
