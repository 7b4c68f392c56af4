/*
 * Core descriptions: what is shipped, every error with its message, setting, scaling and idealising, inheritance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/params.h"

/* A directory of its own for each test: DIR/cores is where $CYCLEWISE_DATA points. */
static char *dir;

static int set_up(void **state)
{
	char *cores;

	dir = g_dir_make_tmp("cyclewise-XXXXXX", NULL);
	cores = g_build_filename(dir, "cores", NULL);
	g_mkdir(cores, 0700);
	g_free(cores);
	g_setenv("CYCLEWISE_DATA", dir, TRUE);
	return dir ? 0 : -1;
}

static int tear_down(void **state)
{
	char *cores = g_build_filename(dir, "cores", NULL), *path;
	GDir *d = g_dir_open(cores, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		path = g_build_filename(cores, name, NULL);
		g_unlink(path);
		g_free(path);
	}
	if (d)
		g_dir_close(d);
	g_rmdir(cores);
	g_rmdir(dir);
	g_free(cores);
	g_free(dir);
	g_unsetenv("CYCLEWISE_DATA");
	return 0;
}

/* The path of a core in DIR/cores; valid until the next call. */
static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/cores/%s.core", dir, name);
	return path;
}

static void write_core_bytes(const char *name, const char *text, gssize size)
{
	/*
	 * No sync to disk: there are thousands of these. Without it, GLib writes over what is there and leaves a longer
	 * tail.
	 */
	g_unlink(path_of(name));
	assert_true(g_file_set_contents_full(path_of(name), text, size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void write_core(const char *name, const char *text)
{
	write_core_bytes(name, text, -1);
}

/*
 * Loading `name` fails so; the error is about `file`, a core in DIR/cores, or about `file` as it stands where it has no
 * such file.
 */
static void assert_fails(const char *name, int code, const char *file, const char *why, const char *remedy)
{
	struct core_desc d;
	const struct error *e = error_get();

	assert_int_equal(core_desc_load(&d, name), -code);
	assert_string_equal(e->what, g_file_test(path_of(file), G_FILE_TEST_EXISTS) ? path_of(file) : file);
	assert_string_equal(e->why, why);
	assert_string_equal(e->remedy, remedy);
}

static void shipped_cores_load(void **state)
{
	static const char *const expected[] = { "alder-lake-p",
		                                "asplos06",
		                                "boom",
		                                "cascade-lake",
		                                "cortex-a72",
		                                "ice-lake",
		                                "neoverse-n1",
		                                "sandy-bridge",
		                                "sapphire-rapids",
		                                "skylake-sp",
		                                "skylake-x",
		                                "zen2",
		                                "zen3",
		                                "zen4",
		                                "zen5",
		                                NULL };
	char **names = core_desc_names();
	struct core_desc d;

	assert_true(g_strv_equal((const char *const *)names, expected));
	for (char **name = names; *name; name++) {
		assert_int_equal(core_desc_load(&d, *name), 0);
		assert_string_equal(d.name, *name);
		assert_true(*d.title && *d.leaves_out && *d.source && *d.cpu && *d.qemu_cpu && d.port_names[0]);
		assert_true(g_str_has_suffix(d.path, ".core"));
		assert_true(g_file_test(d.costs_path, G_FILE_TEST_EXISTS));
		assert_non_null(core_default_name(d.isa));
	}
	g_strfreev(names);
}

/* Parts a core lacks may leave the parameters of that part to their defaults. */
static bool part_is_absent(const struct core_desc *d, const char *param)
{
	const struct { const char *prefix; bool absent; } parts[] = {
		{ "uopcache.", !d->uopcache_sets }, { "l2.", !d->l2_size }, { "llc.", !d->llc_size },
		{ "branch.indirect_", !d->branch_indirect_entries }, { "rename.move_", !d->rename_move_slots },
		{ "load_queue.data_ports", !d->load_queue_data_ports },
		{ "rename.whole", !d->rename_whole }, { "rename.memory", !d->rename_memory },
		{ "forward.from_vector", !d->forward_from_vector }, { "forward.wide", !d->forward_wide },
		{ "prefetch.l1_stride", !d->prefetch_l1_stride },
		{ "prefetch.l2_stream", !d->prefetch_l2_stream }, { "repeat.", strcmp(d->isa, "x86-64") != 0 },
		{ "sched2.", !d->sched2_entries }, { "sched3.", !d->sched3_entries }, { "sched4.", !d->sched4_entries },
		{ "sched5.", !d->sched5_entries }, { "sched6.", !d->sched6_entries }, { "sched7.", !d->sched7_entries },
		{ "wide.", strcmp(d->isa, "x86-64") != 0 }, { "branch.taken_ports", !d->branch_taken_ports },
		{ "rename.stack_", !d->rename_stack_ports }, { "waiting.", !d->waiting_entries },
		{ "split.vector_ports", !d->split_vector_ports },
		{ "l1d.victim_ports", !d->l1d_victim_ports }, { "l1d.set_fill", !d->l1d_set_fill },
		{ "store_queue.merge_", !d->store_queue_merge_bytes },
		{ "store_queue.part_", !d->store_queue_merge_bytes },
		{ "forward.renamed_loads", !d->forward_renamed_loads },
		{ "load_queue.holds_entry", !d->load_queue_holds_entry }, { "forward.again", !d->forward_again },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (g_str_has_prefix(param, parts[i].prefix) && parts[i].absent)
			return true;
	return false;
}

static void every_figure_has_a_source(void **state)
{
	char **names = core_desc_names();
	struct core_desc d;

	for (char **name = names; *name; name++) {
		assert_int_equal(core_desc_load(&d, *name), 0);
		for (int i = 0; i < NR_CORE_PARAMS; i++) {
			const char *source = core_desc_source(&d, core_params[i].name);

			if ((!source && !part_is_absent(&d, core_params[i].name)) || (source && !*source))
				fail_msg("%s: %s has no source", *name, core_params[i].name);
		}
	}
	g_strfreev(names);
}

/* Ref: TEA, table 2. */
/* How many of the files that are shipped have a line that sets the parameter to another value than its default. */
static unsigned set_by(int param, char *const *names)
{
	const char *dot = strchr(core_params[param].name, '.');
	char *group = g_strdup_printf("[%.*s]", (int)(dot - core_params[param].name), core_params[param].name);
	char *key = g_strconcat(dot + 1, " = ", NULL);
	unsigned nr = 0;

	for (; *names; names++) {
		struct core_desc d;
		bool inside = false, sets = false;
		char *text, **lines;
		int32_t value;

		assert_int_equal(core_desc_load(&d, *names), 0);
		memcpy(&value, (const char *)&d + core_params[param].offset, sizeof value);
		assert_true(g_file_get_contents(d.path, &text, NULL, NULL));
		lines = g_strsplit(text, "\n", -1);
		for (char **line = lines; *line; line++) {
			inside = **line == '[' ? !strcmp(*line, group) : inside;
			sets |= inside && g_str_has_prefix(*line, key);
		}
		nr += sets && value != core_params[param].def;
		g_strfreev(lines);
		g_free(text);
	}
	g_free(group);
	g_free(key);
	return nr;
}

/* What fewer than three cores want says what it is kept for, on a line. */
static void what_is_rare_is_kept_for_something(void **state)
{
	char **names = core_desc_names();

	for (int i = 0; i < NR_CORE_PARAMS; i++) {
		size_t length = strlen(core_params[i].kept_for);

		if (set_by(i, names) < 3 ? !length : length)
			fail_msg("%s is set by %u cores, and says \"%s\"", core_params[i].name, set_by(i, names),
			         core_params[i].kept_for);
		assert_in_range(length, 0, 120);
	}
	g_strfreev(names);
}

static void boom_is_table_2(void **state)
{
	struct core_desc d;

	assert_int_equal(core_desc_load(&d, "boom"), 0);
	assert_int_equal(d.clock_mhz, 3200);
	assert_int_equal(d.fetch_width, 8);
	assert_int_equal(d.fetch_queue, 48);
	assert_int_equal(d.fetch_packets, 60);
	assert_int_equal(d.decode_width, 4);
	assert_string_equal(d.predictor, "tage");
	assert_int_equal(d.branch_in_flight, 30);
	assert_int_equal(d.rob_entries, 192);
	assert_int_equal(d.prf_integer, 192);
	assert_int_equal(d.prf_vector, 192);
	assert_int_equal(d.sched0_entries, 48);
	assert_int_equal(__builtin_popcount((unsigned)d.sched0_ports), 2);
	assert_int_equal(d.sched1_entries, 80);
	assert_int_equal(__builtin_popcount((unsigned)d.sched1_ports), 4);
	assert_int_equal(d.sched2_entries, 48);
	assert_int_equal(__builtin_popcount((unsigned)d.sched2_ports), 2);
	assert_int_equal(d.load_queue_entries, 64);
	assert_int_equal(d.store_queue_entries, 64);
	assert_int_equal(d.l1i_size, 32768);
	assert_int_equal(d.l1i_ways, 8);
	assert_int_equal(d.l1d_size, 32768);
	assert_int_equal(d.l1d_ways, 8);
	assert_int_equal(d.l1d_mshrs, 16);
	assert_int_equal(d.prefetch_l1_next, 2);
	assert_int_equal(d.l2_size, 0);
	assert_int_equal(d.llc_size, 2 << 20);
	assert_int_equal(d.llc_ways, 16);
	assert_int_equal(d.llc_bandwidth, 32);
	assert_int_equal(d.llc_mshrs, 12);
	assert_int_equal(d.itlb_entries, 32);
	assert_int_equal(d.itlb_ways, 32);
	assert_int_equal(d.dtlb_entries, 32);
	assert_int_equal(d.dtlb_ways, 32);
	assert_int_equal(d.stlb_entries, 1024);
	assert_int_equal(d.stlb_ways, 1);
	assert_int_equal(d.dram_bandwidth, 16000);
	assert_int_equal(d.dram_cas_ns, 14);
	assert_int_equal(d.dram_rcd_ns, 14);
	assert_int_equal(d.dram_rp_ns, 14);
	assert_int_equal(d.dram_reads, 32);
	assert_int_equal(d.dram_writes, 32);
	/* What has no parameter stands in the text. */
	assert_non_null(strstr(core_desc_source(&d, "branch.tage"), "28 KB"));
	assert_non_null(strstr(d.leaves_out, "64 SDQ/RPQ"));
	assert_non_null(strstr(d.leaves_out, "queue depth of 8"));
	assert_non_null(strstr(core_desc_source(&d, "dram.reads"), "16 GB"));
}

/* QEMU must know the CPU, and not warn of features it cannot emulate: the user would see that on every run. */
static void qemu_knows_the_cpus(void **state)
{
	char **names = core_desc_names();
	struct core_desc d;
	unsigned tried = 0;

	for (char **name = names; *name; name++) {
		const char *argv[] = { "qemu-x86_64", "-cpu", NULL, "/bin/true", NULL };
		char *err = NULL;
		int status = -1;

		assert_int_equal(core_desc_load(&d, *name), 0);
		argv[2] = d.qemu_cpu;
		if (strcmp(d.isa, "x86-64") || !g_file_test("/bin/true", G_FILE_TEST_IS_EXECUTABLE))
			continue;
		if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &err, &status,
		                  NULL))
			break;
		assert_string_equal(err, "");
		assert_int_equal(status, 0);
		g_free(err);
		tried++;
	}
	g_strfreev(names);
	if (!tried)
		skip();
}

static void a_value_replaces_the_default(void **state)
{
	struct core_desc d;

	write_core("small", "[core]\ntitle = Small\nports = a b c\nunits = div\nqemu_cpu = max,a=off,\n\tb=off\n"
		"leaves_out = one\n\tthing;\n\tanother\nsource = a book\n"
		"# the group's\n[rob]\nentries = 40\n"
		"[sched0]\n# the key's\n# source\nentries = 0x10\nports = c a\n"
		"[l1d]\nsize = 16K\nreplacement = random\n");
	assert_int_equal(core_desc_load(&d, "small"), 0);
	assert_string_equal(d.name, "small");
	assert_string_equal(d.title, "Small");
	assert_string_equal(d.path, path_of("small"));
	assert_string_equal(d.leaves_out, "one thing\nanother");
	assert_string_equal(d.source, "a book");
	assert_string_equal(d.qemu_cpu, "max,a=off,b=off");
	assert_string_equal(d.costs_path, "");
	assert_int_equal(d.rob_entries, 40);
	assert_int_equal(d.sched0_entries, 16);
	assert_int_equal(d.sched0_ports, 5);
	assert_int_equal(d.l1d_size, 16384);
	assert_string_equal(d.l1d_replacement, "random");
	assert_int_equal(d.l1d_ways, 8);
	assert_string_equal(d.port_names[2], "c");
	assert_null(d.port_names[3]);
	assert_string_equal(d.unit_names[0], "div");
	assert_string_equal(core_desc_source(&d, "rob.entries"), "the group's");
	assert_string_equal(core_desc_source(&d, "sched0.entries"), "the key's source");
	assert_string_equal(core_desc_source(&d, "sched0.ports"), "the key's source");
	assert_string_equal(core_desc_source(&d, "l1d.replacement"), "");
	assert_null(core_desc_source(&d, "l1d.ways"));
	assert_null(core_desc_source(&d, "nonsense"));
}

static void a_path_is_a_name_too(void **state)
{
	struct core_desc d;

	write_core("there", "[rob]\nentries = 41\n");
	assert_int_equal(core_desc_load(&d, path_of("there")), 0);
	assert_string_equal(d.name, "there");
	assert_int_equal(d.rob_entries, 41);
}

/* Ports are names until the end: the child orders them anew, and the parent's sets follow. */
static void a_child_wins_over_its_parent(void **state)
{
	struct core_desc d;

	write_core("parent",
	           "[core]\nports = a b\ntitle = Parent\ncosts = parent.costs\n[rob]\n# parent's\nentries = 50\n"
	           "[sched0]\n# ports\nports = a\nentries = 7\n");
	write_core("child", "[core]\ninherit = parent\nports = x a b\n[rob]\n# child's\nentries = 60\n");
	write_core("grandchild", "[core]\ninherit = child\n[sched0]\nentries = 8\n");
	assert_int_equal(core_desc_load(&d, "grandchild"), 0);
	assert_string_equal(d.name, "grandchild");
	assert_string_equal(d.title, "Parent");
	assert_int_equal(d.rob_entries, 60);
	assert_string_equal(core_desc_source(&d, "rob.entries"), "child's");
	assert_int_equal(d.sched0_entries, 8);
	assert_int_equal(d.sched0_ports, 2);
	assert_string_equal(core_desc_source(&d, "sched0.ports"), "ports");
	assert_true(g_str_has_suffix(d.costs_path, "/cores/parent.costs"));
}

#define BIND_FORM "write it as KIND: PORTS; ..., KIND one of: count alternate spread turn pair; PORTS names, or all"

/* Groups of ports, in their order; a child gives them anew, and they are of its own ports. */
static void ports_are_bound(void **state)
{
	static const char groups[] = "alternate: b c; count : all;; spread: d,a;";
	struct core_desc d;

	char *text = g_strconcat("[core]\nports = a b c d\n[rename]\nbind = ", groups, "\n", NULL);
	write_core("all", text);
	g_free(text);
	assert_int_equal(core_desc_load(&d, "all"), 0);
	assert_string_equal(d.bind, groups);
	assert_int_equal(d.nr_binds, 3);
	assert_true(d.binds[0].kind == BIND_ALTERNATE && d.binds[0].ports == 6);
	assert_true(d.binds[1].kind == BIND_COUNT && d.binds[1].ports == 15);
	assert_true(d.binds[2].kind == BIND_SPREAD && d.binds[2].ports == 9);
	write_core("fewer", "[core]\ninherit = all\nports = d c b\n[rename]\nbind = turn: d b; pair: c d\n");
	assert_int_equal(core_desc_load(&d, "fewer"), 0);
	assert_int_equal(d.nr_binds, 2);
	assert_true(d.binds[0].kind == BIND_TURN && d.binds[0].ports == 5);
	assert_true(d.binds[1].kind == BIND_PAIR && d.binds[1].ports == 3);
	assert_int_equal(core_desc_set(&d, "rename.bind=count: all"), 0);
	assert_true(d.nr_binds == 1 && d.binds[0].kind == BIND_COUNT && d.binds[0].ports == 7);
	assert_int_equal(core_desc_set(&d, "rename.bind=none"), 0);
	assert_int_equal(d.nr_binds, 0);
}

static void files_that_are_wrong(void **state)
{
	char *place;

	write_core("key", "[rob]\nentires = 5\n");
	assert_fails("key", EINVAL, "key", "there is no parameter 'rob.entires'", "did you mean 'rob.entries'?");
	write_core("group", "[zzzzzz]\nqqqqqq = 5\n");
	assert_fails("group", EINVAL, "group", "there is no parameter 'zzzzzz.qqqqqq'",
	             "'cyclewise cores NAME' lists the parameters");
	write_core("large", "[rob]\nentries = 5000\n");
	assert_fails("large", EINVAL, "large", "rob.entries: 5000 is out of range", "it can be from 1 to 4096 slots");
	write_core("small", "[rob]\nentries = 0\n");
	assert_fails("small", EINVAL, "small", "rob.entries: 0 is out of range", "it can be from 1 to 4096 slots");
	write_core("word", "[rob]\nentries = many\n");
	assert_fails("word", EINVAL, "word", "rob.entries: 'many' is not a whole number", "");
	write_core("tail", "[rob]\nentries = 5 # five\n");
	assert_fails("tail", EINVAL, "tail", "rob.entries: '5 # five' is not a whole number", "");
	write_core("choice", "[l1d]\nreplacement = fifo\n");
	assert_fails("choice", EINVAL, "choice", "l1d.replacement: there is no 'fifo'",
	             "it can be one of: lru plru qlru random");
	write_core("isa", "[core]\nisa = mips\n");
	assert_fails("isa", EINVAL, "isa", "core.isa: there is no 'mips'", "it can be one of: x86-64 aarch64 riscv64");
	write_core("port", "[core]\nports = a b\n[sched0]\nports = a q\n");
	assert_fails("port", EINVAL, "port", "sched0.ports: 'q' is not a port", "the ports are: a b");
	write_core("noport", "[sched0]\nports = a\n");
	assert_fails("noport", EINVAL, "noport", "sched0.ports: 'a' is not a port", "the ports are: none (core.ports)");
	write_core("kind", "[core]\nports = a b\n[rename]\nbind = a b\n");
	assert_fails("kind", EINVAL, "kind", "rename.bind: 'a b' names no kind", BIND_FORM);
	write_core("bind", "[core]\nports = a b\n[rename]\nbind = turn: a b; cuont : a\n");
	assert_fails("bind", EINVAL, "bind", "rename.bind: there is no kind 'cuont'", BIND_FORM);
	write_core("bound", "[core]\nports = a b\n[rename]\nbind = turn: a q\n");
	assert_fails("bound", EINVAL, "bound", "rename.bind: 'q' is not a port", "the ports are: a b");
	write_core("nothing", "[core]\nports = a b\n[rename]\nbind = count: ; turn: a\n");
	assert_fails("nothing", EINVAL, "nothing", "rename.bind: 'count' has no ports", "");
	write_core("three", "[core]\nports = a b c\n[rename]\nbind = alternate: a b c\n");
	assert_fails("three", EINVAL, "three", "rename.bind: two ports alternate, not 'a b c'", "");
	write_core("pairs", "[core]\nports = a b c\n[rename]\nbind = pair: a b c\n");
	assert_fails("pairs", EINVAL, "pairs", "rename.bind: 'a b c' is an odd number of ports, which makes no pairs",
	             "in the order of core.ports, the first half of them is paired with the second");
	write_core("groups", "[core]\nports = a\n[rename]\n"
		"bind = turn:a;turn:a;turn:a;turn:a;turn:a;turn:a;turn:a;turn:a;turn:a\n");
	assert_fails("groups", EINVAL, "groups", "rename.bind: more than 8 groups", "");
	write_core("twice", "[core]\nports = a b a\n");
	assert_fails("twice", EINVAL, "twice", "core.ports: 'a' stands twice", "");
	write_core("ports", "[core]\nports = a b c d e f g h i j k l m n o p q\n");
	assert_fails("ports", EINVAL, "ports", "core.ports: more than 16 names", "");
	write_core("units", "[core]\nunits = a b c d e f g h i\n");
	assert_fails("units", EINVAL, "units", "core.units: more than 8 names", "");
	write_core("syntax", "rob entries = 5\n");
	assert_fails("syntax", EINVAL, "syntax", "not a core description: Key file does not start with a group", "");
	write_core("binary", "[rob]\nentries = \xff\xfe\n");
	place = g_strconcat(path_of("binary"), ":2:11", NULL);
	assert_fails("binary", EINVAL, place, "not text: a byte that is not UTF-8", "");
	g_free(place);
}

static void files_that_are_too_long(void **state)
{
	char *long_text = g_strnfill(5000, 'x'), *text = g_strconcat("[core]\ntitle = ", long_text, "\n", NULL);
	char *big = g_strnfill((1 << 20) + 1, '#');

	write_core("title", text);
	assert_fails("title", EINVAL, "title", "core.title: longer than 127 bytes", "");
	g_free(text);
	text = g_strconcat("[core]\nqemu_cpu = ", long_text, "\n", NULL);
	write_core("cpu", text);
	assert_fails("cpu", EINVAL, "cpu", "core.qemu_cpu: longer than 383 bytes", "");
	write_core("big", big);
	assert_fails("big", EFBIG, "big", "is larger than 1 MiB", "");
	g_free(big);
	g_free(text);
	g_free(long_text);
}

static void cores_that_are_not_there(void **state)
{
	struct core_desc d;

	assert_fails("boomm", ENOENT, "boomm", "there is no core 'boomm'", "did you mean 'boom'?");
	assert_int_equal(error_get()->status, EXIT_USAGE);
	assert_fails("", ENOENT, "core", "there is no core ''",
	             "the cores are: alder-lake-p, asplos06, boom, cascade-lake, cortex-a72, ice-lake, neoverse-n1, "
	             "sandy-bridge, sapphire-rapids, skylake-sp, skylake-x, zen2, zen3, zen4, zen5; a path needs a '/' "
	             "or ends in '.core'");
	assert_fails("/nowhere/x.core", ENOENT, "/nowhere/x.core", "No such file or directory", "");
	write_core("orphan", "[core]\ninherit = boon\n");
	assert_fails("orphan", ENOENT, "orphan", "there is no core 'boon'", "did you mean 'boom'?");
	write_core("self", "[core]\ninherit = self\n");
	assert_int_equal(core_desc_load(&d, "self"), -ELOOP);
	assert_string_equal(error_get()->what, path_of("self"));
	assert_true(g_str_has_prefix(error_get()->why, "core.inherit: inheritance runs in a circle through /"));
	write_core("one", "[core]\ninherit = two\n");
	write_core("two", "[core]\ninherit = one\n");
	assert_int_equal(core_desc_load(&d, "one"), -ELOOP);
	assert_string_equal(error_get()->what, path_of("two"));
	assert_true(g_str_has_suffix(error_get()->why, "/cores/one.core"));
}

static void setting(void **state)
{
	struct core_desc d;

	assert_int_equal(core_desc_load(&d, "skylake-sp"), 0);
	assert_int_equal(core_desc_set(&d, "rob.entries=512"), 0);
	assert_int_equal(d.rob_entries, 512);
	assert_string_equal(core_desc_source(&d, "rob.entries"), "--set rob.entries=512");
	assert_int_equal(core_desc_set(&d, "l1d.size=64K"), 0);
	assert_int_equal(d.l1d_size, 65536);
	assert_int_equal(core_desc_set(&d, "l2.size=2M"), 0);
	assert_int_equal(d.l2_size, 2097152);
	assert_int_equal(core_desc_set(&d, "sched1.ports=p2,p3"), 0);
	assert_int_equal(d.sched1_ports, 12);
	assert_int_equal(core_desc_set(&d, "sched1.ports=0xc0"), 0);
	assert_int_equal(d.sched1_ports, 0xc0);
	assert_int_equal(core_desc_set(&d, "l2.replacement=lru"), 0);
	assert_string_equal(d.l2_replacement, "lru");
	assert_int_equal(core_desc_set(&d, "branch.tage=256/4/8 256/8/9"), 0);
	assert_string_equal(d.tage, "256/4/8 256/8/9");
}

static void assert_option(int ret, const char *what, const char *why, const char *remedy)
{
	assert_int_equal(ret, -EINVAL);
	assert_string_equal(error_get()->what, what);
	assert_string_equal(error_get()->why, why);
	assert_string_equal(error_get()->remedy, remedy);
	assert_int_equal(error_get()->status, EXIT_USAGE);
}

static void setting_wrongly(void **state)
{
	struct core_desc d, before;

	assert_int_equal(core_desc_load(&d, "skylake-sp"), 0);
	before = d;
	assert_option(core_desc_set(&d, "rob.entires=512"), "--set rob.entires=512",
	              "there is no parameter 'rob.entires'", "did you mean 'rob.entries'?");
	assert_option(core_desc_set(&d, "rob=512"), "--set rob=512", "there is no parameter 'rob'",
	              "did you mean 'rob.entries'?");
	assert_option(core_desc_set(&d, "rob.entries"), "--set rob.entries", "not an assignment",
	              "write it as --set GROUP.NAME=VALUE");
	assert_option(core_desc_set(&d, "rob.entries="), "--set rob.entries=", "not an assignment",
	              "write it as --set GROUP.NAME=VALUE");
	assert_option(core_desc_set(&d, "=5"), "--set =5", "not an assignment", "write it as --set GROUP.NAME=VALUE");
	assert_option(core_desc_set(&d, "rob.entries=4097"), "--set rob.entries=4097",
	              "rob.entries: 4097 is out of range", "it can be from 1 to 4096 slots");
	assert_option(core_desc_set(&d, "rob.entries=99999999999999999999"), "--set rob.entries=99999999999999999999",
		"rob.entries: '99999999999999999999' is not a whole number", "");
	assert_option(core_desc_set(&d, "rob.entries=1.5"), "--set rob.entries=1.5",
	              "rob.entries: '1.5' is not a whole number", "");
	assert_option(core_desc_set(&d, "core.isa=riscv64"), "--set core.isa=riscv64",
		"core.isa says which core this is, and cannot be set",
		"write a core description that inherits from 'skylake-sp', and give its path to --core");
	assert_option(core_desc_set(&d, "l2.replacement=best"), "--set l2.replacement=best",
	              "l2.replacement: there is no 'best'", "it can be one of: lru plru qlru random");
	assert_memory_equal(&d, &before, sizeof d);
}

static void scaling(void **state)
{
	struct core_desc d;

	assert_int_equal(core_desc_load(&d, "skylake-sp"), 0);
	assert_int_equal(core_desc_scale(&d, "rob.entries=0.5"), 0);
	assert_int_equal(d.rob_entries, 112);
	assert_string_equal(core_desc_source(&d, "rob.entries"), "--scale rob.entries=0.5");
	assert_int_equal(core_desc_scale(&d, "l1d.latency=0.5"), 0);
	assert_int_equal(d.l1d_latency, 3); /* 2.5, to nearest, halves up */
	assert_int_equal(core_desc_scale(&d, "rob.entries=1e9"), 0);
	assert_int_equal(d.rob_entries, 4096);
	assert_int_equal(core_desc_scale(&d, "rob.entries=0"), 0);
	assert_int_equal(d.rob_entries, 1);
	assert_option(core_desc_scale(&d, "dram=0.5"), "--scale dram=0.5", "there is no parameter 'dram'",
	              "did you mean 'dram.latency_ns'?");
	assert_option(core_desc_scale(&d, "rob.entries=fast"), "--scale rob.entries=fast", "'fast' is not a factor",
		"give a number from 0 up, such as 0.5");
	assert_option(core_desc_scale(&d, "rob.entries=-1"), "--scale rob.entries=-1", "'-1' is not a factor",
		"give a number from 0 up, such as 0.5");
	assert_option(core_desc_scale(&d, "rob.entries=inf"), "--scale rob.entries=inf", "'inf' is not a factor",
		"give a number from 0 up, such as 0.5");
	assert_option(core_desc_scale(&d, "sched0.ports=2"), "--scale sched0.ports=2",
	              "sched0.ports is not a quantity, and cannot be scaled", "use --set");
	assert_option(core_desc_scale(&d, "llc.victim=2"), "--scale llc.victim=2",
	              "llc.victim is not a quantity, and cannot be scaled", "use --set");
	assert_option(core_desc_scale(&d, "branch.tage=2"), "--scale branch.tage=2",
	              "branch.tage is not a number, and cannot be scaled", "");
	assert_option(core_desc_scale(&d, "rob.entries"), "--scale rob.entries", "not an assignment",
	              "write it as --scale GROUP.NAME=FACTOR");
}

static void idealising(void **state)
{
	struct core_desc d;

	assert_int_equal(core_desc_load(&d, "skylake-sp"), 0);
	assert_false(d.ideal.l1d || d.ideal.branch);
	assert_int_equal(core_desc_ideal(&d, "l1d,branch"), 0);
	assert_true(d.ideal.l1d && d.ideal.branch);
	assert_false(d.ideal.l1i || d.ideal.l2i || d.ideal.itlb || d.ideal.l2d || d.ideal.dtlb);
	assert_option(core_desc_ideal(&d, "dtlb,brunch"), "--ideal", "there is no part 'brunch' in 'dtlb,brunch'",
		"did you mean 'branch'? The parts are: l1i, l2i, itlb, l1d, l2d, dtlb, branch");
	assert_false(d.ideal.dtlb);
	assert_option(core_desc_ideal(&d, ""), "--ideal", "there is no part '' in ''",
		"the parts are: l1i, l2i, itlb, l1d, l2d, dtlb, branch");
	assert_option(core_desc_ideal(&d, "l1i,"), "--ideal", "there is no part '' in 'l1i,'",
		"the parts are: l1i, l2i, itlb, l1d, l2d, dtlb, branch");
	assert_false(d.ideal.l1i);
	assert_false(core_desc_idealise(&d, &(struct core_ideal){ .branch = true }));
	assert_true(core_desc_idealise(&d, &(struct core_ideal){ .branch = true, .itlb = true }));
	assert_true(d.ideal.l1d && d.ideal.branch && d.ideal.itlb && !d.ideal.l1i);
}

/* Sensitivity and what-if copy a description and change the copy. */
static void copies_stand_alone(void **state)
{
	struct core_desc *d = g_new(struct core_desc, 1), copy;

	assert_int_equal(core_desc_load(d, "boom"), 0);
	copy = *d;
	memset(d, 0xa5, sizeof *d);
	g_free(d);
	assert_string_equal(copy.port_names[0], "mem0");
	assert_string_equal(copy.unit_names[1], "fdiv");
	assert_int_equal(core_desc_set(&copy, "sched0.ports=mem1"), 0);
	assert_int_equal(copy.sched0_ports, 2);
}

static void defaults_lie_in_their_ranges(void **state)
{
	assert_int_equal(nr_core_params, NR_CORE_PARAMS);
	for (int i = 0; i < NR_CORE_PARAMS; i++) {
		assert_in_range(core_params[i].def - core_params[i].min, 0, core_params[i].max - core_params[i].min);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(core_params[i].name, core_params[k].name);
	}
}

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/*
 * Shipped descriptions with bytes changed, left out and doubled: an error or a core within its ranges, never a
 * crash.
 */
static void random_files(void **state)
{
	enum { CORES = 64 };
	char **names = core_desc_names(), *text[CORES];
	gsize size[CORES];
	uint32_t x = 2463534242u;
	unsigned nr = 0, loaded = 0, failed = 0;

	for (; names[nr]; nr++) {
		struct core_desc d;

		assert_true(nr < CORES);
		assert_int_equal(core_desc_load(&d, names[nr]), 0);
		assert_true(g_file_get_contents(d.path, &text[nr], &size[nr], NULL));
	}
	for (int round = 0; round < 1500; round++) {
		unsigned which = next_random(&x) % nr;
		GString *s = g_string_new_len(text[which], (gssize)size[which]);
		struct core_desc d;

		for (unsigned edits = next_random(&x) % 4; edits; edits--) {
			gsize at = next_random(&x) % s->len;

			switch (next_random(&x) % 4) {
			case 0:
				s->str[at] = (char)next_random(&x);
				break;
			case 1:
				s->str[at] = "0123456789=[]#;\n\t "[next_random(&x) % 18];
				break;
			case 2: {
				gsize length = next_random(&x) % 40;

				g_string_erase(s, (gssize)at, (gssize)MIN(length, s->len - at));
				break;
			}
			default:
				g_string_insert_len(s, (gssize)at, text[which], (gssize)(next_random(&x) % 60));
			}
		}
		write_core_bytes("random", s->str, (gssize)s->len);
		g_string_free(s, TRUE);
		if (core_desc_load(&d, "random")) {
			assert_true(*error_get()->why);
			failed++;
			continue;
		}
		loaded++;
		for (int i = 0; i < NR_CORE_PARAMS; i++) {
			int32_t v = *(const int32_t *)(const void *)((const char *)&d + core_params[i].offset);

			assert_true(v >= core_params[i].min && v <= core_params[i].max);
		}
	}
	assert_true(loaded > 100 && failed > 100);
	for (unsigned i = 0; i < nr; i++)
		g_free(text[i]);
	g_strfreev(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_cores_load),
		cmocka_unit_test(every_figure_has_a_source),
		cmocka_unit_test(what_is_rare_is_kept_for_something),
		cmocka_unit_test(boom_is_table_2),
		cmocka_unit_test(qemu_knows_the_cpus),
		cmocka_unit_test_setup_teardown(a_value_replaces_the_default, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_path_is_a_name_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_child_wins_over_its_parent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ports_are_bound, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_that_are_wrong, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_that_are_too_long, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cores_that_are_not_there, set_up, tear_down),
		cmocka_unit_test(setting),
		cmocka_unit_test(setting_wrongly),
		cmocka_unit_test(scaling),
		cmocka_unit_test(idealising),
		cmocka_unit_test(copies_stand_alone),
		cmocka_unit_test(defaults_lie_in_their_ranges),
		cmocka_unit_test_setup_teardown(random_files, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
