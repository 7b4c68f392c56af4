/*
 * The four commit states of each thread, and how many committed instructions met each event.
 *
 * The states sum to the thread's counted cycles, exactly. Events count instructions, whether or not they cost
 * a cycle: how little the two have to do with each other is TEA's figure 7.
 */
#include <glib.h>

#include "method/feed.h"
#include "profile/profile.h"

struct states_lane {
	uint32_t thread;
	struct states_lane *next;      /* in order of creation */
	uint64_t compute;              /* units */
	uint64_t cycles[NR_STATES];    /* whole cycles; STATE_COMPUTE unused */
	uint64_t signature[1 << NR_PSV]; /* committed counted instructions; without events: 0 */
};

/* Of a thread that has ended. */
struct ended {
	uint32_t thread;
	uint64_t units[NR_STATES];
};
_Static_assert(sizeof(struct ended) <= METHOD_ROW, "what a thread leaves behind is small");

struct states {
	struct states_lane *first, **end;
	GArray *ended;                 /* struct ended */
	uint64_t signature[1 << NR_PSV]; /* of all those */
};

static int states_open(void *state, const struct run *run)
{
	struct states *s = state;

	s->end = &s->first;
	s->ended = g_array_new(FALSE, FALSE, sizeof(struct ended));
	return 0;
}

static int states_lane(void *state, void *lane, uint32_t thread)
{
	struct states *s = state;
	struct states_lane *l = lane;

	l->thread = thread;
	*s->end = l;
	s->end = &l->next;
	return 0;
}

/* What of the block's cycles does not count. */
static void leave_out(const struct walked *w, uint64_t *empty, uint64_t *stalled)
{
	for (const struct interval *v = w->v; v < w->v + w->nr; v++) {
		if (interval_counts(v))
			continue;
		*empty -= v->enter - v->from;
		*stalled -= v->commit - v->enter;
	}
}

static void states_block(void *state, void *lane, const struct block *b)
{
	struct states_lane *l = lane;
	const struct walked *w = &b->walked;
	uint64_t empty = w->empty, stalled = w->stalled, flushed = 0;

	if (!(w->every & TIMED_COUNTED))
		leave_out(w, &empty, &stalled);
	for (size_t i = 0; i < w->nr_notable; i++) {
		const struct interval *v = &w->v[w->notable[i]];
		if (!interval_counts(v))
			continue;
		if (v->psv && interval_commits(v))
			l->signature[v->psv % (1 << NR_PSV)]++;
		flushed += v->flushed ? v->enter - v->from : 0;
	}
	l->compute += walked_units(w) - (stalled + empty) * CYCLE_UNITS;
	l->cycles[STATE_STALLED] += stalled;
	l->cycles[STATE_FLUSHED] += flushed;
	l->cycles[STATE_DRAINED] += empty - flushed;
}

static struct ended row(const struct states_lane *l)
{
	struct ended e = { l->thread, { l->compute } };

	for (unsigned k = STATE_COMPUTE + 1; k < NR_STATES; k++)
		e.units[k] = l->cycles[k] * CYCLE_UNITS;
	return e;
}

static void states_end(void *state, void *lane)
{
	struct states *s = state;
	struct states_lane *l = lane, **at = &s->first;
	struct ended e = row(l);

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	s->end = l->next ? s->end : at;
	g_array_append_val(s->ended, e);
	for (unsigned psv = 0; psv < 1 << NR_PSV; psv++)
		s->signature[psv] += l->signature[psv];
}

static void add_events(uint64_t events[NR_PSV], const uint64_t signature[1 << NR_PSV])
{
	for (unsigned psv = 1; psv < 1 << NR_PSV; psv++)
		for (unsigned bit = 0; bit < NR_PSV; bit++)
			events[bit] += psv >> bit & 1 ? signature[psv] : 0;
}

static int save_row(struct profile *out, const struct ended *e)
{
	static const char *const names[NR_STATES] = { "compute", "stalled", "drained", "flushed" };
	int err = 0;

	for (unsigned k = 0; k < NR_STATES && !err; k++)
		err = profile_state(out, e->thread, names[k], e->units[k]);
	return err;
}

static int states_save(const void *state, struct profile *out)
{
	const struct states *s = state;
	uint64_t events[NR_PSV] = { 0 };
	int err = 0;

	for (guint i = 0; i < s->ended->len && !err; i++)
		err = save_row(out, &g_array_index(s->ended, struct ended, i));
	add_events(events, s->signature);
	for (const struct states_lane *l = s->first; l && !err; l = l->next) {
		struct ended now = row(l);

		err = save_row(out, &now);
		add_events(events, l->signature);
	}
	for (unsigned bit = 0; bit < NR_PSV && !err; bit++)
		err = profile_event(out, psv_event(bit), events[bit]);
	return err;
}

static void states_close(void *state)
{
	g_array_free(((struct states *)state)->ended, TRUE);
}

const struct method method_states = {
	.name = "states",
	.help = "commit states of each thread, and how many instructions met each event",
	.state_size = sizeof(struct states),
	.lane_size = sizeof(struct states_lane),
	.open = states_open,
	.lane = states_lane,
	.block = states_block,
	.end = states_end,
	.save = states_save,
	.close = states_close,
};
