-- The shop of shop.sql where what delivers code holds `square` up: a wider core, and none of its latencies relaxed.
UPDATE run SET value = 8 WHERE key = 'width';
DELETE FROM insn_figure WHERE method = 'chains' AND insn = 2 AND name NOT IN ('share', 'class');
INSERT INTO insn_figure (method, insn, name, value, ordinal) VALUES
	('chains', 2, 'bound/decode', 0.5, 28), ('chains', 2, 'bound/decode.erratum', 0.3, 33),
	('chains', 2, 'bound/branch.taken', 0.2, 34);
DELETE FROM figure WHERE method = 'relaxed';
INSERT INTO figure (method, name, value, ordinal) VALUES
	('advice', 'Base/decode', 1150, 0), ('advice', 'Base/erratum', 1180, 1), ('advice', 'Base/taken', 1190, 2),
	('advice', 'delivery', 1000, 3), ('advice', 'events', 750, 4);
