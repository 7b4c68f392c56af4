-- A complete run of one thread, 1200 cycles: a loop that waits for memory, a function inlined into it, a C++ name,
-- code without lines, a function without a name. The module is not there: nothing that was never executed can be shown.
INSERT OR REPLACE INTO run VALUES ('version', '0.0.0'), ('program', './shop'), ('arguments', '["--orders", "a b"]'),
	('isa', 'x86-64'), ('core', 'skylake-sp'), ('model', 'ooo'), ('complete', 1), ('exit_status', 3),
	('units_per_cycle', 720720), ('cycles_units', 1200 * 720720), ('instructions', 2410), ('uops', 2600), ('width', 4),
	('period', 1000), ('seed', 1), ('emulator', 'qemu-x86_64 7.2.0'), ('notes', '[]'),
	('options', '{"set": ["rob.entries=512"]}'),
	('whatif.0.never', 'ST-LLC'), ('whatif.0.insn', 1), ('whatif.1.never', 'FL-MB'), ('whatif.1.insn', 4),
	('whatif.2.never', 'DR-L1+FL-MB+ST-L1+ST-TLB+ST-LLC'), ('whatif.2.of', 'all 5 together'),
	('whatif.3.insn', 1), ('whatif.3.distance', 4), ('whatif.4.insn', 1), ('whatif.4.distance', 16);
INSERT INTO figure (method, name, value, ordinal) VALUES
	('whatif', 'cycles', 1200, 0), ('whatif', '0/cycles', 900, 1), ('whatif', '0/share', 600, 2),
	('whatif', '1/cycles', 1205, 3), ('whatif', '1/share', 40, 4), ('whatif', '2/cycles', 400, 5), ('whatif', '2/share', 850, 6),
	('whatif', '3/cycles', 1100, 7), ('whatif', '3/share', 800, 8), ('whatif', '4/cycles', 1250, 9), ('whatif', '4/share', 800, 10);
INSERT INTO thread (thread, instructions, uops, units, slots_total, slots_filled, slots_issued,
	slots_retired, slots_recovery) VALUES
	(0, 2410, 2600, 1200 * 720720, 4800, 3100, 2700, 2500, 300);
INSERT INTO module VALUES (1, '/home/user/shop', 'c0ffee');
INSERT INTO source VALUES (1, 'tests/golden/shop.c');
INSERT INTO function VALUES (1, 1, 'total', 'total', 4096, 32, 1, 2), (2, 1, 'shop::till<int>::ring(int)', '_ZN4shop4tillIiE4ringEi', 4352, 16, NULL, NULL);
INSERT INTO insn VALUES
	(1, 1, 4096, 94096, 3, x'488b07', 1, 0, 1, 2, 'mov    (%rdi),%rax', 'MOV64rm', 0),
	(2, 1, 4099, 94099, 4, x'480fafc0', 1, 3, 1, 11, 'imul   %rax,%rax', 'IMUL64rr', 0),
	(3, 1, 4103, 94103, 3, x'4801c6', 1, 7, 1, 7, 'add    %rax,%rsi', 'ADD64rr', 0),
	(4, 1, 4106, 94106, 2, x'75f4', 1, 10, 1, 6, 'jne    1000 <total>', 'JCC_1', 0),
	(5, 1, 4352, 94352, 1, x'c3', 2, 0, NULL, NULL, 'ret', 'RET64', 0),
	(6, 1, 8192, 98192, 2, x'0f05', NULL, 0, NULL, NULL, 'syscall', 'SYSCALL', 0);
INSERT INTO inline_function VALUES (1, 1, 'square', 'square', 1, 11);
INSERT INTO inlined VALUES (2, 0, 'square', 1, 7, 1);
INSERT INTO cycles (insn, signature, executions, units) VALUES
	(1, 0, 300, 100 * 720720), (1, 64, 100, 200 * 720720), (1, 320, 100, 500 * 720720 + 240240), (1, 448, 1, 99 * 720720 + 480480),
	(2, 0, 600, 150 * 720720), (3, 0, 600, 60 * 720720), (4, 0, 590, 30 * 720720), (4, 8, 10, 40 * 720720),
	(5, 1, 9, 10 * 720720), (5, 0, 100, 5 * 720720), (6, 16, 1, 5 * 720720);
INSERT INTO state (thread, state, units) VALUES
	(0, 'compute', 500 * 720720), (0, 'stalled', 600 * 720720), (0, 'drained', 40 * 720720),
	(0, 'flushed', 60 * 720720);
INSERT INTO component (method, component, units, ordinal) VALUES
	('fmt', 'base', 300 * 720720, 0), ('fmt', 'l1i', 10 * 720720, 1), ('fmt', 'l2i', 0, 2), ('fmt', 'itlb', 0, 3),
	('fmt', 'l1d', 150 * 720720, 4), ('fmt', 'l2d', 600 * 720720, 5), ('fmt', 'dtlb', 90 * 720720, 6), ('fmt', 'branch', 50 * 720720, 7), ('fmt', 'long_latency', 0, 8);
INSERT INTO event (event, count, ordinal) VALUES
	('DR-L1', 9, 0), ('DR-TLB', 0, 1), ('DR-SQ', 0, 2), ('FL-MB', 10, 3), ('FL-EX', 1, 4), ('FL-MO', 0, 5),
	('ST-L1', 201, 6), ('ST-TLB', 1, 7), ('ST-LLC', 101, 8);
INSERT INTO insn_figure (method, insn, name, value, ordinal) VALUES
	('causality', 1, 'share', 0.25, 0), ('causality', 1, 'bound/load', 0.75, 1),
	('causality', 1, 'bound/rob', 0.25, 2),
	('causality', 2, 'share', 0.7, 3), ('causality', 2, 'bound/latency', 1, 4), ('causality', 5, 'share', 0.05, 5), ('causality', 5, 'bound/frontend', 1, 6),
	('patterns', 1, 'accesses', 600, 7), ('patterns', 1, 'loads', 1, 8), ('patterns', 1, 'stride', -4096, 9), ('patterns', 1, 'stride_share', 0.75, 10),
	('patterns', 1, 'lines', 512, 11), ('patterns', 1, 'pages', 480, 12), ('patterns', 1, 'page_changes', 0.99, 13), ('patterns', 4, 'branches', 600, 14),
	('patterns', 4, 'kind', 1, 15), ('patterns', 4, 'taken', 0.99, 16), ('patterns', 4, 'flips', 0.02, 17), ('patterns', 4, 'mispredicted', 0.0166, 18),
	('patterns', 4, 'back', 594, 19), ('patterns', 4, 'back_to', 1, 20), ('patterns', 6, 'system_call', 1, 21),
	('chains', 1, 'share', 0.2, 22), ('chains', 1, 'bound/latency', 0.5, 23), ('chains', 1, 'bound/rob', 0.5, 24),
	('chains', 2, 'share', 0.6, 25), ('chains', 2, 'class', 1, 26), ('chains', 2, 'carried', 0.9, 27), ('chains', 2, 'bound/latency', 1, 28),
	('advice', 1, 'ST-LLC/stride', 800, 29), ('advice', 1, 'ST-LLC/stride/4', 1000, 30), ('advice', 1, 'ST-LLC/stride/16', 900, 31),
	('advice', 4, 'FL-MB/seldom', 1180, 32);
INSERT INTO figure (method, name, value, ordinal) VALUES
	('relaxed', 'cycles', 1100, 0), ('relaxed', 'latency.multiply', 1000, 1), ('relaxed', 'latency', 1000, 2);
INSERT INTO run VALUES ('unit.latency.multiply', 'cycles');
