/*
 * The parameters of a core model: what a description in data/cores/ can say, `--set` and `--scale` change,
 * and `cyclewise cores NAME` lists. One table; the struct, the reader and the listing are expanded from it.
 *
 * X(group, name, default, minimum, maximum, unit, help[, kept_for]). A parameter is called group.name. All are
 * integers; what is a list or a name is in CORE_STRINGS. A cycle is a cycle of the core's clock. One that fewer
 * than three files of data/cores set to another value than its default says what it is kept for, such as whose
 * error it lowers and by how much.
 */
#ifndef CYCLEWISE_CORE_PARAMS_H
#define CYCLEWISE_CORE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

enum { CORE_PORTS = 16, CORE_UNITS = 8, CORE_SCHEDULERS = 8, CORE_BINDS = 8 };

#define FRONTEND_PARAMS(X) \
	X(fetch, bytes, 16, 4, 64, "bytes/cycle", "aligned code bytes fetched and predecoded per cycle") \
	X(fetch, width, 5, 1, 16, "instructions/cycle", "instructions predecoded per cycle") \
	X(fetch, latency, 4, 1, 20, "cycles", "fetch to decode") \
	X(fetch, prefix_stall, 0, 0, 20, "cycles", "predecode stall for a length-changing prefix; 0: none", \
	  "three cycles each such prefix on Skylake (uiCA)") \
	X(fetch, queue, 25, 1, 256, "instructions", "instruction queue (fetch buffer) between fetch and decode") \
	X(fetch, packets, 0, 0, 256, "packets", \
	  "fetch target queue: packets in flight from fetch to commit; 0: unlimited", \
	  "BOOM's fetch target queue of 60 packets (TEA)") \
	X(fetch, runahead, 0, 0, 64, "packets", \
	  "decoupled front end: packets predicted ahead of fetch, prefetching L1I; 0: coupled") \
	X(decode, width, 4, 1, 16, "instructions/cycle", "instructions decoded per cycle", \
	  "6 on Golden Cove, 3 on Cortex-A72: what bounds code that misses the uop cache, or has none") \
	X(decode, complex, 1, 0, 16, "decoders", "decoders that take instructions of several uops") \
	X(decode, latency, 1, 0, 20, "cycles", "decode to the uop queue") \
	X(decode, macro_fusion, 1, 0, 1, "0/1", "1: compare-and-branch pairs macro-fuse into one uop") \
	X(decode, fusion_across, 1, 0, 1, "0/1", "1: pairs macro-fuse across a line of code too") \
	X(decode, branch_last, 0, 0, 1, "0/1", "1: nothing behind a branch is decoded in its cycle", \
	  "Skylake's decoders, as uiCA has them") \
	X(microcode, width, 4, 1, 16, "uops/cycle", "uops from the microcode sequencer per cycle", \
	  "no microcode on Cortex-A72: there it is the decoders' width") \
	X(microcode, penalty, 2, 0, 20, "cycles", "switch to the microcode sequencer, and back") \
	X(uopcache, sets, 0, 0, 1024, "sets", "uop cache; 0: none") \
	X(uopcache, ways, 8, 1, 32, "ways", "associativity of the uop cache") \
	X(uopcache, line_uops, 6, 1, 16, "uops", "uops per way") \
	X(uopcache, window, 32, 16, 64, "bytes", "aligned code bytes that the ways of one entry describe", \
	  "64 bytes on Zen and from Ice Lake on, 32 before: 0.3 points of the error of blocks on Zen 5") \
	X(uopcache, max_ways, 3, 1, 16, "ways", \
	  "ways that one window may take; a window that needs more is not cached") \
	X(uopcache, width, 6, 1, 32, "uops/cycle", "uops delivered per cycle on a hit") \
	X(uopcache, whole, 0, 0, 5, "cycles", \
	  "ways are read whole, line_uops instructions each: so long for width / line_uops of a window; 0: not", \
	  "0.4 points of the error of blocks on Zen 5: 18 to 24 instructions in 64 bytes take 3.0 cycles") \
	X(uopcache, latency, 6, 0, 20, "cycles", "fetch to the uop queue on a hit", \
	  "the refill behind a misprediction: 16 cycles on Skylake and Zen 4") \
	X(uopcache, jcc_erratum, 0, 0, 1, "0/1", \
	  "1: windows with a jump that crosses or ends on a 32-byte boundary are not cached", \
	  "Skylake since its microcode of 2019: jumps over 32 bytes go through the decoders") \
	X(uopcache, pairs, 0, 0, 1, "0/1", \
	  "1: a window that cannot be cached keeps the other window of its aligned pair out", \
	  "Skylake: both halves of a 64-byte line are cached, or neither (uiCA)") \
	X(loop, buffer, 0, 0, 256, "uops", \
	  "loop stream detector: largest loop that streams from the uop queue; 0: none") \
	X(queue, entries, 64, 4, 512, "uops", \
	  "uop queue in front of rename; the fetch buffer too, where there is no other") \
	X(branch, lookup, 64, 16, 128, "bytes", "aligned code bytes that a decoupled predictor looks up at once", \
	  "32 bytes of code at once on Neoverse N1") \
	X(branch, lookups, 1, 1, 8, "blocks/cycle", \
	  "blocks of branch.lookup bytes that a decoupled predictor looks up per cycle", \
	  "2.8 points of the error of kernels on Zen 5: two blocks a cycle, of up to 6 instructions each") \
	X(branch, taken_bubble, 0, 0, 10, "cycles", \
	  "bubble of fetch (of prediction, if decoupled) behind a taken branch in the first-level BTB", \
	  "a cycle behind taken branches on Skylake and, where its first BTB is its second level, Zen 2") \
	X(branch, return_bubble, 0, 0, 20, "cycles", "further bubble behind a return") \
	X(branch, btb2_bubble, 2, 0, 20, "cycles", "bubble when the second-level BTB supplies the target") \
	X(branch, decode_redirect, 7, 1, 40, "cycles", \
	  "fetch to fetch: a direct branch that misses the BTB, redirected at decode") \
	X(branch, mispredict, 1, 0, 40, "cycles", "branch execution to the first fetch on the correct path") \
	X(branch, taken_ports, 0, 0, 65535, "ports", "ports for branches predicted taken; 0: as the costs say", \
	  "taken branches on one port of Sandy Bridge and Skylake") \
	X(branch, in_flight, 48, 0, 250, "branches", "unresolved branches in flight; 0: unlimited") \
	X(branch, btb1_entries, 128, 0, 65536, "entries", "first-level BTB; 0: none") \
	X(branch, btb1_ways, 4, 1, 64, "ways", "associativity of the first-level BTB") \
	X(branch, btb_entries, 4096, 16, 65536, "entries", "second-level (or only) BTB") \
	X(branch, btb_ways, 4, 1, 64, "ways", "associativity of the second-level (or only) BTB") \
	X(branch, ras_entries, 16, 1, 256, "entries", "return address stack") \
	X(branch, base_entries, 4096, 16, 1048576, "entries", "bimodal base predictor") \
	X(branch, hysteresis_shift, 2, 0, 4, "log2", "base entries that share a hysteresis bit") \
	X(branch, indirect_entries, 512, 0, 65536, "entries", \
	  "indirect target predictor, a tagged table; 0: BTB only") \
	X(branch, indirect_tables, 4, 1, 8, "tables", "tables of the indirect predictor, with geometric histories", \
	  "Zen 3, whose indirect targets are told apart by 8 taken branches; assumed for Cortex-A72") \
	X(branch, indirect_history, 64, 2, 1000, "", \
	  "longest history of the indirect predictor: bits (4 a target, 1 a direction) or taken branches") \
	X(fmt, rows, 0, 0, 4096, "branches", \
	  "rows of the miss event table that the CPI stacks FMT and sFMT assume; 0: enough", \
	  "off in all cores; the CPI stacks FMT and sFMT with a table that is too small")

#define BACKEND_PARAMS(X) \
	X(rename, width, 4, 1, 16, "slots/cycle", \
	  "fused-domain uops renamed and dispatched per cycle: the issue slots T") \
	X(rename, whole, 0, 0, 1, "0/1", \
	  "1: an instruction's slots dispatch in one cycle, or from its start if too many; 0: as they fit (ooo only)", \
	  "0.1 points of the error of kernels on Zen 3: two slots and one behind them take a cycle each") \
	X(rename, memory, 0, 0, 16, "instructions/cycle", \
	  "instructions that access memory, renamed and dispatched per cycle; 0: any number", \
	  "less than 0.1 points; three accesses of memory a cycle on Zen 3 and 4, where slots alone would give four") \
	X(rename, latency, 1, 0, 20, "cycles", "uop queue to the reorder buffer") \
	X(rename, move_slots, 0, 0, 64, "moves", "eliminated moves in flight, each register bank; 0: moves execute") \
	X(rename, stack_ports, 0, 0, 65535, "ports", \
	  "ports of the uop by which the stack engine updates the stack pointer before a read; 0: none") \
	X(rob, entries, 224, 1, 4096, "slots", "reorder buffer") \
	X(commit, width, 4, 1, 32, "slots/cycle", "fused-domain uops committed per cycle") \
	X(commit, latency, 1, 0, 20, "cycles", "completion to commit") \
	X(issue, latency, 1, 0, 20, "cycles", "dispatch to the earliest issue") \
	X(prf, integer, 180, 1, 4096, "registers", \
	  "physical registers, integer bank, architectural registers included") \
	X(prf, vector, 168, 1, 4096, "registers", "physical registers, vector bank, architectural registers included") \
	X(bypass, fp, 0, 0, 8, "cycles", "integer vector result to floating-point consumer", \
	  "VPADDD to VADDPS and back on Skylake: 6.4 cycles a pair, 5 without") \
	X(wide, closes, 0, 0, 65535, "ports", "ports closed to vector uops while 512-bit uops are in flight", \
	  "Skylake-SP's port 1, closed to vectors beside 512-bit uops") \
	X(flush, latency, 1, 0, 100, "cycles", "commit of a flushing instruction to the next fetch", \
	  "BOOM's refetch behind a flush") \
	X(exception, latency, 50, 0, 10000, "cycles", \
	  "faulting instruction at commit to the first fetch of the handler", \
	  "users who know a better value: it is the same in all cores") \
	X(syscall, cycles, 100, 0, 100000, "cycles", "fixed cost of a system call; blocked time costs nothing", \
	  "users who know a better value: what a system call costs depends on the kernel") \
	X(unmodelled, uops, 1, 1, 255, "uops", \
	  "assumed for an instruction without data, which is counted and reported", \
	  "users who know a better value: it is the same in all cores") \
	X(unmodelled, latency, 3, 1, 255, "cycles", "assumed for an instruction without data", \
	  "users who know a better value: it is the same in all cores") \
	X(clock, mhz, 3100, 1, 10000, "MHz", "converts DRAM's nanoseconds; nothing else depends on it")

#define SCHEDULER_PARAMS_ONE(X, n, ...) \
	X(sched##n, entries, 0, 0, 250, "uops", "scheduler entries; 0: absent", __VA_ARGS__) \
	X(sched##n, ports, 0, 0, 65535, "ports", \
	  "ports it issues to, one uop a cycle each; schedulers share a port only behind waiting", __VA_ARGS__)
#define SCHEDULER_PARAMS(X) \
	X(waiting, entries, 0, 0, 250, "uops", "non-scheduling queue, in order, in front of schedulers; 0: none", \
	  "0.2 points of the error of kernels on Zen 3, 0.7 on Zen 4: vectors in flight behind a miss") \
	X(waiting, ports, 0, 0, 65535, "ports", "ports whose schedulers the non-scheduling queue feeds") \
	SCHEDULER_PARAMS_ONE(X, 0) SCHEDULER_PARAMS_ONE(X, 1) SCHEDULER_PARAMS_ONE(X, 2) SCHEDULER_PARAMS_ONE(X, 3) \
	SCHEDULER_PARAMS_ONE(X, 4) SCHEDULER_PARAMS_ONE(X, 5) SCHEDULER_PARAMS_ONE(X, 6) \
	SCHEDULER_PARAMS_ONE(X, 7, "Cortex-A72's second queue for vectors, and one port of Zen 4 without a limit")

#define LSQ_PARAMS(X) \
	X(load_queue, entries, 72, 1, 1024, "loads", "load queue, from dispatch to commit") \
	X(load_queue, restart, 0, 0, 50, "cycles", \
	  "interval of replays of loads that cross a page or alias a store; 0: no limit", \
	  "loads over pages, or that alias a store, on Skylake: 3.6 to 3.9 cycles each") \
	X(load_queue, holds_entry, 0, 0, 20, "cycles", \
	  "issue of a load to the release of its scheduler entry, when L1D has answered") \
	X(load_queue, data_ports, 0, 0, 65535, "ports", \
	  "ports of loaded data, bound in turn; a load whose port is busy replays; 0: none (ooo only)", \
	  "1.1 points of the error of kernels on Zen 3: vector loads from two pipes") \
	X(store_queue, entries, 56, 1, 1024, "stores", "store queue, from dispatch to the write into L1D") \
	X(store_queue, drain_width, 1, 1, 8, "stores/cycle", \
	  "stores written into L1D per cycle; one that crosses a line is written in two") \
	X(store_queue, merge_bytes, 0, 0, 64, "bytes", \
	  "aligned block within which successive stores coalesce; a store across two is two; 0: none", \
	  "2.4 points of the error of blocks on Zen 3: stores to one half of a line, half a cycle each") \
	X(store_queue, part_again, 0, 0, 50, "cycles", \
	  "coalescing: retry delay of a part of 4 bytes less than 5 cycles behind a write of them; 0: none", \
	  "0.6 points of the error of blocks on Zen 3: stores of 2 bytes to lines in turn, 5 cycles for two") \
	X(store_queue, prefetch, 1, 0, 1, "0/1", \
	  "1: ownership of a line is requested when the store's address is known; 0: at the head", \
	  "BOOM asks for a line when the store is at the head") \
	X(store_queue, ordered, 1, 0, 1, "0/1", \
	  "1: stores are written in order (TSO); 0: others pass a store that misses") \
	X(forward, latency, 5, 0, 50, "cycles", \
	  "store-to-load forwarding: store data known to use; not sooner than an L1D hit") \
	X(forward, vector, 0, 0, 20, "cycles", "extra into a vector register, beside what its loads take longer", \
	  "a cycle more into vector registers on Skylake") \
	X(forward, from_vector, 0, 0, 20, "cycles", "extra until the data of a vector register is with the store", \
	  "0.4 points of the error of kernels on Zen 3 and 4: 6.9 cycles where general registers' take 6.0") \
	X(forward, wide, 0, 0, 20, "cycles", "extra for a load of 32 bytes or more (ooo only)", \
	  "0.14 points of the error of kernels on Zen 3: 12.25 cycles by 32 bytes, where 8 and 16 take 11.4") \
	X(forward, narrow, 0, 0, 20, "cycles", "extra for a load of fewer bytes than the store", \
	  "two cycles more on Skylake") \
	X(forward, offset, 0, 0, 20, "cycles", \
	  "extra to an L1D hit for a load at another byte than the store, unless it waits for data so long", \
	  "Zen 4: 12 cycles where a load begins at another byte than the store, whose data is there") \
	X(forward, renamed, 0, 0, 64, "stores", \
	  "store-load renaming: last stores whose data loads by the same base and index get; 0: none", \
	  "7.0 points of the error of blocks on Zen 3") \
	X(forward, renamed_loads, 0, 0, 64, "loads", \
	  "last loads that renaming covers, if the base is not the stack pointer; 0: any number", \
	  "0.7 points of the error of blocks on Zen 3: additions to memory, of up to 24 in a loop, take a cycle") \
	X(forward, again, 0, 0, 1, "0/1", \
	  "1: a load that finds no store data yet takes a load port again when it is there (ooo only)", \
	  "0.5 points of the error of kernels on Zen 5: sums kept in memory") \
	X(forward, fail_penalty, 12, 0, 100, "cycles", \
	  "failed forwarding: the load waits for the store's write and this") \
	X(memdep, entries, 1024, 0, 65536, "entries", \
	  "dependence predictor (store sets); 0: loads wait for all older store addresses") \
	X(memdep, clear, 1000000, 1000, 1000000000, "loads", "loads after which the dependence predictor forgets all", \
	  "BOOM's interval; others keep a million loads") \
	X(memdep, penalty, 20, 0, 200, "cycles", "memory-order violation to the refetch of the load") \
	X(alias4k, penalty, 0, 0, 50, "cycles", \
	  "4 KiB aliasing: low 12 address bits of a load overlap an older store's; 0: not modelled", \
	  "Skylake: loads 4 KiB behind a store") \
	X(split, line_latency, 6, 0, 100, "cycles", "extra latency of a load that crosses a line") \
	X(split, page_latency, 7, 0, 100, "cycles", "extra latency of a load that crosses a page") \
	X(split, line_store, 1, 0, 100, "cycles", \
	  "extra drain cycles of a store that crosses a line, its second write included", \
	  "a store over a line: half a cycle on Zen 5; a trap on BOOM") \
	X(split, page_store, 24, 0, 100, "cycles", "extra drain cycles of a store that crosses a page") \
	X(split, vector_ports, 0, 0, 65535, "ports", \
	  "ports of which a line-crossing vector load takes one beside a load port; 0: none", \
	  "0.35 points of the error of kernels on Zen 3: a vector load over a line a cycle, two within one") \
	X(lock, latency, 18, 0, 200, "cycles", "atomic read-modify-write, store buffer empty") \
	X(fence, latency, 33, 0, 200, "cycles", "full fence, store buffer empty") \
	X(repeat, startup, 15, 0, 200, "cycles", "rep string instruction before its first iteration", \
	  "20 cycles on Zen 4, 15 elsewhere") \
	X(repeat, bytes, 32, 1, 64, "bytes/cycle", "bytes that a fast rep movs or stos moves per cycle", \
	  "users who know a better value: it is the same in all cores with rep strings") \
	X(repeat, slow, 2, 1, 64, "cycles/iteration", "iteration of other rep string instructions", \
	  "users who know a better value: it is the same in all cores with rep strings")

#define CACHE_PARAMS_ONE(X, level, size_, ways_, latency_, least_, mshrs_, ...) \
	X(level, size, size_, 0, 1 << 30, "bytes", "capacity; 0: absent") \
	X(level, ways, ways_, 1, 64, "ways", "associativity") \
	X(level, latency, latency_, least_, 1000, "cycles", \
	  "hit, from the start of the access (L1D: load to use; others: from the request in L1)", __VA_ARGS__) \
	X(level, mshrs, mshrs_, 1, 1024, "lines", "outstanding misses (MSHRs, fill buffers)", __VA_ARGS__)
#define CACHE_WIDTH_PARAMS(X, level, bw_) \
	X(level, bandwidth, bw_, 1, 256, "bytes/cycle", "to the level above (L1D: to the core)")
#define MEMORY_PARAMS(X) \
	X(cache, line, 64, 16, 256, "bytes", "line size of all caches", \
	  "caches of other lines: 64 bytes in all cores") \
	X(cache, duplex, 0, 0, 1, "0/1", \
	  "1: evictions come down to L2 and the last level beside fills going up; 0: they take turns", \
	  "1.6 points of the error of kernels on Zen 3: what streams through L2 and L3") \
	CACHE_PARAMS_ONE(X, l1i, 32768, 8, 1, 0, 8, \
	  "none on asplos06 beyond fetch; BOOM's L1I waits for one line, Cortex-A72's for 4") \
	CACHE_PARAMS_ONE(X, l1d, 32768, 8, 5, 1, 12) CACHE_WIDTH_PARAMS(X, l1d, 64) \
	X(l1d, simple_latency, 4, 1, 20, "cycles", \
	  "load to use of an integer load with a simple address whose base was loaded", \
	  "4 cycles by simple addresses on Skylake, 5 from Ice Lake on") \
	X(l1d, victim_ports, 0, 0, 65535, "ports", \
	  "load ports that close while L1D reads out a dirty victim; fills keep stores out; 0: neither (ooo only)", \
	  "0.75 points of the error of kernels on Zen 3: what streams through L1D") \
	X(l1d, set_fill, 0, 0, 100, "cycles", \
	  "least interval of fills of one set; the victim stays until then; 0: no limit (ooo only)") \
	CACHE_PARAMS_ONE(X, l2, 1048576, 16, 14, 1, 16) CACHE_WIDTH_PARAMS(X, l2, 64) \
	X(l2, write_bandwidth, 64, 1, 256, "bytes/cycle", "from the level above, evicted lines") \
	CACHE_PARAMS_ONE(X, llc, 1441792, 11, 80, 1, 48) CACHE_WIDTH_PARAMS(X, llc, 16) \
	X(llc, write_bandwidth, 32, 1, 256, "bytes/cycle", "from the level above, evicted lines", \
	  "16 bytes a cycle on Neoverse N1's system cache") \
	X(llc, victim, 0, 0, 1, "0/1", "1: filled by evictions of the level above (non-inclusive); 0: by every fill") \
	X(dram, latency_ns, 75, 0, 10000, "ns", "controller and interconnect, without the banks") \
	X(dram, cas_ns, 14, 0, 1000, "ns", "column access (CAS)") \
	X(dram, rcd_ns, 14, 0, 1000, "ns", "row to column delay (RCD)") \
	X(dram, rp_ns, 14, 0, 1000, "ns", "precharge (RP)") \
	X(dram, bandwidth, 12000, 1, 1000000, "MB/s", "of the channel, as one core can use it") \
	X(dram, banks, 16, 1, 1024, "banks", "over all ranks") \
	X(dram, row, 8192, 64, 65536, "bytes", "row buffer", \
	  "4096 bytes on Cortex-A72's board") \
	X(dram, reads, 64, 1, 1024, "requests", "outstanding reads") \
	X(dram, writes, 64, 1, 1024, "requests", "queued writes before reads wait for them", \
	  "shorter queues of writes in BOOM and Cortex-A72's board") \
	X(itlb, entries, 128, 1, 65536, "pages", "first-level instruction TLB") \
	X(itlb, ways, 8, 1, 1024, "ways", "associativity; as many as entries: fully associative") \
	X(dtlb, entries, 64, 1, 65536, "pages", "first-level data TLB") \
	X(dtlb, ways, 4, 1, 1024, "ways", "associativity; as many as entries: fully associative") \
	X(dtlb, again, 0, 0, 1, "0/1", \
	  "1: a load or store that misses the DTLB issues once more, when translated (ooo only)", \
	  "0.2 points of the error of kernels on Zen 4 and 5: loads to many pages, half as many a cycle") \
	X(stlb, entries, 1536, 0, 65536, "pages", "second-level TLB, code and data; 0: none") \
	X(stlb, ways, 12, 1, 1024, "ways", "associativity of the second-level TLB") \
	X(stlb, latency, 9, 0, 100, "cycles", "hit in the second-level TLB") \
	X(walk, levels, 4, 1, 5, "levels", "page table levels", \
	  "three levels on BOOM (Sv39); one on asplos06, whose walks have no latency of their own") \
	X(walk, cached, 32, 0, 1024, "entries", "page-walk cache: entries for each upper level; 0: none") \
	X(walk, walkers, 1, 1, 8, "walks", "concurrent page walks") \
	X(walk, overhead, 8, 0, 200, "cycles", \
	  "a walk's own cycles beside its loads, which go through L2 (L1D where there is none)") \
	X(page, bits, 12, 12, 30, "log2 bytes", "page size the TLBs see: 12 or 21", \
	  "21 where a program's pages are of 2 MiB; 12 in all cores") \
	X(page, colour_seed, 1, 0, 2147483647, "", "seed of the virtual-to-physical hash; 0: identity", \
	  "another spread of pages over sets and banks; the same in all cores") \
	X(prefetch, l1_stride, 0, 0, 256, "entries", "L1D stride prefetcher, by instruction; 0: none") \
	X(prefetch, l1_next, 0, 0, 2, "0/1/2", \
	  "next line into L1D: 1: on an ascending access to a recently filled line; 2: on every miss (BOOM)") \
	X(prefetch, l1i_next, 0, 0, 8, "lines", "next lines into L1I on every miss") \
	X(prefetch, l2_adjacent, 0, 0, 1, "0/1", "1: the other line of a 128-byte pair on an L2 miss", \
	  "the other line of a pair on Zen 5") \
	X(prefetch, l2_stream, 0, 0, 256, "pages", "L2 streamer: pages tracked; 0: none") \
	X(prefetch, l2_stream_ahead, 20, 1, 64, "lines", "lines that the L2 streamer runs ahead")

#define CORE_PARAMS(X) FRONTEND_PARAMS(X) BACKEND_PARAMS(X) SCHEDULER_PARAMS(X) LSQ_PARAMS(X) MEMORY_PARAMS(X)

/*
 * X(field, key, default, help): text values. branch.history: `directions`; of taken branches addresses and targets
 * (`taken-path`), or addresses alone (`taken-branches`); addresses of taken conditional ones (`taken-conditionals`).
 * rename.bind: enum bind_kind says what each group takes; what none takes issues on the first port that is free.
 */
#define CORE_STRINGS(X) \
	X(isa, "core.isa", "x86-64", "x86-64, aarch64 or riscv64") \
	X(cpu, "core.llvm_cpu", "", "LLVM's name of the CPU whose costs are the base") \
	X(features, "core.llvm_features", "", "LLVM's feature string") \
	X(qemu_cpu, "core.qemu_cpu", "max", "the CPU QEMU is to emulate") \
	X(costs, "core.costs", "", "the cost file beside the description") \
	X(ports, "core.ports", "", "port names, in the order of the bits") \
	X(units, "core.units", "", "unpipelined units") \
	X(predictor, "branch.predictor", "tage", "tage, gshare (hybrid bimodal/gshare) or bimodal") \
	X(tage, "branch.tage", "", \
	  "tagged tables of TAGE: entries/history/tag bits[/ways] each, shortest history first") \
	X(history, "branch.history", "directions", \
	  "what TAGE's histories hold: directions, taken-path, taken-branches or taken-conditionals") \
	X(bind, "rename.bind", "none", \
	  "ports chosen at rename: 'KIND: PORTS; ...' of count, alternate, spread, turn, pair; none: at issue") \
	X(wrong_path, "branch.wrong_path", "full", \
	  "what is modelled of the wrong path: none, instructions (fetched), or full (executed too)") \
	X(l1i_replacement, "l1i.replacement", "plru", "replacement policy: lru, plru, qlru or random") \
	X(l1d_replacement, "l1d.replacement", "plru", "replacement policy: lru, plru, qlru or random") \
	X(l2_replacement, "l2.replacement", "qlru", "replacement policy: lru, plru, qlru or random") \
	X(llc_replacement, "llc.replacement", "lru", "replacement policy: lru, plru, qlru or random")

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

/* Rules by which rename binds uops to ports. The first group that takes a uop binds it. */
enum bind_kind {
	BIND_COUNT,                    /* what can use no others: the least loaded (Skylake) */
	BIND_ALTERNATE,                /* what can use just these two: one after the other (Skylake: loads) */
	BIND_SPREAD,                   /* what can use no others, a scheduler each: one a cycle to each, n to all */
	BIND_TURN,                     /* what can use any of them: round-robin, to the next that it can use */
	BIND_PAIR,                     /* what can use any of them: to a pair, pseudo-random; what is woken too soon
	                                * takes slots of its pair, and is replayed */
	NR_BIND_KINDS,
};
struct core_bind {
	uint8_t kind;                  /* enum bind_kind */
	uint16_t ports;
};

struct core_desc {
#define X(group, name, def, min, max, unit, help, ...) int32_t group##_##name;
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
	struct core_bind binds[CORE_BINDS]; /* rename.bind, in its order */
	unsigned nr_binds;
	uint8_t port_twin[CORE_PORTS]; /* a variant's (vary_code.h): the port that is this one's second half; 0: none */
	char costs_path[512];          /* resolved beside the file that names it; empty for none */
	const char *given[NR_CORE_PARAMS + NR_CORE_STRINGS]; /* where each value is from: see core_desc_source() */
};

/* One row of the table, for listings. */
struct core_param {
	const char *name;              /* "rob.entries" */
	const char *unit, *help;
	const char *kept_for;          /* "" where many cores set it */
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
/* "dram.latency_ns=0.5": factor, rounded to nearest, held within the range. A group ("dram"): -EINVAL. */
int core_desc_scale(struct core_desc *d, const char *assignment);
/* "p23", or "p0|p10" where ports have no common letters and single digits; `buf` of 128 bytes is enough. */
const char *ports_name(const struct core_desc *d, uint16_t ports, char *buf);
/* 0, or -EINVAL where `value` of the parameter is no power of two. */
int core_desc_power_of_two(const struct core_desc *d, const char *param, int32_t value);
/* The s-th scheduler; entries 0: there is none. */
struct core_scheduler { int32_t entries, ports; } core_desc_scheduler(const struct core_desc *d, unsigned s);
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
