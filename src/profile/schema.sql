-- The profile's tables. Cycles are in units of 1/720720 cycle (run.units_per_cycle): integer shares that sum exactly.
-- Whatever is here may be queried by users; columns are added, never renamed.
-- A file to which views, triggers, virtual tables or expressions were added is refused: nothing in it may run (open.c).
-- The file's application_id is 0x43575031 ('CWP1'); its user_version is that of this schema.
-- x_error: the standard error of x, where x is an estimate, in the same unit; NULL: x is exact.
-- All tables but those of intervals are of the whole run: what the latter say is in the former, too, and adds nothing.
CREATE TABLE run (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- keys: version, program, arguments (JSON array), isa, core, model, complete (0/1), exit_status, signal, cycles_units,
--   instructions, uops, executions, units_per_cycle, period, seed, emulator, window, forks, execs, lost, notes (JSON array),
--   width (issue slots a cycle), options (JSON object: set, scale, ideal); of estimates cycles_units_error,
--   instructions_error, uops_error
CREATE TABLE parameter (name TEXT PRIMARY KEY, value) WITHOUT ROWID;   -- the core's, as used
-- Processes are numbered 0, 1, ... as they began; an exec begins one, too, whose parent is the one that called it.
-- parent: a lower number; NULL: none, the run began with it.
CREATE TABLE process (process INTEGER PRIMARY KEY, parent INT, program TEXT);
-- Threads are numbered through the run, whatever their processes.
CREATE TABLE thread (thread INTEGER PRIMARY KEY, instructions INT, uops INT, units INT,
	slots_total INT, slots_filled INT, slots_issued INT, slots_retired INT, slots_recovery INT,
	process INT DEFAULT 0, instructions_error REAL, uops_error REAL, units_error REAL, slots_total_error REAL,
	slots_filled_error REAL, slots_issued_error REAL, slots_retired_error REAL, slots_recovery_error REAL);
CREATE TABLE region (name TEXT PRIMARY KEY, ordinal INT, entries INT, instructions INT, units INT,
	slots_total INT, slots_filled INT, slots_issued INT, slots_retired INT, slots_recovery INT,
	entries_error REAL, instructions_error REAL, units_error REAL, slots_total_error REAL, slots_filled_error REAL,
	slots_issued_error REAL, slots_retired_error REAL, slots_recovery_error REAL) WITHOUT ROWID;
-- Modules are numbered in the order of their paths, functions in that of module and address (JIT code last),
-- sources in that of their paths: numbers depend on what was executed, never on when.
CREATE TABLE module (module INTEGER PRIMARY KEY, path TEXT, build_id TEXT);
-- Of modules without a build-id: a hash of their code.
CREATE TABLE module_code (module INTEGER PRIMARY KEY, identity TEXT);
CREATE TABLE source (source INTEGER PRIMARY KEY, path TEXT UNIQUE);
-- Hashes of the text of sources: as it was compiled, where the compiler left one, else as it was during the run; and
-- whether it had then been edited after the build (0/1).
CREATE TABLE source_text (source INTEGER PRIMARY KEY, md5 TEXT, newer INT);
-- A function as the symbol table has it; module NULL: JIT code, its addresses the run's own.
CREATE TABLE function (function INTEGER PRIMARY KEY, module INT, symbol TEXT, linkage TEXT, address INT, size INT,
	source INT, line INT);
-- A function that was inlined where something was executed; source, line: where it is declared.
CREATE TABLE inline_function (function INTEGER PRIMARY KEY, module INT, symbol TEXT, linkage TEXT, source INT, line INT);
-- A static instruction that was executed. address: the module's own; pc: the run's.
CREATE TABLE insn (insn INTEGER PRIMARY KEY, module INT, address INT, pc INT, length INT, bytes BLOB, function INT,
	"offset" INT, source INT, line INT, disassembly TEXT, form TEXT, unmodelled INT);
CREATE INDEX insn_function ON insn (function, address);
-- The inline chain of an instruction: depth 0 is the innermost inlined function (of inline_function) and where it was
-- called.
CREATE TABLE inlined (insn INT, depth INT, symbol TEXT, source INT, line INT, function INT,
	PRIMARY KEY (insn, depth)) WITHOUT ROWID;
-- The golden reference: per instruction and signature (bits of record/timed.h), executions that ended with it, and cycles.
CREATE TABLE cycles (insn INT, signature INT, executions INT, units INT, executions_error REAL, units_error REAL,
	PRIMARY KEY (insn, signature)) WITHOUT ROWID;
-- Sampling methods: samples by instruction and signature; weight in units of one sample / 720720.
CREATE TABLE sample (method TEXT, insn INT, signature INT, weight INT, PRIMARY KEY (method, insn, signature)) WITHOUT ROWID;
-- compute, stalled, drained, flushed
CREATE TABLE state (thread INT, state TEXT, units INT, units_error REAL, PRIMARY KEY (thread, state)) WITHOUT ROWID;
CREATE TABLE component (method TEXT, component TEXT, units INT, ordinal INT, units_error REAL,
	PRIMARY KEY (method, component)) WITHOUT ROWID; -- CPI stacks
-- Committed instructions with the event.
CREATE TABLE event (event TEXT PRIMARY KEY, count INT, ordinal INT, count_error REAL) WITHOUT ROWID;
CREATE TABLE unmodelled (form TEXT PRIMARY KEY, executions INT, executions_error REAL) WITHOUT ROWID;
-- What else a method says: errors, periods, correlations, latencies; of the run, and of single instructions.
CREATE TABLE figure (method TEXT, name TEXT, value REAL, ordinal INT, value_error REAL,
	PRIMARY KEY (method, name)) WITHOUT ROWID;
CREATE TABLE insn_figure (method TEXT, insn INT, name TEXT, value REAL, ordinal INT, value_error REAL,
	PRIMARY KEY (method, insn, name)) WITHOUT ROWID;
-- Parts of the run: an interval begins where its thread has executed begin_instructions in begin_units, and is
-- instructions and units long. Those of a thread do not overlap; together they need not be all of it.
CREATE TABLE interval (interval INTEGER PRIMARY KEY, thread INT, begin_instructions INT, begin_units INT,
	instructions INT, units INT, instructions_error REAL, units_error REAL);
-- An interval's stack, as `cycles` over all instructions. Its events: the executions of the signatures that have them.
CREATE TABLE interval_cycles (interval INT, signature INT, executions INT, units INT, executions_error REAL,
	units_error REAL, PRIMARY KEY (interval, signature)) WITHOUT ROWID;
CREATE TABLE interval_figure (method TEXT, interval INT, name TEXT, value REAL, ordinal INT, value_error REAL,
	PRIMARY KEY (method, interval, name)) WITHOUT ROWID;
-- For people: instructions by cycles.
CREATE VIEW hot AS
	SELECT m.path AS module, printf('0x%x', i.address) AS address, f.symbol, i."offset", s.path AS file, i.line,
		i.disassembly, sum(c.executions) AS executions, sum(c.units) / 720720.0 AS cycles
	FROM cycles c JOIN insn i USING (insn) LEFT JOIN module m USING (module) LEFT JOIN function f USING (function)
		LEFT JOIN source s ON s.source = i.source
	GROUP BY c.insn ORDER BY sum(c.units) DESC, m.path IS NULL, m.path, i.address, i.insn;
