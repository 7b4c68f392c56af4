#include "view/resources.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "core/gus/time.h"
#include "isa/code.h"
#include "record/timed.h"
#include "view/number.h"

enum { COLUMNS = 6, CELL = 10, NAMES = 28 };

/* Lines that came from L2 or beyond. */
enum { USE_LINES = RESOURCE_L2 };

struct resources {
	struct core_desc *desc;
	struct code *code;
	struct recipes recipes;
	bool made;                     /* recipes */
	struct abstract_costs costs;
	struct query *query;
	uint64_t total[NR_RESOURCES];  /* uses over the run */
	uint64_t cycles;
};

static uint32_t decode(struct resources *r, const struct query_insn *in)
{
	return code_add(r->code, in->pc, in->bytes, in->length);
}

/* Executions whose data was not in L1D. */
static uint64_t lines(const struct query_insn *in)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < in->stack.nr; i++)
		if (in->stack.share[i].signature & PSV_ST_L1)
			n += in->stack.share[i].executions;
	return n;
}

/* What an instruction used of each resource. */
static void uses(struct resources *r, const struct query_insn *in, uint64_t used[NR_RESOURCES])
{
	const struct recipe *p = &r->recipes.recipe[recipe_of(&r->recipes, decode(r, in), RECIPE_PLAIN, 0)];

	memset(used, 0, NR_RESOURCES * sizeof *used);
	used[RESOURCE_FRONTEND] = in->executions * p->slots;
	used[USE_LINES] = lines(in);
	for (unsigned k = 0; k < NR_PARTS; k++)
		for (uint32_t i = p->part[k].use; i < p->part[k].use + p->part[k].nr_uses; i++)
			used[r->recipes.use[i].resource] += in->executions * r->recipes.use[i].amount;
}

/* Ticks that one use of a resource takes. */
static uint64_t inverse(const struct resources *r, unsigned resource)
{
	if (resource < RESOURCE_PORTS)
		return r->costs.inverse[resource];
	return ABSTRACT_TICKS / (uint64_t)__builtin_popcount(r->recipes.group[resource - RESOURCE_PORTS]);
}

/* Thousandths of the run in which the resource was in use. */
static uint64_t load(const struct resources *r, unsigned resource)
{
	if (!r->cycles)
		return 0;
	return (uint64_t)((unsigned __int128)r->total[resource] * inverse(r, resource) * 1000 / ABSTRACT_TICKS /
	                  r->cycles);
}

static int gather(struct resources *r)
{
	const struct query_insn *in;
	uint64_t used[NR_RESOURCES];
	size_t n;
	int err = query_hot(r->query, 0, &in, &n, NULL);

	/* All recipes first: which sets of ports matter is known after the last. */
	for (size_t i = 0; i < n && !err; i++)
		recipe_of(&r->recipes, decode(r, &in[i]), RECIPE_PLAIN, 0);
	for (size_t i = 0; i < n && !err; i++) {
		uses(r, &in[i], used);
		for (unsigned k = 0; k < NR_RESOURCES; k++)
			r->total[k] += used[k];
	}
	return err;
}

int resources_new(struct resources **out, struct query *q)
{
	const struct run_info *run = query_run(q);
	struct resources *r = g_new0(struct resources, 1);
	int err;

	r->desc = g_new0(struct core_desc, 1);
	r->query = q;
	r->cycles = run->cycles_units / run->units_per_cycle;
	err = core_desc_load(r->desc, run->core ? run->core : "");
	if (!err) {
		struct code_config config = {
			.cpu = r->desc->cpu, .features = r->desc->features, .ports = r->desc->port_names,
			.units = r->desc->unit_names,
			.costs = *r->desc->costs_path ? r->desc->costs_path : NULL,
		};

		config.isa = !strcmp(r->desc->isa, "aarch64")   ? ISA_AARCH64
		             : !strcmp(r->desc->isa, "riscv64") ? ISA_RISCV64
		                                                : ISA_X86_64;
		err = code_new(&r->code, &config);
	}
	if (!err) {
		err = recipes_init(&r->recipes, r->desc, r->code);
		r->made = !err;
	}
	abstract_costs_init(&r->costs, r->desc);
	if (!err)
		err = gather(r);
	if (err) {
		resources_free(r);
		return err;
	}
	*out = r;
	return 0;
}

void resources_free(struct resources *r)
{
	if (!r)
		return;
	if (r->made)
		recipes_fini(&r->recipes);
	code_free(r->code);
	g_free(r->desc);
	g_free(r);
}

/* --- text -------------------------------------------------------------------------------------------- */

/* The resources most in use, lines from L2 first; returns how many. */
static unsigned columns(const struct resources *r, unsigned out[COLUMNS])
{
	bool taken[NR_RESOURCES] = { [USE_LINES] = true };
	unsigned nr = 0;

	out[nr++] = USE_LINES;
	while (nr < COLUMNS) {
		unsigned best = NR_RESOURCES;
		for (unsigned k = 0; k < NR_RESOURCES; k++)
			if (!taken[k] && r->total[k] && (best == NR_RESOURCES || load(r, k) > load(r, best)))
				best = k;
		if (best == NR_RESOURCES)
			break;
		taken[best] = true;
		out[nr++] = best;
	}
	return nr;
}

static const char *name_of(const struct resources *r, unsigned resource, char *buf)
{
	return resource == USE_LINES ? "L2" : resource_name(&r->recipes, resource, buf);
}

/* Operand to result; of what only loads, a hit in L1D. */
static unsigned latency_of(const struct resources *r, const struct recipe *p)
{
	return p->flags & INSN_LOAD && !p->part[PART_COMPUTE].uops ? (unsigned)r->desc->l1d_latency + p->load_extra
	                                                           : p->latency;
}

/* "4/p01 p015": latency, and all the resources that an execution uses. */
static void latency_and_ports(struct resources *r, const struct query_insn *in, char *buf, size_t size)
{
	const struct recipe *p = &r->recipes.recipe[recipe_of(&r->recipes, decode(r, in), RECIPE_PLAIN, 0)];
	size_t at = (size_t)snprintf(buf, size, "%u/", latency_of(r, p));

	for (unsigned k = 0, n = 0; k < NR_PARTS; k++) {
		for (uint32_t i = p->part[k].use; i < p->part[k].use + p->part[k].nr_uses && at < size; i++) {
			char name[128];
			at += (size_t)snprintf(buf + at, size - at, "%s%s", n++ ? " " : "",
			                       resource_name(&r->recipes, r->recipes.use[i].resource, name));
		}
	}
}

int resources_text(struct text *t, struct resources *r, const struct query_function *f)
{
	unsigned column[COLUMNS], nr = columns(r, column);
	const struct query_insn *in;
	char name[128], number[NUMBER_SIZE];
	size_t n;
	int err = query_insns(r->query, f, &in, &n);

	if (err)
		return err;
	text_heading(t, "Resources: shares of what the run used");
	fputs("  ", t->out);
	for (unsigned k = 0; k < nr; k++)
		text_right(t, name_of(r, column[k], name), CELL);
	fprintf(t->out, "  %-*s  %s\n  ", NAMES, "latency/uses", "instruction");
	for (unsigned k = 0; k < nr; k++)
		fprintf(t->out, "%*s%%", CELL - 1, number_ratio(number, load(r, column[k]), 10, 0));
	fputs("  of the run's cycles in use\n", t->out);
	for (size_t i = 0; i < n; i++) {
		uint64_t used[NR_RESOURCES];
		char ports[512];

		uses(r, &in[i], used);
		latency_and_ports(r, &in[i], ports, sizeof ports);
		fputs("  ", t->out);
		for (unsigned k = 0; k < nr; k++)
			fprintf(t->out, "%*s%%", CELL - 1,
			        number_ratio(number, used[column[k]] * 100,
			                     r->total[column[k]] ? r->total[column[k]] : 1, 1));
		fputs("  ", t->out);
		text_field(t, ports, NAMES, true, false);
		fputs("  ", t->out);
		text_field(t, in[i].disassembly, text_columns(in[i].disassembly), false, false);
		fputc('\n', t->out);
	}
	return 0;
}

/* --- JSON -------------------------------------------------------------------------------------------- */

void resources_json(struct json *j, struct resources *r, const struct query_insn *in)
{
	const struct recipe *p = &r->recipes.recipe[recipe_of(&r->recipes, decode(r, in), RECIPE_PLAIN, 0)];
	uint64_t used[NR_RESOURCES];

	uses(r, in, used);
	json_uint(j, "latency", latency_of(r, p));
	json_object(j, "resources");
	for (unsigned k = 0; k < NR_RESOURCES; k++) {
		char name[128];
		if (used[k])
			json_ratio(j, k == USE_LINES ? "l2" : resource_name(&r->recipes, k, name), used[k],
			           r->total[k]);
	}
	json_end_object(j);
}
