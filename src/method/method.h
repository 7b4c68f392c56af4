/*
 * Accounting methods: functions of the stream of timed records.
 *
 * A method keeps one state a run and one lane a guest thread (each thread has its own core and stream).
 * The driver allocates both, zeroed. All calls come from one thread. A lane's stream reaches all methods of a run
 * in the same blocks (feed.h): records, and what the one walk over them found out.
 */
#ifndef CYCLEWISE_METHOD_METHOD_H
#define CYCLEWISE_METHOD_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/params.h"
#include "isa/code.h"
#include "record/timed.h"
#include "source/regions.h"

struct block;
struct clock;
struct profile;

/* A cycle in the integer shares that accounting uses: divisible by 1 to 16, so sums are exact. */
#define CYCLE_UNITS 720720u

struct run {
	const struct core_desc *desc;
	struct code *code;             /* only save() may ask it for names */
	const struct regions *regions; /* NULL: none */
	uint64_t period;               /* cycles between samples; 0: start at 1000 and adapt */
	uint64_t seed;
	bool sweep;                    /* samplers also save what longer periods would have given */
	const struct clock *clock;     /* of the methods that sample cycles; set by who feeds them, valid until
	                                * close() */
};

/*
 * Which methods a run has: those of every profile, and of each bit. A method may be in one set alone, or need
 * several.
 */
enum method_set {
	METHODS_PROFILE = 0,           /* what every profile has */
	METHODS_FILE = 8,              /* what every profile has that is kept in a file, and no report of a run shows */
	METHODS_STAT = 1 | METHODS_FILE, /* figures of the whole run in more detail */
	METHODS_STUDY = 2 | METHODS_STAT, /* those, and all that are to be compared */
	METHODS_ADVICE = 4,            /* what advice is made of */
};

enum { METHOD_ROW = 80 };              /* of all methods together under 200 */

struct method {
	const char *name, *help;
	enum method_set set;           /* a run has it whose set has all these bits ... */
	const struct method *covers;   /* ... then without this one, of which it saves all; NULL: none */
	bool addresses;                /* it asks for them: what records have with steps alone
	                                * (core_ops.foresees_all) */
	size_t state_size, lane_size;
	int  (*open)(void *state, const struct run *run);          /* 0 or -errno */
	int  (*lane)(void *state, void *lane, uint32_t thread);    /* a thread begins */
	void (*block)(void *state, void *lane, const struct block *b); /* hot */
	void (*finish)(void *state, void *lane);                   /* the thread's stream has ended; NULL: nothing to
	                                                            * do then */
	void (*end)(void *state, void *lane);                      /* nothing more comes of the thread: what it has
	                                                            * counted goes into the state, as a row of at most
	                                                            * METHOD_ROW bytes, and the lane is another
	                                                            * thread's; NULL: the lane stays as it is */
	int  (*save)(const void *state, struct profile *out);      /* at any time between blocks; 0 or -errno */
	void (*close)(void *state);                                /* also frees what lanes hold */
};

extern const struct method *const method_list[]; /* NULL-terminated, from method/list.h */
const struct method *method_find(const char *name);
/* For `end` where a lane holds nothing that is saved. */
void method_forgets(void *state, void *lane);
/* Whether a run of the set has it. */
bool method_in(const struct method *m, enum method_set set);

/* "Base", or the events joined by '+' in the order of the bits; `buf` of at least 64 bytes is enough. */
const char *psv_name(uint16_t psv, char *buf);
/* One event's name by bit number, 0 .. NR_PSV - 1. */
const char *psv_event(unsigned bit);

#endif
