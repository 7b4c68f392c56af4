#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MAGIC "cyclewise steps 1\n"
enum { LEVEL = 19, MOST = 64 << 20 };  /* bytes of a stream, decompressed */

/* What a step says but for its address: a few of these make a program, each followed by mostly the same one. */
struct shape {
	uint32_t insn;
	uint16_t bytes, flags;
};

/* What is expected of the next step; writer and reader keep the same. */
struct expected {
	GArray *shape;                 /* struct shape, in order of their first appearance */
	GArray *next;                  /* guint: the shape that came last behind each */
	GArray *address, *stride;      /* guint64: of each, the last */
	guint now;                     /* shape of the step before */
};

static void expected_init(struct expected *e)
{
	const struct shape none = { .insn = UINT32_MAX };
	const guint zero = 0;
	const guint64 nowhere = 0;

	*e = (struct expected){
		.shape = g_array_new(FALSE, TRUE, sizeof none), .next = g_array_new(FALSE, TRUE, sizeof zero),
		.address = g_array_new(FALSE, TRUE, sizeof nowhere), .stride = g_array_new(FALSE, TRUE, sizeof nowhere),
	};
	g_array_append_val(e->shape, none);
	g_array_append_val(e->next, zero);
	g_array_append_val(e->address, nowhere);
	g_array_append_val(e->stride, nowhere);
}

static void expected_fini(struct expected *e)
{
	g_array_free(e->shape, TRUE);
	g_array_free(e->next, TRUE);
	g_array_free(e->address, TRUE);
	g_array_free(e->stride, TRUE);
}

static void add_shape(struct expected *e, const struct shape *shape)
{
	const guint zero = 0;
	const guint64 nowhere = 0;

	g_array_append_val(e->shape, *shape);
	g_array_append_val(e->next, zero);
	g_array_append_val(e->address, nowhere);
	g_array_append_val(e->stride, nowhere);
}

/* Where the next step of the shape is expected to go. */
static guint64 expected_address(const struct expected *e, guint shape)
{
	return g_array_index(e->address, guint64, shape) + g_array_index(e->stride, guint64, shape);
}

static void happened(struct expected *e, guint shape, guint64 address)
{
	g_array_index(e->next, guint, e->now) = shape;
	g_array_index(e->stride, guint64, shape) = address - g_array_index(e->address, guint64, shape);
	g_array_index(e->address, guint64, shape) = address;
	e->now = shape;
}

/* --- writing ----------------------------------------------------------------------------------------- */

static void put(GByteArray *out, const void *p, size_t n)
{
	g_byte_array_append(out, p, (guint)n);
}

static void put_number(GByteArray *out, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		put(out, &(uint8_t){ (uint8_t)(n | 0x80) }, 1);
	put(out, &(uint8_t){ (uint8_t)n }, 1);
}

/* Small where it is near zero on either side. */
static void put_difference(GByteArray *out, uint64_t n)
{
	put_number(out, n << 1 ^ -(n >> 63));
}

static guint shape_number(struct expected *e, GHashTable *known, const struct shape *shape)
{
	gpointer found = g_hash_table_lookup(known, shape);

	if (found)
		return GPOINTER_TO_UINT(found);
	add_shape(e, shape);
	g_hash_table_insert(known, g_memdup2(shape, sizeof *shape), GUINT_TO_POINTER(e->shape->len - 1));
	return e->shape->len - 1;
}

static guint shape_hash(gconstpointer p)
{
	const struct shape *s = p;
	return s->insn * 31 + s->bytes * 7 + s->flags;
}

static gboolean shape_equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct shape));
}

/* Which shapes came: how many as expected, then the one that did not. Addresses: differences. Both apart, since they compress apart. */
static void put_steps(GByteArray *out, const GArray *steps)
{
	GHashTable *known = g_hash_table_new_full(shape_hash, shape_equal, g_free, NULL);
	GByteArray *shapes = g_byte_array_new(), *addresses = g_byte_array_new();
	struct expected e;
	uint64_t run = 0;

	expected_init(&e);
	for (guint i = 0; i < steps->len; i++) {
		const struct step *s = &g_array_index(steps, struct step, i);
		const struct shape shape = { s->insn, s->bytes, s->flags };
		guint known_before = e.shape->len, number = shape_number(&e, known, &shape);

		if (number == g_array_index(e.next, guint, e.now)) {
			run++;
		} else {
			put_number(shapes, run);
			put_number(shapes, number);
			run = 0;
		}
		if (number == known_before) { /* new */
			put_number(shapes, shape.insn);
			put_number(shapes, shape.bytes);
			put_number(shapes, shape.flags);
		}
		put_difference(addresses, s->addr - expected_address(&e, number));
		happened(&e, number, s->addr);
	}
	put_number(shapes, run);
	put_number(out, steps->len);
	put_number(out, shapes->len);
	put(out, shapes->data, shapes->len);
	put(out, addresses->data, addresses->len);
	expected_fini(&e);
	g_byte_array_unref(shapes);
	g_byte_array_unref(addresses);
	g_hash_table_destroy(known);
}

bool recording_write(const struct recording *s, const char *path)
{
	GByteArray *out = g_byte_array_new();
	uint64_t pc = 0;
	bool ok;

	put(out, MAGIC, strlen(MAGIC));
	put_number(out, s->isa);
	put_number(out, s->insn->len);
	for (guint i = 0; i < s->insn->len; i++) {
		const struct recording_insn *in = &g_array_index(s->insn, struct recording_insn, i);

		put_difference(out, in->pc - pc);
		put_number(out, in->mark);
		put_number(out, in->length);
		put(out, in->bytes, in->length);
		pc = in->pc + in->length;
	}
	put_number(out, s->page->len);
	for (guint i = 0; i < s->page->len; i++) {
		const struct recording_page *p = &g_array_index(s->page, struct recording_page, i);

		put_number(out, p->address);
		put(out, p->bytes, RECORDING_PAGE);
	}
	put_steps(out, s->step);

	size_t room = ZSTD_compressBound(out->len);
	char *packed = g_malloc(room);
	size_t size = ZSTD_compress(packed, room, out->data, out->len, LEVEL);
	GError *error = NULL;
	ok = !ZSTD_isError(size) && g_file_set_contents(path, packed, (gssize)size, &error);
	if (!ok)
		fprintf(stderr, "%s: %s\n", path, error ? error->message : ZSTD_getErrorName(size));
	g_clear_error(&error);
	g_free(packed);
	g_byte_array_unref(out);
	return ok;
}

/* --- reading ----------------------------------------------------------------------------------------- */

/* What is left to read; `bad` once more was asked for, and then all numbers are 0. */
struct input {
	const uint8_t *at, *end;
	bool bad;
};

static void get(struct input *in, void *p, size_t n)
{
	in->bad |= n > (size_t)(in->end - in->at);
	if (in->bad) {
		memset(p, 0, n);
		return;
	}
	memcpy(p, in->at, n);
	in->at += n;
}

static uint64_t get_number(struct input *in)
{
	uint64_t n = 0;
	uint8_t byte = 0x80;

	for (unsigned shift = 0; byte & 0x80 && shift < 64; shift += 7) {
		get(in, &byte, 1);
		n |= (uint64_t)(byte & 0x7f) << shift;
	}
	return in->bad ? 0 : n;
}

static uint64_t get_difference(struct input *in)
{
	uint64_t n = get_number(in);
	return n >> 1 ^ -(n & 1);
}

static void get_steps(struct input *in, struct recording *s)
{
	uint64_t nr = get_number(in), size = get_number(in);
	struct expected e;

	in->bad |= size > (size_t)(in->end - in->at);
	if (in->bad)
		return;
	struct input shapes = { .at = in->at, .end = in->at + size };
	in->at += size;
	expected_init(&e);
	uint64_t run = get_number(&shapes);
	for (uint64_t i = 0; i < nr && !in->bad && !shapes.bad; i++) {
		guint number;

		if (run) {
			number = g_array_index(e.next, guint, e.now);
			run--;
		} else {
			number = (guint)get_number(&shapes);
			if (number == e.shape->len) {
				struct shape new = { .insn = (uint32_t)get_number(&shapes) };
				new.bytes = (uint16_t)get_number(&shapes);
				new.flags = (uint16_t)get_number(&shapes);
				shapes.bad |= new.insn >= s->insn->len;
				add_shape(&e, &new);
			}
			run = get_number(&shapes);
		}
		shapes.bad |= number == 0 || number >= e.shape->len;
		if (shapes.bad)
			break;
		const struct shape *shape = &g_array_index(e.shape, struct shape, number);
		const struct step step = {
			.addr = expected_address(&e, number) + get_difference(in), .insn = shape->insn, .bytes = shape->bytes, .flags = shape->flags,
		};
		happened(&e, number, step.addr);
		g_array_append_val(s->step, step);
	}
	in->bad |= shapes.bad;
	expected_fini(&e);
}

static void get_recording(struct input *in, struct recording *s)
{
	char magic[sizeof MAGIC - 1];
	uint64_t pc = 0, nr, isa;

	get(in, magic, sizeof magic);
	in->bad |= memcmp(magic, MAGIC, sizeof magic) != 0;
	isa = get_number(in);
	in->bad |= isa >= NR_ISAS;
	s->isa = in->bad ? ISA_X86_64 : (enum isa)isa;
	nr = get_number(in);
	for (uint64_t i = 0; i < nr && !in->bad; i++) {
		struct recording_insn insn = { .pc = pc + get_difference(in) };

		insn.mark = get_number(in) != 0;
		insn.length = (uint8_t)get_number(in);
		in->bad |= !insn.length || insn.length > RECORDING_LONGEST;
		if (!in->bad)
			get(in, insn.bytes, insn.length);
		pc = insn.pc + insn.length;
		g_array_append_val(s->insn, insn);
	}
	nr = get_number(in);
	for (uint64_t i = 0; i < nr && !in->bad; i++) {
		struct recording_page page = { .address = get_number(in) };

		get(in, page.bytes, RECORDING_PAGE);
		in->bad |= page.address % RECORDING_PAGE != 0;
		g_array_append_val(s->page, page);
	}
	get_steps(in, s);
	in->bad |= in->at != in->end;
}

bool recording_read(struct recording *s, const char *path)
{
	char *packed = NULL;
	gsize packed_size;
	GError *error = NULL;

	recording_init(s, ISA_X86_64);
	if (!g_file_get_contents(path, &packed, &packed_size, &error)) {
		fprintf(stderr, "%s: %s\n", path, error->message);
		g_clear_error(&error);
		return false;
	}
	unsigned long long size = ZSTD_getFrameContentSize(packed, packed_size);
	uint8_t *bytes = size <= MOST ? g_malloc(size + 1) : NULL; /* what zstd cannot say is huge, too */
	struct input in = { .at = bytes, .end = bytes ? bytes + size : NULL };

	in.bad = !bytes || ZSTD_isError(ZSTD_decompress(bytes, size, packed, packed_size));
	if (!in.bad)
		get_recording(&in, s);
	if (in.bad)
		fprintf(stderr, "%s: not a stream of steps\n", path);
	g_free(bytes);
	g_free(packed);
	return !in.bad;
}

/* --- its life ---------------------------------------------------------------------------------------- */

void recording_init(struct recording *s, enum isa isa)
{
	*s = (struct recording){
		.isa = isa, .insn = g_array_new(FALSE, TRUE, sizeof(struct recording_insn)),
		.page = g_array_new(FALSE, TRUE, sizeof(struct recording_page)), .step = g_array_new(FALSE, TRUE, sizeof(struct step)),
	};
}

void recording_fini(struct recording *s)
{
	g_array_free(s->insn, TRUE);
	g_array_free(s->page, TRUE);
	g_array_free(s->step, TRUE);
}

void recording_code(const struct recording *s, struct code *code)
{
	for (guint i = 0; i < s->insn->len; i++) {
		const struct recording_insn *in = &g_array_index(s->insn, struct recording_insn, i);
		uint32_t index = code_add(code, in->pc, in->bytes, in->length);

		g_assert(index == i);
		code->insn[index].flags |= in->mark ? INSN_MARK : 0;
	}
	for (guint i = 0; i < s->page->len; i++) {
		const struct recording_page *p = &g_array_index(s->page, struct recording_page, i);
		code_page(code, p->address, p->bytes);
	}
}
