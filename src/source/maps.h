/*
 * Which file each address of the program came from: the mappings in force over time, and the modules (files)
 * they belong to. Filled by a source; read by whoever names places.
 */
#ifndef CYCLEWISE_SOURCE_MAPS_H
#define CYCLEWISE_SOURCE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#define MODULE_NONE UINT32_MAX     /* anonymous memory: JIT code */

struct maps;
struct symbols;

int  maps_new(struct maps **out);
void maps_free(struct maps *m);

/*
 * An ELF file is opened when it is first mapped, and kept, so that names are those of what ran: it may be removed or
 * replaced later, and a path may lead nowhere from the start. That of the program (`path`) is opened before it runs,
 * and is the first module; what is not at its path is looked for, when the first instruction of it is seen, among what
 * the process `pid` has open.
 */
void maps_program(struct maps *m, const char *path);
void maps_process(struct maps *m, int pid);

/* [start, end) now holds the file `path` from `offset` on (NULL: anonymous); replaces what it overlaps. */
int  maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t offset, const char *path);
void maps_remove(struct maps *m, uint64_t start, uint64_t end);
/* What `from` mapped is now at `to` (mremap); `to_bytes` may differ. */
void maps_move(struct maps *m, uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes);

/* The module at `pc` by the present mappings and, in *offset, where in the file; MODULE_NONE: anonymous. */
uint32_t maps_find(const struct maps *m, uint64_t pc, uint64_t *offset);

/* Static instruction `insn` at `pc` was first seen now: remembers where it came from. */
void maps_note(struct maps *m, uint32_t insn, uint64_t pc);
/* What was remembered. */
uint32_t maps_place(const struct maps *m, uint32_t insn, uint64_t *offset);

/* How many files were mapped. What is at a path when it is mapped anew is another module where it is another file. */
uint32_t maps_modules(const struct maps *m);
const char *maps_path(const struct maps *m, uint32_t module);  /* valid until maps_free() */
/*
 * Opens the file that was mapped, which need no longer be at its path. Its number in `s`, or -errno; -ESTALE: it has
 * been changed since, so that what it says is not so of what ran.
 */
int maps_open(const struct maps *m, uint32_t module, struct symbols *s);
/* Whether it has been changed since it was first mapped, and code of it ran; not, that there is another at its path. */
bool maps_changed(const struct maps *m, uint32_t module);

#endif
