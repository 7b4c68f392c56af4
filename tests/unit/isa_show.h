/*
 * What the isa room says of an instruction, as one line that a table of expectations can hold:
 *
 *     p23 p0156 p237 p4 ; [rdi] rax -> cf:1 zf:1 ; slots 2 ; simple
 *
 * Uops in their order (compute: ports:latency, `>` before a later stage, /unit*busy; n* in front for several alike);
 * addresses in brackets, data (+n: needed n cycles late), results with their latency (wb: of the base register);
 * slots (/n decoded, where different), load_extra, address_extra, flags that the rest does not tell, branch kind and target.
 */
#ifndef CYCLEWISE_TESTS_ISA_SHOW_H
#define CYCLEWISE_TESTS_ISA_SHOW_H

#include <stdint.h>

#include "isa/code.h"

enum { SHOW_SIZE = 512, SHOW_BYTES = 64 };

/* A core of the shipped ones with its cost file; fails the test where it cannot be had. Free with code_free(). */
struct code *show_core(const char *name);
/* The line above of instruction `index`. */
void show_insn(struct code *code, uint32_t index, char text[SHOW_SIZE]);
/* "48 01 f8" -> bytes; their number. */
unsigned show_bytes(const char *hex, uint8_t bytes[SHOW_BYTES]);

/* A row of a table: bytes, the text they have, and what is expected of them. */
struct show_row {
	const char *hex, *text, *expected;
};
/* Adds all at one address, one after another, and compares; the test fails once at the end, all differences printed. */
void show_check(struct code *code, const struct show_row *rows, unsigned n);

#endif
