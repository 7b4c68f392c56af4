/*
 * Runs a program through the whole pipeline and leaves its profile: source -> core -> methods -> profile.
 */
#ifndef CYCLEWISE_RUN_DRIVE_H
#define CYCLEWISE_RUN_DRIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"
#include "method/method.h"
#include "profile/profile.h"
#include "profile/query.h"
#include "run/replay_log.h"
#include "source/source.h"

/* What is asked of a run, whatever it drives. */
struct drive_options {
	const char *core, *model;      /* NULL: the default */
	const GPtrArray *set, *scale, *ideal; /* const char *, in the order given */
	struct window window;
	uint64_t period, seed;
	bool sweep_period;
	bool progress;                 /* a line of it is wanted, where there is a terminal */
	const char *kanata;            /* NULL: no log of stages */
};

struct options;

/* What the steps of a run drive. */
struct driven_run {
	const struct core_desc *desc;
	const struct core_ops *model;
	struct code *code;
	bool progress;                 /* as of the options of the run */
	const struct options *options; /* the command line's, for the command that is driven alone */
};

/* What takes the steps of a run in place of one core a thread and the methods, or beside them. */
struct driven {
	const char *model;             /* the timing model where none is asked for */
	bool beside;
	int  (*open)(void **state, const struct driven_run *run); /* what `run` points to outlives the state. 0 or
	                                                           * -errno */
	int  (*batch)(void *state, const struct step_batch *b); /* 0 or -errno */
	int  (*finish)(void *state);   /* all streams have ended; 0 or -errno, -ECANCELED where signals_asked() */
	int  (*save)(void *state, struct profile *p); /* between profile_begin() and profile_commit(); 0 or -errno */
	void (*close)(void *state);    /* NULL is fine */
};

/*
 * What looks at a run a second time when the program has ended, with its profile known. For that the steps are kept, up
 * to REPLAY_LOG_MOST bytes; of a longer run both looks are at what was kept.
 */
struct second_look {
	int  (*open)(void **state, const struct driven_run *run); /* as of struct driven: what is wrong with options,
	                                                           * say */
	/* `q`: of the first look. 0 or -errno, -ECANCELED where signals_asked() */
	int  (*look)(void *state, const struct replay_log *steps, struct query *q);
	int  (*save)(void *state, struct profile *p);
	void (*close)(void *state);    /* NULL is fine */
};

#define REPLAY_LOG_MOST (UINT64_C(16) << 30)

struct drive_config {
	struct drive_options wanted;
	const struct options *options; /* for what is driven */
	char *const *argv;             /* the program and its arguments, NULL-terminated */
	const char *path;              /* of the profile file; NULL: in memory */
	const struct driven *driven;   /* NULL: a core a thread and the methods alone */
	const struct second_look *second; /* besides the methods alone; NULL: none */
	enum method_set methods;
	bool stdout_to_stderr;         /* the program's standard output goes to standard error */
};

/*
 * *status gets the exit status that cyclewise is to have: the program's own, 128 + the signal that ended it. Where a
 * signal asks cyclewise to end after that, signals_asked() has it.
 *
 * 0 or -errno. *out gets the profile wherever the program ran, after an error too: what could be saved, in memory
 * where the file could not be written. NULL where nothing ran. The caller closes it.
 */
int drive(struct profile **out, int *status, const struct drive_config *config);

#endif
