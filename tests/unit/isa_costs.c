/* The reader of cost files: what it takes, and the line it names where it does not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>

#include "base/error.h"
#include "isa/costs.h"

static const char *const ports[] = { "p0", "p1", "p5", "mem0", "mem1", "b", NULL }, *const units[] = { "div", NULL };

static int read_text(struct costs **costs, const char *text, char **path)
{
	int fd = g_file_open_tmp("costs-XXXXXX", path, NULL);
	int ret;

	assert_true(fd >= 0);
	close(fd);
	assert_true(g_file_set_contents(*path, text, -1, NULL));
	ret = costs_new(costs, *path, ports, units);
	g_unlink(*path);
	return ret;
}

static struct costs *must_read(const char *text)
{
	struct costs *costs;
	char *path;

	if (read_text(&costs, text, &path))
		fail_msg("%s: %s", error_get()->what, error_get()->why);
	g_free(path);
	return costs;
}

static void reads_uops(void **state)
{
	struct costs *costs = must_read("# head\n\n[ADD*]\n  uops = 2*p05 > mem01:4/div*17 b|p1\nlatency=9\nslots = 3\nindexed_decode = 2\nsource = x\n");
	struct cost c;

	(void)state;
	costs_find(costs, "ADD64rr", &c);
	assert_int_equal(c.set, COST_UOPS | COST_LATENCY | COST_SLOTS | COST_INDEXED_DECODE);
	assert_int_equal(c.indexed_decode, 2);
	assert_int_equal(c.nr_uops, 4);
	assert_true(c.staged);
	assert_int_equal(c.uops[0].ports, 1 | 4);
	assert_memory_equal(&c.uops[0], &c.uops[1], sizeof c.uops[0]);
	assert_int_equal(c.uops[2].ports, 8 | 16);
	assert_int_equal(c.uops[2].stage, 1);
	assert_int_equal(c.uops[2].latency, 4);
	assert_int_equal(c.uops[2].unit, 1);
	assert_int_equal(c.uops[2].busy, 17);
	assert_int_equal(c.uops[3].ports, 2 | 32);
	assert_int_equal(c.latency, 9);
	assert_int_equal(c.slots, 3);
	costs_find(costs, "SUB64rr", &c);
	assert_int_equal(c.set, 0);
	costs_free(costs);
}

static void later_sections_override(void **state)
{
	struct costs *costs = must_read("[A*\n\t!AB]\nlatency = 1\nresults = 1 2\nflags = flush long\nsource = x\n"
					"[AC AC.slow]\nlatency = 7\nuops = none\nflags = -flush fence\nlate = 0 0 4\nbypass = 3\nreads_flags = 0\nstd = result\nends_dispatch = 1\nqueued = 1\nsource = y\n"
					"[AE AF]\nstd = result\nsource = z\n[AF]\nstd = p0\nsource = z\n");
	struct cost c;

	(void)state;
	costs_find(costs, "AB", &c);
	assert_int_equal(c.set, 0);
	costs_find(costs, "AD", &c);
	assert_int_equal(c.latency, 1);
	assert_int_equal(c.flags_on, INSN_FLUSH | INSN_LONG);
	costs_find(costs, "AC.slow", &c);
	assert_int_equal(c.latency, 7);
	assert_int_equal(c.nr_uops, 0);
	assert_true(c.set & COST_UOPS);
	assert_int_equal(c.nr_results, 2);
	assert_int_equal(c.results[1], 2);
	assert_int_equal(c.late[2], 4);
	assert_int_equal(c.bypass, 3);
	assert_true(c.set & COST_READS_FLAGS && !c.reads_flags);
	assert_true(c.set & COST_STD && c.std_result);
	assert_true(c.set & COST_ENDS_DISPATCH && c.ends_dispatch);
	assert_true(c.set & COST_QUEUED && c.queued);
	assert_int_equal(c.flags_on, INSN_LONG | INSN_FENCE);
	assert_int_equal(c.flags_off, INSN_FLUSH);
	costs_find(costs, "AE", &c);
	assert_true(c.std_result && !c.std);
	costs_find(costs, "AF", &c);
	assert_true(!c.std_result && c.std);
	costs_free(costs);
}

static void reads_the_core(void **state)
{
	struct costs *costs = must_read("[ports]\nX = p0 p1\nX = b\n[units]\nD = div\n[core]\nload = mem01\nload_vector = p1\nstd = none\nload_latency = 5\nplaceholder = 100\nlong_address = 1\n");
	uint16_t set;
	uint8_t unit;

	(void)state;
	costs_resource(costs, "X", &set, &unit);
	assert_int_equal(set, 1 | 2 | 32);
	assert_int_equal(unit, 0);
	costs_resource(costs, "D", &set, &unit);
	assert_int_equal(unit, 1);
	costs_resource(costs, "Y", &set, &unit);
	assert_int_equal(set, 0);
	assert_int_equal(costs_core(costs)->load, 8 | 16);
	assert_int_equal(costs_core(costs)->load_vector, 2);
	assert_int_equal(costs_core(costs)->std, 0);
	assert_int_equal(costs_core(costs)->load_latency, 5);
	assert_int_equal(costs_core(costs)->placeholder, 100);
	assert_int_equal(costs_core(costs)->long_address, 1);
	costs_free(costs);
}

/* Two files side by side: what the second says, or inherits from the first. */
static void inherits(void **state)
{
	g_autofree char *dir = g_dir_make_tmp("costs-XXXXXX", NULL), *parent = g_build_filename(dir, "parent.costs", NULL);
	g_autofree char *child = g_build_filename(dir, "child.costs", NULL), *circle = g_build_filename(dir, "circle.costs", NULL);
	struct costs *costs;
	struct cost c;
	uint16_t set;
	uint8_t unit;

	(void)state;
	assert_true(g_file_set_contents(parent, "[ports]\nA = p0\n[units]\nD = div\n[core]\nload = p0\nsta = p1\n"
		"[AC AD]\nlatency = 1\nslots = 2\nsource = x\n", -1, NULL));
	assert_true(g_file_set_contents(child, "# a child\ninherit = parent.costs\n[ports]\nB = p1\n[core]\nload = p5\n[AC]\nlatency = 7\nsource = y\n",
		-1, NULL));
	assert_int_equal(costs_new(&costs, child, ports, units), 0);
	assert_int_equal(costs_core(costs)->load, 4);
	assert_int_equal(costs_core(costs)->sta, 2);
	costs_find(costs, "AC", &c);
	assert_int_equal(c.latency, 7);
	assert_int_equal(c.slots, 2);
	costs_find(costs, "AD", &c);
	assert_int_equal(c.latency, 1);
	costs_resource(costs, "B", &set, &unit);
	assert_int_equal(set, 2);
	/* Resources are those of one LLVM model: a file that names any inherits none, units included. */
	costs_resource(costs, "A", &set, &unit);
	assert_int_equal(set, 0);
	costs_resource(costs, "D", &set, &unit);
	assert_int_equal(unit, 0);
	costs_free(costs);

	/* Ports of the parent's alone are left out of its sets; of one's own they are an error. */
	assert_true(g_file_set_contents(parent, "[core]\nload = p0|pipe\nsta = pipe\n", -1, NULL));
	assert_int_equal(costs_new(&costs, child, ports, units), 0);
	assert_int_equal(costs_core(costs)->load, 4);
	assert_int_equal(costs_core(costs)->sta, 0);
	costs_free(costs);
	assert_int_equal(costs_new(&costs, parent, ports, units), -EINVAL);
	assert_string_equal(error_get()->why, "no port or port set is called 'pipe'");

	/* An error is the parent's, in its own line. */
	assert_true(g_file_set_contents(parent, "[core]\nloads = p0\n", -1, NULL));
	assert_int_equal(costs_new(&costs, child, ports, units), -EINVAL);
	assert_true(g_str_has_suffix(error_get()->what, "/parent.costs:2"));
	assert_true(g_file_set_contents(circle, "inherit = circle.costs\n", -1, NULL));
	assert_int_equal(costs_new(&costs, circle, ports, units), -EINVAL);
	assert_non_null(strstr(error_get()->why, "in a circle"));
	assert_true(g_file_set_contents(circle, "inherit = nowhere.costs\n", -1, NULL));
	assert_int_equal(costs_new(&costs, circle, ports, units), -ENOENT);
	/* A file has one parent: with more, each generation would multiply what is read. */
	assert_true(g_file_set_contents(parent, "", -1, NULL));
	assert_true(g_file_set_contents(circle, "inherit = parent.costs\n\n  inherit =  circle.costs\n", -1, NULL));
	assert_int_equal(costs_new(&costs, circle, ports, units), -EINVAL);
	assert_true(g_str_has_suffix(error_get()->what, "/circle.costs:3:14"));
	assert_non_null(strstr(error_get()->why, "a file has one parent"));
	/* Not text: line and column. */
	assert_true(g_file_set_contents(circle, "[A]\nlatency = 1\n[*AM\xff]\n", -1, NULL));
	assert_int_equal(costs_new(&costs, circle, ports, units), -EINVAL);
	assert_true(g_str_has_suffix(error_get()->what, "/circle.costs:3:5"));
	assert_true(g_file_set_contents(circle, "[A]\n\0", 5, NULL));
	assert_int_equal(costs_new(&costs, circle, ports, units), -EINVAL);
	assert_true(g_str_has_suffix(error_get()->what, "/circle.costs:2:1"));
	assert_string_equal(error_get()->why, "not text: a byte that is zero");
	assert_int_equal(costs_new(&costs, "/dev/zero", ports, units), -EINVAL);
	assert_string_equal(error_get()->why, "is not a regular file");
	assert_true(g_file_set_contents(circle, "[core]\ninherit = parent.costs\n", -1, NULL));
	assert_int_equal(costs_new(&costs, circle, ports, units), -EINVAL);
	assert_string_equal(error_get()->why, "no key of [core] is called 'inherit'");
	g_unlink(parent);
	g_unlink(child);
	g_unlink(circle);
	g_rmdir(dir);
}

static void names_the_line(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{ "latency = 1\n", 1 }, { "[A]\nsource = x\nlatency\n", 3 }, { "\n[A\n", 2 }, { "[]\n", 1 }, { "[A]\nlatency = 1\n", 1 },
		{ "[A]\nsource = x\n\n[B]\nlatency = 1\n[C]\n", 4 }, { "[A]\nsource =\n", 2 }, { "[A]\nlatencies = 1\n", 2 }, { "[A]\nlatency = 256\n", 2 },
		{ "[A]\nbypass = 4\n", 2 }, { "[A]\nlatency = -1\n", 2 }, { "[A]\nlatency = 1x\n", 2 }, { "[A]\nlatency =\n", 2 }, { "[A]\nuops = p2\n", 2 }, { "[A]\nuops = p06\n", 2 },
		{ "[A]\nuops = p0:\n", 2 }, { "[A]\nuops = p0/div\n", 2 }, { "[A]\nuops = p0/sqrt*4\n", 2 }, { "[A]\nuops = 3\n", 2 }, { "[A]\nuops = 300*p0\n", 2 },
		{ "[A]\nuops = 200*p0 100*p1\n", 2 }, { "[A]\nuops = p0:4x\n", 2 }, { "[A]\nflags = fluffy\n", 2 },
		{ "[A\n\tB]\nsource = x\n\ty\nlatency\n", 5 },
		{ "[A]\nresults = 1 2 3 4 5 6 7\n", 2 }, { "[A]\nresults = 128\n", 2 }, { "[A]\nlate = a\n", 2 }, { "[A]\nstd = q\n", 2 },
		{ "[ports]\nX = p9\n", 2 }, { "[units]\nX = mul\n", 2 }, { "[core]\nload = p9\n", 2 }, { "[core]\nloads = p0\n", 2 }, { "[core]\nplaceholder = 256\n", 2 }, { "[core]\nlong_address = 2\n", 2 },
	};

	(void)state;
	for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++) {
		struct costs *costs;
		char *path, *what;
		int ret = read_text(&costs, bad[k].text, &path);

		if (ret != -EINVAL)
			fail_msg("accepted: %s", bad[k].text);
		assert_null(costs);
		what = g_strdup_printf("%s:%u", path, bad[k].line);
		if (strcmp(error_get()->what, what))
			fail_msg("%s: '%s' named for %s", error_get()->what, error_get()->why, bad[k].text);
		g_free(what);
		g_free(path);
	}
}

/* Any bytes are a cost file or an error, never a crash. */
static void survives_noise(void **state)
{
	static const char alphabet[] = "[]=#*:/>!|-. \n\n\nabcdefloursty0159p\xff";
	GRand *random = g_rand_new_with_seed(11);

	(void)state;
	for (unsigned k = 0; k < 3000; k++) {
		char text[160], *path;
		struct costs *costs;
		int n = g_rand_int_range(random, 0, (int)sizeof text), at = 0;
		if (k % 2)
			at = g_snprintf(text, sizeof text, "[A]\nsource = x\nuops = ");
		for (; at < n - 1; at++)
			text[at] = alphabet[g_rand_int_range(random, 0, sizeof alphabet - 1)];
		text[MIN(at, (int)sizeof text - 1)] = '\0';
		int ret = read_text(&costs, text, &path);
		assert_true(ret == 0 || ret == -EINVAL);
		costs_free(costs);
		g_free(path);
	}
	g_rand_free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_uops), cmocka_unit_test(later_sections_override), cmocka_unit_test(reads_the_core),
		cmocka_unit_test(inherits),
		cmocka_unit_test(names_the_line), cmocka_unit_test(survives_noise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
