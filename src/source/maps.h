/*
 * Which file each address of the program came from: the mappings in force over time, and the modules (files)
 * they belong to. Filled by a source; read by whoever names places.
 */
#ifndef CYCLEWISE_SOURCE_MAPS_H
#define CYCLEWISE_SOURCE_MAPS_H

#include <stdint.h>

#define MODULE_NONE UINT32_MAX     /* anonymous memory: JIT code */

struct maps;

int  maps_new(struct maps **out);
void maps_free(struct maps *m);

/*
 * A file is opened when the first instruction of it is seen, and kept, so that names are those of what ran: it may be
 * removed or replaced later, and a path may lead nowhere from the start. Where to look beside its path: at the file of
 * the program, which is opened now (`path`), and among what the process `pid` has open.
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

uint32_t maps_modules(const struct maps *m);                   /* how many files were mapped */
const char *maps_path(const struct maps *m, uint32_t module);  /* valid until maps_free() */
int maps_fd(const struct maps *m, uint32_t module);            /* the file, open; -1: not kept. Until maps_free() */

#endif
