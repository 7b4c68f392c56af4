/*
 * The profile file: an SQLite database (schema.sql), so that a crash loses nothing committed and a user may query it.
 *
 * Written in checkpoints: each replaces the tables' contents in one transaction, so that a killed run leaves
 * the last whole checkpoint, marked incomplete. Units are 1/720720 cycle (method.h, CYCLE_UNITS).
 */
#ifndef CYCLEWISE_PROFILE_PROFILE_H
#define CYCLEWISE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct sqlite3;

/* path NULL: in memory, for commands that keep no file. An existing profile is renamed to PATH.old first. */
int profile_create(struct profile **out, const char *path);
/* Reads an existing one; -ENOENT, -EACCES, -EINVAL (not a profile, damaged, truncated, newer version), with remedies. */
int profile_open(struct profile **out, const char *path);
/* Closes; 0, or -errno where the last write failed. */
int profile_close(struct profile *p);
/* For the views' queries. Owned by the profile. */
struct sqlite3 *profile_db(struct profile *p);

/* A checkpoint: begin empties the tables of results, commit makes it the file's content. -ENOSPC etc. */
int profile_begin(struct profile *p);
int profile_commit(struct profile *p);

/* The rest is called between the two. Each 0 or -errno. */
int profile_set(struct profile *p, const char *key, const char *value);      /* table run */
int profile_set_int(struct profile *p, const char *key, int64_t value);
int profile_cycles(struct profile *p, uint32_t insn, uint16_t psv, uint64_t executions, uint64_t units);
int profile_sample(struct profile *p, const char *method, uint32_t insn, uint16_t psv, uint64_t weight);
int profile_state(struct profile *p, uint32_t thread, const char *state, uint64_t units);
int profile_component(struct profile *p, const char *method, const char *component, uint64_t units);
int profile_event(struct profile *p, const char *event, uint64_t count);

struct slot_counts { uint64_t total, filled, issued, retired, recovery; }; /* slots */

int profile_thread(struct profile *p, uint32_t thread, uint64_t instructions, uint64_t uops, uint64_t units,
                   const struct slot_counts *slots);
int profile_region(struct profile *p, const char *name, uint64_t entries, uint64_t instructions, uint64_t units,
                   const struct slot_counts *slots);
int profile_unmodelled(struct profile *p, const char *form, uint64_t executions);

/*
 * Names every instruction that has a row in `cycles`: module, address, symbol, lines, inline chain, text.
 * `maps` says which file it came from, `pid` which perf map names JIT code.
 */
struct code;
struct maps;
int profile_instructions(struct profile *p, struct code *code, const struct maps *maps, int pid);

#endif
