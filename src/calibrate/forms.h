/*
 * Instruction forms: what is measured of each, by kernels made from one example of it.
 *
 * Latency: the example is made to depend on itself, its first result renamed to be its first source of the same kind;
 * where it has none, through a vmovq there and back, of which half a round trip is deducted. Reciprocal throughput: a
 * dozen copies with results of their own. Of a load, the latency from its index register, which what it loads becomes.
 * Not measured: what has no register operand (branches, strings, x87), what is
 * in order by nature (locked, fences), what writes registers of the system, stores but for their throughput, 512-bit
 * forms, which nothing under QEMU can execute.
 *
 * Place: bench, parent -> forms -> ports.c (where their uops go) and write.c.
 */
#ifndef CYCLEWISE_CALIBRATE_FORMS_H
#define CYCLEWISE_CALIBRATE_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/bench.h"
#include "calibrate/parent.h"

/* A row of the built-in list. */
struct form_example {
	const char *text;          /* AT&T syntax */
	const char *stands_for;    /* globs of the cost files: forms that are the same operation on the same units;
	                            * "" for itself */
};
extern const struct form_example form_examples[];
extern const size_t nr_form_examples;

struct form {
	char name[64];             /* as cost files know it, a variant behind a dot */
	char text[96];             /* the example */
	const char *stands_for;    /* globs, its own name among them; never NULL */
	uint8_t bytes[SEQUENCE_BYTES], length;
	const struct insn *insn;   /* the parent's view of it */
	bool single;               /* the latency kernel is the form alone, else a round trip */
	bool load;                 /* a load and nothing else: its latency is from address to use */
	bool has_latency, has_throughput;
	bool floats;               /* single-precision operands */
	struct decoded decoded;
	struct sequence latency_kernel, throughput_kernel;
	struct estimate latency, throughput;       /* cycles, of one instance */
	double parent_latency, parent_throughput;
};

struct forms;

/* Borrows the bench and the parent. 0 or -errno. */
int forms_new(struct forms **out, struct bench *b, struct parent *p);
void forms_free(struct forms *f);

/*
 * Adds a form, by an example; `stands_for` NULL: itself alone. True where it is to be measured; false where this
 * processor has not got it, nothing of it can be measured, or it is there already.
 */
bool forms_add_text(struct forms *f, const char *text, const char *stands_for);
bool forms_add(struct forms *f, const uint8_t *bytes, size_t size, const char *stands_for);

size_t forms_count(const struct forms *f);
struct form *forms_at(const struct forms *f, size_t i);

/*
 * Measures one; called again, it keeps the faster of each: a sibling thread that is busy all through a kernel's samples
 * slows all of them down. 0 or -errno.
 */
int forms_measure(struct forms *f, struct form *form);

/* Cycles of a sequence, repeated. 0 or -errno. */
int forms_time(struct forms *f, const struct sequence *s, bool floats, struct estimate *e);

/*
 * Appends an instance of the form that depends on no other with another `copy`, as far as registers suffice. False
 * where the sequence is full.
 */
bool forms_append(const struct forms *f, const struct form *form, unsigned copy, struct sequence *s);

#endif
