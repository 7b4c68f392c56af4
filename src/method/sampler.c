#include "method/sampler.h"

#include <glib.h>
#include <string.h>

#include "profile/profile.h"

enum { LEVEL_BITS = 5 };
_Static_assert(CLOCK_LEVELS <= 1 << LEVEL_BITS, "a level fits into a key");
#define KEY_USED ((uint64_t)1 << 63)   /* no key is 0 */

void sampler_init(struct sampler *s, const struct run *run)
{
	s->clock = run->clock;
	tally_init(&s->samples);
}

void sampler_fini(struct sampler *s)
{
	tally_fini(&s->samples);
}

void sampler_add(struct sampler *s, struct tick tick, uint32_t insn, uint16_t psv, uint32_t weight)
{
	if (tick.level < s->clock->level)
		return;
	tally_row(&s->samples, KEY_USED | tally_key(insn, psv) << LEVEL_BITS | tick.level)->units += weight;
}

int sampler_save(const struct sampler *s, const char *method, struct profile *out)
{
	size_t nr;
	struct tally_row *rows = tally_sorted(&s->samples, &nr);
	uint64_t total = 0, weight = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		uint64_t key = (rows[i].key & ~KEY_USED) >> LEVEL_BITS;
		bool last = i + 1 == nr || (rows[i + 1].key & ~KEY_USED) >> LEVEL_BITS != key;

		if ((rows[i].key & ((1 << LEVEL_BITS) - 1)) >= s->clock->level)
			weight += rows[i].units;
		if (!last || !weight)
			continue;
		err = profile_sample(out, method, tally_insn(key), tally_psv(key), weight);
		total += weight;
		weight = 0;
	}
	g_free(rows);
	if (!err)
		err = profile_figure(out, method, "samples", (double)total / CYCLE_UNITS);
	if (!err)
		err = profile_figure(out, method, "period", (double)clock_period(s->clock));
	return err;
}

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
