/*
 * The abstract core against a slow, obvious version of its algorithm: an instruction at a time, sets as arrays of all
 * instructions, no ring, no window. Random programs of loads, stores and arithmetic must take the same ticks at every
 * stage and find the same instructions critical.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "core/gus/outcome.h"
#include "core/gus/taint.h"
#include "core/gus/time.h"
#include "machine.h"
#include "stream.h"

enum { NR = 1500, MEMORY = 256 };

typedef uint8_t set[NR + 1];           /* [number of an instruction, from 1 on] */

struct when {
	uint64_t t;
	set who;
};

struct shared {
	uint64_t t;
	set users;
};

/* Of an instruction, in ticks. */
struct passage { uint64_t dispatch, complete, leave; };

struct reference {
	const struct recipes *recipes;
	struct abstract_costs cost;
	uint64_t inverse[NR_RESOURCES];
	struct shared resource[NR_RESOURCES];
	struct when reg[NR_REGS];
	struct when dispatch, frontend, retire;
	struct when rob[4 * NR];       /* by slot */
	unsigned nr_slots;
	struct when written[NR], freed[NR]; /* by store: its data is there; it has left the queue */
	struct when drain;
	unsigned bytes[NR];            /* by store */
	unsigned nr_stores;
	int writer[MEMORY];            /* by byte: store that wrote it; -1: none */
	struct passage passage[NR + 1];
	uint64_t critical[MACHINE_INSNS];
	unsigned now;
};

static void constrain(struct when *this, const struct when *c, uint64_t later)
{
	if (c->t + later > this->t) {
		*this = *c;
		this->t += later;
	} else if (c->t + later == this->t) {
		for (int i = 0; i <= NR; i++)
			this->who[i] |= c->who[i];
	}
}

static void constrain_by(struct reference *r, struct when *this, unsigned resource)
{
	const struct shared *c = &r->resource[resource];

	if (c->t > this->t) {
		this->t = c->t;
		memcpy(this->who, c->users, sizeof this->who);
	} else if (c->t == this->t && c->t) {
		for (int i = 0; i <= NR; i++)
			this->who[i] |= c->users[i];
	}
}

static void use(struct reference *r, unsigned resource, uint64_t amount, const struct when *least)
{
	struct shared *c = &r->resource[resource];

	if (c->t < least->t) {
		memcpy(c->users, least->who, sizeof c->users);
		c->t = least->t;
	}
	c->users[r->now] = 1;
	c->t += amount * r->inverse[resource];
}

static void issue(struct reference *r, const struct part *p, struct when *w, const struct when *least)
{
	for (uint32_t i = p->use; i < p->use + p->nr_uses; i++) {
		constrain_by(r, w, r->recipes->use[i].resource);
		use(r, r->recipes->use[i].resource, r->recipes->use[i].amount, least);
	}
}

static void load(struct reference *r, const struct step *s, struct when *loaded)
{
	struct when there = *loaded;
	int youngest = -1;
	bool whole = true;

	for (unsigned i = 0; i < s->bytes; i++)
		if (r->writer[s->addr % MEMORY + i] > youngest)
			youngest = r->writer[s->addr % MEMORY + i];
	for (unsigned i = 0; i < s->bytes; i++)
		whole &= r->writer[s->addr % MEMORY + i] == youngest;
	if (!whole && r->freed[youngest].t > there.t) {
		constrain(&there, &r->freed[youngest], 0);
		there.t += r->cost.forward_fail;
	}
	there.t += r->cost.load[0];
	if (youngest >= 0 && whole)
		constrain(&there, &r->written[youngest],
		          r->cost.forward[0] + (s->bytes < r->bytes[youngest] ? r->cost.narrow : 0));
	*loaded = there;
}

static void step(struct reference *r, const struct step *s, const struct recipe *p)
{
	unsigned n = ++r->now, need = r->nr_slots + p->slots;
	struct passage *out = &r->passage[n];

	/* Dispatch: the slot that has to be free; the front end's throughput. */
	if (need > r->cost.rob)
		constrain(&r->dispatch, &r->rob[need - r->cost.rob - 1], 0);
	constrain(&r->frontend, &r->dispatch, 0);
	if (r->frontend.t < r->cost.front)
		r->frontend.t = r->cost.front;
	r->frontend.t += p->slots * r->inverse[RESOURCE_FRONTEND];
	r->frontend.who[n] = 1;
	constrain(&r->dispatch, &r->frontend, 0);

	static struct when start, address, end, complete, data, own, w;
	start = r->dispatch;
	start.t += r->cost.issue;
	address = end = start;
	complete = r->dispatch;
	for (unsigned i = 0; i < p->nr_addr; i++)
		constrain(&address, &r->reg[p->addr[i]], 0);
	if (p->part[PART_LOAD].uops) {
		issue(r, &p->part[PART_LOAD], &address, &start);
		load(r, s, &address);
	}
	if (p->part[PART_STA].uops) {
		issue(r, &p->part[PART_STA], &address, &start);
		complete = data = own = address;
		own.t += r->cost.load[0];
		complete.t += ABSTRACT_TICKS;
		data.t += ABSTRACT_TICKS;
	}
	for (unsigned i = 0; i < p->nr_data; i++)
		constrain(&end, &r->reg[p->data[i]], 0);
	if (p->part[PART_LOAD].uops)
		constrain(&end, &address, 0);
	issue(r, &p->part[PART_COMPUTE], &end, &start);
	end.who[n] = 1;
	for (unsigned i = 0; i < p->nr_dst; i++) {
		r->reg[p->dst[i]] = end;
		r->reg[p->dst[i]].t += p->dst_latency[i] * r->cost.latency[p->class];
	}
	end.t += p->latency * r->cost.latency[p->class];
	constrain(&complete, &end, 0);
	if (p->part[PART_STA].uops) {
		w = start;
		constrain(&w, &end, 0);
		issue(r, &p->part[PART_STD], &w, &start);
		w.t += ABSTRACT_TICKS;
		w.who[n] = 1;
		constrain(&data, &w, 0);
		constrain(&complete, &data, 0);
		for (unsigned i = 0; i < s->bytes; i++)
			r->writer[s->addr % MEMORY + i] = (int)r->nr_stores;
		r->written[r->nr_stores] = data;
		r->bytes[r->nr_stores++] = s->bytes;
	}
	constrain(&r->retire, &complete, r->cost.commit);
	r->retire.t += p->slots * r->inverse[RESOURCE_RETIRE];
	r->retire.who[n] = 1;
	for (unsigned i = 0; i < p->slots; i++)
		r->rob[r->nr_slots++] = r->retire;
	if (p->part[PART_STA].uops) {
		constrain(&r->drain, &r->retire, 0);
		constrain(&r->drain, &own, 0);
		r->drain.t += r->inverse[RESOURCE_DRAIN];
		r->drain.who[n] = 1;
		r->freed[r->nr_stores - 1] = r->drain;
	}

	out->dispatch = r->dispatch.t;
	out->complete = complete.t;
	out->leave = r->retire.t;
}

/* Whether the instruction that leaves the taint queue determines dispatch. */
static void judge(struct reference *r, const struct when *w, unsigned n, const struct machine *m)
{
	if (w->who[n])
		r->critical[m->step[n - 1].insn]++;
}

static struct machine *random_program(uint64_t seed)
{
	struct machine *m = machine_new();
	uint64_t random = seed * 0x9e3779b97f4a7c15 | 1;

	m->desc.ideal.l1d = m->desc.ideal.branch = true;
	m->desc.fetch_bytes = 64;
	m->desc.fetch_width = m->desc.decode_width = 16;
	m->desc.queue_entries = 256;
	m->desc.sched0_entries = m->desc.sched1_entries = 0;
	m->desc.load_queue_entries = m->desc.store_queue_entries = 1000;
	m->desc.rob_entries = seed & 1 ? 32 : 70;
	m->desc.commit_width = seed & 2 ? 4 : 3;
	m->desc.forward_narrow = seed & 4 ? 2 : 0;
	for (int i = 0; i < NR; i++) {
		uint8_t a = (uint8_t)(1 + stream_random(&random, 8)), b = (uint8_t)(1 + stream_random(&random, 8)),
			d = (uint8_t)(1 + stream_random(&random, 8));
		uint16_t bytes = stream_random(&random, 2) ? 4 : 8;
		uint64_t addr = 0x1000 + stream_random(&random, MEMORY / bytes) * bytes;
		switch (stream_random(&random, 8)) {
		case 0: case 1:
			run_access(m, make_load(m, d, a), addr, bytes);
			break;
		case 2:
			run_access(m, make_store(m, a, b), addr, bytes);
			break;
		case 3:
			run_insn(m, make_flagged(m, INSN_NOP));
			m->insn[m->code.nr - 1].slots = (uint8_t)(1 + stream_random(&random, 3));
			break;
		default: {
			static const uint16_t ports[] = { ALU0, ALU1, ALU, ALU | MEM0, ALU1 | MEM0 };
			uint32_t k = make_alu(m, d, a, b, (uint8_t)(1 + stream_random(&random, 6)),
			                      ports[stream_random(&random, 5)]);
			if (!stream_random(&random, 8)) {
				m->uop[m->insn[k].uop].unit = 1;
				m->uop[m->insn[k].uop].busy = (uint16_t)(1 + stream_random(&random, 9));
			}
			run_insn(m, k);
			break;
		}
		}
	}
	for (uint32_t i = 0; i < m->code.nr; i++)
		insn_count(&m->insn[i], m->uop + m->insn[i].uop);
	return m;
}

/* What takes time up to `t` ends in this cycle. */
static uint64_t cycle_ending(uint64_t t)
{
	return (t - (t != 0)) / ABSTRACT_TICKS;
}

/* Records made without steps are those of `full` but for their addresses. */
static void compare_without_steps(const struct machine *m, const struct recipes *recipes,
                                  const struct abstract_costs *cost, const struct outcome_stream *stream,
                                  const struct timed *full)
{
	struct timed *without = g_new0(struct timed, NR);
	const struct step *steps = NULL;
	const uint64_t *word = stream->word;
	struct chrono *times;

	assert_int_equal(chrono_new(&times, &m->desc, cost, recipes, CHRONO_RECORDS), 0);
	assert_int_equal(chrono_records(times, &word, stream->word + stream->nr, &steps, without, NR), NR);
	for (unsigned n = 0; n < NR; n++) {
		struct timed t = full[n];
		t.addr = 0;
		assert_memory_equal(&without[n], &t, sizeof t);
	}
	chrono_free(times);
	g_free(without);
}

static void compare(uint64_t seed)
{
	struct machine *m = random_program(seed);
	struct reference *r = g_new0(struct reference, 1);
	struct timed *timed = g_new0(struct timed, NR);
	const struct step *steps = m->step;
	struct recipes recipes;
	struct outcomes *outcomes;
	struct outcome_stream stream = { 0 };
	struct chrono *times, *taints;
	uint64_t window = 2 * (uint64_t)m->desc.rob_entries, critical = 0;

	assert_int_equal(recipes_init(&recipes, &m->desc, &m->code), 0);
	assert_int_equal(outcomes_new(&outcomes, &m->desc, &m->code, &recipes), 0);
	assert_int_equal(outcomes_batch(outcomes, m->step, m->nr_steps, 0, &stream), NR);
	abstract_costs_init(&r->cost, &m->desc);
	assert_int_equal(chrono_new(&times, &m->desc, &r->cost, &recipes, CHRONO_RECORDS), 0);
	assert_int_equal(chrono_new(&taints, &m->desc, &r->cost, &recipes, CHRONO_TAINT), 0);
	const uint64_t *word = stream.word;
	assert_int_equal(chrono_records(times, &word, stream.word + stream.nr, &steps, timed, NR), NR);
	compare_without_steps(m, &recipes, &r->cost, &stream, timed);
	chrono_batch(taints, stream.word, stream.nr);
	chrono_finish(taints);

	r->recipes = &recipes;
	for (unsigned i = 0; i < RESOURCE_PORTS; i++)
		r->inverse[i] = r->cost.inverse[i];
	for (unsigned g = 0; g < recipes.nr_groups; g++)
		r->inverse[RESOURCE_PORTS + g] = ABSTRACT_TICKS / (uint64_t)__builtin_popcount(recipes.group[g]);
	memset(r->writer, 0xff, sizeof r->writer);
	word = stream.word;
	for (unsigned n = 1; n <= NR; n++, word += 1 + outcome_words(*word)) {
		step(r, &m->step[n - 1], &recipes.recipe[outcome_recipe(*word)]);
		if (n > window)
			judge(r, &r->dispatch, n - (unsigned)window, m);
		const struct timed *t = &timed[n - 1];
		assert_int_equal(timed_dispatch(t),
		                 cycle_ending(r->passage[n].dispatch -
		                              (t->slots ? t->slots - 1u : 0u) * r->inverse[RESOURCE_FRONTEND]));
		assert_int_equal(t->fetch + t->complete, r->passage[n].complete / ABSTRACT_TICKS);
		assert_int_equal(timed_leave(t), cycle_ending(r->passage[n].leave));
	}
	for (unsigned n = NR - (unsigned)window + 1; n <= NR; n++)
		judge(r, &r->retire, n, m);
	for (uint32_t i = 0; i < m->code.nr; i++) {
		const struct causality_row *row = chrono_row(taints, i);
		assert_int_equal(row ? row->count : 0, r->critical[i]);
		critical += r->critical[i];
	}
	assert_int_equal(critical, chrono_critical(taints));
	assert_true(critical > 0);
	chrono_free(times);
	chrono_free(taints);
	outcomes_free(outcomes);
	outcome_stream_fini(&stream);
	recipes_fini(&recipes);
	g_free(timed);
	g_free(r);
	machine_free(m);
}

static void test_algorithm(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		compare(seed);
}

/* Sets against arrays: random unions, additions and uses, with the memory of `seen` instructions. */
static void compare_taints(unsigned seen)
{
	enum { SETS = 16, LAST = 6000 };
	struct taints p;
	struct taint_users u;
	taint mine[SETS] = { 0 };
	static uint8_t slow[SETS][LAST + 1], users[LAST + 1];
	uint64_t random = 99;

	memset(slow, 0, sizeof slow);
	memset(users, 0, sizeof users);
	assert_int_equal(taints_init(&p, seen + 1), 0);
	assert_int_equal(taint_users_init(&u, &p), 0);
	for (p.now = 1; p.now <= LAST; p.now++) {
		unsigned a = (unsigned)stream_random(&random, SETS), b = (unsigned)stream_random(&random, SETS);
		switch (stream_random(&random, 6)) {
		case 0:
			mine[a] = taint_add(&p, mine[a]);
			slow[a][p.now] = 1;
			break;
		case 1:
			mine[a] = taint_union(&p, mine[a], mine[b]);
			for (unsigned i = 0; i <= LAST; i++)
				slow[a][i] |= slow[b][i];
			break;
		case 2: {
			bool idle = !stream_random(&random, 20);
			taint_use(&p, &u, idle, mine[b]);
			if (idle)
				memcpy(users, slow[b], sizeof users);
			users[p.now] = 1;
			break;
		}
		case 3:
			mine[a] = taint_of_users(&p, &u);
			memcpy(slow[a], users, sizeof users);
			break;
		case 4:
			mine[a] = taint_union_users(&p, mine[a], &u);
			for (unsigned i = 0; i <= LAST; i++)
				slow[a][i] |= users[i];
			break;
		case 5:
			mine[a] = mine[b];
			memcpy(slow[a], slow[b], sizeof slow[a]);
			break;
		}
		for (uint64_t i = p.now > seen ? p.now - seen : 1; i <= p.now; i++)
			for (unsigned k = 0; k < SETS; k++)
				if (taint_has(&p, mine[k], i) != slow[k][i])
					fail_msg("set %u, instruction %u of %u", k, (unsigned)i, (unsigned)p.now);
	}
	taint_users_fini(&u);
	taints_fini(&p);
}

/* Sets of 4 words; of 8, as many as that memory just fits into, and 16, which cores have; and of 32. */
static void test_taints(void **state)
{
	static const unsigned seen[] = { 100, 448, 896, 1100 };

	for (unsigned i = 0; i < sizeof seen / sizeof seen[0]; i++)
		compare_taints(seen[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_algorithm),
		cmocka_unit_test(test_taints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
