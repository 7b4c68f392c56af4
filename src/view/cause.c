#include "view/cause.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "isa/insn.h"
#include "record/timed.h"
#include "view/advice_text.h"

/* Shares from which on a pattern is believed. */
static const double MOSTLY = 0.5, UNPREDICTABLE = 0.05, ENDS = 0.5, LONGEST = 0.97;
enum { FEW = 2, MOST_BOUNDS = 64 };

static const struct { const char *event, *pattern; } listed[] = {
#define ROW(event, pattern) { event, pattern },
	CAUSES(ROW)
#undef ROW
};
enum { NR_CAUSES = sizeof listed / sizeof *listed };

struct causes {
	struct cause row[NR_CAUSES];
	char *title[NR_CAUSES], *why[NR_CAUSES], *supposed[NR_CAUSES];
	char **helps[NR_CAUSES], **relax[NR_CAUSES], **set[NR_CAUSES], **scale[NR_CAUSES];
};

/* --- the table --------------------------------------------------------------------------------------- */

static int read_row(struct causes *c, GKeyFile *file, unsigned i)
{
	char *group = g_strdup_printf("%s/%s", listed[i].event, listed[i].pattern);
	int err = 0;

	c->title[i] = g_key_file_get_string(file, group, "title", NULL);
	c->why[i] = g_key_file_get_string(file, group, "why", NULL);
	c->helps[i] = g_key_file_get_string_list(file, group, "helps", NULL, NULL);
	c->relax[i] = g_key_file_get_string_list(file, group, "relax", NULL, NULL);
	c->set[i] = g_key_file_get_string_list(file, group, "set", NULL, NULL);
	c->scale[i] = g_key_file_get_string_list(file, group, "scale", NULL, NULL);
	c->supposed[i] = g_key_file_get_string(file, c->set[i] || c->scale[i] ? group : listed[i].event, "if", NULL);
	if (!c->title[i] || !c->why[i] || !c->helps[i] || (!c->relax[i] && !c->supposed[i]))
		err = error_set(EINVAL, "table of advice", "[%s] is missing, or a part of it", group);
	c->row[i] = (struct cause){
		.event = listed[i].event, .pattern = listed[i].pattern, .title = c->title[i], .why = c->why[i],
		.helps = (const char *const *)c->helps[i], .relax = (const char *const *)c->relax[i],
		.supposed = c->supposed[i],
		.set = (const char *const *)c->set[i], .scale = (const char *const *)c->scale[i],
	};
	g_free(group);
	return err;
}

int causes_new(struct causes **out)
{
	struct causes *c = g_new0(struct causes, 1);
	GKeyFile *file = g_key_file_new();
	GError *error = NULL;
	gsize groups;
	int err = 0;

	g_key_file_set_list_separator(file, '|');
	if (!g_key_file_load_from_data(file, advice_text, sizeof advice_text - 1, G_KEY_FILE_NONE, &error)) {
		err = error_set(EINVAL, "table of advice", "%s", error->message);
		g_error_free(error);
	}
	for (unsigned i = 0; i < NR_CAUSES && !err; i++)
		err = read_row(c, file, i);
	g_strfreev(g_key_file_get_groups(file, &groups)); /* a row each, and one for each event */
	if (!err && groups != NR_CAUSES + NR_PSV)
		err = error_set(EINVAL, "table of advice", "it has rows that no instruction can be given");
	g_key_file_free(file);
	if (err)
		causes_free(c);
	else
		*out = c;
	return err;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < NR_CAUSES; i++) {
		g_free(c->title[i]);
		g_free(c->why[i]);
		g_free(c->supposed[i]);
		g_strfreev(c->helps[i]);
		g_strfreev(c->relax[i]);
		g_strfreev(c->set[i]);
		g_strfreev(c->scale[i]);
	}
	g_free(c);
}

const struct cause *cause_find(const struct causes *c, const char *event, const char *pattern)
{
	for (unsigned i = 0; i < NR_CAUSES; i++)
		if (!strcmp(listed[i].event, event) && !strcmp(listed[i].pattern, pattern))
			return &c->row[i];
	return NULL;
}

/* --- events ------------------------------------------------------------------------------------------ */

uint16_t cause_event(uint16_t signature, const struct facts *f)
{
	/*
	 * A translation costs less than memory; beside L2 it is what is wrong where each access goes to another
	 * page.
	 */
	static const uint16_t order[] = { PSV_FL_EX,  PSV_FL_MO, PSV_FL_MB, PSV_DR_SQ, PSV_ST_LLC,
		                          PSV_ST_TLB, PSV_ST_L1, PSV_DR_L1, PSV_DR_TLB };

	if (signature & PSV_ST_TLB && signature & PSV_ST_L1 && !(signature & PSV_ST_LLC) && f->page_changes < MOSTLY)
		signature &= (uint16_t)~PSV_ST_TLB;
	for (unsigned i = 0; i < G_N_ELEMENTS(order); i++)
		if (signature & order[i])
			return order[i];
	return 0;
}

/* The load that gave the address; NULL: none is known. */
static const struct facts *feeder_of(const struct facts_table *t, const struct facts *f)
{
	return f->feeder > 0 ? facts_of(t, (uint32_t)f->feeder - 1) : NULL;
}

static bool leads_to_itself(const struct facts *f)
{
	return f->indirect >= MOSTLY && f->chased >= MOSTLY;
}

bool cause_chase(const struct facts_table *t, const struct facts *f)
{
	const struct facts *feeder = feeder_of(t, f);

	return leads_to_itself(f) || (f->indirect >= MOSTLY && feeder && leads_to_itself(feeder));
}

static const char *pattern_of_data(const struct facts_table *t, const struct facts *f)
{
	const struct facts *feeder = feeder_of(t, f);

	if (cause_chase(t, f))
		return "chase";
	if (f->stride_share >= MOSTLY)
		return "stride";
	if (f->indirect < MOSTLY)
		return "scattered";
	return feeder && feeder->stride_share >= MOSTLY && feeder->indirect < MOSTLY ? "gather" : "indirect";
}

bool cause_known_ahead(const struct facts_table *t, const struct facts *f)
{
	const char *pattern = pattern_of_data(t, f);

	return strcmp(pattern, "chase") && strcmp(pattern, "indirect");
}

static const char *pattern_of_branch(const struct facts *f)
{
	switch ((enum branch_kind)f->kind) {
	case BRANCH_INDIRECT:
	case BRANCH_INDIRECT_CALL:
		return f->mispredicted >= UNPREDICTABLE ? "indirect" : "seldom";
	case BRANCH_RETURN:
		return "return";
	default:
		/* One that closes a loop of a few rounds and is wrong about as often as the loop ends. */
		if (f->back > 0 && f->mispredicted >= ENDS * (1 - f->taken) && f->mispredicted <= 2 * (1 - f->taken) &&
		    f->taken >= MOSTLY && f->taken < LONGEST)
			return "loop";
		return f->mispredicted >= UNPREDICTABLE ? "unpredictable" : "seldom";
	}
}

const struct cause *cause_of(const struct causes *c, const struct facts_table *t, const struct query_insn *in,
                             uint16_t event, uint64_t executions)
{
	const struct facts *f = facts_of(t, in->insn);

	/* Only loads are waited for; what a store misses fills its queue. */
	if (event & (PSV_ST_LLC | PSV_ST_L1) && f->accesses > 0 && f->loads <= 0)
		event = PSV_DR_SQ;
	switch (event) {
	case PSV_ST_LLC:
		return cause_find(c, "ST-LLC", pattern_of_data(t, f));
	case PSV_ST_L1:
		return cause_find(c, "ST-L1", pattern_of_data(t, f));
	case PSV_ST_TLB:
		return cause_find(c, "ST-TLB", f->page_changes < MOSTLY ? "scattered" : cause_chase(t, f) ? "chase" :
		                  f->stride_share >= MOSTLY ? "pages" : "scattered");
	case PSV_DR_SQ:
		return cause_find(c, "DR-SQ", f->stride_share >= MOSTLY ? "stride" : "scattered");
	case PSV_FL_MB:
		return cause_find(c, "FL-MB", pattern_of_branch(f));
	case PSV_FL_EX:
		return cause_find(c, "FL-EX",
		                  f->system_call > 0  ? "system"
		                  : f->serialises > 0 ? "serialising"
		                                      : "faults");
	case PSV_FL_MO:
		return cause_find(c, "FL-MO", "late");
	case PSV_DR_L1:
		return cause_find(c, "DR-L1", executions <= FEW ? "cold" : "thrash");
	default:
		return cause_find(c, "DR-TLB", "code");
	}
}

/* --- without an event -------------------------------------------------------------------------------- */

/* A bound, and its part of what a group has of the critical path. */
struct weight {
	const char *name;
	double part;
};

static void add_bound(struct weight *w, unsigned *nr, const char *name, double part)
{
	unsigned i = 0;

	while (i < *nr && strcmp(w[i].name, name))
		i++;
	if (i == MOST_BOUNDS)
		return;
	if (i == *nr)
		w[(*nr)++] = (struct weight){ .name = name };
	w[i].part += part;
}

static const char *pattern_of_chain(const struct facts_table *t, const struct query_insn *main)
{
	const struct facts *f = facts_of(t, main->insn);

	if (f->carried < MOSTLY)
		return "latency";
	return leads_to_itself(f) ? "chase" : "chain";
}

/* NULL: the branch, or the code, that was waited for has cycles of its own with their events. */
static const char *pattern_of_bound(const char *name)
{
	static const struct { const char *bound, *pattern; } patterns[] = {
		{ "memory_order", "forward" }, { "fence", "atomic" }, { "serial", "atomic" },
		{ "frontend", "frontend" }, { "decode", "decode" },
		{ "decode.erratum", "erratum" }, { "branch.taken", "taken" }, { "rename", "width" }, { "code", NULL },
		{ "branch", NULL },
	};

	if (g_str_has_prefix(name, "port"))
		return "port";
	if (g_str_has_prefix(name, "unit"))
		return "unit";
	for (unsigned i = 0; i < G_N_ELEMENTS(patterns); i++)
		if (!strcmp(patterns[i].bound, name))
			return patterns[i].pattern;
	return "window";
}

static const struct { const char *bound, *pattern; } deliveries[NR_DELIVERIES] = {
	[DELIVERY_DECODE] = { "decode", "decode" }, [DELIVERY_ERRATUM] = { "decode.erratum", "erratum" },
	[DELIVERY_TAKEN] = { "branch.taken", "taken" },
};

const struct cause *cause_delivery(const struct causes *c, enum delivery d)
{
	return cause_find(c, "Base", deliveries[d].pattern);
}

static bool is_delivery(const char *name)
{
	for (unsigned d = 0; d < NR_DELIVERIES; d++)
		if (!strcmp(name, deliveries[d].bound))
			return true;
	return !strcmp(name, "frontend");
}

/* The largest; NULL: none is. `delivery`: of the ways in which the front end is late, or of all else. */
static const struct weight *largest(const struct weight *w, unsigned nr, bool delivery)
{
	const struct weight *best = NULL;

	for (unsigned i = 0; i < nr; i++)
		if (is_delivery(w[i].name) == delivery && (!best || w[i].part > best->part))
			best = &w[i];
	return best;
}

static double part_of(const struct weight *w, unsigned nr, const char *name)
{
	double part = 0, all = 0;

	for (unsigned i = 0; i < nr; i++) {
		part += strcmp(w[i].name, name) ? 0 : w[i].part;
		all += w[i].part;
	}
	return all > 0 ? part / all : 0;
}

/* The instruction with the most of a bound. */
static const struct query_insn *most_bound(const struct facts_table *t, const struct query_insn *const *in, size_t nr,
                                           const char *name)
{
	const struct query_insn *main = in[0];
	double most = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct facts *f = facts_of(t, in[i]->insn);
		for (size_t k = 0; k < f->nr_bounds; k++) {
			double part = f->share * f->bound[k].value;
			if (!strcmp(f->bound[k].name + strlen("bound/"), name) && part > most) {
				most = part;
				main = in[i];
			}
		}
	}
	return main;
}

bool cause_base(struct base_cause *out, const struct causes *c, const struct facts_table *t,
                const struct query_insn *const *in, size_t nr)
{
	struct weight w[MOST_BOUNDS];
	unsigned nr_weights = 0;
	double delivery = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct facts *f = facts_of(t, in[i]->insn);
		for (size_t k = 0; k < f->nr_bounds; k++)
			add_bound(w, &nr_weights, f->bound[k].name + strlen("bound/"), f->share * f->bound[k].value);
	}
	for (unsigned i = 0; i < nr_weights; i++)
		delivery += is_delivery(w[i].name) ? w[i].part : 0;
	const struct weight *other = largest(w, nr_weights, false),
			    *best = !other || delivery > other->part ? largest(w, nr_weights, true) : other;
	if (!best)
		return false;
	*out = (struct base_cause){ .main = most_bound(t, in, nr, best->name) };
	if (g_str_has_prefix(best->name, "port.") || g_str_has_prefix(best->name, "unit."))
		out->bound = strchr(best->name, '.') + 1;
	const char *pattern =
		strcmp(best->name, "latency") ? pattern_of_bound(best->name) : pattern_of_chain(t, out->main);
	out->cause = pattern ? cause_find(c, "Base", pattern) : NULL;
	for (unsigned d = 0; d < NR_DELIVERIES && best != other && strcmp(best->name, "frontend"); d++)
		out->delivery[d] = part_of(w, nr_weights, deliveries[d].bound);
	return out->cause;
}
