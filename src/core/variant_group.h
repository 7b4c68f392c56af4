/*
 * Variants of a core side by side: what a model may do better than one core for each. Which variants there are, in how
 * many threads, and what becomes of the figures, is for who drives them.
 */
#ifndef CYCLEWISE_CORE_VARIANT_GROUP_H
#define CYCLEWISE_CORE_VARIANT_GROUP_H

#include "core/core.h"
#include "core/vary.h"

/* A variant of a core, and what becomes of the core by it. */
struct variant_core {
	struct variant variant;
	struct core_desc *desc;        /* weighted */
	bool ideal;                    /* something is, that was not */
};

/*
 * The variants of a core that time one hardware thread side by side. What a batch meets is found out in the caller's
 * thread, what was met is timed in any, in parts that do not depend on each other; of `turn` 0 and 1, one may be timed
 * while the other is met.
 */
struct variant_group;

struct variant_group_ops {
	/* Batches that are timed at a time, by when their steps may be gone; 0: one, with its steps. */
	unsigned gathers;
	/* Whether it can time it; NULL: always. */
	bool (*able)(const struct variant_core *variant);
	/*
	 * variant[0..nr) of cores of `model`, which as they are have `desc`; all must outlive the group. 0 or
	 * -errno.
	 */
	int (*open)(struct variant_group **out, const struct core_ops *model, const struct core_desc *desc,
	            struct code *code, const struct variant_core *const *variant, unsigned nr);
	/* What the batch meets; `first`: in place of what was met of `turn` before, else behind it. */
	void (*foresee)(struct variant_group *c, unsigned turn, bool first, const struct step *s, size_t n,
	                size_t ahead);
	/* What was met is to be timed now, by so many threads: in how many parts. */
	unsigned (*parts)(struct variant_group *c, unsigned turn, unsigned threads);
	void (*time)(void *group, unsigned part);
	/* All has been timed. */
	void (*finish)(struct variant_group *c);
	/* Cycles of the counted instructions so far, of one variant; *instructions: those. Nothing is being timed. */
	uint64_t (*cycles)(const struct variant_group *c, unsigned variant, uint64_t *instructions);
	void (*close)(struct variant_group *c); /* NULL is fine */
};

#endif
