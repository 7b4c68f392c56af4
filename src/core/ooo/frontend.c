#include "core/ooo/frontend.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/cycle.h"
#include "record/timed.h"

enum {
	LOOP_TIMES = 2,
	PATH_SWITCH = 1,               /* cycles from the uop cache to the decoders, and back (uiCA) */
};

static inline uint16_t saturate(uint64_t v)
{
	return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}

/* --- uop cache --------------------------------------------------------------------------------------- */

static struct uop_window *uop_set(const struct frontend *f, uint64_t window)
{
	return f->cache + (window & f->set_mask) * (unsigned)f->desc->uopcache_ways;
}

static bool uop_search(struct frontend *f, uint64_t window)
{
	struct uop_window *set = uop_set(f, window);

	for (int i = 0; i < f->desc->uopcache_ways; i++) {
		if (set[i].window == window && set[i].ways) {
			set[i].used = ++f->stamp;
			f->hint[window % FRONTEND_HINTS] = &set[i];
			return true;
		}
	}
	return false;
}

static inline bool uop_lookup(struct frontend *f, uint64_t window)
{
	struct uop_window *hint = f->hint[window % FRONTEND_HINTS];

	if (hint->window != window || !hint->ways)
		return uop_search(f, window);
	hint->used = ++f->stamp;
	return true;
}

/* Evicts the least recently used windows of the set until the new one's ways fit. */
static void uop_insert(struct frontend *f, uint64_t window, unsigned ways)
{
	struct uop_window *set = uop_set(f, window), *slot = NULL;
	int total = f->desc->uopcache_ways, taken = 0;

	for (int i = 0; i < total; i++) {
		if (set[i].ways && set[i].window == window)
			set[i].ways = 0;
		taken += set[i].ways;
	}
	while (taken + (int)ways > total) {
		struct uop_window *old = NULL;
		for (int i = 0; i < total; i++)
			if (set[i].ways && (!old || set[i].used < old->used))
				old = &set[i];
		taken -= old->ways;
		old->ways = 0;
	}
	for (int i = 0; i < total && !slot; i++)
		if (!set[i].ways)
			slot = &set[i];
	*slot = (struct uop_window){ .window = window, .used = ++f->stamp, .ways = (uint8_t)ways };
}

static void uop_drop(struct frontend *f, uint64_t window)
{
	struct uop_window *set = uop_set(f, window);

	for (int i = 0; i < f->desc->uopcache_ways; i++)
		if (set[i].window == window)
			set[i].ways = 0;
}

/* A window that cannot be cached keeps the other of its pair out, too, where the core is so. Whether the present one may come in. */
static bool uop_may(struct frontend *f, uint64_t window, bool can)
{
	uint64_t pair = window / 2, *spoilt = &f->spoilt[pair % FRONTEND_SPOILT];

	if (!f->desc->uopcache_pairs)
		return can;
	if (!can && *spoilt != pair + 1) {
		*spoilt = pair + 1;
		uop_drop(f, window ^ 1);
	}
	return *spoilt != pair + 1;
}

/* Whether the uop cache has the window: not if `in`, in it, keeps it out, which shows where it came in without having been decoded to there. */
static bool uop_has(struct frontend *f, const struct insn *in, uint64_t window, bool here)
{
	if (!here && !uop_lookup(f, window))
		return false;
	if (!f->desc->uopcache_jcc_erratum || !(in->flags & INSN_JCC_ERRATUM))
		return true;
	uop_drop(f, window);
	uop_may(f, window, false);
	return false;
}

/* The decoders have left the window they were building. */
static void build_end(struct frontend *f)
{
	if (!f->building)
		return;
	f->building = false;
	f->here_bytes = 0;
	unsigned per_way = (unsigned)f->desc->uopcache_line_uops;
	unsigned ways = (f->build_uops + per_way - 1) / per_way;
	bool fits = ways <= (unsigned)f->desc->uopcache_max_ways && ways <= (unsigned)f->desc->uopcache_ways;
	if (uop_may(f, f->build_window, f->build_ok && fits))
		uop_insert(f, f->build_window, ways);
}

static void build_begin(struct frontend *f, uint64_t window)
{
	build_end(f);
	f->building = true;
	f->build_window = window;
	f->build_uops = 0;
	f->build_ok = true;
}

static inline void build_add(struct frontend *f, const struct insn *in)
{
	if (in->flags & INSN_MICROCODED)
		f->build_uops += (unsigned)f->desc->uopcache_line_uops; /* takes a way of its own */
	else
		f->build_uops += queue_uops(in);
	if (f->desc->uopcache_jcc_erratum && in->flags & INSN_JCC_ERRATUM)
		f->build_ok = false;
}

/* --- packets ----------------------------------------------------------------------------------------- */

/* Reads the code line of `pc`, of instruction `in`, from L1I for a packet fetched in f->fetch; the stall is the part beyond a hit. */
static void read_line(struct frontend *f, const struct insn *in, uint64_t pc, struct fetched *out)
{
	struct access a;
	uint64_t line = pc >> FRONTEND_LINE, hit = f->fetch + (unsigned)f->desc->l1i_latency, start = f->fetch;

	f->bytes_at = later(f->bytes_at, f->fetch);
	if (line == f->line)
		return;
	f->line = line;
	if (f->desc->fetch_runahead && f->known < start)
		start = f->known;
	if (f->suppose)
		memory_suppose(f->memory, true, suppose_of(f->suppose, in));
	memory_fetch(f->memory, start, line << FRONTEND_LINE, &a);
	if (a.l1_miss)
		out->psv |= PSV_DR_L1;
	if (a.tlb_miss)
		out->psv |= PSV_DR_TLB;
	if (a.level == LEVEL_FILL_BUFFER)
		out->merged |= MERGED_CODE;
	if (a.tlb_merged)
		out->merged |= MERGED_ITLB;
	/* The second line of an instruction that crosses one is read with the first: only what it adds counts. */
	uint64_t stall = a.done > hit ? a.done - hit : 0, before = f->bytes_at - f->fetch;
	if (stall > before) {
		uint64_t tlb = a.tlb_done > f->fetch + before ? a.tlb_done - f->fetch - before : 0;
		if (tlb > stall - before)
			tlb = stall - before;
		out->itlb_stall = saturate(out->itlb_stall + tlb);
		out->icache_stall = saturate(out->icache_stall + stall - before - tlb);
		f->bytes_at = f->fetch + stall;
	}
	/* A line that the wrong path asked for, and that is still on its way, comes from where it does. */
	out->code_level = a.llc_miss ? ILEVEL_MEMORY : a.level == LEVEL_LLC ? ILEVEL_LLC : a.l1_miss ? ILEVEL_L2 : ILEVEL_L1;
}

/* Branch prediction starts anew in `cycle`. */
static void lookup_from(struct frontend *f, uint64_t cycle)
{
	f->lookup = cycle;
	f->looked = UINT32_MAX;
}

/* Branch prediction comes to the packet that begins at `pc`: a look-up, unless the last one's block goes on. */
static void predict(struct frontend *f, uint64_t pc)
{
	uint64_t block = pc >> f->lookup_shift, room = 0;
	unsigned ahead = (unsigned)f->desc->fetch_runahead;

	if (f->packet >= ahead)
		room = f->packet_fetch[(f->packet - ahead) % FRONTEND_RING];
	if (block != f->block) {
		if (f->lookup != f->known + 1 || f->looked >= (unsigned)f->desc->branch_lookups) {
			f->known = f->lookup;
			f->looked = 0;
		}
		f->looked++;
	}
	if (room > f->known) {
		f->known = room;
		f->looked = 1;
	}
	f->lookup = f->known + 1;
	f->block = block;
}

/* Whether delivery from the uop cache may go on with another window in the cycle that it is in: a sequential one, or one that a jump led to. */
static bool may_share(const struct frontend *f)
{
	const struct delivered *d = &f->run;

	if (d->lines.most)
		return f->follows && d->lines.used < d->lines.most;
	return !f->broken && d->deliver_windows < 2 && d->deliver_uops < (unsigned)f->desc->uopcache_width;
}

/* A window of the uop cache, against the present one. */
static bool same_page(const struct frontend *f, uint64_t window)
{
	return (window ^ f->window) >> (LINES_PAGE - f->window_shift) == 0;
}

/* Starts the packet that holds `pc`, which the bytes of an instruction reach up to `end`. */
static void packet_begin(struct frontend *f, const struct insn *in, uint64_t window, enum fetch_path path,
                         struct fetched *out)
{
	const struct core_desc *d = f->desc;
	uint64_t cycle = f->run.next;
	bool reads = path == FETCH_UOPCACHE && f->path == FETCH_UOPCACHE, straight = reads && !f->broken && same_page(f, window);

	if (reads && may_share(f))
		cycle = f->run.deliver;
	else if (reads && f->run.lines.most)
		cycle = later(cycle, f->run.deliver + 1);
	if (f->path != FETCH_NONE && f->path != path && d->uopcache_sets)
		cycle += PATH_SWITCH;
	f->packet++;
	if (d->fetch_packets) {
		uint64_t old = f->packet - (unsigned)d->fetch_packets;
		if (f->packet >= (unsigned)d->fetch_packets)
			cycle = later(cycle, f->packet_leave[old % FRONTEND_RING] + 1);
	}
	if (d->fetch_runahead) {
		predict(f, in->pc);
		cycle = later(cycle, f->known);
		f->packet_fetch[f->packet % FRONTEND_RING] = cycle;
	}
	if (d->fetch_packets)
		f->packet_leave[f->packet % FRONTEND_RING] = 0;
	f->path = path;
	f->window = window;
	f->broken = f->follows = false;
	f->fetch = cycle;
	f->bytes_at = cycle;
	out->packet_first = true;
	if (path == FETCH_UOPCACHE) {
		build_end(f);
		if (f->run.lines.most)
			lines_enter(&f->run.lines, reads && f->run.deliver == cycle, straight);
		if (f->run.deliver != cycle || !f->run.deliver_uops) {
			f->run.deliver = cycle;
			f->run.deliver_uops = 0;
			f->run.deliver_windows = 0;
		}
		f->run.deliver_windows++;
		f->run.next = cycle + 1;
	} else {
		read_line(f, in, in->pc, out);
		f->run.next = f->bytes_at + 1;
	}
}

/* --- the three ways ---------------------------------------------------------------------------------- */

static unsigned microcode_cycles(const struct core_desc *d, unsigned uops)
{
	unsigned width = (unsigned)d->microcode_width;

	return (unsigned)d->microcode_penalty + (uops + width - 1) / width;
}

/* From the uop cache or the loop buffer. */
static uint64_t deliver_cached(struct frontend *f, const struct insn *in)
{
	unsigned uops = queue_uops(in);

	if (!(in->flags & INSN_MICROCODED))
		return f->path == FETCH_LOOP ? delivery_cached(f, &f->run, in, uops) : delivery_read(f, &f->run, in, uops);
	f->run.deliver += microcode_cycles(f->desc, uops);
	f->run.deliver_uops = (unsigned)f->desc->uopcache_width;
	lines_end(&f->run.lines);
	return delivery_into(f, &f->run, in, uops);
}

/* Through predecode, the instruction queue and the decoders. `on`: into the window of the uop cache that is being built. */
__attribute__((always_inline))
static inline uint64_t deliver_decoded(struct frontend *f, const struct insn *in, bool on)
{
	const struct core_desc *d = f->desc;
	unsigned uops = queue_uops(in);
	uint64_t pre = later(f->bytes_at + (unsigned)d->fetch_latency, queue_free(&f->insns, 1));

	if (pre > f->predecode) {
		f->predecode = pre;
		f->predecode_used = 0;
	} else if (f->predecode_used >= (unsigned)d->fetch_width) {
		f->predecode++;
		f->predecode_used = 0;
	}
	f->predecode_used++;
	if (in->prefix_lengthens && d->fetch_prefix_stall) {
		f->predecode += (unsigned)d->fetch_prefix_stall;
		f->predecode_used = 1;
		f->run.next = later(f->run.next, f->predecode + 1 - (unsigned)d->fetch_latency);
	}
	f->run.next = later(f->run.next, f->predecode >= (unsigned)d->fetch_latency ? f->predecode - (unsigned)d->fetch_latency : 0);

	if (f->predecode > f->decode) {
		f->decode = f->predecode;
		f->decode_used = 0;
	}
	bool complex = uops > 1 || in->flags & (INSN_COMPLEX | INSN_MICROCODED);
	if (f->decode_used >= (unsigned)d->decode_width || (complex && d->decode_complex && f->decode_used >= (unsigned)d->decode_complex)) {
		f->decode++;
		f->decode_used = 0;
	}
	f->decode_used++;
	if (in->flags & INSN_MICROCODED)
		f->decode += microcode_cycles(d, uops);
	if (in->flags & INSN_MICROCODED || (in->branch && d->decode_branch_last))
		f->decode_used = (unsigned)d->decode_width;
	uint64_t into = f->decode + (unsigned)d->decode_latency, room = queue_free(&f->uops, in->slots ? in->slots : 1);
	if (room > into) {
		f->decode += room - into;
		f->decode_used = 1;
		into = room;
	}
	queue_push(&f->insns, 1, f->decode);
	if (on || d->uopcache_sets) {
		uint64_t window = in->pc >> f->window_shift;
		if (!on && (!f->building || window != f->build_window))
			build_begin(f, window);
		build_add(f, in);
	}
	return into;
}

/* --- what the core calls ----------------------------------------------------------------------------- */

/* What comes by the shorter way waits behind what came by the longer. */
static inline void delivered(struct frontend *f, uint64_t into, struct fetched *out)
{
	f->run.into = later(f->run.into, into);
	out->fetch = f->fetch;
	out->avail = f->run.into + (unsigned)f->desc->rename_latency;
	out->decoded = f->path == FETCH_DECODE && f->desc->uopcache_sets;
}

void frontend_decode_on(struct frontend *f, const struct insn *in, struct fetched *out)
{
	*out = (struct fetched){ 0 };
	f->run.loop_uops += queue_uops(in);
	delivered(f, deliver_decoded(f, in, true), out);
}

/* Finds out how far all goes on as it is. */
static void settle(struct frontend *f)
{
	unsigned shift = f->path == FETCH_UOPCACHE ? f->window_shift : f->fetch_shift;
	uint64_t first = f->window << shift, end = (f->window + 1) << shift;

	f->here_bytes = 0;
	if (f->path == FETCH_DECODE) {
		if (!f->building)
			return;
		uint64_t line = f->line << FRONTEND_LINE, built = f->build_window << f->window_shift;
		first = later(first, later(line, built));
		uint64_t line_end = (f->line + 1) << FRONTEND_LINE, built_end = (f->build_window + 1) << f->window_shift;
		end = line_end < end ? line_end : end;
		end = built_end < end ? built_end : end;
	}
	f->here = first;
	f->here_bytes = end > first ? end - first : 0;
}

void frontend_deliver_other(struct frontend *f, const struct insn *in, struct fetched *out)
{
	const struct core_desc *d = f->desc;
	uint64_t into;

	*out = (struct fetched){ 0 };
	f->run.loop_uops += queue_uops(in);
	if (f->path == FETCH_LOOP) {
		out->packet_first = f->broken;
		if (f->broken) {
			f->packet++;
			f->packet_fetch[f->packet % FRONTEND_RING] = f->run.deliver;
		}
		f->broken = false;
		f->fetch = f->run.deliver;
		into = deliver_cached(f, in);
	} else {
		bool cached = false;
		uint64_t window;
		if (d->uopcache_sets) {
			window = in->pc >> f->window_shift;
			if (f->path == FETCH_DECODE && window == f->build_window && f->building && !f->broken)
				cached = false;        /* stays with the decoders until the window ends */
			else
				cached = uop_has(f, in, window, f->path == FETCH_UOPCACHE && window == f->window && !f->broken);
		}
		if (!cached)
			window = (in->pc + in->length - 1) >> f->fetch_shift;
		enum fetch_path path = cached ? FETCH_UOPCACHE : FETCH_DECODE;
		if (f->broken || path != f->path || window != f->window)
			packet_begin(f, in, window, path, out);
		if (path == FETCH_DECODE && (in->pc + in->length - 1) >> FRONTEND_LINE != f->line) {
			read_line(f, in, in->pc + in->length - 1, out);
			f->run.next = later(f->run.next, f->bytes_at + 1);
		}
		if (path == FETCH_UOPCACHE)
			into = deliver_cached(f, in);
		else
			into = deliver_decoded(f, in, false);
		settle(f);
	}
	delivered(f, into, out);
}

void frontend_taken(struct frontend *f, const struct insn *in, const struct prediction *p)
{
	const struct core_desc *d = f->desc;
	uint64_t at = f->path == FETCH_DECODE ? f->bytes_at : f->run.deliver;
	bool again = p->target <= in->pc && in->pc == f->loop_branch && p->target == f->loop_target;

	if (again) {
		f->loop_times++;
	} else {
		f->loop_branch = in->pc;
		f->loop_target = p->target;
		f->loop_times = 0;
	}
	bool fits = d->loop_buffer && f->loop_times >= LOOP_TIMES && f->run.loop_uops <= (unsigned)d->loop_buffer;
	f->run.loop_uops = 0;
	f->broken = true;
	f->here_bytes = 0;
	build_end(f);
	if (fits) {
		if (f->path != FETCH_LOOP) {
			f->run.deliver = at + 1;
			f->run.deliver_uops = 0;
			f->path = FETCH_LOOP;
		} else if (f->run.deliver_uops) {
			f->run.deliver++;                  /* an iteration's end and the next one's start are not delivered together */
			f->run.deliver_uops = 0;
		}
		return;
	}
	if (f->path == FETCH_LOOP)
		f->path = FETCH_UOPCACHE;
	unsigned bubble = (unsigned)(p->btb == BTB_SECOND ? d->branch_btb2_bubble : d->branch_taken_bubble);
	unsigned returned = in->branch == BRANCH_RETURN ? (unsigned)d->branch_return_bubble : 0;
	if (in->branch == BRANCH_INDIRECT || in->branch == BRANCH_INDIRECT_CALL)
		f->looked = UINT32_MAX;
	if (p->redirect)
		lookup_from(f, f->run.next = f->fetch + (unsigned)d->branch_decode_redirect);
	else if (!d->fetch_runahead)
		f->run.next = at + 1 + bubble + returned;
	else
		f->run.next = at + 1;
	if (!p->redirect && !(again && p->btb == BTB_FIRST))
		f->lookup += bubble;
	if (!p->redirect) {
		f->known += returned;              /* what it looks up besides in that cycle comes as much later */
		f->lookup += returned;
	}
	f->follows = !p->redirect && d->fetch_runahead && d->branch_lookups > 1;
	f->block = UINT64_MAX;
	f->run.deliver_uops = 0;
}

void frontend_wait_taken(struct frontend *f)
{
	unsigned most = (unsigned)f->desc->branch_taken_in_flight;
	uint64_t free = most && f->nr_taken >= most ? f->taken_leave[(f->nr_taken - most) % FRONTEND_TAKEN] + 1 : 0;

	f->run.next = later(f->run.next, free);
	if (free > f->lookup)
		lookup_from(f, free);
	if (f->path == FETCH_LOOP)
		f->run.deliver = later(f->run.deliver, free);
}

void frontend_hold(struct frontend *f, uint64_t avail)
{
	const struct core_desc *d = f->desc;
	uint64_t decode = avail - (unsigned)(d->rename_latency + d->decode_latency);
	uint64_t deliver = avail - (unsigned)(d->rename_latency + d->uopcache_latency);

	f->run.into = later(f->run.into, avail - (unsigned)d->rename_latency);

	if (f->path == FETCH_DECODE && f->decode < decode) {
		f->decode = decode;
		f->decode_used = (unsigned)d->decode_width;
	} else if (f->path != FETCH_DECODE && f->run.deliver < deliver) {
		f->run.deliver = deliver;
		f->run.deliver_uops = (unsigned)d->uopcache_width;
		lines_end(&f->run.lines);
		f->run.next = later(f->run.next, deliver + 1);
	}
}

void frontend_redirect(struct frontend *f, uint64_t cycle, uint64_t packet)
{
	build_end(f);
	f->path = FETCH_NONE;
	f->broken = true;
	f->follows = false;
	f->here_bytes = 0;
	f->run.next = cycle;
	lookup_from(f, cycle);
	f->block = UINT64_MAX;
	f->packet = packet;
	f->line = UINT64_MAX;
	queue_flush(&f->insns);
	queue_flush(&f->uops);
	f->predecode = f->decode = f->run.deliver = f->run.into = cycle;
	f->predecode_used = f->decode_used = f->run.deliver_uops = f->run.deliver_windows = 0;
	f->loop_branch = 0;
}

static int power_of_two(const struct core_desc *d, const char *name, int32_t value, unsigned *shift)
{
	if (value & (value - 1)) {
		error_set(EINVAL, d->name, "%s is %d, which is no power of two", name, value);
		error_remedy("choose 16, 32 or another power of two");
		return -EINVAL;
	}
	*shift = (unsigned)__builtin_ctz((unsigned)value);
	return 0;
}

int frontend_init(struct frontend *f, const struct core_desc *desc, struct memory *memory)
{
	*f = (struct frontend){ .desc = desc, .memory = memory, .broken = true, .line = UINT64_MAX, .block = UINT64_MAX };
	f->insns.capacity = (uint32_t)desc->fetch_queue;
	int ret = power_of_two(desc, "fetch.bytes", desc->fetch_bytes, &f->fetch_shift);
	if (!ret)
		ret = power_of_two(desc, "branch.lookup", desc->branch_lookup, &f->lookup_shift);
	if (!ret && desc->uopcache_sets) {
		unsigned shift;
		ret = power_of_two(desc, "uopcache.window", desc->uopcache_window, &f->window_shift);
		if (!ret)
			ret = power_of_two(desc, "uopcache.sets", desc->uopcache_sets, &shift);
		f->set_mask = (uint64_t)desc->uopcache_sets - 1;
	}
	if (ret)
		return ret;
	lines_init(&f->run.lines, desc);
	f->uops.capacity = (uint32_t)desc->queue_entries;
	queue_flush(&f->insns);
	queue_flush(&f->uops);
	if (desc->uopcache_sets) {
		f->cache = calloc((size_t)desc->uopcache_sets * (size_t)desc->uopcache_ways, sizeof *f->cache);
		if (!f->cache)
			return error_errno(ENOMEM, "uop cache");
		for (unsigned i = 0; i < FRONTEND_HINTS; i++)
			f->hint[i] = f->cache;
	}
	return 0;
}

void frontend_fini(struct frontend *f)
{
	free(f->cache);
	f->cache = NULL;
}
