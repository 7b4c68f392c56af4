/*
 * Names for the stubs of the procedure linkage table, which have no symbols: `puts@plt`.
 *
 * A stub jumps through a slot of the global offset table, and the slot's relocation names the function. So the
 * stubs' code is read, not the order they stand in; that holds for every layout linkers use (.plt, .plt.sec,
 * .plt.got; with and without branch protection). A stub for an indirect function of a static program is named
 * after the function whose resolver its relocation runs.
 *
 * Ref: the psABI supplements for x86-64 (§5.2), AArch64 (PLT sequences) and RISC-V (program linkage table).
 */
#include <string.h>

#include "symbol/file.h"

struct stubs {
	struct symbol_file *f;
	GArray *symbols;
	guint nr_symbols;          /* before stubs were added; sorted by start, best last */
	GHashTable *by_slot;       /* GOT address -> name */
	GPtrArray *by_index;       /* names in the order of .rela.plt; NULL: none */
};

static bool is_slot(GElf_Half machine, GElf_Xword type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	case EM_AARCH64:
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	case EM_RISCV:
		return type == R_RISCV_JUMP_SLOT || type == R_RISCV_64;
	default:
		return false;
	}
}

static bool is_indirect(GElf_Half machine, GElf_Xword type)
{
	return (machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
		(machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE) ||
		(machine == EM_RISCV && type == R_RISCV_IRELATIVE);
}

/* The indirect function whose resolver is at `address`; NULL: none. */
static const char *indirect_name(const struct stubs *s, uint64_t address)
{
	const char *name = NULL;
	guint low = 0, high = s->nr_symbols;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(s->symbols, struct symbol, middle).start < address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->nr_symbols && g_array_index(s->symbols, struct symbol, low).start == address; low++)
		if (g_array_index(s->symbols, struct symbol, low).type == STT_GNU_IFUNC)
			name = g_array_index(s->symbols, struct symbol, low).linkage;
	return name;
}

static const char *relocation_name(const struct stubs *s, const GElf_Rela *rela, Elf_Data *names, size_t strings)
{
	GElf_Xword type = GELF_R_TYPE(rela->r_info);
	const char *name;
	GElf_Sym sym;

	if (is_indirect(s->f->machine, type))
		return indirect_name(s, (uint64_t)rela->r_addend);
	if (!is_slot(s->f->machine, type) || !names || !gelf_getsym(names, (int)GELF_R_SYM(rela->r_info), &sym))
		return NULL;
	name = elf_strptr(s->f->elf, strings, sym.st_name);
	return name && *name ? name : NULL;
}

static void read_relocations(struct stubs *s, Elf_Scn *section, const GElf_Shdr *header, bool indexed)
{
	Elf_Data *data = elf_getdata(section, NULL), *names = NULL;
	Elf_Scn *table = elf_getscn(s->f->elf, header->sh_link);
	GElf_Shdr table_header = { 0 };
	const char *name;
	GElf_Rela rela;

	if (header->sh_link && table && gelf_getshdr(table, &table_header))
		names = elf_getdata(table, NULL);
	for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
		name = relocation_name(s, &rela, names, table_header.sh_link);
		if (name)
			g_hash_table_insert(s->by_slot, g_memdup2(&rela.r_offset, sizeof(rela.r_offset)),
			                    (gpointer)name);
		if (indexed)
			g_ptr_array_add(s->by_index, (gpointer)name);
	}
}

static void add_stub(struct stubs *s, uint64_t start, uint64_t end, const char *name)
{
	struct symbol symbol = { .start = start, .size = end - start, .type = STT_FUNC, .binding = STB_GLOBAL };
	char *linkage, *plain;

	if (!name || end <= start)
		return;
	linkage = g_strconcat(name, "@plt", NULL);
	plain = g_strconcat(demangle(s->f, name), "@plt", NULL);
	symbol.linkage = g_string_chunk_insert_const(s->f->strings, linkage);
	symbol.name = g_string_chunk_insert_const(s->f->strings, plain);
	g_free(linkage);
	g_free(plain);
	g_array_append_val(s->symbols, symbol);
}

static const char *slot_name(const struct stubs *s, uint64_t slot)
{
	return g_hash_table_lookup(s->by_slot, &slot);
}

static uint32_t word(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* jmp *disp(%rip); or, where calls go to .plt.sec, push index and on to the resolver. */
static const char *x86_stub(const struct stubs *s, uint64_t address, const uint8_t *code, size_t size)
{
	const char *name;

	for (size_t i = 0; i + 6 <= size; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		name = slot_name(s, address + i + 6 + (uint64_t)(int64_t)(int32_t)word(code + i + 2));
		if (name)
			return name;
	}
	for (size_t i = 0; i + 5 <= size; i++)
		if (code[i] == 0x68 && word(code + i + 1) < s->by_index->len)
			return s->by_index->pdata[word(code + i + 1)];
	return NULL;
}

static void x86_stubs(struct stubs *s, const GElf_Shdr *header, const uint8_t *code, size_t size)
{
	size_t step = header->sh_entsize == 8 ? 8 : 16;

	for (size_t i = 0; i + step <= size; i += step)
		add_stub(s, header->sh_addr + i, header->sh_addr + i + step,
		         x86_stub(s, header->sh_addr + i, code + i, step));
}

/*
 * Fixed-width ISAs: the slot's address is made by two instructions that are found anywhere in the section, and a
 * stub reaches from the first of them (or the landing pad before it) to the next stub.
 */
struct pair {
	bool found;
	uint64_t slot;
};

static struct pair aarch64_pair(uint64_t pc, uint32_t first, uint32_t second)
{
	uint64_t page;

	if ((first & 0x9f00001f) != 0x90000010 || (second & 0xffc003ff) != 0xf9400211) /* adrp x16; ldr x17, [x16, #] */
		return (struct pair){ false, 0 };
	page = (uint64_t)(first >> 5 & 0x7ffff) << 2 | (first >> 29 & 3);
	page = (uint64_t)((int64_t)(page << 43) >> 31);
	return (struct pair){ true, (pc & ~(uint64_t)4095) + page + (second >> 10 & 4095) * 8 };
}

static struct pair riscv_pair(uint64_t pc, uint32_t first, uint32_t second)
{
	if ((first & 0xfff) != 0xe17 || (second & 0xfffff) != 0xe3e03)         /* auipc t3; ld t3, (t3) */
		return (struct pair){ false, 0 };
	return (struct pair){ true, pc + (uint64_t)(int64_t)(int32_t)(first & 0xfffff000) +
	                            (uint64_t)(int64_t)((int32_t)second >> 20) };
}

static void fixed_stubs(struct stubs *s, const GElf_Shdr *header, const uint8_t *code, size_t size)
{
	const uint32_t bti_c = 0xd503245f;
	const char *name = NULL;
	uint64_t start = 0;

	for (size_t i = 0; i + 8 <= size; i += 4) {
		uint64_t pc = header->sh_addr + i;
		bool aarch64 = s->f->machine == EM_AARCH64;
		struct pair pair = aarch64 ? aarch64_pair(pc, word(code + i), word(code + i + 4)) :
			riscv_pair(pc, word(code + i), word(code + i + 4));

		if (!pair.found)
			continue;
		if (aarch64 && i && word(code + i - 4) == bti_c)
			pc -= 4;
		add_stub(s, start, pc, name);
		start = pc;
		name = slot_name(s, pair.slot);
	}
	add_stub(s, start, header->sh_addr + size, name);
}

static void read_stubs(struct stubs *s, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(section, NULL);

	if (!data || !data->d_buf)
		return;
	if (s->f->machine == EM_X86_64)
		x86_stubs(s, header, data->d_buf, data->d_size);
	else
		fixed_stubs(s, header, data->d_buf, data->d_size);
}

void plt_symbols(struct symbol_file *f, GArray *symbols)
{
	struct stubs s = { .f = f, .symbols = symbols, .nr_symbols = symbols->len };
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	size_t names;

	if ((f->machine != EM_X86_64 && f->machine != EM_AARCH64 && f->machine != EM_RISCV) ||
	    elf_getshdrstrndx(f->elf, &names))
		return;
	s.by_slot = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	s.by_index = g_ptr_array_new();
	while ((section = elf_nextscn(f->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC))
			continue;
		name = elf_strptr(f->elf, names, header.sh_name);
		read_relocations(&s, section, &header, name && !strcmp(name, ".rela.plt"));
	}
	while ((section = elf_nextscn(f->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(f->elf, names, header.sh_name);
		if (name && (g_str_has_prefix(name, ".plt") || g_str_has_prefix(name, ".iplt")))
			read_stubs(&s, section, &header);
	}
	g_hash_table_destroy(s.by_slot);
	g_ptr_array_free(s.by_index, TRUE);
}
