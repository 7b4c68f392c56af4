/*
 * What the program asks of its kernel, as far as it tells where code comes from and which translations of addresses
 * are gone: mappings, signal handlers; and whether it leaves for good (exec) or leaves children behind (fork).
 *
 * Mappings that stand before the first instruction (the program and its interpreter, put there by the emulator) are
 * those of /proc/self/maps that were not there when the plugin was installed.
 *
 * Where shared memory segments (shmat) lie is not followed: no file is in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "plugin/plugin.h"

static const struct syscalls table[] = {
	{
		.target = "x86_64", .mmap = 9, .mprotect = 10, .munmap = 11, .mremap = 25, .madvise = 28, .shmat = 30,
		.rt_sigaction = 13, .clone = 56, .fork = 57, .vfork = 58, .execve = 59, .execveat = 322,
		.credentials = { 105, 106, 113, 114, 117, 119, 122, 123, 157 },
	},
	{
		.target = "aarch64", .mmap = 222, .mprotect = 226, .munmap = 215, .mremap = 216, .madvise = 233,
		.shmat = 196, .rt_sigaction = 134, .clone = 220, .fork = -1, .vfork = -1, .execve = 221,
		.execveat = 281, .credentials = { 143, 144, 145, 146, 147, 149, 151, 152, 167 },
	},
	{
		.target = "riscv64", .mmap = 222, .mprotect = 226, .munmap = 215, .mremap = 216, .madvise = 233,
		.shmat = 196, .rt_sigaction = 134, .clone = 220, .fork = -1, .vfork = -1, .execve = 221,
		.execveat = 281, .credentials = { 143, 144, 145, 146, 147, 149, 151, 152, 167 },
	},
};

const struct syscalls *syscalls_of(const char *target)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].target, target))
			return &table[i];
	return NULL;
}

/* The kernel writes a newline in a path as \012, and a backslash as it is: which it was, the files tell. */
static void unescape(char *path)
{
	char *from = path, *to = path;

	if (!strstr(path, "\\012") || !access(path, F_OK))
		return;
	while (*from) {
		bool newline = !strncmp(from, "\\012", 4);

		*to++ = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
}

/* Calls `each` for every file mapped into this process. */
static void maps_read(void (*each)(uint64_t start, uint64_t end, uint64_t offset, const char *path))
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		unsigned long long start, end, offset;
		int at = 0;
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &start, &end, &offset, &at) != 3 || !at ||
		    line[at] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		unescape(line + at);
		each(start, end, offset, line + at);
	}
	free(line);
	fclose(f);
}

static void remember(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	(void)offset;
	(void)path;
	table_add(&plugin.own, start, end);
}

static void send_foreign(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	if (!table_find(&plugin.own, start, NULL))
		define_map(start - plugin.base, end - plugin.base, offset, path);
}

void maps_remember_own(void)
{
	maps_read(remember);
}

void maps_send(void)
{
	maps_read(send_foreign);
	table_fini(&plugin.own);
}

static uint64_t page_up(uint64_t bytes)
{
	return (bytes + WIRE_PAGE - 1) & -(uint64_t)WIRE_PAGE;
}

/* The thread's own translations of these addresses are gone. */
static void send_unmap(struct sender *s, uint64_t start, uint64_t bytes)
{
	ring_push(&s->writer, wire_event(WIRE_UNMAP, page_up(bytes) / WIRE_PAGE, 0));
	ring_push(&s->writer, start);
}

static void mapped(struct sender *s, uint64_t start, uint64_t bytes, int flags, int fd, uint64_t offset)
{
	char link[32], path[WIRE_PAGE];
	ssize_t n = -1;

	if (!(flags & MAP_ANONYMOUS)) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof path - 1);
	}
	path[n > 0 ? n : 0] = '\0';
	pthread_mutex_lock(&plugin.lock);
	define_map(start, start + page_up(bytes), offset, path[0] == '/' ? path : NULL);
	pthread_mutex_unlock(&plugin.lock);
	if (flags & MAP_FIXED)
		send_unmap(s, start, bytes);
}

static void handler_set(struct sender *s, uint64_t action)
{
	uint64_t handler; /* the first field of the kernel's struct sigaction on all three ISAs */

	if (!action || guest_read(action, &handler, sizeof handler) != sizeof handler || handler <= 1)
		return;
	ring_push(&s->writer, wire_event(WIRE_HANDLER, 0, 0));
	ring_push(&s->writer, handler);
}

uint32_t thread_number(pid_t tid)
{
	struct newborn *free_one = NULL;

	for (size_t i = 0; i < NEWBORNS; i++) {
		struct newborn *n = &plugin.newborn[i];
		if (n->tid == tid) {
			n->tid = 0;
			return n->thread;
		}
		if (!n->tid)
			free_one = n;
	}
	uint32_t thread = plugin.wire->threads++;
	if (free_one)
		*free_one = (struct newborn){ tid, thread };
	return thread;
}

/* Whether the system call changes what lies where the plugin has its shared memory: then nothing is sent any more. */
static bool takes_wire(int64_t num, const uint64_t a[6])
{
	const struct syscalls *n = plugin.syscalls;

	if (num == n->munmap || num == n->mprotect)
		return wire_taken(a[0], a[1]);
	if (num == n->mmap)
		return (a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) == MAP_FIXED && wire_taken(a[0], a[1]);
	if (num == n->mremap)
		return wire_taken(a[0], a[1]) || ((a[3] & MREMAP_FIXED) && wire_taken(a[4], a[2]));
	if (num == n->madvise)
		return a[2] == MADV_REMOVE && wire_taken(a[0], a[1]);
	return false;
}

void syscall_begins(struct sender *s, int64_t num, const uint64_t arg[6])
{
	if (takes_wire(num, arg))
		return;
	s->call = num;
	memcpy(s->arg, arg, sizeof s->arg);
	if (num == plugin.syscalls->execve || num == plugin.syscalls->execveat)
		plugin.wire->execs = 1; /* taken back if it returns */
	/*
	 * QEMU translates anew for several threads when memory is first shared, and then not again when there
	 * are some.
	 */
	if ((num == plugin.syscalls->mmap && (arg[3] & MAP_SHARED)) || num == plugin.syscalls->shmat)
		plugin.parallel = true;
}

/*
 * A change of its user or group takes back that the emulator ends with cyclewise (launch.c); prctl() may.
 *
 * Ref: prctl(2), PR_SET_PDEATHSIG
 */
static void end_with_reader(int64_t num)
{
	int sig = 0;

	for (size_t i = 0; i < sizeof plugin.syscalls->credentials / sizeof *plugin.syscalls->credentials; i++)
		if (plugin.syscalls->credentials[i] == num && !prctl(PR_GET_PDEATHSIG, &sig) && !sig)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static bool makes_process(int64_t num, uint64_t flags)
{
	if (num == plugin.syscalls->fork || num == plugin.syscalls->vfork)
		return true;
	return num == plugin.syscalls->clone && (!(flags & CLONE_VM) || (flags & CLONE_VFORK));
}

void syscall_returned(struct sender *s, int64_t num, int64_t ret)
{
	const struct syscalls *n = plugin.syscalls;
	const uint64_t *a = s->arg;

	if (s->call != num)
		return;
	s->call = -1;
	if (num == n->execve || num == n->execveat)
		plugin.wire->execs = 0;
	if (ret < 0 && ret >= -4095)
		return;
	end_with_reader(num);
	if (num == n->mmap) {
		mapped(s, (uint64_t)ret, a[1], (int)a[3], (int)a[4], a[5]);
	} else if (num == n->munmap) {
		pthread_mutex_lock(&plugin.lock);
		define_unmap(a[0], a[0] + page_up(a[1]));
		pthread_mutex_unlock(&plugin.lock);
		send_unmap(s, a[0], a[1]);
	} else if (num == n->mprotect) {
		send_unmap(s, a[0], a[1]);
	} else if (num == n->madvise) {
		if (a[2] == MADV_DONTNEED)
			send_unmap(s, a[0], a[1]);
	} else if (num == n->mremap) {
		pthread_mutex_lock(&plugin.lock);
		define_move(a[0], page_up(a[1]), (uint64_t)ret, page_up(a[2]));
		pthread_mutex_unlock(&plugin.lock);
		send_unmap(s, a[0], a[1]);
	} else if (num == n->rt_sigaction) {
		handler_set(s, a[1]);
	} else if (makes_process(num, a[0])) {
		plugin.wire->forks++;
	} else if (num == n->clone && QEMU_API > 1) {
		pthread_mutex_lock(&plugin.lock);
		thread_number((pid_t)ret);
		pthread_mutex_unlock(&plugin.lock);
	}
}
