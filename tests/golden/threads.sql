-- A run of two threads that a signal cut short: JIT code with and without a name, marked regions, forms without cost
-- data, notes, a name that is not UTF-8, a window.
INSERT OR REPLACE INTO run VALUES ('version', '0.0.0'), ('program', 'caf' || x'e9'), ('arguments', '[]'),
	('isa', 'aarch64'), ('core', 'cortex-a72'), ('model', 'ooo'), ('complete', 0), ('signal', 9),
	('units_per_cycle', 720720), ('cycles_units', 90 * 720720), ('instructions', 120), ('uops', 130), ('width', 3),
	('seed', 1), ('emulator', 'qemu-aarch64 7.2.0'), ('window', '--roi parse --count 120'),
	('notes', '["2 child processes were not profiled", "a note that is long enough to be broken into two lines by a text that is a hundred columns wide"]');
INSERT INTO thread (thread, instructions, uops, units, slots_total, slots_filled, slots_issued,
	slots_retired, slots_recovery) VALUES
	(0, 80, 85, 60 * 720720, 180, 100, 90, 80, 12), (1, 40, 45, 30 * 720720, 90, 60, 50, 45, 0);
INSERT INTO region (name, ordinal, entries, instructions, units, slots_total, slots_filled, slots_issued, slots_retired,
	slots_recovery) VALUES
	('parse', 0, 4, 60, 30 * 720720, 90, 60, 50, 45, 6),
	('a name that is longer than its column', 1, 1, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO module VALUES (1, '/usr/bin/node', NULL);
INSERT INTO function VALUES (1, NULL, 'LazyCompile:~parse /srv/main.js:3', 'LazyCompile:~parse /srv/main.js:3', 70000, 64, NULL, NULL);
INSERT INTO insn VALUES
	(7, NULL, 70004, 70004, 4, x'00040091', 1, 4, NULL, NULL, 'add    x0, x0, #1', 'ADDXri', 0),
	(8, NULL, 80000, 80000, 4, x'ffffffff', NULL, 0, NULL, NULL, '(bad)', NULL, 1),
	(9, 1, 4096, 900000, 4, x'c0035fd6', NULL, 0, NULL, NULL, 'ret', 'RET', 0);
INSERT INTO cycles (insn, signature, executions, units) VALUES
	(7, 0, 100, 50 * 720720), (7, 32, 1, 20 * 720720), (8, 0, 10, 15 * 720720), (9, 2, 9, 5 * 720720);
INSERT INTO state (thread, state, units) VALUES
	(0, 'compute', 30 * 720720), (0, 'stalled', 30 * 720720), (0, 'drained', 0), (0, 'flushed', 0),
	(1, 'compute', 10 * 720720), (1, 'stalled', 0), (1, 'drained', 15 * 720720), (1, 'flushed', 5 * 720720);
INSERT INTO component (method, component, units, ordinal) VALUES
	('fmt', 'base', 85 * 720720, 0), ('fmt', 'itlb', 5 * 720720, 1);
INSERT INTO event (event, count, ordinal) VALUES ('DR-TLB', 9, 0), ('FL-MO', 1, 1);
INSERT INTO unmodelled (form, executions) VALUES ('SDOT', 10), ('USDOT', 2);
INSERT INTO figure (method, name, value, ordinal) VALUES
	('topdown', 'frontend_latency', 60, 0), ('topdown', 'branch_mispredicts', 27, 1),
	('topdown', 'memory_bound', 15, 2),
	('topdown/thread/0', 'frontend_latency', 40, 0), ('topdown/thread/0', 'branch_mispredicts', 22, 1), ('topdown/thread/0', 'memory_bound', 10, 2),
	('topdown/thread/1', 'frontend_latency', 20, 0), ('topdown/thread/1', 'branch_mispredicts', 5, 1), ('topdown/thread/1', 'memory_bound', 5, 2),
	('topdown/region/parse', 'frontend_latency', 24, 0), ('topdown/region/parse', 'branch_mispredicts', 11, 1),
	('topdown/region/parse', 'memory_bound', 0, 2);
