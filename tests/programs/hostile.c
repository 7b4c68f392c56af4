/*
 * A program that finds the memory through which it is followed and spoils it: hostile WHAT; or that makes many threads,
 * one after another: hostile threads N. It prints "end" and ends with 0 where nothing holds it up.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/wire.h"

static struct wire *wire;
static volatile uint64_t sink;

static void work(long n)
{
	for (long i = 0; i < n; i++)
		sink = sink * 6364136223846793005u + (uint64_t)i;
}

/* The emulator shows a program no mappings but its own, save by way of its thread. */
static int find(void)
{
	char path[64], line[4096];

	snprintf(path, sizeof path, "/proc/self/task/%d/maps", (int)syscall(SYS_gettid));
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f)) {
		unsigned long start;
		if (strstr(line, "memfd:cyclewise") && sscanf(line, "%lx", &start) == 1)
			wire = (struct wire *)start;
	}
	if (f)
		fclose(f);
	return wire != NULL;
}

/* The lane is the program's own. Returns once the reader has believed it. */
static void end_lane(void)
{
	wire->lane[0].state = WIRE_LANE_ENDED;
	while (wire->lane[0].state != WIRE_LANE_FREE)
		usleep(1000);
}

/* Another lane that begins with a block, asks, and then only says what is no instruction; then dies as if of one. */
static void fake_illegal(void)
{
	uint64_t *words = (uint64_t *)((char *)wire + wire_lane_offset(1));
	const uint64_t *defined = (uint64_t *)((char *)wire + wire_definitions_offset());
	struct wire_block b = { 0 };
	struct wire_head h;
	uint64_t n = 0;

	for (size_t i = 0; i < 100000 && b.nr_insns <= 3; i += 1 + (h.bytes + 7) / 8) {
		memcpy(&h, defined + i, sizeof h);
		if (h.kind == WIRE_DEFINE_BLOCK)
			memcpy(&b, defined + i + 1, sizeof b);
	}
	words[n++] = wire_event(WIRE_BLOCK, b.number, b.nr_insns);
	words[n++] = wire_event(WIRE_ASK, 0, 0);
	for (unsigned k = 0; k < b.nr_insns + 8; k++) {
		words[n++] = wire_event(WIRE_UNMAP, UINT64_C(0xffffffffff), 0);
		words[n++] = 0x1000;
	}
	wire->lane[1].thread = 1;
	wire->lanes = 2;
	wire->lane[1].ring.head = n;
	wire->lane[1].state = WIRE_LANE_OPEN;
	while (wire->lane[1].ring.tail != n)
		usleep(1000);
	end_lane();
	__asm__ volatile("ud2");
}

static void *short_life(void *unused)
{
	work(2000);
	return unused;
}

/* One after another. */
static int threads(long n)
{
	pthread_t t;

	while (n-- && !pthread_create(&t, NULL, short_life, NULL))
		pthread_join(t, NULL);
	return puts("end") < 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const int rw = PROT_READ | PROT_WRITE;

	if (argc > 2)
		return strcmp(what, "threads") ? 2 : threads(atol(argv[2]));
	if (!find())
		return 3;
	work(10000);
	if (!strcmp(what, "illegal"))
		fake_illegal();
	else if (!strcmp(what, "ended"))
		end_lane();
	else if (!strcmp(what, "same-thread"))
		wire->lane[1] = (struct wire_lane){ .ring = { .head = 1 }, .state = WIRE_LANE_OPEN }, wire->lanes = 2;
	else if (!strcmp(what, "stop"))
		wire->stop = 1;
	else if (!strcmp(what, "definitions"))
		for (int i = 0; i < 1000; i++, work(100))
			wire->definitions.head = UINT64_C(0x123456789abc);
	else if (!strcmp(what, "mapped-over"))
		mmap(wire, wire_bytes(), rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	else if (!strcmp(what, "page-over"))
		mmap((char *)wire + wire_lane_offset(0), 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else if (!strcmp(what, "unmapped"))
		munmap(wire, wire_bytes());
	else if (!strcmp(what, "protected"))
		mprotect(wire, wire_bytes(), PROT_NONE);
	else if (!strcmp(what, "moved"))
		mremap(wire, wire_bytes(), wire_bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, (char *)wire - 4 * wire_bytes());
	else
		return 2;
	work(100000);
	return puts("end") < 0;
}
