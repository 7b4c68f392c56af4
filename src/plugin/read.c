/*
 * cyclewise_read() of cyclewise.h: the mark it is known by, and the answer into the program's memory.
 *
 * The mark is a store of zero to where the counters are to go, then a no-op that no compiler makes: the store tells
 * the address, which the older interface of plugins could not read from a register. What is stored stays where
 * nobody answers.
 */
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "plugin/plugin.h"

enum { MARK_MAX = 16 };

/* What is at a mark where `mask` has a one: the store is the first `store` bytes, the no-op the others. */
static const struct mark {
	const char *target;              /* QEMU's name of the ISA */
	uint8_t store, bytes;
	uint8_t at[MARK_MAX], mask[MARK_MAX];
} marks[] = {
	/* movq $0,(%rdi); nopl 0x64727763(%rax,%rax) */
	{ "x86_64", 7, 15, { 0x48, 0xc7, 0x07, 0, 0, 0, 0, 0x0f, 0x1f, 0x84, 0x00, 0x63, 0x77, 0x72, 0x64 },
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	/* str xzr,[xN]; movz xzr,#0x6377 */
	{ "aarch64", 4, 8, { 0x1f, 0x00, 0x00, 0xf9, 0xff, 0x6e, 0x8c, 0xd2 },
	  { 0x1f, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	/* sd zero,0(xN); slti zero,zero,0x637 */
	{ "riscv64", 4, 8, { 0x23, 0x30, 0x00, 0x00, 0x13, 0x20, 0x70, 0x63 },
	  { 0xff, 0x7f, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff } },
};

const struct mark *mark_of(const char *target)
{
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (!strcmp(marks[i].target, target))
			return &marks[i];
	return NULL;
}

static bool same(const struct mark *m, const uint8_t *code, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((code[i] & m->mask[i]) != m->at[i])
			return false;
	return true;
}

bool mark_here(const struct mark *m, uint64_t pc, const uint8_t *code, size_t length)
{
	uint8_t all[MARK_MAX];

	return length == m->store && same(m, code, length) && guest_read(pc, all, m->bytes) == m->bytes &&
	       same(m, all, m->bytes);
}

void counters_read(struct sender *s, uint64_t vaddr)
{
	struct counters counters;

	/* The block has run to its end: further accesses are QEMU's own (see access_data() in plugin.c). */
	s->block = WIRE_NO_BLOCK;
	answer_expect(&s->lane->answer);
	if (!ring_push(&s->writer, wire_event(WIRE_ASK, 0, 0)) ||
	    !answer_wait(&s->lane->answer, &plugin.peer, &counters))
		return;
	const struct iovec from = { &counters, sizeof counters };
	const struct iovec to = { (void *)(uintptr_t)(vaddr + plugin.base), sizeof counters };
	/* Where another thread has taken the memory away, the program finds out by itself. */
	(void)!process_vm_writev(getpid(), &from, 1, &to, 1, 0);
}
