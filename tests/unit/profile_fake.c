#include "profile_fake.h"

#include <glib.h>
#include <stdio.h>

#include "symbol/symbol.h"

struct origin {
	uint32_t module;
	uint64_t offset;
};

struct maps {
	GPtrArray *paths;
	GArray *origins;           /* struct origin, by instruction */
};

struct code_private {
	unsigned texts;
	GArray *insns;
};

struct fake {
	struct code code;
	struct code_private private;
	struct maps maps;
};

struct fake *fake_new(void)
{
	struct fake *f = g_new0(struct fake, 1);

	f->private.insns = g_array_new(FALSE, TRUE, sizeof(struct insn));
	f->code.priv = &f->private;
	f->maps.paths = g_ptr_array_new_with_free_func(g_free);
	f->maps.origins = g_array_new(FALSE, TRUE, sizeof(struct origin));
	return f;
}

void fake_free(struct fake *f)
{
	g_array_free(f->private.insns, TRUE);
	g_ptr_array_free(f->maps.paths, TRUE);
	g_array_free(f->maps.origins, TRUE);
	g_free(f);
}

uint32_t fake_module(struct fake *f, const char *path)
{
	g_ptr_array_add(f->maps.paths, g_strdup(path));
	return f->maps.paths->len - 1;
}

uint32_t fake_insn(struct fake *f, uint32_t module, uint64_t offset, uint64_t pc, uint32_t flags)
{
	struct insn insn = { .pc = pc, .flags = flags, .length = 4 };
	struct origin origin = { module, offset };

	g_array_append_val(f->private.insns, insn);
	g_array_append_val(f->maps.origins, origin);
	f->code.insn = (struct insn *)(void *)f->private.insns->data;
	f->code.nr = f->private.insns->len;
	return f->code.nr - 1;
}

struct code *fake_code(struct fake *f)
{
	return &f->code;
}

const struct maps *fake_maps(struct fake *f)
{
	return &f->maps;
}

unsigned fake_texts(const struct fake *f)
{
	return f->private.texts;
}

int code_text_at(struct code *code, uint32_t insn, uint64_t address, char *buf, size_t size)
{
	code->priv->texts++;
	return snprintf(buf, size, "op %u", insn);
}

const char *code_form(struct code *code, uint32_t insn)
{
	return code->insn[insn].flags & INSN_UNDECODED ? NULL : "OPrr";
}

const uint8_t *code_bytes(const struct code *code, uint32_t insn, size_t *size)
{
	static const uint8_t bytes[] = { 0x90, 0x0f, 0x1f, 0x00 };

	*size = code->insn[insn].length;
	return bytes;
}

uint32_t maps_place(const struct maps *m, uint32_t insn, uint64_t *offset)
{
	const struct origin *origin = &g_array_index(m->origins, struct origin, insn);

	*offset = origin->offset;
	return origin->module;
}

const char *maps_path(const struct maps *m, uint32_t module)
{
	return m->paths->pdata[module];
}

int maps_open(const struct maps *m, uint32_t module, struct symbols *s)
{
	return symbols_open(s, maps_path(m, module));
}

bool maps_changed(const struct maps *m, uint32_t module)
{
	(void)m;
	(void)module;
	return false;
}
