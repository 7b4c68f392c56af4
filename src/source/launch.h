/*
 * Finding an emulator and the plugin that fits it, and starting a program under it.
 */
#ifndef CYCLEWISE_SOURCE_LAUNCH_H
#define CYCLEWISE_SOURCE_LAUNCH_H

#include <limits.h>
#include <sys/types.h>

#include "source/source.h"

struct emulator {
	char path[PATH_MAX];
	char plugin[PATH_MAX];
	char prefix[PATH_MAX];     /* -L: where the program's libraries are looked for first; empty: the emulator's
	                            * own choice */
	char version[256];         /* "qemu-x86_64 7.2.22" */
	int realtime;              /* it takes real-time signals for those of the program that are so much lower */
};

/* The file name of a dynamic program's interpreter in `out`. 1; 0: it has none; -errno. */
int program_interpreter(const char *path, char *out, size_t size);

/* -ENOENT: no emulator, no plugin, no libraries of a foreign program; each with its remedy. -ENOTSUP: too old. */
int emulator_find(struct emulator *out, const struct program *program);

/* Memory that the emulator shares with us: a file that it inherits and closes before the program runs; or a segment. */
struct shared_memory {
	int fd;                    /* -1: none */
	int segment;               /* of System V, where there is no file */
};

/* Starts the program. The emulator's process id, or -errno. */
pid_t emulator_start(const struct emulator *e, const struct source_config *config, const struct shared_memory *memory);

#endif
