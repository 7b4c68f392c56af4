/*
 * A table of instructions and the mappings they came from, made by hand: what profile_instructions() asks of the
 * isa and source rooms.
 */
#ifndef CYCLEWISE_TESTS_PROFILE_FAKE_H
#define CYCLEWISE_TESTS_PROFILE_FAKE_H

#include "isa/code.h"
#include "source/maps.h"

struct fake;

struct fake *fake_new(void);
void fake_free(struct fake *f);
/* A module; its number. */
uint32_t fake_module(struct fake *f, const char *path);
/* An instruction of `module` (MODULE_NONE: JIT code) at `offset` of its file; its number. Its text is "op NUMBER". */
uint32_t fake_insn(struct fake *f, uint32_t module, uint64_t offset, uint64_t pc, uint32_t flags);
struct code *fake_code(struct fake *f);
const struct maps *fake_maps(struct fake *f);
/* How often code_text_at() was called. */
unsigned fake_texts(const struct fake *f);

#endif
