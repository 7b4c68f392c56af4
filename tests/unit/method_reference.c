#include "method_reference.h"

#include <stdlib.h>

/* What can pay: a committed instruction, or a squashed flusher. */
struct party {
	size_t record;
	uint32_t insn;
	uint16_t psv;
	bool counted, commits, flushes, serialises;
	uint64_t dispatch, leave;
};

/* In stream order. */
static size_t parties(const struct timed *t, size_t n, struct party *p)
{
	size_t nr = 0;
	uint64_t squashed = 0;

	for (size_t i = 0; i < n; i++) {
		bool flusher = t[i].flags & TIMED_FLUSHER;

		if (t[i].flags & TIMED_WRONG)
			continue;
		if (t[i].flags & TIMED_SQUASHED) {
			if (!flusher || timed_leave(&t[i]) < squashed)
				continue;
			squashed = timed_leave(&t[i]) + 1;
		} else if (t[i].flags & TIMED_CONTINUED) {
			p[nr - 1].psv |= t[i].psv;
			p[nr - 1].leave = timed_leave(&t[i]);
			continue;
		}
		p[nr++] = (struct party){ i, t[i].insn, t[i].psv, t[i].flags & TIMED_COUNTED, timed_commits(&t[i]), flusher,
		                          flusher && timed_dispatch_wait(&t[i]) == WAIT_SERIAL,
		                          timed_dispatch(&t[i]), timed_leave(&t[i]) };
	}
	return nr;
}

void reference_walk(const struct timed *t, size_t n, void (*visit)(const struct charge *c, void *ctx), void *ctx)
{
	struct party *p = malloc(n * sizeof(*p));
	size_t nr = parties(t, n, p), head = 0;

	for (uint64_t cycle = 0; head < nr; cycle++) {
		unsigned together = 0, place = 0;

		for (size_t k = head; k < nr && p[k].leave <= cycle; k++)
			together += p[k].commits && p[k].leave == cycle;
		for (; head < nr && p[head].leave <= cycle && (together || p[head].leave < cycle); head++) {
			if (!p[head].commits)
				continue;
			uint32_t units = CYCLE_UNITS / together + (place++ < CYCLE_UNITS % together);
			visit(&(struct charge){ cycle, STATE_COMPUTE, p[head].insn, p[head].psv, p[head].counted, units, p[head].record }, ctx);
		}
		if (together || head == nr)
			continue;
		const struct party *payer = &p[head];
		enum commit_state state = payer->serialises ? STATE_FLUSHED : STATE_DRAINED;
		if (payer->dispatch <= cycle) {
			state = STATE_STALLED;
		} else if (head && p[head - 1].flushes) {
			state = STATE_FLUSHED;
			payer--;
		}
		visit(&(struct charge){ cycle, state, payer->insn, payer->psv, p[head].counted, CYCLE_UNITS, p[head].record }, ctx);
	}
	free(p);
}
