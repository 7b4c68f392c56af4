/*
 * Variants of a core as cores side by side: for models that have no way of their own (core_ops.crowd). Where two foresee the same, it
 * is foreseen once for both, by the caller's thread, since that adds to the table of instructions; of a model without seers
 * (core_ops.open_seer), one thread times all.
 */
#ifndef CYCLEWISE_RUN_CROWD_H
#define CYCLEWISE_RUN_CROWD_H

#include "core/crowd.h"

extern const struct crowd_ops crowd_of_cores;

#endif
