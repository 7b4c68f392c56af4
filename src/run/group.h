/*
 * Variants of a core as cores side by side: for models that have no way of their own (core_ops.variants). Where two
 * foresee the same, it is foreseen once for both, by the caller's thread, since that adds to the table of instructions;
 * of a model without foresights (core_ops.open_foresight), one thread times all.
 */
#ifndef CYCLEWISE_RUN_GROUP_H
#define CYCLEWISE_RUN_GROUP_H

#include "core/variant_group.h"

extern const struct variant_group_ops group_of_cores;

#endif
