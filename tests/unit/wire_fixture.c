#include "wire_fixture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const _Atomic uint32_t go_on = 0;
static const struct ring_peer peer = { .stop = &go_on };

void wire_fixture_init(struct wire_fixture *f)
{
	static const char *const none[] = { NULL };
	const struct code_config config = { .isa = ISA_X86_64, .cpu = "skylake-avx512", .features = "", .ports = none, .units = none };
	struct ring_reader definitions;

	memset(f, 0, sizeof *f);
	int ret = code_new(&f->code, &config);
	assert(!ret);
	maps_new(&f->maps);
	f->handlers = g_hash_table_new(NULL, NULL);
	f->definitions_words = calloc(WIRE_DEFINITION_WORDS, sizeof(uint64_t));
	f->lane_words = calloc(WIRE_LANE_WORDS, sizeof(uint64_t));
	ring_writer_init(&f->definitions, &f->definitions_ring, f->definitions_words, WIRE_DEFINITION_WORDS, &peer);
	ring_reader_init(&definitions, &f->definitions_ring, f->definitions_words, WIRE_DEFINITION_WORDS);
	ring_writer_init(&f->lane, &f->lane_ring, f->lane_words, WIRE_LANE_WORDS, &peer);
	ring_reader_init(&f->reader, &f->lane_ring, f->lane_words, WIRE_LANE_WORDS);
	blocks_init(&f->blocks, f->code, f->maps, &definitions, (struct blocks_hooks){ 0 });
	f->blocks.flags = STEP_COUNTED;
	decoder_init(&f->decoder, &f->blocks, f->handlers);
}

void wire_fixture_fini(struct wire_fixture *f)
{
	decoder_fini(&f->decoder);
	blocks_fini(&f->blocks);
	maps_free(f->maps);
	g_hash_table_destroy(f->handlers);
	code_free(f->code);
	free(f->definitions_words);
	free(f->lane_words);
}

uint32_t wire_define(struct wire_fixture *f, uint64_t pc, const struct bytes *insn, unsigned nr)
{
	union {
		struct { struct wire_head head; struct wire_block block; uint8_t more[WIRE_BLOCK_INSNS * 16]; } record;
		uint64_t word[(sizeof(struct wire_head) + sizeof(struct wire_block) + WIRE_BLOCK_INSNS * 16) / 8];
	} out = { .record.block = { .pc = pc, .number = f->nr_blocks++, .nr_insns = nr } };
	size_t more = nr;

	for (unsigned i = 0; i < nr; i++) {
		out.record.more[i] = insn[i].size;
		memcpy(out.record.more + more, insn[i].byte, insn[i].size);
		more += insn[i].size;
	}
	out.record.head = (struct wire_head){ WIRE_DEFINE_BLOCK, (uint32_t)(sizeof(struct wire_block) + more) };
	for (size_t i = 0; i < 1 + (sizeof(struct wire_block) + more + 7) / 8; i++)
		ring_push(&f->definitions, out.word[i]);
	return f->nr_blocks - 1;
}

void wire_word(struct wire_fixture *f, uint64_t word)
{
	ring_push(&f->lane, word);
}

void wire_enter(struct wire_fixture *f, uint32_t number)
{
	const struct block *b = blocks_get(&f->blocks, number);
	wire_word(f, wire_event(WIRE_BLOCK, number, b->nr_insns));
	f->begun += b->nr_insns;
}

void wire_cut(struct wire_fixture *f, unsigned missing)
{
	wire_word(f, wire_event(WIRE_CUT, 0, missing));
	f->begun -= missing;
}

void wire_touch(struct wire_fixture *f, unsigned insn, unsigned rw, uint64_t addr, unsigned bytes)
{
	wire_word(f, addr << 16 | wire_access(insn) | (uint64_t)__builtin_ctz(bytes) << 2 | rw);
}

void wire_decode(struct wire_fixture *f)
{
	decoder_run(&f->decoder, &f->reader, SIZE_MAX);
}

void wire_end(struct wire_fixture *f, bool fault)
{
	wire_decode(f);
	decoder_finish(&f->decoder, &f->begun, fault);
}
