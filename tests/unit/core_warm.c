/* Steps that bring a core up to date without time: what those timed behind them meet, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/cache/state.h"
#include "core/cache/warm.h"
#include "core/order/foresee.h"
#include "core_memory_desc.h"
#include "machine.h"
#include "rules.h"

static const char *const models[] = { "ooo", "abstract" };

#define TAGE "1024/8/9 1024/32/11 1024/64/11"

enum how { TIMED, WARM, LEFT_OUT };

/* Steps up to `end` and what becomes of them. */
struct part { size_t end; enum how how; };

struct sink { struct machine *m; struct rules rules; };

/* Keeps the committed records. */
static void take(void *ctx, const struct timed *t, size_t n)
{
	struct sink *k = ctx;

	for (; n--; t++) {
		assert_null(rules_check(&k->rules, t, (unsigned)k->m->desc.rename_width));
		if (!timed_commits(t))
			continue;
		assert_true(k->m->nr_timed < MACHINE_RECORDS);
		k->m->timed[k->m->nr_timed++] = *t;
	}
}

/* In batches of `batch` steps, the last part up to the end of all; returns the records made before that. */
static size_t run_parts(struct machine *m, const char *model, const struct part *part, size_t nr, size_t batch)
{
	const struct core_ops *ops = core_find(model);
	struct sink sink = { .m = m };
	struct core *core;
	size_t i = 0, before = 0;

	machine_count(m);
	m->nr_timed = 0;
	assert_int_equal(ops->open(&core, &m->desc, &m->code, (struct timed_sink){ .take = take, .ctx = &sink }), 0);
	for (size_t k = 0; k < nr; k++) {
		before = m->nr_timed;
		for (size_t n; i < part[k].end; i += n) {
			n = part[k].end - i < batch ? part[k].end - i : batch;
			if (part[k].how == TIMED)
				ops->batch(core, m->step + i, n, m->nr_steps - i - n);
			if (part[k].how == WARM)
				ops->warm(core, m->step + i, n, m->nr_steps - i - n);
		}
	}
	ops->finish(core);
	ops->close(core);
	return before;
}

/* All steps, those before `split` as it says. */
static size_t run_split(struct machine *m, const char *model, size_t split, enum how how, size_t batch)
{
	return run_parts(m, model, (const struct part[]){ { split, how }, { m->nr_steps, TIMED } }, 2, batch);
}

/* What the records from `from` on had. */
struct events { uint64_t l1, tlb, llc, code, code_tlb, mispredicts, level[LEVEL_MEMORY + 1]; };

static struct events events_from(const struct machine *m, size_t from)
{
	struct events e = { 0 };

	for (size_t i = from; i < m->nr_timed; i++) {
		const struct timed *t = &m->timed[i];

		e.l1 += !!(t->psv & PSV_ST_L1);
		e.tlb += !!(t->psv & PSV_ST_TLB);
		e.llc += !!(t->psv & PSV_ST_LLC);
		e.code += !!(t->psv & PSV_DR_L1);
		e.code_tlb += !!(t->psv & PSV_DR_TLB);
		e.mispredicts += !!(t->flags & TIMED_MISPREDICT);
		e.level[timed_data_level(t)]++;
	}
	return e;
}

static uint64_t apart_by(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Caches and TLBs as they are, LRU, no prefetchers, no wrong path. */
static struct machine *real_machine(void)
{
	struct machine *m = machine_new();

	desc_no_prefetch(&m->desc);
	strcpy(m->desc.wrong_path, "none");
	strcpy(m->desc.l1i_replacement, "lru");
	strcpy(m->desc.l1d_replacement, "lru");
	strcpy(m->desc.l2_replacement, "lru");
	strcpy(m->desc.llc_replacement, "lru");
	m->desc.ideal.itlb = m->desc.ideal.dtlb = m->desc.ideal.l1i = false;
	return m;
}

/* --- caches and TLBs --------------------------------------------------------------------------------- */

enum { LINES = 256 };

/*
 * A round over LINES lines by a loop of a load, a store and a branch; behind a serialising instruction that waits for
 * so long that all queues of the front end are full.
 */
static void round_over(struct machine *m, uint32_t slow, uint32_t serial, uint32_t load, uint32_t store, uint32_t loop)
{
	run_insn(m, slow);
	run_insn(m, serial);
	for (unsigned i = 0; i < LINES; i++) {
		run_access(m, load, 0x100000 + i * 64, 8);
		run_access(m, store, 0x100000 + i * 64, 8);
		if (i + 1 < LINES)
			run_taken(m, loop);
		else
			run_insn(m, loop);
	}
}

static void t400_a_loop_that_fits(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct machine *m = real_machine();
		uint32_t slow = make_alu(m, R4, 0, 0, 200, ALU), serial = make_flagged(m, INSN_SERIALIZE);
		uint32_t load = make_load(m, R1, R2), store = make_store(m, R2, R3);
		uint32_t loop = make_branch(m, BRANCH_CONDITIONAL, m->insn[load].pc);
		uint32_t jump = make_branch(m, BRANCH_JUMP, 0x1000);

		for (unsigned n = 0; n < 2; n++) {
			round_over(m, slow, serial, load, store, loop);
			run_taken(m, jump);
		}
		size_t half = m->nr_steps / 2, second = run_split(m, models[k], half, TIMED, SIZE_MAX);
		uint64_t timed = timed_leave(&m->timed[m->nr_timed - 1]) - timed_leave(&m->timed[second + 1]);
		struct events e = events_from(m, second);
		assert_int_equal(e.l1 + e.tlb + e.code + e.code_tlb, 0);

		second = run_split(m, models[k], half, WARM, SIZE_MAX);
		assert_int_equal(second, 0);
		uint64_t warmed = timed_leave(&m->timed[m->nr_timed - 1]) - timed_leave(&m->timed[1]);
		struct events w = events_from(m, 0);
		assert_memory_equal(&w, &e, sizeof e);
		assert_true(apart_by(warmed, timed) <= k); /* `abstract` begins within a cycle */

		/* It does not go by itself. */
		run_split(m, models[k], half, LEFT_OUT, SIZE_MAX);
		w = events_from(m, 0);
		assert_true(w.l1 > 200 && w.tlb && w.code && w.code_tlb);
		machine_free(m);
	}
}

static void t401_lines_of_l2(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct machine *m = real_machine();
		uint32_t load = make_load(m, R1, R2), store = make_store(m, R2, R3), other = make_load(m, R1, R2);
		enum { MANY = 2048 };

		m->desc.l2_size = 1 << 20;
		m->desc.stlb_entries = 1536;
		for (unsigned i = 0; i < MANY; i++) {
			run_access(m, store, 0x100000 + i * 64, 8);
			run_access(m, load, 0x100000 + i * 64, 8);
		}
		size_t split = m->nr_steps;
		for (unsigned i = 0; i < MANY; i++)
			run_access(m, other, 0x100000 + i * 64, 8);
		run_split(m, models[k], split, WARM, 1000);
		struct events e = events_from(m, 0);
		assert_int_equal(e.level[LEVEL_L2], MANY);
		assert_int_equal(e.llc, 0);
		machine_free(m);
	}
}

/* A line that is on its way when the steps that touch it are not timed is there for those that are. */
static void t402_on_its_way(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct machine *m = real_machine();
		uint32_t load = make_load(m, R1, 0), again = make_load(m, R1, 0);

		m->desc.ideal.dtlb = m->desc.ideal.itlb = m->desc.ideal.l1i = true;
		run_access(m, load, 0x100000, 8);
		run_access(m, again, 0x100000, 8);
		run_access(m, again, 0x100000, 8);
		run_parts(m, models[k], (const struct part[]){ { 1, TIMED }, { 2, WARM }, { 3, TIMED } }, 3, 1);
		assert_int_equal(m->nr_timed, 2);
		assert_int_equal(timed_data_level(&m->timed[0]), LEVEL_MEMORY);
		assert_int_equal(timed_data_level(&m->timed[1]), LEVEL_L1);
		assert_int_equal(m->timed[1].psv, 0);
		machine_free(m);
	}
}

/* --- the memory system as it stands ------------------------------------------------------------------ */

static void same_cache(const struct cache *a, const struct cache *b)
{
	uint64_t n = (uint64_t)a->sets.by * a->ways;

	assert_memory_equal(a->tags, b->tags, n * sizeof *a->tags);
	assert_memory_equal(a->order, b->order, (a->policy == REPLACE_LRU ? n : a->sets.by) * sizeof *a->order);
	assert_memory_equal(a->recent, b->recent, a->sets.by);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(a->lines[i].dirty, b->lines[i].dirty);
}

static void same_tlb(const struct tlb *a, const struct tlb *b)
{
	for (uint32_t i = 0; i < a->sets.by * a->ways; i++) {
		assert_int_equal(a->entries[i].page, b->entries[i].page);
		assert_int_equal(a->entries[i].frame, b->entries[i].frame);
	}
}

static void same_memory(const struct memory *a, const struct memory *b)
{
	same_cache(&a->data.lines, &b->data.lines);
	same_cache(&a->code.lines, &b->code.lines);
	for (uint32_t i = 0; i < a->below.nr; i++)
		same_cache(&a->below.lower[i].lines, &b->below.lower[i].lines);
	same_tlb(&a->data.tlb, &b->data.tlb);
	same_tlb(&a->code.tlb, &b->code.tlb);
	if (a->second.entries)
		same_tlb(&a->second, &b->second);
	for (uint32_t i = 1; i < a->walker.levels; i++)
		same_tlb(&a->walker.directory[i], &b->walker.directory[i]);
	assert_memory_equal(&a->next_line, &b->next_line, sizeof a->next_line);
	for (uint32_t i = 0; i < a->stride.nr; i++) {
		assert_int_equal(a->stride.entries[i].last, b->stride.entries[i].last);
		assert_int_equal(a->stride.entries[i].stride, b->stride.entries[i].stride);
		assert_int_equal(a->stride.entries[i].confidence, b->stride.entries[i].confidence);
	}
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 16;
}

/* So far apart that each access finds all before it done. */
static void one_timed(struct memory *m, uint64_t cycle, uint64_t addr, bool write, uint64_t pc)
{
	struct access a;

	if (!write) {
		memory_load(m, cycle, addr, 8, pc, &a);
		return;
	}
	memory_own(m, cycle, addr, 8, &a);
	memory_store(m, cycle + 2000, addr, 8, &a);
}

static void all_there(const struct cache *c)
{
	for (uint64_t i = 0; i < (uint64_t)c->sets.by * c->ways; i++)
		assert_int_equal(c->lines[i].fill, 0);
}

static void free_bus(const struct calendar *c)
{
	for (uint64_t i = 0; i <= c->mask; i++)
		assert_int_equal(c->busy[i], 0);
}

/* Nothing has been booked, and all is there. */
static void untimed(const struct memory *m)
{
	for (unsigned i = 0; i < CACHE_PORT_WINDOW; i++)
		assert_int_equal(m->port.used[i], 0);
	for (unsigned i = 0; i < EVICTING; i++)
		assert_int_equal(m->data.set.evicting[i].until, 0);
	for (uint32_t i = 0; m->data.set.coming && i < m->data.lines.sets.by; i++)
		assert_int_equal(m->data.set.coming[i].end, 0);
	assert_int_equal(m->data.mshr.top + m->code.mshr.top + m->walks.top, 0);
	all_there(&m->data.lines);
	all_there(&m->code.lines);
	for (uint32_t k = 0; k < m->below.nr; k++) {
		const struct lower *l = &m->below.lower[k];

		assert_int_equal(l->mshr.top, 0);
		all_there(&l->lines);
		free_bus(&l->bus[0]);
		free_bus(&l->bus[l->down]);
	}
	assert_int_equal(m->below.dram.reads.top, 0);
	free_bus(&m->below.dram.channel);
	for (uint32_t i = 0; i < m->below.dram.nr_banks.by; i++)
		assert_int_equal(m->below.dram.banks[i].nr, 0);
	for (uint32_t i = 0; i < m->data.tlb.sets.by * m->data.tlb.ways; i++)
		assert_int_equal(m->data.tlb.entries[i].ready, 0);
	for (uint32_t i = 0; m->second.entries && i < m->second.sets.by * m->second.ways; i++)
		assert_int_equal(m->second.entries[i].ready, 0);
}

/* Random accesses, some along strides and some over lines and pages, timed in one alone: both end the same. */
static void same_state(const struct core_desc *d, uint64_t bytes)
{
	struct memory *timed, *warm;
	uint64_t x = 88172645463325252u, cycle = 0;
	bool wrote = false;

	assert_int_equal(memory_new(&timed, d), 0);
	assert_int_equal(memory_new(&warm, d), 0);
	for (unsigned i = 0; i < 60000; i++, cycle += 5000) {
		bool write = next_random(&x) % 4 == 0;
		uint64_t addr = 0x10000000 + (i % 3 ? next_random(&x) % bytes : 24 * (uint64_t)i % bytes);
		uint64_t pc = PC + 4 * (i % 3);
		uint64_t code = PC + next_random(&x) % (bytes / 4);
		struct access a;

		one_timed(timed, cycle, addr, write, pc);
		memory_warm_data(warm, addr, 8, write, true, pc);
		memory_fetch(timed, cycle + 4000, code, &a);
		memory_warm_code(warm, code);
	}
	same_memory(warm, timed);
	for (uint64_t i = 0; i < (uint64_t)warm->below.lower[0].lines.sets.by * warm->below.lower[0].lines.ways; i++)
		wrote |= warm->below.lower[0].lines.lines[i].dirty;
	assert_true(wrote);
	untimed(warm);
	memory_free(timed);
	memory_free(warm);
}

static void t410_state_as_if_timed(void **state)
{
	struct core_desc d;

	desc_plain(&d);
	same_state(&d, 1 << 18);
	same_state(&d, 1 << 24);
	d.ideal.dtlb = d.ideal.itlb = false;
	d.page_colour_seed = 1;
	same_state(&d, 1 << 24);
	d.store_queue_prefetch = 0;
	same_state(&d, 1 << 24);
	d.l2_size = 0;                 /* walks begin at L1D then */
	same_state(&d, 1 << 22);
}

static void t411_state_of_a_skylake(void **state)
{
	struct core_desc d;

	desc_skylake(&d);
	same_state(&d, 1 << 18);
	same_state(&d, 1 << 22);
	same_state(&d, 1 << 26);
	d.l1d_set_fill = 3;
	d.prefetch_l1_next = 2;
	d.prefetch_l2_adjacent = 1;
	same_state(&d, 1 << 22);
}

/* --- branches ---------------------------------------------------------------------------------------- */

/* Taken three times of four, and a jump to one of two targets in turn. */
static void t420_predictors(void **state)
{
	static const char *const predictors[] = { "bimodal", "tage" };

	for (unsigned k = 0; k < 4; k++) {
		struct machine *m = real_machine();
		uint32_t alu = make_alu(m, R1, R1, 0, 1, ALU), turn = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 12);
		uint32_t skipped = make_alu(m, R2, R2, 0, 1, ALU), indirect = make_branch(m, BRANCH_INDIRECT, 0);
		uint32_t one = make_branch(m, BRANCH_JUMP, 0x1000), two = make_branch(m, BRANCH_JUMP, 0x1000);

		strcpy(m->desc.predictor, predictors[k / 2]);
		strcpy(m->desc.tage, TAGE);
		for (unsigned i = 0; i < 4000; i++) {
			run_insn(m, alu);
			if (i % 4 < 3) {
				run_taken(m, turn);
			} else {
				run_insn(m, turn);
				run_insn(m, skipped);
			}
			run_taken(m, indirect);
			run_taken(m, i % 2 ? one : two);
		}
		size_t split = m->nr_steps * 3 / 4, from = run_split(m, models[k % 2], split, TIMED, 900);
		uint64_t timed = events_from(m, from).mispredicts, cycles = timed_leave(&m->timed[m->nr_timed - 1]);
		run_split(m, models[k % 2], split, WARM, 900);
		uint64_t warm = events_from(m, 0).mispredicts;
		assert_int_equal(warm, timed);
		assert_true(timed_leave(&m->timed[m->nr_timed - 1]) < cycles / 3);
		run_split(m, models[k % 2], split, LEFT_OUT, 900);
		assert_true(events_from(m, 0).mispredicts > warm);
		machine_free(m);
	}
}

/* --- time -------------------------------------------------------------------------------------------- */

/* No records, and no time: what is timed around it does not see it, at whatever step the batches end. */
static void t430_no_time_passes(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct machine *m = real_machine();
		uint32_t alu = make_alu(m, R1, R1, 0, 3, ALU), load = make_load(m, R4, 0), store = make_store(m, 0, R4);
		uint32_t update = make_update(m, 0, false);
		size_t from, to;

		m->desc.ideal.dtlb = m->desc.ideal.itlb = m->desc.ideal.l1i = true;
		run_times(m, alu, 100);
		from = m->nr_steps;
		for (unsigned i = 0; i < 3000; i++) {
			run_access(m, load, 0x100000 + 4096 * i, 8);
			run_access(m, store, 0x200000 + 4096 * i, 8);
			run_update(m, update, 0x300000 + 64 * i);
		}
		to = m->nr_steps;
		run_times(m, alu, 100);
		struct part parts[] = { { from, TIMED }, { to, LEFT_OUT }, { m->nr_steps, TIMED } };
		run_parts(m, models[k], parts, 3, SIZE_MAX);
		assert_int_equal(m->nr_timed, 200);
		uint64_t first = commit_of(m, 99), last = commit_of(m, 199);
		parts[1].how = WARM;
		for (size_t batch = 7; batch < 10000; batch *= 9) {
			run_parts(m, models[k], parts, 3, batch);
			assert_int_equal(m->nr_timed, 200);
			assert_int_equal(commit_of(m, 99), first);
			assert_int_equal(commit_of(m, 199), last);
		}
		run_parts(m, models[k], (const struct part[]){ { m->nr_steps, WARM } }, 1, 100);
		assert_int_equal(m->nr_timed, 0);
		machine_free(m);
	}
}

/* Loads that read what was stored without time do not wait for stores before that. */
static void t431_stores_before(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct machine *m = real_machine();
		uint32_t slow = make_alu(m, R3, 0, 0, 100, ALU), store = make_store(m, 0, R3);
		uint32_t load = make_load(m, R1, 0);

		m->desc.ideal.dtlb = m->desc.ideal.itlb = m->desc.ideal.l1i = m->desc.ideal.l1d = true;
		run_insn(m, slow);
		run_access(m, store, 0x100000, 8);
		run_access(m, store, 0x200000, 8);
		run_access(m, load, 0x200000, 8);
		run_parts(m, models[k], (const struct part[]){ { 2, TIMED }, { 3, WARM }, { 4, TIMED } }, 3, 1);
		assert_int_equal(m->nr_timed, 3);
		const struct timed *t = &m->timed[2];
		assert_true(t->fetch + t->complete < m->timed[0].fetch + m->timed[0].complete);
		if (!k)                        /* `abstract` names the level by how many stores are between */
			assert_int_equal(timed_data_level(t), LEVEL_L1);
		machine_free(m);
	}
}

/* --- many steps -------------------------------------------------------------------------------------- */

/* FEW: a hundredth of the accesses that are looked at. */
enum { ROUNDS = 8000, FEW = ROUNDS / 4 * 2 / 100 };

/* Loads and stores of `bytes`, a quarter stores, to places of their own where `apart`; a branch by chance. */
static size_t random_steps(struct machine *m, uint64_t bytes, bool apart)
{
	uint32_t load = make_load(m, R1, 0), store = make_store(m, 0, R3);
	uint32_t branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 16);
	uint32_t alu = make_alu(m, R2, R2, 0, 1, ALU), jump = make_branch(m, BRANCH_JUMP, 0x1000);
	uint32_t serial = make_flagged(m, INSN_SERIALIZE), back = make_branch(m, BRANCH_JUMP, 0x1000);
	uint64_t x = 88172645463325252u;
	size_t split = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		run_access(m, load, 0x10000000 + next_random(&x) % bytes / 8 * 8, 8);
		run_access(m, store, (apart ? 0x20000000 : 0x10000000) + next_random(&x) % (bytes / 4) / 8 * 8, 8);
		if (next_random(&x) % 8 < 3) {
			run_taken(m, branch);
		} else {
			run_insn(m, branch);
			run_insn(m, alu);
		}
		if (i == ROUNDS * 3 / 4) {
			split = m->nr_steps;
			run_insn(m, serial);   /* all that was on its way has come */
			run_taken(m, back);
		} else {
			run_taken(m, jump);
		}
	}
	return split;
}

static void t440_many_steps(void **state)
{
	for (unsigned k = 0; k < 6; k++) {
		struct machine *m = real_machine();
		const char *model = models[k % 2];
		uint64_t bytes = (uint64_t[]){ 1 << 15, 1 << 20, 1 << 25 }[k / 2];
		size_t split = random_steps(m, bytes, true), from = run_split(m, model, split, TIMED, 2000);
		struct events timed = events_from(m, from), warm;

		/* What is counted is what is missed, be it on its way or not: the same. */
		run_split(m, model, split, WARM, 2000);
		warm = events_from(m, 0);
		assert_int_equal(warm.l1, timed.l1);
		assert_int_equal(warm.tlb, timed.tlb);
		assert_int_equal(warm.llc, timed.llc);
		assert_int_equal(warm.code, timed.code);
		assert_int_equal(warm.mispredicts, timed.mispredicts);
		assert_int_equal(warm.level[LEVEL_L2], timed.level[LEVEL_L2]);
		machine_free(m);
	}
}

/* With a wrong path, prefetches for want of a miss register dropped, loads that read from a store: nearly the same. */
static void t441_many_steps_nearly(void **state)
{
	for (unsigned k = 0; k < 6; k++) {
		struct machine *m = machine_new();
		const char *model = models[k % 2];
		uint64_t bytes = (uint64_t[]){ 1 << 15, 1 << 20, 1 << 25 }[k / 2];

		desc_skylake(&m->desc);
		strcpy(m->desc.tage, TAGE);
		size_t split = random_steps(m, bytes, false), from = run_split(m, model, split, TIMED, 2000);
		struct events timed = events_from(m, from), warm;

		run_split(m, model, split, WARM, 2000);
		warm = events_from(m, 0);
		assert_true(apart_by(warm.l1, timed.l1) <= FEW);
		assert_true(apart_by(warm.tlb, timed.tlb) <= FEW);
		assert_true(apart_by(warm.llc, timed.llc) <= FEW);
		assert_int_equal(warm.mispredicts, timed.mispredicts);
		machine_free(m);
	}
}

/* --- what is foreseen -------------------------------------------------------------------------------- */

/* Predictors and habits of addresses: wrong paths behind steps that were not timed are those behind steps that were. */
static void t445_wrong_paths(void **state)
{
	struct machine *m = real_machine();
	struct foresight *timed, *warm;
	struct foreseen a = { 0 }, b = { 0 };
	uint64_t addresses = 0, times[16] = { 0 };

	strcpy(m->desc.wrong_path, "full");
	size_t split = random_steps(m, 1 << 20, true);
	for (size_t i = 0; i < m->nr_steps; i++) /* strides, which have to be known before the first wrong path */
		if (m->step[i].bytes)
			m->step[i].addr = 0x10000000 * (1 + m->step[i].insn) + 64 * times[m->step[i].insn]++;
	machine_count(m);
	assert_int_equal(foresight_new(&timed, &m->desc, &m->code), 0);
	assert_int_equal(foresight_new(&warm, &m->desc, &m->code), 0);
	foresight_batch(timed, m->step, split, m->nr_steps - split, &a);
	foresight_warm(warm, m->step, split, m->nr_steps - split);
	foresight_batch(timed, m->step + split, m->nr_steps - split, 0, &a);
	foresight_batch(warm, m->step + split, m->nr_steps - split, 0, &b);
	const struct forecasts x = forecasts_of(&a), y = forecasts_of(&b);
	assert_int_equal(x.nr, y.nr);
	assert_int_equal(x.nr_runs, y.nr_runs);
	assert_int_equal(x.nr_accesses, y.nr_accesses);
	assert_true(x.nr_runs > 0);
	for (size_t i = 0; i < x.nr; i++)
		assert_int_equal(x.forecast[i].predicted.mispredicted, y.forecast[i].predicted.mispredicted);
	for (size_t i = 0; i < x.nr_accesses; i++) {
		assert_int_equal(x.access[i].addr, y.access[i].addr);
		addresses += x.access[i].bytes != 0;
	}
	assert_true(addresses > 0);
	foreseen_fini(&a);
	foreseen_fini(&b);
	foresight_free(timed);
	foresight_free(warm);
	machine_free(m);
}

/* --- rep strings ------------------------------------------------------------------------------------- */

/* A copy larger than L1D, its pieces read and written in turn: what is left of it is the same. */
static void t450_repeats(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct machine *m = real_machine();
		uint32_t copy = make_flagged(m, INSN_REP | INSN_LOAD | INSN_STORE), load = make_load(m, R1, 0);
		uint32_t serial = make_flagged(m, INSN_SERIALIZE);
		enum { BYTES = 24576 };

		run_access(m, copy, 0x100000, BYTES);
		m->step[m->nr_steps - 1].flags = STEP_INSN | STEP_COUNTED | STEP_LOAD;
		m->step[m->nr_steps++] = (struct step){
			.insn = copy, .addr = 0x200000, .bytes = BYTES, .flags = STEP_ACCESS | STEP_STORE,
		};
		m->step[m->nr_steps++] = (struct step){ .insn = copy, .addr = BYTES / 8, .flags = STEP_REPEAT };
		size_t split = m->nr_steps;
		run_insn(m, serial);
		for (unsigned i = 0; i < BYTES / 64; i++)
			run_access(m, load, 0x100000 + 64 * (BYTES / 64 - 1 - i), 8);
		size_t from = run_split(m, models[k], split, TIMED, SIZE_MAX);
		struct events timed = events_from(m, from), warm;
		run_split(m, models[k], split, WARM, 1);
		warm = events_from(m, 0);
		assert_int_equal(warm.l1, timed.l1);
		assert_int_equal(warm.level[LEVEL_L1], timed.level[LEVEL_L1]);
		assert_true(warm.l1 > 0);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t400_a_loop_that_fits), cmocka_unit_test(t401_lines_of_l2),
		cmocka_unit_test(t402_on_its_way), cmocka_unit_test(t410_state_as_if_timed),
		cmocka_unit_test(t411_state_of_a_skylake), cmocka_unit_test(t420_predictors),
		cmocka_unit_test(t430_no_time_passes), cmocka_unit_test(t431_stores_before),
		cmocka_unit_test(t440_many_steps), cmocka_unit_test(t441_many_steps_nearly),
		cmocka_unit_test(t445_wrong_paths), cmocka_unit_test(t450_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
