/*
 * Costs of the abstract core from a core's description, in ticks, and as variants weight them; names of what
 * instructions wait for.
 */
#include <stddef.h>
#include <string.h>

#include "core/gus/time.h"

static uint64_t ticks(int64_t cycles)
{
	return (uint64_t)cycles * ABSTRACT_TICKS;
}

/* ABSTRACT_TICKS x num / den, to the nearest. */
static uint64_t ratio(uint64_t num, uint64_t den)
{
	return (uint64_t)(((unsigned __int128)ABSTRACT_TICKS * num + den / 2) / den);
}

static uint64_t beyond(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void throughputs(struct abstract_costs *c, const struct core_desc *d)
{
	uint64_t line = (uint64_t)d->cache_line;

	c->inverse[RESOURCE_FRONTEND] = ratio(1, (uint64_t)d->rename_width);
	c->lines = d->uopcache_whole;
	c->inverse[RESOURCE_UOPCACHE] = ratio(d->uopcache_whole ? (uint64_t)d->uopcache_line_uops : 1,
	                                      (uint64_t)d->uopcache_width);
	c->inverse[RESOURCE_FETCH] = ticks(1);
	c->inverse[RESOURCE_PREDECODE] = ratio(1, (uint64_t)d->fetch_width);
	c->inverse[RESOURCE_DECODE] = ratio(1, (uint64_t)d->decode_width);
	c->inverse[RESOURCE_COMPLEX] = d->decode_complex ? ratio(1, (uint64_t)d->decode_complex) : 0;
	c->inverse[RESOURCE_MICROCODE] = ratio(1, (uint64_t)d->microcode_width);
	c->taken = d->uopcache_whole ? (uint32_t)d->branch_lookups : 1;
	c->inverse[RESOURCE_TAKEN] = ratio(1 + (uint64_t)d->branch_taken_bubble, c->taken);
	c->returned = ticks(d->branch_return_bubble);
	c->inverse[RESOURCE_RETIRE] = ratio(1, (uint64_t)d->commit_width);
	c->inverse[RESOURCE_DRAIN] = ratio(1, (uint64_t)d->store_queue_drain_width);
	c->inverse[RESOURCE_RESTART] = ticks(d->load_queue_restart);
	c->inverse[RESOURCE_L2] = ratio(line, (uint64_t)d->l2_bandwidth);
	c->inverse[RESOURCE_LLC] = ratio(line, (uint64_t)d->llc_bandwidth);
	c->inverse[RESOURCE_MEMORY] = ratio(line * (uint64_t)d->clock_mhz, (uint64_t)d->dram_bandwidth);
	c->inverse[RESOURCE_LLC_WRITE] = ratio(line, (uint64_t)d->llc_write_bandwidth);
	c->inverse[RESOURCE_L2_WRITE] = ratio(line, (uint64_t)d->l2_write_bandwidth);
	c->write[LEVEL_L2] = (struct bus){ c->inverse[RESOURCE_L2_WRITE],
	                                   d->cache_duplex ? RESOURCE_L2_WRITE : RESOURCE_L2 };
	c->write[LEVEL_LLC] = (struct bus){ c->inverse[RESOURCE_LLC_WRITE],
	                                    d->cache_duplex ? RESOURCE_LLC_WRITE : RESOURCE_LLC };
	c->write[LEVEL_MEMORY] = (struct bus){ c->inverse[RESOURCE_MEMORY], RESOURCE_MEMORY };
	c->inverse[RESOURCE_WALK] = ratio(1, (uint64_t)d->walk_walkers);
	for (unsigned i = 0; i < CORE_UNITS; i++)
		c->inverse[RESOURCE_UNITS + i] = ticks(1);
	for (unsigned i = 0; i < CORE_PORTS; i++)
		c->port_weight[i] = WEIGHT_ONE;
}

static void levels(struct abstract_costs *c, const struct core_desc *d)
{
	int64_t behind = d->llc_size ? d->llc_latency : d->l2_size ? d->l2_latency : 0;
	int64_t ns = (int64_t)d->dram_latency_ns + d->dram_cas_ns + d->dram_rcd_ns;
	int64_t memory = behind + ns * d->clock_mhz / 1000;

	c->load[0] = ticks(d->l1d_latency);
	c->load[1] = ticks(d->l1d_simple_latency);
	c->load_extra = ticks(1);
	c->level[LEVEL_L2] = ticks(d->l2_latency > d->l1d_latency ? d->l2_latency : d->l1d_latency);
	c->level[LEVEL_LLC] = ticks(d->llc_latency);
	c->level[LEVEL_MEMORY] = ticks(memory);
	c->code[LEVEL_L2] = ticks(d->l2_latency);
	c->code[LEVEL_LLC] = ticks(d->llc_latency);
	c->code[LEVEL_MEMORY] = ticks(memory);
	c->forward[0] = ticks(d->forward_latency);
	c->forward[1] = ticks(d->forward_latency + d->forward_vector);
	c->stored[0] = ABSTRACT_TICKS;
	c->stored[1] = ABSTRACT_TICKS + ticks(d->forward_from_vector);
	c->narrow = ticks(d->forward_narrow);
	c->offset = ticks(d->forward_offset);
	c->set_fill = ticks(d->l1d_set_fill);
	c->forward_fail = ticks(d->forward_fail_penalty);
	c->alias = ticks(d->alias4k_penalty);
	c->second = ticks(d->stlb_entries ? d->stlb_latency : 0);
	c->walk = ticks(d->walk_overhead);
	c->split[SPLIT_LINE] = ticks(d->split_line_latency);
	c->split[SPLIT_PAGE] = ticks(d->split_page_latency);
	c->leave = d->store_queue_merge_bytes ? ratio(1, MERGE_WIDTH) : 0;
	c->part_recent = d->store_queue_part_again ? ticks(MERGE_RECENT) : 0;
	c->part_again = ticks(d->store_queue_part_again);
	c->split_store[SPLIT_LINE] = beyond(ticks(d->split_line_store), c->inverse[RESOURCE_DRAIN]);
	c->split_store[SPLIT_PAGE] = beyond(ticks(d->split_page_store), c->inverse[RESOURCE_DRAIN]);
}

static void misses(struct abstract_costs *c, const struct core_desc *d)
{
	uint64_t below_l2 = d->l2_size ? c->level[LEVEL_L2] : 0;

	c->misses[MISSES_L1] = (struct misses){ (uint32_t)d->l1d_mshrs, 0 };
	c->misses[MISSES_L2] = (struct misses){ d->l2_size ? (uint32_t)d->l2_mshrs : 0, below_l2 };
	c->misses[MISSES_LLC] = (struct misses){ d->llc_size ? (uint32_t)d->llc_mshrs : 0, c->level[LEVEL_LLC] };
	c->misses[MISSES_MEMORY] = (struct misses){ (uint32_t)d->dram_reads,
	                                            d->llc_size ? c->level[LEVEL_LLC] : below_l2 };
}

void abstract_costs_init(struct abstract_costs *c, const struct core_desc *d)
{
	int64_t front = d->uopcache_sets ? d->uopcache_latency : d->fetch_latency + d->decode_latency;

	*c = (struct abstract_costs){ .mispredicts = d->ideal.branch ? 0 : WEIGHT_ONE };
	throughputs(c, d);
	levels(c, d);
	for (unsigned i = 0; i < NR_LATENCIES; i++)
		c->latency[i] = ticks(1);
	c->bypass = ticks(d->bypass_fp);
	front += d->rename_latency;
	c->front = ticks(front);
	c->mispredict = ticks(d->branch_mispredict + front);
	c->redirect = ticks(d->branch_decode_redirect);
	c->btb2 = ticks(d->branch_btb2_bubble);
	c->issue = ticks(d->issue_latency);
	c->commit = ticks(d->commit_latency);
	c->serialize = ticks(1);
	c->flush = ticks(d->flush_latency + front);
	c->exception = ticks(d->exception_latency + front);
	c->syscall = ticks(d->syscall_cycles + front);
	c->fence = ticks(d->fence_latency);
	c->lock = ticks(d->lock_latency);
	c->repeat_startup = ticks(d->repeat_startup);
	c->repeat_line = ratio((uint64_t)d->cache_line, (uint64_t)d->repeat_bytes);
	c->repeat_slow = ticks(d->repeat_slow);
	c->runahead = (uint32_t)d->fetch_runahead;
	c->rob = (uint32_t)d->rob_entries;
	c->queue = (uint32_t)d->queue_entries;
	c->load_queue = (uint32_t)d->load_queue_entries;
	c->memory = (uint32_t)d->rename_memory;
	c->holds_entry = (uint32_t)d->load_queue_holds_entry;
	c->store_queue = (uint32_t)d->store_queue_entries;
	misses(c, d);
	for (unsigned i = 0; i < CORE_SCHEDULERS; i++)
		c->scheduler[i] = (uint32_t)core_desc_scheduler(d, i).entries;
}

/* --- weights ----------------------------------------------------------------------------------------- */

enum own {
	OWN_BRANCHES,                  /* mispredictions: every weight-th costs something */
	OWN_TAKEN,                     /* taken branches that the front end follows in a cycle */
};

unsigned abstract_resources(struct vary *out, const struct core_desc *d)
{
	struct abstract_costs costs;

	abstract_costs_init(&costs, d);
	out[OWN_BRANCHES] = (struct vary){
		.name = "branch", .unit = "of mispredictions", .kind = VARY_OWN, .own = OWN_BRANCHES, .capacity = 1
	};
	out[OWN_TAKEN] =
		(struct vary){ .name = "branch.taken", .unit = "branches/cycle", .kind = VARY_OWN, .own = OWN_TAKEN };
	out[OWN_TAKEN].capacity = (double)ABSTRACT_TICKS / (double)costs.inverse[RESOURCE_TAKEN];
	return 2;
}

static void weigh_own(enum own own, uint32_t weight, struct abstract_costs *c)
{
	switch (own) {
	case OWN_BRANCHES:
		/* Better: so many of them are spared. Worse: each costs more. */
		if (weight > WEIGHT_ONE)
			c->mispredicts = (uint32_t)((uint64_t)c->mispredicts * WEIGHT_ONE / weight);
		else
			c->mispredict = c->mispredict * WEIGHT_ONE / weight;
		break;
	case OWN_TAKEN:
		c->inverse[RESOURCE_TAKEN] = c->inverse[RESOURCE_TAKEN] * WEIGHT_ONE / weight;
		c->returned = c->returned * WEIGHT_ONE / weight;
		break;
	}
}

void vary_costs(const struct vary *v, uint32_t weight, struct abstract_costs *c)
{
	switch (v->kind) {
	case VARY_PARAMETERS:
		/* Blocks of code are part of what was met: fetched faster, not larger. */
		for (unsigned i = 0; i < v->nr_params; i++)
			if (core_params[v->param[i]].offset == offsetof(struct core_desc, fetch_bytes))
				c->inverse[RESOURCE_FETCH] = c->inverse[RESOURCE_FETCH] * WEIGHT_ONE / weight;
		break;
	case VARY_PORTS:
		for (unsigned i = 0; i < CORE_PORTS; i++)
			if (v->ports >> i & 1)
				c->port_weight[i] = c->port_weight[i] * weight / WEIGHT_ONE;
		break;
	case VARY_UNIT:
		c->inverse[RESOURCE_UNITS + v->unit_nr] = c->inverse[RESOURCE_UNITS + v->unit_nr] * WEIGHT_ONE / weight;
		break;
	case VARY_LATENCY:
		for (unsigned i = 0; i < NR_LATENCIES; i++)
			if (v->classes >> i & 1)
				c->latency[i] = c->latency[i] * weight / WEIGHT_ONE;
		break;
	case VARY_OWN:
		weigh_own((enum own)v->own, weight, c);
		break;
	}
}

/* --- names ------------------------------------------------------------------------------------------- */

const char *reason_name(const struct recipes *r, unsigned reason, char *buf)
{
	static const char *const names[NR_REASONS - NR_RESOURCES] = {
		"none", "latency", "load", "rob", "scheduler", "load_queue", "store_queue", "misses", "branch",
		"code", "serial",
	};

	return reason < NR_RESOURCES ? resource_name(r, reason, buf) : names[reason - NR_RESOURCES];
}
