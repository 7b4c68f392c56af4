-- Beside any run: processes, intervals with stacks and figures of their own. No view shows them, and none adds them up.
INSERT OR REPLACE INTO process (process, parent, program) VALUES (0, NULL, 'make'), (1, 0, './shop');
UPDATE thread SET process = 1 WHERE thread = 0;
INSERT INTO interval (interval, thread, begin_instructions, begin_units, instructions, units) VALUES
	(0, 0, 0, 0, 1000, 500 * 720720), (1, 0, 1000, 500 * 720720, 1410, 700 * 720720);
INSERT INTO interval_cycles (interval, signature, executions, units) VALUES
	(0, 0, 900, 400 * 720720), (0, 64, 100, 100 * 720720), (1, 0, 1400, 500 * 720720), (1, 8, 10, 200 * 720720);
INSERT INTO interval_figure (method, interval, name, value, ordinal) VALUES
	('topdown', 0, 'frontend_latency', 100, 0), ('topdown', 1, 'frontend_latency', 200, 1), ('fmt', 0, 'base', 300, 2);
