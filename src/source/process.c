#include "source/process.h"

#include <sys/wait.h>
#include <time.h>

enum {
	CONTINUE_MS = 50,          /* after a SIGCONT to cyclewise: the program may have had one of its own by then */
	CLOSE_MS = 1000,           /* what it gets to end by itself */
};

/* What of it has changed, as CLD_EXITED and the like; 0: nothing. `options`: of waitid(2). */
static int changed(const struct process *p, siginfo_t *info, int options)
{
	*info = (siginfo_t){ .si_pid = 0 };
	return !waitid(P_PID, (id_t)p->pid, info, options | WNOHANG) && info->si_pid ? info->si_code : 0;
}

static void sleep_ms(int ms)
{
	nanosleep(&(const struct timespec){ .tv_nsec = ms * 1000 * 1000 }, NULL);
}

/*
 * cyclewise was told to go on. Where that was its whole group, so was the program; where it was cyclewise alone, the
 * program is told now: once in either case.
 */
static void go_on(struct process *p, int change)
{
	siginfo_t info;

	p->continued = 0;
	for (int ms = 0; change == CLD_STOPPED && ms < CONTINUE_MS; ms++) {
		sleep_ms(1);
		if (changed(p, &info, WCONTINUED) == CLD_CONTINUED)
			change = CLD_CONTINUED;
	}
	if (change != CLD_CONTINUED)
		kill(p->pid, SIGCONT);
}

/* The program was stopped. So is cyclewise: whoever waits for the job sees it stop. */
static void stop_too(struct process *p, int sig)
{
	struct sigaction usual = { .sa_handler = SIG_DFL }, action;

	if (sig != SIGSTOP)
		sigaction(sig, &usual, &action);
	raise(sig);
	if (sig != SIGSTOP)
		sigaction(sig, &action, NULL);
	if (p->continued)
		go_on(p, CLD_STOPPED);
}

void process_look(struct process *p)
{
	siginfo_t info;

	if (p->ended)
		return;
	bool continued = p->continued;
	int change = changed(p, &info, WSTOPPED | WCONTINUED);
	if (continued)
		go_on(p, change);
	else if (change == CLD_STOPPED)
		stop_too(p, info.si_status);
	change = changed(p, &info, WEXITED | WNOWAIT);
	if (!change)
		return;
	p->ended = true;
	if (change == CLD_EXITED)
		p->exit_status = info.si_status;
	else
		p->signal = info.si_status - (info.si_status >= SIGRTMIN ? p->realtime : 0);
}

void process_pass(struct process *p, const siginfo_t *info)
{
	int sig = info->si_signo + (info->si_signo >= SIGRTMIN ? p->realtime : 0);

	if (sig == SIGCONT)
		p->continued = 1;
	else if (info->si_code == SI_QUEUE) /* the highest are nothing that the emulator could take */
		sigqueue(p->pid, sig, info->si_value);
	else
		kill(p->pid, sig);
}

bool process_running(const struct process *p)
{
	siginfo_t info;

	return !p->ended && !changed(p, &info, WEXITED | WNOWAIT);
}

bool process_ended_by(const struct process *p, int sig)
{
	return !p->ended || p->signal == sig;
}

void process_close(struct process *p)
{
	siginfo_t info;

	if (process_running(p)) {
		kill(p->pid, SIGTERM);
		kill(p->pid, SIGCONT);
		for (int ms = 0; ms < CLOSE_MS && process_running(p); ms++)
			sleep_ms(1);
		kill(p->pid, SIGKILL);
	}
	waitid(P_PID, (id_t)p->pid, &info, WEXITED);
}
