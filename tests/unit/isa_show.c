#include "isa_show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "base/error.h"

static const char *const skylake_ports[] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", NULL }, *const skylake_units[] = { "div", NULL };
static const char *const a72_ports[] = { "b", "i0", "i1", "m", "l", "s", "f0", "f1", NULL }, *const a72_units[] = { "mdiv", "fdiv", "fsqrt", NULL };
static const char *const boom_ports[] = { "mem0", "mem1", "int0", "int1", "int2", "int3", "fp0", "fp1", NULL }, *const boom_units[] = { "idiv", "fdiv", NULL };
static const char *const zen5_ports[] = {
	"alu0", "alu1", "alu2", "alu3", "alu4", "alu5", "ag0", "ag1", "ag2", "ag3", "fp0", "fp1", "fp2", "fp3", "fs0", "fs1", NULL,
}, *const zen5_units[] = { "div", "fdiv", NULL };

static const char *const zen2_ports[] = { "alu0", "alu1", "alu2", "alu3", "ag0", "ag1", "ag2", "fp0", "fp1", "fp2", "fp3", NULL };
static const char *const zen2_units[] = { "div", "fdiv", NULL };

struct code *show_core(const char *name)
{
	struct code_config config = { .isa = ISA_X86_64, .cpu = "cascadelake", .features = "", .ports = skylake_ports, .units = skylake_units };
	struct code *code;
	char *path = g_strdup_printf("%s/%s.costs", getenv("CYCLEWISE_DATA"), name);

	if (strcmp(name, "cortex-a72") == 0)
		config = (struct code_config){ .isa = ISA_AARCH64, .cpu = "cortex-a72", .features = "", .ports = a72_ports, .units = a72_units };
	else if (strcmp(name, "boom") == 0)
		config = (struct code_config){ .isa = ISA_RISCV64, .cpu = "generic-rv64", .features = "+m,+a,+f,+d,+c", .ports = boom_ports, .units = boom_units };
	else if (strcmp(name, "zen2") == 0)
		config = (struct code_config){ .isa = ISA_X86_64, .cpu = "znver2", .features = "", .ports = zen2_ports, .units = zen2_units };
	else if (strcmp(name, "zen5") == 0)
		config = (struct code_config){ .isa = ISA_X86_64, .cpu = "znver4", .features = "", .ports = zen5_ports, .units = zen5_units };
	config.costs = path;
	if (code_new(&code, &config))
		fail_msg("%s: %s", error_get()->what, error_get()->why);
	g_free(path);
	return code;
}

static void put_register(GString *s, enum isa isa, unsigned reg)
{
	static const char *const gpr[] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" };

	if (isa == ISA_X86_64) {
		if (reg >= 1 && reg <= 8)
			g_string_append(s, gpr[reg - 1]);
		else if (reg == 33 || reg == 34 || reg == 35)
			g_string_append(s, reg == 33 ? "cf" : reg == 34 ? "zf" : "df");
		else if (reg < 64)
			g_string_append_printf(s, "r%u", reg - 1);
		else
			g_string_append_printf(s, reg < 96 ? "xmm%u" : reg < 104 ? "k%u" : reg < 112 ? "st%u" : "fpsw", reg < 96 ? reg - 64 : reg < 104 ? reg - 96 : reg - 104);
	} else if (isa == ISA_AARCH64) {
		g_string_append_printf(s, reg == 32 ? "sp" : reg == 33 ? "nzcv" : reg < 64 ? "x%u" : "v%u", reg < 64 ? reg - 1 : reg - 64);
	} else {
		g_string_append_printf(s, reg < 64 ? "x%u" : "f%u", reg < 64 ? reg : reg - 64);
	}
}

/* Letters once, a digit for each port. */
static void put_ports(GString *s, const struct code *code, uint16_t ports)
{
	const char *last = NULL;

	if (!ports)
		g_string_append(s, "none");
	for (unsigned i = 0; i < 16; i++) {
		if (!(ports >> i & 1))
			continue;
		const char *name = code->config.ports[i];
		size_t letters = strcspn(name, "0123456789");
		bool same = last && strlen(last) > letters && strncmp(last, name, letters) == 0;
		g_string_append(s, same ? name + letters : name);
		last = name;
	}
}

static void put_uop(GString *s, const struct code *code, const struct uop *u, unsigned n)
{
	if (n > 1)
		g_string_append_printf(s, "%u*", n);
	put_ports(s, code, u->ports);
	if (u->kind == UOP_COMPUTE)
		g_string_append_printf(s, ":%u", u->latency);
	else if (!u->ports)
		g_string_append(s, u->kind == UOP_STD ? "(std)" : "(memory)");
	if (u->unit)
		g_string_append_printf(s, "/%s*%u", code->config.units[u->unit - 1], u->busy);
}

static void put_uops(GString *s, const struct code *code, const struct insn *i)
{
	const struct uop *u = code->uops + i->uop;
	unsigned stage = 0;

	if (!i->nr_uops)
		g_string_append(s, "-");
	for (unsigned k = 0, n; k < i->nr_uops; k += n) {
		if (k)
			g_string_append_c(s, ' ');
		if (u[k].kind == UOP_COMPUTE && u[k].stage != stage)
			g_string_append(s, "> ");
		if (u[k].kind == UOP_COMPUTE)
			stage = u[k].stage;
		for (n = 1; k + n < i->nr_uops && memcmp(&u[k], &u[k + n], sizeof *u) == 0; n++)
			;
		put_uop(s, code, &u[k], n);
	}
}

static void put_registers(GString *s, enum isa isa, const struct insn *i)
{
	for (unsigned k = 0; k < i->nr_addr; k++) {
		g_string_append(s, k ? "," : " [");
		put_register(s, isa, i->addr[k]);
	}
	g_string_append(s, i->nr_addr ? "]" : "");
	for (unsigned k = 0; k < i->nr_data; k++) {
		g_string_append_c(s, ' ');
		put_register(s, isa, i->data[k]);
		if (i->data_late[k])
			g_string_append_printf(s, "+%u", i->data_late[k]);
	}
	g_string_append(s, i->nr_dst ? " ->" : "");
	for (unsigned k = 0; k < i->nr_dst; k++) {
		g_string_append_c(s, ' ');
		put_register(s, isa, i->dst[k]);
		g_string_append_printf(s, ":%s%u", i->dst_latency[k] & DST_WRITEBACK ? "wb" : "", i->dst_latency[k] & ~DST_WRITEBACK);
	}
}

static void put_flags(GString *s, const struct insn *i)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{ INSN_PREFETCH, "prefetch" }, { INSN_REP, "rep" }, { INSN_LOCKED, "locked" }, { INSN_ACQUIRE, "acquire" }, { INSN_RELEASE, "release" },
		{ INSN_FENCE, "fence" }, { INSN_SERIALIZE, "serialize" }, { INSN_DISPATCH_SERIALIZE, "dispatch_serialize" }, { INSN_FLUSH, "flush" },
		{ INSN_SYSCALL, "syscall" }, { INSN_NOP, "nop" }, { INSN_ZERO, "zero" }, { INSN_MOVE, "move" }, { INSN_MICROCODED, "microcoded" },
		{ INSN_FUSES_NEXT, "fuses" }, { INSN_SIMPLE_ADDR, "simple" }, { INSN_INDEXED, "indexed" }, { INSN_VECTOR_MEM, "vmem" }, { INSN_FP, "fp" },
		{ INSN_VINT, "vint" }, { INSN_WIDE, "wide" }, { INSN_LONG, "long" }, { INSN_UNMODELLED, "unmodelled" }, { INSN_UNDECODED, "undecoded" },
		{ INSN_CONDITIONAL_ACCESS, "maybe" }, { INSN_LEAF_RESULT, "leaf" }, { INSN_JCC_ERRATUM, "erratum" },
	};
	static const char *const branches[] = { "", "conditional", "jump", "call", "indirect", "indirect_call", "return" };

	for (unsigned k = 0; k < G_N_ELEMENTS(names); k++)
		if (i->flags & names[k].flag)
			g_string_append_printf(s, " %s", names[k].name);
	if (i->branch)
		g_string_append_printf(s, " %s", branches[i->branch]);
	if (i->prefix_lengthens)
		g_string_append(s, " lengthens");
	if (i->target)
		g_string_append_printf(s, " to %+lld", (long long)(i->target - i->pc));
}

void show_insn(struct code *code, uint32_t index, char text[SHOW_SIZE])
{
	const struct insn *i = code_insn(code, index);
	GString *s = g_string_new(NULL);

	put_uops(s, code, i);
	g_string_append(s, " ;");
	put_registers(s, code->config.isa, i);
	g_string_append_printf(s, " ; %u", i->slots);
	if (i->decode_uops != i->slots)
		g_string_append_printf(s, "/%u", i->decode_uops);
	if (i->load_extra)
		g_string_append_printf(s, " extra %u", i->load_extra);
	if (i->address_extra)
		g_string_append_printf(s, " address %u", i->address_extra);
	if (i->stores_result)
		g_string_append(s, " stores result");
	if (i->ends_dispatch)
		g_string_append(s, " ends dispatch");
	if (i->queued)
		g_string_append(s, " queued 1");
	g_string_append(s, " ;");
	put_flags(s, i);
	g_strlcpy(text, s->str, SHOW_SIZE);
	g_string_free(s, TRUE);
}

unsigned show_bytes(const char *hex, uint8_t bytes[SHOW_BYTES])
{
	unsigned n = 0;

	while (*hex && n < SHOW_BYTES) {
		char *end;
		bytes[n++] = (uint8_t)strtoul(hex, &end, 16);
		hex = end + strspn(end, " ");
	}
	return n;
}

void show_check(struct code *code, const struct show_row *rows, unsigned n)
{
	unsigned differences = 0;

	for (unsigned k = 0; k < n; k++) {
		uint8_t bytes[SHOW_BYTES];
		char shown[SHOW_SIZE], text[128];
		unsigned length = show_bytes(rows[k].hex, bytes);
		uint32_t i = code_add(code, 0x100000, bytes, length);

		show_insn(code, i, shown);
		code_text(code, i, text, sizeof text);
		if (strcmp(shown, rows[k].expected) || strcmp(text, rows[k].text) || code_insn(code, i)->length != length) {
			print_error("%s (%s)\n  expected %s, %s\n  found    %s, %s, length %u\n", rows[k].hex, code_form(code, i),
				    rows[k].text, rows[k].expected, text, shown, code_insn(code, i)->length);
			differences++;
		}
	}
	assert_int_equal(differences, 0);
}
