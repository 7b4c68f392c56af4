/*
 * Looking at a program before anything runs: where it is, what it is, and if it cannot be run, why and what helps.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "source/launch.h"
#include "source/source.h"

static int not_executable(int code, const char *what, const char *why)
{
	error_set(code, what, "%s", why);
	error_status(EXIT_NOT_EXECUTABLE);
	return -code;
}

static bool executable(const char *path, bool *there)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	*there = true;
	return S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* As execvp(3): a name without a slash is looked for in PATH, an entry of which may be empty (here). */
static int find(struct program *out, const char *name)
{
	bool there = false;

	if (g_strlcpy(out->path, name, sizeof out->path) >= sizeof out->path)
		return not_executable(ENAMETOOLONG, name, "the name is too long");
	if (strchr(name, '/')) {
		if (executable(name, &there))
			return 0;
	} else if (*name) {
		const char *path = getenv("PATH");
		char **dir = g_strsplit(path ? path : "/bin:/usr/bin", ":", -1);
		bool found = false;
		for (char **d = dir; *d && !found; d++) {
			int n = snprintf(out->path, sizeof out->path, "%s/%s", **d ? *d : ".", name);
			found = n > 0 && (size_t)n < sizeof out->path && executable(out->path, &there);
		}
		bool empty = !*dir;
		g_strfreev(dir);
		if (!found && empty)
			found = executable(name, &there);
		if (found)
			return 0;
	}

	struct stat st;
	if (!there) {
		error_set(ENOENT, name, strchr(name, '/') ? "no such file" : "no such program in PATH");
		if (!strchr(name, '/') && !access(name, F_OK))
			error_remedy("for the one in this directory, say ./%s", name);
		error_status(EXIT_NOT_FOUND);
		return -ENOENT;
	}
	if (!stat(name, &st) && !S_ISREG(st.st_mode))
		return not_executable(EACCES, name,
		                      S_ISDIR(st.st_mode) ? "is a directory" : "is a device, pipe or socket");
	not_executable(EACCES, name, "not executable");
	error_remedy("chmod +x %s", name);
	return -EACCES;
}

static const char *machine_name(unsigned machine)
{
	static const struct { unsigned machine; const char *name; } names[] = {
		{ EM_386, "32-bit x86" }, { EM_ARM, "32-bit ARM" }, { EM_PPC64, "POWER" }, { EM_S390, "s390x" },
		{ EM_MIPS, "MIPS" }, { EM_LOONGARCH, "LoongArch" }, { EM_SPARCV9, "SPARC" }, { EM_ALPHA, "Alpha" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return NULL;
}

static int isa_of(const Elf64_Ehdr *elf, const char *name, enum isa *isa)
{
	switch (elf->e_machine) {
	case EM_X86_64:
		*isa = ISA_X86_64;
		break;
	case EM_AARCH64:
		*isa = ISA_AARCH64;
		break;
	case EM_RISCV:
		*isa = ISA_RISCV64;
		break;
	default:
		if (machine_name(elf->e_machine))
			error_set(ENOEXEC, name, "is a program for %s, for which there is no core model",
			          machine_name(elf->e_machine));
		else
			error_set(ENOEXEC, name, "is a program for ELF machine %u, for which there is no core model",
			          elf->e_machine);
		error_status(EXIT_NOT_EXECUTABLE);
		error_remedy("x86-64, AArch64 and RV64 programs can be run");
		return -ENOEXEC;
	}
	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_ident[EI_DATA] != ELFDATA2LSB) {
		bool narrow = elf->e_ident[EI_CLASS] != ELFCLASS64;
		not_executable(ENOEXEC, name, narrow ? "is a 32-bit program" : "is a big-endian program");
		error_remedy("build it for %s", narrow ? "64 bits" : "little-endian");
		return -ENOEXEC;
	}
	return 0;
}

/* The first line of a script, behind its #!, names its interpreter. */
static int script(const char *name, const char *path, const char *line)
{
	char *interpreter = g_strstrip(g_strndup(line, strcspn(line, "\n")));

	not_executable(ENOEXEC, name, "is a script");
	if (*interpreter)
		error_remedy("run its interpreter: %s %s", interpreter, path);
	g_free(interpreter);
	return -ENOEXEC;
}

/* Segment `i` of the program open as `fd`; false: the file ends before it. */
static bool segment(int fd, const Elf64_Ehdr *elf, unsigned i, Elf64_Phdr *out)
{
	off_t at = (off_t)(elf->e_phoff + i * sizeof *out);

	return pread(fd, out, sizeof *out, at) == (ssize_t)sizeof *out;
}

int program_interpreter(const char *path, char *out, size_t size)
{
	Elf64_Ehdr elf;
	Elf64_Phdr s;
	struct stat st;
	int fd = file_open(path, 0, UINT64_MAX, &st), found = 0;

	if (fd < 0)
		return fd;
	if (pread(fd, &elf, sizeof elf, 0) == (ssize_t)sizeof elf && elf.e_phentsize == sizeof s) {
		for (unsigned i = 0; i < elf.e_phnum && segment(fd, &elf, i, &s); i++) {
			if (s.p_type != PT_INTERP || !s.p_filesz || s.p_filesz > size)
				continue;
			ssize_t n = pread(fd, out, s.p_filesz, (off_t)s.p_offset);
			found = n == (ssize_t)s.p_filesz;
			out[s.p_filesz - 1] = '\0';
			break;
		}
	}
	close(fd);
	return found;
}

/* The emulator maps what a file does not have, and dies of it. */
static bool cut_short(int fd, const Elf64_Ehdr *elf, uint64_t size)
{
	Elf64_Phdr s;

	for (unsigned i = 0; elf->e_phentsize == sizeof s && i < elf->e_phnum; i++) {
		if (!segment(fd, elf, i, &s))
			return true;
		if (s.p_type == PT_LOAD && (s.p_offset > size || s.p_filesz > size - s.p_offset))
			return true;
	}
	return false;
}

int program_probe(struct program *out, const char *name)
{
	union {
		Elf64_Ehdr elf;
		char text[256];
	} head = { .text = "" };
	char interpreter[PATH_MAX];

	*out = (struct program){ 0 };
	int ret = find(out, name);
	if (ret)
		return ret;
	struct stat st;
	int fd = file_open(out->path, 0, UINT64_MAX, &st);
	bool known = fd >= 0;
	ssize_t n = fd < 0 ? -1 : read(fd, head.text, sizeof head.text - 1);
	int code = fd < 0 ? -fd : errno;
	bool cut = known && n >= (ssize_t)sizeof head.elf && cut_short(fd, &head.elf, (uint64_t)st.st_size);
	out->other_rights = known && (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
		((st.st_mode & S_ISGID) && st.st_gid != getegid()));
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		not_executable(code, name, strerror(code));
		return -code;
	}
	if (n >= 2 && !memcmp(head.text, "#!", 2))
		return script(name, out->path, head.text + 2);
	if (n < (ssize_t)sizeof head.elf || memcmp(head.elf.e_ident, ELFMAG, SELFMAG))
		return not_executable(ENOEXEC, name, "is not an ELF program");
	ret = isa_of(&head.elf, name, &out->isa);
	if (ret)
		return ret;
	if (head.elf.e_type != ET_EXEC && head.elf.e_type != ET_DYN)
		return not_executable(ENOEXEC, name, "is an ELF file, but not a program");
	if (cut)
		return not_executable(ENOEXEC, name, "is cut short: the file ends before what it is to hold");
	ret = program_interpreter(out->path, interpreter, sizeof interpreter);
	if (ret < 0)
		return not_executable(-ret, name, strerror(-ret));
	out->dynamic = ret > 0;
	return 0;
}
