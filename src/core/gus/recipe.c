#include "core/gus/recipe.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "core/order/pair.h"
#include "record/timed.h"

/* What the table of static instructions can hold, several kinds each; and the resources of them. */
enum { MOST_RECIPES = 1 << 24, MOST_USES = 1 << 27 };

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* The schedulers that feed any of the ports: a bit set. */
static unsigned schedulers_of(const struct core_desc *d, uint16_t ports)
{
	unsigned set = 0;
	for (unsigned i = 0; i < CORE_SCHEDULERS; i++) {
		const struct core_scheduler s = core_desc_scheduler(d, i);
		if (s.entries && s.ports & ports)
			set |= 1u << i;
	}
	return set;
}

/* What uops are bound to. */
static void own_groups(struct recipes *r)
{
	binder_init(&r->binder, r->desc);
	for (const struct bind_group *g = r->binder.group; g < r->binder.group + r->binder.nr; g++) {
		for (unsigned rest = g->kind == BIND_TURN ? g->ports : 0; rest; rest &= rest - 1)
			r->group[r->nr_own++] = (uint16_t)(rest & -rest);
		for (unsigned i = 0; g->kind == BIND_PAIR && i < g->most; i++)
			r->group[r->nr_own++] = g->pair[i];
	}
	r->nr_groups = r->nr_own;
}

int recipes_init(struct recipes *r, const struct core_desc *desc, const struct code *code)
{
	*r = (struct recipes){ .desc = desc, .code = code };
	own_groups(r);
	r->recipe = reserve(MOST_RECIPES * sizeof *r->recipe);
	r->use = reserve(MOST_USES * sizeof *r->use);
	if (r->recipe && r->use)
		return 0;
	recipes_fini(r);
	return error_errno(ENOMEM, "recipes of the abstract core");
}

void recipes_fini(struct recipes *r)
{
	if (r->recipe)
		munmap(r->recipe, MOST_RECIPES * sizeof *r->recipe);
	if (r->use)
		munmap(r->use, MOST_USES * sizeof *r->use);
	g_free(r->of);
	r->recipe = NULL;
	r->use = NULL;
	r->of = NULL;
}

/* --- sets of ports ----------------------------------------------------------------------------------- */

static bool known(const struct recipes *r, uint16_t set)
{
	for (unsigned g = r->nr_own; g < r->nr_groups; g++)
		if (r->group[g] == set)
			return true;
	return false;
}

/*
 * Takes a set in, with its unions with those that it overlaps. Without more room, further unions are left out:
 * the bound they stand for is then not seen. Returns whether anything is new.
 */
static bool add_group(struct recipes *r, uint16_t set)
{
	if (!set || known(r, set) || r->nr_groups == NR_GROUPS)
		return false;
	r->group[r->nr_groups] = set;
	__atomic_store_n(&r->nr_groups, r->nr_groups + 1, __ATOMIC_RELEASE);
	for (unsigned g = r->nr_own; g < r->nr_groups; g++)
		if (r->group[g] & set)
			add_group(r, r->group[g] | set);
	return true;
}

/* --- parts ------------------------------------------------------------------------------------------- */

static void add_use(struct recipes *r, struct part *p, unsigned resource, unsigned amount)
{
	for (uint32_t i = p->use; i < p->use + p->nr_uses; i++) {
		if (r->use[i].resource == resource) {
			amount += r->use[i].amount;
			r->use[i].amount = (uint16_t)(amount < UINT16_MAX ? amount : UINT16_MAX);
			return;
		}
	}
	assert(r->nr_uses < MOST_USES && p->nr_uses < UINT8_MAX);
	r->use[r->nr_uses++] = (struct use){ (uint16_t)resource, (uint16_t)amount };
	p->nr_uses++;
}

static void add_uop(struct recipes *r, struct part *p, const struct uop *u, uint16_t ports)
{
	if (!ports)
		return;
	for (unsigned g = r->nr_own; g < r->nr_groups; g++)
		if ((r->group[g] & ports) == ports)
			add_use(r, p, RESOURCE_PORTS + g, 1);
	if (u->unit)
		add_use(r, p, RESOURCE_UNITS + u->unit - 1u, u->busy ? u->busy : 1);
	p->uops++;
}

/* The second access of a load that crosses a line: a load's ports again, for a vector some more. */
static void add_split(struct recipes *r, struct recipe *p, const struct insn *in)
{
	const struct uop *u = &r->code->uops[in->uop], *end = u + in->nr_uops;

	p->part[PART_SPLIT].use = r->nr_uses;
	while (u < end && u->kind != UOP_LOAD)
		u++;
	if (u == end || !u->ports)
		return;
	add_uop(r, &p->part[PART_SPLIT], u, u->ports);
	if (in->flags & INSN_VECTOR_MEM)
		add_uop(r, &p->part[PART_SPLIT], u, (uint16_t)r->desc->split_vector_ports);
}

/* A uop goes to one of the schedulers that feed its ports: into the list that begins at `first`. */
static void add_schedulers(struct recipes *r, uint32_t first, uint16_t ports)
{
	unsigned set = schedulers_of(r->desc, ports);
	uint32_t i = first;

	if (!ports)
		return;
	while (i < r->nr_uses && r->use[i].resource != set)
		i++;
	if (i == r->nr_uses) {
		assert(r->nr_uses < MOST_USES);
		r->use[r->nr_uses++] = (struct use){ (uint16_t)set, 0 };
	}
	r->use[i].amount++;
}

/* The part's uops go where the list says; one that names a single scheduler, or none, is dropped. */
static void take_schedulers(struct recipes *r, struct part *p, uint32_t first)
{
	unsigned set = r->nr_uses > first ? r->use[first].resource : 0;

	if (r->nr_uses > first + 1 || set & (set - 1)) {
		p->scheduler = RECIPE_SCHEDULERS;
		return;
	}
	if (set)
		p->scheduler = (uint8_t)__builtin_ctz(set);
	r->nr_uses = first;
}

/* What the part's uops are bound to, where they all wait in one scheduler or in none. */
static void bind_part(struct recipes *r, struct part *p, const uint16_t *ports, unsigned nr)
{
	if (p->scheduler >= CORE_SCHEDULERS && p->scheduler != RECIPE_NO_SCHEDULER)
		return;
	for (unsigned i = 0; i < nr; i++) {
		const struct bind_group *g = binder_group(&r->binder, ports[i]);
		if (!g || !(g->kind == BIND_TURN || (g->kind == BIND_PAIR && !(ports[i] & ~g->ports))))
			continue;
		assert(r->nr_uses < MOST_USES && p->nr_bound < UINT8_MAX);
		r->use[r->nr_uses++] = (struct use){ ports[i] & g->ports, (uint16_t)(g - r->binder.group) };
		p->nr_bound++;
	}
}

/*
 * The ports a uop of this execution may use: a macro-fused pair issues as its branch does, a taken branch where those
 * may.
 */
static uint16_t ports_of(const struct core_desc *d, const struct insn *in, const struct uop *u, unsigned kind,
                         uint16_t pair_ports)
{
	if (u->kind == UOP_COMPUTE && kind & RECIPE_FIRST && pair_ports & u->ports)
		return pair_ports & u->ports;
	return u->kind == UOP_COMPUTE && in->branch ? branch_ports(d, u->ports, kind & RECIPE_TAKEN) : u->ports;
}

static void registers(struct recipe *p, const struct insn *in)
{
	p->nr_addr = in->nr_addr;
	p->nr_data = in->flags & (INSN_ZERO | INSN_LEAF_RESULT) ? 0 : in->nr_data;
	p->nr_dst = in->nr_dst;
	memcpy(p->addr, in->addr, sizeof p->addr);
	memcpy(p->data, in->data, p->nr_data);
	memcpy(p->data_late, in->data_late, sizeof p->data_late);
	memset(p->dst, RECIPE_NOWHERE, sizeof p->dst);
	memcpy(p->dst, in->dst, p->nr_dst);
	memcpy(p->dst_latency, in->dst_latency, sizeof p->dst_latency);
}

/*
 * Where what it writes to general registers comes from, and its address, where loads are faster whose address comes
 * from a load.
 */
static void origins(struct recipe *p, const struct core_desc *d, const struct insn *in)
{
	if (d->l1d_simple_latency == d->l1d_latency)
		return;
	for (unsigned i = 0; i < in->nr_dst; i++) {
		uint64_t bit = in->dst[i] != REG_NONE && in->dst[i] < REG_VECTOR ? UINT64_C(1) << in->dst[i] : 0;
		p->writes |= bit;
		p->loads = in->dst_latency[i] & DST_WRITEBACK ? p->loads & ~bit : p->loads | bit;
	}
	p->from_load = in->flags & INSN_LOAD && !in->nr_compute && !in->latency;
	if (in->flags & INSN_MOVE && !(in->flags & (INSN_LOAD | INSN_STORE)) && in->nr_data &&
	    in->data[0] < REG_VECTOR && d->rename_move_slots)
		p->copies = in->data[0];
	if (in->flags & INSN_SIMPLE_ADDR && in->nr_addr && in->addr[0] < REG_VECTOR)
		p->base = in->addr[0];
}

static uint16_t timed_flags(const struct insn *in, unsigned kind)
{
	unsigned f = (in->flags & INSN_LOAD ? TIMED_LOAD : 0u) | (in->flags & INSN_STORE ? TIMED_STORE : 0u) |
	             (in->branch ? TIMED_BRANCH : 0u) | (in->flags & INSN_LONG ? TIMED_LONG : 0u) |
	             (in->flags & INSN_MARK ? TIMED_MARK : 0u);

	if (in->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL | INSN_FLUSH))
		f |= TIMED_FLUSHER;
	return (uint16_t)(f | (kind & RECIPE_SECOND ? TIMED_FUSED : 0u));
}

/* All operands are wanted at issue, all results are there with the latency, and none is a vector register. */
static bool simple(const struct recipe *p)
{
	bool is = !p->eliminated;

	for (unsigned i = 0; i < p->nr_data; i++)
		is = is && p->data[i] < REG_VECTOR && !p->data_late[i];
	for (unsigned i = 0; i < p->nr_dst; i++)
		is = is && p->dst[i] < REG_VECTOR && p->dst_latency[i] == p->latency &&
		     !(p->dst_latency[i] & DST_WRITEBACK);
	return is;
}

static enum recipe_path path_of(const struct recipe *p)
{
	const struct part *part = p->part;

	if (p->flags & PATH_ANY_FLAGS)
		return PATH_ANY;
	if (p->second)
		return PATH_SECOND;
	if (p->slots != 1 || part[PART_LOAD].uops > 1 || part[PART_STA].uops > 1)
		return PATH_ANY;
	if (p->flags & (INSN_LOAD | INSN_STORE) || p->nr_addr || part[PART_LOAD].uops || part[PART_STA].uops ||
	    part[PART_STD].uops)
		return p->branch ? PATH_ANY : PATH_MEMORY;
	return PATH_COMPUTE;
}

static void fill(struct recipes *r, struct recipe *p, uint32_t insn, unsigned kind, uint16_t branch_ports)
{
	const struct core_desc *d = r->desc;
	const struct insn *in = code_insn(r->code, insn);
	bool moves = in->flags & INSN_MOVE && d->rename_move_slots && in->nr_data && in->nr_dst;
	bool done_at_rename = moves || in->flags & INSN_ZERO;

	*p = (struct recipe){
		.insn = insn, .flags = in->flags, .branch_ports = branch_ports, .branch = in->branch,
		.decode_uops = insn_decode_uops(in), .class = (uint8_t)latency_class(in),
		.latency = in->latency, .load_extra = (uint8_t)(in->load_extra + in->address_extra),
		.timed = timed_flags(in, kind),
		.result = (uint8_t)(in->bypass | (in->flags & INSN_VINT ? RESULT_INTEGER : 0)),
		.takes = (uint8_t)((in->bypass ? TAKES_UNIT : 0) | (in->flags & INSN_FP ? TAKES_FLOAT : 0)),
		.second = kind & RECIPE_SECOND, .stores_result = in->stores_result,
		.address_extra = in->address_extra,
	};
	p->eliminated = done_at_rename && !(in->flags & (INSN_LOAD | INSN_STORE));
	registers(p, in);
	origins(p, d, in);
	p->slots = in->slots ? in->slots : 1;
	if (in->flags & INSN_UNMODELLED) {
		p->slots = (uint8_t)d->unmodelled_uops;
		p->latency = (uint8_t)d->unmodelled_latency;
	}
	if (p->second)
		p->slots = 0;
	if (p->eliminated) {
		p->latency = 0;
		memset(p->dst_latency, 0, sizeof p->dst_latency);
	}
	for (unsigned k = 0; k <= PART_SPLIT; k++)
		p->part[k] = (struct part){ .use = r->nr_uses, .scheduler = RECIPE_NO_SCHEDULER };
	p->path = (uint8_t)path_of(p);
	p->simple = simple(p);
	if (p->second || p->eliminated)
		return;
	p->uops = in->nr_uops;
	for (unsigned k = 0; k < NR_PARTS; k++) {
		static const uint8_t kinds[NR_PARTS] = { UOP_LOAD, UOP_COMPUTE, UOP_STA, UOP_STD };

		uint16_t ports[UINT8_MAX];
		unsigned nr = 0;

		p->part[k].use = r->nr_uses;
		for (unsigned i = 0; i < in->nr_uops; i++) {
			const struct uop *u = &r->code->uops[in->uop + i];
			if (u->kind != kinds[k])
				continue;
			ports[nr] = ports_of(d, in, u, kind, branch_ports);
			add_uop(r, &p->part[k], u, ports[nr++]);
		}
		uint32_t first = r->nr_uses;
		for (unsigned i = 0; i < nr; i++)
			add_schedulers(r, first, ports[i]);
		take_schedulers(r, &p->part[k], first);
		bind_part(r, &p->part[k], ports, nr);
	}
	add_split(r, p, in);
	p->path = (uint8_t)path_of(p);
}

/* Before it, with a slot of its own, a uop that adds to the stack pointer what pushes and pops left to be added. */
static void add_sync(struct recipes *r, struct recipe *p)
{
	struct part sync = { .use = r->nr_uses };

	add_uop(r, &sync, &(struct uop){ 0 }, (uint16_t)r->desc->rename_stack_ports);
	p->sync_uses = sync.nr_uses;
	p->stack_pointer = r->stack_pointer;
	p->slots++;
	p->path = PATH_ANY;
}

static void grow(struct recipes *r, size_t at)
{
	size_t nr = r->nr_of ? r->nr_of : 1 << 16;

	while (nr <= at)
		nr *= 2;
	if (nr == r->nr_of)
		return;
	r->of = g_realloc_n(r->of, nr, sizeof *r->of);
	memset(r->of + r->nr_of, 0, (nr - r->nr_of) * sizeof *r->of);
	r->nr_of = nr;
}

uint32_t recipe_make(struct recipes *r, uint32_t insn, unsigned kind, uint16_t branch_ports)
{
	const struct insn *in = code_insn(r->code, insn);
	size_t at = (size_t)insn * NR_RECIPE_KINDS + kind;
	bool found = false;

	grow(r, at);
	for (unsigned i = 0; i < in->nr_uops; i++) {
		const struct uop *u = &r->code->uops[in->uop + i];
		found |= add_group(r, ports_of(r->desc, in, u, kind, branch_ports));
		if (u->kind == UOP_LOAD && in->flags & INSN_VECTOR_MEM)
			found |= add_group(r, (uint16_t)r->desc->split_vector_ports);
	}
	if (kind & RECIPE_SYNC)
		found |= add_group(r, (uint16_t)r->desc->rename_stack_ports);
	if (found)
		memset(r->of, 0, r->nr_of * sizeof *r->of);
	assert(r->nr < MOST_RECIPES);
	fill(r, &r->recipe[r->nr], insn, kind, branch_ports);
	if (kind & RECIPE_SYNC)
		add_sync(r, &r->recipe[r->nr]);
	r->of[at] = ++r->nr;
	return r->nr - 1;
}

/* --- names ------------------------------------------------------------------------------------------- */

const char *resource_name(const struct recipes *r, unsigned resource, char *buf)
{
	static const char *const names[RESOURCE_UNITS] = {
		[RESOURCE_FRONTEND] = "frontend", [RESOURCE_UOPCACHE] = "uopcache", [RESOURCE_FETCH] = "fetch",
		[RESOURCE_PREDECODE] = "predecode", [RESOURCE_DECODE] = "decode", [RESOURCE_COMPLEX] = "decode.complex",
		[RESOURCE_MICROCODE] = "microcode", [RESOURCE_TAKEN] = "branch.taken", [RESOURCE_RETIRE] = "retire",
		[RESOURCE_DRAIN] = "store.drain", [RESOURCE_RESTART] = "load.restarts", [RESOURCE_L2] = "l2.bandwidth",
		[RESOURCE_LLC] = "llc.bandwidth", [RESOURCE_MEMORY] = "memory.bandwidth",
		[RESOURCE_L2_WRITE] = "l2.bandwidth", [RESOURCE_LLC_WRITE] = "llc.bandwidth",
		[RESOURCE_WALK] = "page.walks",
	};

	if (resource < RESOURCE_UNITS)
		return names[resource];
	if (resource < RESOURCE_PORTS)
		return r->desc->unit_names[resource - RESOURCE_UNITS];
	return ports_name(r->desc, r->group[resource - RESOURCE_PORTS], buf);
}
