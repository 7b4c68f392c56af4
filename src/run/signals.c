#include "run/signals.h"

#include <errno.h>
#include <glib.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The same signal so soon after the program's was sent twice, as timeout(1) does: to a process and to its group. */
enum { TWICE_MS = 1000 };

/* No handler: SIGKILL and SIGSTOP cannot have one; for SIGTTOU see ignored_meanwhile(). */
static const int untouched[] = { SIGKILL, SIGSTOP, SIGTTOU };
/* They end cyclewise once the program has. */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU };
/* Nothing but a defect of cyclewise makes them, unless somebody sent them. */
static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT };
/* The terminal sends them to a group. */
static const int of_group[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGWINCH, SIGHUP, SIGCONT };
/* They are of use to cyclewise itself when there is no program any more. */
static const int job_control[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH };

static const struct source_ops *passed_ops;
static struct source *_Atomic passed_to;   /* NULL: no program */
static struct sigaction old[NSIG + 1];
static bool caught[NSIG + 1];
static volatile sig_atomic_t asked;
static volatile sig_atomic_t last;         /* signal to the program */
static volatile int64_t last_ms;

static bool is_in(int sig, const int *set, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (set[i] == sig)
			return true;
	return false;
}
#define IS_IN(sig, set) is_in(sig, set, G_N_ELEMENTS(set))

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A process sent it to itself, or the kernel for what it did. */
static bool of_own_doing(const siginfo_t *info)
{
	return info->si_code <= 0 && info->si_pid == getpid();
}

/* The kernel has sent it to the program as well. A hangup goes to the leader of the session alone. */
static bool has_it_already(int sig, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL && IS_IN(sig, of_group) && (sig != SIGHUP || getsid(0) != getpid());
}

/* The first that the terminal sent to both, of which the program has just ended: it is no request to cyclewise. */
static bool ended_the_program(const struct source *s, int sig, const siginfo_t *info)
{
	return !last && has_it_already(sig, info) && passed_ops->ended_by(s, sig);
}

static void program_ended(int sig)
{
	if (!IS_IN(sig, ending) || old[sig].sa_handler == SIG_IGN)
		return;
	if (!asked && sig == last && now_ms() - last_ms < TWICE_MS)
		return;
	if (asked)
		_exit(128 + sig);
	asked = sig;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct source *s = atomic_load(&passed_to);
	int code = errno;

	(void)context;
	if (IS_IN(sig, faults) && (info->si_code > 0 || of_own_doing(info))) {
		sigaction(sig, &old[sig], NULL); /* as if it had not been caught: it comes again on return */
		raise(sig);
	} else if (sig == SIGCHLD ? info->si_code > 0 : of_own_doing(info) && (sig == SIGPIPE || sig == SIGXFSZ)) {
		; /* the write has failed, and whoever wrote sees that; of the program, read() does */
	} else if (!s || (!passed_ops->running(s) && !ended_the_program(s, sig, info))) {
		program_ended(sig);
	} else {
		if (sig == SIGCONT || !has_it_already(sig, info))
			passed_ops->pass(s, info);
		last = sig;
		last_ms = now_ms();
	}
	errno = code;
}

void signals_hold(sigset_t *mask)
{
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, mask);
}

/* A write to the terminal from the background must not stop cyclewise, nor be tried for ever. */
static void ignored_meanwhile(int sig)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	caught[sig] = !sigaction(sig, &ignore, &old[sig]);
}

void signals_begin(const struct source_ops *ops, struct source *source, const sigset_t *mask)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO };
	sigset_t none;

	if (!source) {
		pthread_sigmask(SIG_SETMASK, mask, NULL);
		return;
	}
	passed_ops = ops;
	asked = last = 0;
	atomic_store(&passed_to, source);
	sigfillset(&act.sa_mask);
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		sigdelset(&act.sa_mask, faults[i]);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (!IS_IN(sig, untouched) && !sigaction(sig, NULL, &old[sig])) /* some are the C library's */
			caught[sig] = !sigaction(sig, &act, NULL);
	ignored_meanwhile(SIGTTOU);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void restore(int sig)
{
	if (caught[sig])
		sigaction(sig, &old[sig], NULL);
	caught[sig] = false;
}

void signals_program_ended(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(job_control); i++)
		restore(job_control[i]);
}

void signals_end(void)
{
	atomic_store(&passed_to, NULL);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (!IS_IN(sig, ending))
			restore(sig);
}

int signals_asked(void)
{
	return asked;
}
