#include "core/predict/branch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/predict/base.h"
#include "core/predict/btb.h"
#include "core/predict/history.h"
#include "core/predict/indirect.h"
#include "core/predict/ras.h"
#include "core/predict/tage.h"

enum predictor { PREDICTOR_TAGE, PREDICTOR_GSHARE, PREDICTOR_BIMODAL };

struct branch_state {
	struct history history;
	uint32_t ras_top;
	uint64_t tail[];               /* return stack [ras_entries] */
};

struct branch_unit {
	enum predictor predictor;
	bool ideal;
	unsigned pc_shift;             /* log2 of the ISA's instruction alignment: predictors index by pc >> this */
	uint32_t ras_entries;
	uint32_t state_size;
	struct history_shape shape;
	struct base bimodal;           /* of the predictor named so alone */
	struct gshare gshare;
	struct tage tage;
	struct btb first, second;
	struct indirect indirect;
	struct branch_state *now;      /* as of the last branch resolved */
};

/* What one prediction looked up, for its training. */
struct lookup {
	struct gshare_lookup gshare;
	struct tage_lookup tage;
	struct indirect_lookup indirect;
};

static uint64_t *ras_of(struct branch_state *s)
{
	return s->tail;
}

static int power_of_two(const struct core_desc *desc, const char *param, int32_t value)
{
	if (!(value & (value - 1)))
		return 0;
	error_set(EINVAL, desc->name, "%s is %d, which is not a power of two", param, value);
	error_remedy("try %d", 1 << (31 - __builtin_clz((unsigned)value)));
	return -EINVAL;
}

static bool parts_are_powers_of_two(int32_t entries, int32_t parts)
{
	int32_t size = entries / parts;

	return size * parts == entries && !(size & (size - 1));
}

static int whole_sets(const struct core_desc *desc, const char *param, int32_t entries, int32_t ways)
{
	if (parts_are_powers_of_two(entries, ways))
		return 0;
	return error_set(EINVAL, desc->name, "%s: %d entries in %d ways are not a power of two of sets", param, entries,
	                 ways);
}

static enum history_kind history_kind(const struct core_desc *d)
{
	if (!strcmp(d->history, "taken-path"))
		return HISTORY_TAKEN_PATH;
	if (!strcmp(d->history, "taken-conditionals"))
		return HISTORY_TAKEN_CONDITIONALS;
	return strcmp(d->history, "taken-branches") ? HISTORY_DIRECTIONS : HISTORY_TAKEN_BRANCHES;
}

static int check(const struct core_desc *d)
{
	int ret = power_of_two(d, "branch.base_entries", d->branch_base_entries);

	if (!ret)
		ret = whole_sets(d, "branch.btb1_entries", d->branch_btb1_entries, d->branch_btb1_ways);
	if (!ret)
		ret = whole_sets(d, "branch.btb_entries", d->branch_btb_entries, d->branch_btb_ways);
	if (!ret && !parts_are_powers_of_two(d->branch_indirect_entries, d->branch_indirect_tables))
		ret = error_set(EINVAL, d->name,
		                "branch.indirect_entries: %d entries in %d tables are not a power of two each",
		                d->branch_indirect_entries, d->branch_indirect_tables);
	if (!ret && (unsigned)d->branch_indirect_history > history_longest_indirect(history_kind(d)))
		ret = error_set(EINVAL, d->name,
		                "branch.indirect_history: %d is more than branch.history = %s can hold, %u",
		                d->branch_indirect_history, d->history, history_longest_indirect(history_kind(d)));
	return ret;
}

static int direction_init(struct branch_unit *b, const struct core_desc *d)
{
	uint32_t entries = (uint32_t)d->branch_base_entries;
	unsigned shift = (unsigned)d->branch_hysteresis_shift;

	b->shape.kind = history_kind(d);
	if (!strcmp(d->predictor, "gshare")) {
		b->predictor = PREDICTOR_GSHARE;
		return gshare_init(&b->gshare, entries);
	}
	if (!strcmp(d->predictor, "bimodal")) {
		b->predictor = PREDICTOR_BIMODAL;
		return base_init(&b->bimodal, entries, shift);
	}
	b->predictor = PREDICTOR_TAGE;
	return tage_init(&b->tage, d->name, d->tage, entries, shift, &b->shape);
}

int branch_new(struct branch_unit **out, const struct core_desc *d)
{
	struct branch_unit *b;
	int ret = check(d);

	*out = NULL;
	if (ret)
		return ret;
	b = calloc(1, sizeof *b);
	if (!b)
		return error_errno(ENOMEM, "branch predictor");
	b->ideal = d->ideal.branch;
	b->pc_shift = !strcmp(d->isa, "aarch64") ? 2 : !strcmp(d->isa, "riscv64") ? 1 : 0;
	b->ras_entries = (uint32_t)d->branch_ras_entries;
	b->state_size = (uint32_t)(sizeof *b->now + b->ras_entries * sizeof b->now->tail[0]);
	b->now = calloc(1, b->state_size);
	ret = b->now ? direction_init(b, d) : -ENOMEM;
	if (!ret)
		ret = btb_init(&b->first, (uint32_t)d->branch_btb1_entries, (uint32_t)d->branch_btb1_ways);
	if (!ret)
		ret = btb_init(&b->second, (uint32_t)d->branch_btb_entries, (uint32_t)d->branch_btb_ways);
	if (!ret)
		ret = indirect_init(&b->indirect, (uint32_t)d->branch_indirect_entries,
		                    (unsigned)d->branch_indirect_tables, (unsigned)d->branch_indirect_history,
		                    &b->shape);
	if (ret) {
		branch_free(b);
		return ret == -ENOMEM ? error_errno(ENOMEM, "branch predictor") : ret;
	}
	*out = b;
	return 0;
}

void branch_free(struct branch_unit *b)
{
	if (!b)
		return;
	base_fini(&b->bimodal);
	gshare_fini(&b->gshare);
	tage_fini(&b->tage);
	btb_fini(&b->first);
	btb_fini(&b->second);
	indirect_fini(&b->indirect);
	free(b->now);
	free(b);
}

static inline __attribute__((always_inline)) bool predict_direction(const struct branch_unit *b, struct branch_state *s,
                                                                    uint64_t pc, struct lookup *l)
{
	if (b->predictor == PREDICTOR_TAGE)
		return tage_predict(&b->tage, &s->history, &b->shape, pc, &l->tage);
	if (b->predictor == PREDICTOR_GSHARE)
		return gshare_predict(&b->gshare, s->history.recent, pc, &l->gshare);
	return base_predict(&b->bimodal, pc);
}

static inline void train_direction(struct branch_unit *b, uint64_t pc, const struct lookup *l, bool taken)
{
	if (b->predictor == PREDICTOR_TAGE)
		tage_train(&b->tage, pc, &l->tage, taken);
	else if (b->predictor == PREDICTOR_GSHARE)
		gshare_train(&b->gshare, pc, &l->gshare, taken);
	else
		base_train(&b->bimodal, pc, taken);
}

/* The same where nothing will be trained with it. */
static bool guess_direction(const struct branch_unit *b, struct branch_state *s, uint64_t pc)
{
	struct lookup l;

	if (b->predictor == PREDICTOR_TAGE)
		return tage_guess(&b->tage, &s->history, &b->shape, pc);
	return predict_direction(b, s, pc, &l);
}

/*
 * Where a branch that is predicted taken goes, and who knows. All but the return stack, which advance() moves: a
 * return's prediction is its top.
 */
static inline __attribute__((always_inline)) struct prediction predict_taken(const struct branch_unit *b,
                                                                             struct branch_state *s,
                                                                             const struct insn *in,
                                                                             struct indirect_lookup *l)
{
	struct prediction p = { .target = in->target, .taken = true, .btb = BTB_FIRST };
	const struct btb_entry *known = btb_find(&b->first, in->pc);

	if (!known) {
		known = btb_find(&b->second, in->pc);
		p.btb = known ? BTB_SECOND : BTB_MISS;
	}
	if (in->branch == BRANCH_INDIRECT || in->branch == BRANCH_INDIRECT_CALL) {
		indirect_predict(&b->indirect, &s->history, &b->shape, in->pc >> b->pc_shift, known ? known->target : 0,
		                 l);
		p.target = l->target;
	} else if (in->branch == BRANCH_RETURN) {
		p.target = ras_of(s)[s->ras_top];
	}
	p.redirect = p.target && p.btb == BTB_MISS;
	return p;
}

static inline struct prediction predict_not_taken(const struct insn *in)
{
	return (struct prediction){ .target = in->pc + in->length, .btb = BTB_MISS };
}

/* The histories, by what was predicted or by what it did. */
static inline __attribute__((always_inline)) void advance(const struct branch_unit *b, struct branch_state *s,
                                                          const struct insn *in, bool taken, uint64_t target)
{
	uint64_t pc = in->pc >> b->pc_shift;
	bool path = b->shape.kind != HISTORY_DIRECTIONS;
	bool indirect = in->branch == BRANCH_INDIRECT || in->branch == BRANCH_INDIRECT_CALL;
	uint64_t last = in->pc + in->length - 1;

	if (taken && b->shape.kind == HISTORY_TAKEN_PATH)
		history_push_taken(&s->history, &b->shape, last, target);
	else if (taken && b->shape.kind == HISTORY_TAKEN_CONDITIONALS)
		history_push_conditional(&s->history, &b->shape, last, in->branch == BRANCH_CONDITIONAL);
	else if (taken && path)
		history_push_taken_branch(&s->history, &b->shape, last, indirect ? target : 0);
	switch ((enum branch_kind)in->branch) {
	case BRANCH_CONDITIONAL:
		if (path)
			s->history.recent = s->history.recent << 1 | taken;
		else
			history_push(&s->history, &b->shape, taken);
		break;
	case BRANCH_INDIRECT_CALL:
		ras_push(ras_of(s), b->ras_entries, &s->ras_top, in->pc + in->length);
		if (!path)
			history_push_target(&s->history, &b->shape, target);
		break;
	case BRANCH_INDIRECT:
		if (!path)
			history_push_target(&s->history, &b->shape, target);
		break;
	case BRANCH_CALL:
		ras_push(ras_of(s), b->ras_entries, &s->ras_top, in->pc + in->length);
		break;
	case BRANCH_RETURN:
		ras_pop(b->ras_entries, &s->ras_top);
		break;
	case BRANCH_JUMP:
	case BRANCH_NONE:
		break;
	}
	s->history.path = (s->history.path << 1 | ((pc ^ pc >> 3) & 1)) & ((1u << HISTORY_PATH) - 1);
}

void branch_resolve(struct branch_unit *b, const struct insn *in, bool taken, uint64_t next, struct prediction *p)
{
	uint64_t pc = in->pc >> b->pc_shift;
	struct lookup l;

	if (b->ideal) {
		*p = (struct prediction){ .target = next, .taken = taken, .btb = BTB_FIRST };
		return;
	}
	if (in->branch == BRANCH_CONDITIONAL && !predict_direction(b, b->now, pc, &l))
		*p = predict_not_taken(in);
	else
		*p = predict_taken(b, b->now, in, &l.indirect);
	if (in->branch == BRANCH_CONDITIONAL) {
		p->mispredicted = p->taken != taken;
		train_direction(b, pc, &l, taken);
	} else if (in->branch == BRANCH_RETURN) {
		p->mispredicted = p->target != next;
	} else if (in->branch == BRANCH_INDIRECT || in->branch == BRANCH_INDIRECT_CALL) {
		p->mispredicted = p->target != next;
		indirect_train(&b->indirect, &l.indirect, next);
	}
	if (taken) {
		btb_put(&b->first, in->pc, next);
		btb_put(&b->second, in->pc, next);
	}
	advance(b, b->now, in, taken, next);
}

uint32_t branch_state_size(const struct branch_unit *b)
{
	return b->state_size;
}

void branch_save(const struct branch_unit *b, struct branch_state *s)
{
	memcpy(s, b->now, b->state_size);
}

void branch_guess(const struct branch_unit *b, struct branch_state *s, const struct insn *in, struct prediction *p)
{
	struct indirect_lookup l;

	if (in->branch == BRANCH_CONDITIONAL && !guess_direction(b, s, in->pc >> b->pc_shift))
		*p = predict_not_taken(in);
	else
		*p = predict_taken(b, s, in, &l);
	advance(b, s, in, p->taken, p->target);
}
