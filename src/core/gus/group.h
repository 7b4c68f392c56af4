/*
 * Variants of the abstract core side by side. What executions meet is found out once for all that leave caches, TLBs
 * and predictors as they are, and each variant only times it; one is not timed where it would only do what the core as
 * it is does, some cycles later (sharing.h). Those that are timed are so in groups, each instruction by all of a group
 * before the next.
 *
 * Place: outcome.h, time.h, sharing.h -> group -> core_ops.variants.
 */
#ifndef CYCLEWISE_CORE_GUS_GROUP_H
#define CYCLEWISE_CORE_GUS_GROUP_H

#include "core/variant_group.h"

extern const struct variant_group_ops abstract_group;

#endif
