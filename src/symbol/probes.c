/*
 * Static probes (SDT): notes in .note.stapsdt that name an instruction.
 *
 * A note holds three addresses (the probe, the base as linked, a semaphore) and three strings (provider, name,
 * arguments). Where the file was moved after linking (prelink), .stapsdt.base tells by how much.
 * Ref: SystemTap wiki, "UserSpaceProbeImplementation".
 */
#include <string.h>

#include "symbol/file.h"

enum { STAPSDT = 3, ADDRESS_BYTES = 8 };

struct note {
	uint64_t address, base;
	const char *provider, *name, *args;
};

/* The zero-terminated string at *at, which is moved behind it; NULL: none before `end`. */
static const char *take_string(const char **at, const char *end)
{
	const char *start = *at, *zero = memchr(start, 0, (size_t)(end - start));

	*at = zero ? zero + 1 : end;
	return zero ? start : NULL;
}

static bool parse_note(const char *data, size_t size, struct note *out)
{
	const char *at = data + 3 * ADDRESS_BYTES, *end = data + size;

	if (size < 3 * ADDRESS_BYTES)
		return false;
	memcpy(&out->address, data, ADDRESS_BYTES);
	memcpy(&out->base, data + ADDRESS_BYTES, ADDRESS_BYTES);
	out->provider = take_string(&at, end);
	out->name = take_string(&at, end);
	out->args = take_string(&at, end);
	return out->provider && out->name && out->args;
}

/* Address of .stapsdt.base as it is now; 0: there is none. */
static uint64_t present_base(const struct symbol_file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names))
		return 0;
	while ((section = elf_nextscn(f->elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(f->elf, names, header.sh_name);
		if (name && !strcmp(name, ".stapsdt.base"))
			return header.sh_addr;
	}
	return 0;
}

int symbol_file_probes(struct symbol_file *f, const char *provider,
                       void (*each)(void *ctx, uint64_t address, const char *name, const char *args), void *ctx)
{
	uint64_t base = present_base(f);
	size_t next, at_name, at_desc;
	Elf_Scn *section = NULL;
	struct note note;
	GElf_Shdr header;
	GElf_Nhdr head;
	Elf_Data *data;
	int nr = 0;

	if (gelf_getclass(f->elf) != ELFCLASS64)
		return 0;
	while ((section = elf_nextscn(f->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (size_t at = 0; (next = gelf_getnote(data, at, &head, &at_name, &at_desc)); at = next) {
			if (head.n_type != STAPSDT || head.n_namesz != sizeof("stapsdt") ||
			    memcmp((const char *)data->d_buf + at_name, "stapsdt", sizeof("stapsdt")) ||
			    !parse_note((const char *)data->d_buf + at_desc, head.n_descsz, &note) ||
			    strcmp(note.provider, provider))
				continue;
			if (base && note.base)
				note.address += base - note.base;
			each(ctx, note.address, note.name, note.args);
			nr++;
		}
	}
	return nr;
}
