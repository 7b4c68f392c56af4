/*
 * The QEMU source: starts the program under the emulator and reads what the plugin sends, a lane for each thread.
 *
 * A batch is handed out whenever a thread has BATCH steps beyond those a core looks ahead, and when it asks for its
 * counters, never otherwise: where batches end depends on what the thread executed alone. When there is nothing to
 * read, the reader sleeps for a moment; the plugin never needs to wake it, and waits itself when a lane is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "record/wire.h"
#include "source/blocks.h"
#include "source/decode.h"
#include "source/intake.h"
#include "source/launch.h"
#include "source/process.h"
#include "source/source.h"
#include "source/window.h"

enum {
	BATCH = 8192,
	NAP_NS = 200 * 1000,       /* at first, doubling while nothing comes */
	NAP_MAX_NS = 5 * 1000 * 1000,
};

/* The reader's side of a lane while a thread is on it. */
struct lane {
	bool open;
	uint32_t thread;
	struct ring_reader ring;
	struct decoder decoder;
	struct window_thread calls;
};

struct source {
	struct code *code;
	struct symbols *symbols;
	struct maps *maps;
	struct regions *regions;
	struct window_state *window; /* NULL: all is counted */
	GHashTable *handlers;
	struct blocks blocks;
	struct wire *wire;
	struct intake intake;
	struct lane lane[WIRE_LANES];
	unsigned next;             /* lane to look at first */
	struct lane *handed;       /* whose steps are with the caller */
	size_t handed_steps;
	bool asked;                /* by the thread of `handed`, and not answered yet */
	long nap_ns;

	struct process process;
	bool over;                 /* nothing can be counted any more: the plugin was told to stop */
	bool cut;                  /* nor is anything wanted */
	uint64_t begun, merged, restarted; /* of threads that have ended */
	bool counted;              /* what every thread began is known */
	uint64_t expected;         /* the sum of that */
	struct source_result result;
};

static void note(struct source *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct source *s, const char *format, ...)
{
	va_list ap;

	for (size_t i = 0; i < G_N_ELEMENTS(s->result.note); i++)
		if (!*s->result.note[i]) {
			va_start(ap, format);
			vsnprintf(s->result.note[i], sizeof s->result.note[i], format, ap);
			va_end(ap);
			return;
		}
}

/* blocks_hooks.seen */
static void seen(void *ctx, uint32_t insn, uint32_t module, uint64_t offset)
{
	struct source *s = ctx;

	if (s->window)
		window_seen(s->window, insn, module, offset);
	if (module != MODULE_NONE && regions_seen(s->regions, insn, module, s->maps, offset))
		s->code->insn[insn].flags |= INSN_MARK;
}

/*
 * The user's limit on the size of files is not meant for memory: it is lifted as far as may be while this is sized. -1
 * where it is lower still.
 */
static int memory_file(size_t bytes)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, action;
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY }, lifted;
	int fd = memfd_create("cyclewise", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	getrlimit(RLIMIT_FSIZE, &limit);
	lifted = (struct rlimit){ limit.rlim_max, limit.rlim_max };
	sigaction(SIGXFSZ, &ignore, &action);
	setrlimit(RLIMIT_FSIZE, &lifted);
	int code = ftruncate(fd, (off_t)bytes) ? errno : 0;
	setrlimit(RLIMIT_FSIZE, &limit);
	sigaction(SIGXFSZ, &action, NULL);
	if (!code)
		return fd;
	close(fd);
	errno = code;
	return -1;
}

/* A segment has no such limit. It is gone with the last process that has it, however that ends. */
static void *memory_segment(size_t bytes, int *segment)
{
	*segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_NORESERVE | 0600);
	if (*segment < 0)
		return MAP_FAILED;
	void *at = shmat(*segment, NULL, 0);
	shmctl(*segment, IPC_RMID, NULL);
	return at;
}

static int share(struct source *s, struct shared_memory *memory)
{
	memory->fd = memory_file(wire_bytes());
	int code = memory->fd < 0 ? errno : 0;
	if (memory->fd >= 0)
		s->wire = mmap(NULL, wire_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory->fd, 0);
	else if (code == EFBIG)
		s->wire = memory_segment(wire_bytes(), &memory->segment);
	else
		s->wire = MAP_FAILED;
	if (s->wire == MAP_FAILED) {
		s->wire = NULL;
		return error_errno(code ? code : errno, "shared memory");
	}
	s->wire->magic = WIRE_MAGIC;
	s->wire->version = WIRE_VERSION;
	s->wire->reader = getpid();
	return 0;
}

static const uint64_t *words_at(const struct source *s, size_t offset)
{
	return (const uint64_t *)(const void *)((const char *)s->wire + offset);
}

static void qemu_pass(struct source *s, const siginfo_t *info) { process_pass(&s->process, info); }
static bool qemu_running(const struct source *s) { return process_running(&s->process); }
static bool qemu_ended_by(const struct source *s, int sig) { return process_ended_by(&s->process, sig); }

static void qemu_cut(struct source *s)
{
	s->over = s->cut = true;
	s->wire->stop = 1;
}


static void qemu_close(struct source *s)
{
	if (!s)
		return;
	if (s->process.pid > 0) {
		s->wire->stop = 1;
		process_close(&s->process);
	}
	for (size_t i = 0; i < WIRE_LANES; i++) {
		decoder_fini(&s->lane[i].decoder);
		window_thread_fini(&s->lane[i].calls);
	}
	blocks_fini(&s->blocks);
	window_free(s->window);
	regions_free(s->regions);
	symbols_free(s->symbols);
	maps_free(s->maps);
	if (s->handlers)
		g_hash_table_destroy(s->handlers);
	if (s->wire)
		munmap(s->wire, wire_bytes());
	g_free(s);
}

static int qemu_open(struct source **out, const struct source_config *config)
{
	struct source *s = g_new0(struct source, 1);
	struct emulator emulator;
	struct ring_reader definitions;
	struct shared_memory memory = { .fd = -1 };

	*s = (struct source){ .code = config->code, .nap_ns = NAP_NS, .counted = true };
	s->handlers = g_hash_table_new(NULL, NULL);
	int ret = emulator_find(&emulator, config->program);
	if (ret || (ret = symbols_new(&s->symbols)) || (ret = maps_new(&s->maps)) ||
	    (ret = regions_new(&s->regions, s->symbols)) ||
	    (ret = window_new(&s->window, &config->window, s->symbols, s->code, s->maps, s->handlers)))
		goto fail;
	maps_program(s->maps, config->program->path);
	ret = share(s, &memory);
	if (ret)
		goto fail;
	ring_reader_init(&definitions, &s->wire->definitions, words_at(s, wire_definitions_offset()),
	                 WIRE_DEFINITION_WORDS);
	blocks_init(&s->blocks, s->code, s->maps, &definitions, (struct blocks_hooks){ seen, s });
	s->blocks.flags = s->window ? 0 : STEP_COUNTED;
	g_strlcpy(s->result.emulator, emulator.version, sizeof s->result.emulator);
	s->process.realtime = emulator.realtime;
	s->process.pid = ret = emulator_start(&emulator, config, &memory);
	if (ret < 0)
		goto fail;
	s->result.pid = s->process.pid;
	maps_process(s->maps, s->process.pid);
	if (config->program->other_rights)
		note(s, "the program ran without the rights of its set-user-ID or set-group-ID bit: the emulator does "
		        "not grant them");
	if (memory.fd >= 0)
		close(memory.fd);
	*out = s;
	return 0;
fail:
	if (memory.fd >= 0)
		close(memory.fd);
	qemu_close(s);
	return ret;
}

/*
 * An instruction that the emulator does not have ends many a program compiled for a newer CPU. The emulator looked at
 * its first bytes only; the file has them all.
 */
static void note_illegal(struct source *s, uint32_t insn)
{
	uint64_t pc = code_insn(s->code, insn)->pc, offset, address = pc;
	uint32_t module = maps_find(s->maps, pc, &offset), whole = CODE_NONE;
	char text[128], place[300] = "code made at run time";
	uint8_t bytes[16];
	size_t size;

	if (module != MODULE_NONE) {
		int file = maps_open(s->maps, module, s->symbols);
		if (file >= 0 && symbols_address(s->symbols, file, offset, &address) &&
		    (size = symbols_bytes(s->symbols, file, address, bytes, sizeof bytes)))
			whole = code_add(s->code, pc, bytes, size);
		insn = whole != CODE_NONE ? whole : insn;
		snprintf(place, sizeof place, "%.280s", maps_path(s->maps, module));
	}
	code_text(s->code, insn, text, sizeof text);
	g_strdelimit(text, "\t", ' ');
	const uint8_t *all = code_bytes(s->code, insn, &size);
	uint32_t flags = code_insn(s->code, insn)->flags;
	if (!(flags & INSN_UNDECODED) && form_raises(s->code->config.isa, flags, all, size))
		note(s, "killed by %s at 0x%" PRIx64 " in %s, which is undefined on purpose", text, address, place);
	else
		note(s,
		     "killed by %s at 0x%" PRIx64
		     " in %s, an instruction that %s does not have on this core: compile for a CPU without it%s",
		     text, address, place, s->result.emulator,
		     s->code->config.isa == ISA_X86_64 ? " (there is no AVX-512), keep libraries from choosing it "
		                                         "(GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F), or take a newer "
		                                         "core (--core)"
		                                       : "");
}

static bool died_of_fault(const struct source *s)
{
	int sig = s->process.signal;
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP;
}

/*
 * The last instruction of a thread that ended is one that the emulator does not have. It shows where it was not begun,
 * or did not do what it does; one that only computes shows by the signal alone, where there is no other thread that it
 * can be of.
 */
static bool died_of_illegal(const struct source *s, const struct step *last)
{
	unsigned open = 0;

	if (!last || !died_of_fault(s) || s->process.signal != SIGILL)
		return false;
	for (unsigned i = 0; i < WIRE_LANES; i++)
		open += s->lane[i].open;
	return last->flags & STEP_FAULT || (open == 1 && !(code_insn(s->code, last->insn)->flags & INSN_SYSCALL));
}

static void lane_open(struct source *s, unsigned i, uint32_t thread)
{
	struct lane *l = &s->lane[i];

	window_thread_fini(&l->calls);
	*l = (struct lane){ .open = true, .thread = thread };
	ring_reader_init(&l->ring, &s->wire->lane[i].ring, words_at(s, wire_lane_offset(i)), WIRE_LANE_WORDS);
	decoder_init(&l->decoder, &s->blocks, s->handlers);
}

/* The lane has no more words: what its decoder still holds is final. */
static void lane_end(struct source *s, unsigned i, bool ended)
{
	struct lane *l = &s->lane[i];
	const volatile struct wire_lane *w = &s->wire->lane[i];
	uint64_t begun = w->begun;
	bool known = !l->ring.broken && (ended || s->wire->counted || s->wire->exited);

	decoder_finish(&l->decoder, known ? &begun : NULL, died_of_fault(s));
	s->begun += l->decoder.begun;
	s->merged += l->decoder.merged;
	s->restarted += l->decoder.restarted;
	s->result.lost += l->decoder.lost;
	s->counted &= known;
	s->expected += begun;
	const struct step *last = decoder_last(&l->decoder);
	if (died_of_illegal(s, last))
		note_illegal(s, last->insn);
	l->open = false;
	if (l->ring.broken)
		intake_refuse(&s->intake, s->wire, i);
	else
		atomic_store_explicit(&s->wire->lane[i].state, WIRE_LANE_FREE, memory_order_release);
}

static uint64_t count_insns(const struct step *s, size_t n)
{
	uint64_t insns = 0;
	size_t i = 0;

	/* Few steps are anything else: four at a time. */
	for (; i + 4 <= n; i += 4) {
		if (__builtin_expect((s[i].flags | s[i + 1].flags | s[i + 2].flags | s[i + 3].flags) & STEP_KIND, 0))
			for (size_t k = i; k < i + 4; k++)
				insns += step_kind(&s[k]) == STEP_INSN;
		else
			insns += 4;
	}
	for (; i < n; i++)
		insns += step_kind(&s[i]) == STEP_INSN;
	return insns;
}

static int hand_out(struct source *s, struct lane *l, struct step_batch *out, size_t n, bool end)
{
	struct decoder *d = &l->decoder;

	if (s->window)
		window_apply(s->window, &l->calls, d->step, n, d->nr - n);
	s->result.instructions += count_insns(d->step, n);
	s->handed = l;
	s->handed_steps = n;
	s->asked = d->asked;
	s->nap_ns = NAP_NS;
	*out = (struct step_batch){
		.step = d->step, .n = n, .ahead = d->nr - n, .thread = l->thread, .end = end, .asks = d->asked
	};
	return 1;
}

/* 1: a batch; 0: nothing to hand out; *progress: there were words. */
static int lane_read(struct source *s, unsigned i, struct step_batch *out, bool *progress)
{
	struct lane *l = &s->lane[i];
	bool dead = s->process.ended;
	uint32_t state = atomic_load_explicit(&s->wire->lane[i].state, memory_order_acquire);

	if (!l->open) {
		uint32_t thread;
		if (s->over || !intake_begins(&s->intake, s->wire, i, &thread))
			return 0;
		lane_open(s, i, thread);
	}
	if (s->over) {
		l->open = false;
		return hand_out(s, l, out, 0, true);
	}
	uint64_t tail = l->ring.tail;
	size_t limit = BATCH + STEP_AHEAD;
	while (decoder_run(&l->decoder, &l->ring, limit)) {
		if (l->decoder.asked)
			return hand_out(s, l, out, l->decoder.nr, false);
		size_t n = decoder_ready(&l->decoder, STEP_AHEAD);
		if (n)
			return hand_out(s, l, out, n, false);
		limit = l->decoder.nr + 1; /* one huge instruction: go on until it is over */
	}
	*progress |= l->ring.tail != tail;
	if (state != WIRE_LANE_ENDED && !dead && !l->ring.broken)
		return 0;
	lane_end(s, i, state == WIRE_LANE_ENDED);
	return hand_out(s, l, out, l->decoder.nr, true);
}

static void nap(struct source *s, bool progress)
{
	const struct timespec t = { .tv_nsec = s->nap_ns };

	if (progress)
		s->nap_ns = NAP_NS;
	else if (s->nap_ns < NAP_MAX_NS)
		s->nap_ns *= 2;
	nanosleep(&t, NULL);
}

/* All that was sent is read. */
static int finish(struct source *s)
{
	struct source_result *r = &s->result;
	struct wire *w = s->wire;
	char text[256];

	blocks_apply_all(&s->blocks);
	r->exit_status = s->process.exit_status;
	r->signal = s->process.signal;
	r->ran = r->instructions > 0;
	if (!r->ran) {
		if (r->signal && !died_of_fault(s)) {
			int err = error_set(EINTR, r->emulator, "signal %d ended the program before it began",
			                    r->signal);
			error_status(128 + r->signal);
			return err;
		}
		if (!w->attached && r->signal)
			return error_set(EIO, r->emulator,
			                 "the emulator was killed by signal %d before the program began", r->signal);
		if (!w->attached)
			error_set(EIO, r->emulator, "the emulator ended with status %d before the program began",
			          r->exit_status);
		else
			error_set(ENOEXEC, r->emulator, "the emulator could not start the program (status %d)",
			          r->exit_status);
		if (w->attached)
			error_status(EXIT_NOT_EXECUTABLE);
		error_remedy("%s", w->attached ? "what it said stands above"
		                               : "what it said stands above; it must be built with plugins, which "
		                                 "Debian 13's qemu-user is not: "
		                                 "name one that is in CYCLEWISE_QEMU");
		return -EIO;
	}
	r->forks = w->forks;
	r->execs = w->execs;
	r->window_seen = !s->window || window_entered(s->window);
	r->complete = !s->cut && (s->over || (!r->signal && !r->lost && !w->unfollowed && !r->execs));
	if (r->forks)
		note(s, "%" PRIu32 " child process%s not profiled", r->forks, r->forks == 1 ? " was" : "es were");
	if (r->execs)
		note(s, "the program replaced itself by another (exec), which was not profiled");
	bool tampered = intake_told(&s->intake, w, s->over, text, sizeof text);
	if (tampered)
		note(s, "%s", text);
	r->complete &= !tampered;
	if (w->unfollowed)
		note(s, "%" PRIu32 " threads were not profiled: at most %d at a time can be", w->unfollowed,
		     WIRE_LANES);
	if (r->lost && s->blocks.untold)
		note(s, "the program executed more code than is kept, %" PRIu32 " different instructions: %" PRIu64
		        " records of the rest were lost", s->code->nr, r->lost);
	else if (r->lost)
		note(s, "%" PRIu64 " records were lost", r->lost);
	for (uint32_t i = 0; i < maps_modules(s->maps); i++)
		if (maps_changed(s->maps, i))
			note(s, "%.300s was changed while the program ran: what it ran of it is left without names",
			     maps_path(s->maps, i));
	r->window_unknown = s->window ? window_unknown(s->window) : NULL;
	r->window_gone = s->window && !r->window_unknown ? window_gone(s->window) : NULL;
	if (r->window_gone)
		note(s, "the compiler left no code of the function %s", r->window_gone);
	if (r->window_unknown)
		note(s, "no file that the program ran code of has a function named %s", r->window_unknown);
	bool agree = s->begun == r->instructions + s->merged + s->restarted && (!s->counted || s->expected == s->begun);
	if (!s->over && !r->lost && !tampered && !agree) {
		note(s,
		     "a defect of cyclewise: the program began %" PRIu64 " instructions, of which %" PRIu64
		     " were read and %" PRIu64 " handed on",
		     s->expected, s->begun, r->instructions + s->merged + s->restarted);
		r->complete = false;
	}
	return 0;
}

static void qemu_answer(struct source *s, const struct counters *counters)
{
	static const struct counters zeros = { 0 };

	if (!s->asked)
		return;
	s->asked = false;
	if (s->window && window_over(s->window))
		counters = &zeros;
	answer_give(&s->wire->lane[s->handed - s->lane].answer, counters);
}

static int qemu_read(struct source *s, struct step_batch *out)
{
	qemu_answer(s, &(const struct counters){ 0 });
	if (s->handed && s->handed->open)
		decoder_drop(&s->handed->decoder, s->handed_steps);
	else if (s->handed)
		decoder_fini(&s->handed->decoder);
	s->handed = NULL;
	if (s->window && window_over(s->window) && !s->over) {
		s->over = true;
		s->wire->stop = 1;
	}
	for (;;) {
		bool progress = false, open = false;
		process_look(&s->process); /* before the lanes are looked at: what they hold then is all */
		blocks_pull(&s->blocks);
		if (s->blocks.ring.broken)
			intake_silence(&s->intake, s->wire);
		unsigned lanes = intake_lanes(&s->intake, s->wire);
		for (unsigned k = 0; k < lanes; k++) {
			unsigned i = (s->next + k) % lanes;
			if (lane_read(s, i, out, &progress)) {
				/* What has ended is read to its end: its core goes before the next one comes. */
				s->next = s->wire->lane[i].state == WIRE_LANE_ENDED ? i : i + 1;
				return 1;
			}
			open |= s->lane[i].open;
		}
		if (s->process.ended && !open)
			return finish(s);
		nap(s, progress);
	}
}

static const struct maps *qemu_maps(const struct source *s) { return s->maps; }
static const struct regions *qemu_regions(const struct source *s) { return s->regions; }
static const struct source_result *qemu_result(const struct source *s) { return &s->result; }

const struct source_ops source_qemu = {
	.name = "qemu",
	.help = "runs the program under QEMU's user-mode emulation",
	.open = qemu_open,
	.read = qemu_read,
	.answer = qemu_answer,
	.pass = qemu_pass,
	.running = qemu_running,
	.ended_by = qemu_ended_by,
	.cut = qemu_cut,
	.maps = qemu_maps,
	.regions = qemu_regions,
	.result = qemu_result,
	.close = qemu_close,
};
