/* What is said of things that cannot be run: reason, remedy and exit status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "source/launch.h"
#include "source/source.h"

static char dir[] = "/tmp/source_program_XXXXXX";

static const char *put(const char *name, const void *bytes, size_t size, mode_t mode)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
	chmod(path, mode);
	return path;
}

static int group_setup(void **state)
{
	(void)state;
	return !mkdtemp(dir);
}

static int group_teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", dir);
	return system(command);
}

static void expect_error(const char *name, int code, int status, const char *why, const char *remedy)
{
	struct program p;

	assert_int_equal(program_probe(&p, name), -code);
	assert_int_equal(error_get()->status, status);
	assert_string_equal(error_get()->what, name);
	if (!strstr(error_get()->why, why) || !strstr(error_get()->remedy, remedy))
		fail_msg("%s: %s (%s)", name, error_get()->why, error_get()->remedy);
}

static Elf64_Ehdr header(unsigned machine)
{
	Elf64_Ehdr elf = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_EXEC,
	                   .e_machine = (Elf64_Half)machine, .e_version = EV_CURRENT, .e_ehsize = sizeof elf };
	return elf;
}

static void errors(void **state)
{
	Elf64_Ehdr elf = header(EM_X86_64);
	static const char script[] = "#! /bin/sh -e\nexit 0\n";

	(void)state;
	expect_error("/no/such/file", ENOENT, 127, "no such file", "");
	expect_error("no-such-program-anywhere", ENOENT, 127, "no such program in PATH", "");
	expect_error("", ENOENT, 127, "no such program", "");
	expect_error(dir, EACCES, 126, "is a directory", "");
	expect_error(put("plain", "x", 1, 0644), EACCES, 126, "not executable", "chmod +x");
	expect_error(put("script", script, sizeof script - 1, 0755), ENOEXEC, 126, "is a script", "run its interpreter: /bin/sh -e /tmp/");
	expect_error(put("nothing", "#!\nexit 0\n", 10, 0755), ENOEXEC, 126, "is a script", "");
	expect_error(put("text", "hello", 5, 0755), ENOEXEC, 126, "not an ELF program", "");
	expect_error(put("empty", "", 0, 0755), ENOEXEC, 126, "not an ELF program", "");
	expect_error(put("short", &elf, 30, 0755), ENOEXEC, 126, "not an ELF program", "");
	elf.e_type = ET_REL;
	expect_error(put("object", &elf, sizeof elf, 0755), ENOEXEC, 126, "not a program", "");
	elf = header(EM_386);
	expect_error(put("i386", &elf, sizeof elf, 0755), ENOEXEC, 126, "32-bit x86", "x86-64");
	elf = header(EM_S390);
	expect_error(put("s390", &elf, sizeof elf, 0755), ENOEXEC, 126, "s390x", "AArch64");
	elf = header(9999);
	expect_error(put("unknown", &elf, sizeof elf, 0755), ENOEXEC, 126, "machine 9999", "RV64");
	elf = header(EM_RISCV);
	elf.e_ident[EI_CLASS] = ELFCLASS32;
	expect_error(put("rv32", &elf, sizeof elf, 0755), ENOEXEC, 126, "32-bit", "64 bits");
	elf = header(EM_AARCH64);
	elf.e_ident[EI_DATA] = ELFDATA2MSB;
	expect_error(put("big", &elf, sizeof elf, 0755), ENOEXEC, 126, "big-endian", "little-endian");
}

/* A program that ends behind its table of segments, or within that. */
static void cut_short(void **state)
{
	struct { Elf64_Ehdr elf; Elf64_Phdr segment[2]; uint8_t code[16]; } file = { .elf = header(EM_X86_64) };
	const size_t size = sizeof file;
	struct program p;

	(void)state;
	file.elf.e_phoff = sizeof file.elf;
	file.elf.e_phentsize = sizeof(Elf64_Phdr);
	file.elf.e_phnum = 2;
	file.segment[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = size, .p_memsz = size + 4096 };
	file.segment[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = size + 1, .p_filesz = 8 };
	assert_int_equal(program_probe(&p, put("whole", &file, size, 0755)), 0);
	expect_error(put("cut", &file, size - 1, 0755), ENOEXEC, 126, "is cut short", "");
	expect_error(put("cut", &file, sizeof file.elf + sizeof(Elf64_Phdr) + 10, 0755), ENOEXEC, 126, "is cut short", "");
	file.segment[0].p_offset = UINT64_MAX - 4;
	expect_error(put("cut", &file, size, 0755), ENOEXEC, 126, "is cut short", "");
}

static void found(void **state)
{
	Elf64_Ehdr elf = header(EM_AARCH64);
	struct program p;
	char path[256];

	(void)state;
	snprintf(path, sizeof path, "%s", put("arm", &elf, sizeof elf, 0755));
	assert_int_equal(program_probe(&p, path), 0);
	assert_int_equal(p.isa, ISA_AARCH64);
	assert_string_equal(p.path, path);
	assert_false(p.dynamic);

	/* Not executable ones are passed over on the way through PATH. */
	char *old = strdup(getenv("PATH"));
	char first[300];
	snprintf(first, sizeof first, "%s/first", dir);
	mkdir(first, 0755);
	put("first/arm", "x", 1, 0644);
	snprintf(first, sizeof first, "%s/first:%s", dir, dir);
	setenv("PATH", first, 1);
	assert_int_equal(program_probe(&p, "arm"), 0);
	assert_string_equal(p.path, path);
	unlink(path);
	expect_error("arm", EACCES, 126, "not executable", "chmod");
	snprintf(path, sizeof path, "%s", put("tool", "#!/bin/sh\n", 10, 0755));
	expect_error("tool", ENOEXEC, 126, "is a script", path); /* where it is, for the interpreter looks through no PATH */
	assert_int_equal(chdir(dir), 0);
	put("here", &elf, sizeof elf, 0755);
	setenv("PATH", "/nowhere", 1);
	expect_error("here", ENOENT, 127, "no such program", "./here");
	setenv("PATH", "/nowhere:", 1);
	assert_int_equal(program_probe(&p, "here"), 0);
	assert_string_equal(p.path, "./here");
	setenv("PATH", old, 1);
	free(old);
}

/* Reading what it is must survive whatever is in the file. */
static void random_headers(void **state)
{
	struct program p;
	char interpreter[64];

	(void)state;
	srand(4);
	for (unsigned i = 0; i < 2000; i++) {
		union { Elf64_Ehdr elf; uint8_t byte[200]; } file;
		for (size_t k = 0; k < sizeof file; k++)
			file.byte[k] = (uint8_t)rand();
		Elf64_Ehdr elf = header(EM_X86_64);
		memcpy(&file, &elf, 20);
		if (i % 2)
			file.elf.e_phentsize = sizeof(Elf64_Phdr);
		if (i % 4 == 1)
			file.elf.e_phoff = (unsigned)rand() % 150;
		const char *path = put("random", &file, sizeof file, 0755);
		program_probe(&p, path);
		program_interpreter(path, interpreter, sizeof interpreter);
	}
}

static void no_emulator(void **state)
{
	struct program p = { .path = "/bin/true", .isa = ISA_RISCV64 };
	struct emulator e;
	char *old = strdup(getenv("PATH"));

	(void)state;
	unsetenv("CYCLEWISE_QEMU");
	setenv("PATH", "/nowhere", 1);
	assert_int_equal(emulator_find(&e, &p), -ENOENT);
	assert_string_equal(error_get()->what, "qemu-riscv64");
	assert_non_null(strstr(error_get()->remedy, "apt install qemu-user"));
	assert_int_equal(error_get()->status, 125);
	setenv("PATH", old, 1);
	setenv("CYCLEWISE_QEMU", "/bin/true", 1);
	assert_int_equal(emulator_find(&e, &p), -ENOEXEC);
	setenv("CYCLEWISE_QEMU", "/bin/no-such-emulator", 1);
	assert_int_equal(emulator_find(&e, &p), -ENOENT);
	assert_non_null(strstr(error_get()->remedy, "CYCLEWISE_QEMU"));

	/* One that says it is older than any that can be used. */
	static const char old_one[] = "#!/bin/sh\necho 'qemu-riscv64 version 5.2.0 (Debian)'\n";
	setenv("CYCLEWISE_QEMU", put("qemu-riscv64", old_one, sizeof old_one - 1, 0755), 1);
	assert_int_equal(emulator_find(&e, &p), -ENOTSUP);
	assert_non_null(strstr(error_get()->why, "5.2"));
	setenv("CYCLEWISE_QEMU", dir, 1); /* a directory that it is in */
	assert_int_equal(emulator_find(&e, &p), -ENOTSUP);
	unsetenv("CYCLEWISE_QEMU");
	free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors), cmocka_unit_test(cut_short), cmocka_unit_test(found),
		cmocka_unit_test(random_headers), cmocka_unit_test(no_emulator),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
