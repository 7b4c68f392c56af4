#include "run/future.h"

#include <glib.h>
#include <string.h>

/* The executions of one instruction by one thread that were seen ahead, and not timed yet. */
struct queue {
	GArray *address;               /* uint64_t */
	guint head;                    /* of the next execution timed */
	guint timed;                   /* executions of the batch in hand: gone with the next */
};

struct thread {
	struct queue *queue;           /* [nr] */
};

struct future {
	struct replay_reader *reader;
	bool ended;                    /* the reader has */
	unsigned nr;
	uint32_t *insn;                /* [nr] */
	GPtrArray *thread;             /* struct thread *, by thread; NULL: not seen yet */
	uint32_t now;                  /* thread of the batch in hand */
};

static void thread_free(struct future *f, struct thread *t)
{
	for (unsigned i = 0; t && i < f->nr; i++)
		g_array_free(t->queue[i].address, TRUE);
	if (t)
		g_free(t->queue);
	g_free(t);
}

int future_new(struct future **out, const struct replay_log *s, const uint32_t *insn, unsigned nr)
{
	struct future *f = g_new0(struct future, 1);

	*out = f;
	f->nr = nr;
	f->insn = g_memdup2(insn, nr * sizeof *insn);
	f->thread = g_ptr_array_new();
	return replay_reader_new(&f->reader, s);
}

void future_free(struct future *f)
{
	if (!f)
		return;
	replay_reader_free(f->reader);
	for (guint i = 0; i < f->thread->len; i++)
		thread_free(f, f->thread->pdata[i]);
	g_ptr_array_free(f->thread, TRUE);
	g_free(f->insn);
	g_free(f);
}

static struct thread *thread_of(struct future *f, uint32_t number)
{
	if (number >= f->thread->len)
		g_ptr_array_set_size(f->thread, (gint)number + 1);
	if (!f->thread->pdata[number]) {
		struct thread *t = g_new0(struct thread, 1);

		t->queue = g_new0(struct queue, f->nr);
		for (unsigned i = 0; i < f->nr; i++)
			t->queue[i].address = g_array_new(FALSE, TRUE, sizeof(uint64_t));
		f->thread->pdata[number] = t;
	}
	return f->thread->pdata[number];
}

static bool executes(const struct step *s, uint32_t insn)
{
	return s->insn == insn && step_kind(s) == STEP_INSN;
}

/* One more batch seen ahead. 1, 0 at the end, or -errno. */
static int see(struct future *f)
{
	const struct foreseen *unused;
	struct step_batch b;
	int more = replay_log_read(f->reader, &b, &unused);

	if (more <= 0)
		return more;
	struct thread *t = thread_of(f, b.thread);
	for (size_t k = 0; k < b.n; k++)
		for (unsigned i = 0; i < f->nr; i++)
			if (executes(&b.step[k], f->insn[i])) {
				uint64_t address = b.step[k].flags & STEP_LOAD ? b.step[k].addr : 0;
				g_array_append_val(t->queue[i].address, address);
			}
	return 1;
}

/* What the batch before has timed is forgotten, and moved out of the way when that is most of it. */
static void pass(struct queue *q)
{
	q->head += q->timed;
	if (2 * q->head > q->address->len) {
		g_array_remove_range(q->address, 0, q->head);
		q->head = 0;
	}
}

/* Whether the batch has all that it needs: `most` executions beyond its own of each that it executes. */
static bool reached(const struct future *f, const struct thread *t, uint32_t most)
{
	for (unsigned i = 0; i < f->nr; i++) {
		const struct queue *q = &t->queue[i];
		if (q->timed && q->address->len < q->head + q->timed + most)
			return false;
	}
	return true;
}

int future_reach(struct future *f, const struct step_batch *b, uint32_t most)
{
	struct thread *t = thread_of(f, b->thread);
	int more = 1;

	f->now = b->thread;
	for (unsigned i = 0; i < f->nr; i++) {
		struct queue *q = &t->queue[i];

		pass(q);
		q->timed = 0;
		for (size_t k = 0; k < b->n; k++)
			q->timed += executes(&b->step[k], f->insn[i]);
	}
	while (!f->ended && more > 0 && !reached(f, t, most)) {
		more = see(f);
		f->ended = !more;
	}
	/* Behind the last of all executions: nowhere. */
	for (unsigned i = 0; i < f->nr && f->ended; i++) {
		struct queue *q = &t->queue[i];
		if (q->address->len < q->head + q->timed + most)
			g_array_set_size(q->address, q->head + q->timed + most);
	}
	return more < 0 ? more : 0;
}

const uint64_t *future_of(const struct future *f, unsigned i, uint32_t distance)
{
	const struct thread *t = f->thread->pdata[f->now];
	const struct queue *q = &t->queue[i];

	return q->timed ? &g_array_index(q->address, uint64_t, q->head + distance) : NULL;
}
