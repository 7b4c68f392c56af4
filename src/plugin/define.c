/*
 * Definitions: what is said once and then referred to by number.
 *
 * QEMU translates the same code many times (after flushes, for other CPU flags, cut at other lengths), so blocks are
 * interned by their content; a number, once given, never changes its meaning. The 4 KiB pages that blocks lie in are
 * sent too, whenever they have changed since, so that the reader can look at code that was never executed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "plugin/plugin.h"

struct block_copy {
	uint32_t number;
	uint32_t bytes;                  /* of `content` */
	uint8_t content[];               /* struct wire_block with number 0, lengths, code */
};

enum { CONTENT_MAX = sizeof(struct wire_block) + WIRE_BLOCK_INSNS * (1 + 16) };

size_t guest_read(uint64_t addr, void *buf, size_t size)
{
	const struct iovec to = { buf, size };
	const struct iovec from = { (void *)(uintptr_t)(addr + plugin.base), size };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* FNV-1a over words: content is compared where it matters, so this need only spread well. */
static uint64_t hash(const void *bytes, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ size;
	const uint8_t *p = bytes;

	for (; size >= 8; size -= 8, p += 8) {
		uint64_t word;
		memcpy(&word, p, 8);
		h = (h ^ word) * UINT64_C(0x9fb21c651e98df25);
		h ^= h >> 32;
	}
	for (; size; size--, p++)
		h = (h ^ *p) * UINT64_C(0x100000001b3);
	return h;
}

/* One definition: its fixed part, then `more`. */
static void send(enum wire_definition kind, const void *fixed, size_t fixed_bytes, const void *more, size_t more_bytes)
{
	union {
		struct { struct wire_head head; uint8_t bytes[CONTENT_MAX]; } record;
		uint64_t word[(sizeof(struct wire_head) + CONTENT_MAX + 7) / 8];
	} out;

	out.word[(sizeof(struct wire_head) + fixed_bytes + more_bytes - 1) / 8] = 0;
	out.record.head = (struct wire_head){ (uint32_t)kind, (uint32_t)(fixed_bytes + more_bytes) };
	memcpy(out.record.bytes, fixed, fixed_bytes);
	if (more_bytes)
		memcpy(out.record.bytes + fixed_bytes, more, more_bytes);
	size_t words = (sizeof out.record.head + fixed_bytes + more_bytes + 7) / 8;
	for (size_t i = 0; i < words; i++)
		if (!ring_push(&plugin.definitions, out.word[i])) {
			plugin.detached = true;
			return;
		}
}

static void define_page(uint64_t page)
{
	uint8_t bytes[WIRE_PAGE];

	if (guest_read(page, bytes, sizeof bytes) != sizeof bytes)
		return;
	uint64_t h = hash(bytes, sizeof bytes);
	struct table_slot *known = table_find(&plugin.pages, page, NULL);
	if (known && known->value == h)
		return;
	if (known)
		known->value = h;
	else
		table_add(&plugin.pages, page, h); /* out of memory: sent again the next time */
	send(WIRE_DEFINE_PAGE, &page, sizeof page, bytes, sizeof bytes);
}

uint64_t define_block(uint64_t pc, const uint8_t *lengths, unsigned nr_insns, const uint8_t *code, size_t bytes)
{
	uint8_t content[CONTENT_MAX];
	const uint64_t unknown = wire_event(WIRE_BLOCK, WIRE_NO_BLOCK, nr_insns);
	const struct wire_block block = { .pc = pc, .nr_insns = nr_insns };
	size_t size = sizeof block + nr_insns + bytes;

	if (!code || size > sizeof content)
		return unknown;
	memcpy(content, &block, sizeof block);
	memcpy(content + sizeof block, lengths, nr_insns);
	memcpy(content + sizeof block + nr_insns, code, bytes);
	for (uint64_t page = pc & -(uint64_t)WIRE_PAGE; page < pc + bytes; page += WIRE_PAGE)
		define_page(page);

	uint64_t h = hash(content, size);
	for (const struct table_slot *s = table_find(&plugin.blocks, h, NULL); s;
	     s = table_find(&plugin.blocks, h, s)) {
		const struct block_copy *copy = (const struct block_copy *)(uintptr_t)s->value;
		if (copy->bytes == size && !memcmp(copy->content, content, size))
			return wire_event(WIRE_BLOCK, copy->number, nr_insns);
	}
	struct block_copy *copy = plugin.nr_blocks == WIRE_NO_BLOCK ? NULL : malloc(sizeof *copy + size);
	if (!copy || !table_add(&plugin.blocks, h, (uintptr_t)copy)) {
		free(copy);
		return unknown;
	}
	copy->number = plugin.nr_blocks++;
	copy->bytes = (uint32_t)size;
	memcpy(copy->content, content, size);

	const struct wire_block named = { .pc = pc, .number = copy->number, .nr_insns = nr_insns };
	send(WIRE_DEFINE_BLOCK, &named, sizeof named, content + sizeof named, size - sizeof named);
	return wire_event(WIRE_BLOCK, copy->number, nr_insns);
}

void define_map(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	const struct wire_map map = { start, end, offset };
	send(WIRE_DEFINE_MAP, &map, sizeof map, path, path ? strnlen(path, WIRE_PAGE) : 0);
}

void define_unmap(uint64_t start, uint64_t end)
{
	const struct wire_map map = { start, end, 0 };
	send(WIRE_DEFINE_UNMAP, &map, sizeof map, NULL, 0);
}

void define_move(uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes)
{
	const struct wire_move move = { from, from_bytes, to, to_bytes };
	send(WIRE_DEFINE_MOVE, &move, sizeof move, NULL, 0);
}
