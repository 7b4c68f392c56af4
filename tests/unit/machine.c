#include "machine.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core_memory_desc.h"
#include "rules.h"

/* The wrong path reads the code by its address; the machine's lies contiguously from the first instruction on. */
uint32_t code_find(struct code *code, uint64_t pc)
{
	for (uint32_t i = 0; i < code->nr; i++)
		if (code->insn[i].pc == pc)
			return i;
	return CODE_NONE;
}

struct machine *machine_new(void)
{
	struct machine *m = calloc(1, sizeof *m);
	struct core_desc *d = &m->desc;

	assert(m);
	desc_defaults(d);
	strcpy(d->predictor, "bimodal");
	d->fetch_latency = 1;
	d->fetch_width = 4;
	d->fetch_queue = 16;
	d->decode_latency = 1;
	d->decode_complex = 0;
	d->rename_latency = 1;
	d->issue_latency = 1;
	d->commit_latency = 1;
	d->queue_entries = 16;
	d->rob_entries = 64;
	d->sched0_entries = 16;
	d->sched0_ports = ALU;
	d->sched1_entries = 16;
	d->sched1_ports = MEM | STD;
	d->load_queue_entries = 16;
	d->store_queue_entries = 8;
	d->ideal.itlb = d->ideal.dtlb = d->ideal.l1i = true;
	m->pc = 0x1000;
	m->code.insn = m->insn;
	m->code.uops = m->uop;
	return m;
}

void machine_free(struct machine *m)
{
	free(m);
}

static struct insn *make(struct machine *m, uint32_t *index)
{
	assert(m->code.nr < MACHINE_INSNS);
	struct insn *in = &m->insn[m->code.nr];
	*index = m->code.nr++;
	*in = (struct insn){ .pc = m->pc, .length = 4, .slots = 1, .decode_uops = 1, .uop = m->nr_uops };
	m->pc += 4;
	return in;
}

static void add_uop(struct machine *m, struct insn *in, enum uop_kind kind, uint16_t ports, uint8_t latency)
{
	m->uop[m->nr_uops++] = (struct uop){ .ports = ports, .kind = (uint8_t)kind, .latency = latency };
	in->nr_uops++;
}

uint32_t make_alu(struct machine *m, uint8_t dst, uint8_t a, uint8_t b, uint8_t latency, uint16_t ports)
{
	uint32_t i;
	struct insn *in = make(m, &i);

	in->latency = latency;
	if (a)
		in->data[in->nr_data++] = a;
	if (b)
		in->data[in->nr_data++] = b;
	if (dst) {
		in->dst_latency[0] = latency;
		in->dst[in->nr_dst++] = dst;
	}
	add_uop(m, in, UOP_COMPUTE, ports, latency);
	return i;
}

uint32_t make_load(struct machine *m, uint8_t dst, uint8_t base)
{
	uint32_t i;
	struct insn *in = make(m, &i);

	in->flags = INSN_LOAD;
	if (base)
		in->addr[in->nr_addr++] = base;
	in->dst[in->nr_dst++] = dst;
	add_uop(m, in, UOP_LOAD, MEM, 0);
	return i;
}

uint32_t make_store(struct machine *m, uint8_t base, uint8_t data)
{
	uint32_t i;
	struct insn *in = make(m, &i);

	in->flags = INSN_STORE;
	if (base)
		in->addr[in->nr_addr++] = base;
	if (data)
		in->data[in->nr_data++] = data;
	add_uop(m, in, UOP_STA, MEM, 0);
	add_uop(m, in, UOP_STD, STD, 0);
	return i;
}

uint32_t make_branch(struct machine *m, enum branch_kind kind, uint64_t target)
{
	uint32_t i;
	struct insn *in = make(m, &i);

	in->branch = kind & 15;
	in->target = target;
	in->latency = 1;
	add_uop(m, in, UOP_COMPUTE, ALU0, 1);
	return i;
}

uint32_t make_update(struct machine *m, uint8_t base, bool direct)
{
	uint32_t i = make_load(m, 0, base);
	struct insn *in = &m->insn[i];

	in->flags |= INSN_STORE;
	in->nr_dst = 0;
	in->latency = 1;
	in->stores_result = direct;
	add_uop(m, in, UOP_COMPUTE, ALU, 1);
	add_uop(m, in, UOP_STA, MEM, 0);
	add_uop(m, in, UOP_STD, direct ? 0 : STD, 0);
	return i;
}

uint32_t make_flagged(struct machine *m, uint32_t flags)
{
	uint32_t i;
	struct insn *in = make(m, &i);

	in->flags = flags;
	return i;
}

static struct step *execute_step(struct machine *m, uint32_t insn)
{
	assert(m->nr_steps < MACHINE_STEPS);
	struct step *s = &m->step[m->nr_steps++];
	*s = (struct step){ .insn = insn, .flags = STEP_INSN | STEP_COUNTED };
	return s;
}

void run_insn(struct machine *m, uint32_t insn)
{
	execute_step(m, insn);
}

void run_rounds(struct machine *m, const uint32_t *insn, size_t nr, unsigned n)
{
	while (n--)
		for (size_t i = 0; i < nr; i++)
			run_insn(m, insn[i]);
}

void run_times(struct machine *m, uint32_t insn, unsigned n)
{
	run_rounds(m, &insn, 1, n);
}

void run_taken(struct machine *m, uint32_t insn)
{
	execute_step(m, insn)->flags |= STEP_TAKEN;
}

void run_access(struct machine *m, uint32_t insn, uint64_t addr, uint16_t bytes)
{
	struct step *s = execute_step(m, insn);
	s->addr = addr;
	s->bytes = bytes;
	s->flags |= m->insn[insn].flags & INSN_STORE ? STEP_STORE : STEP_LOAD;
}

size_t run_lines_again(struct machine *m, uint32_t load, uint64_t stride, unsigned lines)
{
	enum { SETS = 8 };

	m->desc.l1d_size = SETS * 64;
	m->desc.l1d_ways = 1;
	for (uint64_t i = 0; i < lines; i++)
		run_access(m, load, 0x100000 + i * stride, 8);
	for (uint64_t i = 0; i < SETS; i++)
		run_access(m, load, 0x200000 + i * 64, 8);
	run_insn(m, make_flagged(m, INSN_SERIALIZE));
	for (uint64_t i = 0; i < lines; i++)
		run_access(m, load, 0x100000 + i * stride, 8);
	return lines + SETS + 1;
}

void run_update(struct machine *m, uint32_t insn, uint64_t addr)
{
	run_access(m, insn, addr, 8);
	m->step[m->nr_steps - 1].flags |= STEP_LOAD;
	m->step[m->nr_steps - 1].flags &= (uint8_t)~STEP_STORE;
	m->step[m->nr_steps++] = (struct step){ .insn = insn, .addr = addr, .bytes = 8, .flags = STEP_ACCESS | STEP_STORE };
}

static void take(void *ctx, const struct timed *t, size_t n)
{
	struct machine *m = ctx;

	assert(m->nr_timed + n <= MACHINE_RECORDS);
	memcpy(&m->timed[m->nr_timed], t, n * sizeof *t);
	m->nr_timed += n;
}

static void check_stream(const struct machine *m)
{
	struct rules rules = { 0 };

	for (size_t i = 0; i < m->nr_timed; i++) {
		const char *broken = rules_check(&rules, &m->timed[i], (unsigned)m->desc.rename_width);
		if (broken) {
			fprintf(stderr, "record %zu: %s\n", i, broken);
			abort();
		}
	}
}

void machine_count(struct machine *m)
{
	for (uint32_t i = 0; i < m->code.nr; i++)
		insn_count(&m->insn[i], m->uop + m->insn[i].uop);
}

void machine_time(struct machine *m)
{
	const struct core_ops *ooo = core_find("ooo");
	struct core *core;

	machine_count(m);
	assert(ooo);
	int ret = ooo->open(&core, &m->desc, &m->code, (struct timed_sink){ .take = take, .ctx = m });
	assert(!ret);
	/* Two batches, so that every test also crosses their boundary. */
	struct suppose suppose = { .insn = m->insn, .never = m->never, .nr = m->code.nr, .future = m->future };
	ooo->suppose(core, &suppose);
	size_t half = m->nr_steps / 2;
	ooo->batch(core, m->step, half, m->nr_steps - half);
	ooo->batch(core, m->step + half, m->nr_steps - half, 0);
	ooo->finish(core);
	ooo->close(core);
	check_stream(m);
}

void machine_time_on(struct machine *m, const char *model, size_t batch)
{
	const struct core_ops *ops = core_find(model);
	struct core *core;

	machine_count(m);
	m->nr_timed = 0;
	assert(ops);
	int ret = ops->open(&core, &m->desc, &m->code, (struct timed_sink){ .take = take, .ctx = m });
	assert(!ret);
	for (size_t i = 0; i < m->nr_steps; i += batch) {
		size_t n = m->nr_steps - i < batch ? m->nr_steps - i : batch;
		ops->batch(core, m->step + i, n, m->nr_steps - i - n);
	}
	ops->finish(core);
	ops->close(core);
	check_stream(m);
}

void machine_bind(struct machine *m, enum bind_kind kind, uint16_t ports)
{
	if (ports)
		m->desc.binds[m->desc.nr_binds++] = (struct core_bind){ (uint8_t)kind, ports };
}

const struct timed *committed(const struct machine *m, size_t n)
{
	for (size_t i = 0; i < m->nr_timed; i++)
		if (timed_commits(&m->timed[i]) && !n--)
			return &m->timed[i];
	abort();
}

uint64_t commit_of(const struct machine *m, size_t n)
{
	return timed_leave(committed(m, n));
}

uint64_t between(const struct machine *m, size_t from, size_t to)
{
	return commit_of(m, to) - commit_of(m, from);
}

unsigned next_of_two_pairs(uint32_t *draw)
{
	*draw = *draw * 1664525 + 1013904223;
	return *draw >> 31;
}

void assert_bound_to_pairs(const struct machine *m, unsigned nr)
{
	uint64_t free[2] = { 0 }, taken[2] = { 0 };
	uint32_t draw = 0;

	for (unsigned i = 0; i < nr; i++) {
		const struct timed *t = committed(m, 2 * (size_t)i);
		unsigned pair = next_of_two_pairs(&draw);
		uint64_t ready = timed_dispatch(t) + 1, issue = ready > free[pair] ? ready : free[pair];
		assert_int_equal(t->fetch + t->issue, issue);
		free[pair] = issue + 1;
		taken[pair]++;
	}
	assert_true(taken[0] > nr / 4 && taken[1] > nr / 4);
}
