/*
 * Checksums of sources in the line tables of DWARF 5, which libdw does not give out. Clang writes them.
 *
 * Untrusted, as all of DWARF: every read is bounded by the section. Ref: DWARF 5, 6.2.4.
 */
#include <dwarf.h>
#include <string.h>

#include "symbol/file.h"

struct cursor {
	const uint8_t *at, *end;
	unsigned offset_bytes;     /* of an offset in this unit: 4 or 8 */
	bool bad;                  /* it went over the end */
};

static const uint8_t *take(struct cursor *c, uint64_t bytes)
{
	const uint8_t *at = c->at;

	if (c->bad || bytes > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += bytes;
	return at;
}

/* A little-endian number; 0 behind the end. */
static uint64_t number(struct cursor *c, unsigned bytes)
{
	const uint8_t *at = take(c, bytes);
	uint64_t value = 0;

	for (unsigned i = 0; at && i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

static uint64_t uleb(struct cursor *c)
{
	const uint8_t *at;
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && (at = take(c, 1)); shift += 7) {
		value |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at & 0x80))
			break;
	}
	return value;
}

static void skip(struct cursor *c, uint64_t form)
{
	const uint8_t *end;

	switch (form) {
	case DW_FORM_string:
		end = c->bad ? NULL : memchr(c->at, 0, (size_t)(c->end - c->at));
		take(c, end ? (uint64_t)(end - c->at) + 1 : UINT64_MAX);
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
		take(c, c->offset_bytes);
		break;
	case DW_FORM_udata:
	case DW_FORM_strx:
		uleb(c);
		break;
	case DW_FORM_data1:
	case DW_FORM_strx1:
		take(c, 1);
		break;
	case DW_FORM_data2:
	case DW_FORM_strx2:
		take(c, 2);
		break;
	case DW_FORM_strx3:
		take(c, 3);
		break;
	case DW_FORM_data4:
	case DW_FORM_strx4:
		take(c, 4);
		break;
	case DW_FORM_data8:
		take(c, 8);
		break;
	case DW_FORM_data16:
		take(c, 16);
		break;
	case DW_FORM_block:
		take(c, uleb(c));
		break;
	default:
		c->bad = true;
	}
}

/* A table of folders or of files, of `most` entries at most: calls `each` for every one with a checksum. How many. */
static uint64_t table(struct cursor *c, uint64_t most,
                      void (*each)(void *ctx, size_t file, const uint8_t md5[16]), void *ctx)
{
	struct { uint64_t content, form; } format[16];
	unsigned columns = (unsigned)number(c, 1);
	const uint8_t *md5;
	uint64_t nr, gone = 0;

	c->bad |= columns > G_N_ELEMENTS(format);
	for (unsigned i = 0; !c->bad && i < columns; i++) {
		format[i].content = uleb(c);
		format[i].form = uleb(c);
	}
	nr = uleb(c);
	c->bad |= nr > most;
	for (; !c->bad && columns && gone < nr; gone++) {
		for (unsigned k = 0; !c->bad && k < columns; k++) {
			if (format[k].content != DW_LNCT_MD5 || format[k].form != DW_FORM_data16) {
				skip(c, format[k].form);
				continue;
			}
			md5 = take(c, 16);
			if (md5 && each)
				each(ctx, gone, md5);
		}
	}
	return gone;
}

static bool section(Elf *elf, const char *name, struct cursor *out)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	const char *found;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		found = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (!found || strcmp(found, name) || header.sh_flags & SHF_COMPRESSED)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf)
			return false;
		*out = (struct cursor){ .at = data->d_buf, .end = (const uint8_t *)data->d_buf + data->d_size };
		return true;
	}
	return false;
}

uint64_t line_md5(Dwarf *dwarf, Dwarf_Die *unit, uint64_t most,
                  void (*each)(void *ctx, size_t file, const uint8_t md5[16]), void *ctx)
{
	Dwarf_Attribute attribute;
	struct cursor c;
	Dwarf_Word offset;
	uint64_t length, folders;

	if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) ||
	    !section(dwarf_getelf(dwarf), ".debug_line", &c))
		return 0;
	take(&c, offset);
	length = number(&c, 4);
	c.offset_bytes = length == UINT32_MAX ? 8 : 4;
	if (c.offset_bytes == 8)
		length = number(&c, 8);
	if (c.bad || length > (uint64_t)(c.end - c.at))
		return 0;
	c.end = c.at + length;
	if (number(&c, 2) != 5)
		return 0;
	take(&c, 2 + c.offset_bytes + 5);  /* sizes of address and segment; length of the header; five of its fields */
	length = number(&c, 1);            /* opcode_base: one more than there are lengths of opcodes */
	take(&c, length ? length - 1 : 0);
	folders = table(&c, most, NULL, NULL);
	return folders + table(&c, most - folders, each, ctx);
}
