/*
 * Basic blocks of what was executed, as a granularity at which methods are compared: each instruction's figure `leader`
 * is the index of the first instruction of its block.
 *
 * A block begins where control came by a taken branch, behind any branch, at a signal handler, and where its
 * instruction does not lie right behind another that was executed. Blocks that were never entered in the middle are not
 * cut there, whatever the code says.
 */
#include <errno.h>
#include <glib.h>

#include "method/feed.h"
#include "method/tally.h"
#include "profile/profile.h"

enum { EXECUTED = 1, LEADER = 2 };

struct blocks {
	struct code *code;
	uint8_t *seen;                 /* [TALLY_INSNS] */
	uint32_t nr;                   /* of them in use */
};

struct blocks_lane { bool branched; }; /* the instruction committed last */

static int blocks_open(void *state, const struct run *run)
{
	struct blocks *s = state;

	s->code = run->code;
	s->seen = tally_array_new(sizeof(*s->seen));
	return s->seen ? 0 : -ENOMEM;
}

static int blocks_lane(void *state, void *lane, uint32_t thread)
{
	((struct blocks_lane *)lane)->branched = true;
	return 0;
}

static void take(struct blocks *s, struct blocks_lane *l, const struct timed *t, const struct timed *end)
{
	for (; t < end; t++) {
		if (t->flags & (TIMED_SQUASHED | TIMED_CONTINUED) || t->insn >= TALLY_INSNS)
			continue;
		if (t->flags & TIMED_COUNTED) {
			s->seen[t->insn] |= EXECUTED | (l->branched || t->flags & TIMED_ENTER ? LEADER : 0);
			s->nr = t->insn < s->nr ? s->nr : t->insn + 1;
		}
		l->branched = t->flags & TIMED_BRANCH;
	}
}

static void blocks_block(void *state, void *lane, const struct block *b)
{
	for (size_t i = 0; i < b->walked.nr_right; i++)
		take(state, lane, b->t + b->walked.right[i].from, b->t + b->walked.right[i].to);
}

static gint by_pc(gconstpointer a, gconstpointer b, gpointer code)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = code_insn(code, i)->pc, y = code_insn(code, k)->pc;

	return x != y ? (x < y ? -1 : 1) : (i > k) - (i < k);
}

static int blocks_save(const void *state, struct profile *out)
{
	const struct blocks *s = state;
	GArray *in_order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint64_t next = 0;
	uint32_t leader = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->seen[i])
			g_array_append_val(in_order, i);
	g_array_sort_with_data(in_order, by_pc, s->code);
	for (guint i = 0; i < in_order->len && !err; i++) {
		uint32_t insn = g_array_index(in_order, uint32_t, i);
		if (!i || s->seen[insn] & LEADER || code_insn(s->code, insn)->pc != next)
			leader = insn;
		next = code_insn(s->code, insn)->pc + code_insn(s->code, insn)->length;
		err = profile_insn_figure(out, "blocks", insn, "leader", leader);
	}
	g_array_free(in_order, TRUE);
	return err;
}

static void blocks_close(void *state)
{
	struct blocks *s = state;

	tally_array_free(s->seen, sizeof(*s->seen));
}

const struct method method_blocks = {
	.name = "blocks",
	.help = "basic blocks of what was executed, to compare methods by",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct blocks),
	.lane_size = sizeof(struct blocks_lane),
	.open = blocks_open,
	.lane = blocks_lane,
	.block = blocks_block,
	.end = method_forgets,
	.save = blocks_save,
	.close = blocks_close,
};
