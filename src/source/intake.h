/*
 * What the program can do to the memory it shares with the reader, and what becomes of it then.
 *
 * The plugin runs inside the program's process, so a program can write into the lanes, into their states and counts,
 * and put other memory in their place. The reader must live through that, must not wait for what never comes, and
 * must not let the plugin wait: a lane that makes no sense is refused, which makes its thread drop all it sends and go
 * on, and where the definitions make none, the plugin is told to be silent. Either is said at the end.
 *
 * Here is decided which lanes there are and whose they are; words are checked by the decoder (decode.h), definitions
 * where they are applied (blocks.c).
 */
#ifndef CYCLEWISE_SOURCE_INTAKE_H
#define CYCLEWISE_SOURCE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/wire.h"

struct intake {                    /* all zero: nothing has come */
	uint8_t seen[WIRE_THREADS / 8]; /* a bit for each number of a thread that has had a lane */
	unsigned nr_lanes;         /* [0, nr_lanes) have been used */
	bool refused[WIRE_LANES];
	unsigned nr_refused;       /* so often one was, in all */
	bool silent;               /* the plugin was told to send nothing more */
};

/* How many lanes to look at. */
unsigned intake_lanes(struct intake *in, const struct wire *wire);
/*
 * Whether a thread is now on a lane that had none; its number in *thread. What comes from a lane without a thread, or
 * from a thread that has had one, is refused.
 */
bool intake_begins(struct intake *in, struct wire *wire, unsigned lane, uint32_t *thread);
/* Nothing is taken from this lane any more, until its thread ends. */
void intake_refuse(struct intake *in, struct wire *wire, unsigned lane);
/* Nothing is taken at all any more. */
void intake_silence(struct intake *in, struct wire *wire);
/*
 * All has been read: what the program did to the memory, for people, in `text`; false: nothing that shows. `over`: the
 * reader wanted no more.
 */
bool intake_told(const struct intake *in, const struct wire *wire, bool over, char *text, size_t size);

#endif
