/*
 * Calls are followed by return addresses, the stack pointer being unknown: a call pushes the address behind it, a
 * return pops down to the address it goes to. A function jumped to (a tail call) runs in its caller's frame.
 *
 * What leaves frames without returning from each:
 *  - longjmp comes back to where a call returned before: every landing is remembered with its depth (in a table
 *    that may forget; then the next return that matches an older address sets it right);
 *  - a C++ exception lands in a function that has a frame: found by the symbol of the landing pad;
 *  - a signal handler returns to a trampoline: its frame has no address, and a return that leads to none that is
 *    known pops it.
 *
 * An inlined copy of a function is entered by its first instruction and left by the first of the same frame that is not
 * its own; what it calls has frames of its own. Where it ends in a tail call, it is left when that returns.
 */
#include "source/window.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/interval.h"

/* Of an instruction: it is the first of such a function; it is in an inlined copy of one (<< INLINED); of any. */
enum role { ROLE_ROI = 1, ROLE_START = 2, ROLE_STOP = 4, ROLE_FIRST = 64 };
enum { INLINED = 3 };
enum { LANDINGS = 4096, JUMPS = 4096 };

#define NO_ADDRESS UINT64_MAX      /* return address of a signal handler's frame */

struct landing {
	uint64_t address;
	size_t depth;
};

struct jump {
	uint64_t from, to;
};

struct module {
	int file;                  /* of symbols */
	GHashTable *role;          /* address -> enum role */
	struct interval_map inlined[INLINED]; /* by role: the code of inlined copies */
	GArray *ranges;            /* struct interval: those of the role being looked up */
	unsigned adding;           /* role being looked up */
	unsigned found;            /* roles whose name it has */
	unsigned coded;            /* those of which it has code */
};

struct window_state {
	struct window window;
	struct symbols *symbols;
	const struct code *code;
	const struct maps *maps;
	GHashTable *handlers;
	GPtrArray *module;         /* struct module *, by module; NULL: not seen yet */
	struct jump jump[JUMPS];   /* indirect jumps known to leave no frame */
	GByteArray *role;          /* enum role, by static instruction */
	unsigned found, coded;     /* roles whose name some file has; of which one has code */
	bool inlined;              /* some file has inlined copies */
	bool started, stopped;
	uint64_t skipped, counted;
};

static const char *name_of(const struct window_state *w, unsigned role)
{
	return role == ROLE_ROI ? w->window.roi : role == ROLE_START ? w->window.start_after : w->window.stop_at;
}

static void module_free(gpointer p)
{
	struct module *module = p;

	if (!module)
		return;
	g_hash_table_destroy(module->role);
	for (unsigned i = 0; i < INLINED; i++)
		interval_map_fini(&module->inlined[i]);
	g_free(module);
}

int window_new(struct window_state **out, const struct window *window, struct symbols *symbols, const struct code *code,
               const struct maps *maps, GHashTable *handlers)
{
	*out = NULL;
	if (!window->roi && !window->start_after && !window->stop_at && !window->skip && !window->count)
		return 0;
	struct window_state *w = g_new0(struct window_state, 1);
	w->window = *window;
	w->symbols = symbols;
	w->code = code;
	w->maps = maps;
	w->handlers = handlers;
	w->module = g_ptr_array_new_with_free_func(module_free);
	w->role = g_byte_array_new();
	w->started = !window->start_after;
	*out = w;
	return 0;
}

void window_free(struct window_state *w)
{
	if (!w)
		return;
	g_ptr_array_free(w->module, TRUE);
	g_byte_array_free(w->role, TRUE);
	g_free(w);
}

void window_thread_fini(struct window_thread *t)
{
	free(t->ret);
	free(t->landing);
	*t = (struct window_thread){ 0 };
}

static void add_role(void *ctx, uint64_t address, uint64_t size)
{
	struct module *m = ctx;
	gpointer key = GSIZE_TO_POINTER(address);

	(void)size;
	m->found |= m->adding;
	m->coded |= m->adding;
	g_hash_table_insert(m->role, key,
	                    GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(m->role, key)) | m->adding));
}

static void add_range(void *ctx, uint64_t start, uint64_t end)
{
	struct module *m = ctx;

	m->coded |= m->adding;
	g_array_append_val(m->ranges, ((struct interval){ start, end, 0, 0 }));
}

/* Finds function `name`, which has the role m->adding, and its inlined copies. */
static void look_up(struct window_state *w, struct module *m, const char *name, struct interval_map *inlined)
{
	symbols_find(w->symbols, m->file, name, add_role, m);
	m->ranges = g_array_new(FALSE, FALSE, sizeof(struct interval));
	if (symbols_find_inlined(w->symbols, m->file, name, add_range, m) > 0)
		m->found |= m->adding;
	w->inlined |= m->ranges->len > 0;
	interval_map_init(inlined, (const struct interval *)(void *)m->ranges->data, m->ranges->len);
	g_array_free(m->ranges, TRUE);
}

static struct module *module_of(struct window_state *w, uint32_t module)
{
	while (w->module->len <= module)
		g_ptr_array_add(w->module, NULL);
	if (!w->module->pdata[module]) {
		struct module *m = g_new0(struct module, 1);
		m->file = maps_open(w->maps, module, w->symbols);
		m->role = g_hash_table_new(NULL, NULL);
		for (unsigned i = 0; i < INLINED; i++) {
			m->adding = 1u << i;
			if (m->file >= 0 && name_of(w, m->adding))
				look_up(w, m, name_of(w, m->adding), &m->inlined[i]);
		}
		w->module->pdata[module] = m;
		w->found |= m->found;
		w->coded |= m->coded;
	}
	return w->module->pdata[module];
}

void window_seen(struct window_state *w, uint32_t insn, uint32_t module, uint64_t offset)
{
	guint old = w->role->len;
	struct place place;
	uint64_t address;

	if (insn >= old) {
		g_byte_array_set_size(w->role, insn + 1);
		memset(w->role->data + old, 0, insn + 1 - old);
	}
	if (module == MODULE_NONE)
		return;
	const struct module *m = module_of(w, module);
	if (m->file < 0 || !symbols_address(w->symbols, m->file, offset, &address))
		return;
	unsigned role = GPOINTER_TO_UINT(g_hash_table_lookup(m->role, GSIZE_TO_POINTER(address)));
	for (unsigned i = 0; i < INLINED; i++)
		if (interval_map_find(&m->inlined[i], address))
			role |= 1u << i << INLINED;
	if (w->inlined && symbols_place(w->symbols, m->file, address, &place) && address == place.start)
		role |= ROLE_FIRST;
	w->role->data[insn] = (guint8)role;
}

static void push(struct window_thread *t, uint64_t ret)
{
	if (t->depth == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->ret = g_realloc_n(t->ret, t->room, sizeof *t->ret);
	}
	t->ret[t->depth++] = ret;
}

static struct landing *landing(struct window_thread *t, uint64_t address)
{
	if (!t->landing)
		t->landing = g_new0(struct landing, LANDINGS);
	return &t->landing[(address ^ address >> 12) % LANDINGS];
}

/* Frames from `depth` on are gone. */
static void pop_to(struct window_state *w, struct window_thread *t, size_t depth)
{
	t->depth = depth;
	if (t->roi > depth + 1)
		t->roi = 0;
	if (t->start > depth + 1) {
		t->start = 0;
		w->started = true;
	}
}

/* The function that `pc` is in, as far as symbols tell: [*low, *high). */
static bool function_of(const struct window_state *w, uint64_t pc, uint64_t *low, uint64_t *high)
{
	struct place place;
	uint64_t offset, address;
	uint32_t module = maps_find(w->maps, pc, &offset);

	if (module == MODULE_NONE || module >= w->module->len || !w->module->pdata[module])
		return false;
	int file = ((const struct module *)w->module->pdata[module])->file;
	if (file < 0 || !symbols_address(w->symbols, file, offset, &address) ||
	    !symbols_place(w->symbols, file, address, &place) || !place.symbol)
		return false;
	*low = pc - (address - place.start);
	*high = *low + place.size;
	return true;
}

/* The innermost frame of the function [low, high) is the innermost of all now, if there is one. */
static void unwind_to(struct window_state *w, struct window_thread *t, uint64_t low, uint64_t high)
{
	for (size_t i = t->depth; i; i--)
		if (t->ret[i - 1] > low && t->ret[i - 1] <= high) {
			pop_to(w, t, i - 1);
			return;
		}
}

/*
 * An indirect jump into the middle of another function: not a switch and not a tail call, but an exception's
 * landing.
 */
static void jumped(struct window_state *w, struct window_thread *t, uint64_t from, uint64_t to)
{
	struct jump *known = &w->jump[(from ^ from >> 12 ^ to ^ to >> 12) % JUMPS];
	uint64_t low, high;

	if (known->from == from && known->to == to)
		return;
	if (function_of(w, to, &low, &high) && to != low && (from < low || from >= high))
		unwind_to(w, t, low, high);
	else
		*known = (struct jump){ from, to };
}

static void returned(struct window_state *w, struct window_thread *t, uint64_t to)
{
	size_t i = t->depth;

	while (i && t->ret[i - 1] != to)
		i--;
	if (i) {
		pop_to(w, t, i - 1);
		*landing(t, to) = (struct landing){ to, i - 1 };
		return;
	}
	const struct landing *l = landing(t, to);
	if (l->address == to && l->depth <= t->depth) {
		pop_to(w, t, l->depth);
		return;
	}
	if (t->depth && t->ret[t->depth - 1] == NO_ADDRESS) {
		pop_to(w, t, t->depth - 1);
		return;
	}
	uint64_t low, high;
	if (function_of(w, to, &low, &high))
		unwind_to(w, t, low, high);
}

/* `to`: where the next instruction of the thread is; NO_ADDRESS: it does not follow from this one, or is not there. */
static void followed(struct window_state *w, struct window_thread *t, const struct insn *insn, uint64_t to)
{
	switch ((enum branch_kind)insn->branch) {
	case BRANCH_CALL:
	case BRANCH_INDIRECT_CALL:
		push(t, insn->pc + insn->length);
		break;
	case BRANCH_RETURN:
		if (to != NO_ADDRESS)
			returned(w, t, to);
		else if (t->depth)
			pop_to(w, t, t->depth - 1);
		break;
	case BRANCH_INDIRECT:
		if (to == NO_ADDRESS)
			break;
		if (landing(t, to)->address == to && landing(t, to)->depth <= t->depth)
			pop_to(w, t, landing(t, to)->depth);
		else
			jumped(w, t, insn->pc, to);
		break;
	default:
		break;
	}
}

/* Of the inlined copies that the thread is in, those of `which` are left where its next instruction has `role`. */
static bool left(struct window_thread *t, size_t depth, unsigned which, unsigned role)
{
	if (!(t->inlined & which) || t->depth + 1 != depth || (role & which << INLINED))
		return false;
	t->inlined &= ~which;
	return !(role & ROLE_FIRST); /* else it went on as another function, in the same frame */
}

/* Whether a call with the role `which` begins here; *depth: where one is under way. */
static void enter(struct window_thread *t, size_t *depth, unsigned which, unsigned role)
{
	if (*depth || !(role & (which | which << INLINED)))
		return;
	*depth = t->depth + 1;
	t->inlined &= ~which;
	if (!(role & which))
		t->inlined |= which;
}

/* The next instruction has `role`, or the thread is in an inlined copy. */
static void entered(struct window_state *w, struct window_thread *t, unsigned role)
{
	if (left(t, t->roi, ROLE_ROI, role))
		t->roi = 0;
	if (left(t, t->start, ROLE_START, role)) {
		t->start = 0;
		w->started = true;
	}
	enter(t, &t->roi, ROLE_ROI, role);
	if (!w->started)
		enter(t, &t->start, ROLE_START, role);
	if ((role & (ROLE_STOP | ROLE_STOP << INLINED)) && w->started)
		w->stopped = true;
}

static bool counts(struct window_state *w, const struct window_thread *t)
{
	if (!w->started || w->stopped)
		return false;
	if (w->skipped < w->window.skip) {
		w->skipped++;
		return false;
	}
	if ((w->window.roi && !t->roi) || (w->window.count && w->counted == w->window.count))
		return false;
	w->counted++;
	return true;
}

void window_apply(struct window_state *w, struct window_thread *t, struct step *s, size_t n, size_t ahead)
{
	const bool calls = w->window.roi || w->window.start_after;

	for (size_t i = 0; i < n; i++) {
		if (step_kind(&s[i]) != STEP_INSN)
			continue;
		const struct insn *insn = code_insn(w->code, s[i].insn);
		if (calls && (s[i].flags & STEP_ENTER) &&
		    g_hash_table_contains(w->handlers, GSIZE_TO_POINTER(insn->pc)))
			push(t, NO_ADDRESS);
		unsigned role = w->role->data[s[i].insn];
		if (__builtin_expect((role | t->inlined) != 0, 0))
			entered(w, t, role);
		if (counts(w, t))
			s[i].flags |= STEP_COUNTED;
		if (!calls || insn->branch == BRANCH_NONE || (s[i].flags & STEP_FAULT))
			continue;
		size_t next = i + 1;
		while (next < n + ahead && step_kind(&s[next]) != STEP_INSN)
			next++;
		bool follows = next < n + ahead && !(s[next].flags & STEP_ENTER);
		followed(w, t, insn, follows ? code_insn(w->code, s[next].insn)->pc : NO_ADDRESS);
	}
}

bool window_entered(const struct window_state *w)
{
	return w->counted > 0;
}

bool window_over(const struct window_state *w)
{
	return w->stopped || (w->window.count && w->counted == w->window.count);
}

static const char *name_outside(const struct window_state *w, unsigned roles)
{
	for (unsigned role = ROLE_ROI; role <= ROLE_STOP; role <<= 1)
		if (name_of(w, role) && !(roles & role))
			return name_of(w, role);
	return NULL;
}

const char *window_unknown(const struct window_state *w)
{
	return name_outside(w, w->found);
}

const char *window_gone(const struct window_state *w)
{
	return name_outside(w, w->coded);
}
