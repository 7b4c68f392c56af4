/* What becomes of a program when cyclewise, here a child that kills itself, has gone. */
#ifndef CYCLEWISE_TESTS_ORPHAN_H
#define CYCLEWISE_TESTS_ORPHAN_H

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* `pid`: the child; `out`: a pipe that only the program still writes to, which is closed then. */
static inline void orphan_says(pid_t pid, int out[2], const char *expected)
{
	char said[16] = "";
	ssize_t n;

	close(out[1]);
	waitpid(pid, NULL, 0);
	for (size_t got = 0; got < sizeof said - 1 && (n = read(out[0], said + got, sizeof said - 1 - got)) > 0;)
		got += (size_t)n;
	assert_string_equal(said, expected);
	close(out[0]);
}

#endif
