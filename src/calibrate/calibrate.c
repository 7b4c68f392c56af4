/* The order of a calibration; calibrate.h has the room's map. */
#include "calibrate/calibrate.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/bench.h"
#include "calibrate/experiment.h"
#include "calibrate/list.h"
#include "calibrate/parent.h"
#include "calibrate/ports.h"
#include "calibrate/write.h"

static const double quick_effort = 0.2;
static const double patience = 240, quick_patience = 30; /* seconds, of some 300 and 50 */

struct calibration {
	struct host host;
	struct bench bench;
	struct parent parent;
	struct findings *findings;
	struct forms *forms;
	struct ports ports;
	const char *core, *why;    /* the parent, and how near it is */
	bool bench_ready, parent_ready;
};

#define X(name) int name##_measure(struct experiment *x);
EXPERIMENTS(X)
#undef X

static int (*const experiments[])(struct experiment *x) = {
#define X(name) name##_measure,
	EXPERIMENTS(X)
#undef X
};

static void add_clock(struct calibration *c)
{
	struct estimate mhz = bench_clock(&c->bench);

	findings_add(c->findings, "clock", "MHz", mhz, "clock.mhz", mhz.value,
	             "dependent %s against a time-stamp counter of %.1f MHz",
	             c->bench.additions ? "additions" : "multiplications of 3 cycles, checked against additions of 1",
	             c->bench.ticks_per_second / 1e6);
}

static int measure_forms(struct calibration *c, const struct calibrate_options *o)
{
	int ret = forms_new(&c->forms, &c->bench, &c->parent);

	if (ret)
		return ret;
	for (size_t i = 0; i < o->nr_wanted; i++)
		forms_add(c->forms, o->wanted[i].bytes, o->wanted[i].size, NULL);
	for (size_t i = 0; i < nr_form_examples && !o->wanted; i++)
		forms_add_text(c->forms, form_examples[i].text, form_examples[i].stands_for);
	for (int pass = 0; pass < (o->quick ? 2 : 6) && !ret; pass++)
		for (size_t i = 0; i < forms_count(c->forms) && !ret; i++) {
			struct form *form = forms_at(c->forms, i);

			ret = o->step ? o->step(o->ctx, form->text) : 0;
			if (!ret)
				ret = forms_measure(c->forms, form);
		}
	return ret;
}

/* How many stores the data cache takes in a cycle: what a kernel of stores to different lines reaches. */
static void add_stores(struct calibration *c)
{
	for (size_t i = 0; i < forms_count(c->forms); i++) {
		const struct form *form = forms_at(c->forms, i);
		struct estimate e = estimate_ratio(estimate_exact(1), form->throughput);

		if (strcmp(form->name, "MOV64mr") || !form->has_throughput)
			continue;
		/* No whole number: another thread on this core takes its share. */
		e.noisy = e.noisy || fabs(e.value / round(e.value) - 1) > 0.03;
		findings_add(c->findings, "stores to different lines", "stores/cycle", e, "store_queue.drain_width",
		             e.value, NULL);
	}
}

static int measure(struct calibration *c, const struct calibrate_options *o)
{
	struct experiment x = {
		.bench = &c->bench, .host = &c->host, .parent = &c->parent, .findings = c->findings, .quick = o->quick,
		.step = o->step, .ctx = o->ctx,
	};
	int ret;

	add_clock(c);
	ret = measure_forms(c, o);
	if (!ret)
		add_stores(c);
	if (!ret)
		ret = ports_measure(&c->ports, &x, c->forms);
	for (size_t i = 0; i < G_N_ELEMENTS(experiments) && !ret; i++)
		ret = experiments[i](&x);
	return ret;
}

int calibration_new(struct calibration **out, const struct calibrate_options *o)
{
	struct calibration *c = g_new0(struct calibration, 1);
	int ret = host_init(&c->host);

	*out = NULL;
	if (!ret) {
		c->core = host_parent(&c->host, &c->why);
		ret = parent_init(&c->parent, c->core);
		c->parent_ready = !ret;
	}
	if (!ret) {
		ret = bench_init(&c->bench, o->quick ? quick_effort : 1, o->quick ? quick_patience : patience);
		c->bench_ready = !ret;
	}
	if (!ret) {
		c->findings = findings_new(&c->parent.desc);
		ret = measure(c, o);
	}
	if (ret) {
		calibration_free(c);
		return ret;
	}
	*out = c;
	return 0;
}

void calibration_free(struct calibration *c)
{
	if (!c)
		return;
	ports_fini(&c->ports);
	forms_free(c->forms);
	findings_free(c->findings);
	if (c->bench_ready)
		bench_fini(&c->bench);
	if (c->parent_ready)
		parent_fini(&c->parent);
	g_free(c);
}

int calibration_write(const struct calibration *c, const char *path, const char *version)
{
	const struct written w = {
		.version = version, .host = &c->host, .parent = &c->parent, .core = c->core, .why = c->why,
		.findings = c->findings,
		.forms = c->forms, .ports = &c->ports,
	};

	return write_description(&w, path);
}

const struct host *calibration_host(const struct calibration *c)
{
	return &c->host;
}

const struct findings *calibration_findings(const struct calibration *c)
{
	return c->findings;
}

const struct forms *calibration_forms(const struct calibration *c)
{
	return c->forms;
}

const char *calibration_parent(const struct calibration *c)
{
	return c->core;
}
