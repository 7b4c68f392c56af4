/*
 * What of a run is counted: sets STEP_COUNTED by the window the user asked for.
 *
 * An instruction counts where all that was asked for holds: `start_after` has returned for the first time, `stop_at`
 * has not been entered since, `skip` instructions have run since the start, fewer than `count` have been counted, and
 * the thread is inside a call of `roi`. Start, stop, skip and count are the process's, roi each thread's.
 */
#ifndef CYCLEWISE_SOURCE_WINDOW_H
#define CYCLEWISE_SOURCE_WINDOW_H

#include <glib.h>

#include "source/source.h"
#include "symbol/symbol.h"

struct window_state;

/* One thread's calls. All zero before its first step. */
struct window_thread {
	uint64_t *ret;             /* [depth]: return addresses of the calls it is in */
	size_t depth, room;
	size_t roi;                /* 1 + depth at which the outermost call of roi runs; 0: in none */
	size_t start;              /* the same of start_after */
	unsigned inlined;          /* roles (window.c) whose call, as roi and start say, is an inlined copy */
	struct landing *landing;   /* where calls returned to, and how deep that was */
};

/*
 * Out: NULL where the window is the whole run. All arguments must outlive it. `handlers`: addresses of signal
 * handlers as keys.
 */
int window_new(struct window_state **out, const struct window *window, struct symbols *symbols, const struct code *code,
               const struct maps *maps, GHashTable *handlers);
void window_free(struct window_state *w);
void window_thread_fini(struct window_thread *t);

/* Static instruction `insn` at `offset` of the `module`-th file was first seen. */
void window_seen(struct window_state *w, uint32_t insn, uint32_t module, uint64_t offset);
/* Sets STEP_COUNTED in s[0..n); s[n..n+ahead) follow. Hot: no allocation but for deeper calls. */
void window_apply(struct window_state *w, struct window_thread *t, struct step *s, size_t n, size_t ahead);
/* Whether anything was counted; whether nothing can be any more. */
bool window_entered(const struct window_state *w);
bool window_over(const struct window_state *w);
/* A name of the window that no file has; NULL: none. */
const char *window_unknown(const struct window_state *w);
/* A name of the window of which no file has code: unknown, or optimised away; NULL: none. */
const char *window_gone(const struct window_state *w);

#endif
