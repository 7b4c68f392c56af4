/*
 * The front end of the detailed core: from the predicted path to uops offered to rename.
 *
 * Three ways to the uop queue: the uop cache, the decoders (fetch blocks, instruction queue, decode limits),
 * and the loop buffer. Every instruction is handed in once, in fetch order, wrong path included; what is
 * computed is the cycle of its fetch and the earliest cycle at which it could dispatch.
 *
 * Where branch prediction runs ahead (fetch.runahead), it has a clock of its own: it looks a block of code up a cycle,
 * loses its bubbles there, and fetch waits only where it has caught up with it. A taken branch that is the last one
 * again loses none: uiCA's loops from the uop cache take a cycle an iteration. Where it looks up several blocks a
 * cycle, an indirect jump's is the last of them: Zen 5 takes a cycle from one to the next, and half a cycle between
 * direct ones.
 *
 * Not modelled: loops with inner taken branches in the loop buffer.
 * Ref: uiCA's description of the Skylake front end (figures), BOOM's documentation of its fetch unit.
 */
#ifndef CYCLEWISE_CORE_OOO_FRONTEND_H
#define CYCLEWISE_CORE_OOO_FRONTEND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cache/memory.h"
#include "core/cycle.h"
#include "core/order/lines.h"
#include "core/order/uopcache.h"
#include "core/params.h"
#include "core/predict/branch.h"
#include "core/suppose.h"
#include "isa/insn.h"

enum {
	FRONTEND_RING = 1024,          /* more than any queue plus a walk of the wrong path */
	FRONTEND_LINE = 6,             /* log2 of the bytes of a code line */
};

enum fetch_path { FETCH_NONE, FETCH_UOPCACHE, FETCH_DECODE, FETCH_LOOP };

/* A queue between stages: an entry may be taken when the holder `capacity` before it has gone. */
struct stage_queue {
	uint64_t gone[FRONTEND_RING];  /* [n % ring]: cycle in which the n-th left */
	uint64_t n;                    /* handed in so far */
	uint64_t room;                 /* n up to which all entries are free: those before the last flush have gone
	                                * or were squashed */
	uint32_t capacity;
};

/* What delivery moves on with every instruction, apart so that a loop may keep it in registers. */
struct delivered {
	uint64_t next;                 /* earliest fetch of the next packet */
	uint64_t into;                 /* cycle in which the youngest instruction entered the uop queue, which is in
	                                * order */
	uint64_t deliver;              /* uop cache, loop buffer: cycle now delivered in, uops and windows of it used
	                                * up */
	uint32_t deliver_uops, deliver_windows;
	struct uop_lines lines;
	uint32_t loop_uops;            /* since the last taken branch */
};

struct frontend {
	const struct core_desc *desc;
	struct memory *memory;
	const struct suppose *suppose; /* what is supposed of instructions; NULL: nothing */

	unsigned fetch_shift, lookup_shift; /* log2 of fetch.bytes and branch.lookup */

	enum fetch_path path;          /* of the present packet */
	bool broken;                   /* the next instruction starts a new packet: a taken branch, a flush */
	bool follows;                  /* ... which may be in the cycle of the one before: prediction gives two
	                                * blocks in one */
	uint64_t window;               /* of the present packet: pc / window bytes, or fetch blocks */
	uint64_t here, here_bytes;     /* code that comes from where the youngest did: from the window of the uop cache
	                                * in delivery, or through the decoders, within block, line and the window in
	                                * building; 0 bytes: unknown */
	struct delivered run;
	uint64_t fetch;                /* cycle the present packet was fetched in */
	uint64_t bytes_at;             /* ... its bytes had come */
	uint64_t packet;               /* number of the present packet */
	uint64_t lookup;               /* where branch prediction runs ahead: cycle of its next look-up */
	uint64_t block;                /* ... pc / branch.lookup of its last; UINT64_MAX: what comes next needs
	                                * another */
	uint64_t known;                /* ... and the cycle of that */
	uint32_t looked;               /* ... and the look-ups in it so far; UINT32_MAX: the next is in another */

	uint64_t line;                 /* last code line read from L1I */
	uint64_t predecode;            /* decoders: the same for predecode */
	uint32_t predecode_used;
	uint64_t decode;               /* ... and decode */
	uint32_t decode_used;

	struct stage_queue insns;      /* instruction queue: predecode to decode */
	struct stage_queue uops;       /* uop queue: to dispatch */
	uint64_t packet_leave[FRONTEND_RING]; /* [packet % ring]: commit of its youngest */
	uint64_t packet_fetch[FRONTEND_RING];

	struct uop_cache cache;

	uint64_t loop_branch, loop_target; /* last backward taken branch */
	uint32_t loop_times;               /* in a row */
};

struct fetched {
	uint64_t fetch, avail;         /* avail: earliest dispatch by the front end's own means */
	uint16_t psv;                  /* PSV_DR_* where its packet missed and it stands first */
	uint16_t icache_stall, itlb_stall;
	uint8_t code_level;            /* enum ilevel */
	uint8_t merged;                /* enum merged */
	bool packet_first;
	bool decoded;                  /* by the decoders, on a core that has a uop cache */
};

int  frontend_init(struct frontend *f, const struct core_desc *desc, struct memory *memory);
void frontend_fini(struct frontend *f);

/* The cycle from which the next `count` entries are free. */
static inline uint64_t queue_free(const struct stage_queue *q, unsigned count)
{
	uint64_t end = q->n + (count < q->capacity ? count : q->capacity);
	uint64_t gone = q->gone[(end - 1 - q->capacity) % FRONTEND_RING];

	return end <= q->room ? 0 : gone;
}

/* One or more. */
static inline void queue_push(struct stage_queue *q, unsigned count, uint64_t gone)
{
	do
		q->gone[q->n++ % FRONTEND_RING] = gone;
	while (__builtin_expect(--count, 0));
}

static inline void queue_flush(struct stage_queue *q)
{
	q->room = q->n + q->capacity;
}

/* What comes in a packet of its own is fetched in a later cycle where this one is full. */
static inline void delivery_next(const struct frontend *f, struct delivered *d)
{
	d->next = later(d->next,
	                d->deliver + (d->deliver_uops >= (unsigned)f->desc->uopcache_width || d->deliver_windows >= 2));
}

/* What was delivered in d->deliver enters the uop queue, and waits for room there. */
static inline uint64_t delivery_into(const struct frontend *f, struct delivered *d, const struct insn *in,
                                     unsigned uops)
{
	uint64_t into = d->deliver + (unsigned)f->desc->uopcache_latency,
		 room = queue_free(&f->uops, in->slots ? in->slots : 1);

	if (room > into) {
		d->deliver += room - into;
		d->deliver_uops = uops;
		d->deliver_windows = d->lines.used = 1;
		into = room;
	}
	delivery_next(f, d);
	return into;
}

/* uopcache.width uops a cycle. */
static inline void delivery_take(const struct frontend *f, struct delivered *d, unsigned uops)
{
	unsigned total = d->deliver_uops + uops;
	bool full = total > (unsigned)f->desc->uopcache_width && d->deliver_uops;

	d->deliver += full;
	d->deliver_uops = full ? uops : total;
	d->deliver_windows = full ? 1 : d->deliver_windows;
}

/* From the uop cache or the loop buffer. */
static inline uint64_t delivery_cached(const struct frontend *f, struct delivered *d, const struct insn *in,
                                       unsigned uops)
{
	delivery_take(f, d, uops);
	return delivery_into(f, d, in, uops);
}

/* Whether it begins where all goes on as it was. */
static inline bool frontend_goes_on(const struct frontend *f, const struct insn *in)
{
	return in->pc - f->here < f->here_bytes;
}

/* From the uop cache, which may be read line by line. */
static inline uint64_t delivery_read(const struct frontend *f, struct delivered *d, const struct insn *in,
                                     unsigned uops)
{
	if (!d->lines.most)
		return delivery_cached(f, d, in, uops);
	d->deliver += lines_take(&d->lines);
	return delivery_into(f, d, in, 0);
}

/* One for which that holds, from the uop cache, not microcoded. */
static inline void frontend_cached_on(const struct frontend *f, struct delivered *d, const struct insn *in,
                                      struct fetched *out)
{
	unsigned uops = insn_decode_uops(in);
	uint64_t into = delivery_read(f, d, in, uops);

	d->loop_uops += uops;
	d->into = later(d->into, into);
	*out = (struct fetched){ .fetch = f->fetch, .avail = d->into + (unsigned)f->desc->rename_latency };
}

/* One for which that holds, through the decoders, whose last byte is there, too. */
void frontend_decode_on(struct frontend *f, const struct insn *in, struct fetched *out);

/* The second of a fused pair travels with the first. */
static inline void frontend_deliver_second(struct frontend *f, struct fetched *out)
{
	if (f->path == FETCH_DECODE && f->desc->decode_branch_last)
		f->decode_used = (unsigned)f->desc->decode_width;
	*out = (struct fetched){
		.fetch = f->fetch, .avail = f->run.into + (unsigned)f->desc->rename_latency,
		.decoded = f->path == FETCH_DECODE && f->desc->uopcache_sets,
	};
}

/* All others. */
void frontend_deliver_other(struct frontend *f, const struct insn *in, struct fetched *out);

/* The next instruction in fetch order. `fused`: it is the second of a fused pair. */
__attribute__((always_inline))
static inline void frontend_deliver(struct frontend *f, const struct insn *in, bool fused, struct fetched *out)
{
	if (fused)
		frontend_deliver_second(f, out);
	else if (!frontend_goes_on(f, in))
		frontend_deliver_other(f, in, out);
	else if (f->path == FETCH_DECODE && in->pc - f->here + in->length <= f->here_bytes)
		frontend_decode_on(f, in, out);
	else if (f->path == FETCH_UOPCACHE && !(in->flags & (INSN_MICROCODED | INSN_JCC_ERRATUM)))
		frontend_cached_on(f, &f->run, in, out);
	else
		frontend_deliver_other(f, in, out);
}

/* It dispatched in `cycle` with that many slots of the uop queue (0 for one of a fused pair). */
static inline void frontend_dispatched(struct frontend *f, unsigned slots, uint64_t cycle)
{
	if (slots)
		queue_push(&f->uops, slots, cycle);
}

/* It committed (or was squashed) in `cycle`: the packet it belongs to may be forgotten then. */
static inline void frontend_left(struct frontend *f, uint64_t cycle)
{
	if (f->desc->fetch_packets)
		f->packet_leave[f->packet % FRONTEND_RING] = cycle;
}

/* The instruction just delivered is a branch predicted taken, with who knew its target. */
void frontend_taken(struct frontend *f, const struct insn *in, const struct prediction *p);
/* The sequencer is busy with the instruction just delivered: nothing behind it is offered before `avail`. */
void frontend_hold(struct frontend *f, uint64_t avail);
/*
 * All that was fetched after the instruction last committed is squashed; fetch starts anew in `cycle`. `packet`: see
 * frontend_mark.
 */
void frontend_redirect(struct frontend *f, uint64_t cycle, uint64_t packet);
/* The present packet, to come back to after a walk of the wrong path. */
static inline uint64_t frontend_mark(const struct frontend *f)
{
	return f->packet;
}

#endif
