/*
 * The four commit states of each thread, and how many committed instructions met each event.
 *
 * The states sum to the thread's counted cycles, exactly. Events count instructions, whether or not they cost
 * a cycle: how little the two have to do with each other is TEA's figure 7.
 */
#include "method/walker.h"
#include "profile/profile.h"

struct states_lane {
	struct walker walker;
	uint32_t thread;
	struct states_lane *next;      /* in order of creation */
	uint64_t compute;              /* units */
	uint64_t cycles[NR_STATES];    /* whole cycles; STATE_COMPUTE unused */
	uint64_t signature[1 << NR_PSV]; /* committed counted instructions */
};

struct states { struct states_lane *first, **end; };

static int states_open(void *state, const struct run *run)
{
	struct states *s = state;

	s->end = &s->first;
	return 0;
}

static int states_lane(void *state, void *lane, uint32_t thread)
{
	struct states *s = state;
	struct states_lane *l = lane;

	walker_init(&l->walker);
	l->thread = thread;
	*s->end = l;
	s->end = &l->next;
	return 0;
}

static void take(struct states_lane *l, const struct interval *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!interval_counts(&v[i]))
			continue;
		l->cycles[v[i].empty] += v[i].enter - v[i].from;
		l->cycles[STATE_STALLED] += v[i].commit - v[i].enter;
		l->compute += v[i].units;
		l->signature[v[i].psv % (1 << NR_PSV)] += interval_commits(&v[i]);
	}
}

static void states_batch(void *state, void *lane, const struct timed *t, size_t n)
{
	struct states_lane *l = lane;
	const struct timed *end = t + n;
	const struct interval *v;

	while (t < end) {
		size_t nr = walker_read(&l->walker, &t, end, &v);
		take(l, v, nr);
	}
}

static void states_finish(void *state, void *lane)
{
	struct states_lane *l = lane;
	const struct interval *v;
	size_t nr = walker_finish(&l->walker, &v);

	take(l, v, nr);
}

static int states_save(const void *state, struct profile *out)
{
	static const char *const names[NR_STATES] = { "compute", "stalled", "drained", "flushed" };
	const struct states *s = state;
	uint64_t events[NR_PSV] = { 0 };
	int err = 0;

	for (const struct states_lane *l = s->first; l; l = l->next) {
		for (unsigned k = 0; k < NR_STATES && !err; k++) {
			uint64_t units = k == STATE_COMPUTE ? l->compute : l->cycles[k] * CYCLE_UNITS;
			err = profile_state(out, l->thread, names[k], units);
		}
		for (unsigned psv = 1; psv < 1 << NR_PSV; psv++)
			for (unsigned bit = 0; bit < NR_PSV; bit++)
				events[bit] += psv >> bit & 1 ? l->signature[psv] : 0;
	}
	for (unsigned bit = 0; bit < NR_PSV && !err; bit++)
		err = profile_event(out, psv_event(bit), events[bit]);
	return err;
}

static void states_close(void *state)
{
}

const struct method method_states = {
	.name = "states",
	.help = "commit states of each thread, and how many instructions met each event",
	.state_size = sizeof(struct states),
	.lane_size = sizeof(struct states_lane),
	.open = states_open,
	.lane = states_lane,
	.batch = states_batch,
	.finish = states_finish,
	.save = states_save,
	.close = states_close,
};
