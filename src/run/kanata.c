#include "run/kanata.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/shown.h"
#include "method/method.h"
#include "view/place.h"

struct kept {
	struct timed t;
	uint64_t place;                /* in the thread's stream */
};

struct kanata {
	FILE *file;
	char *path;
	const void *thread;            /* NULL: none has counted yet */
	uint64_t place;                /* of the thread's next record */
	bool counting;                 /* what committed last is counted: what is attempted behind it goes with it */
	struct code *code;             /* while it is written, like what follows */
	GHashTable *named;             /* by index: struct query_insn; what never committed has no name */
	uint32_t committed;            /* so many are done with */
	GArray *kept;                  /* struct kept */
};

/* What the log says of an attempt, in the order of a cycle's lines. */
enum what { BEGIN, HELD, SCHEDULED, EXECUTES, DONE, END };

struct event {
	uint64_t cycle;
	uint32_t op;                   /* index of kept */
	uint8_t what;
};

int kanata_new(struct kanata **out, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return error_errno(errno, path);
	*out = g_new0(struct kanata, 1);
	(*out)->file = file;
	(*out)->path = g_strdup(path);
	(*out)->kept = g_array_new(FALSE, FALSE, sizeof(struct kept));
	return 0;
}

void kanata_free(struct kanata *k)
{
	if (!k)
		return;
	if (k->file)
		fclose(k->file);
	g_array_free(k->kept, TRUE);
	g_free(k->path);
	g_free(k);
}

void kanata_take(struct kanata *k, const void *thread, const struct timed *t, size_t n)
{
	if ((k->thread && k->thread != thread) || k->kept->len == KANATA_MOST)
		return;
	for (size_t i = 0; i < n && k->kept->len < KANATA_MOST; i++) {
		const struct kept one = { t[i], k->place + i };

		if (timed_commits(&t[i]))
			k->counting = t[i].flags & TIMED_COUNTED;
		if (!k->counting)
			continue;
		k->thread = thread;
		g_array_append_val(k->kept, one);
	}
	if (k->thread)
		k->place += n;
}

static const struct kept *kept_at(const struct kanata *k, guint i)
{
	return &g_array_index(k->kept, struct kept, i);
}

static void add(GArray *events, const struct timed *t, uint32_t op, enum what what, uint32_t after)
{
	const struct event e = { t->fetch + after, op, (uint8_t)what };

	if (after != TIMED_NEVER && after <= t->leave)
		g_array_append_val(events, e);
}

static gint by_cycle(gconstpointer a, gconstpointer b)
{
	const struct event *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	return (int)x->what - (int)y->what;
}

static GArray *events_of(const struct kanata *k)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(struct event));

	for (guint i = 0; i < k->kept->len; i++) {
		const struct timed *t = &kept_at(k, i)->t;

		add(events, t, i, BEGIN, 0);
		if (t->dispatch > t->avail)
			add(events, t, i, HELD, t->avail);
		add(events, t, i, SCHEDULED, t->dispatch);
		add(events, t, i, EXECUTES, t->issue);
		add(events, t, i, DONE, t->complete);
		add(events, t, i, END, t->leave);
	}
	g_array_sort(events, by_cycle);
	return events;
}

/* "; waited to issue for an operand" and the like. */
static void wait_text(GString *s, const struct timed *t)
{
	static const char *const dispatch[] = {
		[WAIT_WIDTH] = "the width of rename", [WAIT_ROB] = "the reorder buffer",
		[WAIT_SCHEDULER] = "a scheduler",
		[WAIT_LOAD_QUEUE] = "the load queue", [WAIT_STORE_QUEUE] = "the store queue",
		[WAIT_REGISTERS] = "registers",
		[WAIT_BRANCHES] = "branches in flight", [WAIT_SERIAL] = "a serialising instruction",
	};
	static const char *const issue[] = {
		[WAIT_OPERAND] = "an operand", [WAIT_PORT] = "a port", [WAIT_UNIT] = "a unit",
		[WAIT_MEMORY_ORDER] = "an older store",
		[WAIT_MSHR] = "a miss register", [WAIT_FENCE] = "a fence",
	};

	if (timed_dispatch_wait(t) != WAIT_NONE && t->dispatch != TIMED_NEVER)
		g_string_append_printf(s, "\\ndispatch waited for %s", dispatch[timed_dispatch_wait(t)]);
	if (timed_issue_wait(t) != WAIT_ISSUE_NONE && t->issue != TIMED_NEVER)
		g_string_append_printf(s, "\\nissue waited for %s", issue[timed_issue_wait(t)]);
}

/* "symbol+0x1c: add %eax,%edx"; without a name, the run's own address. */
static void text(const struct kanata *k, uint32_t op, const struct timed *t)
{
	const struct query_insn *in = g_hash_table_lookup(k->named, GUINT_TO_POINTER(t->insn));
	char where[PLACE_SIZE], disassembly[256];

	if (in) {
		place_insn(in, where);
		where[strcspn(where, " ")] = '\0';
	} else {
		snprintf(where, sizeof where, "%" PRIx64, code_insn(k->code, t->insn)->pc);
		code_text(k->code, t->insn, disassembly, sizeof disassembly);
	}
	char *line = g_strdup_printf("%s: %s", where, in ? in->disassembly : disassembly);
	char *one_line = shown(line);

	fprintf(k->file, "L\t%" PRIu32 "\t0\t%s\n", op, one_line);
	g_free(one_line);
	g_free(line);
}

/* What it met, where its data came from, what it waited for. */
static void tooltip(const struct kanata *k, uint32_t op, const struct timed *t)
{
	static const char *const levels[] = {
		[LEVEL_L1] = "L1", [LEVEL_FORWARD] = "a store", [LEVEL_FILL_BUFFER] = "a line on its way",
		[LEVEL_L2] = "L2",
		[LEVEL_LLC] = "the last level", [LEVEL_MEMORY] = "memory",
	};
	GString *tip = g_string_new(NULL);
	char component[64];

	if (t->psv)
		g_string_append_printf(tip, "\\n%s", psv_name(t->psv, component));
	if (timed_data_level(t) != LEVEL_NONE)
		g_string_append_printf(tip, "\\ndata from %s", levels[timed_data_level(t)]);
	wait_text(tip, t);
	if (tip->len)
		fprintf(k->file, "L\t%" PRIu32 "\t1\t%s\n", op, tip->str + 2);
	g_string_free(tip, TRUE);
}

/* An arrow from what made its issue wait, where that is logged. */
static void arrow(const struct kanata *k, uint32_t op)
{
	const struct kept *one = kept_at(k, op);
	uint32_t by = op;

	if (!one->t.issue_by || one->place < one->t.issue_by)
		return;
	while (by && kept_at(k, by)->place > one->place - one->t.issue_by)
		by--;
	if (kept_at(k, by)->place == one->place - one->t.issue_by)
		fprintf(k->file, "W\t%" PRIu32 "\t%" PRIu32 "\t0\n", op, by);
}

static void stage(const struct kanata *k, uint32_t op, char name)
{
	fprintf(k->file, "S\t%" PRIu32 "\t0\t%c\n", op, name);
}

static void write_event(struct kanata *k, const struct event *e)
{
	static const char stages[] = { [BEGIN] = 'F', [HELD] = 'D', [SCHEDULED] = 'S', [EXECUTES] = 'X', [DONE] = 'C' };
	const struct timed *t = &kept_at(k, e->op)->t;

	if (e->what == END) {
		fprintf(k->file, "R\t%" PRIu32 "\t%" PRIu32 "\t%d\n", e->op, k->committed, !timed_commits(t));
		k->committed += (uint32_t)timed_commits(t);
		return;
	}
	if (e->what == BEGIN) {
		fprintf(k->file, "I\t%" PRIu32 "\t%" PRIu32 "\t0\n", e->op, e->op);
		text(k, e->op, t);
		tooltip(k, e->op, t);
	}
	stage(k, e->op, stages[e->what]);
	if (e->what == EXECUTES)
		arrow(k, e->op);
}

static void write_events(struct kanata *k)
{
	GArray *events = events_of(k);
	uint64_t cycle = events->len ? g_array_index(events, struct event, 0).cycle : 0;

	fprintf(k->file, "Kanata\t0004\nC=\t%" PRIu64 "\n", cycle);
	for (guint i = 0; i < events->len; i++) {
		const struct event *e = &g_array_index(events, struct event, i);

		if (e->cycle > cycle)
			fprintf(k->file, "C\t%" PRIu64 "\n", e->cycle - cycle);
		cycle = e->cycle;
		write_event(k, e);
	}
	g_array_free(events, TRUE);
}

int kanata_write(struct kanata *k, struct code *code, struct query *q)
{
	const struct query_insn *in;
	size_t nr;
	int err = query_hot(q, 0, &in, &nr, NULL);

	if (err)
		return err;
	k->code = code;
	k->named = g_hash_table_new(NULL, NULL);
	for (size_t i = 0; i < nr; i++)
		g_hash_table_insert(k->named, GUINT_TO_POINTER(in[i].insn), (gpointer)(uintptr_t)&in[i]);
	write_events(k);
	g_hash_table_destroy(k->named);

	int failed = ferror(k->file), closed = fclose(k->file);
	k->file = NULL;
	return failed || closed ? error_errno(errno ? errno : EIO, k->path) : 0;
}
