/*
 * Sections compressed with zstd, which elfutils reads only from its version 0.189 on: a copy of the file in memory,
 * with those sections decompressed at its end.
 *
 * Files of 64 bits alone, little endian, as all programs that can be run are. The file is untrusted: offsets are
 * checked, and what is decompressed is bounded.
 */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "symbol/file.h"

enum { TYPE_ZSTD = 2 };                        /* ELFCOMPRESS_ZSTD, which older <elf.h> do not have */

#define MOST_BYTES ((uint64_t)2 << 30)         /* of the copy */

enum { MOST_RATIO = 128, ANY_RATIO = 1 << 20 }; /* of what was compressed to what it takes; bytes of any */

/* Whether the section is compressed so, and lies in the file of `size` bytes; then in *out what says how. */
static bool is_zstd(const uint8_t *raw, size_t size, const GElf_Shdr *section, Elf64_Chdr *out)
{
	if (!(section->sh_flags & SHF_COMPRESSED) || section->sh_type == SHT_NOBITS ||
	    section->sh_size < sizeof(*out) || section->sh_offset > size ||
	    section->sh_size > size - section->sh_offset)
		return false;
	memcpy(out, raw + section->sh_offset, sizeof(*out));
	return out->ch_type == TYPE_ZSTD;
}

static bool write_all(int fd, const void *bytes, size_t size, uint64_t at)
{
	ssize_t n;

	for (size_t done = 0; done < size; done += (size_t)n) {
		n = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));
		if (n <= 0)
			return false;
	}
	return true;
}

/* Writes what the section holds at *end of `copy`, which is moved on, and its header, which is at `place`. */
static bool expand(int copy, const uint8_t *raw, const GElf_Shdr *section, const Elf64_Chdr *compressed,
                   uint64_t place, uint64_t *end)
{
	uint64_t size = compressed->ch_size, room = section->sh_size - sizeof(*compressed);
	const uint8_t *from = raw + section->sh_offset + sizeof(*compressed);
	Elf64_Shdr header = {
		.sh_name = section->sh_name, .sh_type = section->sh_type,
		.sh_flags = section->sh_flags & ~(uint64_t)SHF_COMPRESSED, .sh_addr = section->sh_addr,
		.sh_offset = (*end + 15) & ~(uint64_t)15, .sh_size = size,
		.sh_link = section->sh_link, .sh_info = section->sh_info, .sh_addralign = compressed->ch_addralign,
		.sh_entsize = section->sh_entsize,
	};
	uint8_t *bytes;
	bool done;

	if (*end > MOST_BYTES || size > MOST_BYTES - *end || (size > ANY_RATIO && size / MOST_RATIO > room) ||
	    ZSTD_getFrameContentSize(from, room) != size)
		return false;
	bytes = g_try_malloc(size + 1);
	done = bytes && ZSTD_decompress(bytes, size, from, room) == size &&
	       write_all(copy, bytes, size, header.sh_offset) && write_all(copy, &header, sizeof(header), place);
	g_free(bytes);
	*end = header.sh_offset + size;
	return done;
}

int zstd_expand(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *section = NULL;
	Elf64_Chdr compressed;
	GElf_Shdr header;
	GElf_Ehdr file;
	size_t size = 0;
	const uint8_t *raw = elf && elf_kind(elf) == ELF_K_ELF ? (const uint8_t *)elf_rawfile(elf, &size) : NULL;
	uint64_t end = size;
	int copy = -1;
	bool good = raw && size <= MOST_BYTES && gelf_getclass(elf) == ELFCLASS64 && gelf_getehdr(elf, &file) &&
	            file.e_ident[EI_DATA] == ELFDATA2LSB && file.e_shentsize == sizeof(Elf64_Shdr);

	while (good && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !is_zstd(raw, size, &header, &compressed))
			continue;
		if (copy < 0) {
			copy = memfd_create("debug", MFD_CLOEXEC);
			good = copy >= 0 && write_all(copy, raw, size, 0);
		}
		good = good && expand(copy, raw, &header, &compressed,
		                      file.e_shoff + elf_ndxscn(section) * sizeof(Elf64_Shdr), &end);
	}
	elf_end(elf);
	if (copy >= 0 && !good) {
		close(copy);
		copy = -1;
	}
	return copy;
}
