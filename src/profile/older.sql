-- What a profile of version 1 lacks, as temporary views that stand before its tables: one process, no intervals,
-- no estimates.
PRAGMA temp_store = MEMORY;
CREATE TEMP VIEW process AS
	SELECT 0 AS process, NULL AS parent, (SELECT value FROM main.run WHERE key = 'program') AS program;
CREATE TEMP VIEW thread AS SELECT *, 0 AS process, NULL AS instructions_error, NULL AS uops_error, NULL AS units_error,
	NULL AS slots_total_error, NULL AS slots_filled_error, NULL AS slots_issued_error, NULL AS slots_retired_error,
	NULL AS slots_recovery_error FROM main.thread;
CREATE TEMP VIEW region AS SELECT *, NULL AS entries_error, NULL AS instructions_error, NULL AS units_error,
	NULL AS slots_total_error, NULL AS slots_filled_error, NULL AS slots_issued_error, NULL AS slots_retired_error,
	NULL AS slots_recovery_error FROM main.region;
CREATE TEMP VIEW cycles AS SELECT *, NULL AS executions_error, NULL AS units_error FROM main.cycles;
CREATE TEMP VIEW state AS SELECT *, NULL AS units_error FROM main.state;
CREATE TEMP VIEW component AS SELECT *, NULL AS units_error FROM main.component;
CREATE TEMP VIEW event AS SELECT *, NULL AS count_error FROM main.event;
CREATE TEMP VIEW unmodelled AS SELECT *, NULL AS executions_error FROM main.unmodelled;
CREATE TEMP VIEW figure AS SELECT *, NULL AS value_error FROM main.figure;
CREATE TEMP VIEW insn_figure AS SELECT *, NULL AS value_error FROM main.insn_figure;
CREATE TEMP VIEW interval AS SELECT NULL AS interval, NULL AS thread, NULL AS begin_instructions, NULL AS begin_units,
	NULL AS instructions, NULL AS units, NULL AS instructions_error, NULL AS units_error WHERE 0;
CREATE TEMP VIEW interval_cycles AS SELECT NULL AS interval, NULL AS signature, NULL AS executions, NULL AS units,
	NULL AS executions_error, NULL AS units_error WHERE 0;
CREATE TEMP VIEW interval_figure AS SELECT NULL AS method, NULL AS interval, NULL AS name, NULL AS value,
	NULL AS ordinal, NULL AS value_error WHERE 0;
