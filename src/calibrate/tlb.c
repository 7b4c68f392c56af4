/* Chains through pages; tlb.h has the method. */
#include "calibrate/tlb.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>

#include "calibrate/memory.h"

/*
 * Every fifth page: four neighbours may share an entry where their frames are neighbours too, and an even step would
 * leave sets of the TLB out.
 */
enum { LINE = 64, STRIDE = 5 * 4096, MAX_PAGES = 8192, MAX_POINTS = 64 };

static const double broad = 1.25;      /* a step over more than that is none */

struct scan {
	double pages[MAX_POINTS], extra[MAX_POINTS];
	struct estimate e[MAX_POINTS];
	size_t n;
};

/* What translation adds to a load in a chain through so many pages. */
static int extra_of(const struct experiment *x, struct memory_area *small, struct memory_area *huge, size_t pages,
                    struct estimate *e)
{
	struct estimate lines;
	int ret;

	memory_chain(small, pages, STRIDE, true, 0x9e3779b97f4a7c15u + pages);
	ret = memory_chase(x->bench, small, pages, e);
	if (ret)
		return ret;
	memory_chain(huge, pages, LINE, false, 0x9e3779b97f4a7c15u + pages);
	ret = memory_chase(x->bench, huge, pages, &lines);
	*e = estimate_minus(*e, lines);
	return ret;
}

static int scan(const struct experiment *x, struct memory_area *small, struct memory_area *huge, double from, double to,
                double factor, struct scan *s)
{
	int ret = 0;

	s->n = 0;
	for (double pages = from; pages <= to && s->n < MAX_POINTS && !ret; pages = fmax(pages * factor, pages + 4)) {
		char what[64];

		snprintf(what, sizeof what, "translation of %.0f pages", pages);
		ret = experiment_step(x, what);
		if (!ret)
			ret = extra_of(x, small, huge, (size_t)pages, &s->e[s->n]);
		s->pages[s->n] = floor(pages);
		s->extra[s->n] = s->e[s->n].value;
		s->n++;
	}
	/* As with footprints: fewer pages cost no more. */
	for (size_t i = s->n; i-- > 1; )
		if (s->extra[i] < s->extra[i - 1]) {
			s->extra[i - 1] = s->extra[i];
			s->e[i - 1] = s->e[i];
		}
	return ret;
}

/* Ways that go with so many entries: all of them where the parent is fully associative. */
static void add_entries(struct experiment *x, const char *name, const char *entries, const char *ways_param,
                        struct knee k)
{
	int32_t parent_entries = findings_param(x->findings, entries), ways = findings_param(x->findings, ways_param);
	double at = round(k.at / 8) * 8;
	struct estimate e = {
		.value = k.at, .low = k.low, .high = k.high, .agreeing = 1, .samples = 1,
		.noisy = k.high > broad * k.low,
	};
	bool full = ways >= parent_entries;

	if (!full)
		at = fmax(1, round(k.at / ways)) * ways;
	findings_add(x->findings, name, "pages", e, entries, at, "the step from %.1f to %.1f cycles", k.before,
	             k.after);
	if (full)
		findings_add(x->findings, name, "ways", estimate_exact(at), ways_param, at,
		             "fully associative, as the parent's");
}

/* The first point that lies clear of a step that ends at `end`. */
static struct estimate behind(const struct scan *s, double end)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->pages[i] > end * 1.15)
			return s->e[i];
	return s->e[s->n - 1];
}

int tlb_measure(struct experiment *x)
{
	struct memory_area small, huge;
	struct scan first = { .n = 0 }, second = { .n = 0 };
	struct knee k;
	int ret = memory_area_init(&small, (size_t)MAX_PAGES * STRIDE, false);

	if (ret)
		return ret;
	ret = memory_area_init(&huge, (size_t)2 << 20, true);
	if (!ret)
		ret = scan(x, &small, &huge, 16, 384, x->quick ? 1.2 : 1.08, &first);
	if (!ret)
		ret = scan(x, &small, &huge, 512, MAX_PAGES, x->quick ? 1.3 : 1.12, &second);
	if (!ret) {
		for (size_t i = 0; i < first.n; i++)
			first.extra[i] += 1; /* a step up from nothing is no ratio */
		k = find_knee(first.pages, first.extra, first.n, 2);
		if (k.found) {
			add_entries(x, "first level of the data TLB", "dtlb.entries", "dtlb.ways", k);
			findings_add(x->findings, "hit of the second-level TLB", "cycles", first.e[first.n - 1],
			             "stlb.latency", first.e[first.n - 1].value, "at %.0f pages",
			             first.pages[first.n - 1]);
		} else {
			findings_leave(x->findings, "first level of the data TLB", "dtlb.entries",
			               "no step up to %.0f pages", first.pages[first.n - 1]);
		}
		/*
		 * Far behind the step the page tables themselves fall out of the caches: what counts is where walks
		 * begin.
		 */
		for (size_t i = 0; i < second.n; i++)
			second.extra[i] = fmin(second.extra[i], 40);
		k = find_knee(second.pages, second.extra, second.n, 1.5);
		if (k.found) {
			struct estimate e = behind(&second, k.high);
			double known =
				findings_param(x->findings, "stlb.latency") + findings_param(x->findings, "l2.latency");

			add_entries(x, "second level of the TLB", "stlb.entries", "stlb.ways", k);
			findings_add(x->findings, "page walk", "cycles", e, "walk.overhead", e.value - known,
			             "in all; without the second level's cycles and a load from L2");
		} else {
			findings_leave(x->findings, "second level of the TLB", "stlb.entries", "no step up to %d pages",
			               MAX_PAGES);
		}
	}
	memory_area_fini(&huge);
	memory_area_fini(&small);
	return ret;
}
