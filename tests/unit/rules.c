#include "rules.h"

#include <stdbool.h>

static bool reached(uint32_t stage) { return stage != TIMED_NEVER; }

static const char *stages(const struct timed *t)
{
	if (reached(t->dispatch) && (!reached(t->avail) || t->dispatch < t->avail))
		return "dispatched before it was offered";
	if (reached(t->issue) && (!reached(t->dispatch) || t->issue < t->dispatch))
		return "issued before it dispatched";
	if (reached(t->complete) && reached(t->issue) && t->complete < t->issue)
		return "completed before it issued";
	if (t->leave >= TIMED_NEVER - 1)
		return "never left";
	if (reached(t->dispatch) && t->leave < t->dispatch)
		return "left before it dispatched";
	if (timed_commits(t) && (!reached(t->dispatch) || !reached(t->complete) || t->leave < t->complete))
		return "committed before it completed";
	if (reached(t->avail) && t->avail < (uint32_t)t->icache_stall + t->itlb_stall)
		return "offered before its fetch's stalls were over";
	return NULL;
}

/* In the order of the slots: as many as fit into the first cycle, then the rest in those after. */
static const char *rename(struct rules *r, const struct timed *t, unsigned width)
{
	uint64_t dispatch = timed_dispatch(t);

	if (dispatch < r->dispatch)
		return "dispatched before an older one";
	r->dispatch = dispatch;
	if (!t->slots)
		return NULL;
	if (dispatch < r->cycle || (dispatch == r->cycle && r->slots >= width))
		return "more slots in a cycle than rename is wide";
	if (dispatch > r->cycle) {
		r->cycle = dispatch;
		r->slots = 0;
	}
	r->slots += t->slots;
	while (r->slots > width) {
		r->slots -= width;
		r->cycle++;
	}
	if (!timed_commits(t) && r->cycle > timed_leave(t)) {
		r->cycle = timed_leave(t);     /* squashed half-way */
		r->slots = width;
	}
	return NULL;
}

static const char *commit(struct rules *r, const struct timed *t)
{
	uint64_t leave = timed_leave(t);

	if (leave < r->leave)
		return "committed before an older one";
	if (r->squash && leave <= r->squash && t->fetch > r->squash)
		return "committed before the squash that made it be fetched";
	r->commits = leave == r->leave ? r->commits + !(t->flags & TIMED_CONTINUED) : 1;
	r->leave = leave;
	return r->commits > 64 ? "more than 64 commit in a cycle" : NULL;
}

const char *rules_check(struct rules *r, const struct timed *t, unsigned width)
{
	const char *why = stages(t);

	if (why)
		return why;
	if (t->fetch < r->fetch)
		return "fetched before an older one";
	r->fetch = t->fetch;
	if (reached(t->avail)) {
		if (t->fetch + t->avail < r->avail)
			return "offered before an older one";
		r->avail = t->fetch + t->avail;
	}
	if (reached(t->dispatch) && (why = rename(r, t, width)))
		return why;
	if (t->flags & TIMED_CONTINUED && (t->insn != r->insn || (t->flags ^ r->flags) & (TIMED_WRONG | TIMED_SQUASHED)))
		return "continues another instruction";
	if (t->flags & TIMED_FUSED && t->slots)
		return "the second of a fused pair has slots of its own";
	if (t->flags & TIMED_FUSED && timed_commits(t) && timed_leave(t) != r->last_leave)
		return "the second of a fused pair commits by itself";
	if (timed_commits(t) && (why = commit(r, t)))
		return why;
	if (t->flags & TIMED_SQUASHED && t->flags & TIMED_FLUSHER && timed_leave(t) > r->squash)
		r->squash = timed_leave(t);
	r->insn = t->insn;
	r->flags = t->flags;
	r->last_leave = timed_leave(t);
	return NULL;
}
