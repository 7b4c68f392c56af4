/*
 * What the tests of the abstract core share: a machine without limits but those that a test sets, all steps timed by the core
 * or, from one stream of outcomes, by variants of it.
 */
#ifndef CYCLEWISE_TESTS_CORE_ABSTRACT_H
#define CYCLEWISE_TESTS_CORE_ABSTRACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/gus/outcome.h"
#include "core/gus/time.h"
#include "machine.h"

enum { BASE = 5, COUNTER = 6 };        /* registers */

/* Times all steps on the abstract core, `batch` of them at a time: a record each. */
static inline void time_steps(struct machine *m, size_t batch)
{
	uint64_t steps = 0;

	machine_time_on(m, "abstract", batch);
	for (size_t i = 0; i < m->nr_steps; i++)
		steps += step_kind(&m->step[i]) == STEP_INSN;
	assert_int_equal(m->nr_timed, steps);
}

/* A core without limits but those that a test sets. */
static inline struct machine *wide_machine(void)
{
	struct machine *m = machine_new();

	m->desc.ideal.l1d = m->desc.ideal.branch = true;
	m->desc.fetch_bytes = 64;
	m->desc.fetch_width = m->desc.decode_width = 16;
	m->desc.queue_entries = m->desc.rob_entries = 256;
	m->desc.sched0_entries = m->desc.sched1_entries = 0;
	m->desc.load_queue_entries = m->desc.store_queue_entries = 256;
	m->desc.commit_width = 16;
	m->desc.branch_taken_bubble = 0;
	return m;
}

/* The outcomes of all steps, timed once more with other costs: cycles of the whole, and the share of two instructions. */
struct outcome_run {
	struct recipes recipes;
	struct outcomes *outcomes;
	struct outcome_stream stream;
};

static inline void outcome_run_init(struct outcome_run *r, struct machine *m)
{
	machine_count(m);
	assert_int_equal(recipes_init(&r->recipes, &m->desc, &m->code), 0);
	assert_int_equal(outcomes_new(&r->outcomes, &m->desc, &m->code, &r->recipes), 0);
	r->stream = (struct outcome_stream){ 0 };
	outcomes_batch(r->outcomes, m->step, m->nr_steps, 0, &r->stream);
}

static inline void outcome_run_fini(struct outcome_run *r)
{
	outcomes_free(r->outcomes);
	outcome_stream_fini(&r->stream);
	recipes_fini(&r->recipes);
}

static inline uint64_t cycles_with(const struct outcome_run *r, const struct machine *m, const struct abstract_costs *c)
{
	struct chrono *v;
	uint64_t cycles;

	assert_int_equal(chrono_new(&v, &m->desc, c, &r->recipes, CHRONO_PLAIN), 0);
	chrono_batch(v, r->stream.word, r->stream.nr);
	cycles = chrono_cycles(v);
	chrono_free(v);
	return cycles;
}

#endif
