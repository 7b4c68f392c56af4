/*
 * The profile file: an SQLite database (schema.sql), so that a crash loses nothing committed and a user may query it.
 *
 * Written in checkpoints. Each builds a whole new file beside the old one and takes its place by rename(2), so
 * that at any moment the path names one whole checkpoint, without journals beside it, which can be read from a
 * read-only directory; a killed run leaves the last one, marked incomplete. The same contents give the same
 * bytes, however many checkpoints went before. Units are 1/720720 cycle (method.h, CYCLE_UNITS).
 */
#ifndef CYCLEWISE_PROFILE_PROFILE_H
#define CYCLEWISE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdint.h>

struct profile;
struct sqlite3;

/*
 * path NULL: in memory, for commands that keep no file. An existing profile is renamed to PATH.old first.
 * -EEXIST: there is something else at `path`; -EBUSY: another cyclewise is writing it. The file exists at
 * once, empty and incomplete.
 */
int profile_create(struct profile **out, const char *path);
/*
 * Reads an existing one; -ENOENT, -EACCES, -EINVAL (not a profile, damaged, truncated, newer version), with
 * remedies.
 */
int profile_open(struct profile **out, const char *path);
/* Closes, dropping what was not committed; 0, or -errno where the last write failed. NULL is fine. */
int profile_close(struct profile *p);
/* The last checkpoint, for the views' queries. Owned by the profile; valid until the next profile_commit(). */
struct sqlite3 *profile_db(struct profile *p);

/*
 * A checkpoint: begin starts from empty tables, with run.complete 0; commit makes it the file's content. -ENOSPC
 * etc.
 */
int profile_begin(struct profile *p);
int profile_commit(struct profile *p);
/* Instead of commit: the file stays as it is, and what was built is gone from the disk. */
void profile_abandon(struct profile *p);

/* The rest is called between the two. Each 0 or -errno; a row that is set again is replaced. */

/*
 * Figures are exact unless this comes just before their row: the standard errors [nr] of the figures that the next
 * call passes, in that order and their unit (of slots: that of the struct); 0: this one is exact. `nr` is theirs.
 * Samples, parameters and what profile_set() sets are no figures.
 */
void profile_estimate(struct profile *p, const double *errors, unsigned nr);

int profile_set(struct profile *p, const char *key, const char *value);      /* table run; value NULL: nothing is set */
int profile_set_int(struct profile *p, const char *key, int64_t value);
/* A JSON array of strings (arguments, notes); `items` NULL-terminated. */
int profile_set_list(struct profile *p, const char *key, const char *const *items);
int profile_parameter(struct profile *p, const char *name, const char *value); /* the core's, as used */
int profile_cycles(struct profile *p, uint32_t insn, uint16_t psv, uint64_t executions, uint64_t units);
int profile_sample(struct profile *p, const char *method, uint32_t insn, uint16_t psv, uint64_t weight);
int profile_state(struct profile *p, uint32_t thread, const char *state, uint64_t units);
int profile_component(struct profile *p, const char *method, const char *component, uint64_t units);
int profile_event(struct profile *p, const char *event, uint64_t count);
/*
 * Any other figure of a method, by a name of its choosing: "error/instruction", "period". NaN: undefined, kept
 * as NULL.
 */
int profile_figure(struct profile *p, const char *method, const char *name, double value);
/*
 * As what top-down's second level is saved: of the run, and formats of the names for a thread's number and a region's
 * name.
 */
#define TOPDOWN_RUN "topdown"
#define TOPDOWN_THREAD "topdown/thread/%" PRIu32
#define TOPDOWN_REGION "topdown/region/%s"
/* The same of one instruction: "latency/fetch_to_map". */
int profile_insn_figure(struct profile *p, const char *method, uint32_t insn, const char *name, double value);

struct slot_counts { uint64_t total, filled, issued, retired, recovery; }; /* slots */

/* Threads are numbered through the run. They are of process 0 unless profile_thread_process() is called afterwards. */
int profile_thread(struct profile *p, uint32_t thread, uint64_t instructions, uint64_t uops, uint64_t units,
                   const struct slot_counts *slots);
/* A process: number in the order in which they began (an exec begins one, too), and who began it, a lower number. */
#define PROCESS_NONE UINT32_MAX /* as parent: the run began with it */
int profile_process(struct profile *p, uint32_t process, uint32_t parent, const char *program);
int profile_thread_process(struct profile *p, uint32_t thread, uint32_t process);
/* Sums the threads up: run.cycles_units, instructions, uops; of estimates also their errors (it can be no more). */
int profile_totals(struct profile *p);
int profile_region(struct profile *p, const char *name, uint64_t entries, uint64_t instructions, uint64_t units,
                   const struct slot_counts *slots);
int profile_unmodelled(struct profile *p, const char *form, uint64_t executions);

/*
 * Intervals: parts of a thread's run that do not overlap, numbered through the run. What is said of them is said beside
 * all of the above, which is of the whole run, and adds nothing to it. An interval begins where the thread has executed
 * `begin_instructions` in `begin_units`; its figures are how many of each it is long.
 */
int profile_interval(struct profile *p, uint32_t interval, uint32_t thread, uint64_t begin_instructions,
                     uint64_t begin_units, uint64_t instructions, uint64_t units);
/* Its stack: as profile_cycles(), over all instructions. */
int profile_interval_cycles(struct profile *p, uint32_t interval, uint16_t psv, uint64_t executions, uint64_t units);
/* Any other: as profile_figure(). */
int profile_interval_figure(struct profile *p, const char *method, uint32_t interval, const char *name, double value);

/*
 * Names every instruction that has a row in `cycles`: module, address, symbol, lines, inline chain, text.
 * `maps` says which file it came from, `pid` which perf map names JIT code (/tmp/perf-PID.map, read now).
 * Call it after profile_cycles(). What one checkpoint resolved the next ones do not resolve again.
 */
struct code;
struct maps;
int profile_instructions(struct profile *p, struct code *code, const struct maps *maps, int pid);

#endif
