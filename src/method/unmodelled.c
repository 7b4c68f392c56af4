/*
 * How often each static instruction was executed, and so, how much of the run had no cost data: instructions that
 * isa/ marks INSN_UNMODELLED ran with assumed costs, and are reported by form instead of silently believed.
 *
 * The total of executions (run key `executions`) is there to be compared: instructions counted by the source =
 * steps received = timed records = executions.
 */
#include <errno.h>
#include <glib.h>
#include <stdlib.h>

#include "method/feed.h"
#include "method/tally.h"
#include "profile/profile.h"

struct unmodelled {
	struct code *code;
	uint64_t *executions;          /* [TALLY_INSNS] */
	uint64_t total;
};

static int unmodelled_open(void *state, const struct run *run)
{
	struct unmodelled *s = state;

	s->code = run->code;
	s->executions = tally_array_new(sizeof(*s->executions));
	return s->executions ? 0 : -ENOMEM;
}

static int unmodelled_lane(void *state, void *lane, uint32_t thread)
{
	return 0;
}

static void take(struct unmodelled *s, const struct timed *t, const struct timed *end)
{
	uint64_t total = 0;

	for (; t < end; t++) {
		unsigned counts = (t->flags & (TIMED_SQUASHED | TIMED_CONTINUED | TIMED_COUNTED)) == TIMED_COUNTED;
		total += counts;
		if (__builtin_expect(t->insn < TALLY_INSNS, 1))
			s->executions[t->insn] += counts;
	}
	s->total += total;
}

static void unmodelled_block(void *state, void *lane, const struct block *b)
{
	for (size_t i = 0; i < b->walked.nr_right; i++)
		take(state, b->t + b->walked.right[i].from, b->t + b->walked.right[i].to);
}

static int by_name(const void *a, const void *b)
{
	return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

/* By form, in the order of their names. */
static int unmodelled_save(const void *state, struct profile *out)
{
	const struct unmodelled *s = state;
	GHashTable *forms = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	int err = profile_set_int(out, "executions", (int64_t)s->total);

	for (uint32_t i = 0; i < TALLY_INSNS && i < s->code->nr; i++) {
		if (!s->executions[i] || !(code_insn(s->code, i)->flags & INSN_UNMODELLED))
			continue;
		const char *form = code_form(s->code, i);
		uint64_t *sum = g_hash_table_lookup(forms, form);
		if (!sum) {
			sum = g_new0(uint64_t, 1);
			g_hash_table_insert(forms, (gpointer)form, sum);
		}
		*sum += s->executions[i];
	}
	guint nr;
	gpointer *names = g_hash_table_get_keys_as_array(forms, &nr);
	qsort(names, nr, sizeof(*names), by_name);
	for (guint i = 0; i < nr && !err; i++)
		err = profile_unmodelled(out, names[i], *(const uint64_t *)g_hash_table_lookup(forms, names[i]));
	g_free(names);
	g_hash_table_destroy(forms);
	return err;
}

static void unmodelled_close(void *state)
{
	struct unmodelled *s = state;

	tally_array_free(s->executions, sizeof(*s->executions));
}

const struct method method_unmodelled = {
	.name = "unmodelled",
	.help = "executions of instructions that the core has no cost data for",
	.state_size = sizeof(struct unmodelled),
	.lane_size = 1,
	.open = unmodelled_open,
	.lane = unmodelled_lane,
	.block = unmodelled_block,
	.save = unmodelled_save,
	.close = unmodelled_close,
};
