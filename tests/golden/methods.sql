-- What methods say of a run of 100 cycles: a load that misses, a branch in another function; hand-made samples.
INSERT OR REPLACE INTO run VALUES ('version', '0.0.0'), ('program', './shop'), ('arguments', '[]'), ('isa', 'x86-64'),
	('core', 'skylake-sp'), ('model', 'ooo'), ('complete', 1), ('exit_status', 0), ('units_per_cycle', 720720),
	('cycles_units', 100 * 720720), ('instructions', 40), ('uops', 40), ('width', 4), ('period', 10), ('seed', 1),
	('emulator', 'qemu-x86_64 7.2.0'), ('notes', '[]');
INSERT INTO thread (thread, instructions, uops, units, slots_total, slots_filled, slots_issued,
	slots_retired, slots_recovery) VALUES
	(0, 40, 40, 100 * 720720, 400, 300, 200, 160, 10);
INSERT INTO module VALUES (1, '/home/user/shop', 'c0ffee');
INSERT INTO function VALUES (1, 1, 'total', 'total', 4096, 32, NULL, NULL), (2, 1, 'ring', 'ring', 4352, 16, NULL, NULL);
INSERT INTO insn VALUES
	(1, 1, 4096, 94096, 3, x'488b07', 1, 0, NULL, NULL, 'mov    (%rdi),%rax', 'MOV64rm', 0),
	(2, 1, 4099, 94099, 4, x'480fafc0', 1, 3, NULL, NULL, 'imul   %rax,%rax', 'IMUL64rr', 0),
	(3, 1, 4352, 94352, 2, x'75f4', 2, 0, NULL, NULL, 'jne    1100 <ring>', 'JCC_1', 0);
INSERT INTO cycles (insn, signature, executions, units) VALUES
	(1, 64, 6, 30 * 720720), (1, 448, 2, 30 * 720720), (2, 0, 16, 20 * 720720), (3, 0, 14, 8 * 720720),
	(3, 8, 2, 12 * 720720);
INSERT INTO insn_figure (method, insn, name, value, ordinal) VALUES
	('blocks', 1, 'leader', 1, 0), ('blocks', 2, 'leader', 1, 0), ('blocks', 3, 'leader', 3, 0);
INSERT INTO figure (method, name, value, ordinal) VALUES
	('TEA', 'samples', 10, 0), ('TEA', 'dropped', 0, 1), ('TEA', 'period', 10, 2), ('TEA', 'events', 511, 3),
	('TEA/20', 'samples', 5, 0), ('TEA/20', 'dropped', 0, 1), ('TEA/20', 'period', 20, 2),
	('IBS', 'samples', 6, 0), ('IBS', 'dropped', 4, 1), ('IBS', 'period', 10, 2), ('IBS', 'events', 459, 3),
	('TIP', 'samples', 0, 0), ('TIP', 'dropped', 0, 1), ('TIP', 'period', 10, 2), ('TIP', 'events', 0, 3),
	('stalls', 'eventless_p99', 7, 0), ('fmt', 'overlap', 1.5, 1);
INSERT INTO insn_figure (method, insn, name, value, ordinal) VALUES
	('ProfileMe', 1, 'weight', 80, 0), ('ProfileMe', 1, 'retired', 0.5, 1), ('ProfileMe', 1, 'abort/branch', 0.5, 2),
	('ProfileMe', 1, 'latency/fetch_to_map', 6.25, 3), ('ProfileMe', 1, 'latency/issue_to_retire_ready', 180, 4),
	('ProfileMe', 1, 'wasted_slots', -3.5, 5), ('ProfileMe', 1, 'retired_in_flight', 12.5, 6),
	('ProfileMe', 1, 'exact/retired', 0.75, 7), ('ProfileMe', 1, 'exact/abort/branch', 0.25, 8),
	('ProfileMe', 1, 'exact/latency/fetch_to_map', 6, 9), ('ProfileMe', 1, 'exact/latency/issue_to_retire_ready', 175.5, 10),
	('ProfileMe', 1, 'exact/wasted_slots', 610.25, 11), ('ProfileMe', 1, 'exact/retired_in_flight', 13, 12);
INSERT INTO sample VALUES
	('TEA', 1, 64, 3 * 720720), ('TEA', 1, 448, 3 * 720720), ('TEA', 2, 0, 2 * 720720), ('TEA', 3, 0, 720720), ('TEA', 3, 8, 720720),
	('TEA/20', 1, 64, 2 * 720720), ('TEA/20', 2, 0, 720720), ('TEA/20', 3, 0, 2 * 720720),
	('IBS', 1, 0, 720720), ('IBS', 2, 0, 3 * 720720), ('IBS', 3, 8, 2 * 720720);
INSERT INTO component (method, component, units, ordinal) VALUES
	('fmt', 'base', 70 * 720720, 0), ('fmt', 'l1d', 30 * 720720, 1), ('naive', 'base', -2 * 720720, 0),
	('naive', 'l1d', 102 * 720720, 1),
	('simulation', 'base', 62 * 720720, 0), ('simulation', 'l1d', 34 * 720720, 1), ('simulation', 'branch', 4 * 720720, 2),
	('simulation_inverse', 'base', 62 * 720720, 0), ('simulation_inverse', 'l1d', 33 * 720720, 1), ('simulation_inverse', 'branch', 5 * 720720, 2);
