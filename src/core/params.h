/*
 * The parameters of a core model: what a description in data/cores/ can say, `--set` and `--scale` change,
 * and `cyclewise cores NAME` lists. One table; the struct, the reader and the listing are expanded from it.
 *
 * X(group, name, default, minimum, maximum, unit, help). A parameter is called group.name. All are integers;
 * what is a list or a name is in CORE_STRINGS. A cycle is a cycle of the core's clock.
 */
#ifndef CYCLEWISE_CORE_PARAMS_H
#define CYCLEWISE_CORE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

enum { CORE_PORTS = 16, CORE_UNITS = 8, CORE_SCHEDULERS = 8 };

#define FRONTEND_PARAMS(X) \
	X(fetch, bytes, 16, 4, 64, "bytes/cycle", "aligned bytes fetched (predecoded) a cycle") \
	X(fetch, width, 5, 1, 16, "instructions/cycle", "instructions found in the fetched bytes a cycle") \
	X(fetch, latency, 4, 1, 20, "cycles", "fetch to decode") \
	X(fetch, prefix_stall, 0, 0, 20, "cycles", "lost in predecode to a prefix that changes an instruction's length; 0: none") \
	X(fetch, queue, 25, 1, 256, "instructions", "instruction queue or fetch buffer between fetch and decode") \
	X(fetch, packets, 0, 0, 256, "packets", "fetch target queue: packets in flight from fetch to commit; 0: unlimited") \
	X(fetch, runahead, 0, 0, 64, "packets", "packets that branch prediction runs ahead of fetch, prefetching their lines; 0: coupled") \
	X(decode, width, 4, 1, 16, "instructions/cycle", "decoders") \
	X(decode, complex, 1, 0, 16, "decoders", "decoders that take instructions of several uops") \
	X(decode, latency, 1, 0, 20, "cycles", "decode to the uop queue") \
	X(decode, macro_fusion, 1, 0, 1, "0/1", "compare-and-branch pairs become one uop") \
	X(decode, fusion_across, 1, 0, 1, "0/1", "1: also of those that cross a line of code, 0: of the others alone") \
	X(decode, fusion_memory, 1, 1, 4, "slots", "slots that such a pair takes where it reads memory, at least, in the uop cache, too (ooo)") \
	X(decode, move_fusion, 0, 0, 1, "0/1", "a copy of a general register and arithmetic on the copy right behind it become one uop") \
	X(decode, branch_last, 0, 0, 1, "0/1", "nothing behind a branch is decoded in its cycle") \
	X(microcode, width, 4, 1, 16, "uops/cycle", "uops from the microcode sequencer") \
	X(microcode, penalty, 2, 0, 20, "cycles", "switch to and from the sequencer") \
	X(uopcache, sets, 0, 0, 1024, "sets", "uop cache; 0: none") \
	X(uopcache, ways, 8, 1, 32, "ways", "") \
	X(uopcache, line_uops, 6, 1, 16, "uops", "uops a way holds") \
	X(uopcache, window, 32, 16, 64, "bytes", "aligned code bytes that one entry's ways describe") \
	X(uopcache, max_ways, 3, 1, 16, "ways", "ways one window may take; more: not cached") \
	X(uopcache, width, 6, 1, 32, "uops/cycle", "delivered on a hit") \
	X(uopcache, whole, 0, 0, 1, "0/1", "ways are read whole, width / line_uops a cycle, each with the next line_uops instructions of the path") \
	X(uopcache, line_words, 0, 0, 64, "words", "displacements and immediates that such a way holds, of an instruction up to two; 0: any number") \
	X(uopcache, whole_again, 0, 0, 4, "cycles", "lost in a window before each further width / line_uops such ways") \
	X(uopcache, latency, 6, 0, 20, "cycles", "fetch to the uop queue on a hit") \
	X(uopcache, penalty, 1, 0, 20, "cycles", "switch from uop cache to decoders and back") \
	X(uopcache, jcc_erratum, 0, 0, 1, "0/1", "windows with a jump crossing or ending on a 32-byte boundary are not cached") \
	X(uopcache, pairs, 0, 0, 1, "0/1", "a window that cannot be cached keeps the other of its aligned pair out, too") \
	X(loop, buffer, 0, 0, 256, "uops", "loop stream detector: loops up to this many uops replay from the queue; 0: none") \
	X(queue, entries, 64, 4, 512, "uops", "uop queue in front of rename (where there is no fetch buffer, the same)") \
	X(branch, lookup, 64, 16, 128, "bytes", "aligned block of code that branch prediction looks up at once where it runs ahead") \
	X(branch, lookups, 1, 1, 8, "blocks/cycle", "of them that it looks up in a cycle") \
	X(branch, taken_bubble, 0, 0, 10, "cycles", "lost by fetch, or by prediction where it runs ahead, after a predicted-taken branch that the first-level BTB holds") \
	X(branch, return_bubble, 0, 0, 20, "cycles", "more of these after a return") \
	X(branch, btb2_bubble, 2, 0, 20, "cycles", "lost when the second-level BTB supplies the target") \
	X(branch, decode_redirect, 7, 1, 40, "cycles", "fetch to fetch, direct branch unknown to the BTB, found at decode") \
	X(branch, mispredict, 1, 0, 40, "cycles", "branch execution to the first fetch on the right path") \
	X(branch, taken_ports, 0, 0, 65535, "ports", "the ports a branch predicted taken may use; 0: as its costs say") \
	X(branch, taken_in_flight, 0, 0, 255, "branches", "taken ones from their prediction to their commit, with the one whose target is being fetched; 0: unlimited") \
	X(branch, in_flight, 48, 0, 250, "branches", "unresolved branches; 0: unlimited") \
	X(branch, btb1_entries, 128, 0, 65536, "entries", "first-level BTB; 0: all in the second") \
	X(branch, btb1_ways, 4, 1, 64, "ways", "") \
	X(branch, btb_entries, 4096, 16, 65536, "entries", "second-level (or only) BTB") \
	X(branch, btb_ways, 4, 1, 64, "ways", "") \
	X(branch, btb_block, 16, 1, 64, "bytes", "branches in one aligned block of so many bytes compete for one set of the BTB") \
	X(branch, ras_entries, 16, 1, 256, "entries", "return address stack") \
	X(branch, override_history, 0, 0, 1000, "", "TAGE's tables of longer histories than this answer later than the others, and override what these said; in ooo alone; 0: all at once") \
	X(branch, override_bubble, 3, 1, 20, "cycles", "lost by fetch, or by prediction where it runs ahead, where they do") \
	X(branch, base_entries, 4096, 16, 1048576, "entries", "bimodal base predictor") \
	X(branch, hysteresis_shift, 2, 0, 4, "log2", "base entries that share a hysteresis bit") \
	X(branch, loop_entries, 0, 0, 1024, "entries", "loop predictor, of 4 ways; 0: none") \
	X(branch, corrector, 0, 0, 1, "0/1", "statistical corrector") \
	X(branch, indirect_entries, 512, 0, 65536, "entries", "indirect target predictor, a tagged table; 0: BTB only") \
	X(branch, indirect_tables, 4, 1, 8, "tables", "tables of the indirect predictor, geometric histories") \
	X(branch, indirect_history, 64, 2, 1000, "", "longest history of the indirect predictor: 4 bits a target, 1 a direction; or taken branches") \
	X(fmt, rows, 0, 0, 4096, "branches", "rows of the miss event table that the CPI stacks FMT and sFMT take for granted; 0: enough")

#define BACKEND_PARAMS(X) \
	X(rename, width, 4, 1, 16, "slots/cycle", "fused-domain uops renamed and dispatched a cycle; the issue slots T") \
	X(rename, whole, 0, 0, 1, "0/1", "1: the slots of one instruction are dispatched in one cycle, or from the start of one where they are more than its; 0: they fill what is left") \
	X(rename, memory, 0, 0, 16, "instructions/cycle", "that access memory, of those renamed and dispatched a cycle; 0: any number") \
	X(rename, latency, 1, 0, 20, "cycles", "uop queue to the ROB") \
	X(rename, move_slots, 0, 0, 64, "moves", "eliminated moves in flight, each bank; 0: moves execute") \
	X(rename, move_release, 2, 0, 20, "cycles", "before a slot of an overwritten eliminated move is free again") \
	X(rename, bind_ports, 0, 0, 1, "0/1", "1: ports are bound at rename by counts (Skylake family); 0: at issue, the first free") \
	X(rename, bind_alternate, 0, 0, 65535, "ports", "ports that binding takes in turn (Skylake: the load ports); 0: none") \
	X(rename, bind_pairs, 0, 0, 65535, "ports", "pairs of ports, the n-th of the lower half with that of the upper: at rename a uop is bound to a pair as if by chance (Zen 5: the ALUs); 0: none") \
	X(rename, bind_turn, 0, 0, 65535, "ports", "ports that uops are bound to at rename in turn, each to the next that it can use (Zen 5: the address pipes); 0: none") \
	X(rename, spread_ports, 0, 0, 65535, "ports", "ports, each of a scheduler of its own, of which each gets at most one uop a cycle that another could take, and all together as many as they are (Zen 3: the ALUs); in ooo alone; 0: none") \
	X(rename, stack_ports, 0, 0, 65535, "ports", "of the uop that adds what pushes and pops left to be added, where the stack pointer itself is read; 0: none") \
	X(rename, stack_addresses, 1, 0, 1, "0/1", "1: addresses and copies of the stack pointer need that uop too; 0: what computes with it alone (AMD)") \
	X(rob, entries, 224, 1, 4096, "slots", "reorder buffer") \
	X(commit, width, 4, 1, 32, "slots/cycle", "fused-domain uops committed a cycle") \
	X(commit, latency, 1, 0, 20, "cycles", "complete to commit") \
	X(issue, latency, 1, 0, 20, "cycles", "dispatch to the earliest issue") \
	X(issue, in_vain, 0, 0, 1, "0/1", "1: a uop bound to a pair (rename.bind_pairs; no other) that waits for a result of one cycle from such a pair takes its ports in vain from when that could have issued") \
	X(prf, integer, 180, 1, 4096, "registers", "physical registers, integer bank, architectural ones included") \
	X(prf, vector, 168, 1, 4096, "registers", "physical registers, vector bank, architectural ones included") \
	X(prf, flags_apart, 0, 0, 1, "0/1", "1: what writes flags alone takes no register, 0: one of the integer bank") \
	X(bypass, fp, 0, 0, 8, "cycles", "integer vector result to floating-point consumer") \
	X(wide, closes, 0, 0, 65535, "ports", "ports closed to vector uops while 512-bit ones are in flight") \
	X(serialize, latency, 0, 0, 1000, "cycles", "extra cycles a serialising instruction holds dispatch") \
	X(flush, latency, 1, 0, 100, "cycles", "commit of a flushing instruction to the next fetch") \
	X(exception, latency, 50, 0, 10000, "cycles", "faulting instruction reaches commit, to the first fetch of the handler") \
	X(syscall, cycles, 100, 0, 100000, "cycles", "a system call's own fixed cost; blocked time costs nothing") \
	X(unmodelled, uops, 1, 1, 255, "uops", "assumed for an instruction without data, which is counted and reported") \
	X(unmodelled, latency, 3, 1, 255, "cycles", "assumed for an instruction without data") \
	X(clock, mhz, 3100, 1, 10000, "MHz", "converts DRAM's nanoseconds; nothing else depends on it")

#define SCHEDULER_PARAMS_ONE(X, n) \
	X(sched##n, entries, 0, 0, 250, "uops", "entries of this scheduler; 0: absent") \
	X(sched##n, ports, 0, 0, 65535, "ports", "the ports it feeds, each one uop a cycle; several feed one port only behind waiting; a port without a scheduler holds no entry")
#define SCHEDULER_PARAMS(X) \
	X(waiting, entries, 0, 0, 250, "uops", "the queue in front of schedulers, where uops wait in order for room in theirs; 0: none") \
	X(waiting, ports, 0, 0, 65535, "ports", "whose schedulers it stands in front of") \
	X(waiting, alternate, 0, 0, 250, "entries", "its schedulers take uops in turn by the slot of dispatch, but those of one with no more entries free than this go to another that has more; 0: a uop goes where the fewest wait for a port; in ooo alone") \
	SCHEDULER_PARAMS_ONE(X, 0) SCHEDULER_PARAMS_ONE(X, 1) SCHEDULER_PARAMS_ONE(X, 2) SCHEDULER_PARAMS_ONE(X, 3) \
	SCHEDULER_PARAMS_ONE(X, 4) SCHEDULER_PARAMS_ONE(X, 5) SCHEDULER_PARAMS_ONE(X, 6) SCHEDULER_PARAMS_ONE(X, 7)

#define LSQ_PARAMS(X) \
	X(load_queue, entries, 72, 1, 1024, "loads", "from dispatch to commit") \
	X(load_queue, restart, 0, 0, 50, "cycles", "loads that cross a page or alias a store start anew, one in so many cycles; 0: as many as like") \
	X(load_queue, holds_entry, 0, 0, 20, "cycles", "that a load keeps its entry of the scheduler beyond its issue: until L1D has answered") \
	X(load_queue, data_ports, 0, 0, 65535, "ports", "that bring in what is loaded (Zen 3: into vector registers), bound in turn; a load that finds its own taken asks for its address port in vain, cycle after cycle; in ooo alone; 0: none") \
	X(store_queue, entries, 56, 1, 1024, "stores", "from dispatch until written to the L1 data cache") \
	X(store_queue, drain_width, 1, 1, 8, "stores/cycle", "written to the L1 data cache a cycle; one that crosses a line is written in two") \
	X(store_queue, merge_bytes, 0, 0, 64, "bytes", "aligned, a power of two: stores to them that follow each other are one write as long as it has not begun, and one beyond them is two; 0: each is its own") \
	X(store_queue, merge_width, 2, 1, 8, "stores/cycle", "where stores are merged: of one such block, that leave the queue for it; of several blocks, one with no other") \
	X(store_queue, part_recent, 0, 0, 50, "cycles", "where stores are merged: for so long behind a write of the same 4 bytes one of a part of them cannot be made") \
	X(store_queue, part_again, 0, 0, 50, "cycles", "later that it is made then, and all behind it") \
	X(store_queue, prefetch, 1, 0, 1, "0/1", "ownership of a store's line is requested when its address is known, not at the head") \
	X(store_queue, ordered, 1, 0, 1, "0/1", "1: a store is written only after the one before it is (TSO); 0: behind a miss others go on") \
	X(forward, latency, 5, 0, 50, "cycles", "store to load, from the cycle the data is known to use; not sooner than a hit of L1D") \
	X(forward, vector, 0, 0, 20, "cycles", "more into a vector register, beside what its loads take longer") \
	X(forward, from_vector, 0, 0, 20, "cycles", "later that the data of a vector register are with the store, for loads of any kind") \
	X(forward, wide, 0, 0, 20, "cycles", "more for a load of 32 bytes or more; in ooo alone") \
	X(forward, over_line, 0, 0, 20, "cycles", "more for a load over the end of a line; in ooo alone") \
	X(forward, narrow, 0, 0, 20, "cycles", "more for a load of fewer bytes than the store") \
	X(forward, offset, 0, 0, 20, "cycles", "more than a hit of L1D for a load that begins elsewhere than the store; nothing where it waits for the data so long") \
	X(forward, renamed, 0, 0, 64, "stores", "the youngest of which a load by the same base and index has the data at rename, in no time; 0: none") \
	X(forward, renamed_plain, 0, 0, 1, "0/1", "of at least 4 bytes alone, by loads that have a slot to themselves or by what stores there again") \
	X(forward, renamed_loads, 0, 0, 64, "loads", "for which that holds where their base is not the stack pointer: the last ones; 0: any number") \
	X(forward, again, 0, 0, 1, "0/1", "1: a load that finds no data in the store's entry yet takes a load port again when they are there; in ooo alone") \
	X(forward, fail_penalty, 12, 0, 100, "cycles", "a load only partly covered by a store in the queue waits for its write and this") \
	X(memdep, entries, 1024, 0, 65536, "entries", "dependence predictor (store sets); 0: loads wait for all older store addresses") \
	X(memdep, clear, 1000000, 1000, 1000000000, "loads", "after so many the predictor forgets all") \
	X(memdep, penalty, 20, 0, 200, "cycles", "violation found to the refetch of the load") \
	X(alias4k, penalty, 0, 0, 50, "cycles", "a load whose low 12 address bits overlap an older store's; 0: not modelled") \
	X(alias4k, again, 0, 0, 1, "0/1", "a load that crosses a line makes both accesses again where that store does not hold all of it, by those bits") \
	X(split, line_latency, 6, 0, 100, "cycles", "extra latency of a load that crosses a line") \
	X(split, page_latency, 7, 0, 100, "cycles", "the same, crossing a page") \
	X(split, line_store, 1, 0, 100, "cycles", "extra drain cycles of a store that crosses a line, its second write among them") \
	X(split, page_store, 24, 0, 100, "cycles", "the same, crossing a page") \
	X(split, vector_ports, 0, 0, 65535, "ports", "of which a vector load that crosses a line takes one more, beside a load port; 0: none") \
	X(split, bound, 0, 0, 1, "0/1", "1: both accesses of a load that crosses a line take the ports that it is bound to, 0: the second any; in ooo alone") \
	X(lock, latency, 18, 0, 200, "cycles", "an atomic read-modify-write, store buffer empty") \
	X(fence, latency, 33, 0, 200, "cycles", "a full fence, store buffer empty") \
	X(repeat, startup, 15, 0, 200, "cycles", "a rep string before its first iteration") \
	X(repeat, bytes, 32, 1, 64, "bytes/cycle", "a fast rep movs or stos moves") \
	X(repeat, slow, 2, 1, 64, "cycles/iteration", "a rep string that is not movs or stos")

#define CACHE_PARAMS_ONE(X, level, size_, ways_, latency_, least_, mshrs_) \
	X(level, size, size_, 0, 1 << 30, "bytes", "capacity; 0: absent") \
	X(level, ways, ways_, 1, 64, "ways", "") \
	X(level, line, 64, 16, 256, "bytes", "") \
	X(level, latency, latency_, least_, 1000, "cycles", "hit, from the start of the access (L1D: load to use; others: from the request in L1)") \
	X(level, mshrs, mshrs_, 1, 1024, "lines", "outstanding misses")
#define CACHE_WIDTH_PARAMS(X, level, bw_) \
	X(level, bandwidth, bw_, 1, 256, "bytes/cycle", "to the level above (L1: to the core)") \
	X(level, banks, 1, 1, 64, "banks", "each takes one access a cycle; bandwidth is that of one")
#define MEMORY_PARAMS(X) \
	CACHE_PARAMS_ONE(X, l1i, 32768, 8, 1, 0, 8) \
	CACHE_PARAMS_ONE(X, l1d, 32768, 8, 5, 1, 12) CACHE_WIDTH_PARAMS(X, l1d, 64) \
	X(l1d, simple_latency, 4, 1, 20, "cycles", "load to use of an integer load with a simple address whose base was loaded") \
	X(l1d, victim_ports, 0, 0, 65535, "ports", "of loads, none of which issues one in the cycle in which L1D reads a changed line that it evicts; in ooo alone; 0: none") \
	X(l1d, victim_again, 0, 0, 1, "0/1", "victim_ports close for another cycle where they did between the two accesses of a load over a line, once for each line evicted; in ooo alone") \
	X(l1d, fill_writes, 0, 0, 1, "0/1", "1: a line that comes into L1D takes a cycle in which no store is written; in ooo alone") \
	X(l1d, set_fill, 0, 0, 100, "cycles", "from one line that comes into a set to the next, at least; what that takes the place of is there while it waits (in ooo alone); 0: no limit") \
	CACHE_PARAMS_ONE(X, l2, 1048576, 16, 14, 1, 16) CACHE_WIDTH_PARAMS(X, l2, 64) \
	X(l2, write_bandwidth, 64, 1, 256, "bytes/cycle", "from the level above, evicted lines") \
	X(l2, arrays, 8, 1, 64, "arrays", "that hold its data, each the lines of some addresses in turn") \
	X(l2, array_busy, 0, 0, 100, "cycles", "that an array takes for each line that it gives; 0: no limit") \
	X(l2, duplex, 0, 0, 1, "0/1", "1: evicted lines come down beside what goes up, 0: they take turns") \
	CACHE_PARAMS_ONE(X, llc, 1441792, 11, 80, 1, 48) CACHE_WIDTH_PARAMS(X, llc, 16) \
	X(llc, write_bandwidth, 32, 1, 256, "bytes/cycle", "the same") X(llc, duplex, 0, 0, 1, "0/1", "the same") \
	X(llc, victim, 0, 0, 1, "0/1", "1: filled by evictions of the level above (non-inclusive), 0: by every fill") \
	X(dram, latency_ns, 75, 0, 10000, "ns", "controller and interconnect, the banks apart") \
	X(dram, cas_ns, 14, 0, 1000, "ns", "column access") \
	X(dram, rcd_ns, 14, 0, 1000, "ns", "row to column") \
	X(dram, rp_ns, 14, 0, 1000, "ns", "precharge") \
	X(dram, bandwidth, 12000, 1, 1000000, "MB/s", "of the channel, as one core can use it") \
	X(dram, banks, 16, 1, 1024, "banks", "over all ranks") \
	X(dram, row, 8192, 64, 65536, "bytes", "an open row") \
	X(dram, reads, 64, 1, 1024, "requests", "outstanding reads") \
	X(dram, writes, 64, 1, 1024, "requests", "queued writes before reads wait for them") \
	X(itlb, entries, 128, 1, 65536, "pages", "") X(itlb, ways, 8, 1, 1024, "ways", "entries: fully associative") \
	X(dtlb, entries, 64, 1, 65536, "pages", "") X(dtlb, ways, 4, 1, 1024, "ways", "entries: fully associative") \
	X(dtlb, again, 0, 0, 1, "0/1", "1: a load or store whose translation is missing issues once more when it is there; in ooo alone") \
	X(dtlb, vain_ports, 0, 0, 65535, "ports", "that a uop takes in vain which waits for a load whose translation is missing, when it would have hit L1D, and what waits for that uop in turn; in ooo alone; 0: none") \
	X(stlb, entries, 1536, 0, 65536, "pages", "second level, code and data; 0: none") X(stlb, ways, 12, 1, 1024, "ways", "") \
	X(stlb, latency, 9, 0, 100, "cycles", "a hit") \
	X(stlb, busy, 0, 0, 20, "cycles", "that a lookup lets no more than stlb.lookups - 1 others begin; in ooo alone; 0: no limit") \
	X(stlb, lookups, 1, 1, 8, "lookups", "at a time, each stlb.busy cycles; in ooo alone") \
	X(walk, levels, 4, 1, 5, "levels", "page table levels") \
	X(walk, cached, 32, 0, 1024, "entries", "page-directory entries the walker caches, each level above the last; 0: none") \
	X(walk, walkers, 1, 1, 8, "walks", "page walks at a time") \
	X(walk, overhead, 8, 0, 200, "cycles", "a walk's own cycles beside its loads, which go through the L2 (L1D where there is none)") \
	X(page, bits, 12, 12, 30, "log2 bytes", "page size the TLBs see: 12 or 21") \
	X(page, colour_seed, 1, 0, 2147483647, "", "seed of the virtual-to-physical hash; 0: identity") \
	X(prefetch, l1_stride, 0, 0, 256, "entries", "stride prefetcher by instruction into L1D; 0: none") \
	X(prefetch, l1_stride_bytes, 2048, 0, 65536, "bytes", "longest stride it follows") \
	X(prefetch, l1_next, 0, 0, 1, "0/1", "next line into L1D after an ascending access to a recently filled line") \
	X(prefetch, l1_next_miss, 0, 0, 1, "0/1", "next line into L1D on every miss (BOOM)") \
	X(prefetch, l1i_next, 0, 0, 8, "lines", "next lines into L1I on every miss") \
	X(prefetch, l2_adjacent, 0, 0, 1, "0/1", "the other line of a 128-byte pair on an L2 miss") \
	X(prefetch, l2_stream, 0, 0, 256, "pages", "streamer into L2: pages tracked; 0: none") \
	X(prefetch, l2_stream_ahead, 20, 1, 64, "lines", "how far it runs ahead") \
	X(prefetch, l2_stream_degree, 2, 1, 8, "lines", "prefetches an access may trigger")

#define CORE_PARAMS(X) FRONTEND_PARAMS(X) BACKEND_PARAMS(X) SCHEDULER_PARAMS(X) LSQ_PARAMS(X) MEMORY_PARAMS(X)

/* X(field, key, default, help): text values. */
#define CORE_STRINGS(X) \
	X(isa, "core.isa", "x86-64", "x86-64, aarch64 or riscv64") \
	X(cpu, "core.llvm_cpu", "", "LLVM's name of the CPU whose costs are the base") \
	X(features, "core.llvm_features", "", "LLVM's feature string") \
	X(qemu_cpu, "core.qemu_cpu", "max", "the CPU QEMU is to emulate") \
	X(costs, "core.costs", "", "the cost file beside the description") \
	X(ports, "core.ports", "", "port names, in the order of the bits") \
	X(units, "core.units", "", "unpipelined units") \
	X(predictor, "branch.predictor", "tage", "tage, gshare (hybrid bimodal/gshare) or bimodal") \
	X(tage, "branch.tage", "", "tagged tables of TAGE: entries/history/tag bits[/ways] each, shortest history first") \
	X(history, "branch.history", "directions", "what TAGE's histories hold: directions; taken-path: taken branches and their targets; taken-branches: their addresses alone; taken-conditionals: those of conditional ones") \
	X(wrong_path, "branch.wrong_path", "full", "what is modelled of the wrong path: none, instructions (fetched), or full (executed too)") \
	X(l1i_replacement, "l1i.replacement", "plru", "lru, plru, qlru, random") \
	X(l1d_replacement, "l1d.replacement", "plru", "lru, plru, qlru, random") \
	X(l2_replacement, "l2.replacement", "qlru", "lru, plru, qlru, random") \
	X(llc_replacement, "llc.replacement", "lru", "lru, plru, qlru, random")

/* What --ideal takes: the part never costs anything. */
#define CORE_IDEALS(X) \
	X(l1i, "no access misses the L1 instruction cache") X(l2i, "code that misses L1I always hits L2") \
	X(itlb, "no code access misses its TLB") X(l1d, "no data access misses the L1 data cache") \
	X(l2d, "data that misses L1D always hits L2") X(dtlb, "no data access misses its TLB") \
	X(branch, "every branch is predicted rightly")

struct core_ideal {
#define X(name, help) bool name;
	CORE_IDEALS(X)
#undef X
};

enum {
	CORE_TEXT = 384,               /* bytes of a text value */
#define X(...) + 1
	NR_CORE_PARAMS = CORE_PARAMS(X),
	NR_CORE_STRINGS = CORE_STRINGS(X),
	NR_CORE_IDEALS = CORE_IDEALS(X),
#undef X
};

struct core_desc {
#define X(group, name, def, min, max, unit, help) int32_t group##_##name;
	CORE_PARAMS(X)
#undef X
#define X(field, key, def, help) char field[CORE_TEXT];
	CORE_STRINGS(X)
#undef X
	struct core_ideal ideal;
	char name[64];                 /* "skylake-sp" */
	char title[128];               /* "Intel Skylake-SP / Cascade Lake" */
	char path[512];                /* the file it was read from */
	char leaves_out[4096];         /* what the model does not model of the real one, lines */
	char source[4096];             /* where the figures are from, lines */
	const char *port_names[CORE_PORTS + 1];  /* NULL-terminated; never freed, so that a struct may be copied */
	const char *unit_names[CORE_UNITS + 1];
	uint8_t port_twin[CORE_PORTS]; /* a variant's (vary_code.h): the port that is the second half of this one; 0: none */
	char costs_path[512];          /* resolved beside the file that names it; empty for none */
	const char *given[NR_CORE_PARAMS + NR_CORE_STRINGS]; /* where each value is from: see core_desc_source() */
};

/* One row of the table, for listings. */
struct core_param {
	const char *name;              /* "rob.entries" */
	const char *unit, *help;
	int32_t min, max, def;
	unsigned offset;               /* of the int32_t in struct core_desc */
};
extern const struct core_param core_params[NR_CORE_PARAMS];
extern const unsigned nr_core_params;

/* The same for the text values. */
struct core_string {
	const char *name;              /* "branch.tage" */
	const char *help, *def;
	unsigned offset;               /* of the char array in struct core_desc */
};
extern const struct core_string core_strings[NR_CORE_STRINGS];

/* The parts that --ideal takes. */
struct core_ideal_part {
	const char *name, *help;
	unsigned offset;               /* of the bool in struct core_ideal */
};
extern const struct core_ideal_part core_ideals[NR_CORE_IDEALS];

/*
 * A description is a key file: a [group] for each group of parameters, `name = value` for each parameter. A value
 * is a number (decimal or 0x; K and M behind it for 1024 and 1024²), or for a set of ports a list of their names.
 * Besides, [core] has `inherit` (a core whose values hold where this file says nothing), `title`, and the lists
 * `leaves_out` and `source`, items separated by `;`. A line that begins with a tab continues the one before. The
 * comment above a key is where its value is from; it holds for the keys below too, up to the next comment, and a
 * group's for the group.
 *
 * Reads a description by name or by path (what has a `/` or ends in `.core`). Names are searched in
 * $CYCLEWISE_DATA/cores, then in the build tree or installation the program belongs to. 0 or -errno: -ENOENT
 * unknown core, -EINVAL unknown key or value out of range (file and key named), -ELOOP inheritance in a circle.
 */
int core_desc_load(struct core_desc *d, const char *name_or_path);
/*
 * Where the value of a parameter or text is from: the comment above its key (in the parent where inherited), or
 * the option that set it; "" where the file does not say; NULL for a default, or an unknown name. Never freed.
 */
const char *core_desc_source(const struct core_desc *d, const char *param);
/* "rob.entries=512", "l2.replacement=lru"; -EINVAL with the nearest parameter's name as the remedy. */
int core_desc_set(struct core_desc *d, const char *assignment);
/* "dram.latency_ns=0.5": factor, rounded to nearest, held within the range. A group ("dram") scales nothing: -EINVAL. */
int core_desc_scale(struct core_desc *d, const char *assignment);
/* The ports and the twins of those that have one. */
uint16_t core_desc_with_twins(const struct core_desc *d, uint16_t ports);
/* "l1d,branch". */
int core_desc_ideal(struct core_desc *d, const char *parts);
/* Those that are set in `more`, too; whether that changes anything. */
bool core_desc_idealise(struct core_desc *d, const struct core_ideal *more);
/* Names of the shipped cores, sorted; free with g_strfreev(). */
char **core_desc_names(void);
/* The core an ISA gets when none is named. */
const char *core_default_name(const char *isa);

#endif
