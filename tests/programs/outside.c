/*
 * work: computes a while. unlink PATH: removes PATH after it. holes, pipe: leaves a perf map with nothing but holes in it,
 * or a pipe in its place, and runs code that it made.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../include/cyclewise.h"

__attribute__((noipa)) long work(long n)
{
	long x = 0;

	for (long i = 0; i < n; i++)
		x = x * 7 + i;
	return x;
}

static void made_code(const char *how)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char map[64];
	int fd;

	snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
	unlink(map);
	if (!strcmp(how, "pipe")) {
		mkfifo(map, 0600);
	} else {
		fd = open(map, O_CREAT | O_RDWR, 0600);
		if (ftruncate(fd, 3l << 30))
			perror(map);
		close(fd);
	}
	code[0] = 0xc3;
	for (int i = 0; i < 1000; i++)
		((void (*)(void))code)();
}

int main(int argc, char **argv)
{
	static volatile long sink;

	CYCLEWISE_BEGIN("region");
	sink = work(2000);
	CYCLEWISE_END("region");
	if (argc > 2 && !strcmp(argv[1], "unlink"))
		unlink(argv[2]);
	if (argc > 1 && (!strcmp(argv[1], "holes") || !strcmp(argv[1], "pipe")))
		made_code(argv[1]);
	return 0;
}
