/* A run of the program under test to its end, with all its steps, and what is asked of them. */
#ifndef CYCLEWISE_TESTS_SOURCE_RUN_H
#define CYCLEWISE_TESTS_SOURCE_RUN_H

#include "source_guest.h"
#include "symbol/symbol.h"

enum { MAX_THREADS = 8 };

/* A run that has ended, with all its steps. */
struct run {
	struct running g;
	struct symbols *symbols;
	int file;                  /* of the program */
	GArray *step[MAX_THREADS]; /* struct step; of threads beyond, nothing is kept */
	uint64_t instructions, counted;
	uint32_t threads, ended;
};

static inline void run_open(struct run *r, const char *what, struct window window)
{
	memset(r, 0, sizeof *r);
	guest_open(&r->g, what, window);
	assert_int_equal(symbols_new(&r->symbols), 0);
	r->file = symbols_open(r->symbols, r->g.program.path);
	assert_true(r->file >= 0);
	for (unsigned i = 0; i < MAX_THREADS; i++)
		r->step[i] = g_array_new(FALSE, FALSE, sizeof(struct step));
}

/* What makes no access has none, and what does not write writes nothing: none that belongs to another, or to no instruction at all. */
static inline void check_access(const struct run *r, const struct step *s)
{
	uint32_t flags = code_insn(r->g.code, s->insn)->flags;
	char text[128];

	if ((s->flags & STEP_STORE && !(flags & INSN_STORE)) || (s->flags & STEP_LOAD && !(flags & (INSN_LOAD | INSN_STORE)))) {
		code_text(r->g.code, s->insn, text, sizeof text);
		fail_msg("%s %s %u bytes", text, s->flags & STEP_STORE ? "wrote" : "read", s->bytes);
	}
}

/* False: the run is over. */
static inline bool run_read(struct run *r)
{
	struct step_batch b;

	if (!guest_read(&r->g, &b))
		return false;
	if (!b.end)
		assert_true(b.ahead >= STEP_AHEAD && b.n);
	assert_true(b.thread < r->threads || b.thread == r->threads || b.thread > r->ended);
	r->threads = b.thread >= r->threads ? b.thread + 1 : r->threads;
	r->ended += b.end;
	if (b.thread < MAX_THREADS)
		g_array_append_vals(r->step[b.thread], b.step, (guint)b.n);
	for (size_t i = 0; i < b.n; i++) {
		const struct step *s = &b.step[i];
		r->instructions += step_kind(s) == STEP_INSN;
		r->counted += step_kind(s) == STEP_INSN && (s->flags & STEP_COUNTED);
		if (step_kind(s) == STEP_INSN || step_kind(s) == STEP_ACCESS)
			check_access(r, s);
	}
	return true;
}

static inline void run_windowed(struct run *r, const char *what, struct window window)
{
	run_open(r, what, window);
	while (run_read(r))
		;
	guest_is_whole(&r->g, r->instructions);
	assert_int_equal(r->ended, r->threads);
}

static inline void run(struct run *r, const char *what)
{
	run_windowed(r, what, (struct window){ 0 });
}

static inline void run_close(struct run *r)
{
	for (unsigned i = 0; i < MAX_THREADS; i++)
		g_array_free(r->step[i], TRUE);
	symbols_free(r->symbols);
	guest_close(&r->g);
}

static inline void expect_end(const struct run *r, int status, int signal, bool complete)
{
	assert_int_equal(r->g.result->exit_status, status);
	assert_int_equal(r->g.result->signal, signal);
	assert_int_equal(r->g.result->complete, complete);
}

static inline void set_address(void *ctx, uint64_t address, uint64_t size)
{
	(void)size;
	*(uint64_t *)ctx = address;
}

/* Whether static instruction `insn` is that at `label` of the program. */
static inline bool is_at(const struct run *r, uint32_t insn, uint64_t label)
{
	const struct maps *maps = r->g.ops->maps(r->g.source);
	uint64_t offset, address;
	uint32_t module = maps_place(maps, insn, &offset);

	return module != MODULE_NONE && g_str_has_suffix(maps_path(maps, module), strrchr(r->g.program.path, '/')) &&
	       symbols_address(r->symbols, r->file, offset, &address) && address == label;
}

/* How often the instruction at `label` ran in `thread` with all of `flags`; *last: where, if not NULL. */
static inline unsigned times(const struct run *r, unsigned thread, const char *label, unsigned flags, const struct step **last)
{
	uint64_t address = UINT64_MAX;
	unsigned n = 0;

	symbols_find(r->symbols, r->file, label, set_address, &address);
	assert_true(address != UINT64_MAX);
	char *at = g_malloc0(r->g.code->nr);
	for (uint32_t i = 0; i < r->g.code->nr; i++)
		at[i] = is_at(r, i, address);
	for (guint i = 0; i < r->step[thread]->len; i++) {
		const struct step *s = &g_array_index(r->step[thread], struct step, i);
		if (step_kind(s) == STEP_INSN && at[s->insn] && (s->flags & flags) == flags) {
			n++;
			if (last)
				*last = s;
		}
	}
	g_free(at);
	return n;
}

static inline bool noted(const struct run *r, const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(r->g.result->note); i++)
		if (strstr(r->g.result->note[i], text))
			return true;
	return false;
}

static inline uint64_t checksum(const struct run *r)
{
	uint64_t sum = 0;

	for (guint i = 0; i < r->step[0]->len; i++) {
		const struct step *s = &g_array_index(r->step[0], struct step, i);
		sum = (sum ^ s->addr ^ (uint64_t)s->insn << 20 ^ (uint64_t)s->flags << 48 ^ s->bytes) * UINT64_C(0x9fb21c651e98df25);
		sum ^= sum >> 29;
	}
	return sum;
}

#endif
