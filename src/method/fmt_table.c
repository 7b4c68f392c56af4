#include "method/fmt_table.h"

#include <glib.h>

enum { FRONT_END = 64 };               /* branches between the front end's queues and the ROB, and behind a squash */

void fmt_table_init(struct fmt_table *f, uint64_t nr_rows)
{
	*f = (struct fmt_table){ .nr_rows = nr_rows, .waits = FMT_NO_ROW };
	for (f->mask = 1; f->mask <= nr_rows; )
		f->mask = 2 * f->mask + 1;
	f->row = g_new0(struct fmt_row, f->mask + 1);
	f->row[0].retires = UINT64_MAX;
}

void fmt_table_fini(struct fmt_table *f)
{
	g_free(f->row);
}

uint64_t fmt_table_rows(const struct core_desc *desc)
{
	if (desc->fmt_rows)
		return (uint64_t)desc->fmt_rows;
	return (uint64_t)(desc->rob_entries + desc->queue_entries + desc->fetch_queue) + FRONT_END;
}
