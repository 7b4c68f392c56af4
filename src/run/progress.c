#include "run/progress.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view/number.h"
#include "view/text.h"

enum { EVERY_US = 500000 };

void progress_init(struct progress *p, bool wanted)
{
	const char *term = getenv("TERM");

	*p = (struct progress){ .shown = wanted && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") };
	p->start = p->last = g_get_monotonic_time();
}

void progress_batch(struct progress *p, const struct step_batch *b)
{
	char a[NUMBER_SIZE], speed[NUMBER_SIZE];
	int64_t now;

	if (!p->shown)
		return;
	for (size_t i = 0; i < b->n; i++)
		p->instructions += step_kind(&b->step[i]) == STEP_INSN;
	now = g_get_monotonic_time();
	if (now - p->last < EVERY_US)
		return;
	p->last = now;
	p->drawn = true;
	fprintf(stderr, "\r\033[Kcyclewise: %s instructions, %s million a second, %" G_GINT64_FORMAT " s",
	        number_grouped(a, p->instructions),
	        number_ratio(speed, p->instructions, (uint64_t)(now - p->start), 1), (now - p->start) / 1000000);
	fflush(stderr);
}

static void erase(struct progress *p)
{
	if (p->drawn) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	p->drawn = false;
}

void progress_warn(struct progress *p, const struct error *e, const char *consequence)
{
	struct text t;

	erase(p);
	text_init(&t, stderr);
	fputs("cyclewise: ", stderr);
	text_field(&t, e->what, text_columns(e->what), false, false);
	fprintf(stderr, ": %s: %s\n", e->why, consequence);
}

void progress_fini(struct progress *p)
{
	erase(p);
	p->shown = false;
}
