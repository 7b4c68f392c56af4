/* Waits until the parent process, which is cyclewise, has a file open: it then knows the file that was mapped. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int parent_has(const char *path)
{
	char folder[64], place[400], target[PATH_MAX];
	struct dirent *entry;
	int found = 0;
	DIR *dir;

	snprintf(folder, sizeof folder, "/proc/%d/fd", (int)getppid());
	dir = opendir(folder);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(place, sizeof place, "%s/%s", folder, entry->d_name);
		ssize_t n = readlink(place, target, sizeof target - 1);

		target[n > 0 ? n : 0] = '\0';
		found = n > 0 && !strcmp(target, path);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void wait_for_reader(const char *path)
{
	char whole[PATH_MAX];

	for (int i = 0; i < 20000 && realpath(path, whole) && !parent_has(whole); i++)
		usleep(1000);
}
