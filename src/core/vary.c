#include "core/vary.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "isa/insn.h"

/* Resources that are parameters: the first parameter's value is the capacity; all are weighted alike. */
static const struct row {
	const char *name, *unit;
	bool time, outcome;
	const char *params[VARY_PARAMS];
} rows[] = {
	{ "frontend", "slots/cycle", false, false,
	  { "rename.width", "uopcache.width", "decode.width", "decode.complex", "fetch.width",
	  "fetch.bytes", "microcode.width" } },
	{ "rename", "slots/cycle", false, false, { "rename.width" } },
	{ "uopcache", "uops/cycle", false, false, { "uopcache.width" } },
	{ "decode", "instructions/cycle", false, false,
	  { "decode.width", "decode.complex", "fetch.width", "fetch.bytes", "microcode.width" } },
	{ "queue", "uops", false, false, { "queue.entries" } },
	{ "rob", "slots", false, false, { "rob.entries" } },
	{ "scheduler0", "uops", false, false, { "sched0.entries" } },
	{ "scheduler1", "uops", false, false, { "sched1.entries" } },
	{ "scheduler2", "uops", false, false, { "sched2.entries" } },
	{ "scheduler3", "uops", false, false, { "sched3.entries" } },
	{ "scheduler4", "uops", false, false, { "sched4.entries" } },
	{ "scheduler5", "uops", false, false, { "sched5.entries" } },
	{ "scheduler6", "uops", false, false, { "sched6.entries" } },
	{ "scheduler7", "uops", false, false, { "sched7.entries" } },
	{ "load_queue", "loads", false, false, { "load_queue.entries" } },
	{ "store_queue", "stores", false, false, { "store_queue.entries" } },
	{ "store.drain", "stores/cycle", false, false, { "store_queue.drain_width" } },
	{ "retire", "slots/cycle", false, false, { "commit.width" } },
	{ "load.latency", "cycles", true, false, { "l1d.latency", "l1d.simple_latency" } },
	{ "misses", "lines", false, false, { "l1d.mshrs", "l2.mshrs", "llc.mshrs", "dram.reads" } },
	{ "l2.latency", "cycles", true, false, { "l2.latency" } },
	{ "l2.bandwidth", "bytes/cycle", false, false, { "l2.bandwidth", "l2.write_bandwidth" } },
	{ "llc.latency", "cycles", true, false, { "llc.latency" } },
	{ "llc.bandwidth", "bytes/cycle", false, false, { "llc.bandwidth", "llc.write_bandwidth" } },
	{ "memory.latency", "ns", true, false, { "dram.latency_ns", "dram.cas_ns", "dram.rcd_ns", "dram.rp_ns" } },
	{ "memory.bandwidth", "MB/s", false, false, { "dram.bandwidth" } },
	{ "tlb", "pages", false, true, { "dtlb.entries", "stlb.entries", "itlb.entries" } },
};
enum { NR_ROWS = sizeof rows / sizeof *rows };

static const char *const class_names[NR_LATENCIES] = { "latency.integer", "latency.multiply", "latency.float",
	                                               "latency.vector" };

static int32_t *value_of(struct core_desc *d, unsigned param)
{
	return (int32_t *)(void *)((char *)d + core_params[param].offset);
}

static int32_t value(const struct core_desc *d, unsigned param)
{
	int32_t v;
	memcpy(&v, (const char *)d + core_params[param].offset, sizeof v);
	return v;
}

static unsigned find_param(const char *name)
{
	for (unsigned i = 0; i < nr_core_params; i++)
		if (!strcmp(core_params[i].name, name))
			return i;
	assert(false);
	return 0;
}

/* A part that the core does not have cannot be weighted. */
static bool absent(const struct core_desc *d, const char *name)
{
	if (!strcmp(name, "uopcache"))
		return !d->uopcache_sets;
	if (!strncmp(name, "l2.", 3))
		return !d->l2_size;
	if (!strncmp(name, "llc.", 4))
		return !d->llc_size;
	return false;
}

static void add_parameters(struct vary *out, unsigned *nr, const struct core_desc *d)
{
	for (unsigned i = 0; i < NR_ROWS && *nr < VARY_MAX; i++) {
		struct vary *v = &out[*nr];

		*v = (struct vary){
			.unit = rows[i].unit, .kind = VARY_PARAMETERS, .time = rows[i].time, .outcome = rows[i].outcome
		};
		snprintf(v->name, sizeof v->name, "%s", rows[i].name);
		for (unsigned k = 0; k < VARY_PARAMS && rows[i].params[k]; k++)
			v->param[v->nr_params++] = (uint16_t)find_param(rows[i].params[k]);
		v->capacity = value(d, v->param[0]);
		if (v->capacity > 0 && !absent(d, v->name))
			(*nr)++;
	}
}

static void add_ports(struct vary *out, unsigned *nr, const struct core_desc *d, uint16_t ports)
{
	char name[128];

	if (*nr == VARY_MAX)
		return;
	out[*nr] = (struct vary){
		.unit = "uops/cycle", .kind = VARY_PORTS, .ports = ports, .capacity = __builtin_popcount(ports)
	};
	snprintf(out[*nr].name, sizeof out[*nr].name, "%s", ports_name(d, ports, name));
	(*nr)++;
}

unsigned vary_list(struct vary out[VARY_MAX], const struct core_desc *d, const uint16_t *sets, unsigned nr_sets,
                   unsigned (*own)(struct vary *out, const struct core_desc *d))
{
	unsigned nr = 0, ports = 0;

	out[nr] = (struct vary){
		.unit = "cycles", .kind = VARY_LATENCY, .time = true, .capacity = 1, .classes = (1 << NR_LATENCIES) - 1
	};
	strcpy(out[nr++].name, "latency");
	for (unsigned i = 0; i < NR_LATENCIES; i++) {
		out[nr] = (struct vary){
			.unit = "cycles", .kind = VARY_LATENCY, .time = true, .capacity = 1,
			.classes = (uint8_t)(1 << i),
		};
		strcpy(out[nr++].name, class_names[i]);
	}
	add_parameters(out, &nr, d);
	if (own)
		nr += own(out + nr, d);
	while (d->port_names[ports])
		add_ports(out, &nr, d, (uint16_t)(1u << ports++));
	for (unsigned i = 0; i < nr_sets; i++)
		if (__builtin_popcount(sets[i]) > 1 && (unsigned)__builtin_popcount(sets[i]) < ports)
			add_ports(out, &nr, d, sets[i]);
	for (unsigned i = 0; d->unit_names[i] && nr < VARY_MAX; i++) {
		out[nr] = (struct vary){
			.unit = "operations at a time", .kind = VARY_UNIT, .unit_nr = (uint8_t)i, .capacity = 1
		};
		snprintf(out[nr++].name, VARY_NAME, "%s", d->unit_names[i]);
	}
	return nr;
}

bool vary_desc(const struct vary *v, uint32_t weight, struct core_desc *d)
{
	bool changed = false;

	if (v->kind != VARY_PARAMETERS)
		return true;
	for (unsigned i = 0; i < v->nr_params; i++) {
		const struct core_param *p = &core_params[v->param[i]];
		int32_t *at = value_of(d, v->param[i]), before = *at;
		double scaled = round((double)before * weight / WEIGHT_ONE);

		scaled = fmin(fmax(scaled, p->min), p->max);
		if (p->offset == offsetof(struct core_desc, fetch_bytes) && ((int32_t)scaled & ((int32_t)scaled - 1)))
			continue;              /* it has to be a power of two */
		if (before)
			*at = (int32_t)scaled;
		changed |= *at != before;
	}
	/* A fully associative TLB stays one, and none has more ways than entries. */
	if (v->outcome) {
		d->dtlb_ways = d->dtlb_ways > d->dtlb_entries ? d->dtlb_entries : d->dtlb_ways;
		d->itlb_ways = d->itlb_ways > d->itlb_entries ? d->itlb_entries : d->itlb_ways;
		d->stlb_ways = d->stlb_entries && d->stlb_ways > d->stlb_entries ? d->stlb_entries : d->stlb_ways;
	}
	return changed;
}

bool vary_overlaps(const struct vary *a, const struct vary *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VARY_PORTS:
		return a->ports & b->ports;
	case VARY_UNIT:
		return a->unit_nr == b->unit_nr;
	case VARY_LATENCY:
		return a->classes & b->classes;
	case VARY_OWN:
		return a->own == b->own;
	case VARY_PARAMETERS:
		for (unsigned i = 0; i < a->nr_params; i++)
			for (unsigned k = 0; k < b->nr_params; k++)
				if (a->param[i] == b->param[k])
					return true;
		return false;
	}
	return false;
}
