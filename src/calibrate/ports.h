/*
 * Port sharing, from throughputs alone.
 *
 * A form of one uop that runs n times a cycle has n ports. Two forms that each alone would take the same time, run
 * together, take as much longer as they have ports in common: of n and m instances that keep their ports busy for a
 * cycle, all take (n + m) / |union|. So every pair gives the size of an intersection, and the sets that fit all of
 * them, nearest to the parent's, are the ports. Where the processor has more than the parent, new ones are added.
 *
 * Not seen: what two forms share where the width of rename limits them together, uops of forms that have several, and
 * which of several equal ports is which.
 * Ref: Derumigny et al., PALMED (CGO 2022), §4: quadratic benchmarks a^n b^m.
 */
#ifndef CYCLEWISE_CALIBRATE_PORTS_H
#define CYCLEWISE_CALIBRATE_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/experiment.h"
#include "calibrate/forms.h"

enum { PORT_CLASSES = 24, PORTS_UNKNOWN = -1 };

/* What is known of some classes of uops, and what is sought: a port set for each. */
struct port_puzzle {
	unsigned nr;
	unsigned size[PORT_CLASSES];           /* ports of the class */
	int shared[PORT_CLASSES][PORT_CLASSES];/* ports that two have in common, or PORTS_UNKNOWN; symmetric */
	uint16_t parent[PORT_CLASSES];         /* what the parent says */
	uint16_t allowed[PORT_CLASSES];        /* ports that the class may have at all */
	uint16_t found[PORT_CLASSES];          /* the answer */
};

/*
 * Sets of the sizes and intersections that are known, each as near to the parent's as those before it allow; pairs that
 * are unknown share nothing where the parent's do not. False where there are none.
 */
bool ports_solve(struct port_puzzle *p);

/* How many ports two have in common that alone run `na` and `nb` times a cycle and together take `cycles` for one
 * cycle's worth of each; PORTS_UNKNOWN where `width` instructions a cycle are the limit, or it is no whole number. */
int ports_shared(unsigned na, unsigned nb, double cycles, double width);

/*
 * Slots of rename a cycle, by the rates that nops reach and all else that only rename holds up: the faster, but not
 * that of nops that share a slot, as on Zen 4, which *paired tells. Noisy where nobody can say whether they do.
 */
struct estimate ports_width(struct estimate nops, struct estimate others, bool *paired);

/* A class that was measured: forms of one uop, of the same ports by the parent and of the same throughput. */
struct port_class {
	const struct form *example;
	unsigned n;                /* times a cycle */
	unsigned rank;             /* in the order of the forms */
	uint16_t parent;
	uint16_t found;            /* 0: it fits no assignment together with the others */
};

/* A set of ports that one of LLVM's resources stands for, by the parent's costs, and what has become of it. */
struct port_extension {
	uint16_t parent, wider;
};

struct ports {
	struct port_class classes[PORT_CLASSES];
	unsigned nr;
	unsigned nr_pairs, nr_known;           /* pairs that were measured; of which the common ports are known */
	unsigned nr_solved;                    /* classes that fit */
	struct port_extension *extensions;     /* [nr_extensions] */
	size_t nr_extensions;
	char *names[CORE_PORTS + 1];           /* of the description's ports, the parent's first; NULL-terminated;
	                                        * owned */
	unsigned nr_parent, nr_names;
};

/*
 * Measures rename's width and all pairs, and solves. What was found for the reader goes into the findings. 0 or
 * -errno.
 */
int ports_measure(struct ports *out, struct experiment *x, struct forms *f);
void ports_fini(struct ports *p);

/*
 * Widens each set to the widest that a class of it was found to have, unless another class of it was found to have
 * itself, and as far as what lies within another set still lies within it afterwards: the uops of LLVM's forms are told
 * apart by that.
 */
void ports_extend(const struct port_class *classes, unsigned nr, struct port_extension *extensions,
                  size_t nr_extensions);

/* What the parent's set of ports has become: itself, or a wider one. */
uint16_t ports_extended(const struct ports *p, uint16_t set);

/*
 * The `uops` of a cost file for a form whose throughput the parent has wrong: free with g_free(); NULL where the parent
 * is right, it was too noisy, or no uops that are known make that throughput. *why, where NULL is given for the latter,
 * gets a clause; static.
 */
char *ports_uops(const struct ports *p, const struct parent *parent, const struct form *form, const char **why);

/* A set as cost files write it: "alu0|alu1"; free with g_free(). */
char *ports_text(const struct ports *p, uint16_t set, const char *separator);

#endif
