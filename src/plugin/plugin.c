/*
 * The plugin: the only code of cyclewise inside the emulator's process. It says which blocks each thread of the
 * program enters and which addresses it accesses, and leaves everything else to the reader.
 *
 * It never ends the program and never allocates per instruction. When nobody listens any more, or in a forked
 * child, it falls silent and the program runs on; that the emulator ends with cyclewise the kernel sees to (launch.c).
 *
 * Which instructions of a block were begun: every instruction adds 1 to a count of its thread. When a block is
 * entered and the count is not what the block before should have made it, that one was cut short. With interface 1
 * the emulated code adds to one fixed address, which only works for one thread; code that several threads may run
 * (QEMU translates everything anew before there are any) calls back instead. Interface 2 has a count for each thread.
 *
 * Ref: QEMU docs/devel/tcg-plugins.rst; FACTS of the interface where they matter stand at the code.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/plugin.h"
#include "plugin/qemu.h"

enum { MAX_VCPUS = 1 << 16 };

int qemu_plugin_version = QEMU_API;

struct plugin plugin = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct sender senders[WIRE_LANES];   /* one a lane */
static uint64_t nobody_begun;
static const _Atomic uint32_t always = 1;
static const struct ring_peer gone = { .stop = &always };
static struct sender nobody = { .writer = { .peer = &gone, .closed = true }, .begun = &nobody_begun };
static struct sender *sender_of[MAX_VCPUS]; /* by vCPU; QEMU uses the index of an ended thread again */

#if QEMU_API > 1
static struct qemu_plugin_scoreboard *begun_board;
#endif

static inline struct sender *find(unsigned vcpu)
{
	return sender_of[vcpu & (MAX_VCPUS - 1)];
}

static inline uint64_t begun(const struct sender *s, unsigned vcpu)
{
#if QEMU_API > 1
	return *(const uint64_t *)qemu_plugin_scoreboard_find(begun_board, vcpu);
#else
	return *s->begun;
#endif
}

static __attribute__((noinline, cold)) void cut(struct sender *s, uint64_t now)
{
	uint64_t missing = s->due - now;
	ring_push(&s->writer, wire_event(WIRE_CUT, 0, missing < UINT16_MAX ? missing : UINT16_MAX));
}

static void block_entered(unsigned vcpu, void *data)
{
	struct sender *s = find(vcpu);
	uint64_t word = (uintptr_t)data;
	uint64_t now = begun(s, vcpu);

	if (__builtin_expect(now != s->due, 0))
		cut(s, now);
	s->due = now + wire_count(word);
	s->block = (uint32_t)wire_number(word);
	ring_push(&s->writer, word);
}

/*
 * Size and direction of an access by QEMU's `info`, bits as in an access word; each value is asked for once.
 * The interface tells a write, but not that an atomic access read too: that is in QEMU's bits 16 and up.
 */
enum { MEMINFO_BITS = 18 };
static uint8_t meminfo[1 << MEMINFO_BITS];

static __attribute__((noinline, cold)) unsigned meminfo_ask(qemu_plugin_meminfo_t info)
{
	unsigned rw = qemu_plugin_mem_is_store(info) ? WIRE_WRITE : WIRE_READ;
	if (rw == WIRE_WRITE && (info >> 16 & 3) == QEMU_PLUGIN_MEM_RW)
		rw = WIRE_READ | WIRE_WRITE;
	unsigned bits = qemu_plugin_mem_size_shift(info) << 2 | rw;
	if (info >> MEMINFO_BITS == 0)
		meminfo[info] = (uint8_t)bits;
	return bits;
}

/*
 * What the callback of an access gets: the block's number and the instruction's place in it. QEMU 7.2 forgets to take
 * the callbacks of some instructions back, and calls them when it saves registers on a signal's stack: such accesses
 * are not the program's, and are known by the block being another.
 */
static void *access_data(uint64_t block, unsigned insn)
{
	return (void *)(uintptr_t)(wire_number(block) << 32 | wire_access(insn));
}

static void accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct sender *s = find(vcpu);
	unsigned bits = info >> MEMINFO_BITS ? 0 : meminfo[info];

	if (__builtin_expect((uintptr_t)data >> 32 != s->block, 0))
		return;
	if (__builtin_expect(!bits, 0))
		bits = meminfo_ask(info);
	ring_push(&s->writer, vaddr << 16 | (uint32_t)(uintptr_t)data | bits);
}

#if QEMU_API == 1
static void instruction_begun(unsigned vcpu, void *data)
{
	(void)data;
	++*find(vcpu)->begun;
}
#endif

static void count_begun(struct qemu_plugin_insn *insn)
{
#if QEMU_API > 1
	const qemu_plugin_u64 entry = { begun_board, 0 };
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64, entry, 1);
#else
	if (plugin.parallel)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, instruction_begun, QEMU_PLUGIN_CB_NO_REGS, NULL);
	else
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
		                                           &plugin.wire->lane[0].begun, 1);
#endif
}

/* The store of a mark: once its access has been told. */
static void mark_stored(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct sender *s = find(vcpu);

	(void)info;
	if (s != &nobody && (uintptr_t)data >> 32 == s->block)
		counters_read(s, vaddr);
}

/*
 * Instructions [first, first + nr) of what QEMU translates become a block, of which QEMU tells on its own when it is
 * entered where it is the beginning.
 */
static void instrument(struct qemu_plugin_tb *tb, size_t first, size_t nr, uint64_t word, bool reads)
{
	const bool known = wire_number(word) != WIRE_NO_BLOCK;
	void *entry = (void *)(uintptr_t)word;

	if (first)
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, first), block_entered,
		                                       QEMU_PLUGIN_CB_NO_REGS, entry);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, block_entered, QEMU_PLUGIN_CB_NO_REGS, entry);
	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first + i);
		void *access = access_data(word, (unsigned)i);
		count_begun(insn); /* behind the entry: QEMU calls in the order of registration */
		/*
		 * Once for both directions: QEMU 7.2 leaves out callbacks that stand behind one of the other
		 * direction.
		 */
		if (known)
			qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			                                 access);
		if (known && reads && i + 1 == nr)
			qemu_plugin_register_vcpu_mem_cb(insn, mark_stored, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			                                 access);
	}
}

/* What QEMU translates at once is a block, but for a mark of cyclewise_read(): a block ends with its store. */
static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint8_t lengths[WIRE_BLOCK_INSNS], code[WIRE_BLOCK_INSNS * 16], *known = code;
	size_t nr = qemu_plugin_tb_n_insns(tb), bytes = 0;
	uint64_t pc = qemu_plugin_tb_vaddr(tb);

	(void)id;
	if (!plugin.detached && plugin.wire->stop)
		plugin.detached = true;
	if (plugin.detached || !nr || nr > WIRE_BLOCK_INSNS)
		return;
	for (size_t i = 0; i < nr; i++) {
		size_t length = qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
		lengths[i] = (uint8_t)length;
		bytes += length;
	}

	pthread_mutex_lock(&plugin.lock);
	if (!plugin.based) {
		const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
		plugin.base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
		plugin.based = true;
		maps_send();
	}
	if (bytes > sizeof code || guest_read(pc, code, bytes) != bytes)
		known = NULL;
	size_t first = 0, from = 0, to = 0;
	for (size_t i = 0; i < nr; i++) {
		bool reads = known && mark_here(plugin.mark, pc + to, code + to, lengths[i]);
		to += lengths[i];
		if (!reads && i + 1 < nr)
			continue;
		unsigned some = (unsigned)(i + 1 - first);
		uint64_t word = define_block(pc + from, lengths + first, some, known ? code + from : NULL, to - from);
		instrument(tb, first, some, word, reads);
		first = i + 1;
		from = to;
	}
	pthread_mutex_unlock(&plugin.lock);
}

static void thread_created(qemu_plugin_id_t id, unsigned vcpu)
{
	struct wire *wire = plugin.wire;

	(void)id;
	sender_of[vcpu & (MAX_VCPUS - 1)] = &nobody;
	if (plugin.detached)
		return;
	pthread_mutex_lock(&plugin.lock);
	/* Interface 1 calls this in the creator, in order; the later one in the new thread, at any time. */
	uint32_t thread = QEMU_API == 1 || !wire->threads ? wire->threads++ : thread_number(gettid());
	plugin.parallel |= thread > 0;
	unsigned i = 0;
	while (i < WIRE_LANES && (senders[i].busy || atomic_load_explicit(&wire->lane[i].state, memory_order_acquire) !=
	                                                     WIRE_LANE_FREE))
		i++;
	if (i < WIRE_LANES && vcpu < MAX_VCPUS && thread < WIRE_THREADS) {
		struct wire_lane *lane = &wire->lane[i];
		struct sender *s = &senders[i];
		*s = (struct sender){ .lane = lane, .begun = &lane->begun, .busy = true, .call = -1 };
		ring_writer_init(&s->writer, &lane->ring, (uint64_t *)(void *)((char *)wire + wire_lane_offset(i)),
		                 WIRE_LANE_WORDS, &plugin.peer);
#if QEMU_API > 1
		s->due = s->origin = begun(s, vcpu);
#endif
		lane->thread = thread;
		lane->begun = 0;
		atomic_store_explicit(&lane->state, WIRE_LANE_OPEN, memory_order_release);
		if (i >= wire->lanes)
			atomic_store_explicit(&wire->lanes, i + 1, memory_order_release);
		sender_of[vcpu] = s;
	} else {
		wire->unfollowed++;
	}
	pthread_mutex_unlock(&plugin.lock);
}

/* The thread's count is final. */
static void settle(struct sender *s, unsigned vcpu)
{
#if QEMU_API > 1
	s->lane->begun = begun(s, vcpu) - s->origin;
#else
	(void)s;
	(void)vcpu;
#endif
}

static void thread_ended(qemu_plugin_id_t id, unsigned vcpu)
{
	struct sender *s = find(vcpu);

	(void)id;
	sender_of[vcpu & (MAX_VCPUS - 1)] = &nobody;
	if (s == &nobody || plugin.detached)
		return;
	settle(s, vcpu);
	atomic_store_explicit(&s->lane->state, WIRE_LANE_ENDED, memory_order_release);
	s->busy = false;
}

static void syscall_entered(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3,
                            uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arg[6] = { a1, a2, a3, a4, a5, a6 };

	(void)id, (void)a7, (void)a8;
	if (!plugin.detached && find(vcpu) != &nobody)
		syscall_begins(find(vcpu), num, arg);
}

/* Nothing is sent any more by anyone. */
static void close_all(void)
{
	plugin.detached = true;
	for (unsigned i = 0; i < WIRE_LANES; i++) {
		senders[i].writer.closed = true;
		senders[i].writer.limit = senders[i].writer.head;
	}
}

/*
 * What threads have in hand is the last that they write: from now on they are nobody's. Not all can be kept out, as one
 * may be writing right now.
 */
bool wire_taken(uint64_t start, uint64_t bytes)
{
	uint64_t wire = (uintptr_t)plugin.wire, end = wire + wire_bytes();

	start += plugin.base;
	bytes = bytes < -start ? bytes : -start;
	if (start >= end || start + bytes <= wire || !bytes)
		return false;
	plugin.wire->taken = 1;
	close_all();
	for (unsigned vcpu = 0; vcpu < MAX_VCPUS; vcpu++)
		if (sender_of[vcpu])
			sender_of[vcpu] = &nobody;
	plugin.taken = start > wire ? start : wire;
	plugin.taken_bytes = (start + bytes < end ? start + bytes : end) - plugin.taken;
	return true;
}

/* Translated code still counts there. */
static void restore_taken(void)
{
	void *at = (void *)(uintptr_t)(plugin.taken & -(uint64_t)WIRE_PAGE);
	size_t bytes = plugin.taken_bytes + (plugin.taken & (WIRE_PAGE - 1));

	plugin.taken_bytes = 0;
	if (mprotect(at, bytes, PROT_READ | PROT_WRITE))
		mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void syscall_left(qemu_plugin_id_t id, unsigned vcpu, int64_t num, int64_t ret)
{
	(void)id;
	if (!plugin.detached && find(vcpu) != &nobody)
		syscall_returned(find(vcpu), num, ret);
	if (plugin.taken_bytes)
		restore_taken();
}

/* QEMU may call it twice, and not at all when the program dies of a signal. */
static void program_exits(qemu_plugin_id_t id, void *data)
{
	(void)id, (void)data;
	if (plugin.detached)
		return;
	for (unsigned vcpu = 0; vcpu < MAX_VCPUS; vcpu++)
		if (sender_of[vcpu] && sender_of[vcpu] != &nobody)
			settle(sender_of[vcpu], vcpu);
	plugin.wire->exited = 1;
}

/*
 * A forked child must not write into its parent's lanes, and translated code adds to counts there: private memory
 * takes their place. vfork is fork under QEMU. Only calls that are safe after fork in a process with threads.
 */
static void child_forked(void)
{
	close_all();
	mmap(plugin.wire, wire_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
	     -1, 0);
}

/* Closes it, before the program runs, so that it never sees it. */
static void *map_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || (size_t)st.st_size != wire_bytes())
		return MAP_FAILED;
	void *at = mmap(NULL, wire_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at;
}

static void *map_segment(int segment)
{
	struct shmid_ds known;

	if (shmctl(segment, IPC_STAT, &known) || known.shm_segsz != wire_bytes())
		return MAP_FAILED;
	return shmat(segment, NULL, 0);
}

/* fd=N or segment=N: the shared memory. */
static struct wire *attach(int argc, char **argv)
{
	struct wire *wire = MAP_FAILED;

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "fd=", 3))
			wire = map_file(atoi(argv[i] + 3));
		else if (!strncmp(argv[i], "segment=", 8))
			wire = map_segment(atoi(argv[i] + 8));
	}
	if (wire == MAP_FAILED)
		return NULL;
	if (wire->magic == WIRE_MAGIC && wire->version == WIRE_VERSION)
		return wire;
	munmap(wire, wire_bytes());
	return NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	plugin.syscalls = syscalls_of(info->target_name);
	plugin.mark = mark_of(info->target_name);
	plugin.wire = attach(argc, argv);
	if (!plugin.wire || !plugin.syscalls || !plugin.mark || info->system_emulation ||
	    pthread_atfork(NULL, NULL, child_forked))
		return -1;
	plugin.peer =
		(struct ring_peer){ .stop = &plugin.wire->stop, .parent = getppid(), .consumer = plugin.wire->reader };
	ring_writer_init(&plugin.definitions, &plugin.wire->definitions,
	                 (uint64_t *)(void *)((char *)plugin.wire + wire_definitions_offset()), WIRE_DEFINITION_WORDS,
	                 &plugin.peer);
	maps_remember_own();
#if QEMU_API > 1
	begun_board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
#else
	plugin.wire->counted = 1;
#endif
	qemu_plugin_register_vcpu_init_cb(id, thread_created);
	qemu_plugin_register_vcpu_exit_cb(id, thread_ended);
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	qemu_plugin_register_vcpu_syscall_cb(id, syscall_entered);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, syscall_left);
	qemu_plugin_register_atexit_cb(id, program_exits, NULL);
	plugin.wire->attached = 1;
	return 0;
}
