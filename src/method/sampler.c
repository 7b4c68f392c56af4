#include "method/sampler.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "profile/profile.h"

enum { LEVEL_BITS = 5 };
_Static_assert(CLOCK_LEVELS <= 1 << LEVEL_BITS, "a level fits into a key");
#define KEY_USED ((uint64_t)1 << 63)   /* no key is 0 */

int sampler_open(void *state, const struct run *run)
{
	struct sampler *s = state;

	s->clock = run->clock;
	s->sweep = run->sweep;
	tally_init(&s->samples);
	return 0;
}

int sampler_lane(void *state, void *lane, uint32_t thread)
{
	struct sampler *s = state;
	struct sampler_lane *l = lane;

	l->next = s->lanes;
	s->lanes = l;
	return 0;
}

void sampler_end(void *state, void *lane)
{
	struct sampler *s = state;
	struct sampler_lane *l = lane, **at = &s->lanes;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	ticks_fini(&l->ticks);
}

void sampler_close(void *state)
{
	struct sampler *s = state;

	for (struct sampler_lane *l = s->lanes; l; l = l->next)
		ticks_fini(&l->ticks);
	tally_fini(&s->samples);
}

void sampler_add(struct sampler *s, struct tick tick, uint32_t insn, uint16_t psv, uint32_t weight)
{
	if (tick.level < s->clock->level)
		return;
	tally_row(&s->samples, KEY_USED | tally_key(insn, psv) << LEVEL_BITS | tick.level)->units += weight;
}

void sampler_add_weighted(struct sampler *s, struct tick tick, uint32_t insn, uint16_t psv, uint32_t weight)
{
	sampler_add(s, tick, insn, psv, weight);
	s->weighted[tick.level]++;
}

void sampler_drop(struct sampler *s, struct tick tick)
{
	s->dropped[tick.level]++;
}

/* --- saving ------------------------------------------------------------------------------------------ */

static uint64_t key_of(const struct tally_row *r) { return (r->key & ~KEY_USED) >> LEVEL_BITS; }
static uint32_t level_of(const struct tally_row *r) { return r->key & ((1 << LEVEL_BITS) - 1); }

/* What there would be with the clock at `level`. */
static int save_level(const struct sampler *s, const struct tally_row *rows, size_t nr, uint32_t level,
                      const char *name, struct profile *out)
{
	uint64_t total = 0, weight = 0, dropped = 0, weighted = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (level_of(&rows[i]) >= level)
			weight += rows[i].units;
		if ((i + 1 < nr && key_of(&rows[i + 1]) == key_of(&rows[i])) || !weight)
			continue;
		err = profile_sample(out, name, tally_insn(key_of(&rows[i])), tally_psv(key_of(&rows[i])), weight);
		total += weight;
		weight = 0;
	}
	for (uint32_t i = level; i < CLOCK_LEVELS; i++) {
		dropped += s->dropped[i];
		weighted += s->weighted[i];
	}
	if (!err)
		err = profile_figure(out, name, "samples", weighted ? (double)weighted : (double)total / CYCLE_UNITS);
	if (!err)
		err = profile_figure(out, name, "dropped", (double)dropped);
	if (!err)
		err = profile_figure(out, name, "period", (double)(s->clock->period << level));
	return err;
}

int sampler_save(const struct sampler *s, const char *method, uint16_t events, struct profile *out)
{
	uint32_t level = s->clock->level, last = s->sweep ? clock_levels(s->clock) : level;
	size_t nr;
	struct tally_row *rows = tally_sorted(&s->samples, &nr);
	int err = save_level(s, rows, nr, level, method, out);

	if (!err)
		err = profile_figure(out, method, "events", events);
	while (++level <= last && !err) {
		char *name = g_strdup_printf("%s/%" PRIu64, method, s->clock->period << level);
		err = save_level(s, rows, nr, level, name, out);
		g_free(name);
	}
	g_free(rows);
	return err;
}

/* --- ticks ------------------------------------------------------------------------------------------- */

void ticks_fini(struct ticks *q)
{
	g_free(q->tick);
	q->tick = NULL;
}

void ticks_push(struct ticks *q, const struct tick *tick, size_t n)
{
	if (!n)
		return;
	if (q->head) {
		q->nr -= q->head;
		memmove(q->tick, q->tick + q->head, q->nr * sizeof(*q->tick));
		q->head = 0;
	}
	if (q->nr + n > q->room) {
		q->room = 2 * (q->nr + n);
		q->tick = g_renew(struct tick, q->tick, q->room);
	}
	memcpy(q->tick + q->nr, tick, n * sizeof(*tick));
	q->nr += n;
}

static uint64_t dispatch_of(const struct timed *t) { return t->dispatch == TIMED_NEVER ? 0 : timed_dispatch(t); }
static uint64_t fetch_of(const struct timed *t) { return t->fetch; }

static inline void at_stage(struct sampler *s, struct sampler_lane *l, const struct block *b, sampler_tag *tag,
                            uint64_t (*stage)(const struct timed *t))
{
	ticks_push(&l->ticks, b->tick, b->nr_ticks);
	if (ticks_next(&l->ticks) == UINT64_MAX)
		return;
	for (const struct timed *t = b->t; t < b->t + b->n; t++)
		while (ticks_next(&l->ticks) <= stage(t))
			tag(s, ticks_pop(&l->ticks), t);
}

void sampler_at_dispatch(struct sampler *s, struct sampler_lane *l, const struct block *b, sampler_tag *tag)
{
	at_stage(s, l, b, tag, dispatch_of);
}

void sampler_at_fetch(struct sampler *s, struct sampler_lane *l, const struct block *b, sampler_tag *tag)
{
	at_stage(s, l, b, tag, fetch_of);
}

void sampler_at_commit(struct sampler *s, struct sampler_lane *l, const struct block *b, sampler_owner *owner)
{
	const struct interval *v = b->walked.v, *end = v + b->walked.nr;

	ticks_push(&l->ticks, b->tick, b->nr_ticks);
	while (ticks_next(&l->ticks) < b->walked.end) {
		while (interval_end(v) <= ticks_next(&l->ticks))
			v++;
		owner(s, ticks_pop(&l->ticks), v, end);
	}
}
