#include "core/ooo/frontend.h"

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

/* --- packets ----------------------------------------------------------------------------------------- */

/*
 * Reads the code line of `pc`, of instruction `in`, from L1I for a packet fetched in f->fetch; the stall is the part
 * beyond a hit.
 */
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
	out->code_level = a.llc_miss             ? ILEVEL_MEMORY
	                  : a.level == LEVEL_LLC ? ILEVEL_LLC
	                  : a.l1_miss            ? ILEVEL_L2
	                                         : ILEVEL_L1;
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

/*
 * Whether delivery from the uop cache may go on with another window in the cycle that it is in: a sequential one, or
 * one that a jump led to.
 */
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
	return (window ^ f->window) >> (LINES_PAGE - f->cache.shift) == 0;
}

/* Starts the packet that holds `pc`, which the bytes of an instruction reach up to `end`. */
static void packet_begin(struct frontend *f, const struct insn *in, uint64_t window, enum fetch_path path,
                         struct fetched *out)
{
	const struct core_desc *d = f->desc;
	uint64_t cycle = f->run.next;
	bool reads = path == FETCH_UOPCACHE && f->path == FETCH_UOPCACHE,
	     straight = reads && !f->broken && same_page(f, window);

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
	unsigned uops = insn_decode_uops(in);

	if (!(in->flags & INSN_MICROCODED))
		return f->path == FETCH_LOOP ? delivery_cached(f, &f->run, in, uops)
		                             : delivery_read(f, &f->run, in, uops);
	f->run.deliver += microcode_cycles(f->desc, uops);
	f->run.deliver_uops = (unsigned)f->desc->uopcache_width;
	lines_end(&f->run.lines);
	return delivery_into(f, &f->run, in, uops);
}

/* Through predecode, the instruction queue and the decoders. */
__attribute__((always_inline))
static inline uint64_t deliver_decoded(struct frontend *f, const struct insn *in)
{
	const struct core_desc *d = f->desc;
	unsigned uops = insn_decode_uops(in);
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
	f->run.next = later(f->run.next,
	                    f->predecode >= (unsigned)d->fetch_latency ? f->predecode - (unsigned)d->fetch_latency : 0);

	if (f->predecode > f->decode) {
		f->decode = f->predecode;
		f->decode_used = 0;
	}
	bool complex = uops > 1 || in->flags & (INSN_COMPLEX | INSN_MICROCODED);
	if (f->decode_used >= (unsigned)d->decode_width ||
	    (complex && d->decode_complex && f->decode_used >= (unsigned)d->decode_complex)) {
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
	if (f->cache.held)
		uop_cache_build(&f->cache, in);
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
	f->run.loop_uops += insn_decode_uops(in);
	delivered(f, deliver_decoded(f, in), out);
}

/* Finds out how far all goes on as it is. */
static void settle(struct frontend *f)
{
	unsigned shift = f->path == FETCH_UOPCACHE ? f->cache.shift : f->fetch_shift;
	uint64_t first = f->window << shift, end = (f->window + 1) << shift;

	f->here_bytes = 0;
	if (f->path == FETCH_DECODE) {
		if (f->cache.building == UOPCACHE_NONE)
			return;
		uint64_t line = f->line << FRONTEND_LINE, built = f->cache.building << f->cache.shift;
		first = later(first, later(line, built));
		uint64_t line_end = (f->line + 1) << FRONTEND_LINE;
		uint64_t built_end = (f->cache.building + 1) << f->cache.shift;
		end = line_end < end ? line_end : end;
		end = built_end < end ? built_end : end;
	}
	f->here = first;
	f->here_bytes = end > first ? end - first : 0;
}

void frontend_deliver_other(struct frontend *f, const struct insn *in, struct fetched *out)
{
	uint64_t into;

	*out = (struct fetched){ 0 };
	f->run.loop_uops += insn_decode_uops(in);
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
		uint64_t window = in->pc >> f->cache.shift;
		bool here = f->path == FETCH_UOPCACHE && window == f->window && !f->broken;
		bool cached = f->cache.held && uop_cache_delivers(&f->cache, in, f->broken, here);
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
			into = deliver_decoded(f, in);
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
	uop_cache_build_end(&f->cache);
	if (fits) {
		if (f->path != FETCH_LOOP) {
			f->run.deliver = at + 1;
			f->run.deliver_uops = 0;
			f->path = FETCH_LOOP;
		} else if (f->run.deliver_uops) {
			f->run.deliver++;                  /* an iteration's end and the next one's start are not
			                                    * delivered together */
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
	uop_cache_build_end(&f->cache);
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

int frontend_init(struct frontend *f, const struct core_desc *desc, struct memory *memory)
{
	*f = (struct frontend){
		.desc = desc, .memory = memory, .broken = true, .line = UINT64_MAX, .block = UINT64_MAX
	};
	int ret = core_desc_power_of_two(desc, "fetch.bytes", desc->fetch_bytes);

	if (!ret)
		ret = core_desc_power_of_two(desc, "branch.lookup", desc->branch_lookup);
	if (ret)
		return ret;
	f->fetch_shift = (unsigned)__builtin_ctz((unsigned)desc->fetch_bytes);
	f->lookup_shift = (unsigned)__builtin_ctz((unsigned)desc->branch_lookup);
	f->insns.capacity = (uint32_t)desc->fetch_queue;
	f->uops.capacity = (uint32_t)desc->queue_entries;
	queue_flush(&f->insns);
	queue_flush(&f->uops);
	lines_init(&f->run.lines, desc);
	return uop_cache_init(&f->cache, desc);
}

void frontend_fini(struct frontend *f)
{
	uop_cache_fini(&f->cache);
}
