#include "method/fmt_lane.h"

#include <string.h>

#include "profile/profile.h"

void fmt_lane_init(struct fmt_lane *l, const struct core_desc *desc, bool any_stall)
{
	occupancy_init(&l->rob, desc, any_stall);
	fmt_table_init(&l->table, fmt_table_rows(desc));
	l->mispredicted = FMT_NO_ROW;
}

void fmt_lane_fini(struct fmt_lane *l)
{
	occupancy_fini(&l->rob);
	fmt_table_fini(&l->table);
}

static void sum(const struct fmt_lane *l, struct fmt_stack *to)
{
	for (unsigned k = 0; k < NR_CPI; k++) {
		to->fmt[k] = l->rob.cycles[k] + l->table.total[k];
		to->sfmt[k] = l->rob.cycles[k] + (k <= CPI_ITLB ? l->shared[k] : l->table.total[k]);
	}
}

void fmt_lane_finish(struct fmt_lane *l)
{
	struct fmt_table *f = &l->table;

	occupancy_end(&l->rob, l->end);
	fmt_lane_follow(l);
	if (f->waits != FMT_NO_ROW)
		fmt_table_recover(f, l->rob.on, 0);
	fmt_table_retire(f, UINT64_MAX);
	sum(l, &l->final);
}

void fmt_lane_fetch_in_vain(struct fmt_lane *l, uint64_t branches, const struct timed *last)
{
	if (!branches)
		return;
	fmt_table_retire(&l->table, last->fetch);
	while (branches-- && fmt_table_fetch(&l->table) != FMT_NO_ROW)
		;
}

/*
 * What has dispatched may be ahead of what is final: a checkpoint has the stack of an earlier cycle, the base
 * the rest.
 */
void fmt_lane_publish(struct fmt_lane *l, const struct walked *w)
{
	l->units += walked_units(w);
	l->end = w->end;
	if (l->newest.now > l->end)
		return;
	l->final = l->newest;
	l->newest.now = l->rob.now;
	sum(l, &l->newest);
}

int fmt_lanes_save_as(const struct fmt_lane *l, const char *name, bool shared, struct profile *out)
{
	uint64_t units = 0, cycles[NR_CPI] = { 0 };

	for (; l; l = l->next) {
		units += l->units;
		for (unsigned k = CPI_BASE + 1; k < NR_CPI; k++)
			cycles[k] += shared ? l->final.sfmt[k] : l->final.fmt[k];
	}
	return cpi_save(out, name, units, cycles);
}

int fmt_lanes_save(const struct fmt_lane *l, struct profile *out)
{
	uint64_t overlap = 0;

	for (const struct fmt_lane *i = l; i; i = i->next)
		overlap += i->overlap;
	int err = fmt_lanes_save_as(l, "fmt", false, out);
	return err ? err : profile_figure(out, "fmt", "overlap", (double)overlap);
}
