/*
 * A program that says which signals it gets, a line each, for end-to-end tests of who gets them. SIGTERM ends it, with
 * status 9. Arguments: signals that it leaves as they are; or "inherited": it only says which it ignores, which it blocks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	char line[64];

	(void)context;
	snprintf(line, sizeof line, "got %d %d\n", sig, info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
	if (write(STDOUT_FILENO, line, strlen(line)) < 0 || sig == SIGTERM)
		over = 1;
}

static int inherited(void)
{
	struct sigaction act;
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int sig = 1; sig < 32; sig++) {
		if (!sigaction(sig, NULL, &act) && act.sa_handler == SIG_IGN)
			printf("%d is ignored\n", sig);
		if (sigismember(&blocked, sig))
			printf("%d is blocked\n", sig);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t all, none;

	if (argc > 1 && !strcmp(argv[1], "inherited"))
		return inherited();
	sigfillset(&all);
	sigemptyset(&none);
	act.sa_mask = all;
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int sig = 1; sig <= 64; sig++) {
		int left = 0;

		for (int i = 1; i < argc; i++)
			left |= atoi(argv[i]) == sig;
		if (!left)
			sigaction(sig, &act, NULL);
	}
	if (write(STDOUT_FILENO, "ready\n", 6) < 0)
		return 1;
	while (!over)
		sigsuspend(&none);
	return 9;
}
