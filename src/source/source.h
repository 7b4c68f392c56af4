/*
 * Sources of steps. The QEMU source launches a program and reads what its plugin sends; others read files.
 */
#ifndef CYCLEWISE_SOURCE_SOURCE_H
#define CYCLEWISE_SOURCE_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/code.h"
#include "record/answer.h"
#include "record/step.h"
#include "source/maps.h"
#include "source/regions.h"

/* A program found and looked at, before anything runs. */
struct program {
	char path[4096];           /* resolved by PATH as execvp(3) does */
	enum isa isa;
	bool dynamic;              /* has an interpreter */
	bool other_rights;         /* set-user-ID or set-group-ID of another, which the emulator does not grant */
};

/*
 * Finds `name` and reads its ELF header. Errors: -ENOENT (status 127); -EACCES, -ENOEXEC (126): not executable,
 * a directory, a script, not ELF, 32-bit, an ISA without a core; each with its remedy.
 */
int program_probe(struct program *out, const char *name);

/* What is to be counted. All zero: everything. */
struct window {
	const char *roi;           /* function whose calls are counted, callees included; NULL: none */
	const char *start_after, *stop_at; /* symbols; NULL: none */
	uint64_t skip, count;      /* instructions; count 0: no limit */
};

struct source_config {
	const struct program *program;
	char *const *argv;         /* the program's, argv[0] included */
	struct code *code;
	const char *qemu_cpu;      /* what -cpu gets */
	struct window window;
	bool stdout_to_stderr;     /* the program's standard output goes to standard error */
	const sigset_t *mask;      /* signals that the program begins with blocked; NULL: those of the caller */
};

/* Steps of one thread. Valid until the next source_read(). */
struct step_batch {
	const struct step *step;
	size_t n;                  /* to be timed now */
	size_t ahead;              /* that follow: at least STEP_AHEAD of record/step.h, until the thread ends or
	                            * asks */
	uint32_t thread;           /* 0, 1, ... in order of creation */
	bool end;                  /* the thread's last batch */
	bool asks;                 /* with the last step the thread asks for its counters, and waits for
	                            * source_ops.answer() */
};

/* How it went; final after source_read() gave 0. */
struct source_result {
	bool ran;                  /* the program started */
	int exit_status;           /* as _exit(2) got it */
	int signal;                /* that ended it, 0: none */
	bool complete;             /* false: cut short (killed by a signal, emulator killed, records lost, cut()) */
	bool window_seen;          /* the region of interest was entered */
	const char *window_gone;   /* a name of the window of which the compiler left no code; NULL: none */
	const char *window_unknown;/* a name of the window that no file has that code was run of; NULL: none */
	uint64_t instructions;     /* STEP_INSN handed on so far; in the end checked against what the plugin counted */
	uint64_t lost;             /* records */
	uint32_t forks, execs;     /* children, and exec'd programs, that were not profiled */
	int pid;                   /* of the emulator: names /tmp/perf-PID.map */
	char emulator[256];        /* "qemu-x86_64 7.2.22" */
	char note[8][512];         /* warnings for the user, in order; empty strings after the last */
};

struct source;

struct source_ops {
	const char *name, *help;
	int (*open)(struct source **out, const struct source_config *config);
	/* 1: a batch; 0: the program has ended and all is read; -errno. Waits. */
	int (*read)(struct source *s, struct step_batch *out);
	/*
	 * Answers what the last batch asked: the thread's counters with all of it timed. Zeros where this was not
	 * called by the next read(), and after the end of the window.
	 */
	void (*answer)(struct source *s, const struct counters *counters);
	/*
	 * Safe from a signal handler: passes a signal on to the program. What the program makes of it is its own
	 * affair, and read() goes on until it ends. While the program is stopped, read() stops the caller's process, by
	 * the same signal; SIGCONT that is passed lets the program go on, unless it has had one itself.
	 */
	void (*pass)(struct source *s, const siginfo_t *info);
	/* Safe from a signal handler: whether the program has not ended yet. */
	bool (*running)(const struct source *s);
	/* The same, once it has: whether it was by that signal, or read() has not noticed the end yet. */
	bool (*ended_by)(const struct source *s, int sig);
	/* What was sent and not read is not wanted any more, and the result not complete: read() ends soon. */
	void (*cut)(struct source *s);
	const struct maps *(*maps)(const struct source *s);
	const struct regions *(*regions)(const struct source *s);
	const struct source_result *(*result)(const struct source *s);
	void (*close)(struct source *s);
};

const struct source_ops *source_find(const char *name);

#endif
