#include "symbol_fixture.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static pid_t owner;

static void remove_folder(void)
{
	char *command = g_strdup_printf("rm -rf '%s'", folder);

	if (getpid() == owner && system(command))
		fprintf(stderr, "cannot remove %s\n", folder);
	g_free(command);
}

const char *fixture_folder(void)
{
	if (!folder[0]) {
		g_strlcpy(folder, "/tmp/cyclewise-test-XXXXXX", sizeof(folder));
		if (!mkdtemp(folder))
			abort();
		owner = getpid();
		atexit(remove_folder);
	}
	return folder;
}

bool fixture_run(const char *command)
{
	const char *sources = g_getenv("CYCLEWISE_FIXTURES");
	GString *full = g_string_new(command);
	int status;

	g_string_replace(full, "%1", fixture_folder(), 0);
	g_string_replace(full, "%2", sources ? sources : ".", 0);
	status = system(full->str);
	if (status)
		fprintf(stderr, "failed: %s\n", full->str);
	g_string_free(full, TRUE);
	return !status;
}

const char *fixture_path(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *path = paths[next++ % 8];

	g_snprintf(path, sizeof(paths[0]), "%s/%s", fixture_folder(), name);
	return path;
}
