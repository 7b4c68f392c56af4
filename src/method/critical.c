#include "method/critical.h"

#include <glib.h>
#include <string.h>

enum {
	WINDOW = 1 << 16,              /* records walked at a time */
	YOUNGEST = 1 << 13,            /* of them, left to the next walk */
	IN_FLIGHT = 512,               /* records back that may hold what one waits for */
};

struct critical {
	struct timed record[WINDOW];   /* [nr] */
	size_t nr, end;                /* end: first record that the walk in hand does not count */
	uint32_t *row_of;              /* [nr_row_of]: row + 1; 0: none */
	size_t nr_row_of;
	GArray *rows;                  /* struct critical_row */
	GArray *seen;                  /* uint64_t: chain that each row was last met in */
	uint64_t chain;                /* of the operands that the walk follows; from 1 */
	uint64_t total;
};

enum event { OFFERED, DISPATCHED, COMPLETED, COMMITTED };

/* Where the walk is. */
struct place {
	size_t at;                     /* record */
	enum event event;
};

const char *bound_name(enum bound b)
{
	static const char *const names[NR_BOUNDS] = {
		"latency", "port", "unit", "memory_order", "misses", "fence", "frontend", "decode", "branch.taken",
		"code", "branch", "rename", "rob", "scheduler",
		"load_queue", "store_queue", "registers", "branches", "serial",
	};
	return names[b];
}

/* The row of a record's instruction, made where there is none. NULL: it is not counted by the walk in hand. */
static struct critical_row *row_at(struct critical *c, size_t at)
{
	const struct timed *t = &c->record[at];

	if (at >= c->end || !(t->flags & TIMED_COUNTED))
		return NULL;
	if (t->insn >= c->nr_row_of) {
		size_t nr = c->nr_row_of ? c->nr_row_of : 1024;
		while (nr <= t->insn)
			nr *= 2;
		c->row_of = g_renew(uint32_t, c->row_of, nr);
		memset(c->row_of + c->nr_row_of, 0, (nr - c->nr_row_of) * sizeof *c->row_of);
		c->nr_row_of = nr;
	}
	if (!c->row_of[t->insn]) {
		g_array_set_size(c->rows, c->rows->len + 1);
		g_array_set_size(c->seen, c->rows->len);
		c->row_of[t->insn] = c->rows->len;
	}
	return &g_array_index(c->rows, struct critical_row, c->row_of[t->insn] - 1);
}

static void count(struct critical *c, size_t at, enum bound bound)
{
	struct critical_row *row = row_at(c, at);

	if (!row)
		return;
	row->count++;
	row->bound[bound]++;
	c->total++;
}

/* It waited for an operand: another execution of it in the same chain waited for this one. */
static void follow(struct critical *c, size_t at)
{
	struct critical_row *row = row_at(c, at);
	uint64_t *seen;

	if (!row)
		return;
	seen = &g_array_index(c->seen, uint64_t, c->row_of[c->record[at].insn] - 1);
	row->carried += *seen == c->chain;
	*seen = c->chain;
}

/* The youngest committed record before `at`; `at` itself where there is none. */
static size_t before(const struct critical *c, size_t at)
{
	size_t i = at;

	while (i-- > 0)
		if (timed_commits(&c->record[i]))
			return i;
	return at;
}

/* `back` records before `at`, if that is one that commits and is there still; else the one before in order. */
static size_t by(const struct critical *c, size_t at, unsigned back)
{
	if (back && back <= at && timed_commits(&c->record[at - back]))
		return at - back;
	return before(c, at);
}

static enum bound bound_of_dispatch(const struct timed *t)
{
	static const enum bound bounds[] = {
		[WAIT_NONE] = BOUND_FRONTEND, [WAIT_WIDTH] = BOUND_RENAME, [WAIT_ROB] = BOUND_ROB,
		[WAIT_SCHEDULER] = BOUND_SCHEDULER,
		[WAIT_LOAD_QUEUE] = BOUND_LOAD_QUEUE, [WAIT_STORE_QUEUE] = BOUND_STORE_QUEUE,
		[WAIT_REGISTERS] = BOUND_REGISTERS,
		[WAIT_BRANCHES] = BOUND_BRANCHES, [WAIT_SERIAL] = BOUND_SERIAL,
	};
	return bounds[timed_dispatch_wait(t)];
}

/* The instruction executed: what it waited for, and where that leads. */
static struct place from_completed(struct critical *c, size_t at)
{
	const struct timed *t = &c->record[at];

	switch (timed_issue_wait(t)) {
	case WAIT_OPERAND:
		count(c, at, BOUND_LATENCY);
		follow(c, at);
		if (t->issue_by && t->issue_by <= at)
			return (struct place){ by(c, at, t->issue_by), COMPLETED };
		break;
	case WAIT_PORT:
		count(c, at, BOUND_PORT);
		/* Behind the port it waited for an operand too, if that came after dispatch. */
		if (t->issue_by && t->issue_by <= at && t->ready > t->dispatch + 1)
			return (struct place){ by(c, at, t->issue_by), COMPLETED };
		break;
	case WAIT_UNIT:
		count(c, at, BOUND_UNIT);
		break;
	case WAIT_MEMORY_ORDER:
		count(c, at, BOUND_MEMORY_ORDER);
		break;
	case WAIT_MSHR:
		count(c, at, BOUND_MISSES);
		break;
	case WAIT_FENCE:
		count(c, at, BOUND_FENCE);
		break;
	case WAIT_ISSUE_NONE:
		count(c, at, bound_of_dispatch(t));
		break;
	}
	return (struct place){ at, DISPATCHED };
}

/* Who gave back the scheduler entry: of the older ones in flight, the one that issued last before it could dispatch. */
static size_t issued_for(const struct critical *c, size_t at)
{
	uint64_t dispatch = timed_dispatch(&c->record[at]), latest = 0;
	size_t found = before(c, at);

	for (size_t i = at; i > 0 && at - i < IN_FLIGHT; i--) {
		const struct timed *t = &c->record[i - 1];
		uint64_t issue = t->fetch + t->issue;
		if (timed_commits(t) && t->uops && issue < dispatch && issue > latest) {
			latest = issue;
			found = i - 1;
		}
	}
	return found;
}

static struct place from_dispatched(struct critical *c, size_t at)
{
	const struct timed *t = &c->record[at];

	switch (timed_dispatch_wait(t)) {
	case WAIT_NONE:
		return (struct place){ at, OFFERED };
	case WAIT_WIDTH:
		return (struct place){ before(c, at), DISPATCHED };
	case WAIT_SCHEDULER:
		/* The entry was given back when its holder issued. */
		return (struct place){ issued_for(c, at), COMPLETED };
	case WAIT_BRANCHES:
		return (struct place){ by(c, at, t->dispatch_by), COMPLETED };
	default:
		return (struct place){ by(c, at, t->dispatch_by), COMMITTED };
	}
}

/*
 * The front end delivered `t` later than `o` before it, with no miss of code: to go from the decoders to the uop cache
 * takes time, too.
 */
static enum bound bound_of_delivery(const struct timed *t, const struct timed *o)
{
	if ((t->flags | o->flags) & TIMED_DECODED)
		return BOUND_DECODE;
	return o->flags & TIMED_TAKEN ? BOUND_TAKEN : BOUND_FRONTEND;
}

/* The front end was last: a misprediction before it, its own code, or the one before in order. */
static struct place from_offered(struct critical *c, size_t at)
{
	const struct timed *t = &c->record[at];
	size_t older = before(c, at);
	const struct timed *o = &c->record[older];

	if (o->flags & TIMED_FLUSHER && older != at) {
		count(c, at, BOUND_BRANCH);
		return (struct place){ older, o->flags & TIMED_MISPREDICT ? COMPLETED : COMMITTED };
	}
	if (t->icache_stall || t->itlb_stall)
		count(c, at, BOUND_CODE);
	else if (t->fetch + t->avail > o->fetch + o->avail)
		count(c, at, bound_of_delivery(t, o));
	/* What was offered before it could be dispatched did not wait for the front end, which waited for room. */
	return (struct place){ older, timed_dispatch(o) > o->fetch + o->avail ? DISPATCHED : OFFERED };
}

static struct place from_committed(struct critical *c, size_t at)
{
	const struct timed *t = &c->record[at];
	size_t older = before(c, at);

	/* In order: behind one that completed later. */
	if (older != at && timed_leave(&c->record[older]) > t->fetch + t->complete + 1)
		return (struct place){ older, COMMITTED };
	return (struct place){ at, COMPLETED };
}

/* Walks back from the youngest; what is at `end` or behind it is left to the next walk. */
static void walk(struct critical *c, size_t end)
{
	size_t start = before(c, c->nr);
	struct place p = { start, COMMITTED }, from = p;

	if (start == c->nr)
		return;
	c->end = end;
	do {
		c->chain += p.event == COMPLETED && from.event != COMPLETED;
		from = p;
		switch (p.event) {
		case COMMITTED:
			p = from_committed(c, p.at);
			break;
		case COMPLETED:
			p = from_completed(c, p.at);
			break;
		case DISPATCHED:
			p = from_dispatched(c, p.at);
			break;
		case OFFERED:
			p = from_offered(c, p.at);
			break;
		}
	} while (p.at < from.at || (p.at == from.at && p.event < from.event));
}

struct critical *critical_new(void)
{
	struct critical *c = g_new0(struct critical, 1);

	c->rows = g_array_new(FALSE, TRUE, sizeof(struct critical_row));
	c->seen = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	return c;
}

void critical_free(struct critical *c)
{
	if (!c)
		return;
	g_array_free(c->rows, TRUE);
	g_array_free(c->seen, TRUE);
	g_free(c->row_of);
	g_free(c);
}

void critical_batch(struct critical *c, const struct timed *t, size_t n)
{
	while (n > 0) {
		size_t m = MIN(n, WINDOW - c->nr);

		memcpy(c->record + c->nr, t, m * sizeof *t);
		c->nr += m;
		t += m;
		n -= m;
		if (c->nr < WINDOW)
			return;
		walk(c, WINDOW - YOUNGEST);
		memmove(c->record, c->record + WINDOW - YOUNGEST, YOUNGEST * sizeof *t);
		c->nr = YOUNGEST;
	}
}

void critical_finish(struct critical *c)
{
	walk(c, c->nr);
	c->nr = 0;
}

const struct critical_row *critical_row(const struct critical *c, uint32_t insn)
{
	if (insn >= c->nr_row_of || !c->row_of[insn])
		return NULL;
	return &g_array_index(c->rows, struct critical_row, c->row_of[insn] - 1);
}

uint64_t critical_total(const struct critical *c)
{
	return c->total;
}
