/* What was found becomes files that read back as the core they describe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/write.h"
#include "isa/costs.h"

static const struct host host = {
	.vendor = "GenuineIntel", .brand = "A processor; of\nsome name", .family = 6, .model = 85, .stepping = 7, .guest = true,
};

/* By vendor and signature, as CPUID gives it, of a processor of each kind. */
static void parents(void **state)
{
	static const struct {
		const char *vendor;
		uint32_t signature;
		const char *core, *brand;
		bool same;
	} known[] = {
		{ "GenuineIntel", 0x106a5, "sandy-bridge", "", false },     /* Nehalem */
		{ "GenuineIntel", 0x206a7, "sandy-bridge", "", true },
		{ "GenuineIntel", 0x306a9, "sandy-bridge", "", false },     /* Ivy Bridge */
		{ "GenuineIntel", 0x306c3, "skylake-x", "", false },        /* Haswell */
		{ "GenuineIntel", 0x306f2, "skylake-sp", "", false },       /* ... of servers */
		{ "GenuineIntel", 0x506e3, "skylake-x", "", false },        /* Skylake of desktops */
		{ "GenuineIntel", 0xa0653, "skylake-x", "", false },        /* Comet Lake */
		{ "GenuineIntel", 0x50654, "skylake-sp", "Intel(R) Xeon(R) Platinum 8160 CPU @ 2.10GHz", true },
		{ "GenuineIntel", 0x50654, "skylake-x", "Intel(R) Core(TM) i9-7980XE CPU @ 2.60GHz", true },
		{ "GenuineIntel", 0x50657, "cascade-lake", "", true },
		{ "GenuineIntel", 0x5065b, "cascade-lake", "", false },     /* Cooper Lake */
		{ "GenuineIntel", 0x706e5, "ice-lake", "", true },
		{ "GenuineIntel", 0x606a6, "ice-lake", "", true },          /* ... of servers */
		{ "GenuineIntel", 0x806c1, "ice-lake", "", false },         /* Tiger Lake */
		{ "GenuineIntel", 0x90672, "alder-lake-p", "", true },
		{ "GenuineIntel", 0xb0671, "alder-lake-p", "", false },     /* Raptor Lake */
		{ "GenuineIntel", 0x806f8, "sapphire-rapids", "", true },
		{ "GenuineIntel", 0xc06f2, "sapphire-rapids", "", false },  /* Emerald Rapids */
		{ "GenuineIntel", 0x706a8, "skylake-sp", "", false },       /* Goldmont Plus: none is like it */
		{ "AuthenticAMD", 0x600f20, "zen2", "", false },            /* Piledriver */
		{ "AuthenticAMD", 0x800f11, "zen2", "", false },            /* Zen */
		{ "HygonGenuine", 0x900f02, "zen2", "", false },
		{ "AuthenticAMD", 0x830f10, "zen2", "", true },
		{ "AuthenticAMD", 0xa00f11, "zen3", "", true },
		{ "AuthenticAMD", 0xa20f10, "zen3", "", true },
		{ "AuthenticAMD", 0xa50f00, "zen3", "", true },
		{ "AuthenticAMD", 0xa10f11, "zen4", "", true },
		{ "AuthenticAMD", 0xa60f12, "zen4", "", true },
		{ "AuthenticAMD", 0xb00f21, "zen5", "", true },
		{ "AuthenticAMD", 0xb50f00, "zen5", "", false },            /* later */
	};
	const char *why;

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		struct host h = { .family = 0 };
		struct core_desc d;

		g_strlcpy(h.vendor, known[i].vendor, sizeof h.vendor);
		g_strlcpy(h.brand, known[i].brand, sizeof h.brand);
		host_signature(&h, known[i].signature);
		const char *core = host_parent(&h, &why);
		if (strcmp(core, known[i].core) || strcmp(why, known[i].same ? "the same core" : "the nearest of its vendor"))
			fail_msg("%s %#x, family %u model %u: %s, %s", h.vendor, known[i].signature, h.family, h.model, core, why);
		assert_int_equal(core_desc_load(&d, core), 0);
		assert_string_equal(d.isa, "x86-64");
	}
	assert_string_equal(host_parent(&(struct host){ .vendor = "CentaurHauls", .family = 6, .model = 42 }, &why), "skylake-sp");
	assert_string_equal(why, "the default for x86-64: nothing shipped is like it");
}

static void findings_know_their_ranges(void **state)
{
	struct core_desc parent;
	struct findings *f;
	struct estimate e = estimate_exact(13.6), noisy = { .value = 20, .noisy = true };

	assert_int_equal(core_desc_load(&parent, "skylake-sp"), 0);
	f = findings_new(&parent);
	findings_add(f, "a latency", "cycles", e, "l2.latency", e.value, "at %d KiB", 512);
	findings_add(f, "too noisy", "cycles", noisy, "llc.latency", 20, NULL);
	findings_add(f, "too large", "ns", estimate_exact(1e6), "dram.latency_ns", 1e6, "of a kind");
	findings_add(f, "not a number", "ns", estimate_exact(1), "dram.cas_ns", 0.0 / 0.0, NULL);
	findings_add(f, "for the reader", "ns", e, NULL, 0, NULL);
	findings_leave(f, "not there", "rob.entries", "no step up to %d", 600);
	assert_int_equal(findings_count(f), 6);
	assert_int_equal(findings_of(f, "l2.latency")->value, 14);
	assert_string_equal(findings_of(f, "l2.latency")->note, "at 512 KiB");
	assert_null(findings_of(f, "llc.latency"));
	assert_string_equal(findings_at(f, 1)->note, "too noisy, left to the parent");
	assert_true(findings_at(f, 2)->left);
	assert_string_equal(findings_at(f, 2)->note, "of a kind; 1000000 is outside 0 to 10000, left to the parent");
	assert_true(findings_at(f, 3)->left);
	assert_false(findings_at(f, 4)->left);
	assert_string_equal(findings_at(f, 5)->note, "no step up to 600");
	assert_int_equal(findings_param(f, "l2.latency"), 14);
	assert_int_equal(findings_param(f, "llc.latency"), parent.llc_latency);
	findings_free(f);
}

/* A store across lines costs half a cycle: whichever side of it is measured, the parent's 0 or 1 stays; and so behind a deduction. */
static void halfway_the_parents_stays(void **state)
{
	for (int32_t parents = 0; parents <= 2; parents++) {
		for (int more = 0; more <= 1; more++) {
			struct estimate e = { .value = 0.49 + 0.02 * more, .low = 0.48, .high = 0.52, .agreeing = 9, .samples = 10 };
			struct core_desc parent;
			struct findings *f;

			assert_int_equal(core_desc_load(&parent, "zen5"), 0);
			parent.split_line_store = parents;
			parent.fence_latency = 69 + parents;
			f = findings_new(&parent);
			findings_add(f, "store across lines", "cycles", e, "split.line_store", e.value, "beyond another");
			findings_add(f, "fence", "cycles", e, "fence.latency", 69 + e.value, NULL);
			assert_int_equal(findings_param(f, "split.line_store"), parents < 2 ? parents : more);
			assert_int_equal(findings_param(f, "fence.latency"), 69 + (parents < 2 ? parents : more));
			assert_string_equal(findings_at(f, 0)->note,
				parents == !more ? "beyond another; halfway between 0 and 1: the parent's" : "beyond another");
			assert_false(findings_at(f, 0)->left);
			findings_free(f);
		}
	}
}

/* A description of findings alone reads back: what was found, what was not, and where each is from. */
static void a_description_reads_back(void **state)
{
	char *dir = g_dir_make_tmp("calibrate.XXXXXX", NULL), *core = g_build_filename(dir, "mine.core", NULL);
	char *costs = g_build_filename(dir, "mine.costs", NULL);
	struct estimate e = { 13.6, 13.5, 13.7, 100, 240, false };
	struct parent p;
	struct written w = { .version = "0.0", .host = &host, .parent = &p, .core = "skylake-sp", .why = "a test" };
	struct findings *f;
	struct core_desc d;
	struct costs *read;

	assert_int_equal(parent_init(&p, "skylake-sp"), 0);
	f = findings_new(&p.desc);
	findings_add(f, "load to use, L2", "cycles", e, "l2.latency", e.value, NULL);
	findings_add(f, "clock", "MHz", estimate_exact(2700), "clock.mhz", 2700, "of some kind");
	findings_add(f, "seen", "things", e, NULL, 0, NULL);
	findings_leave(f, "reorder buffer", "rob.entries", "no step");
	w.findings = f;
	assert_int_equal(write_description(&w, core), 0);
	assert_int_equal(core_desc_load(&d, core), 0);
	assert_string_equal(d.name, "mine");
	assert_string_equal(d.title, "A processor  of some name, family 6 model 85, measured");
	assert_int_equal(d.l2_latency, 14);
	assert_int_equal(d.clock_mhz, 2700);
	assert_int_equal(d.rob_entries, p.desc.rob_entries);
	assert_string_equal(d.costs_path, costs);
	assert_string_equal(core_desc_source(&d, "l2.latency"),
	                    "Measured: load to use, L2: 13.60 cycles (13.50 to 13.70, 100 of 240 samples). The parent says 14.");
	assert_string_equal(core_desc_source(&d, "rob.entries"), core_desc_source(&p.desc, "rob.entries"));
	assert_int_equal(costs_new(&read, d.costs_path, d.port_names, d.unit_names), 0);
	costs_free(read);
	assert_int_not_equal(write_description(&w, "/no/such/directory/x.core"), 0);
	assert_string_equal(error_get()->what, "/no/such/directory/x.costs");
	findings_free(f);
	parent_fini(&p);
	g_remove(core);
	g_remove(costs);
	g_rmdir(dir);
	g_free(core);
	g_free(costs);
	g_free(dir);
}

static void latencies_to_write(void **state)
{
	struct insn insn = { .latency = 4 };
	struct form form = { .insn = &insn, .has_latency = true, .single = true, .parent_latency = 4, .latency = { .value = 2.98 } };

	assert_int_equal(write_latency(&form), 3);
	form.latency.value = 3.7;              /* the parent's 4 */
	assert_int_equal(write_latency(&form), -1);
	form.latency.value = 6.1;
	assert_int_equal(write_latency(&form), 6);
	form.latency.value = 4.6;
	assert_int_equal(write_latency(&form), 5);
	form.latency = (struct estimate){ .value = 4.51, .low = 4.49, .high = 4.53 }; /* halfway: the parent's */
	assert_int_equal(write_latency(&form), -1);
	form.latency = (struct estimate){ .value = 4.6 };
	form.single = false;                   /* half a cycle of it may be the way back's */
	assert_int_equal(write_latency(&form), -1);
	form.latency.value = 5.5;
	assert_int_equal(write_latency(&form), 6);
	form.single = true;
	form.latency.value = 6.1;
	form.parent_latency = 8;               /* of a chain through something else */
	assert_int_equal(write_latency(&form), 2);
	form.latency.value = 0.2;              /* eliminated */
	assert_int_equal(write_latency(&form), -1);
	form.latency.value = 20;
	form.latency.noisy = true;
	assert_int_equal(write_latency(&form), -1);
	form.latency.noisy = false;
	form.has_latency = false;
	assert_int_equal(write_latency(&form), -1);
}

static void loads_to_write(void **state)
{
	struct insn insn = { .load_extra = 1 };
	struct form base = { .insn = &insn, .has_latency = true, .load = true, .parent_latency = 5, .latency = { .value = 4.02 } };
	struct form form = { .insn = &insn, .has_latency = true, .load = true, .parent_latency = 6, .latency = { .value = 7.1 } };

	assert_int_equal(write_load_extra(&form, &base), 3); /* two cycles later than the parent says, base one earlier */
	assert_int_equal(write_latency(&form), -1);
	form.latency.value = 4.9;
	assert_int_equal(write_load_extra(&form, &base), -1);
	form.latency.value = 5.55;             /* half a cycle later: as above */
	assert_int_equal(write_load_extra(&form, &base), -1);
	form.single = true;
	assert_int_equal(write_load_extra(&form, &base), 2);
	form.latency.low = form.latency.high = 5.55;
	base.latency.low = 4.02;
	base.latency.high = 4.06;              /* as little as 0.49 later: the parent's */
	assert_int_equal(write_load_extra(&form, &base), -1);
	form.single = false;
	form.latency.value = 4.1;
	assert_int_equal(write_load_extra(&form, &base), 0);
	form.latency.value = 3;
	assert_int_equal(write_load_extra(&form, &base), -1);
	form.latency.value = 9;
	assert_int_equal(write_load_extra(&form, NULL), -1);
	base.latency.noisy = true;
	assert_int_equal(write_load_extra(&form, &base), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents),
		cmocka_unit_test(findings_know_their_ranges),
		cmocka_unit_test(halfway_the_parents_stays),
		cmocka_unit_test(a_description_reads_back),
		cmocka_unit_test(latencies_to_write),
		cmocka_unit_test(loads_to_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
