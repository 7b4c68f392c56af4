/*
 * Causes: why an instruction has cycles on an event, as a row of the table of advice (data/advice/advice.text).
 */
#ifndef CYCLEWISE_VIEW_CAUSE_H
#define CYCLEWISE_VIEW_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/query.h"
#include "view/facts.h"

/* Every row of the table: X(event, pattern). */
#define CAUSES(X)                                                                                                      \
	X("ST-LLC", "chase")                                                                                           \
	X("ST-LLC", "gather") X("ST-LLC", "indirect") X("ST-LLC", "stride") X("ST-LLC", "scattered") X(                \
		"ST-L1", "chase") X("ST-L1", "gather") X("ST-L1", "indirect") X("ST-L1", "stride")                     \
		X("ST-L1", "scattered") X("ST-TLB", "chase") X("ST-TLB", "pages") X("ST-TLB", "scattered") X(          \
			"DR-SQ", "stride") X("DR-SQ", "scattered") X("FL-MB", "unpredictable") X("FL-MB", "loop")      \
			X("FL-MB", "indirect") X("FL-MB", "return") X("FL-MB", "seldom") X("FL-EX", "serialising")     \
				X("FL-EX", "system") X("FL-EX", "faults") X("FL-MO", "late") X("DR-L1", "thrash")      \
					X("DR-L1", "cold") X("DR-TLB", "code") X("Base", "chain") X("Base", "chase")   \
						X("Base", "forward") X("Base", "latency") X("Base", "port")            \
							X("Base", "unit") X("Base", "decode") X("Base", "erratum")     \
								X("Base", "taken") X("Base", "frontend")               \
									X("Base", "width") X("Base", "window")         \
										X("Base", "atomic")

struct cause {
	const char *event, *pattern;
	const char *title, *why;
	const char *const *helps;      /* NULL-terminated */
	const char *const *relax;      /* resources, NULL-terminated; may hold {class} and {bound}; NULL: none */
	const char *supposed;          /* what the detailed core supposes, in words; NULL: nothing */
	/*
	 * That is: of an event, that it is never met; of Base, a core with other parameters (core_desc_set(),
	 * core_desc_scale()).
	 */
	const char *const *set, *const *scale; /* NULL-terminated; NULL: none */
};

/*
 * Reads the table that is built in. 0, or -EINVAL where a row of CAUSES is not in it, or one is in it that is not of
 * CAUSES.
 */
struct causes;
int  causes_new(struct causes **out);
void causes_free(struct causes *c);
/* One of CAUSES, else NULL. */
const struct cause *cause_find(const struct causes *c, const char *event, const char *pattern);

/* The event of a signature that is told first: a flush before a full store queue, before data, before code; 0: Base. */
uint16_t cause_event(uint16_t signature, const struct facts *f);
/*
 * Whether its address comes from an earlier execution of itself, or from a load of which that is so: p->key beside p =
 * p->next.
 */
bool cause_chase(const struct facts_table *t, const struct facts *f);
/*
 * Whether its address can be known executions ahead: where it goes on in steps, is computed, or comes from a table of
 * indices.
 */
bool cause_known_ahead(const struct facts_table *t, const struct facts *f);
/* Why `in` has cycles on `event` (one bit, not 0); `executions`: how many of its executions met it. */
const struct cause *cause_of(const struct causes *c, const struct facts_table *t, const struct query_insn *in,
                             uint16_t event, uint64_t executions);

/* Ways in which code is delivered slowly: the causes of Base that are a matter of all the code in turn. */
enum delivery { DELIVERY_DECODE, DELIVERY_ERRATUM, DELIVERY_TAKEN, NR_DELIVERIES };
const struct cause *cause_delivery(const struct causes *c, enum delivery d);

/* Why a group of instructions has cycles without an event, by what their executions on the critical path waited for. */
struct base_cause {
	const struct cause *cause;
	const char *bound;             /* the port or unit that was waited for; NULL: another thing */
	const struct query_insn *main; /* the instruction that waited most for it */
	double delivery[NR_DELIVERIES]; /* where it is one of these: parts of all that was waited for; else 0 */
};

/* False: none of them is on the path, or what they waited for is told by the events of others. */
bool cause_base(struct base_cause *out, const struct causes *c, const struct facts_table *t,
                const struct query_insn *const *in, size_t nr);

#endif
