#include "view/listing.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "core/params.h"
#include "isa/code.h"
#include "symbol/symbol.h"

enum { MOST_BYTES = 1 << 22, TEXT_BYTES = 512 };

struct listing_private {
	GArray *rows;
	GStringChunk *strings;
	struct symbols *symbols;
	struct code *code;
};

/* A decoder for the run's instruction set, by the core it ran on or, where that is gone, the default one. */
static int decoder(struct code **out, const struct run_info *run)
{
	struct core_desc *d = g_new0(struct core_desc, 1);
	const char *core = run->isa ? core_default_name(run->isa) : NULL;
	int err = run->core ? core_desc_load(d, run->core) : -ENOENT;

	if (err && core)
		err = core_desc_load(d, core);
	if (!err) {
		struct code_config config = {
			.cpu = d->cpu, .features = d->features, .ports = d->port_names, .units = d->unit_names,
		};

		config.isa = !strcmp(d->isa, "aarch64")   ? ISA_AARCH64
		             : !strcmp(d->isa, "riscv64") ? ISA_RISCV64
		                                          : ISA_X86_64;
		err = code_new(out, &config);
	}
	g_free(d);
	return err;
}

/* Decodes [from, to) and appends its instructions as never executed. */
static void decode(struct listing *l, int file, uint64_t from, uint64_t to, const uint8_t *bytes)
{
	struct listing_private *p = l->priv;

	for (uint64_t at = from; at < to;) {
		uint32_t insn = code_add(p->code, at, bytes + (at - from), (size_t)(to - at));
		struct listing_row row = { .address = at };
		struct place place;
		char text[TEXT_BYTES];

		code_text(p->code, insn, text, sizeof text / 2);
		if (code_insn(p->code, insn)->target)
			symbols_target(p->symbols, file, code_insn(p->code, insn)->target, text + strlen(text),
			               sizeof text / 2);
		row.disassembly = g_string_chunk_insert(p->strings, text);
		if (symbols_place(p->symbols, file, at, &place)) {
			row.file = place.file;
			row.line = place.line;
		}
		g_array_append_val(p->rows, row);
		at += code_insn(p->code, insn)->length;
	}
}

/* The function's bytes in its module's file; `*why` says why they cannot be had. */
static uint8_t *function_bytes(struct listing *l, struct query *q, const struct query_function *f, int *file,
                               const char **why)
{
	bool changed = false;
	uint8_t *bytes;

	*why = NULL;
	if (!f->module)
		*why = "JIT code is in no file";
	else if (!f->symbol || !f->size || f->size > MOST_BYTES)
		*why = "the function's size is not known";
	else if ((*file = symbols_open(l->priv->symbols, f->module)) < 0)
		*why = "its file cannot be read";
	else if (f->identity && strcmp(f->identity, symbols_identity(l->priv->symbols, *file)))
		changed = true;
	if (changed) {
		*why = "its file has been built anew since";
		query_note(q, "%s has been built anew since: nothing is taken from it", f->module);
	}
	if (*why)
		return NULL;
	bytes = g_malloc(f->size);
	if (symbols_bytes(l->priv->symbols, *file, f->address, bytes, f->size) == f->size)
		return bytes;
	g_free(bytes);
	*why = "its file does not hold its code";
	return NULL;
}

/* Leaves of the executed instructions those around one of them. */
static void narrow(const struct query_insn **in, size_t *n, const struct query_insn *around)
{
	size_t at = 0, first;

	while (at < *n && (*in)[at].insn != around->insn)
		at++;
	first = at > LISTING_AROUND ? at - LISTING_AROUND : 0;
	*n = MIN(*n, at + LISTING_AROUND + 1) - first;
	*in += first;
}

static struct listing *listing_empty(void)
{
	struct listing *l = g_new0(struct listing, 1);
	struct listing_private *p = g_new0(struct listing_private, 1);

	l->priv = p;
	p->rows = g_array_new(FALSE, FALSE, sizeof(struct listing_row));
	p->strings = g_string_chunk_new(1 << 14);
	return l;
}

static void add_executed(struct listing *l, const struct query_insn *in)
{
	struct listing_row row = {
		.insn = in, .address = in->address, .disassembly = in->disassembly, .file = in->file, .line = in->line,
	};

	g_array_append_val(l->priv->rows, row);
}

static void show_rows(struct listing *l)
{
	l->row = &g_array_index(l->priv->rows, struct listing_row, 0);
	l->nr = l->priv->rows->len;
}

int listing_new_copies(struct listing **out, struct query *q, const struct query_copy *copy, size_t nr)
{
	struct listing *l = listing_empty();
	const struct query_insn *in;
	int err = 0;
	size_t n;

	for (size_t k = 0; k < nr && !err; k++) {
		err = query_copy_insns(q, &copy[k], &in, &n);
		for (size_t i = 0; i < n && !err; i++)
			add_executed(l, &in[i]);
	}
	show_rows(l);
	if (err)
		listing_free(l);
	else
		*out = l;
	return err;
}

int listing_new(struct listing **out, struct query *q, const struct query_function *f, const struct query_insn *around)
{
	struct listing *l = listing_empty();
	struct listing_private *p = l->priv;
	const struct query_insn *in;
	uint8_t *bytes = NULL;
	uint64_t at;
	size_t n;
	int file = -1, err;

	err = query_insns(q, f, &in, &n);
	if (!err)
		err = symbols_new(&p->symbols);
	if (err)
		goto out;
	if (!f->symbol && around)
		narrow(&in, &n, around);
	bytes = function_bytes(l, q, f, &file, &l->partial);
	if (bytes && decoder(&p->code, query_run(q))) {
		l->partial = "no core description for its instruction set could be read";
		g_free(bytes);
		bytes = NULL;
	}

	at = f->address;
	for (size_t i = 0; i < n; i++) {
		if (bytes && in[i].address > at)
			decode(l, file, at, MIN(in[i].address, f->address + f->size), bytes + (at - f->address));
		add_executed(l, &in[i]);
		at = MAX(at, in[i].address + in[i].length);
	}
	if (bytes && at < f->address + f->size)
		decode(l, file, at, f->address + f->size, bytes + (at - f->address));
	show_rows(l);
out:
	g_free(bytes);
	if (err) {
		listing_free(l);
		return err;
	}
	*out = l;
	return 0;
}

void listing_free(struct listing *l)
{
	if (!l)
		return;
	symbols_free(l->priv->symbols);
	code_free(l->priv->code);
	g_string_chunk_free(l->priv->strings);
	g_array_free(l->priv->rows, TRUE);
	g_free(l->priv);
	g_free(l);
}
