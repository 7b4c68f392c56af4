/* Kernels from examples of instruction forms; forms.h says which. */
#include "calibrate/forms.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "isa/arch.h"

enum kind { KIND_OTHER, KIND_8, KIND_16, KIND_32, KIND_64, KIND_XMM, KIND_YMM, NR_KINDS };
enum { NR_INDICES = 16, RAX = 0, RCX = 1, RDX = 2, RSP = 4, RSI = 6, RDI = 7, R14 = 14, R15 = 15 };

static const char *const names[NR_KINDS][NR_INDICES] = {
	[KIND_8] = { "AL", "CL", "DL", "BL", "SPL", "BPL", "SIL", "DIL", "R8B", "R9B", "R10B", "R11B", "R12B", "R13B",
	  "R14B", "R15B" },
	[KIND_16] = { "AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8W", "R9W", "R10W", "R11W", "R12W", "R13W",
	  "R14W", "R15W" },
	[KIND_32] = { "EAX", "ECX", "EDX", "EBX", "ESP", "EBP", "ESI", "EDI", "R8D", "R9D", "R10D", "R11D", "R12D",
	  "R13D", "R14D", "R15D" },
	[KIND_64] = { "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13",
	  "R14", "R15" },
	[KIND_XMM] = { "XMM0", "XMM1", "XMM2", "XMM3", "XMM4", "XMM5", "XMM6", "XMM7", "XMM8", "XMM9", "XMM10", "XMM11",
	  "XMM12", "XMM13", "XMM14", "XMM15" },
	[KIND_YMM] = { "YMM0", "YMM1", "YMM2", "YMM3", "YMM4", "YMM5", "YMM6", "YMM7", "YMM8", "YMM9", "YMM10", "YMM11",
	  "YMM12", "YMM13", "YMM14", "YMM15" },
};

/* Registers for results, and for sources that never change. rax, rcx and rdx are for implicit operands; r14 is 0. */
static const uint8_t general[] = { 3, 5, 8, 9, 10, 11, 12, 13 };
static const uint8_t vector[] = { 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
enum { GENERAL_SOURCE = R15, COPIES = 12, LINE = 64, ADDRESS = DECODED_OPERANDS };

struct location {
	enum kind kind;
	uint8_t index;
};

struct forms {
	struct bench *bench;
	struct parent *parent;
	GPtrArray *list;           /* struct form * */
	GHashTable *seen;          /* names */
	struct location *registers;/* [LLVM's register] */
	uint16_t numbers[NR_KINDS][NR_INDICES];
	struct sequence to_vector, to_general; /* vmovq %rbx, %xmm4 and back: one instruction each */
	struct estimate transfer;  /* of both together */
	double parent_transfer;
	bool has_transfer;
};

static bool is_general(enum kind kind)
{
	return kind >= KIND_8 && kind <= KIND_64;
}

static bool is_vector(enum kind kind)
{
	return kind >= KIND_XMM;
}

static struct location at(const struct forms *f, const struct operand *o)
{
	return o->role & OPERAND_REGISTER ? f->registers[o->reg] : (struct location){ KIND_OTHER, 0 };
}

static uint8_t result_register(enum kind kind, unsigned copy)
{
	return is_vector(kind) ? vector[copy % G_N_ELEMENTS(vector)] : general[copy % G_N_ELEMENTS(general)];
}

/* Forms that do something to the thread that runs them, or that wait for others by nature. */
static bool refused(const char *name)
{
	static const char *const globs[] = {
		"WR*", "RD*", "LDMXCSR*", "VLDMXCSR*", "*XRSTOR*", "*XSAVE*", "FX*", "LEAVE*", "ENTER*", "CMPXCHG*",
		"XBEGIN*", "*GATHER*",
		"*SCATTER*", "CLFLUSH*", "CLWB*", "CLZERO*", "PREFETCH*", "*MASKMOV*", "IN8*", "IN16*", "IN32*", "OUT*",
		"LAR*", "LSL*", "VERR*", "VERW*",
		"LD_F*", "ST_F*", "IL*_F*", "IST*_F*", "*_F??m", "*_FI??m", "F*", "SLDT*", "STR*", "SMSW*", "LMSW*",
		"INVPCID*", "UMONITOR*", "UMWAIT*", "TPAUSE*", "ENDBR*", "NOOP*", "*rmk", "*rrk*", "*rmik*",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(globs); i++)
		if (g_pattern_match_simple(globs[i], name))
			return true;
	return false;
}

/* Whether kernels can be made: all registers known, something computed in one, nothing in order by nature. */
static bool measurable(const struct forms *f, const struct form *form)
{
	const struct decoded *d = &form->decoded;
	bool registers = false;

	if (refused(form->name) || d->flags & (DECODED_BRANCH | DECODED_CALL | DECODED_RETURN))
		return false;
	if (form->insn->flags & (INSN_REP | INSN_LOCKED | INSN_FENCE | INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE |
	                         INSN_FLUSH | INSN_SYSCALL | INSN_NOP | INSN_PREFETCH | INSN_WIDE))
		return false;
	for (unsigned k = 0; k < d->nr_operands; k++) {
		const struct operand *o = &d->operand[k];
		struct location l = at(f, o);

		if (!(o->role & OPERAND_REGISTER) || !o->reg)
			continue;
		if (o->role & OPERAND_IMPLICIT) {
			if (l.kind != KIND_OTHER &&
			    (is_vector(l.kind) || l.index > RDX || (l.index == RCX && o->role & OPERAND_DEF)))
				return false;
			continue;
		}
		if (!(o->role & OPERAND_MEMORY) && l.kind == KIND_OTHER)
			return false;
		registers = true;
	}
	return registers;
}

static void change(struct operand_change *c, unsigned *n, unsigned operand, uint16_t reg)
{
	c[(*n)++] = (struct operand_change){ .operand = (uint16_t)operand, .reg = reg };
}

/*
 * The memory operand: one line for each copy, or with register `chain` (-1: none) as the index, of the first line. Of
 * an address that is computed alone (lea) `chain` is the base.
 */
static unsigned change_memory(const struct forms *f, const struct decoded *d, unsigned first, unsigned copy, int chain,
                              struct operand_change *c, unsigned *n)
{
	bool computed = !(d->flags & (DECODED_LOAD | DECODED_STORE));
	unsigned base = first, index = first + 2, disp = first + 3, segment = first + 4;

	if (computed) {
		if (d->operand[base].reg)
			change(c, n, base, f->numbers[KIND_64][chain >= 0 ? (unsigned)chain : GENERAL_SOURCE]);
		if (d->operand[index].reg)
			change(c, n, index,
			       f->numbers[KIND_64]
			                 [!d->operand[base].reg && chain >= 0 ? (unsigned)chain : GENERAL_SOURCE]);
	} else {
		change(c, n, base, f->numbers[KIND_64][RDI]);
		if (d->operand[index].reg || chain >= 0)
			change(c, n, index, f->numbers[KIND_64][chain >= 0 ? chain : R14]);
		c[(*n)++] = (struct operand_change){ .operand = (uint16_t)(first + 1), .immediate = true, .imm = 1 };
		c[(*n)++] = (struct operand_change){ .operand = (uint16_t)disp, .immediate = true,
			.imm = chain >= 0 ? 0 : LINE * (copy % COPIES) };
	}
	change(c, n, segment, 0);
	return first + 5;
}

/* The first source that the first result can feed: the one tied to it, or the first of its bank. -1: there is none. */
static int chained_source(const struct forms *f, const struct decoded *d)
{
	bool to_vector = d->nr_defs && is_vector(at(f, &d->operand[0]).kind);
	int first = -1;

	if (!d->nr_defs)
		return -1;
	for (unsigned k = d->nr_defs; k < d->nr_explicit; k++) {
		const struct operand *o = &d->operand[k];
		enum kind kind = at(f, o).kind;

		if (kind == KIND_OTHER || o->role & OPERAND_MEMORY)
			continue;
		/* A general register that goes into a vector one: what is asked for is that way. */
		if (to_vector && is_general(kind))
			return -1;
		if (o->role & OPERAND_TIED)
			return (int)k;
		if (is_vector(kind) == to_vector && first < 0)
			first = (int)k;
	}
	return first;
}

/*
 * Appends the form with its results in the registers of `copy`; `source`, an operand, reads the first result's register
 * (-1: none does, but for what is tied; ADDRESS: the address of a load does), `cross` says that sources of the other
 * bank read the round trip's.
 */
static bool append(const struct forms *f, const struct form *form, unsigned copy, int source, bool cross,
                   struct sequence *s)
{
	const struct decoded *d = &form->decoded;
	struct operand_change c[DECODED_OPERANDS];
	unsigned n = 0;
	uint8_t spare[] = { 1, 2, 3 };
	unsigned spares = 0;
	int length;

	if (s->n == SEQUENCE_INSNS)
		return false;
	for (unsigned k = 0; k < d->nr_explicit; k++) {
		const struct operand *o = &d->operand[k];
		struct location l = at(f, o);

		if (o->role & OPERAND_MEMORY) {
			bool lea = !(d->flags & (DECODED_LOAD | DECODED_STORE));
			bool chained = lea ? source >= 0 : source == ADDRESS;

			k = change_memory(f, d, k, copy, chained ? result_register(KIND_64, copy) : -1, c, &n) - 1;
			continue;
		}
		if (l.kind == KIND_OTHER)
			continue;
		if (o->role & OPERAND_DEF)
			change(c, &n, k, f->numbers[l.kind][result_register(l.kind, copy + k)]);
		else if (o->role & OPERAND_TIED)
			change(c, &n, k,
			       f->numbers[l.kind]
			                 [result_register(l.kind, copy + (d->nr_defs > 1 ? k - d->nr_defs : 0))]);
		else if ((int)k == source || (cross && is_vector(l.kind) != is_vector(at(f, &d->operand[0]).kind)))
			change(c, &n, k, f->numbers[l.kind][result_register(l.kind, copy)]);
		else
			change(c, &n, k,
			       f->numbers[l.kind]
			                 [is_vector(l.kind) ? spare[spares++ % G_N_ELEMENTS(spare)] : GENERAL_SOURCE]);
	}
	length = assembler_change(f->bench->as, form->bytes, form->length, c, n, s->bytes[s->n]);
	if (length < 0)
		return false;
	s->length[s->n++] = (uint8_t)length;
	return true;
}

/* Implicit registers that the form reads and writes: bit RAX, bit RDX. */
static unsigned implicit_chain(const struct forms *f, const struct form *form)
{
	unsigned read = 0, written = 0;

	for (unsigned k = 0; k < form->decoded.nr_operands; k++) {
		const struct operand *o = &form->decoded.operand[k];
		struct location l = at(f, o);

		if (!(o->role & OPERAND_IMPLICIT) || !is_general(l.kind))
			continue;
		*(o->role & OPERAND_DEF ? &written : &read) |= 1u << l.index;
	}
	return read & written;
}

/* The flags, which tie copies together that have nothing else in common. */
static bool flags_chain(const struct form *form)
{
	bool read = false, written = false;

	for (unsigned k = 0; k < form->insn->nr_data; k++)
		read = read || (form->insn->data[k] >= REG_FLAGS && form->insn->data[k] < REG_VECTOR);
	for (unsigned k = 0; k < form->insn->nr_dst; k++)
		written = written || (form->insn->dst[k] >= REG_FLAGS && form->insn->dst[k] < REG_VECTOR);
	return read && written;
}

static void append_bytes(struct sequence *s, const uint8_t *bytes, unsigned length)
{
	if (s->n == SEQUENCE_INSNS)
		return;
	memcpy(s->bytes[s->n], bytes, length);
	s->length[s->n++] = (uint8_t)length;
}

bool forms_append(const struct forms *f, const struct form *form, unsigned copy, struct sequence *s)
{
	static const uint8_t rax_from_rcx[] = { 0x89, 0xc8 }, zero_edx[] = { 0x31, 0xd2 };
	unsigned implicit = implicit_chain(f, form);

	if (s->n + 3 > SEQUENCE_INSNS)
		return false;
	if (implicit & 1u << RAX)
		append_bytes(s, rax_from_rcx, sizeof rax_from_rcx);
	if (implicit & 1u << RDX)
		append_bytes(s, zero_edx, sizeof zero_edx);
	if (!append(f, form, copy, -1, false, s))
		return false;
	s->parts++;
	return true;
}

static bool make_throughput(const struct forms *f, struct form *form)
{
	struct sequence *s = &form->throughput_kernel;
	bool general_result = form->decoded.nr_defs && is_general(at(f, &form->decoded.operand[0]).kind);
	unsigned copies = general_result ? G_N_ELEMENTS(general) : COPIES;

	if (flags_chain(form))
		return false;
	for (unsigned copy = 0; copy < copies; copy++)
		if (!forms_append(f, form, copy, s))
			break;
	return s->parts >= 4;
}

static bool make_latency(const struct forms *f, struct form *form)
{
	const struct decoded *d = &form->decoded;
	struct sequence *s = &form->latency_kernel;
	bool memory = d->flags & (DECODED_LOAD | DECODED_STORE), lea = !memory;
	int source = chained_source(f, d);
	enum kind result = d->nr_defs ? at(f, &d->operand[0]).kind : KIND_OTHER, other = KIND_OTHER;

	s->parts = 1;
	form->single = true;
	if (source >= 0)
		return append(f, form, 0, source, false, s);
	if (implicit_chain(f, form))
		return append(f, form, 0, -1, false, s);
	if (result == KIND_OTHER || d->flags & DECODED_STORE)
		return false;
	for (unsigned k = d->nr_defs; k < d->nr_explicit; k++) {
		lea = lea && d->operand[k].role & OPERAND_MEMORY;
		if (!(d->operand[k].role & OPERAND_MEMORY) && at(f, &d->operand[k]).kind != KIND_OTHER)
			other = at(f, &d->operand[k]).kind;
	}
	if (!memory && is_general(result) && other == KIND_OTHER && form->insn->nr_data)
		return append(f, form, 0, 0, false, s); /* lea: the address is the source */
	if (d->flags & DECODED_LOAD && other == KIND_OTHER && (is_general(result) || f->has_transfer)) {
		form->load = true;
		form->single = is_general(result);
		if (!append(f, form, 0, ADDRESS, false, s))
			return false;
		if (!form->single)
			append_bytes(s, f->to_general.bytes[0], f->to_general.length[0]);
		return true;
	}
	form->single = false;
	if (other == KIND_OTHER || is_vector(other) == is_vector(result) || !f->has_transfer)
		return false;
	if (!append(f, form, 0, -1, true, s))
		return false;
	if (is_vector(result))
		append_bytes(s, f->to_general.bytes[0], f->to_general.length[0]);
	else
		append_bytes(s, f->to_vector.bytes[0], f->to_vector.length[0]);
	return true;
}

/* Single-precision operands, by LLVM's names: ADDPSrr, VDIVSSrm, VFMADD231PSYr, CVTPS2PDrr. */
static bool has_floats(const char *name)
{
	for (const char *p = name; *p; p++)
		if ((*p == 'P' || *p == 'S') && p[1] == 'S' && p[2] && strchr("rmYZ2i", p[2]))
			return true;
	return false;
}

static struct form *form_new(struct forms *f, const uint8_t *bytes, size_t size, const char *stands_for)
{
	const struct arch *arch = arch_list[ISA_X86_64];
	struct form *form = g_new0(struct form, 1);
	const char *name, *variant;

	if (!decoder_decode(f->parent->decoder, 0, bytes, size, &form->decoded) ||
	    form->decoded.length > SEQUENCE_BYTES) {
		g_free(form);
		return NULL;
	}
	form->length = form->decoded.length;
	memcpy(form->bytes, bytes, form->length);
	form->insn = parent_insn(f->parent, form->bytes, form->length);
	name = decoder_form(f->parent->decoder, form->decoded.form);
	variant = arch->variant(&form->decoded, f->parent->decoder, arch->traits(name));
	snprintf(form->name, sizeof form->name, "%s%s%s", name, variant ? "." : "", variant ? variant : "");
	decoder_text(f->parent->decoder, 0, form->bytes, form->length, form->text, sizeof form->text);
	g_strchug(g_strdelimit(form->text, "\t", ' '));
	form->floats = has_floats(form->name);
	form->stands_for = g_intern_string(stands_for && *stands_for ? stands_for : form->name);
	return form;
}

bool forms_add(struct forms *f, const uint8_t *bytes, size_t size, const char *stands_for)
{
	struct form *form = form_new(f, bytes, size, stands_for);

	if (!form)
		return false;
	if (g_hash_table_contains(f->seen, form->name) || !measurable(f, form)) {
		g_free(form);
		return false;
	}
	form->has_latency = make_latency(f, form);
	form->has_throughput = make_throughput(f, form);
	if (!form->has_latency && !form->has_throughput) {
		g_free(form);
		return false;
	}
	g_hash_table_add(f->seen, g_strdup(form->name));
	g_ptr_array_add(f->list, form);
	return true;
}

bool forms_add_text(struct forms *f, const char *text, const char *stands_for)
{
	uint8_t bytes[2 * SEQUENCE_BYTES];
	size_t length;

	return !assembler_text(f->bench->as, text, bytes, sizeof bytes, &length) && length &&
		forms_add(f, bytes, length, stands_for);
}

/* VEX with its L bit set: 256 bits. */
static bool is_wide(const uint8_t *bytes)
{
	return (bytes[0] == 0xc5 && bytes[1] & 4) || (bytes[0] == 0xc4 && bytes[2] & 4);
}

int forms_time(struct forms *f, const struct sequence *s, bool floats, struct estimate *e)
{
	GString *body = g_string_new(NULL);
	unsigned repeat = MAX(1, 96 / s->n);
	struct kernel_text text = {
		.before = "xorl %r14d, %r14d\n", .values = floats ? VALUES_FLOATS : VALUES_DOUBLES, .wide = false,
	};
	int ret;

	for (unsigned r = 0; r < repeat; r++)
		for (unsigned k = 0; k < s->n; k++) {
			text.wide = text.wide || is_wide(s->bytes[k]);
			g_string_append(body, ".byte ");
			for (unsigned i = 0; i < s->length[k]; i++)
				g_string_append_printf(body, "%s0x%02x", i ? "," : "", s->bytes[k][i]);
			g_string_append_c(body, '\n');
		}
	text.body = body->str;
	ret = bench_measure_text(f->bench, &text, e);
	*e = estimate_scaled(*e, 1.0 / repeat);
	g_string_free(body, TRUE);
	return ret;
}

/* What was found before, or now: what agreed, then what is faster. */
static void keep_faster(struct estimate *before, struct estimate now)
{
	if (!before->samples || before->noisy > now.noisy || (before->noisy == now.noisy && now.value < before->value))
		*before = now;
}

int forms_measure(struct forms *f, struct form *form)
{
	struct estimate e;
	int ret = 0;

	if (form->has_latency) {
		ret = forms_time(f, &form->latency_kernel, form->floats, &e);
		form->parent_latency = parent_chain(f->parent, &form->latency_kernel);
		if (!form->single) {
			e = estimate_minus(e, estimate_scaled(f->transfer, 0.5));
			form->parent_latency -= f->parent_transfer / 2;
		}
		keep_faster(&form->latency, e);
	}
	if (form->has_throughput && !ret) {
		double bound = parent_resources(f->parent, &form->throughput_kernel),
		       chain = parent_chain(f->parent, &form->throughput_kernel);

		ret = forms_time(f, &form->throughput_kernel, form->floats, &e);
		keep_faster(&form->throughput, estimate_scaled(e, 1.0 / form->throughput_kernel.parts));
		form->parent_throughput = MAX(bound, chain) / form->throughput_kernel.parts;
	}
	return ret;
}

/* movq %rbx, %xmm4 there and back, the connection of the two banks; with VEX lest it merge with dirty upper halves. */
static int measure_transfer(struct forms *f)
{
	struct sequence both = { .parts = 1 };
	bool vex = f->bench->avx;
	struct form *to = form_new(
		f, vex ? (const uint8_t *)"\xc4\xe1\xf9\x6e\xe3" : (const uint8_t *)"\x66\x48\x0f\x6e\xe3", 5, NULL);
	struct form *back = form_new(
		f, vex ? (const uint8_t *)"\xc4\xe1\xf9\x7e\xe3" : (const uint8_t *)"\x66\x48\x0f\x7e\xe3", 5, NULL);
	int ret = 0;

	if (to && back) {
		append_bytes(&f->to_vector, to->bytes, to->length);
		append_bytes(&f->to_general, back->bytes, back->length);
		append_bytes(&both, to->bytes, to->length);
		append_bytes(&both, back->bytes, back->length);
		ret = forms_time(f, &both, false, &f->transfer);
		f->parent_transfer = parent_chain(f->parent, &both);
		f->has_transfer = !ret && !f->transfer.noisy;
	}
	g_free(to);
	g_free(back);
	return ret;
}

int forms_new(struct forms **out, struct bench *b, struct parent *p)
{
	struct forms *f = g_new0(struct forms, 1);
	unsigned nr = decoder_nr_registers(p->decoder);
	int ret;

	f->bench = b;
	f->parent = p;
	f->list = g_ptr_array_new_with_free_func(g_free);
	f->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	f->registers = g_new0(struct location, nr);
	for (unsigned r = 1; r < nr; r++)
		for (enum kind kind = KIND_8; kind < NR_KINDS; kind++)
			for (uint8_t i = 0; i < NR_INDICES; i++)
				if (!strcmp(decoder_register(p->decoder, r), names[kind][i])) {
					f->registers[r] = (struct location){ kind, i };
					f->numbers[kind][i] = (uint16_t)r;
				}
	ret = measure_transfer(f);
	if (ret) {
		forms_free(f);
		f = NULL;
	}
	*out = f;
	return ret;
}

void forms_free(struct forms *f)
{
	if (!f)
		return;
	g_ptr_array_free(f->list, TRUE);
	g_hash_table_destroy(f->seen);
	g_free(f->registers);
	g_free(f);
}

size_t forms_count(const struct forms *f)
{
	return f->list->len;
}

struct form *forms_at(const struct forms *f, size_t i)
{
	return g_ptr_array_index(f->list, i);
}
