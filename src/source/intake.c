#include "source/intake.h"

#include <glib.h>
#include <stdio.h>

unsigned intake_lanes(struct intake *in, const struct wire *wire)
{
	uint32_t lanes = atomic_load_explicit(&wire->lanes, memory_order_acquire);

	in->nr_lanes = CLAMP(lanes, in->nr_lanes, WIRE_LANES);
	return in->nr_lanes;
}

void intake_refuse(struct intake *in, struct wire *wire, unsigned lane)
{
	struct wire_lane *w = &wire->lane[lane];

	in->nr_refused += !in->refused[lane];
	in->refused[lane] = true;
	ring_refuse(&w->ring);
	if (!atomic_load_explicit(&w->answer.given, memory_order_relaxed))
		answer_give(&w->answer, &(const struct counters){ 0 });
}

/* A lane that was refused: once its thread has ended, another may have it. */
static void refused_still(struct intake *in, struct wire *wire, unsigned lane, uint32_t state)
{
	struct wire_lane *w = &wire->lane[lane];

	if (state != WIRE_LANE_ENDED) {
		intake_refuse(in, wire, lane);
		return;
	}
	in->refused[lane] = false;
	w->ring.head = w->ring.tail = 0;
	w->ring.sleeping = w->ring.refused = 0;
	atomic_store_explicit(&w->state, WIRE_LANE_FREE, memory_order_release);
}

bool intake_begins(struct intake *in, struct wire *wire, unsigned lane, uint32_t *thread)
{
	struct wire_lane *w = &wire->lane[lane];
	uint32_t state = atomic_load_explicit(&w->state, memory_order_acquire);

	if (in->refused[lane]) {
		refused_still(in, wire, lane, state);
		return false;
	}
	if (state == WIRE_LANE_FREE) {
		bool words = atomic_load_explicit(&w->ring.head, memory_order_acquire) != w->ring.tail;
		/* A thread that has begun since says so before it sends anything. */
		if (words && atomic_load_explicit(&w->state, memory_order_acquire) == WIRE_LANE_FREE)
			intake_refuse(in, wire, lane);
		return false;
	}
	*thread = w->thread;
	if (*thread >= WIRE_THREADS || (in->seen[*thread / 8] >> *thread % 8 & 1)) {
		intake_refuse(in, wire, lane);
		return false;
	}
	in->seen[*thread / 8] |= (uint8_t)(1 << *thread % 8);
	return true;
}

void intake_silence(struct intake *in, struct wire *wire)
{
	in->silent = true;
	wire->stop = 1;
	ring_refuse(&wire->definitions);
}

bool intake_told(const struct intake *in, const struct wire *wire, bool over, char *text, size_t size)
{
	static const char what[] = "the program overwrote the memory through which cyclewise follows it";

	if (in->silent || wire->taken || (wire->stop && !over))
		snprintf(text, size, "%s: nothing was profiled from there on", what);
	else if (in->nr_refused)
		snprintf(text, size, "%s: %u of its threads %s not profiled to the end", what, in->nr_refused,
		         in->nr_refused == 1 ? "was" : "were");
	else
		return false;
	return true;
}
