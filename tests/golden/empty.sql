-- Nothing was counted.
INSERT OR REPLACE INTO run VALUES ('version', '0.0.0'), ('program', './shop'), ('arguments', '[]'), ('isa', 'riscv64'),
	('core', 'boom'), ('model', 'ooo'), ('complete', 1), ('exit_status', 0), ('units_per_cycle', 720720), ('cycles_units', 0),
	('instructions', 0), ('width', 4), ('notes', '[]');
