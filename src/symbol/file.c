/*
 * An ELF file: program headers, bytes, build-id. What needs symbol tables or DWARF is opened on first use,
 * through libdwfl, which also brings separate debug files and .gnu_debugdata.
 *
 * The file is untrusted: every offset is checked against the file's size. It is mapped, so a file that is cut
 * short while it is open is not survived; whole files that are replaced, as linkers and installers do, are.
 */
#include "symbol/file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

char *elf_build_id(Elf *elf)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);
	GString *hex = g_string_new(NULL);

	for (ssize_t i = 0; i < n; i++)
		g_string_append_printf(hex, "%02x", ((const uint8_t *)bytes)[i]);
	return g_string_free(hex, FALSE);
}

static void read_segments(struct symbol_file *f)
{
	size_t nr;
	GElf_Phdr header;
	struct segment segment;

	if (elf_getphdrnum(f->elf, &nr))
		return;
	for (size_t i = 0; i < nr && i < INT32_MAX; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &header))
			break;
		if (header.p_type != PT_LOAD || header.p_vaddr + header.p_memsz < header.p_vaddr ||
		    header.p_offset + header.p_filesz < header.p_offset)
			continue;
		segment = (struct segment){ header.p_vaddr, header.p_memsz, header.p_offset,
		                            MIN(header.p_filesz, header.p_memsz), header.p_flags & PF_X };
		g_array_append_val(f->segments, segment);
	}
}

/* A hash of the bytes of all executable segments, and of where they lie. */
static char *code_hash(Elf *elf)
{
	GChecksum *hash = g_checksum_new(G_CHECKSUM_SHA1);
	size_t nr, total;
	const char *raw = elf_rawfile(elf, &total);
	bool any = false;
	GElf_Phdr header;
	char *text;

	for (size_t i = 0; raw && !elf_getphdrnum(elf, &nr) && i < nr && i < INT32_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X) ||
		    header.p_offset > total || header.p_filesz > total - header.p_offset)
			continue;
		g_checksum_update(hash, (const guchar *)&header.p_vaddr, sizeof header.p_vaddr);
		g_checksum_update(hash, (const guchar *)raw + header.p_offset, (gssize)header.p_filesz);
		any = true;
	}
	text = any ? g_strconcat("code-", g_checksum_get_string(hash), NULL) : g_strdup("");
	g_checksum_free(hash);
	return text;
}

static char *elf_identity(Elf *elf)
{
	char *id = elf_build_id(elf);

	if (*id)
		return id;
	g_free(id);
	return code_hash(elf);
}

char *symbols_identity_of(int fd)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	char *id = elf && elf_kind(elf) == ELF_K_ELF ? elf_identity(elf) : g_strdup("");

	elf_end(elf);
	return id;
}

const char *symbol_file_identity(struct symbol_file *f)
{
	if (!f->identity)
		f->identity = elf_identity(f->elf);
	return f->identity;
}

int symbol_file_open(struct symbol_file **out, const char *path, int given, GStringChunk *strings)
{
	struct symbol_file *f;
	GElf_Ehdr header;
	struct stat st;
	/* Mapped, not read: its size costs nothing. */
	int fd = given < 0 ? file_open(path, 0, UINT64_MAX, &st) : fcntl(given, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return given < 0 ? fd : error_errno(errno, path);
	f = g_new0(struct symbol_file, 1);
	f->path = g_strdup(path);
	f->fd = fd;
	f->strings = strings;
	f->segments = g_array_new(FALSE, FALSE, sizeof(struct segment));
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
		symbol_file_close(f);
		return error_set(EINVAL, path, "is not an ELF program or shared object");
	}
	f->machine = header.e_machine;
	f->build_id = elf_build_id(f->elf);
	read_segments(f);
	*out = f;
	return 0;
}

void symbol_file_refused(struct symbol_file *f, const char *path)
{
	if (!f->refused)
		f->refused = g_strdup_printf("%s %s", path, error_get()->why);
}

void symbol_file_close(struct symbol_file *f)
{
	if (!f)
		return;
	debug_lines_free(f->lines);
	symbol_table_free(f->table);
	if (f->dwfl)
		dwfl_end(f->dwfl);
	elf_end(f->elf);
	close(f->fd);
	g_array_free(f->segments, TRUE);
	g_free(f->build_id);
	g_free(f->refused);
	g_free(f->identity);
	g_free(f->path);
	g_free(f);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,     /* never called: the file is given */
	.find_debuginfo = debug_file_find,
	.section_address = dwfl_offline_section_address,
};

Dwfl_Module *symbol_file_module(struct symbol_file *f)
{
	void **userdata;
	GElf_Addr bias;
	int fd;

	if (f->module_tried)
		return f->module;
	f->module_tried = true;
	f->dwfl = dwfl_begin(&callbacks);
	fd = f->dwfl ? zstd_expand(f->fd) : -1;
	if (fd < 0)
		fd = f->dwfl ? fcntl(f->fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd < 0)
		return NULL;
	f->module = dwfl_report_offline(f->dwfl, f->path, f->path, fd);
	if (!f->module) {
		close(fd);
		return NULL;
	}
	dwfl_report_end(f->dwfl, NULL, NULL);
	if (dwfl_module_info(f->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = f;
	if (dwfl_module_getelf(f->module, &bias))
		f->bias = bias;
	else
		f->module = NULL;
	return f->module;
}

const struct segment *symbol_file_code(const struct symbol_file *f, uint64_t address)
{
	for (guint i = 0; i < f->segments->len; i++) {
		const struct segment *s = &g_array_index(f->segments, struct segment, i);

		if (s->executable && address - s->address < s->memory_size)
			return s;
	}
	return NULL;
}

Elf_Scn *symbol_file_section(const struct symbol_file *f, uint64_t address, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(f->elf, section)))
		if (gelf_getshdr(section, header) && header->sh_flags & SHF_ALLOC && !(header->sh_flags & SHF_TLS) &&
		    address - header->sh_addr < header->sh_size)
			return section;
	return NULL;
}

size_t symbol_file_bytes(const struct symbol_file *f, uint64_t address, uint8_t *buf, size_t size)
{
	for (guint i = 0; i < f->segments->len; i++) {
		const struct segment *s = &g_array_index(f->segments, struct segment, i);
		uint64_t at = address - s->address;
		size_t total;
		const char *raw;

		if (at >= s->file_size)
			continue;
		raw = elf_rawfile(f->elf, &total);
		if (!raw || s->offset + at >= total)
			return 0;
		size = MIN(size, MIN(s->file_size - at, total - s->offset - at));
		memcpy(buf, raw + s->offset + at, size);
		return size;
	}
	return 0;
}
