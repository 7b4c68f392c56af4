/*
 * Variants of a core side by side: what a model may do better than one core for each. Which variants there are, in how many threads, and
 * what becomes of the figures, is for who drives them.
 */
#ifndef CYCLEWISE_CORE_CROWD_H
#define CYCLEWISE_CORE_CROWD_H

#include "core/core.h"
#include "core/vary.h"

/* A variant of a core, and what becomes of the core by it. */
struct crowd_plan {
	struct variant variant;
	struct core_desc *desc;        /* weighted */
	bool ideal;                    /* something is, that was not */
};

/*
 * The variants of a core that time one hardware thread side by side. What a batch meets is found out in the caller's thread, what
 * was met is timed in any, in parts that do not depend on each other; of `turn` 0 and 1, one may be timed while the other is met.
 */
struct crowd;

struct crowd_ops {
	/* Batches that are timed at a time, by when their steps may be gone; 0: one, with its steps. */
	unsigned gathers;
	/* Whether it can do what is planned; NULL: always. */
	bool (*able)(const struct crowd_plan *plan);
	/* plan[0..nr) of cores of `model`, which as they are have `desc`; all must outlive the crowd. 0 or -errno. */
	int  (*open)(struct crowd **out, const struct core_ops *model, const struct core_desc *desc, struct code *code,
	             const struct crowd_plan *const *plan, unsigned nr);
	/* What the batch meets; `first`: in place of what was met of `turn` before, else behind it. */
	void (*meet)(struct crowd *c, unsigned turn, bool first, const struct step *s, size_t n, size_t ahead);
	/* What was met is to be timed now, by so many threads: in how many parts. */
	unsigned (*parts)(struct crowd *c, unsigned turn, unsigned threads);
	void (*time)(void *crowd, unsigned part);
	/* All has been timed. */
	void (*finish)(struct crowd *c);
	/* Cycles of the counted instructions so far, of one plan; *instructions: those. Nothing is being timed. */
	uint64_t (*cycles)(const struct crowd *c, unsigned plan, uint64_t *instructions);
	void (*close)(struct crowd *c); /* NULL is fine */
};

#endif
