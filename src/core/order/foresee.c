#include "core/order/foresee.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/order/pair.h"

enum { IN_FLIGHT = 64 };               /* slots between the front end's queues and the reorder buffer */

/*
 * Code from one instruction to the first branch, or to where the table of instructions goes on elsewhere; and what
 * follows. It is asked for at every step of a wrong path and hardly ever changes, so that it is kept.
 */
struct straight {
	uint32_t valid;                /* code->changes + 1 when it was found out; 0: never */
	uint32_t next;                 /* the instruction behind it; CODE_NONE: unknown as yet */
	uint32_t taken;                /* where its branch goes, if that is direct; CODE_NONE: unknown as yet */
	uint16_t nr;                   /* instructions, at most WRONG_MAX; 0: the first one cannot be decoded */
	uint16_t slots;
};

struct foresight {
	struct core_desc desc;         /* a copy: which neighbours make one uop */
	struct code *code;
	struct branch_unit *branch;
	struct branch_state *guess;    /* copy for the wrong path; NULL: no wrong path is read */
	struct converge *converge;     /* NULL: its addresses are not wanted */
	struct straight *straight;     /* [nr_straight], by its first instruction */
	uint32_t nr_straight;
	unsigned most;                 /* slots of a wrong path that the core can hold */
};

/* The arrays of what is foreseen. */
enum { FORECASTS, RUNS, ACCESSES };

struct forecasts forecasts_of(const struct foreseen *f)
{
	const struct foreseen_array *c = &f->of[FORECASTS], *r = &f->of[RUNS], *a = &f->of[ACCESSES];

	return (struct forecasts){
		.forecast = c->item, .nr = c->bytes / sizeof(struct forecast),
		.run = r->item, .nr_runs = r->bytes / sizeof(struct wrong_run),
		.access = a->item, .nr_accesses = a->bytes / sizeof(struct wrong_access),
	};
}

/* The next item, of `size` bytes. */
static void *next_of(struct foreseen_array *a, size_t size)
{
	if (a->bytes + size > a->room)
		foreseen_reserve(a, 2 * a->room + 1024 * size);
	a->bytes += size;
	return (char *)a->item + a->bytes - size;
}

static struct forecast *forecast_add(struct foreseen *f)
{
	return next_of(&f->of[FORECASTS], sizeof(struct forecast));
}

static struct wrong_run *run_add(struct foreseen *f)
{
	return next_of(&f->of[RUNS], sizeof(struct wrong_run));
}

static size_t runs(const struct foreseen *f)
{
	return f->of[RUNS].bytes / sizeof(struct wrong_run);
}

/* Room for the accesses of one more wrong path. */
static struct wrong_access *access_room(struct foreseen *f)
{
	struct foreseen_array *a = &f->of[ACCESSES];
	size_t most = WRONG_MAX * sizeof(struct wrong_access);

	if (a->bytes + most > a->room)
		foreseen_reserve(a, 2 * a->room + most);
	return (struct wrong_access *)(void *)((char *)a->item + a->bytes);
}

/* --- the wrong path ---------------------------------------------------------------------------------- */

static bool ends_straight(const struct insn *in, const struct insn *next)
{
	return in->flags & INSN_BRANCH || next->flags & INSN_UNDECODED || next->pc != in->pc + in->length;
}

/* False where more of it may come to be known: then it is not to be kept. */
static bool straight_find(struct foresight *f, uint32_t first, struct straight *s)
{
	const struct code *code = f->code;
	const struct insn *in = code_insn(code, first), *last = code_insn(code, code->nr - 1);
	unsigned slots = in->slots;

	*s = (struct straight){ .next = CODE_NONE, .taken = CODE_NONE };
	if (in->flags & INSN_UNDECODED)
		return true;
	for (s->nr = 1; in < last && s->nr < WRONG_MAX && !ends_straight(in, in + 1); s->nr++) {
		const struct insn *before = in++;

		slots += before->flags & INSN_FUSES_NEXT && pair_fuses(&f->desc, before, in) ? 0 : in->slots;
	}
	s->slots = (uint16_t)slots;
	return in < last;
}

/* With code_find() where it is not kept: what that finds may be new. */
static uint32_t find(const struct foresight *f, uint32_t *kept, uint64_t pc)
{
	if (*kept == CODE_NONE)
		*kept = code_find(f->code, pc);
	return *kept;
}

static uint32_t find_next(const struct foresight *f, struct straight *s, uint32_t index, const struct insn *last)
{
	uint64_t pc = last->pc + last->length;

	if (s->next == CODE_NONE && index + 1 < f->code->nr && code_insn(f->code, index + 1)->pc == pc)
		s->next = index + 1;
	return find(f, &s->next, pc);
}

/* Valid until the next call. */
static struct straight *straight_from(struct foresight *f, uint32_t first, struct straight *fresh)
{
	struct straight *s;

	if (first >= f->nr_straight) {
		uint32_t n = 2 * f->code->nr;

		f->straight = g_renew(struct straight, f->straight, n);
		memset(f->straight + f->nr_straight, 0, (n - f->nr_straight) * sizeof *f->straight);
		f->nr_straight = n;
	}
	s = &f->straight[first];
	if (s->valid == f->code->changes + 1)
		return s;
	if (!straight_find(f, first, fresh))
		return fresh;
	fresh->valid = f->code->changes + 1;
	*s = *fresh;
	return s;
}

/* Walks from `pc` on and adds the runs; returns how many. */
static uint32_t wrong_path(struct foresight *f, uint64_t pc, struct foreseen *out)
{
	size_t first = runs(out);
	struct wrong_run *run = NULL;
	uint32_t at = code_find(f->code, pc);

	branch_save(f->branch, f->guess);
	for (unsigned n = 0, slots = 0; at != CODE_NONE && n < WRONG_MAX && slots < f->most;) {
		struct straight fresh, *s = straight_from(f, at, &fresh);
		uint32_t nr = s->nr < WRONG_MAX - n ? s->nr : WRONG_MAX - n, last = at + nr - 1;
		const struct insn *in = code_insn(f->code, last);

		if (!nr)
			break;
		if (!run || at != run->first + run->nr) {
			run = run_add(out);
			*run = (struct wrong_run){ .first = at };
		}
		run->nr += nr;
		n += nr;
		slots += s->slots;
		if (in->flags & INSN_BRANCH) {
			struct prediction p;

			branch_guess(f->branch, f->guess, in, &p);
			if (p.taken) {
				run->end = p;
				run = NULL;
				at = !p.target                ? CODE_NONE
				     : p.target == in->target ? find(f, &s->taken, p.target)
				                              : code_find(f->code, p.target);
				continue;
			}
		}
		at = nr < s->nr ? last + 1 : find_next(f, s, last, in);
	}
	/*
	 * What is handed on is to change no more, however far the reader is ahead: whether an instruction makes a pair
	 * with the one behind it is known when that one is, so that the last one where the known code ends is left out.
	 */
	if (run && at == CODE_NONE && !--run->nr)
		out->of[RUNS].bytes -= sizeof *run;
	return (uint32_t)(runs(out) - first);
}

/* --- the right path ---------------------------------------------------------------------------------- */

/* Resolves the branch of `s`; `next`: the step behind it and its accesses, NULL where there is none. */
static void resolve(struct foresight *f, const struct insn *in, const struct step *s, const struct step *next,
                    struct prediction *p)
{
	bool known = next && step_kind(next) == STEP_INSN && !(next->flags & STEP_ENTER);

	foresee_branch(f->branch, in, s->flags & STEP_TAKEN, known ? code_insn(f->code, next->insn) : NULL, p);
}

/* Reads the wrong path at `pc` behind what `c` is of; the right path goes on with [next, all). */
static void go_wrong(struct foresight *f, struct forecast *c, uint64_t pc, const struct step *next,
                     const struct step *all, struct foreseen *out)
{
	size_t first = runs(out), ahead = (size_t)(all - next);

	if (!f->guess)
		return;
	c->nr_runs = wrong_path(f, pc, out);
	if (!f->converge || !c->nr_runs)
		return;
	ahead = ahead < STEP_AHEAD / 2 ? ahead : STEP_AHEAD / 2; /* as every batch has, lest its size should matter */
	c->nr_accesses = (uint32_t)converge_path(f->converge, (const struct wrong_run *)out->of[RUNS].item + first,
	                                         c->nr_runs, next, ahead, access_room(out));
	out->of[ACCESSES].bytes += c->nr_accesses * sizeof(struct wrong_access);
}

/* What runs after the instruction of `s`; `all` where that is not among the steps before it. */
static const struct step *step_after(const struct step *s, const struct step *all)
{
	do
		s++;
	while (s < all && step_belongs(s));
	return s;
}

void foresight_batch(struct foresight *f, const struct step *s, size_t n, size_t ahead, struct foreseen *out)
{
	const struct step *end = s + n, *all = end + ahead;

	for (unsigned i = 0; i < FORESEEN_ARRAYS; i++)
		out->of[i].bytes = 0;
	for (; s < end; s++) {
		if (step_kind(s) != STEP_INSN)
			continue;
		const struct insn *in = code_insn(f->code, s->insn);
		if (f->converge && s->bytes)
			converge_saw(f->converge, s);
		if (!foresee_wanted(in, s))
			continue;
		struct forecast *c = forecast_add(out);
		const struct step *next = step_after(s, all);

		*c = (struct forecast){ 0 };
		if (in->flags & INSN_BRANCH && !(s->flags & STEP_FAULT))
			resolve(f, in, s, next < all ? next : NULL, &c->predicted);
		if (s->flags & STEP_FAULT || in->flags & INSN_FLUSH)
			go_wrong(f, c, in->pc + in->length, next, all, out);
		else if (c->predicted.mispredicted && c->predicted.target)
			go_wrong(f, c, c->predicted.target, next, all, out);
	}
}

void foresight_warm(struct foresight *f, const struct step *s, size_t n, size_t ahead)
{
	const struct step *end = s + n, *all = end + ahead;

	for (; s < end; s++) {
		if (step_kind(s) != STEP_INSN)
			continue;
		const struct insn *in = code_insn(f->code, s->insn);
		if (f->converge && s->bytes)
			converge_saw(f->converge, s);
		if (!(in->flags & INSN_BRANCH) || s->flags & STEP_FAULT)
			continue;
		const struct step *next = step_after(s, all);
		struct prediction unused;

		resolve(f, in, s, next < all ? next : NULL, &unused);
	}
}

/* --- its life ---------------------------------------------------------------------------------------- */

int foresight_new(struct foresight **out, const struct core_desc *desc, struct code *code)
{
	struct foresight *f = calloc(1, sizeof *f);
	int ret = f ? branch_new(&f->branch, desc) : error_errno(ENOMEM, "branch predictor");

	if (!ret) {
		f->code = code;
		f->most = (unsigned)(desc->rob_entries + desc->queue_entries + desc->fetch_queue) + IN_FLIGHT;
		f->desc = *desc;
		if (strcmp(desc->wrong_path, "none")) {
			f->guess = malloc(branch_state_size(f->branch));
			if (!f->guess)
				ret = error_errno(ENOMEM, "branch predictor");
		}
		if (!ret && !strcmp(desc->wrong_path, "full"))
			ret = converge_new(&f->converge, desc, code);
	}
	if (ret) {
		foresight_free(f);
		return ret;
	}
	*out = f;
	return 0;
}

/* Whether the same compares are fused with their branches. */
static bool same_pairs(const struct core_desc *a, const struct core_desc *b)
{
	bool across = a->decode_fusion_across && b->decode_fusion_across;

	return a->decode_macro_fusion == b->decode_macro_fusion &&
		a->decode_fusion_across == b->decode_fusion_across && (across || a->cache_line == b->cache_line);
}

bool foresight_same(const struct core_desc *a, const struct core_desc *b)
{
	for (unsigned i = 0; i < nr_core_params; i++) {
		size_t at = core_params[i].offset;

		if (g_str_has_prefix(core_params[i].name, "branch.") &&
		    memcmp((const char *)a + at, (const char *)b + at, sizeof(int32_t)))
			return false;
	}
	return !strcmp(a->predictor, b->predictor) && !strcmp(a->tage, b->tage) && !strcmp(a->history, b->history) &&
	       !strcmp(a->wrong_path, b->wrong_path) && !strcmp(a->isa, b->isa) && a->ideal.branch == b->ideal.branch &&
	       same_pairs(a, b);
}

void foresight_free(struct foresight *f)
{
	if (!f)
		return;
	branch_free(f->branch);
	converge_free(f->converge);
	free(f->guess);
	g_free(f->straight);
	free(f);
}
