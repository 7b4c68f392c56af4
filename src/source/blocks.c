#include "source/blocks.h"

#include <assert.h>
#include <string.h>

#include "record/wire.h"

enum {
	COMPACT_WORDS = 1 << 16,
	MOST_WORDS = 1 << 25,          /* of definitions that no thread has asked for yet: then all are applied */
	MOST_STEPS = 1 << 26,          /* 1 GiB */
};

/* Forgets what has been applied. */
static void compact(struct blocks *b)
{
	g_array_remove_range(b->word, 0, (guint)b->applied);
	b->applied = 0;
}

void blocks_init(struct blocks *b, struct code *code, struct maps *maps, const struct ring_reader *ring,
                 struct blocks_hooks hooks)
{
	*b = (struct blocks){ .code = code, .maps = maps, .hooks = hooks, .ring = *ring };
	b->word = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	b->block = g_array_new(FALSE, TRUE, sizeof(struct block));
	b->step = g_array_new(FALSE, FALSE, sizeof(struct step));
	b->form = g_byte_array_new();
}

void blocks_fini(struct blocks *b)
{
	if (!b->word)
		return;
	g_array_free(b->word, TRUE);
	g_array_free(b->block, TRUE);
	g_array_free(b->step, TRUE);
	g_byte_array_free(b->form, TRUE);
	b->word = NULL;
}

static void apply_there(struct blocks *b);

void blocks_pull(struct blocks *b)
{
	uint64_t n = ring_available(&b->ring);

	if (!n)
		return;
	if (b->word->len >= MOST_WORDS)
		apply_there(b);
	if (b->applied >= COMPACT_WORDS)
		compact(b);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t word = ring_at(&b->ring, i);
		g_array_append_val(b->word, word);
	}
	ring_take(&b->ring, n);
}

/*
 * The index of the instruction, CODE_NONE for want of room; when the plugin first defines it, it is placed and told
 * of.
 */
static uint32_t instruction(struct blocks *b, uint64_t pc, const uint8_t *bytes, size_t size)
{
	uint32_t insn = code_add(b->code, pc, bytes, size);

	if (insn == CODE_NONE)
		return insn;
	if (insn >= b->form->len) {
		guint old = b->form->len;
		g_byte_array_set_size(b->form, insn + 1);
		memset(b->form->data + old, FORM_UNSEEN, insn + 1 - old);
	}
	/* A core that walked the wrong path may have put it into the table long before. */
	if (b->form->data[insn] == FORM_UNSEEN) {
		uint64_t offset;
		maps_note(b->maps, insn, pc);
		uint32_t module = maps_place(b->maps, insn, &offset);
		if (b->hooks.seen)
			b->hooks.seen(b->hooks.ctx, insn, module, offset);
		b->form->data[insn] =
			(guint8)form_of(b->code->config.isa, code_insn(b->code, insn)->flags, bytes, size);
	}
	return insn;
}

/* Branches that are always taken say so from the start; conditional ones when it is seen where they went. */
static uint16_t flags_of(const struct blocks *b, uint32_t insn)
{
	const struct insn *i = code_insn(b->code, insn);
	unsigned flags = STEP_INSN | b->flags;

	if (i->branch != BRANCH_NONE && i->branch != BRANCH_CONDITIONAL)
		flags |= STEP_TAKEN;
	if (i->flags & INSN_MARK)
		flags |= STEP_MARK;
	return (uint16_t)flags;
}

/* Where the block's last instruction may lead that names its target, or goes on. */
static void lead(struct block *block, const struct insn *last)
{
	enum branch_kind kind = (enum branch_kind)last->branch;

	block->through = kind == BRANCH_NONE || kind == BRANCH_CONDITIONAL ? last->pc + last->length : BLOCK_NOWHERE;
	block->target =
		kind == BRANCH_CONDITIONAL || kind == BRANCH_JUMP || kind == BRANCH_CALL ? last->target : BLOCK_NOWHERE;
}

static void no_room(struct blocks *b, struct block *block)
{
	g_array_set_size(b->step, block->step);
	block->nr_insns = 0;
	b->untold++;
}

static bool define_block(struct blocks *b, const uint8_t *bytes, size_t size)
{
	struct wire_block head;

	if (size < sizeof head)
		return false;
	memcpy(&head, bytes, sizeof head);
	const uint8_t *length = bytes + sizeof head, *code = length + head.nr_insns;
	size_t left = size - sizeof head;
	if (!head.nr_insns || head.nr_insns > WIRE_BLOCK_INSNS || head.nr_insns > left || head.number != b->block->len)
		return false;
	left -= head.nr_insns;

	struct block block = {
		.pc = head.pc, .end = head.pc, .step = b->step->len, .nr_insns = (uint16_t)head.nr_insns
	};
	for (uint32_t i = 0; i < head.nr_insns; i++) {
		if (!length[i] || length[i] > left) {
			g_array_set_size(b->step, block.step);
			return false;
		}
		struct step step = { .insn = instruction(b, block.end, code, length[i]) };
		if (step.insn == CODE_NONE || b->step->len >= MOST_STEPS) {
			no_room(b, &block);
			break;
		}
		step.flags = flags_of(b, step.insn);
		g_array_append_val(b->step, step);
		block.special |= blocks_form(b, step.insn) != FORM_PLAIN;
		block.end += length[i];
		code += length[i];
		left -= length[i];
		if (i + 1 == head.nr_insns)
			lead(&block, code_insn(b->code, step.insn));
	}
	g_array_append_val(b->block, block);
	return true;
}

static bool define_map(struct blocks *b, enum wire_definition kind, const uint8_t *bytes, size_t size)
{
	struct wire_map map;

	if (size < sizeof map)
		return false;
	memcpy(&map, bytes, sizeof map);
	if (kind == WIRE_DEFINE_UNMAP || size == sizeof map) {
		maps_remove(b->maps, map.start, map.end);
		return true;
	}
	char *path = g_strndup((const char *)bytes + sizeof map, size - sizeof map);
	maps_add(b->maps, map.start, map.end, map.offset, path);
	g_free(path);
	return true;
}

static bool apply(struct blocks *b, uint32_t kind, const uint8_t *bytes, size_t size)
{
	struct wire_move move;
	uint64_t page;

	switch (kind) {
	case WIRE_DEFINE_BLOCK:
		return define_block(b, bytes, size);
	case WIRE_DEFINE_PAGE:
		if (size != sizeof page + WIRE_PAGE)
			return false;
		memcpy(&page, bytes, sizeof page);
		if (page % WIRE_PAGE)
			return false;
		code_page(b->code, page, bytes + sizeof page);
		return true;
	case WIRE_DEFINE_MAP:
	case WIRE_DEFINE_UNMAP:
		return define_map(b, (enum wire_definition)kind, bytes, size);
	case WIRE_DEFINE_MOVE:
		if (size != sizeof move)
			return false;
		memcpy(&move, bytes, sizeof move);
		maps_move(b->maps, move.from, move.from_bytes, move.to, move.to_bytes);
		return true;
	default:
		return false;
	}
}

/* Applies the next definition; false: it is not there in full. */
static bool apply_next(struct blocks *b)
{
	const uint64_t *word = &g_array_index(b->word, uint64_t, b->applied);
	size_t left = b->word->len - b->applied;
	struct wire_head head;

	if (!left)
		return false;
	memcpy(&head, word, sizeof head);
	size_t words = 1 + ((size_t)head.bytes + 7) / 8;
	if (words > WIRE_DEFINITION_WORDS) { /* nonsense: the rest cannot be told apart */
		b->bad++;
		b->applied = b->word->len;
		return false;
	}
	if (words > left)
		return false;
	if (!apply(b, head.kind, (const uint8_t *)(word + 1), head.bytes))
		b->bad++;
	b->applied += words;
	return true;
}

/* What is there in full. */
static void apply_there(struct blocks *b)
{
	while (apply_next(b))
		;
}

const struct block *blocks_need(struct blocks *b, uint64_t number)
{
	if (number >= WIRE_NO_BLOCK)
		return NULL;
	blocks_pull(b);
	while (number >= b->block->len)
		if (!apply_next(b))
			return NULL;
	return &g_array_index(b->block, struct block, number);
}

void blocks_apply_all(struct blocks *b)
{
	blocks_pull(b);
	apply_there(b);
}
