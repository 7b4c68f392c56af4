/*
 * From resources to uops. LLVM lists a group of ports together with its supersets, so the uops that may run on just
 * these ports come by subtracting, smallest set first: excl(G) = use(G) - sum of excl(H) over the H inside G.
 *
 * LLVM does not say how the uops of one instruction depend on one another: where the cost file does not either,
 * they are taken for a chain as long as the latency allows, the last one with what is left of it.
 */
#include "isa/lower.h"

#include <glib.h>
#include <string.h>

struct group {
	uint16_t ports;
	int exclusive;             /* uops that may run on just these ports */
};

/* Uops on their way: compute uops, and what LLVM counts of memory uops. */
struct draft {
	struct uop compute[LOWER_UOPS];
	unsigned nr_compute, nr_load, nr_sta, nr_std;
	bool staged;
	bool parallel;             /* the compute uops are parts of one, side by side */
	int latency;               /* of the compute uops */
};

static unsigned ports_in(uint16_t set)
{
	return (unsigned)__builtin_popcount(set);
}

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int size = (int)ports_in(x->ports) - (int)ports_in(y->ports);
	return size ? size : (int)x->ports - (int)y->ports;
}

static unsigned disjoint_groups(const struct lowering *low, const struct decoded *d, struct group *groups)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->nr_resources; i++) {
		uint16_t ports = low->resources[d->resource[i].resource].ports;
		if (ports)
			groups[n++] = (struct group){ ports, d->resource[i].cycles };
	}
	qsort(groups, n, sizeof *groups, by_size);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			if ((groups[k].ports & ~groups[i].ports) == 0)
				groups[i].exclusive -= MAX(groups[k].exclusive, 0);
	return n;
}

static void add_compute(struct draft *draft, struct uop u)
{
	if (draft->nr_compute < LOWER_UOPS)
		draft->compute[draft->nr_compute++] = u;
}

/* What LLVM says, memory uops counted apart. Compute uops come out as LLVM's groups do, smallest first. */
static void draft_llvm(const struct lowering *low, const struct shape *s, struct draft *draft)
{
	const struct decoded *d = s->d;
	const struct cost_core *m = low->core;
	struct group groups[DECODED_RESOURCES];
	unsigned n = disjoint_groups(low, d, groups);

	for (unsigned i = 0; i < n; i++)
		for (int k = 0; k < groups[i].exclusive; k++) {
			uint16_t ports = groups[i].ports;
			if (s->insn->flags & INSN_LOAD && ports == m->load)
				draft->nr_load++;
			else if (s->insn->flags & INSN_STORE && ports == m->sta &&
			         (ports != m->std || draft->nr_sta == 0))
				draft->nr_sta++;
			else if (s->insn->flags & INSN_STORE && ports == m->std)
				draft->nr_std++;
			else
				add_compute(draft, (struct uop){ .ports = ports, .kind = UOP_COMPUTE });
		}
	/* No ports are named: LLVM's count of uops, which need none. */
	for (unsigned accesses = (s->insn->flags & INSN_LOAD ? 1u : 0) + (s->insn->flags & INSN_STORE ? 1u : 0);
	     n == 0 && !m->load && accesses < d->uops; accesses++)
		add_compute(draft, (struct uop){ .kind = UOP_COMPUTE });
	/*
	 * More cycles of ports than uops, on a model that counts one for each: a wide operation that takes two
	 * turns.
	 */
	draft->parallel = !low->arch->sequencer_uops && draft->nr_compute > d->uops;
	for (unsigned i = 0; i < d->nr_resources; i++) {
		const struct resource_map *r = &low->resources[d->resource[i].resource];
		if (r->unit && draft->nr_compute) {
			draft->compute[0].unit = r->unit;
			draft->compute[0].busy = d->resource[i].cycles;
		}
	}
}

/*
 * LLVM's latency of the load part: its read-after-load advance where an operand has one, else by the kind of
 * register.
 */
static int load_part(const struct lowering *low, const struct shape *s, unsigned nr_compute)
{
	int base = low->core->load_latency;

	if (!(s->insn->flags & INSN_LOAD))
		return 0;
	if (s->load_advance > 0)
		return s->load_advance;
	if (nr_compute == 0)
		return MAX(s->d->latency, base);
	return s->bits >= 256 ? base + 2 : s->bits == 128 ? base + 1 : base;
}

/* One result's latency after the compute uops have issued. */
static int after_load(const struct shape *s, const struct draft *draft, int latency, int load)
{
	int rest = latency - load;

	if (s->insn->flags & INSN_STORE && rest > 1)
		rest--;            /* LLVM counts the store as one more */
	return draft->nr_compute ? MAX(rest, 1) : 0;
}

static void set_latencies(const struct lowering *low, struct shape *s, struct draft *draft, const struct cost *cost)
{
	struct insn *i = s->insn;
	int load = load_part(low, s, draft->nr_compute);
	int longest = 0, chain[256] = { 0 };
	unsigned result = 0;

	if (i->flags & INSN_LOAD && load > low->core->load_latency)
		i->load_extra = (uint8_t)(load - low->core->load_latency);
	draft->latency = after_load(s, draft, s->d->latency, load);
	if (cost->set & COST_LATENCY) {
		draft->latency = cost->latency;
	} else if (draft->staged) {
		for (unsigned k = 0; k < draft->nr_compute; k++)
			chain[draft->compute[k].stage] = MAX(chain[draft->compute[k].stage], draft->compute[k].latency);
		for (unsigned k = 0; k < 256; k++)
			longest += chain[k];
		draft->latency = longest ? longest : draft->latency;
	}
	for (unsigned k = 0; k < i->nr_dst; k++) {
		int latency = draft->latency;
		if (i->dst_latency[k] & DST_WRITEBACK)
			continue;
		if (cost->set & COST_RESULTS && cost->nr_results)
			latency = cost->results[MIN(result, cost->nr_results - 1u)];
		else if (!(cost->set & (COST_LATENCY | COST_UOPS)) && s->result[k] >= 0)
			latency = after_load(s, draft, s->result[k], load);
		i->dst_latency[k] = (uint8_t)MIN(latency, 127);
		result++;
	}
	i->latency = (uint8_t)MIN(draft->latency, 255);
	if (cost->set & COST_LOAD_EXTRA)
		i->load_extra = cost->load_extra;
}

/* Where the file says nothing: a chain, even where all uops are of a kind, else of 1 each and the rest for the last. */
static void guess_chain(struct draft *draft)
{
	unsigned n = draft->nr_compute, stages = draft->parallel ? 1 : (unsigned)CLAMP(draft->latency, 1, (int)n);
	bool alike = stages == n;
	int left = draft->latency;

	for (unsigned k = 0; k < n; k++) {
		draft->compute[k].stage = (uint8_t)MIN(k, stages - 1);
		alike = alike && draft->compute[k].ports == draft->compute[0].ports;
	}
	for (unsigned k = 0; k < n; k++) {
		bool last = k + 1 >= stages;
		int part = last ? left : alike ? draft->latency / (int)n : 1;
		draft->compute[k].latency = (uint8_t)CLAMP(part, 0, 255);
		if (!last)
			left -= part;
	}
}

/* Latencies of the uops that the file leaves out, so that the stages add up: 1, or in the last stage what is left. */
static void complete_chain(struct draft *draft)
{
	unsigned n = draft->nr_compute, stages = draft->compute[n - 1].stage + 1u;
	int longest[256] = { 0 }, left = draft->latency;

	for (unsigned k = 0; k < n; k++)
		longest[draft->compute[k].stage] = MAX(longest[draft->compute[k].stage], draft->compute[k].latency);
	for (unsigned k = 0; k + 1 < stages; k++)
		left -= MAX(longest[k], 1);
	for (unsigned k = 0; k < n; k++) {
		struct uop *u = &draft->compute[k];
		if (!u->latency)
			u->latency = (uint8_t)(u->stage + 1u < stages ? 1 : CLAMP(left, 0, 255));
	}
}

static void chain(struct draft *draft)
{
	if (draft->nr_compute == 0)
		return;
	if (draft->staged)
		complete_chain(draft);
	else
		guess_chain(draft);
}

static unsigned emit(const struct lowering *low, const struct insn *i, const struct draft *draft,
                     const struct cost *cost, struct uop *uops)
{
	const struct cost_core *m = low->core;
	struct uop load = {
		.ports = i->flags & INSN_VECTOR_MEM && m->load_vector ? m->load_vector : m->load, .kind = UOP_LOAD,
	};
	struct uop sta = {
		.ports = i->flags & INSN_INDEXED && m->sta_indexed ? m->sta_indexed : m->sta, .kind = UOP_STA,
	};
	struct uop std = { .ports = cost->set & COST_STD ? cost->std : m->std, .kind = UOP_STD };
	unsigned n = 0;

	for (unsigned k = 0; k < draft->nr_load && n < LOWER_UOPS; k++)
		uops[n++] = load;
	for (unsigned k = 0; k < draft->nr_compute && n < LOWER_UOPS; k++)
		uops[n++] = draft->compute[k];
	for (unsigned k = 0; k < draft->nr_sta && n < LOWER_UOPS; k++)
		uops[n++] = sta;
	for (unsigned k = 0; k < draft->nr_std && n < LOWER_UOPS; k++)
		uops[n++] = std;
	return n;
}

/* Fused-domain uops: STA with STD is one, and so is a load with the first uop that computes. */
static void set_slots(const struct lowering *low, struct shape *s, const struct draft *draft, const struct cost *cost)
{
	struct insn *i = s->insn;
	bool pure_store = !draft->nr_load && !draft->nr_compute, parts = s->splits && pure_store;
	unsigned stores = parts ? draft->nr_sta + draft->nr_std : MAX(draft->nr_sta, draft->nr_std);
	unsigned fused = draft->nr_load + draft->nr_compute + stores;
	bool micro_fused = low->arch->sequencer_uops && draft->nr_load && draft->nr_compute && !s->splits;
	unsigned decode, slots;

	decode = MAX(fused - micro_fused, 1);
	if (!low->arch->sequencer_uops && s->d->flags & DECODED_COST && !(cost->set & COST_UOPS))
		decode = MAX(s->d->uops, 1); /* LLVM's count is that of slots where nothing is micro-fused */
	slots = decode + (micro_fused && s->unlaminates && i->flags & INSN_INDEXED);
	if (cost->set & COST_SLOTS)
		slots = decode = cost->slots;
	if (cost->set & COST_INDEXED_SLOTS && i->flags & INSN_INDEXED)
		slots = cost->indexed_slots;
	if (cost->set & COST_DECODE)
		decode = cost->decode;
	if (cost->set & COST_INDEXED_DECODE && i->flags & INSN_INDEXED)
		decode = cost->indexed_decode;
	i->slots = (uint8_t)CLAMP(slots, 1, 255);
	i->decode_uops = (uint8_t)CLAMP(decode, 1, 255);
	if (low->arch->sequencer_uops) {
		i->flags |= decode > 1 ? INSN_COMPLEX : 0;
		i->flags |= decode > low->arch->sequencer_uops ? INSN_MICROCODED : 0;
	}
}

/* Ports that 512-bit uops cannot use; what could use no other keeps them. */
static void close_ports(const struct lowering *low, const struct insn *i, struct draft *draft)
{
	for (unsigned k = 0; i->flags & INSN_WIDE && k < draft->nr_compute; k++) {
		uint16_t open = (uint16_t)(draft->compute[k].ports & ~low->core->wide_closed);
		if (open)
			draft->compute[k].ports = open;
	}
}

/* The least of what the file says of the operands that one register stands for; 0 for those it does not mention. */
static uint8_t said_late(const struct cost *cost, uint16_t reads)
{
	uint8_t late = reads >> cost->nr_late ? 0 : 255;

	for (unsigned n = 0; n < cost->nr_late; n++)
		if (reads >> n & 1)
			late = MIN(late, cost->late[n]);
	return late;
}

static void set_late(struct shape *s, const struct cost *cost)
{
	struct insn *i = s->insn;
	int load = i->flags & INSN_LOAD ? MAX(s->load_advance, 0) : 0;

	for (unsigned k = 0; k < i->nr_data; k++)
		if (cost->set & COST_LATE)
			i->data_late[k] = said_late(cost, s->reads[k]);
		else
			i->data_late[k] = (uint8_t)MAX(i->data_late[k] - load, 0);
	if (cost->set & COST_READS_RESULTS && cost->reads_results)
		for (unsigned k = 0; k < s->d->nr_defs; k++)
			for (unsigned n = 0; n < s->regs[s->d->operand[k].reg].nr; n++)
				shape_data(s, s->regs[s->d->operand[k].reg].number[n], 0);
}

/* Flags that the instruction may leave as they are are none of its sources. */
static void drop_flags(struct insn *i)
{
	unsigned kept = 0;

	for (unsigned k = 0; k < i->nr_data; k++) {
		if (i->data[k] >= REG_FLAGS && i->data[k] < REG_VECTOR)
			continue;
		i->data[kept] = i->data[k];
		i->data_late[kept++] = i->data_late[k];
	}
	i->nr_data = (uint8_t)kept;
}

static bool has_cost(const struct lowering *low, const struct shape *s, const struct cost *cost)
{
	if (cost->set & COST_UOPS || s->insn->flags & (INSN_NOP | INSN_ZERO))
		return true;
	return s->d->flags & DECODED_COST && !(low->core->placeholder && s->d->latency == low->core->placeholder);
}

static void unmodelled(struct insn *i)
{
	i->flags |= INSN_UNMODELLED;
	i->nr_uops = 0;
	i->slots = i->decode_uops = 1;
	i->latency = 0;
}

void lower(const struct lowering *low, struct shape *s, const struct cost *cost, struct uop uops[LOWER_UOPS])
{
	struct insn *i = s->insn;
	struct draft draft = { .nr_load = 0 };

	i->flags = (i->flags | cost->flags_on) & ~cost->flags_off;
	if (s->overflow || !has_cost(low, s, cost) || i->flags & INSN_UNMODELLED) {
		unmodelled(i);
		return;
	}
	if (i->flags & (INSN_NOP | INSN_ZERO)) {
		i->nr_uops = 0;
		i->slots = i->decode_uops = 1;
		return;
	}
	if (s->d->flags & DECODED_COST)
		draft_llvm(low, s, &draft);
	if (cost->set & COST_UOPS) {
		for (unsigned k = 0; k < cost->nr_uops; k++)
			draft.compute[k] = cost->uops[k];
		draft.nr_compute = cost->nr_uops;
		draft.staged = cost->staged;
		draft.parallel = false;
	}
	draft.nr_load = i->flags & INSN_LOAD ? MAX(draft.nr_load, 1) : 0;
	draft.nr_sta = i->flags & INSN_STORE ? MAX(draft.nr_sta, 1) : 0;
	draft.nr_std = i->flags & INSN_STORE ? MAX(draft.nr_std, 1) : 0;
	if (cost->set & COST_LOADS)
		draft.nr_load = cost->loads;
	if (cost->set & COST_STORES)
		draft.nr_sta = draft.nr_std = cost->stores;
	set_latencies(low, s, &draft, cost);
	set_late(s, cost);
	if (cost->set & COST_BYPASS)
		i->bypass = cost->bypass & 3u;
	if (cost->set & COST_READS_FLAGS && !cost->reads_flags)
		drop_flags(i);
	i->stores_result = cost->set & COST_STD && cost->std_result && draft.nr_compute;
	i->ends_dispatch = cost->set & COST_ENDS_DISPATCH && cost->ends_dispatch;
	i->queued = cost->set & COST_QUEUED && cost->queued;
	if (i->flags & INSN_LOAD && s->long_address)
		i->address_extra = low->core->long_address & 1u;
	close_ports(low, i, &draft);
	chain(&draft);
	i->nr_uops = (uint8_t)emit(low, i, &draft, cost, uops);
	set_slots(low, s, &draft, cost);
}
