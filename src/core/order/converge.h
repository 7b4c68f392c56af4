/*
 * The addresses of the wrong path's loads and stores. Nobody executes them, so that their addresses are known only
 * where something else gives them away:
 *
 *  - Where the wrong path and the right path meet again, both go on through the same code, and the right path's steps,
 *    which are known ahead, have the addresses, as long as the registers they come from do not depend on what the two
 *    did differently.
 *  - Elsewhere a load or store that has kept to one stride (0: one address) is taken to go on so.
 *
 * All others have no address: they take the time of a hit in L1D and touch nothing.
 * Ref: Eyerman, Van den Steen, Heirman and Hur, "Simulating wrong-path instructions in decoupled functional-first
 * simulation" (ISPASS 2023): reconstruction of instructions with convergence exploitation. The second rule is ours.
 *
 * Not modelled: that the two paths part again at a wrongly predicted branch and meet once more; stores of the wrong
 * path that its own loads read from.
 */
#ifndef CYCLEWISE_CORE_ORDER_CONVERGE_H
#define CYCLEWISE_CORE_ORDER_CONVERGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/params.h"
#include "isa/code.h"
#include "record/step.h"

struct wrong_run;

/* The address of one instruction of a wrong path; of several accesses, the first. */
struct wrong_access {
	uint64_t addr;
	uint16_t bytes;                /* at least 1 */
	uint16_t at;                   /* which instruction of the wrong path, from 0 on */
};

struct converge; /* what is known of one hardware thread's instructions */

/* 0 or -ENOMEM. Its tables grow with `code`; where there is no memory for that, the program ends, as with GLib's. */
int  converge_new(struct converge **out, const struct core_desc *desc, struct code *code);
void converge_free(struct converge *c);

/* An instruction on the right path that makes an access; in program order. */
void converge_saw(struct converge *c, const struct step *s);

/*
 * The accesses of the wrong path run[0..nr), as far as the reorder buffer can hold it, into out[], which has room for
 * one an instruction; returns how many, in order. The right path goes on with right[0..ahead), and its accesses.
 */
size_t converge_path(struct converge *c, const struct wrong_run *run, size_t nr, const struct step *right, size_t ahead,
                     struct wrong_access *out);

#endif
