/*
 * Third stage of the room: description and costs -> struct insn and its uops.
 *
 * LLVM gives resources (groups listed together with their supersets) and one latency over all; the core wants
 * uops with disjoint port sets, loads and stores apart from what computes, and the latency without the load.
 */
#ifndef CYCLEWISE_ISA_LOWER_H
#define CYCLEWISE_ISA_LOWER_H

#include "isa/arch.h"
#include "isa/costs.h"
#include "isa/insn.h"
#include "isa/llvm.h"

enum { LOWER_UOPS = 255 };

/* LLVM's resources as the core's. */
struct resource_map {
	uint16_t ports;            /* port set; 0 with unit 0: not a resource of the core's */
	uint8_t unit;
};

struct lowering {
	const struct arch *arch;
	const struct cost_core *core;
	const struct resource_map *resources; /* [LLVM's resource] */
};

/*
 * Fills the rest of `shape->insn` (uops' number, slots, latencies, flags) and its uops; insn->uop is the
 * caller's to set. The order is that of insn.h: loads, compute, STA, STD.
 */
void lower(const struct lowering *low, struct shape *shape, const struct cost *cost, struct uop uops[LOWER_UOPS]);

#endif
