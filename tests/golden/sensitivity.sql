-- A run that latency limits, and beside it, only together, two others.
INSERT OR REPLACE INTO run VALUES ('version', '0.0.0'), ('program', './dot'), ('arguments', '[]'),
	('isa', 'x86-64'), ('core', 'skylake-sp'), ('model', 'abstract'), ('complete', 1), ('exit_status', 0),
	('units_per_cycle', 720720), ('cycles_units', 100000 * 720720), ('instructions', 150000), ('uops', 0), ('width', 4),
	('seed', 1), ('emulator', 'qemu-x86_64 7.2.0'), ('notes', '[]'),
	('unit.latency', 'cycles'), ('unit.p01', 'uops/cycle'), ('unit.rob', 'slots'), ('unit.memory.latency', 'ns'), ('unit.tlb', 'pages');
INSERT INTO thread (thread, instructions, uops, units, slots_total, slots_filled, slots_issued,
	slots_retired, slots_recovery) VALUES
	(0, 150000, 0, 100000 * 720720, 0, 0, 0, 0, 0);
INSERT INTO figure (method, name, value, ordinal) VALUES
	('sensitivity', 'rob/capacity', 224, 0), ('sensitivity', 'rob/0.500', 104000, 1), ('sensitivity', 'rob/2.000', 99900, 2),
	('sensitivity', 'latency/capacity', 1, 3), ('sensitivity', 'latency/2.000', 198000, 4), ('sensitivity', 'latency/0.500', 51000, 5),
	('sensitivity', 'p01/capacity', 2, 6), ('sensitivity', 'p01/0.500', 130000, 7), ('sensitivity', 'p01/2.000', 100000, 8),
	('sensitivity', 'memory.latency/capacity', 35, 9), ('sensitivity', 'memory.latency/0.500', 97000, 10),
	('sensitivity', 'tlb/capacity', 64, 11),
	('sensitivity', 'latency+memory.latency/2.000', 48000, 12), ('sensitivity', 'latency+rob/2.000', 40000, 13),
	('sensitivity', 'memory.latency+rob/2.000', 97000, 14), ('sensitivity', 'latency+memory.latency+rob/2.000', 39950, 15);
