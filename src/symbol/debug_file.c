/*
 * Separate debug files: by build-id, then by .gnu_debuglink, in the folders of $CYCLEWISE_DEBUG_DIR and in
 * /usr/lib/debug; then, where $DEBUGINFOD_URLS names servers, by libdwfl's own search, which asks them by build-id
 * (through libdebuginfod, where it is installed). Without that variable nothing leaves the machine.
 *
 * What dwz moved into a file of its own is found the same way. A file is taken only if it is the right one: its
 * build-id is the same or, where there is none, its CRC is what the link says. Ref: GDB manual, "Debugging Information
 * in Separate Files".
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "symbol/file.h"

/* Of a file that is only known by its CRC, and so is read. */
enum { MOST_READ_MIB = 4096 };

static bool same_crc(int fd, uint32_t expected)
{
	uint8_t buf[65536];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n = 1;

	while (at >> 20 < MOST_READ_MIB && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, (uInt)n);
		at += n;
	}
	return !n && crc == expected;
}

/*
 * Opens `path` if it is the file with that build-id or, where either has none, with that CRC; -1 if not. Takes `path`,
 * and hands it on in *found.
 */
static int try_file(struct symbol_file *f, const char *build_id, char *path, const GElf_Word *crc, char **found)
{
	struct stat st;
	int fd = file_open(path, 0, crc ? (uint64_t)MOST_READ_MIB << 20 : UINT64_MAX, &st);
	char *id = NULL;
	Elf *elf;
	bool good;

	if (fd >= 0) {
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
		id = elf && elf_kind(elf) == ELF_K_ELF ? elf_build_id(elf) : g_strdup("");
		elf_end(elf);
		good = *id && *build_id ? !strcmp(id, build_id) : crc && same_crc(fd, *crc);
		g_free(id);
		if (good) {
			*found = strdup(path);
			g_free(path);
			return fd;
		}
		close(fd);
	} else if (fd != -ENOENT && fd != -ENOTDIR) {
		symbol_file_refused(f, path);
	}
	g_free(path);
	return -1;
}

static int by_build_id(struct symbol_file *f, const char *build_id, char *const *folders, char **found)
{
	int fd = -1;

	if (strlen(build_id) < 4)
		return -1;
	for (; fd < 0 && *folders; folders++)
		if (**folders)
			fd = try_file(
				f, build_id,
				g_strdup_printf("%s/.build-id/%.2s/%s.debug", *folders, build_id, build_id + 2),
				NULL, found);
	return fd;
}

static int by_link(struct symbol_file *f, char *const *folders, const char *link, GElf_Word crc, char **found)
{
	char *absolute = g_canonicalize_filename(f->path, NULL), *here = g_path_get_dirname(absolute);
	int fd = -1;

	if (strcmp(g_strrstr(absolute, "/") + 1, link))
		fd = try_file(f, f->build_id, g_build_filename(here, link, NULL), &crc, found);
	if (fd < 0)
		fd = try_file(f, f->build_id, g_build_filename(here, ".debug", link, NULL), &crc, found);
	for (; fd < 0 && *folders; folders++)
		if (**folders)
			fd = try_file(f, f->build_id, g_build_filename(*folders, here, link, NULL), &crc, found);
	g_free(here);
	g_free(absolute);
	return fd;
}

/*
 * The file into which dwz moved what several debug files share: `link` of the debug file `path`, which may be meant
 * from the folder of that file, and in a folder of debug files what is otherwise below /usr/lib/debug.
 */
static int alternate(struct symbol_file *f, Dwfl_Module *module, char *const *folders, const char *path,
                     const char *link, char **found)
{
	static const char usual[] = "/usr/lib/debug/";
	char *folder = path ? g_path_get_dirname(path) : g_strdup(".");
	GString *id = g_string_new(NULL);
	const void *bytes;
	const char *name;
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias); /* read already: it has the link */
	ssize_t nr = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes) : 0;
	int fd;

	for (ssize_t i = 0; i < nr; i++)
		g_string_append_printf(id, "%02x", ((const uint8_t *)bytes)[i]);
	fd = by_build_id(f, id->str, folders, found);
	if (fd < 0 && id->len)
		fd = try_file(f, id->str, *link == '/' ? g_strdup(link) : g_build_filename(folder, link, NULL), NULL,
		              found);
	for (; fd < 0 && id->len && g_str_has_prefix(link, usual) && *folders; folders++)
		if (**folders)
			fd = try_file(f, id->str, g_build_filename(*folders, link + strlen(usual), NULL), NULL, found);
	g_string_free(id, TRUE);
	g_free(folder);
	return fd;
}

int debug_file_find(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *path,
                    const char *debuglink, GElf_Word crc, char **found)
{
	struct symbol_file *f = *userdata;
	const char *more = g_getenv("CYCLEWISE_DEBUG_DIR"), *servers = g_getenv("DEBUGINFOD_URLS");
	char *list = g_strconcat(more ? more : "", ":/usr/lib/debug", NULL);
	char **folders = g_strsplit(list, ":", -1);
	int fd, expanded;

	if (debuglink && !crc) { /* libdwfl asks for a file of dwz, whose links have no CRC */
		fd = alternate(f, module, folders, path, debuglink, found);
	} else {
		fd = by_build_id(f, f->build_id, folders, found);
		if (fd < 0 && debuglink && *debuglink && !strchr(debuglink, '/'))
			fd = by_link(f, folders, debuglink, crc, found);
	}
	g_strfreev(folders);
	g_free(list);
	/* Without the names: libdwfl would open what is there, which may be no regular file. */
	if (fd < 0 && servers && *servers && *f->build_id && !(debuglink && !crc))
		fd = dwfl_standard_find_debuginfo(module, userdata, name, base, NULL, NULL, 0, found);
	expanded = fd < 0 ? -1 : zstd_expand(fd);
	if (expanded < 0)
		return fd;
	close(fd);
	return expanded;
}
