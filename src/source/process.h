/*
 * The emulator's process: how it ended, signals to it, and stops, which cyclewise follows. The calls that are safe in a
 * signal handler say so.
 */
#ifndef CYCLEWISE_SOURCE_PROCESS_H
#define CYCLEWISE_SOURCE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct process {
	pid_t pid;                 /* its own until process_close(), though it may have ended */
	int realtime;              /* a real-time signal of the program is that many higher outside the emulator */
	bool ended;
	int exit_status, signal;   /* of which one ended it; the program's numbers */
	volatile sig_atomic_t continued; /* SIGCONT was passed, and process_look() has not seen to it yet */
};

/* Looks how it is. Where it has been stopped, so is the caller's process, by the same signal. */
void process_look(struct process *p);
/* Passes a signal on, with the value that it was queued with. Safe in a handler. */
void process_pass(struct process *p, const siginfo_t *info);
/* Whether it has not ended, as of this moment. Safe in a handler. */
bool process_running(const struct process *p);
/* The same, once it has: whether it was by that signal, or process_look() has not seen the end yet. */
bool process_ended_by(const struct process *p, int sig);
/* Ends it where it has not ended: by SIGTERM, after a second by SIGKILL. */
void process_close(struct process *p);

#endif
