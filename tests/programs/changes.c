/*
 * Changes its own file between two functions, by tests/e2e/changed.py: "rename FILE" puts FILE in its place, "write
 * OFFSET" writes into it. With -DMORE, other code stands before the second function.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader.h"

#define ALONE __attribute__((noinline, noclone))

ALONE int first(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

#ifdef MORE
ALONE int more(int n)
{
	return n * 3 + n / 7;
}

ALONE int still_more(int n)
{
	return n * 5 + n / 11;
}
#endif

ALONE int second(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv)
{
	int file = -1, failed = 0;

	first(5000);
	if (argc > 2)
		wait_for_reader(argv[0]);
	if (argc > 2 && !strcmp(argv[1], "rename")) {
		failed = rename(argv[2], argv[0]);
	} else if (argc > 2) {
		file = open(argv[0], O_WRONLY);
		failed = pwrite(file, "changed!", 8, atol(argv[2])) != 8;
	}
	second(2000);
	return failed;
}
