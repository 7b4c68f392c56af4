/*
 * The program gets the environment, descriptors, signals and arguments it would have without us; what is ours is on
 * the emulator's command line alone. Addresses are the same in every run: no randomisation, a fixed seed, and no
 * arenas that threads of the emulator's own would map sooner or later (newer QEMU puts the program where there is
 * room).
 */
#include "source/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

/* Where Debian's cross packages and others put the libraries of another ISA; and which package has them. */
static const struct target {
	const char *name, *triplet, *package;
} targets[NR_ISAS] = {
	[ISA_X86_64] = { "x86_64", "x86_64-linux-gnu", "libc6-amd64-cross" },
	[ISA_AARCH64] = { "aarch64", "aarch64-linux-gnu", "libc6-arm64-cross" },
	[ISA_RISCV64] = { "riscv64", "riscv64-linux-gnu", "libc6-riscv64-cross" },
};

/* Descriptors of the program start at 0: ours is put out of their way until the plugin has closed it. */
enum { FD_FROM = 64 };

static int find_emulator(struct emulator *e, enum isa isa)
{
	const char *given = getenv("CYCLEWISE_QEMU");
	if (given && !*given)
		given = NULL;
	char *name = g_strconcat("qemu-", targets[isa].name, NULL), *found;

	if (given && g_file_test(given, G_FILE_TEST_IS_DIR)) {
		char *path = g_build_filename(given, name, NULL);
		found = g_find_program_in_path(path);
		g_free(path);
	} else {
		found = g_find_program_in_path(given ? given : name);
	}
	int ret = 0;
	if (!found) {
		ret = error_set(ENOENT, given ? given : name, "the emulator is not there");
		if (given)
			error_remedy("CYCLEWISE_QEMU names an emulator or the directory it is in");
		else
			error_remedy("apt install qemu-user, or name the emulator in CYCLEWISE_QEMU");
	} else {
		g_strlcpy(e->path, found, sizeof e->path);
	}
	g_free(found);
	g_free(name);
	return ret;
}

/*
 * Of the real-time signals the C library keeps the lowest, and newer emulators some more: the program's begin behind.
 *
 * Ref: QEMU linux-user/signal.c, signal_table_init()
 */
static int realtime_shift(unsigned major, unsigned minor)
{
	enum { KERNEL_FIRST = 32 };
	int kept = major > 9 ? 2 : major > 8 || (major == 8 && minor >= 2) ? 1 : 0;

	return SIGRTMIN - KERNEL_FIRST + kept;
}

/* The interface of its plugins; -errno. */
static int find_version(struct emulator *e)
{
	char *argv[] = { e->path, (char *)"--version", NULL }, *out = NULL;
	unsigned major, minor, micro = 0;
	int status;

	if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, &status, NULL))
		return error_set(ENOEXEC, e->path, "the emulator cannot be run");
	const char *version = out ? strstr(out, " version ") : NULL;
	int n = version ? sscanf(version, " version %u.%u.%u", &major, &minor, &micro) : 0;
	g_free(out);
	if (n < 2)
		return error_set(ENOEXEC, e->path, "it is not an emulator of QEMU: it does not say its version");
	char *base = g_path_get_basename(e->path);
	snprintf(e->version, sizeof e->version, "%s %u.%u.%u", base, major, minor, micro);
	g_free(base);
	if (major < 7) {
		error_set(ENOTSUP, e->path, "QEMU %u.%u is too old", major, minor);
		error_remedy("7.2 or newer is needed");
		return -ENOTSUP;
	}
	e->realtime = realtime_shift(major, minor);
	return major < 9 ? 1 : 2;
}

/* In the build directory, installed, or where the user says. */
static int find_plugin(struct emulator *e, int api)
{
	const char *given = getenv("CYCLEWISE_PLUGIN_DIR");
	char *exe = g_file_read_link("/proc/self/exe", NULL), *here = exe ? g_path_get_dirname(exe) : g_strdup(".");
	static const char *const beside[] = { "../plugin", "../../src/plugin", "src/plugin", "../" PLUGIN_DIR };
	char name[32];
	int ret = -ENOENT;

	snprintf(name, sizeof name, "plugin_api%d.so", api);
	for (size_t i = 0; ret && i < G_N_ELEMENTS(beside); i++) {
		char *path =
			given ? g_build_filename(given, name, NULL) : g_build_filename(here, beside[i], name, NULL);
		char *whole = realpath(path, NULL);
		if (whole && file_regular(whole) && g_strlcpy(e->plugin, whole, sizeof e->plugin) < sizeof e->plugin)
			ret = 0;
		free(whole);
		g_free(path);
	}
	if (ret) {
		error_set(ENOENT, name, "cyclewise's own plugin is not there");
		error_remedy("install cyclewise again, or name the directory it is in in CYCLEWISE_PLUGIN_DIR");
	}
	g_free(here);
	g_free(exe);
	return ret;
}

/* A dynamic program's interpreter must be where the emulator looks for it. */
static int find_libraries(struct emulator *e, const struct program *program)
{
	const struct target *t = &targets[program->isa];
	char interpreter[PATH_MAX];

	if (!program->dynamic || program_interpreter(program->path, interpreter, sizeof interpreter) <= 0)
		return 0;
	const char *given = getenv("QEMU_LD_PREFIX");
	char *prefix = given ? g_strdup(given) : g_build_filename("/usr", t->triplet, NULL);
	char *path = g_build_filename(prefix, interpreter, NULL);
	int ret = 0;
	if (file_regular(path) && !access(path, R_OK)) {
		if (!given)
			g_strlcpy(e->prefix, prefix, sizeof e->prefix);
	} else if (!file_regular(interpreter) || access(interpreter, R_OK)) {
		ret = error_set(ENOENT, program->path, "its dynamic loader %s is not there", interpreter);
		error_remedy("apt install %s, or name the root of its libraries in QEMU_LD_PREFIX", t->package);
	}
	g_free(path);
	g_free(prefix);
	return ret;
}

/* How the user has it; with SIG_IGN there would be no telling how the emulator ends, and it is as usual for us. */
static struct sigaction children = { .sa_handler = SIG_DFL };

static void wait_for_children(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL }, now;

	if (!sigaction(SIGCHLD, &usual, &now) && now.sa_handler == SIG_IGN)
		children = now;
}

int emulator_find(struct emulator *out, const struct program *program)
{
	*out = (struct emulator){ 0 };
	wait_for_children();
	int ret = find_emulator(out, program->isa);
	if (ret)
		return ret;
	int api = find_version(out);
	if (api < 0)
		return api;
	ret = find_plugin(out, api);
	return ret ? ret : find_libraries(out, program);
}

/* In QEMU's option syntax a comma is doubled. */
static char *plugin_option(const char *path, const struct shared_memory *memory)
{
	GString *s = g_string_new("file=");
	for (; *path; path++)
		g_string_append_printf(s, *path == ',' ? ",," : "%c", *path);
	if (memory->fd >= 0)
		g_string_append_printf(s, ",fd=%d", memory->fd);
	else
		g_string_append_printf(s, ",segment=%d", memory->segment);
	return g_string_free(s, FALSE);
}

static char **arguments(const struct emulator *e, const struct source_config *config,
                        const struct shared_memory *memory)
{
	GPtrArray *a = g_ptr_array_new();
	const char *const fixed[] = { e->path, "-seed", "1", "-0", config->argv[0], "-plugin" };

	for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
		g_ptr_array_add(a, g_strdup(fixed[i]));
	g_ptr_array_add(a, plugin_option(e->plugin, memory));
	if (config->qemu_cpu && *config->qemu_cpu) {
		g_ptr_array_add(a, g_strdup("-cpu"));
		g_ptr_array_add(a, g_strdup(config->qemu_cpu));
	}
	const char *arenas = getenv("MALLOC_ARENA_MAX"); /* the program gets it as the user has it */
	g_ptr_array_add(a, g_strdup(arenas ? "-E" : "-U"));
	g_ptr_array_add(a, arenas ? g_strconcat("MALLOC_ARENA_MAX=", arenas, NULL) : g_strdup("MALLOC_ARENA_MAX"));
	if (*e->prefix) {
		g_ptr_array_add(a, g_strdup("-L"));
		g_ptr_array_add(a, g_strdup(e->prefix));
	}
	g_ptr_array_add(a, g_strconcat(*config->program->path == '-' ? "./" : "", config->program->path, NULL));
	for (char *const *p = config->argv + 1; *p; p++)
		g_ptr_array_add(a, g_strdup(*p));
	g_ptr_array_add(a, NULL);
	return (char **)g_ptr_array_free(a, FALSE);
}

/* The emulator's. What the user set for us is not the program's. */
static char **environment(void)
{
	GPtrArray *a = g_ptr_array_new();
	for (char **e = environ; *e; e++)
		if (!g_str_has_prefix(*e, "CYCLEWISE_") && !g_str_has_prefix(*e, "MALLOC_ARENA_MAX="))
			g_ptr_array_add(a, g_strdup(*e));
	g_ptr_array_add(a, g_strdup("MALLOC_ARENA_MAX=1"));
	g_ptr_array_add(a, NULL);
	return (char **)g_ptr_array_free(a, FALSE);
}

/* In the child, `parent`'s. Returns only where it failed, with errno set. */
static void become(const struct source_config *config, char **argv, char **env, int fd, pid_t parent)
{
	/* It ends with us, however we end: what it does would be for nobody. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(EXIT_FAILED);
	sigaction(SIGCHLD, &children, NULL);
	if (config->mask)
		sigprocmask(SIG_SETMASK, config->mask, NULL);
	personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
	if (config->stdout_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return;
	if (fd >= 0 && fcntl(fd, F_SETFD, 0))
		return;
	execve(argv[0], argv, env);
}

pid_t emulator_start(const struct emulator *e, const struct source_config *config, const struct shared_memory *memory)
{
	struct shared_memory its = *memory;
	int report[2], code = 0;

	if (memory->fd >= 0) {
		its.fd = fcntl(memory->fd, F_DUPFD_CLOEXEC, FD_FROM);
		if (its.fd < 0) /* the user allows fewer */
			its.fd = fcntl(memory->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (its.fd < 0)
			return error_errno(errno, e->path);
	}
	if (pipe2(report, O_CLOEXEC)) {
		code = errno;
		if (its.fd >= 0)
			close(its.fd);
		return error_errno(code, e->path);
	}
	char **argv = arguments(e, config, &its), **env = environment();
	pid_t us = getpid(), pid = fork();
	if (!pid) {
		become(config, argv, env, its.fd, us);
		code = errno;
		if (write(report[1], &code, sizeof code) < 0)
			_exit(EXIT_FAILED);
		_exit(EXIT_FAILED);
	}
	code = pid < 0 ? errno : 0;
	close(report[1]);
	if (its.fd >= 0)
		close(its.fd);
	if (pid > 0 && read(report[0], &code, sizeof code) == (ssize_t)sizeof code)
		waitpid(pid, NULL, 0);
	close(report[0]);
	g_strfreev(argv);
	g_strfreev(env);
	return code ? error_errno(code, e->path) : pid;
}
