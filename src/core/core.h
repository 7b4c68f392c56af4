/*
 * A timing model: steps in, timed records out. One struct core models one hardware thread with private caches.
 */
#ifndef CYCLEWISE_CORE_CORE_H
#define CYCLEWISE_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/params.h"
#include "core/suppose.h"
#include "isa/code.h"
#include "record/step.h"
#include "record/timed.h"

/*
 * Takes a batch of records; called when a few thousand are there, and when all those of a batch of steps are. `t` is
 * valid during the call. A core may make the next of them where room() says, which are then not copied: there is place
 * for *n, at least 1. NULL: there is no such place.
 */
struct timed_sink {
	void (*take)(void *ctx, const struct timed *t, size_t n);
	void *ctx;
	struct timed *(*room)(void *ctx, size_t *n);
};

/*
 * What a model foresees of a batch: arrays whose items are its own. Who hands it on, or keeps it, knows how many bytes
 * of each there are. All zero: there are none.
 */
enum { FORESEEN_ARRAYS = 3 };

struct foreseen_array {
	void *item;
	size_t bytes, room;            /* of the items; of the memory, which grows with the largest batch and is used
	                                * again */
};

struct foreseen { struct foreseen_array of[FORESEEN_ARRAYS]; };

void foreseen_fini(struct foreseen *f);
/*
 * Room for so many bytes, which an array grows to so seldom that it may end the program where there is no memory, as
 * GLib's do.
 */
void foreseen_reserve(struct foreseen_array *a, size_t bytes);

struct core;
struct variant_group_ops;
struct vary;

/* What a core that finds out what determined its times has counted. */
struct causes {
	uint64_t critical;             /* executions on the critical path */
	uint64_t instructions, cycles; /* counted */
};

/*
 * A model's own way to find out which instructions determine the length of a run; foresee(), batch_foreseen(), finish()
 * and close() are the model's.
 */
struct causes_ops {
	/* 0 or -errno. Makes no records. */
	int  (*open)(struct core **out, const struct core_desc *desc, struct code *code);
	/*
	 * How often instruction `insn` was on the path; bound(ctx, name, n): so often by `name`. The stream has
	 * ended.
	 */
	uint64_t (*insn)(const struct core *core, uint32_t insn, void (*bound)(void *ctx, const char *name, uint64_t n),
	                 void *ctx);
	struct causes (*all)(const struct core *core);
};

/* A model. What stands behind `close` it may have, or not. */
struct core_ops {
	const char *name, *help;
	int  (*open)(struct core **out, const struct core_desc *desc, struct code *code, struct timed_sink sink);
	/* Times s[0..n); s[n..n+ahead) follow and may be looked at. Hot: no allocation, lock, or I/O. */
	void (*batch)(struct core *core, const struct step *s, size_t n, size_t ahead);
	/*
	 * The same in two parts, which may run in two threads, the second behind the first: what needs no time, and
	 * time. Both are given the same batches, and the second what the first has put into `out`. NULL: cannot be
	 * parted.
	 */
	void (*foresee)(struct core *core, const struct step *s, size_t n, size_t ahead, struct foreseen *out);
	void (*batch_foreseen)(struct core *core, const struct step *s, size_t n, size_t ahead,
	                       const struct foreseen *f);
	/*
	 * Brings caches, TLBs, page-walk caches, prefetchers, branch predictors and what is known of addresses on
	 * wrong paths up to date with the steps, as batch() does, but without time: nothing is booked, there are no
	 * records, and the next batch goes on at the cycle where the last one ended, with the lines that the steps
	 * have touched there. The uop cache, queues and the predictor of memory dependences need not be. For
	 * functional warming between stretches that are timed. Ref: SMARTS (Wunderlich et al., 2003). Of a core in two
	 * parts it is for both: all that was foreseen has been timed by then. NULL: the model cannot.
	 */
	void (*warm)(struct core *core, const struct step *s, size_t n, size_t ahead);
	/*
	 * The second part needs no steps, which may be NULL. What is in its records then:
	 *
	 *     field of struct timed                     with steps     without
	 *     addr                                      valid          0
	 *     flags: TIMED_TAKEN of those that fault    valid          0
	 *     all others                                valid          valid
	 */
	bool foresees_all;
	/* Hands on what is left. The stream has ended. */
	void (*finish)(struct core *core);
	void (*close)(struct core *core);
	/*
	 * From now on `s` is supposed of instructions; it outlives the core, or the next call. NULL: nothing is; the
	 * model cannot.
	 */
	void (*suppose)(struct core *core, struct suppose *s);
	/*
	 * A core that foresees alone, for all of which foresees_same() holds: foresee() and close() may be called of
	 * it. NULL: there is none.
	 */
	int  (*open_foresight)(struct core **out, const struct core_desc *desc, struct code *code);
	bool (*foresees_same)(const struct core_desc *a, const struct core_desc *b);
	/* Adds what can be weighted of this model alone, and returns how much that is. NULL: nothing. */
	unsigned (*resources)(struct vary *out, const struct core_desc *d);
	const struct variant_group_ops *variants; /* how it times variants (variant_group.h); NULL: they are cores
	                                           * side by side */
	const struct causes_ops *causes; /* NULL: they are found in the records (method/critical.h) */
};

/* The registry: core/list.h names them. NULL where unknown. */
const struct core_ops *core_find(const char *name);
extern const struct core_ops *const core_list[]; /* NULL-terminated */

#endif
