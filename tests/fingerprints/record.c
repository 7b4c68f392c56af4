/*
 * Makes a stream: runs a program and keeps a stretch of one thread's steps, or unrolls a loop that the emulator cannot run.
 *
 *     record [-s SKIP] [-n COUNT] [-t THREAD] [-r FUNCTION] [-m] -o FILE PROGRAM [ARG...]
 *     record -l ISA [-n COUNT] -o FILE LOOP
 *
 * SKIP, COUNT: instructions, of the FUNCTION alone where one is named; -m: of the first marked region. LOOP: machine code whose last instruction jumps to its first; every access stays where it was.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "source/source.h"
#include "recording.h"

enum {
	NEAR_BEFORE = 32, NEAR_BEHIND = 128, /* code that is kept around what was executed */
	LOOP_PC = 0x401000, LOOP_DATA = 0x10000000, LOOP_ACCESS = 32,
};

static const char *const none[] = { NULL };
static const char *const cpus[NR_ISAS] = { "skylake-avx512", "cortex-a72", "sifive-u74" };
static const char *const isas[NR_ISAS] = { "x86-64", "aarch64", "riscv64" };

struct wanted {
	const char *out, *function;
	uint64_t skip, count;
	uint32_t thread;
	bool marked;
};

/* How far it has come. */
struct progress {
	uint64_t seen;                 /* instructions that count */
	unsigned marks;
};

static int fail(void)
{
	const struct error *e = error_get();
	fprintf(stderr, "record: %s: %s\n%s%s", e->what, e->why, e->remedy, *e->remedy ? "\n" : "");
	return EXIT_FAILURE;
}

/* The instructions that the steps are of, in the order in which they became known; the steps are numbered anew. */
static void keep_insns(struct recording *s, const struct code *code)
{
	uint32_t *number = g_new0(uint32_t, code->nr);

	for (guint i = 0; i < s->step->len; i++)
		number[g_array_index(s->step, struct step, i).insn] = 1;
	for (uint32_t i = 0; i < code->nr; i++) {
		if (!number[i])
			continue;
		struct recording_insn insn = { .pc = code->insn[i].pc, .mark = code->insn[i].flags & INSN_MARK };
		size_t size;
		const uint8_t *bytes = code_bytes(code, i, &size);

		insn.length = (uint8_t)size;
		memcpy(insn.bytes, bytes, size);
		number[i] = s->insn->len;
		g_array_append_val(s->insn, insn);
	}
	for (guint i = 0; i < s->step->len; i++) {
		struct step *step = &g_array_index(s->step, struct step, i);
		step->insn = step_kind(step) == STEP_UNMAP ? step->insn : number[step->insn];
	}
	g_free(number);
}

static int by_address(gconstpointer a, gconstpointer b)
{
	const struct recording_page *p = a, *q = b;
	return (p->address > q->address) - (p->address < q->address);
}

/* Of the pages of code, what is near executed code. */
static void keep_pages(struct recording *s, const struct code *code)
{
	GHashTable *number = g_hash_table_new(g_direct_hash, g_direct_equal); /* page -> its place + 1 */

	for (guint i = 0; i < s->insn->len; i++) {
		const struct recording_insn *in = &g_array_index(s->insn, struct recording_insn, i);

		for (uint64_t at = in->pc - NEAR_BEFORE; at < in->pc + NEAR_BEHIND; at++) {
			uint64_t address = at & ~(uint64_t)(RECORDING_PAGE - 1);
			const uint8_t *image = code_image(code, address);
			guint place = GPOINTER_TO_UINT(g_hash_table_lookup(number, GSIZE_TO_POINTER(address)));

			if (!image)
				continue;
			if (!place) {
				g_array_append_val(s->page, ((struct recording_page){ .address = address }));
				place = s->page->len;
				g_hash_table_insert(number, GSIZE_TO_POINTER(address), GUINT_TO_POINTER(place));
			}
			g_array_index(s->page, struct recording_page, place - 1).bytes[at - address] = image[at - address];
		}
	}
	g_array_sort(s->page, by_address);
	g_hash_table_destroy(number);
}

/* Takes what the batch has of what is wanted; false once that is all. */
static bool take(struct recording *s, const struct wanted *w, const struct step_batch *b, struct progress *p)
{
	bool counted = true;           /* the instruction in hand: no batch begins within one */

	if (b->thread != w->thread)
		return true;
	for (size_t i = 0; i < b->n; i++) {
		const struct step *step = &b->step[i];
		bool insn = step_kind(step) == STEP_INSN;

		if (insn) {
			counted = step->flags & STEP_COUNTED && (!w->marked || p->marks == 1);
			p->marks += (step->flags & STEP_MARK) != 0;
			p->seen += counted;
		}
		if (p->seen > w->skip + w->count)
			return false;
		if (counted && p->seen > w->skip && step_kind(step) != STEP_LOST)
			g_array_append_val(s->step, *step);
	}
	return true;
}

static int record_program(const struct wanted *w, char **argv)
{
	struct program program;
	struct source_config config = { .program = &program, .argv = argv, .window.roi = w->function };
	struct step_batch batch;
	struct source *source;
	struct recording s;
	struct progress progress = { 0 };
	int ret;

	if (program_probe(&program, argv[0]))
		return fail();
	const struct code_config code = { .isa = program.isa, .cpu = cpus[program.isa], .features = "", .ports = none, .units = none };
	const struct source_ops *ops = source_find("qemu");
	if (code_new(&config.code, &code) || ops->open(&source, &config))
		return fail();
	recording_init(&s, program.isa);
	while ((ret = ops->read(source, &batch)) > 0 && take(&s, w, &batch, &progress))
		;
	if (ret < 0)
		return fail();
	keep_insns(&s, config.code);
	keep_pages(&s, config.code);
	ops->close(source);
	code_free(config.code);
	bool ok = recording_write(&s, w->out);
	recording_fini(&s);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int record_loop(const struct wanted *w, enum isa isa, const char *path)
{
	struct code_config config = { .isa = isa, .cpu = cpus[isa], .features = "", .ports = none, .units = none };
	struct code *code;
	struct recording s;
	char *bytes;
	gsize size;

	if (code_new(&code, &config))
		return fail();
	if (!g_file_get_contents(path, &bytes, &size, NULL)) {
		fprintf(stderr, "record: %s cannot be read\n", path);
		return EXIT_FAILURE;
	}
	for (gsize at = 0; at < size; at += code->insn[code->nr - 1].length)
		code_add(code, LOOP_PC + at, (const uint8_t *)bytes + at, size - at);
	recording_init(&s, isa);
	for (uint64_t i = 0; i < w->count; i++) {
		uint32_t insn = (uint32_t)(i % code->nr), flags = code->insn[insn].flags;
		struct step step = { .insn = insn, .flags = STEP_INSN | STEP_COUNTED };

		if (flags & (INSN_LOAD | INSN_STORE)) {
			step.addr = LOOP_DATA + (uint64_t)insn * 2 * LOOP_ACCESS;
			step.bytes = LOOP_ACCESS;
			step.flags |= (uint16_t)((flags & INSN_LOAD ? STEP_LOAD : 0) | (flags & INSN_STORE ? STEP_STORE : 0));
		}
		if (insn == code->nr - 1 && i + 1 < w->count)
			step.flags |= STEP_TAKEN;
		g_array_append_val(s.step, step);
	}
	keep_insns(&s, code);
	bool ok = recording_write(&s, w->out);
	recording_fini(&s);
	code_free(code);
	g_free(bytes);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct wanted w = { .count = UINT64_MAX / 2 };
	const char *loop = NULL;
	int option;

	while ((option = getopt(argc, argv, "+s:n:t:r:ml:o:")) != -1) {
		switch (option) {
		case 's': w.skip = strtoull(optarg, NULL, 0); break;
		case 'n': w.count = strtoull(optarg, NULL, 0); break;
		case 't': w.thread = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'r': w.function = optarg; break;
		case 'm': w.marked = true; break;
		case 'l': loop = optarg; break;
		case 'o': w.out = optarg; break;
		default: return EXIT_USAGE;
		}
	}
	if (optind == argc || !w.out)
		return EXIT_USAGE;
	if (!loop)
		return record_program(&w, argv + optind);
	for (enum isa isa = 0; isa < NR_ISAS; isa++)
		if (!strcmp(loop, isas[isa]))
			return record_loop(&w, isa, argv[optind]);
	return EXIT_USAGE;
}
