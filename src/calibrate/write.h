/*
 * The description of the measured core as files: what differs from the parent or was confirmed, with its spread, and
 * what was left to it, with the reason.
 *
 * The costs are the parent's file, since cost files do not inherit, and behind it a section for each form that
 * differs; every form that was measured stands in a table of comments.
 */
#ifndef CYCLEWISE_CALIBRATE_WRITE_H
#define CYCLEWISE_CALIBRATE_WRITE_H

#include "calibrate/findings.h"
#include "calibrate/forms.h"
#include "calibrate/host.h"
#include "calibrate/parent.h"
#include "calibrate/ports.h"

/* All borrowed. */
struct written {
	const char *version;
	const struct host *host;
	const struct parent *parent;
	const char *core, *why;    /* the parent's name, and how near it is */
	const struct findings *findings;
	const struct forms *forms; /* NULL: none were measured */
	const struct ports *ports; /* NULL: the parent's */
};

/* Both files; 0 or -errno. */
int write_description(const struct written *w, const char *path);

/* Their texts; free with g_free(). `costs_name`: of the cost file, beside the description. */
char *write_core_text(const struct written *w, const char *costs_name);
/* `before`: the parent's costs. NULL where those cannot be read, with the error set. */
char *write_costs_text(const struct written *w, const char *before);

/*
 * The latency that goes into the cost file for a form, or -1: the parent's is right, it was not measured, it was too
 * noisy, or it is not a whole number of cycles that a cost file can hold.
 */
int write_latency(const struct form *form);

/*
 * The same of a load: what it takes beyond a load of 64 bits, `base`, which was measured the same way (NULL: it was
 * not, and nothing is said).
 */
int write_load_extra(const struct form *form, const struct form *base);

#endif
