#include "method_fake.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static int put(struct profile *p, const char *method, const char *name, uint32_t thread, uint64_t value)
{
	for (size_t i = 0; i < p->nr_rows; i++)
		assert(strcmp(p->row[i].method, method) || strcmp(p->row[i].name, name) || p->row[i].thread != thread);
	assert(p->nr_rows < G_N_ELEMENTS(p->row));
	struct fake_row *r = &p->row[p->nr_rows++];
	g_strlcpy(r->method, method, sizeof(r->method));
	g_strlcpy(r->name, name, sizeof(r->name));
	r->thread = thread;
	r->value = value;
	return 0;
}

int64_t fake_value(const struct profile *p, const char *method, const char *name, uint32_t thread)
{
	for (size_t i = 0; i < p->nr_rows; i++)
		if (!strcmp(p->row[i].method, method) && !strcmp(p->row[i].name, name) && p->row[i].thread == thread)
			return (int64_t)p->row[i].value;
	return -1;
}

int profile_set_int(struct profile *p, const char *key, int64_t value) { return put(p, "run", key, 0, (uint64_t)value); }
int profile_event(struct profile *p, const char *event, uint64_t count) { return put(p, "event", event, 0, count); }

int profile_state(struct profile *p, uint32_t thread, const char *state, uint64_t units)
{
	return put(p, "state", state, thread, units);
}

int profile_component(struct profile *p, const char *method, const char *component, uint64_t units)
{
	return put(p, method, component, 0, units);
}

int profile_unmodelled(struct profile *p, const char *form, uint64_t executions)
{
	return put(p, "unmodelled", form, 0, executions);
}

int profile_figure(struct profile *p, const char *method, const char *name, double value)
{
	return put(p, method, name, 0, (uint64_t)llround(value));
}

int profile_insn_figure(struct profile *p, const char *method, uint32_t insn, const char *name, double value)
{
	assert(p->nr_insn_rows < G_N_ELEMENTS(p->insn_row));
	struct fake_insn_row *r = &p->insn_row[p->nr_insn_rows++];
	g_strlcpy(r->method, method, sizeof(r->method));
	g_strlcpy(r->name, name, sizeof(r->name));
	r->insn = insn;
	r->value = value;
	return 0;
}

int64_t fake_insn_value(const struct profile *p, const char *method, const char *name, uint32_t insn)
{
	for (size_t i = 0; i < p->nr_insn_rows; i++)
		if (!strcmp(p->insn_row[i].method, method) && !strcmp(p->insn_row[i].name, name) && p->insn_row[i].insn == insn)
			return llround(p->insn_row[i].value);
	return -1;
}

int profile_cycles(struct profile *p, uint32_t insn, uint16_t psv, uint64_t executions, uint64_t units)
{
	assert(insn < FAKE_INSNS && psv < FAKE_PSVS && !p->executions[insn][psv] && !p->units[insn][psv]);
	p->executions[insn][psv] = executions;
	p->units[insn][psv] = units;
	p->nr_cycles++;
	return 0;
}

int profile_sample(struct profile *p, const char *method, uint32_t insn, uint16_t psv, uint64_t weight)
{
	if (strchr(method, '/'))               /* of a sweep */
		return 0;
	assert(insn < FAKE_INSNS && psv < FAKE_PSVS && !p->weight[insn][psv]);
	p->weight[insn][psv] = weight;
	p->nr_samples++;
	return 0;
}

int profile_thread(struct profile *p, uint32_t thread, uint64_t instructions, uint64_t uops, uint64_t units,
                   const struct slot_counts *slots)
{
	assert(thread < FAKE_THREADS && !p->thread[thread].set);
	p->thread[thread] = (struct fake_counters){ true, 0, instructions, uops, units, *slots };
	return 0;
}

int profile_region(struct profile *p, const char *name, uint64_t entries, uint64_t instructions, uint64_t units,
                   const struct slot_counts *slots)
{
	unsigned i = (unsigned)(name[1] - '0');
	assert(i < STREAM_REGIONS && !p->region[i].set);
	p->region[i] = (struct fake_counters){ true, entries, instructions, 0, units, *slots };
	return 0;
}

const struct regions *fake_regions(void)
{
	return (const struct regions *)"regions";
}

bool regions_mark(const struct regions *r, uint32_t insn, struct mark *out)
{
	if (insn < STREAM_MARK)
		return false;
	out->region = (insn - STREAM_MARK) / 2;
	out->begin = (insn - STREAM_MARK) % 2 == 0;
	return true;
}

uint32_t regions_count(const struct regions *r) { return STREAM_REGIONS; }

const char *regions_name(const struct regions *r, uint32_t region)
{
	static const char *const names[STREAM_REGIONS] = { "r0", "r1", "r2" };
	return names[region];
}

struct code *fake_code(void)
{
	static struct insn insn[FAKE_INSNS];
	static struct code code = { .insn = insn, .nr = FAKE_INSNS };

	for (unsigned i = 0; i < FAKE_INSNS; i += 8)
		insn[i].flags = INSN_UNMODELLED;
	return &code;
}

const char *code_form(struct code *code, uint32_t insn)
{
	return insn % 16 ? "ODD" : "EVEN";
}

struct core_desc *fake_desc(const struct stream_config *config)
{
	static struct core_desc desc;

	desc.rename_width = (int32_t)config->width;
	desc.commit_width = (int32_t)config->commit_width;
	desc.rob_entries = (int32_t)config->rob;
	desc.fmt_rows = 0;
	desc.l2_latency = 10;
	desc.dram_latency_ns = 30;
	desc.clock_mhz = 1000;
	return &desc;
}

uint64_t fake_total_units(const struct profile *p)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FAKE_INSNS; i++)
		for (unsigned s = 0; s < FAKE_PSVS; s++)
			sum += p->units[i][s];
	return sum;
}

void fake_drive(const struct fake_run *r, struct timed *const *streams, const size_t *lengths, unsigned threads)
{
	const struct method *m = r->method;
	void *state = calloc(1, m->state_size);
	struct feed_target target[FAKE_THREADS];
	struct feed *feed = calloc(threads, sizeof(*feed));
	struct run run = r->run;
	struct clock clock;
	size_t done[FAKE_THREADS] = { 0 }, left = 0;
	uint64_t random = RANDOM_START;

	assert(threads <= FAKE_THREADS);
	clock_init(&clock, &run);
	run.clock = &clock;
	run.code = run.code ? run.code : fake_code();
	assert(!m->open(state, &run));
	for (unsigned i = 0; i < threads; i++) {
		target[i] = (struct feed_target){ m, state, calloc(1, m->lane_size) };
		assert(!m->lane(state, target[i].lane, i));
		feed_init(&feed[i], &clock, i, &target[i], 1);
		left += lengths[i];
	}
	while (left) {
		unsigned i = (unsigned)stream_random(&random, threads);
		size_t n = (size_t)stream_random(&random, stream_random(&random, 8) ? 40 : 4000);
		if (n > lengths[i] - done[i])
			n = lengths[i] - done[i];
		feed_batch(&feed[i], streams[i] + done[i], n);
		done[i] += n;
		left -= n;
		if (r->checkpoints && stream_random(&random, 64) == 0) {
			struct profile *checkpoint = calloc(1, sizeof(*checkpoint));
			assert(!m->save(state, checkpoint));
			r->check(checkpoint, r->check_ctx);
			free(checkpoint);
		}
	}
	for (unsigned i = 0; i < threads; i++)
		feed_finish(&feed[i]);
	/* What ended threads leave behind is saved as what others still have. */
	for (unsigned i = 0; i < threads && m->end; i += 2) {
		m->end(state, target[i].lane);
		memset(target[i].lane, 0x5a, m->lane_size);
	}
	assert(!m->save(state, r->profile));
	m->close(state);
	for (unsigned i = 0; i < threads; i++) {
		feed_fini(&feed[i]);
		free(target[i].lane);
	}
	free(feed);
	free(state);
}

struct profile *fake_profile(const struct method *method, const struct core_desc *desc, const struct timed *t, size_t n)
{
	struct profile *p = calloc(1, sizeof(*p));
	struct timed *copy = malloc(n * sizeof(*copy));
	struct fake_run r = { .method = method, .profile = p,
	                      .run = { .desc = desc, .code = fake_code(), .regions = fake_regions(), .seed = 1 } };

	memcpy(copy, t, n * sizeof(*copy));
	fake_drive(&r, &copy, &n, 1);
	free(copy);
	return p;
}
