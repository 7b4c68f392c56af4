/*
 * A program that ends in the way its first argument says, for end-to-end tests of what bad input gets.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, used))

NOINLINE uint64_t work(uint64_t n)
{
	uint64_t x = 1;

	while (n--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* Stores through a null pointer. */
NOINLINE void crash(void)
{
	volatile int *nowhere = NULL;

	__asm__ volatile("" : "+r"(nowhere));
	*nowhere = 1;
}

/* vpaddd zmm0, zmm0, zmm0 */
NOINLINE void illegal(void)
{
#ifdef __x86_64__
	__asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc0");
#endif
}

static void on_signal(int sig)
{
	(void)sig;
	_exit(7);
}

/* Works for `rounds` of about a million instructions each, or until there is a file `go`; then leaves a file that says so. */
static void long_run(unsigned rounds, const char *done, const char *go)
{
	uint64_t x = work(1000);               /* whoever reads the line may end it at once: then this was executed */

	printf("started\n");
	fflush(stdout);
	for (unsigned i = 0; go ? access(go, F_OK) : i < rounds; i++)
		x += work(250000);
	int fd = open(done, O_CREAT | O_WRONLY, 0600);
	if (fd >= 0 && dprintf(fd, "done %d\n", x != 0) > 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	int number = argc > 2 ? atoi(argv[2]) : 0;
	const char *done = argc > 3 ? argv[3] : NULL, *go = argc > 4 ? argv[4] : NULL;

	work(1000);
	if (!strcmp(how, "crash"))
		crash();
	else if (!strcmp(how, "illegal"))
		illegal();
	else if (!strcmp(how, "raise"))
		raise(number);
	else if (!strcmp(how, "_exit"))
		_exit(number);
	else if (!strcmp(how, "long"))
		long_run((unsigned)number, done, go);
	if (!strcmp(how, "handle")) {
		signal(SIGINT, on_signal);
		long_run((unsigned)number, done, go);
	}
	if (!strcmp(how, "close")) {
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
		work(1000);
	}
	return number;
}
