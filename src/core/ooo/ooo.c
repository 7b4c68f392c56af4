/*
 * The detailed core: takes steps, runs each through the stages, commits, and hands on timed records.
 */
#include "core/ooo/ooo.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/ooo/commit.h"
#include "core/ooo/execute.h"
#include "core/ooo/rename.h"
#include "core/order/pair.h"

/* --- records ----------------------------------------------------------------------------------------- */

void ooo_flush_out(struct ooo *o)
{
	if (o->nr_out)
		o->sink.take(o->sink.ctx, o->out, o->nr_out);
	o->nr_out = 0;
}

static uint64_t clamp(uint64_t fetch, uint64_t cycle)
{
	return fits(fetch, cycle) ? cycle : fetch + TIMED_NEVER - 1;
}

struct attempt attempt_clamp(const struct attempt *a)
{
	struct attempt c = *a;
	uint64_t fetch = a->fetched.fetch, *const cycles[] = {
		&c.fetched.avail, &c.dispatch, &c.ready, &c.issue, &c.complete, &c.leave, &c.drain,
	};

	for (unsigned i = 0; i < sizeof cycles / sizeof *cycles; i++)
		*cycles[i] = clamp(fetch, *cycles[i]);
	return c;
}

/* --- commit ------------------------------------------------------------------------------------------ */

/* The store about to be entered may be renamed. */
static void note_renamed_store(struct ooo *o, const struct attempt *a, const struct step *s)
{
	struct renaming_place place = a->nr_uops ? place_of(o, a->in) : (struct renaming_place){ .base = REG_NONE };

	o->renamed_value[o->lsq.nr_stores % RENAMED_STORES] = a->value;
	renaming_stored(&o->renaming, a->in, s->bytes, o->lsq.nr_stores, place);
}

/*
 * Lines have come into L1D, and changed ones have left it: no store is written in that cycle, and each of the ports
 * waits, or they do in the first that nothing older has taken.
 */
static void close_ports(struct ooo *o)
{
	struct line_traffic *p = &o->passing;

	for (unsigned i = 0; i < p->nr_come; i++)
		ports_take(&o->ports, LANE_WRITE, later(p->come[i], o->ports.base));
	for (unsigned i = 0; i < p->nr_leave; i++)
		ports_close(&o->ports, (unsigned)o->desc->l1d_victim_ports, later(p->leave[i], o->ports.base), true);
	p->nr_come = p->nr_leave = 0;
}

/* The committed instruction leaves its queues: stores drain, loads and registers are free. */
static void retire(struct ooo *o, struct attempt *a)
{
	const struct insn *in = a->in;
	const struct step *s = a->step, *end = s + (a->nr_steps < MAX_ACCESS ? a->nr_steps : MAX_ACCESS);
	unsigned loads = a->nr_uops ? in->nr_loads : 0, stores = a->nr_uops ? store_entries(a) : 0;

	a->drain = a->leave;
	if (a->load_done) {
		a->drain = later(a->load_done, a->issue);
		o->loads_done = later(o->loads_done, a->load_done);
	}
	while (loads--)
		lsq_add_load(&o->lsq, a->leave, o->record);
	if (stores || in->flags & INSN_STORE) {
		for (; s < end; s++) {
			if (!(s->flags & STEP_STORE && s->bytes))
				continue;
			if (o->desc->forward_renamed)
				note_renamed_store(o, a, s);
			a->drain = lsq_add_store(&o->lsq, in->pc, s->addr, s->bytes, a->known, a->data, a->leave,
			                         o->record);
			o->stores_freed = later(o->stores_freed, a->drain);
			if (stores)
				stores--;
		}
		while (stores--)               /* predicated: an entry all the same */
			a->drain = lsq_add_store(&o->lsq, in->pc, 0, 0, a->known, a->data, a->leave, o->record);
	}
	rename_committed(o, a);
	frontend_left(&o->front, a->leave);
	if (__builtin_expect(o->passing.nr_come, 0))
		close_ports(o);
}

/* --- one instruction --------------------------------------------------------------------------------- */

static bool serialises(const struct insn *in)
{
	return in->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL | INSN_FLUSH);
}

static void suppose_accesses(struct ooo *o, const struct attempt *a)
{
	memory_suppose(o->memory, false, a->in->flags & INSN_LOAD ? a->never : a->never & PSV_ST_TLB);
}

/*
 * Something is supposed of the attempt in hand. Of a branch never mispredicted: the prediction that it should
 * have had.
 */
static void suppose(struct ooo *o, struct attempt *a, const struct step *next, size_t ahead, bool taken)
{
	bool known = ahead && step_kind(next) == STEP_INSN && !(next->flags & STEP_ENTER);

	suppose_accesses(o, a);
	if (a->never & PSV_FL_MB && a->predicted.mispredicted)
		a->predicted = (struct prediction){
			.target = known ? code_insn(o->code, next->insn)->pc : a->in->target, .taken = taken,
			.btb = BTB_FIRST,
		};
	if (a->never & PSV_FL_EX && a->step->flags & STEP_FAULT)
		a->predicted = (struct prediction){ .taken = true, .btb = BTB_FIRST };
}

/* It has made its accesses, if something was supposed of it. */
static void supposed(struct ooo *o, const struct attempt *a)
{
	if (__builtin_expect(!a->never, 1))
		return;
	memory_suppose(o->memory, false, 0);
	if (a->never & SUPPOSE_PREFETCH) {
		uint64_t addr = *o->suppose->future++;
		if (addr)
			memory_prefetch(o->memory, a->dispatch + (unsigned)o->desc->issue_latency, addr, false);
	}
}

/* What comes after it: where fetch goes on, and from when on dispatch may. */
static void follow(struct ooo *o, const struct attempt *a, const struct forecast *c, bool taken)
{
	const struct core_desc *d = o->desc;
	const struct insn *in = a->in;
	const uint32_t flags = a->never & PSV_FL_EX ? 0 : in->flags;
	uint64_t packet = frontend_mark(&o->front);

	if (flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE)) {
		uint64_t until = flags & INSN_SERIALIZE ? a->leave : a->complete;
		o->serial_until = later(o->serial_until, until + 1);
		o->serial_record = o->record - 1;
	}
	if (flags & INSN_SYSCALL) {
		frontend_redirect(&o->front, a->leave + (unsigned)d->syscall_cycles, packet);
	} else if (flags & INSN_FLUSH) {
		wrong_path(o, c, a->leave);
		frontend_redirect(&o->front, a->leave + (unsigned)d->flush_latency, packet);
	} else if (a->predicted.mispredicted) {
		if (a->predicted.target) {
			if (a->predicted.taken)
				frontend_taken(&o->front, in, &a->predicted);
			wrong_path(o, c, a->chain_end);
		}
		frontend_redirect(&o->front, a->chain_end + (unsigned)d->branch_mispredict, packet);
	} else if (taken || a->step->flags & STEP_FAULT) { /* what faults comes here where that is supposed to cost
	                                                    * nothing */
		frontend_taken(&o->front, in, &a->predicted);
	}
}

static void begin(struct ooo *o, struct attempt *a)
{
	frontend_deliver(&o->front, a->in, a->fused, &a->fetched);
	a->psv = 0;
	a->level = LEVEL_NONE;
	a->merged = a->holds_entry = a->queued = 0;
	a->issue_wait = a->dispatch_wait = 0;
	a->issue_by = a->dispatch_by = 0;
	a->ready = a->issue = a->complete = a->load_done = a->known = a->data = 0;
	a->violation = 0;
	a->write_back = a->chain_end = a->result = 0;
	a->eliminated = false;
	a->uop = o->code->uops + a->in->uop;
	a->nr_uops = a->fused ? 0 : a->in->nr_uops;
	a->slots = a->fused ? 0 : a->in->slots ? a->in->slots : 1;
	if (a->in->flags & INSN_UNMODELLED)
		a->slots = (uint32_t)o->desc->unmodelled_uops;
	rename_stack(o, a);
	rename_dispatch(o, a, false);
	if (__builtin_expect(a->stack_sync, 0))
		rename_stack_sync(o, a);
}

/* A load ran before an older store to its address: it and all that followed are squashed, and fetched again. */
static void violated(struct ooo *o, struct attempt *a, const struct step *next, size_t ahead, uint16_t flags)
{
	uint64_t squash = later(a->violation, a->issue), packet = frontend_mark(&o->front);

	a->psv |= PSV_FL_MO;
	a->complete = later(a->complete, squash);
	a->leave = squash;
	a->drain = squash;
	attempt_record(o, a, (uint16_t)(flags | TIMED_SQUASHED | TIMED_FLUSHER));
	squashed_path(o, next, ahead, squash);
	suppose_accesses(o, a);                /* which the walk has ended */
	lsq_violation(&o->lsq, a->in->pc, a->violation_pc);
	frontend_redirect(&o->front, squash + (unsigned)o->desc->memdep_penalty, packet);
}

/* It raised an exception: squashed when it would commit, with what was fetched behind it. */
static void faulted(struct ooo *o, struct attempt *a, const struct forecast *c, uint16_t flags)
{
	uint64_t packet = frontend_mark(&o->front);

	attempt_commit(o, a);
	a->psv |= PSV_FL_EX;
	a->drain = a->leave;
	attempt_record(o, a, (uint16_t)(flags | TIMED_SQUASHED | TIMED_FLUSHER));
	wrong_path(o, c, a->leave);
	frontend_redirect(&o->front, a->leave + (unsigned)o->desc->exception_latency, packet);
}

/* Where its one uop issues, where the attempt and the next step make a pair. */
static uint16_t ports_of_pair(const struct ooo *o, const struct attempt *a, const struct step *next, size_t ahead)
{
	const struct insn *branch = pair_second(o->desc, o->code, a->in, a->step, next, ahead);

	return branch ? pair_ports(o->desc, o->code, branch, next->flags & STEP_TAKEN) : 0;
}

/* The most frequent kind: one compute uop in one slot, no memory, not in control. */
static inline bool is_plain(const struct ooo *o, const struct insn *in, const struct step *s)
{
	return in->nr_uops == 1 && in->slots == 1 && in->nr_compute == 1 && !in->nr_addr && !o->fused &&
	       !(in->flags &
	         (NOT_PLAIN | INSN_BRANCH | INSN_MOVE | INSN_REP | INSN_SERIALIZE | INSN_SYSCALL | INSN_FLUSH)) &&
	       !(s->flags & (STEP_ENTER | STEP_FAULT));
}

/* Then this is what one() would do, by a short way: the same stages with what they cannot need left out. */
static void plain_one(struct ooo *o, const struct step *s, const struct insn *in, size_t ahead)
{
	struct attempt a;              /* as in one() */

	a.index = s->insn;
	a.in = in;
	a.step = s;
	a.nr_steps = 1;
	a.uop = o->code->uops + in->uop;
	a.nr_uops = a.slots = 1;
	a.fused = a.eliminated = false;
	a.never = a.psv = 0;
	a.level = LEVEL_NONE;
	a.merged = a.holds_entry = a.queued = 0;
	a.issue_wait = 0;
	a.issue_by = 0;
	o->started = true;
	a.pair_ports = ports_of_pair(o, &a, s + 1, ahead);
	frontend_deliver(&o->front, in, false, &a.fetched);
	rename_stack(o, &a);
	rename_dispatch(o, &a, true);
	if (__builtin_expect(a.stack_sync, 0))
		rename_stack_sync(o, &a);
	execute_plain(o, &a);
	attempt_commit(o, &a);
	a.drain = a.leave;
	rename_committed(o, &a);
	frontend_left(&o->front, a.leave);
	attempt_record(o, &a, s->flags & STEP_COUNTED ? TIMED_COUNTED : 0);
	o->fused = a.pair_ports != 0;
}

/* The next instruction's wrong path is behind this one's. */
static void used_up(struct ooo *o, const struct forecast *c)
{
	if (!c->nr_runs)
		return;
	o->run += c->nr_runs;
	o->access += c->nr_accesses;
	__builtin_prefetch(o->run);    /* another thread has written it */
	__builtin_prefetch(o->run + 2);
	__builtin_prefetch(o->access);
}

static void one(struct ooo *o, const struct step *s, const struct insn *in, uint32_t nr_steps, size_t ahead)
{
	const struct step *next = s + nr_steps;
	struct attempt a;              /* begin() sets what is not set here: clearing it all would cost as much as a
	                                * stage */
	const struct forecast none = { 0 }, *c = foresee_wanted(in, s) ? o->forecast++ : &none;
	bool taken = s->flags & STEP_TAKEN;
	uint16_t flags = (uint16_t)((taken ? TIMED_TAKEN : 0) | (s->flags & STEP_COUNTED ? TIMED_COUNTED : 0));

	if (s->flags & STEP_ENTER) {
		flags |= TIMED_ENTER;
		if (o->started && !o->front.broken) /* a signal came between two instructions */
			frontend_redirect(&o->front, o->commit_cycle + (unsigned)o->desc->exception_latency,
			                  frontend_mark(&o->front));
	}
	o->started = true;
	a.index = s->insn;
	a.in = in;
	a.step = s;
	a.nr_steps = nr_steps;
	a.fused = o->fused;
	a.predicted = c->predicted;
	a.never = suppose_of(o->suppose, in);
	if (__builtin_expect(a.never, 0))
		suppose(o, &a, next, ahead, taken);
	a.pair_ports = ports_of_pair(o, &a, next, ahead);
	if (in->flags & INSN_REP) {
		begin(o, &a);
		repeat_execute(o, &a, flags);
		used_up(o, c);
		o->fused = false;
		supposed(o, &a);
		return;
	}
	uint16_t again = 0;
	for (;;) {
		begin(o, &a);
		a.psv |= again;
		if (execute_is_plain(&a))
			execute_plain(o, &a);
		else
			execute(o, &a);
		if (!a.violation)
			break;
		violated(o, &a, next, ahead, flags);
		again = PSV_FL_MO;
		a.fused = false;
	}
	if (s->flags & STEP_FAULT && !(a.never & PSV_FL_EX)) {
		faulted(o, &a, c, flags);
		used_up(o, c);
		o->fused = false;
		supposed(o, &a);
		return;
	}
	if (a.predicted.mispredicted) {
		flags |= TIMED_MISPREDICT | TIMED_FLUSHER;
		a.psv |= PSV_FL_MB;
	}
	if (serialises(in) && !(a.never & PSV_FL_EX)) {
		flags |= TIMED_FLUSHER;
		a.psv |= PSV_FL_EX;
	}
	attempt_commit(o, &a);
	retire(o, &a);
	if (in->branch && o->desc->branch_in_flight)
		release_add(&o->held, HELD_BRANCH, a.chain_end + 1);
	attempt_record(o, &a, flags);
	supposed(o, &a);
	follow(o, &a, c, taken);
	used_up(o, c);
	o->fused = a.pair_ports != 0;
}

/* --- the core's interface ---------------------------------------------------------------------------- */

static void ooo_foresee(struct core *core, const struct step *s, size_t n, size_t ahead, struct foreseen *out)
{
	foresight_batch(((struct ooo *)core)->foresight, s, n, ahead, out);
}

static void ooo_batch_foreseen(struct core *core, const struct step *s, size_t n, size_t ahead,
                               const struct foreseen *f)
{
	struct ooo *o = (struct ooo *)core;
	const struct forecasts seen = forecasts_of(f);
	size_t i = o->skip < n ? o->skip : n, all = n + ahead;

	o->skip -= i;
	o->forecast = seen.forecast;
	o->run = seen.run;
	o->access = seen.access;
	while (i < n) {
		if (o->nr_out > OUT_RECORDS - OUT_ROOM)
			ooo_flush_out(o);
		switch (step_kind(&s[i])) {
		case STEP_INSN: {
			size_t end = i + 1;
			while (end < all && step_belongs(&s[end]))
				end++;
			ports_advance(&o->ports, o->rename_cycle);
			const struct insn *in = code_insn(o->code, s[i].insn);
			if (end == i + 1 && is_plain(o, in, &s[i]))
				plain_one(o, &s[i], in, all - end);
			else
				one(o, &s[i], in, (uint32_t)(end - i), all - end);
			i = end;
			break;
		}
		case STEP_UNMAP:
			memory_unmap(o->memory, s[i].addr, s[i].insn);
			i++;
			break;
		default:               /* LOST; strays behind it */
			i++;
			break;
		}
	}
	o->skip += i - n;
	ooo_flush_out(o);
}

static void ooo_batch(struct core *core, const struct step *s, size_t n, size_t ahead)
{
	struct foreseen *own = &((struct ooo *)core)->own;

	ooo_foresee(core, s, n, ahead, own);
	ooo_batch_foreseen(core, s, n, ahead, own);
}

static void ooo_suppose(struct core *core, struct suppose *s)
{
	struct ooo *o = (struct ooo *)core;

	o->suppose = s;
	o->front.suppose = s;
}

static void ooo_finish(struct core *core)
{
	ooo_flush_out((struct ooo *)core);
}

static void ooo_close(struct core *core)
{
	struct ooo *o = (struct ooo *)core;

	if (!o)
		return;
	frontend_fini(&o->front);
	lsq_fini(&o->lsq);
	foresight_free(o->foresight);
	foreseen_fini(&o->own);
	memory_free(o->memory);
	free(o);
}

static int ooo_open(struct core **out, const struct core_desc *desc, struct code *code, struct timed_sink sink)
{
	struct ooo *o = calloc(1, sizeof *o);
	int ret;

	if (!o)
		return error_errno(ENOMEM, "core model");
	o->desc = desc;
	o->code = code;
	o->sink = sink;
	o->full = !strcmp(desc->wrong_path, "full");
	ret = memory_new(&o->memory, desc);
	if (!ret)
		ret = foresight_new(&o->foresight, desc, code);
	if (!ret)
		ret = frontend_init(&o->front, desc, o->memory);
	if (!ret)
		ret = lsq_init(&o->lsq, desc, o->memory);
	if (ret) {
		ooo_close((struct core *)o);
		return ret;
	}
	if (desc->l1d_victim_ports) {
		memory_tell_passing(o->memory, &o->passing);
		o->lsq.ports = &o->ports;
	}
	rename_init(o);
	*out = (struct core *)o;
	return 0;
}

/* With room for the wrong paths of the largest. */
static int ooo_open_foresight(struct core **out, const struct core_desc *desc, struct code *code)
{
	struct core_desc largest = *desc;
	struct ooo *o = calloc(1, sizeof *o);
	int ret;

	if (!o)
		return error_errno(ENOMEM, "core model");
	largest.rob_entries = WRONG_MAX;
	ret = foresight_new(&o->foresight, &largest, code);
	if (ret) {
		ooo_close((struct core *)o);
		return ret;
	}
	*out = (struct core *)o;
	return 0;
}

const struct core_ops core_ooo = {
	.name = "ooo",
	.help = "detailed out-of-order core: every structure of the pipeline",
	.open = ooo_open,
	.batch = ooo_batch,
	.foresee = ooo_foresee,
	.batch_foreseen = ooo_batch_foreseen,
	.warm = ooo_warm,
	.finish = ooo_finish,
	.close = ooo_close,
	.suppose = ooo_suppose,
	.open_foresight = ooo_open_foresight,
	.foresees_same = foresight_same,
};
