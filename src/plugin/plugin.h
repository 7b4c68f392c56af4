/*
 * What the files of the plugin share. There is one program, one emulator and so one plugin: its state is a global,
 * since QEMU's callbacks carry no context.
 */
#ifndef CYCLEWISE_PLUGIN_PLUGIN_H
#define CYCLEWISE_PLUGIN_PLUGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/table.h"
#include "record/ring.h"
#include "record/wire.h"

enum { NEWBORNS = 64 };              /* threads whose creator has not heard of them yet, or the other way round */

/* Numbers of the system calls that are followed; -1 where the ISA has none. */
struct syscalls {
	const char *target;              /* QEMU's name of the ISA */
	int mmap, mprotect, munmap, mremap, madvise, shmat, rt_sigaction, clone, fork, vfork, execve, execveat;
	short credentials[9];            /* set user or group, and prctl */
};

/* One thread of the program. Touched by that thread alone once it runs. */
struct sender {
	struct ring_writer writer;
	struct wire_lane *lane;
	uint64_t *begun;                 /* instructions begun; where lane->begun is kept exact, that */
	uint64_t origin;                 /* what it was when the thread began */
	uint64_t due;                    /* what it will be when the block being executed has run to its end */
	bool busy;                       /* a thread has it */
	uint32_t block;                  /* being executed; WIRE_NO_BLOCK: none, or one of which nothing is told */
	int64_t call;                    /* the system call under way */
	uint64_t arg[6];
};

struct plugin {
	struct wire *wire;
	struct ring_peer peer;
	_Atomic bool detached;           /* nobody listens, or a forked child: send nothing, instrument nothing */
	bool parallel;                   /* translations made now may be run by more than one thread */
	bool based;                      /* `base` is known: something was translated */
	uint64_t base;                   /* host address of guest address 0 */
	/* The host's addresses of what the system call under way takes of the shared memory; 0 bytes: nothing. */
	uint64_t taken, taken_bytes;
	const struct syscalls *syscalls;
	const struct mark *mark;         /* of cyclewise_read() */

	pthread_mutex_t lock;            /* over all below, and over creation of threads */
	struct ring_writer definitions;
	struct table blocks;             /* hash of content -> struct block_copy */
	struct table pages;              /* address -> hash of content */
	uint32_t nr_blocks;
	struct table own;                /* start -> end of the emulator's own mappings */
	struct newborn { pid_t tid; uint32_t thread; } newborn[NEWBORNS];
};

extern struct plugin plugin;

/* Host memory the guest's bytes are copied from may not be mapped: how many bytes from `addr` could be read. */
size_t guest_read(uint64_t addr, void *buf, size_t size);

/*
 * The word that stands for a block of `nr_insns` instructions; defined at the reader where it is new. `code` NULL: it
 * could not be read. Caller holds the lock.
 */
uint64_t define_block(uint64_t pc, const uint8_t *lengths, unsigned nr_insns, const uint8_t *code, size_t bytes);
void define_map(uint64_t start, uint64_t end, uint64_t offset, const char *path);
void define_unmap(uint64_t start, uint64_t end);
void define_move(uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes);

/*
 * The number of the thread `tid`, in order of creation. Both its creator and the thread itself ask; whoever comes
 * first gives it the number. Caller holds the lock.
 */
uint32_t thread_number(pid_t tid);

/* Remembers which mappings are the emulator's own; later sends those that are not. */
void maps_remember_own(void);
void maps_send(void);

/* The mark on the ISA that QEMU calls `target`; NULL: none. */
const struct mark *mark_of(const char *target);
/* Whether the instruction at `pc`, with the bytes code[length], is the store of a mark. */
bool mark_here(const struct mark *m, uint64_t pc, const uint8_t *code, size_t length);
/* The store of a mark has been made to `vaddr`: waits until all up to it is timed, and puts the counters there. */
void counters_read(struct sender *s, uint64_t vaddr);

/*
 * The program is about to change memory at [start, start + bytes), addresses of its own: where the shared memory lies
 * there, nothing is sent from now on. False: it does not.
 */
bool wire_taken(uint64_t start, uint64_t bytes);

const struct syscalls *syscalls_of(const char *target);
void syscall_begins(struct sender *s, int64_t num, const uint64_t arg[6]);
void syscall_returned(struct sender *s, int64_t num, int64_t ret);

#endif
