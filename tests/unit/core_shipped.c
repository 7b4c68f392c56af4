/*
 * The shipped cores: that each description and its cost file fit together and LLVM's model, and that both models take them.
 * What their figures come to in loops is tests/e2e/cores.py's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "core/core.h"
#include "isa/arch.h"
#include "isa/costs.h"
#include "isa/llvm.h"

/* Takes a loaded description; the name is for messages. */
static void for_each_core(void (*check)(const char *name, const struct core_desc *d))
{
	char **names = core_desc_names();
	unsigned nr = 0;

	for (char **name = names; *name; name++, nr++) {
		struct core_desc d;
		if (core_desc_load(&d, *name))
			fail_msg("%s: %s: %s", *name, error_get()->what, error_get()->why);
		check(*name, &d);
	}
	assert_true(nr >= 14);
	g_strfreev(names);
}

static struct costs *costs_of(const char *name, const struct core_desc *d)
{
	struct costs *costs;

	if (costs_new(&costs, d->costs_path, d->port_names, d->unit_names))
		fail_msg("%s: %s: %s", name, error_get()->what, error_get()->why);
	return costs;
}

static enum isa isa_of(const struct core_desc *d)
{
	return strcmp(d->isa, "aarch64") == 0 ? ISA_AARCH64 : strcmp(d->isa, "riscv64") == 0 ? ISA_RISCV64 : ISA_X86_64;
}

/*
 * What LLVM's models have beside pipes: groups that only size a scheduler, the load and store units that stand beside the
 * address pipes ([core] names where those go), masks of AVX-512, single load ports that no form names, a pipelined
 * multiplier, and "invalid".
 */
static bool left_out(const char *resource)
{
	static const char *const patterns[] = {
		"InvalidUnit", "*PortInvalid", "Zn?Int", "Zn?FP", "Zn?LSU", "Zn?Load", "Zn?Store", "Zn?FPSt", "Zn?AGU*", "Zn4FPOpMask*", "Zn2Multiplier",
		"SKXPort2", "SKXPort3", "SKXPort7", NULL,
	};

	for (const char *const *p = patterns; *p; p++)
		if (g_pattern_match_simple(*p, resource))
			return true;
	return false;
}

/* A resource that is not named loses its uops in silence. */
static void names_resources(const char *name, const struct core_desc *d)
{
	static const char *const triples[] = { [ISA_X86_64] = "x86_64-linux-gnu", [ISA_AARCH64] = "aarch64-linux-gnu", [ISA_RISCV64] = "riscv64-linux-gnu" };
	struct costs *costs = costs_of(name, d);
	struct decoder *decoder;
	unsigned nr;

	assert_int_equal(decoder_new(&decoder, triples[isa_of(d)], d->cpu, d->features), 0);
	nr = decoder_nr_resources(decoder);
	for (unsigned r = 0; r < nr; r++) {
		const char *resource = decoder_resource(decoder, r);
		uint16_t ports;
		uint8_t unit;
		costs_resource(costs, resource, &ports, &unit);
		if (!ports && !unit && !left_out(resource))
			fail_msg("%s: LLVM's %s is not named", name, resource);
		if ((ports || unit) && left_out(resource) && strncmp(resource, "SKXPort", 7))
			fail_msg("%s: LLVM's %s is named, and said to be left out", name, resource);
	}
	decoder_free(decoder);
	costs_free(costs);
}

static void every_resource_is_named_or_left_out(void **state)
{
	(void)state;
	for_each_core(names_resources);
}

/* Loads and stores go somewhere; a port belongs to one scheduler but behind a queue, and a scheduler's ports are the core's. */
static void has_ports(const char *name, const struct core_desc *d)
{
#define X(n) { d->sched##n##_entries, d->sched##n##_ports }
	const struct { int32_t entries, ports; } sched[CORE_SCHEDULERS] = { X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7) };
#undef X
	struct costs *costs = costs_of(name, d);
	const struct cost_core *core = costs_core(costs);
	unsigned nr = 0, all = 0;

	while (d->port_names[nr])
		nr++;
	for (unsigned k = 0; k < CORE_SCHEDULERS; k++) {
		unsigned ports = sched[k].entries ? (unsigned)sched[k].ports : 0;
		if (all & ports & ~(unsigned)(d->waiting_entries ? d->waiting_ports : 0) || ports >> nr)
			fail_msg("%s: sched%u has a port of another scheduler, or none of the core's", name, k);
		if (!sched[k].entries != !sched[k].ports)
			fail_msg("%s: sched%u has entries or ports, and not both", name, k);
		all |= ports;
	}
	assert_true(core->load && core->sta && core->load_latency);
	assert_int_equal(core->load & ~all, 0);
	assert_int_equal(core->sta & ~all, 0);
	/* Beside those that a scheduler feeds there are at most ports of store data, and those that vectors come by from L1. */
	assert_int_equal(~all & ((1u << nr) - 1) & ~((unsigned)core->std | (unsigned)d->split_vector_ports), 0);
	assert_int_equal((unsigned)(d->branch_taken_ports | d->split_vector_ports | d->l1d_victim_ports) >> nr, 0);
	costs_free(costs);
}

static void ports_and_schedulers_agree(void **state)
{
	(void)state;
	for_each_core(has_ports);
}

static void drop(void *ctx, const struct timed *t, size_t n)
{
	(void)ctx, (void)t, (void)n;
}

/* The uop queue holds what is on its way to dispatch: with less than this it, and not rename, would be the width. */
static void is_taken(const char *name, const struct core_desc *d)
{
	const struct code_config config = { .isa = isa_of(d), .cpu = d->cpu, .features = d->features, .ports = d->port_names,
	                                    .units = d->unit_names, .costs = d->costs_path };
	struct code *code;

	if (d->queue_entries < d->rename_width * (d->rename_latency + 1))
		fail_msg("%s: queue.entries is less than rename.width in each of rename.latency cycles and one more", name);
	if (code_new(&code, &config))
		fail_msg("%s: %s: %s", name, error_get()->what, error_get()->why);
	for (const struct core_ops *const *ops = core_list; *ops; ops++) {
		struct core *core;
		if ((*ops)->open(&core, d, code, (struct timed_sink){ .take = drop, .ctx = NULL }))
			fail_msg("%s, model %s: %s: %s", name, (*ops)->name, error_get()->what, error_get()->why);
		(*ops)->finish(core);
		(*ops)->close(core);
	}
	code_free(code);
}

static void both_models_take_every_core(void **state)
{
	(void)state;
	for_each_core(is_taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_resource_is_named_or_left_out),
		cmocka_unit_test(ports_and_schedulers_agree),
		cmocka_unit_test(both_models_take_every_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
