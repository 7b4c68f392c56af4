/*
 * Errors of the outside world: files, arguments, bytes of the program under study.
 *
 * A function that can fail returns 0 or -errno. The message is set once, where the cause is known,
 * and kept per thread until the next one; only cmd/ prints it and chooses the exit status.
 * A programmer's error is an assert, never one of these.
 */
#ifndef CYCLEWISE_BASE_ERROR_H
#define CYCLEWISE_BASE_ERROR_H

/* Exit statuses that env(1) and timeout(1) taught users to expect. */
enum {
	EXIT_USAGE = 2,
	EXIT_FAILED = 125,         /* cyclewise itself failed */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

struct error {
	char what[512];            /* what it is about: a path, an option, a core */
	char why[512];             /* one clause, no full stop */
	char remedy[512];          /* what the user can do; empty where there is nothing */
	int status;                /* exit status; EXIT_FAILED unless error_status() said otherwise */
};

/* Sets the calling thread's message, clears its remedy and returns -code (code: a positive errno value). */
int error_set(int code, const char *what, const char *why, ...) __attribute__((format(printf, 3, 4)));
/* The same, with strerror(code) as the reason. */
int error_errno(int code, const char *what);
/* Adds the remedy to the message last set. */
void error_remedy(const char *remedy, ...) __attribute__((format(printf, 1, 2)));
/* Gives the message last set an exit status other than EXIT_FAILED. */
void error_status(int status);
/* The message last set; valid until the thread sets another. */
const struct error *error_get(void);
/* Makes a copy that was taken earlier the message last set, after calls that may have set others. */
void error_put(const struct error *e);

#endif
