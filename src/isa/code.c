/*
 * The table of static instructions: interning, page images, decoding on demand. Last stage of the room.
 *
 * Two hash tables over the entries: one by (pc, bytes) that interns, one by pc that gives the newest. Both hold
 * indices only. code_find() is one probe of the second for what is known, and that is what the wrong path of
 * every mispredicted branch asks for.
 */
#include "isa/code.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "isa/arch.h"
#include "isa/costs.h"
#include "isa/index.h"
#include "isa/llvm.h"
#include "isa/lower.h"
#include "isa/text.h"

enum {
	MAX_INSNS = CODE_MOST,     /* address space; memory is only what is used of it */
	MAX_UOPS = 1 << 26,
	LONGEST = 15,              /* bytes of the longest instruction of any ISA */
	PAGE = 4096,
};

/* What the core does not need of an instruction. */
struct entry {
	uint8_t bytes[LONGEST];
	uint8_t fuse;              /* shape.fuse */
	uint32_t form;
};

/* What is known of a form or variant of it, found out at its first sight. */
struct form {
	uint64_t traits;
	struct cost cost;
};

struct code_private {
	const struct arch *arch;
	struct decoder *decoder;
	struct costs *costs;
	struct reg *regs;          /* [LLVM's register] */
	struct resource_map *resources; /* [LLVM's resource] */
	struct lowering lowering;
	GHashTable *forms;         /* name with variant (interned string) -> struct form * */
	struct form **plain;       /* [LLVM's opcode]: the form without a variant */
	GHashTable *pages;         /* page address -> uint8_t[PAGE] */
	struct entry *entries;     /* [nr] */
	struct index by_pc, by_bytes;
	uint32_t nr_uops;
};

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static uint64_t hash_pc(const void *ctx, uint32_t i)
{
	const struct code *code = ctx;
	return index_hash(code->insn[i].pc);
}

static uint64_t hash_bytes(uint64_t pc, const uint8_t *bytes, unsigned length)
{
	uint64_t low = 0, high = 0;

	memcpy(&low, bytes, MIN(length, 8));
	if (length > 8)
		memcpy(&high, bytes + 8, length - 8);
	return index_hash(index_hash(pc ^ low * 0xff51afd7ed558ccdu) + high * 0xc4ceb9fe1a85ec53u + length);
}

static uint64_t hash_entry(const void *ctx, uint32_t i)
{
	const struct code *code = ctx;
	return hash_bytes(code->insn[i].pc, code->priv->entries[i].bytes, code->insn[i].length);
}

/* The slot of `pc`, or the free one where it belongs. */
static uint32_t slot_of_pc(const struct code *code, uint64_t pc)
{
	const struct index *x = &code->priv->by_pc;
	uint32_t at = (uint32_t)index_hash(pc) & x->mask;

	while (x->slots[at] != INDEX_FREE && code->insn[x->slots[at]].pc != pc)
		at = (at + 1) & x->mask;
	return at;
}

static uint32_t known_at(const struct code *code, uint64_t pc)
{
	return code->priv->by_pc.slots[slot_of_pc(code, pc)];
}

static uint32_t slot_of_bytes(const struct code *code, uint64_t pc, const uint8_t *bytes, unsigned length)
{
	const struct index *x = &code->priv->by_bytes;
	uint32_t at = (uint32_t)hash_bytes(pc, bytes, length) & x->mask;

	for (; x->slots[at] != INDEX_FREE; at = (at + 1) & x->mask) {
		uint32_t i = x->slots[at];
		if (code->insn[i].pc == pc && code->insn[i].length == length &&
		    memcmp(code->priv->entries[i].bytes, bytes, length) == 0)
			break;
	}
	return at;
}

static void make_newest(struct code *code, uint32_t i)
{
	struct index *x = &code->priv->by_pc;
	uint32_t at = slot_of_pc(code, code->insn[i].pc);

	if (x->slots[at] == INDEX_FREE)
		x->used++;
	else
		code->changes++;
	x->slots[at] = i;
	if (index_full(x))
		index_grow(x, hash_pc, code);
}

static const struct form *form_of(struct code_private *p, const struct decoded *d)
{
	const char *name = decoder_form(p->decoder, d->form), *variant;
	struct form *form = p->plain[d->form];

	if (!form) {
		form = p->plain[d->form] = g_new0(struct form, 1);
		form->traits = p->arch->traits(name);
		costs_find(p->costs, name, &form->cost);
	}
	variant = p->arch->variant(d, p->decoder, form->traits);
	if (!variant)
		return form;
	char key[128];
	g_snprintf(key, sizeof key, "%s.%s", name, variant);
	struct form *special = g_hash_table_lookup(p->forms, key);
	if (!special) {
		special = g_new0(struct form, 1);
		special->traits = form->traits;
		costs_find(p->costs, key, &special->cost);
		g_hash_table_insert(p->forms, g_strdup(key), special);
	}
	return special;
}

/* Decodes through prefixes that LLVM takes for instructions. `d` is the last; its length is that of all. */
static bool decode(struct code_private *p, uint64_t pc, const uint8_t *bytes, size_t size, struct decoded *d)
{
	uint32_t prefixes = 0;
	unsigned length = 0;
	bool ok;

	for (;;) {
		ok = decoder_decode(p->decoder, pc + length, bytes + length, size - length, d);
		if (!ok || !p->arch->prefix)
			break;
		uint32_t prefix = p->arch->prefix(decoder_form(p->decoder, d->form));
		if (!prefix)
			break;
		prefixes |= prefix;
		length += d->length;
		if (length >= size)
			return false;
	}
	d->pc = pc;
	d->length = (uint8_t)(d->length + length);
	d->prefixes |= prefixes;
	return ok && d->length <= LONGEST;
}

static void describe(struct code *code, uint32_t i, const struct decoded *d)
{
	struct code_private *p = code->priv;
	const struct form *form = form_of(p, d);
	struct insn *insn = &code->insn[i];
	struct shape shape = {
		.d = d, .regs = p->regs, .decoder = p->decoder, .insn = insn, .traits = form->traits,
	};

	insn->length = d->length;
	p->arch->shape(&shape);
	insn->uop = p->nr_uops;
	lower(&p->lowering, &shape, &form->cost, code->uops + p->nr_uops);
	insn_count(insn, code->uops + insn->uop);
	p->nr_uops += insn->nr_uops;
	p->entries[i].form = d->form;
	p->entries[i].fuse = shape.fuse;
}

/* Pairs the entry with its neighbours, where both are known. */
static void fuse(struct code *code, uint32_t first, uint32_t second)
{
	struct code_private *p = code->priv;
	struct insn *a = &code->insn[first], *b = &code->insn[second];

	if (!p->arch->fuses(p->lowering.core, p->entries[first].fuse, p->entries[second].fuse, b))
		return;
	__atomic_fetch_or(&a->flags, INSN_FUSES_NEXT, __ATOMIC_RELAXED); /* a core may be reading it */
	if (a->pc / 32 != (b->pc + b->length) / 32)
		__atomic_fetch_or(&a->flags, INSN_JCC_ERRATUM, __ATOMIC_RELAXED);
}

static void fuse_neighbours(struct code *code, uint32_t i)
{
	const struct insn *insn = &code->insn[i];
	uint32_t other;

	if (!code->priv->arch->fuses || !code->priv->entries[i].fuse)
		return;
	other = known_at(code, insn->pc + insn->length);
	if (other != INDEX_FREE)
		fuse(code, i, other);
	for (unsigned back = 1; back <= LONGEST; back++) {
		other = known_at(code, insn->pc - back);
		if (other != INDEX_FREE && code->insn[other].length == back)
			fuse(code, other, i);
	}
}

static bool is_full(const struct code *code)
{
	return code->nr >= code->limit || code->priv->nr_uops + LOWER_UOPS > MAX_UOPS;
}

/* A new entry; the caller has seen that there is none of these bytes, and room. */
static uint32_t append(struct code *code, uint64_t pc, const uint8_t *bytes, const struct decoded *d, bool decoded)
{
	struct code_private *p = code->priv;
	uint32_t i = code->nr, at;

	code->insn[i].pc = pc;
	memcpy(p->entries[i].bytes, bytes, d->length);
	if (decoded) {
		describe(code, i, d);
	} else {
		code->insn[i].length = d->length;
		code->insn[i].flags = INSN_UNMODELLED | INSN_UNDECODED;
		code->insn[i].slots = code->insn[i].decode_uops = 1;
		code->insn[i].uop = p->nr_uops;
	}
	code->nr++;
	at = slot_of_bytes(code, pc, bytes, d->length);
	p->by_bytes.slots[at] = i;
	p->by_bytes.used++;
	if (index_full(&p->by_bytes))
		index_grow(&p->by_bytes, hash_entry, code);
	make_newest(code, i);
	fuse_neighbours(code, i);
	return i;
}

uint32_t code_add(struct code *code, uint64_t pc, const uint8_t *bytes, size_t size)
{
	struct code_private *p = code->priv;
	struct decoded d;
	uint32_t i = known_at(code, pc);

	assert(size > 0);
	if (i != INDEX_FREE && code->insn[i].length <= size &&
	    memcmp(p->entries[i].bytes, bytes, code->insn[i].length) == 0 &&
	    !(code->insn[i].flags & INSN_UNDECODED && code->insn[i].length != MIN(size, p->arch->max_length)))
		return i;
	bool decoded = decode(p, pc, bytes, size, &d);
	if (!decoded)
		d.length = (uint8_t)p->arch->bad_length(bytes, size);
	i = p->by_bytes.slots[slot_of_bytes(code, pc, bytes, d.length)];
	if (i == INDEX_FREE)
		return is_full(code) ? CODE_NONE : append(code, pc, bytes, &d, decoded);
	make_newest(code, i);
	return i;
}

const uint8_t *code_image(const struct code *code, uint64_t page)
{
	return g_hash_table_lookup(code->priv->pages, &page);
}

/* As many as LONGEST bytes at `pc` from the page images; how many. */
static size_t image_bytes(const struct code *code, uint64_t pc, uint8_t bytes[LONGEST])
{
	size_t n = 0;

	while (n < LONGEST) {
		uint64_t at = pc + n, page = at & ~(uint64_t)(PAGE - 1);
		const uint8_t *image = code_image(code, page);
		if (!image)
			break;
		size_t part = MIN(LONGEST - n, PAGE - (at - page));
		memcpy(bytes + n, image + (at - page), part);
		n += part;
	}
	return n;
}

/* Entries whose bytes are no longer there stop being the newest at their pc. */
static void forget_changed(struct code *code, uint64_t page)
{
	struct code_private *p = code->priv;
	uint8_t bytes[LONGEST];

	for (uint64_t pc = page - (LONGEST - 1); pc != page + PAGE; pc++) {
		uint32_t at = slot_of_pc(code, pc), i = p->by_pc.slots[at];
		if (i == INDEX_FREE)
			continue;
		size_t length = code->insn[i].length, n = image_bytes(code, pc, bytes);
		if (n >= length && memcmp(bytes, p->entries[i].bytes, length) != 0) {
			index_remove(&p->by_pc, at, hash_pc, code);
			code->changes++;
		}
	}
}

void code_page(struct code *code, uint64_t page, const uint8_t bytes[PAGE])
{
	uint8_t *image = g_hash_table_lookup(code->priv->pages, &page);
	bool changed = image && memcmp(image, bytes, PAGE) != 0;

	assert(page % PAGE == 0);
	if (!image && g_hash_table_size(code->priv->pages) >= CODE_PAGES)
		return;
	if (!image) {
		image = g_malloc(PAGE);
		g_hash_table_insert(code->priv->pages, g_memdup2(&page, sizeof page), image);
	}
	memcpy(image, bytes, PAGE);
	if (changed)
		forget_changed(code, page);
}

uint32_t code_find(struct code *code, uint64_t pc)
{
	uint8_t bytes[LONGEST];
	uint32_t i = known_at(code, pc);
	struct decoded d;
	size_t n;

	if (i != INDEX_FREE)
		return i;
	n = image_bytes(code, pc, bytes);
	if (n == 0 || (n < code->priv->arch->max_length && !decode(code->priv, pc, bytes, n, &d)))
		return CODE_NONE;
	return code_add(code, pc, bytes, n);
}

int code_text_at(struct code *code, uint32_t index, uint64_t address, char *buf, size_t size)
{
	struct code_private *p = code->priv;
	struct insn insn = code->insn[index];
	const uint8_t *bytes = p->entries[index].bytes;
	char text[256];
	unsigned done = 0;
	size_t n = 0;

	if (insn.flags & INSN_UNDECODED)
		return g_snprintf(buf, size, "(bad)");
	if (insn.target)
		insn.target += address - insn.pc;
	insn.pc = address;
	while (done < insn.length && n + 1 < sizeof text) {
		struct decoded d;
		if (!decoder_decode(p->decoder, address + done, bytes + done, insn.length - done, &d))
			break;
		decoder_text(p->decoder, address + done, bytes + done, insn.length - done, text + n, sizeof text - n);
		n = strlen(text);
		done += d.length;
	}
	text_as_objdump(code->config.isa, code_form(code, index), &insn, text, sizeof text);
	return g_snprintf(buf, size, "%s", text);
}

const char *code_form(struct code *code, uint32_t index)
{
	if (code->insn[index].flags & INSN_UNDECODED)
		return "undecodable";
	return decoder_form(code->priv->decoder, code->priv->entries[index].form);
}

const uint8_t *code_bytes(const struct code *code, uint32_t index, size_t *size)
{
	*size = code->insn[index].length;
	return code->priv->entries[index].bytes;
}

static void map_names(struct code_private *p)
{
	unsigned nr_regs = decoder_nr_registers(p->decoder), nr_resources = decoder_nr_resources(p->decoder);

	p->regs = g_new0(struct reg, nr_regs);
	for (unsigned r = 1; r < nr_regs; r++)
		p->regs[r] = p->arch->reg(decoder_register(p->decoder, r));
	p->resources = g_new0(struct resource_map, nr_resources + 1);
	for (unsigned r = 0; r < nr_resources; r++)
		costs_resource(p->costs, decoder_resource(p->decoder, r), &p->resources[r].ports,
		               &p->resources[r].unit);
	p->plain = g_new0(struct form *, decoder_nr_forms(p->decoder));
	p->lowering = (struct lowering){ .arch = p->arch, .core = costs_core(p->costs), .resources = p->resources };
}

int code_new(struct code **out, const struct code_config *config)
{
	struct code *code = g_new0(struct code, 1);
	struct code_private *p = code->priv = g_new0(struct code_private, 1);
	char *features;
	int ret;

	*out = NULL;
	code->config = *config;
	code->limit = CODE_MOST;
	p->arch = arch_list[config->isa];
	p->forms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	p->pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	index_init(&p->by_pc);
	index_init(&p->by_bytes);
	code->insn = reserve(sizeof *code->insn * MAX_INSNS);
	code->uops = reserve(sizeof *code->uops * MAX_UOPS);
	p->entries = reserve(sizeof *p->entries * MAX_INSNS);
	if (!code->insn || !code->uops || !p->entries) {
		ret = error_errno(ENOMEM, "table of instructions");
		goto out;
	}
	ret = costs_new(&p->costs, config->costs, config->ports, config->units);
	if (ret)
		goto out;
	features = g_strjoin(*p->arch->features && config->features && *config->features ? "," : "", p->arch->features,
			     config->features ? config->features : "", NULL);
	ret = decoder_new(&p->decoder, p->arch->triple, config->cpu, features);
	g_free(features);
	if (ret)
		goto out;
	map_names(p);
	*out = code;
	return 0;
out:
	code_free(code);
	return ret;
}

void code_free(struct code *code)
{
	struct code_private *p;

	if (!code)
		return;
	p = code->priv;
	for (unsigned i = 0; p->plain && i < decoder_nr_forms(p->decoder); i++)
		g_free(p->plain[i]);
	g_free(p->plain);
	g_free(p->regs);
	g_free(p->resources);
	g_hash_table_destroy(p->forms);
	g_hash_table_destroy(p->pages);
	index_fini(&p->by_pc);
	index_fini(&p->by_bytes);
	if (code->insn)
		munmap(code->insn, sizeof *code->insn * MAX_INSNS);
	if (code->uops)
		munmap(code->uops, sizeof *code->uops * MAX_UOPS);
	if (p->entries)
		munmap(p->entries, sizeof *p->entries * MAX_INSNS);
	costs_free(p->costs);
	decoder_free(p->decoder);
	g_free(p);
	g_free(code);
}
