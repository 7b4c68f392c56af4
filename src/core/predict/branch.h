/*
 * Branch prediction of one core: direction (TAGE family), targets (BTB, indirect predictor), return stack.
 *
 * On the right path a branch is predicted and, since the step says how it went, trained at once; the history
 * then holds the real outcome, as it does in hardware after recovery. On the wrong path branch_guess() predicts
 * on a copy of the speculative history and stack, and never trains.
 *
 * Not modelled: the delay between prediction and training. Direction is predicted for every conditional branch,
 * whether or not the BTB knows that there is one; where it does not, decode finds out (`redirect`).
 */
#ifndef CYCLEWISE_CORE_PREDICT_BRANCH_H
#define CYCLEWISE_CORE_PREDICT_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"
#include "isa/insn.h"

struct branch_unit;
/* What a checkpoint restores: global and path history with their folded forms, return stack. Caller's storage. */
struct branch_state;

enum btb_hit { BTB_MISS, BTB_FIRST, BTB_SECOND };

struct prediction {
	uint64_t target;       /* predicted next pc: fall-through, or a target; 0: unknown (indirect, never seen) */
	bool taken;
	uint8_t btb;           /* enum btb_hit: who knew that there is a branch, and its target; not asked for one
	                        * predicted not taken: BTB_MISS */
	bool mispredicted;     /* branch_resolve() only: direction, or the target of an indirect one or return, was
	                        * wrong */
	bool redirect;         /* predicted taken to a known target, but only decode found that there is a branch
	                        * (BTB_MISS) */
};

/*
 * 0, -ENOMEM, or -EINVAL where sizes do not fit together (the parameter is named). Idealised: always right,
 * BTB_FIRST.
 */
int branch_new(struct branch_unit **out, const struct core_desc *desc);
void branch_free(struct branch_unit *b);

/* Predicts `in`, compares with how it went (`next`: the pc executed after it), trains, updates the histories. */
void branch_resolve(struct branch_unit *b, const struct insn *in, bool taken, uint64_t next, struct prediction *p);

/* Bytes of a struct branch_state for this unit; copies the present speculative state into `s`. */
uint32_t branch_state_size(const struct branch_unit *b);
void branch_save(const struct branch_unit *b, struct branch_state *s);
/* Predicts on the copy and updates the copy by the prediction. */
void branch_guess(const struct branch_unit *b, struct branch_state *s, const struct insn *in, struct prediction *p);

#endif
