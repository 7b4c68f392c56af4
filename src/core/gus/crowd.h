/*
 * Variants of the abstract core side by side. What executions meet is found out once for all that leave caches, TLBs and predictors as
 * they are, and each variant only times it; one is not timed where it would only do what the core as it is does, some cycles later
 * (along.h). Those that are timed are so in groups, each instruction by all of a group before the next.
 *
 * Place: outcome.h, time.h, along.h -> crowd -> core_ops.crowd.
 */
#ifndef CYCLEWISE_CORE_GUS_CROWD_H
#define CYCLEWISE_CORE_GUS_CROWD_H

#include "core/crowd.h"

extern const struct crowd_ops abstract_crowd;

#endif
