/*
 * Commit in the detailed core, and the record that an attempt leaves. Inline for the short way of plain
 * instructions in ooo.c.
 */
#ifndef CYCLEWISE_CORE_OOO_COMMIT_H
#define CYCLEWISE_CORE_OOO_COMMIT_H

#include "core/ooo/ooo.h"

/* In order, `commit.width` slots a cycle; with its last uop. Older uops of a wide instruction go before. */
static inline void attempt_commit(struct ooo *o, struct attempt *a)
{
	unsigned width = (unsigned)o->desc->commit_width;
	uint64_t earliest = a->complete + (unsigned)o->desc->commit_latency;

	if (!a->slots) {
		if (earliest > o->commit_cycle) {
			o->commit_cycle = earliest;
			o->commit_used = 0;
		}
		a->leave = o->commit_cycle;
		return;
	}
	unsigned total = o->commit_used + a->slots;
	uint64_t cycle = o->commit_cycle;
	if (total > width) {
		cycle += (total - 1) / width;
		total = (total - 1) % width + 1;
	}
	if (cycle < earliest) {
		cycle = earliest;
		total = a->slots <= width ? a->slots : 1;
	}
	o->commit_used = total;
	o->commit_cycle = cycle;
	a->leave = cycle;
}

/* How many records back `by` (a record's number + 1) is; 0: none, or too far. */
static inline uint16_t back(const struct ooo *o, uint64_t by)
{
	uint64_t d = o->record + 1 - by;
	return by && d <= UINT16_MAX ? (uint16_t)d : 0;
}

static inline uint8_t saturate(unsigned v)
{
	return v < UINT8_MAX ? (uint8_t)v : UINT8_MAX;
}

/*
 * Whether `last`, the latest cycle of an attempt, can be said in cycles since its fetch: always, but for absurd
 * latencies.
 */
static inline bool fits(uint64_t fetch, uint64_t last)
{
	return last - fetch < TIMED_NEVER;
}

/* ooo.c: the attempt with all its cycles held within what fits. */
struct attempt attempt_clamp(const struct attempt *a);

static inline void attempt_record(struct ooo *o, const struct attempt *a, uint16_t flags)
{
	uint64_t fetch = a->fetched.fetch;
	uint16_t dispatch_by = back(o, a->dispatch_by), issue_by = back(o, a->issue_by);
	struct attempt clamped;

	if (__builtin_expect(!fits(fetch, later(a->leave, a->drain)), 0)) {
		clamped = attempt_clamp(a);
		a = &clamped;
	}
	*record_next(o) = (struct timed){
		.fetch = fetch,
		.addr = a->step->addr,
		.insn = a->index,
		.avail = (uint32_t)(a->fetched.avail - fetch),
		.dispatch = (uint32_t)(a->dispatch - fetch),
		.ready = (uint32_t)(a->ready - fetch),
		.issue = (uint32_t)(a->issue - fetch),
		.complete = (uint32_t)(a->complete - fetch),
		.leave = (uint32_t)(a->leave - fetch),
		.drain = (uint32_t)(a->drain - fetch),
		.psv = a->fetched.psv | a->psv,
		.flags = record_flags(a->in, &a->fetched, flags | (a->fused ? TIMED_FUSED : 0u)),
		.icache_stall = a->fetched.icache_stall,
		.itlb_stall = a->fetched.itlb_stall,
		.dispatch_by = dispatch_by,
		.issue_by = issue_by,
		.slots = saturate(a->slots),
		.uops = saturate(a->nr_uops),
		.why = (uint8_t)(a->dispatch_wait | a->issue_wait << 4),
		.level = timed_level(a->level, (enum ilevel)a->fetched.code_level,
		                     (unsigned)(a->fetched.merged | a->merged)),
	};
}

#endif
