#include "measured.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/core.h"

enum {
	BODY = 400,                    /* instructions of the loop */
	ROUNDS = 24,                   /* of it; the second half counts */
	BASE = 0x100000,               /* what all base registers hold */
	CODE = 0x400000, CODE_EACH = 0x10000,
};

/* --- the file ---------------------------------------------------------------------------------------- */

static int bad_line(const char *path, unsigned line, const char *why)
{
	g_autofree char *what = g_strdup_printf("%s:%u", path, line);
	return error_set(EINVAL, what, "%s", why);
}

static bool read_hex(struct measured_row *r, const char *hex)
{
	for (r->size = 0; hex[0] && hex[1] && r->size < MEASURED_BYTES; hex += 2) {
		int high = g_ascii_xdigit_value(hex[0]), low = g_ascii_xdigit_value(hex[1]);
		if (high < 0 || low < 0)
			return false;
		r->bytes[r->size++] = (uint8_t)(high << 4 | low);
	}
	return r->size && !*hex;
}

/* "0:8 4:4"; "-" is 8 bytes at the base. */
static bool read_accesses(struct measured_row *r, const char *text)
{
	if (strcmp(text, "-") == 0)
		text = "0:8";
	for (r->nr_accesses = 0; *text && r->nr_accesses < MEASURED_ACCESSES; text += strspn(text, " ")) {
		char *end;
		r->access[r->nr_accesses].offset = g_ascii_strtoll(text, &end, 10);
		if (end == text || *end != ':')
			return false;
		text = end + 1;
		r->access[r->nr_accesses++].bytes = (uint16_t)g_ascii_strtoull(text, &end, 10);
		if (end == text)
			return false;
		text = end;
	}
	return !*text;
}

static const char *read_row(struct measured_row *r, char *line)
{
	enum { NAME, LOW, HALF, PARTS, PUBLIC, ACCESSES, HEX, NOTE, FIELDS };
	char *field[FIELDS] = { [NOTE] = "" };
	unsigned n = 0;

	for (char *rest = line; rest && n < FIELDS; n++) {
		field[n] = rest;
		rest = strchr(rest, '|');
		if (rest)
			*rest++ = 0;
		g_strstrip(field[n]);
	}
	if (n < NOTE)
		return "a row has 7 or 8 fields";
	r->name = field[NAME];
	r->low_text = field[LOW];
	r->half_text = field[HALF];
	r->public_text = field[PUBLIC];
	r->note = field[NOTE];
	r->low = g_ascii_strtod(field[LOW], NULL);
	r->half = g_ascii_strtod(field[HALF], NULL);
	r->published = strcmp(field[PUBLIC], "-") == 0 ? -1 : g_ascii_strtod(field[PUBLIC], NULL);
	r->parts = (unsigned)strtoul(field[PARTS], NULL, 10);
	if (!(r->low > 0 && r->half >= r->low && r->parts))
		return "cycles and parts are above 0, the median not below the first percentile";
	if (!read_accesses(r, field[ACCESSES]))
		return "accesses are offset:bytes";
	return read_hex(r, field[HEX]) ? NULL : "not hexadecimal bytes";
}

int measured_read(struct measured *m, const char *path)
{
	GError *error = NULL;
	unsigned number = 0;

	m->nr = 0;
	if (!g_file_get_contents(path, &m->text, NULL, &error)) {
		int ret = error_set(ENOENT, path, "%s", error->message);
		g_error_free(error);
		return ret;
	}
	for (char *line = m->text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		number++;
		if (!*line || *line == '#')
			continue;
		const char *why = m->nr == MEASURED_ROWS ? "too many rows" : read_row(&m->row[m->nr++], line);
		if (why)
			return bad_line(path, number, why);
	}
	return 0;
}

void measured_fini(struct measured *m)
{
	g_free(m->text);
}

/* --- the model --------------------------------------------------------------------------------------- */

struct runner {
	struct core_desc desc;
	struct code *code;
	GArray *insn;                  /* uint32_t: the loop */
	GArray *step;                  /* struct step: all rounds */
	uint64_t begin, end;           /* commits of the first counted and of the last */
};

static void take(void *ctx, const struct timed *t, size_t n)
{
	struct runner *r = ctx;

	for (size_t i = 0; i < n; i++) {
		if (!timed_commits(&t[i]))
			continue;
		r->end = timed_leave(&t[i]);
		if (!(t[i].flags & TIMED_COUNTED))
			r->begin = r->end;
	}
}

/* Copies of the row's sequence up to BODY instructions, and a jump back. Returns the copies. */
static unsigned lay_out(struct runner *r, const struct measured_row *row, uint64_t start)
{
	uint64_t pc = start;
	unsigned copies = 0;

	g_array_set_size(r->insn, 0);
	while (r->insn->len < BODY) {
		for (size_t at = 0; at < row->size;) {
			uint32_t i = code_add(r->code, pc, row->bytes + at, row->size - at);
			at += code_insn(r->code, i)->length;
			pc += code_insn(r->code, i)->length;
			g_array_append_val(r->insn, i);
		}
		copies++;
	}
	int32_t back = (int32_t)(start - (pc + 5));
	uint8_t jump[5] = { 0xe9 };
	memcpy(jump + 1, &back, sizeof back);
	uint32_t i = code_add(r->code, pc, jump, sizeof jump);
	g_array_append_val(r->insn, i);
	return copies;
}

static void add_step(struct runner *r, const struct measured_row *row, struct step s, unsigned *accesses)
{
	if (s.flags & (STEP_LOAD | STEP_STORE)) {
		unsigned k = (*accesses)++ % row->nr_accesses;
		s.addr = (uint64_t)(BASE + row->access[k].offset);
		s.bytes = row->access[k].bytes;
	}
	g_array_append_val(r->step, s);
}

/* One instruction: its reads before its writes, in one access where it is atomic. */
static void execute(struct runner *r, const struct measured_row *row, uint32_t index, uint16_t flags, unsigned *accesses)
{
	const struct insn *in = code_insn(r->code, index);
	bool load = in->flags & INSN_LOAD, store = in->flags & INSN_STORE, atomic = in->flags & INSN_LOCKED;

	if (load)
		flags |= STEP_LOAD;
	if (store && (!load || atomic))
		flags |= STEP_STORE;
	if (in->branch == BRANCH_JUMP)
		flags |= STEP_TAKEN;
	add_step(r, row, (struct step){ .insn = index, .flags = flags | STEP_INSN }, accesses);
	if (load && store && !atomic)
		add_step(r, row, (struct step){ .insn = index, .flags = STEP_ACCESS | STEP_STORE }, accesses);
}

static int run_row(struct runner *r, const struct measured_row *row, uint64_t start, double *cycles)
{
	const struct core_ops *ooo = core_find("ooo");
	unsigned copies = lay_out(r, row, start), accesses = 0;
	struct core *core;

	g_array_set_size(r->step, 0);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned k = 0; k < r->insn->len; k++)
			execute(r, row, g_array_index(r->insn, uint32_t, k), round < ROUNDS / 2 ? 0 : STEP_COUNTED, &accesses);
	r->begin = r->end = 0;
	int ret = ooo->open(&core, &r->desc, r->code, (struct timed_sink){ .take = take, .ctx = r });
	if (ret)
		return ret;
	ooo->batch(core, (struct step *)(void *)r->step->data, r->step->len, 0);
	ooo->finish(core);
	ooo->close(core);
	*cycles = (double)(r->end - r->begin) / (ROUNDS - ROUNDS / 2) / copies / row->parts;
	return 0;
}

int measured_model(const struct measured *m, const char *name, const char *costs, double *cycles)
{
	struct runner r = { 0 };
	int ret = core_desc_load(&r.desc, name);

	if (ret)
		return ret;
	r.insn = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	r.step = g_array_new(FALSE, FALSE, sizeof(struct step));
	const struct code_config config = { .isa = ISA_X86_64, .cpu = r.desc.cpu, .features = r.desc.features, .ports = r.desc.port_names,
	                                    .units = r.desc.unit_names, .costs = costs ? costs : r.desc.costs_path };
	ret = code_new(&r.code, &config);
	for (unsigned k = 0; k < m->nr && !ret; k++)
		ret = run_row(&r, &m->row[k], CODE + (uint64_t)k * CODE_EACH, &cycles[k]);
	code_free(r.code);
	g_array_free(r.insn, TRUE);
	g_array_free(r.step, TRUE);
	return ret;
}

bool measured_agrees(const struct measured_row *row, double cycles)
{
	double above = cycles <= 1.005 ? 1.36 : 1.05;
	return row->low <= cycles * above && row->low >= cycles * 0.95;
}
