/*
 * Runs a program and drops its steps, or prints them: how fast the way from the program to the steps is, and what
 * comes out of it.
 *
 *     steps [-p] [-c CPU] [-r ROI] [-n COUNT] PROGRAM [ARG...]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "source/source.h"

static const char *const none[] = { NULL };

static int fail(void)
{
	const struct error *e = error_get();
	fprintf(stderr, "steps: %s: %s\n%s%s", e->what, e->why, e->remedy, *e->remedy ? "\n" : "");
	return e->status;
}

static void print(struct code *code, const struct step_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct step *s = &b->step[i];
		char text[128] = "";
		if (step_kind(s) == STEP_INSN)
			code_text(code, s->insn, text, sizeof text);
		printf("%" PRIu32 " %d %c%c%c%c%c%c %6" PRIx64 " %12" PRIx64 " %5u  %s\n", b->thread, step_kind(s),
		       s->flags & STEP_TAKEN ? 'T' : '-', s->flags & STEP_LOAD ? 'L' : '-', s->flags & STEP_STORE ? 'S' : '-',
		       s->flags & STEP_FAULT ? 'F' : '-', s->flags & STEP_COUNTED ? 'C' : '-', s->flags & STEP_ENTER ? 'E' : '-',
		       step_kind(s) == STEP_INSN ? code_insn(code, s->insn)->pc : 0, s->addr, s->bytes, text);
	}
}

int main(int argc, char **argv)
{
	static const char *const cpus[NR_ISAS] = { "skylake-avx512", "cortex-a72", "sifive-u74" };
	struct program program;
	struct source_config config = { .program = &program };
	struct step_batch batch;
	struct source *source;
	bool printing = false;
	int option, ret;

	while ((option = getopt(argc, argv, "+pc:r:n:")) != -1) {
		switch (option) {
		case 'p': printing = true; break;
		case 'c': config.qemu_cpu = optarg; break;
		case 'r': config.window.roi = optarg; break;
		case 'n': config.window.count = strtoull(optarg, NULL, 0); break;
		default: return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return EXIT_USAGE;
	if (program_probe(&program, argv[optind]))
		return fail();
	config.argv = argv + optind;
	config.stdout_to_stderr = printing;
	const struct code_config code_config = { .isa = program.isa, .cpu = cpus[program.isa], .features = "", .ports = none, .units = none };
	const struct source_ops *ops = source_find("qemu");
	if (code_new(&config.code, &code_config) || ops->open(&source, &config))
		return fail();

	struct timespec from, to;
	uint64_t steps = 0, counted = 0;
	clock_gettime(CLOCK_MONOTONIC, &from);
	while ((ret = ops->read(source, &batch)) > 0) {
		if (printing)
			print(config.code, &batch);
		for (size_t i = 0; i < batch.n; i++) {
			steps += step_kind(&batch.step[i]) == STEP_INSN;
			counted += (batch.step[i].flags & (STEP_COUNTED | STEP_KIND)) == (STEP_COUNTED | STEP_INSN);
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (ret < 0)
		return fail();
	const struct source_result *r = ops->result(source);
	double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
	fprintf(stderr, "%s: %" PRIu64 " instructions, %" PRIu64 " counted, %" PRIu64 " lost, %.1f M/s, %" PRIu32 " static, status %d, signal %d%s\n",
	        r->emulator, steps, counted, r->lost, (double)steps / seconds * 1e-6, config.code->nr, r->exit_status, r->signal,
	        r->complete ? "" : ", not complete");
	for (size_t i = 0; i < sizeof r->note / sizeof *r->note && *r->note[i]; i++)
		fprintf(stderr, "note: %s\n", r->note[i]);
	int status = r->signal ? 128 + r->signal : r->exit_status;
	ops->close(source);
	code_free(config.code);
	return status;
}
