/*
 * Ref: record/wire.h for the words, record/step.h for the steps.
 *
 * What the emulator does not say, and how it is told:
 *  - An instruction raised an exception: its block was cut behind it, or it is the last, did not do what it does
 *    (its access, its branch), and something else than what follows it runs next.
 *  - An instruction was restarted (an atomic the emulator runs alone; a store into the code it is part of): the next
 *    block starts with it again. It is counted once.
 *  - A signal was delivered: the next block is not where the last instruction leads. Where that is any address
 *    (a return), it is a handler that was installed. After a conditional branch it is not known which way it
 *    went; it is then left as not taken.
 *
 * What QEMU 7.2 says too much: it forgets to take back the callbacks of a block's last instruction where that calls
 * one of its helpers (to look up what follows), and calls them for its own accesses when it then delivers a signal to
 * an x86 program: it writes the registers it saves, then reads descriptors. These come behind what the instruction made
 * itself. An instruction that reads alone, or makes no access at all, is thus done at the first write, one that writes
 * at the first to another place than its own, a rep string at the first that is no iteration. (The plugin drops those
 * of earlier blocks.) Not told apart: those that follow an instruction which writes several places (XSAVE), and a first
 * write of two bytes from a REP STOSW that wrote none.
 */
#include "source/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "record/wire.h"

enum {
	ACCESS_FLAGS = STEP_LOAD | STEP_STORE, ACCESS_MAX = 65535, PIECE = 32768,
	MOST_MORE = 4096,          /* further accesses of an instruction, four times what any ISA's can make */
	MOST_HANDLERS = 1 << 16,
};

enum flow {
	FLOWS,                     /* the block follows from the one before */
	ENTERS,                    /* nothing before led here */
	REPEATS,                   /* it starts with another execution of the open rep string */
};

#define NO_ADDRESS UINT64_MAX      /* of no block */

void decoder_init(struct decoder *d, struct blocks *blocks, GHashTable *handlers)
{
	*d = (struct decoder){ .blocks = blocks, .handlers = handlers, .resumes = NO_ADDRESS, .end = SIZE_MAX };
}

void decoder_fini(struct decoder *d)
{
	free(d->step);
	d->step = NULL;
}

static __attribute__((noinline, cold)) void grow(struct decoder *d, size_t n)
{
	d->room = d->nr + n + (d->nr + n) / 4 + 1024;
	d->step = g_realloc_n(d->step, d->room, sizeof *d->step);
}

static inline struct step *append(struct decoder *d, size_t n)
{
	if (__builtin_expect(d->nr + n > d->room, 0))
		grow(d, n);
	d->nr += n;
	return d->step + d->nr - n;
}

static void insert(struct decoder *d, size_t at, const struct step *step)
{
	append(d, 1);
	memmove(d->step + at + 1, d->step + at, (d->nr - 1 - at) * sizeof *d->step);
	d->step[at] = *step;
}

static const struct insn *insn_of(const struct decoder *d, size_t at)
{
	return code_insn(d->blocks->code, d->step[at].insn);
}

/* Where instruction `i` of the block under way has its step. */
static size_t place(const struct decoder *d, unsigned i)
{
	return d->base + i + d->extra + (i > d->last ? d->more : 0);
}

/* n records are missing here; what follows does not follow from what was before. */
static __attribute__((noinline, cold)) void lose(struct decoder *d, uint64_t n)
{
	d->lost += n;
	d->now.nr_insns = 0;
	d->resumes = NO_ADDRESS;
	d->rep.open = false;
	d->missing = 0;
	if (d->nr && step_kind(&d->step[d->nr - 1]) == STEP_LOST)
		d->step[d->nr - 1].addr += n;
	else
		*append(d, 1) = (struct step){ .addr = n, .flags = STEP_LOST };
}

/* Inserts the span [low, high) as pieces that a step can hold, lowest first; returns how many. */
static unsigned insert_span(struct decoder *d, size_t at, uint64_t low, uint64_t high, uint16_t flags, uint32_t insn)
{
	unsigned n = 0;

	for (; low < high; n++) {
		uint64_t bytes = high - low < PIECE ? high - low : PIECE;
		const struct step step = { .addr = low, .insn = insn, .bytes = (uint16_t)bytes, .flags = flags };
		insert(d, at + n, &step);
		low += bytes;
	}
	return n;
}

/* The rep string is over: its accesses, and how often it ran. */
static void rep_close(struct decoder *d)
{
	struct rep *r = &d->rep;
	size_t at = place(d, r->index);
	struct step *s = &d->step[at];
	uint64_t times = r->form == FORM_REP ? r->made[0] : r->made[1];
	uint32_t insn = s->insn;
	unsigned n = 0;

	r->open = false;
	for (unsigned i = 0; i < 2; i++) {
		uint16_t rw = r->write[i] ? STEP_STORE : STEP_LOAD;
		uint64_t low = r->low[i], bytes = r->high[i] - r->low[i];
		if (!r->made[i])
			continue;
		if (!(d->step[at].flags & ACCESS_FLAGS)) {
			s = &d->step[at];
			s->addr = low;
			s->bytes = (uint16_t)(bytes < PIECE ? bytes : PIECE);
			s->flags |= rw;
			low += s->bytes;
		}
		n += insert_span(d, at + 1 + n, low, r->high[i], STEP_ACCESS | rw, insn);
	}
	const struct step repeat = { .addr = times, .insn = insn, .flags = STEP_REPEAT };
	insert(d, at + 1 + n, &repeat);
	d->extra += n + 1;
}

/* Opens the first rep string of the block from instruction `i` on. */
static void rep_open(struct decoder *d, unsigned i)
{
	for (; i < d->now.nr_insns; i++) {
		enum form form = blocks_form(d->blocks, d->step[place(d, i)].insn);
		if (form >= FORM_REP) {
			size_t size;
			const uint8_t *bytes = code_bytes(d->blocks->code, d->step[place(d, i)].insn, &size);
			d->rep = (struct rep){
				.open = true, .index = i, .form = form, .bytes = form_element(bytes, size)
			};
			return;
		}
	}
}

/* All before instruction `i` are over. */
static void rep_advance(struct decoder *d, unsigned i)
{
	while (d->rep.open && d->rep.index < i) {
		unsigned next = d->rep.index + 1;
		rep_close(d);
		rep_open(d, next);
	}
}

/* Whether the next access of the rep string can be this. */
static bool rep_makes(const struct decoder *d, uint64_t bytes, unsigned rw)
{
	const struct rep *r = &d->rep;
	uint32_t flags = insn_of(d, place(d, r->index))->flags;

	if (d->strays || bytes != r->bytes || !(flags & (rw == WIRE_WRITE ? INSN_STORE : INSN_LOAD)))
		return false;
	return r->form != FORM_REP_COPY || rw != WIRE_WRITE || r->made[0] > r->made[1];
}

static void rep_access(struct decoder *d, uint64_t addr, uint64_t bytes, unsigned rw)
{
	struct rep *r = &d->rep;

	if (!rep_makes(d, bytes, rw)) {
		d->strays = true;
		return;
	}
	unsigned i = r->form == FORM_REP_COPY      ? rw == WIRE_WRITE
	             : r->form == FORM_REP_COMPARE ? r->made[0] > r->made[1]
	                                           : 0;

	if (!r->made[i]) {
		r->low[i] = addr;
		r->high[i] = addr + bytes;
		r->write[i] = rw == WIRE_WRITE;
	} else if (addr == r->high[i]) {
		r->high[i] += bytes;
	} else if (addr + bytes == r->low[i]) {
		r->low[i] = addr;
	} else if (addr >= r->low[i] && addr + bytes <= r->high[i]) {
		if (r->form == FORM_REP_COPY && i == 0)
			return; /* its write faulted and the iteration was begun anew */
	} else {
		d->strays = true;
		return;
	}
	r->made[i]++;
}

/* An access of an instruction that has made one already. */
static __attribute__((noinline)) void access_more(struct decoder *d, size_t at, uint64_t addr, unsigned bytes,
                                                  uint16_t rw, enum form form)
{
	size_t end = at + 1 + d->more;
	struct step *first = &d->step[at];

	if (form == FORM_ATOMIC && rw == STEP_STORE && (first->flags & STEP_LOAD) &&
	    addr >= first->addr && addr + bytes <= first->addr + first->bytes) {
		first->flags |= STEP_STORE;
		return;
	}
	for (size_t i = end; form != FORM_SEPARATE && i-- > at;) {
		struct step *s = &d->step[i];
		if ((s->flags & ACCESS_FLAGS) != rw || s->bytes + bytes > ACCESS_MAX)
			continue;
		if (addr == s->addr + s->bytes) {
			s->bytes = (uint16_t)(s->bytes + bytes);
			return;
		}
		if (addr + bytes == s->addr) {
			s->addr = addr;
			s->bytes = (uint16_t)(s->bytes + bytes);
			return;
		}
		break;
	}
	if (d->more >= MOST_MORE) {
		lose(d, 1);
		return;
	}

	struct step step = {
		.addr = addr, .insn = first->insn, .bytes = (uint16_t)bytes, .flags = (uint16_t)(STEP_ACCESS | rw)
	};
	size_t to = end;
	if (rw & STEP_LOAD) /* reads stand before writes */
		for (to = at; to < end && (d->step[to].flags & STEP_LOAD); to++)
			;
	if (to == at) {
		struct step write = {
			.addr = first->addr, .insn = first->insn, .bytes = first->bytes,
			.flags = (uint16_t)(STEP_ACCESS | (first->flags & ACCESS_FLAGS)),
		};
		first->addr = addr;
		first->bytes = (uint16_t)bytes;
		first->flags = (uint16_t)((first->flags & ~ACCESS_FLAGS) | rw);
		step = write;
		to++;
	}
	insert(d, to, &step);
	d->more++;
}

/* Whether a write can be that of the instruction at step `at`, which writes one place: it is the first, or joins it. */
static bool writes_on(const struct decoder *d, size_t at, size_t end, uint64_t addr, unsigned bytes)
{
	bool wrote = false;

	for (size_t p = at; p <= end; p++) {
		const struct step *s = &d->step[p];
		if (!(s->flags & STEP_STORE))
			continue;
		if (addr <= s->addr + s->bytes && addr + bytes >= s->addr)
			return true;
		wrote = true;
	}
	return !wrote;
}

/* Whether an access of instruction `i`, which is the last of its block if it is in order at all, can be its own. */
static __attribute__((noinline)) bool access_of_last(struct decoder *d, unsigned i, uint64_t addr, unsigned bytes,
                                                     uint16_t rw)
{
	const struct code *code = d->blocks->code;
	size_t size;

	if (i >= d->now.nr_insns || i < d->last) {
		lose(d, 1);
		return false;
	}
	if (d->strays || code->config.isa != ISA_X86_64)
		return !d->strays;
	size_t at = place(d, i), end = i == d->last ? at + d->more : at;
	const struct insn *insn = insn_of(d, at);
	const uint8_t *text = code_bytes(code, d->step[at].insn, &size);
	if ((insn->flags & INSN_CONDITIONAL_ACCESS) || form_scatters(text, size))
		return true;
	unsigned makes = (insn->flags & INSN_LOAD ? STEP_LOAD : 0) | (insn->flags & INSN_STORE ? STEP_STORE : 0);
	d->strays = (rw & ~makes) || (rw == STEP_STORE && !writes_on(d, at, end, addr, bytes));
	return !d->strays;
}

static inline void access_made(struct decoder *d, uint64_t word)
{
	unsigned i = word >> 5 & (WIRE_BLOCK_INSNS - 1), bytes = 1u << (word >> 2 & 7);
	uint64_t addr = word >> 16;
	uint16_t rw = (uint16_t)((word & 3) << 4);

	_Static_assert(WIRE_READ << 4 == STEP_LOAD && WIRE_WRITE << 4 == STEP_STORE, "directions are shifted in place");
	if (__builtin_expect(i + 1 >= d->now.nr_insns || i < d->last, 0) && !access_of_last(d, i, addr, bytes, rw))
		return;
	if (i != d->last) {
		d->extra += d->more;
		d->more = 0;
		d->last = i;
	}
	enum form form = FORM_PLAIN;
	if (__builtin_expect(d->now.special, 0)) {
		rep_advance(d, i);
		form = blocks_form(d->blocks, d->step[place(d, i)].insn);
		if (form >= FORM_REP) {
			rep_access(d, addr, bytes, word & 3);
			return;
		}
	}
	struct step *s = &d->step[d->base + i + d->extra];
	unsigned most = form_reads(form);
	if (__builtin_expect(most != 0, 0)) {
		if (s->flags & STEP_LOAD && s->bytes >= most)
			return;
		bytes = bytes < most ? bytes : most;
	}
	if (__builtin_expect(s->flags & ACCESS_FLAGS, 0)) {
		access_more(d, d->base + i + d->extra, addr, bytes, rw, form);
		return;
	}
	s->addr = addr;
	s->bytes = (uint16_t)bytes;
	s->flags |= rw;
}

/* Whether the instruction whose records are [at, nr) has made the accesses that it always makes. */
static bool accessed(const struct decoder *d, size_t at)
{
	const struct insn *i = insn_of(d, at);
	unsigned made = 0;

	if (i->flags & (INSN_CONDITIONAL_ACCESS | INSN_PREFETCH | INSN_REP))
		return true;
	for (size_t p = at; p < d->nr; p++)
		made |= d->step[p].flags;
	return (!(i->flags & INSN_LOAD) || (made & STEP_LOAD)) && (!(i->flags & INSN_STORE) || (made & STEP_STORE));
}

/* Whether the branch at step `at`, where it is one that leads anywhere, has led to `next`. */
static bool indirect_leads(const struct decoder *d, size_t at, uint64_t next)
{
	switch ((enum branch_kind)insn_of(d, at)->branch) {
	case BRANCH_INDIRECT:
	case BRANCH_INDIRECT_CALL:
		return accessed(d, at);
	case BRANCH_RETURN:
		return accessed(d, at) &&
		       !(g_hash_table_size(d->handlers) && g_hash_table_contains(d->handlers, GSIZE_TO_POINTER(next)));
	case BRANCH_NONE:
	case BRANCH_CONDITIONAL:
	case BRANCH_JUMP:
	case BRANCH_CALL:
		break;
	}
	return false;
}

static __attribute__((noinline, cold)) enum flow interrupted(struct decoder *d, size_t at, uint64_t next)
{
	const struct insn *i = insn_of(d, at);
	size_t size;

	/*
	 * QEMU takes back an instruction that crosses into the next page, and starts a block with it: nothing is cut
	 * short.
	 */
	if (d->missing && i->branch == BRANCH_NONE && next == i->pc + i->length && accessed(d, at))
		return FLOWS;
	if (next == i->pc) { /* restarted: this attempt never was */
		enum flow flow = d->step[at].flags & STEP_ENTER ? ENTERS : FLOWS;
		d->nr = at;
		d->restarted++;
		return flow;
	}
	const uint8_t *bytes = code_bytes(d->blocks->code, d->step[at].insn, &size);
	bool raises = !(i->flags & INSN_SYSCALL) && form_raises(d->blocks->code->config.isa, i->flags, bytes, size);
	if (d->missing || raises || !accessed(d, at))
		d->step[at].flags |= STEP_FAULT;
	return ENTERS;
}

/* No instruction of the block under way was begun. */
static __attribute__((noinline, cold)) enum flow not_begun(struct decoder *d, uint64_t next)
{
	bool entered = d->step[d->base].flags & STEP_ENTER;

	d->nr = d->base;
	d->rep.open = false;
	return entered || next != d->now.pc ? ENTERS : FLOWS;
}

/* Drops what was not begun from the block under way; false: the words contradict each other. */
static __attribute__((noinline, cold)) bool shorten(struct decoder *d)
{
	if (d->missing > d->now.nr_insns || (d->last && d->last >= d->now.nr_insns - d->missing)) {
		lose(d, 1);
		return false;
	}
	d->now.nr_insns = (uint16_t)(d->now.nr_insns - d->missing);
	d->nr = place(d, d->now.nr_insns);
	return true;
}

/* The block under way is over and `next` runs. */
static inline enum flow leave(struct decoder *d, uint64_t next)
{
	if (!d->now.nr_insns)
		return next == d->resumes ? FLOWS : ENTERS;
	if (__builtin_expect(d->missing, 0) && !shorten(d))
		return ENTERS;
	unsigned begun = d->now.nr_insns;
	d->begun += begun;
	if (__builtin_expect(!begun, 0))
		return not_begun(d, next);
	if (__builtin_expect(d->now.special, 0))
		rep_advance(d, begun - 1);
	size_t at = place(d, begun - 1);
	if (__builtin_expect(d->rep.open, 0)) {
		if (d->rep.index == begun - 1 && next == insn_of(d, at)->pc && at + 1 == d->nr)
			return REPEATS;
		if (d->rep.index == begun - 1)
			rep_close(d);
		d->rep.open = false;
	}
	d->end = at;
	if (!d->missing) {
		if (next == d->now.through)
			return FLOWS;
		if (next == d->now.target) {
			d->step[at].flags |= STEP_TAKEN;
			return FLOWS;
		}
		if (indirect_leads(d, at, next))
			return FLOWS;
	}
	return interrupted(d, at, next);
}

static inline void enter(struct decoder *d, uint64_t word)
{
	const struct block *b = blocks_get(d->blocks, wire_number(word));

	if (__builtin_expect(!b || b->nr_insns != wire_count(word), 0)) {
		uint32_t n = wire_count(word);
		leave(d, d->now.end);
		lose(d, n ? n : 1);
		return;
	}
	enum flow flow = leave(d, b->pc);
	const struct step *steps = blocks_steps(d->blocks, b);
	if (__builtin_expect(flow == REPEATS, 0)) {
		d->merged++;
		d->base = place(d, d->rep.index);
		d->rep.index = 0;
		memcpy(append(d, b->nr_insns - 1u), steps + 1, (b->nr_insns - 1u) * sizeof *steps);
	} else {
		d->base = d->nr;
		memcpy(append(d, b->nr_insns), steps, b->nr_insns * sizeof *steps);
		if (flow == ENTERS)
			d->step[d->base].flags |= STEP_ENTER;
	}
	d->now = *b;
	d->resumes = NO_ADDRESS;
	d->last = d->extra = d->more = d->missing = 0;
	d->strays = false;
	if (__builtin_expect(b->special, 0) && flow != REPEATS)
		rep_open(d, 0);
}

/* The block under way has run to its end, which nothing that comes later changes. */
static void ask(struct decoder *d)
{
	d->asked = true;
	if (!d->now.nr_insns)
		return;
	d->resumes = d->now.end;
	if (leave(d, d->now.end) != FLOWS)
		d->resumes = NO_ADDRESS;
	d->now.nr_insns = 0;
	d->base = d->nr;
}

/* Words that are neither accesses nor blocks. */
static __attribute__((noinline, cold)) void event(struct decoder *d, uint64_t word)
{
	switch (wire_kind(word)) {
	case WIRE_CUT:
		d->missing = wire_count(word);
		break;
	case WIRE_UNMAP:
	case WIRE_HANDLER:
		d->awaited = word;
		break;
	case WIRE_ASK:
		ask(d);
		break;
	default:
		lose(d, 1);
	}
}

static __attribute__((noinline, cold)) void event_more(struct decoder *d, uint64_t word)
{
	uint64_t pages = MIN(wire_number(d->awaited), (UINT64_MAX - word) / WIRE_PAGE);
	bool handler = wire_kind(d->awaited) == WIRE_HANDLER;

	d->awaited = 0;
	if (handler && g_hash_table_size(d->handlers) < MOST_HANDLERS)
		g_hash_table_add(d->handlers, GSIZE_TO_POINTER(word));
	else if (d->now.nr_insns && d->nr - place(d, d->now.nr_insns) >= MOST_MORE)
		lose(d, 1);
	else if (!handler)
		*append(d, 1) = (struct step){ .addr = word, .insn = (uint32_t)MIN(pages, UINT32_MAX),
			.flags = STEP_UNMAP };
}

bool decoder_run(struct decoder *d, struct ring_reader *r, size_t limit)
{
	uint64_t n;

	while ((n = ring_available(r))) {
		bool stop = false;
		uint64_t i;
		for (i = 0; i < n; i++) {
			uint64_t word = ring_at(r, i);
			if (__builtin_expect(d->awaited != 0, 0)) {
				event_more(d, word);
			} else if (wire_is_access(word)) {
				access_made(d, word);
			} else if (d->nr >= limit && (wire_kind(word) == WIRE_BLOCK || !d->now.nr_insns)) {
				stop = true;
				break;
			} else if (wire_kind(word) != WIRE_BLOCK) {
				event(d, word);
				stop = d->asked;
				if (stop) {
					i++;
					break;
				}
			} else {
				enter(d, word);
			}
		}
		ring_take(r, i);
		if (stop)
			return true;
	}
	return false;
}

void decoder_drop(struct decoder *d, size_t n)
{
	assert(n <= d->nr);
	d->asked = false;
	d->nr -= n;
	d->base -= n;
	d->end = d->end >= n ? d->end - n : SIZE_MAX;
	if (d->nr)
		memmove(d->step, d->step + n, d->nr * sizeof *d->step);
}

void decoder_finish(struct decoder *d, const uint64_t *begun, bool fault)
{
	if (!d->now.nr_insns)
		return;
	if (begun) {
		uint64_t here = *begun - d->begun;
		if (here <= d->now.nr_insns)
			d->missing = d->now.nr_insns - (unsigned)here;
	}
	d->end = d->nr;
	leave(d, UINT64_MAX);
	if (!fault && d->end < d->nr)
		d->step[d->end].flags &= (uint16_t)~STEP_FAULT;
	d->now.nr_insns = 0;
}
