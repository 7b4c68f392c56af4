/*
 * The table of static instructions of one program on one core model.
 *
 * Instructions are interned by (pc, bytes): code that changes (JITs, self-modifying code) gets new entries,
 * and code_find() gives the newest at a pc. An entry never changes once it is made, except for
 * INSN_FUSES_NEXT, which is set when the instruction behind it becomes known, before either is executed.
 * The arrays are reserved address space and never move: a `struct insn *` is valid until code_free().
 * One thread adds; others may read entries whose index was handed to them.
 */
#ifndef CYCLEWISE_ISA_CODE_H
#define CYCLEWISE_ISA_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

#define CODE_NONE UINT32_MAX

enum isa { ISA_X86_64, ISA_AARCH64, ISA_RISCV64, NR_ISAS };

/* All borrowed while code_new() runs; code->config keeps the pointers for a caller that keeps what they point to. */
struct code_config {
	enum isa isa;
	const char *cpu;           /* LLVM's -mcpu name */
	const char *features;      /* LLVM's feature string, "" for the CPU's own */
	const char *const *ports;  /* the core's port names, NULL-terminated; bit i of uop.ports is ports[i] */
	const char *const *units;  /* its unpipelined units, NULL-terminated; uop.unit is i + 1 */
	const char *costs;         /* path of the core's cost file (data/cores/NAME.costs), NULL for none */
};

struct code {
	struct insn *insn;         /* [nr] */
	struct uop *uops;
	uint32_t nr;
	uint32_t changes;          /* so often code came to be where there was other code, or none any more */
	uint32_t limit;            /* as many are told apart, at most CODE_MOST, less where a core has no room for
	                            * them; what is beyond gets no entry */
	struct code_config config;
	struct code_private *priv;
};

enum { CODE_MOST = 1 << 24 };

/*
 * Reads the cost file, starts LLVM. 0 or -errno (-ENOENT: unknown CPU or file; -EINVAL: a bad cost file, line
 * named).
 */
int code_new(struct code **out, const struct code_config *config);
void code_free(struct code *code);

/*
 * The index of the instruction with these bytes at `pc`; decoded on first sight. `size` may exceed its length.
 * Undecodable bytes still get an entry (INSN_UNDECODED; length: what is given, at most the ISA's longest). CODE_NONE
 * where it would be a new one and the table is full.
 */
uint32_t code_add(struct code *code, uint64_t pc, const uint8_t *bytes, size_t size);

/*
 * The 4 KiB page at `page` holds these bytes now (a later call replaces them; entries decoded from the old ones
 * stay). Of more than CODE_PAGES, nothing is known.
 */
enum { CODE_PAGES = 1 << 17 };
void code_page(struct code *code, uint64_t page, const uint8_t bytes[4096]);
/* Its bytes; NULL where nothing was said of it. Valid until the next code_page(). */
const uint8_t *code_image(const struct code *code, uint64_t page);
/*
 * The instruction at `pc` by the newest bytes seen there, executed or not; CODE_NONE where not all of it is known, or
 * the table is full. For the wrong path.
 */
uint32_t code_find(struct code *code, uint64_t pc);

/*
 * Disassembly, as `objdump -d` would print it (AT&T syntax for x86), of the instruction as if it stood at `address`:
 * its pc, or the address in its file. Returns the length, as snprintf.
 */
int code_text_at(struct code *code, uint32_t insn, uint64_t address, char *buf, size_t size);
/* Name of the form (LLVM's opcode name, e.g. "ADD64mr"), for reports of what is unmodelled; valid until code_free(). */
const char *code_form(struct code *code, uint32_t insn);
/* The instruction's bytes; *size gets their number. Valid until code_free(). */
const uint8_t *code_bytes(const struct code *code, uint32_t insn, size_t *size);

static inline const struct insn *code_insn(const struct code *code, uint32_t index)
{
	return &code->insn[index];
}

/* The same at its pc. */
static inline int code_text(struct code *code, uint32_t insn, char *buf, size_t size)
{
	return code_text_at(code, insn, code_insn(code, insn)->pc, buf, size);
}

#endif
