"""Unmodified Debian programs on inputs that are made here, the same every time: the set reported for `skylake-sp`.

Each is chosen for what it stresses; sizes are such that a run takes some 30 to 120 million instructions, of the short ones, for
what times each run a dozen times, 20 to 75.
"""
import random
import subprocess

from study import Program

CORE = "skylake-sp"

PERL = r"""
my %count; my $text = do { local $/; <STDIN> };
while ($text =~ /(\w+)/g) { $count{lc $1}++ }
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$_ $count{$_}\n" for @top[0 .. 99];
"""
PYTHON = r"""
import sys
words = {}
for line in sys.stdin:
    for word in line.split():
        words[word] = words.get(word, 0) + len(word)
print(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:20])
print(sum(n for n in range(2, 1200) if all(n % d for d in range(2, int(n ** 0.5) + 1))))
"""
LUA = r"""
local bodies = {}
for i = 1, 5 do bodies[i] = { x = i * 1.5, y = i * i * 0.3, z = 1 / i, vx = 0, vy = 0.1 * i, vz = 0, m = 1 / i } end
for step = 1, 1500 do
	for i = 1, 5 do
		local a = bodies[i]
		for j = i + 1, 5 do
			local b = bodies[j]
			local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
			local d2 = dx * dx + dy * dy + dz * dz + 0.01
			local f = 0.001 / (d2 * d2 ^ 0.5)
			a.vx, a.vy, a.vz = a.vx - dx * b.m * f, a.vy - dy * b.m * f, a.vz - dz * b.m * f
			b.vx, b.vy, b.vz = b.vx + dx * a.m * f, b.vy + dy * a.m * f, b.vz + dz * a.m * f
		end
	end
	for i = 1, 5 do local a = bodies[i]; a.x, a.y, a.z = a.x + 0.001 * a.vx, a.y + 0.001 * a.vy, a.z + 0.001 * a.vz end
end
print(string.format("%.9f %.9f", bodies[1].x, bodies[5].z))
"""
SQL = """
create table t (a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
insert into t select i, i * 7919 % 10007, 'row ' || (i * 31 % 997) from n;
create index t_b on t (b);
select count(*), sum(b) from t where c like 'row 1%';
select c, count(*), avg(b) from t group by c order by 2 desc, 1 limit 20;
select count(*) from t x join t y on x.b = y.a where y.c < x.c;
update t set c = c || '!' where b % 3 = 0;
select max(length(c)) from t;
"""
CHESS = """new
easy
level 40 100 0
sd 4
force
usermove e2e4
usermove e7e5
go
quit
"""
GO = """boardsize 9
clear_board
komi 6.5
play b E5
play w C3
play b G3
play w D7
genmove b
quit
"""
C = """
struct node { struct node *left, *right; int key, value; };
%s
"""
FUNCTION = """
static int find%(n)d(const struct node *at, int key) { while (at && at->key != key) at = key < at->key ? at->left : at->right; return at ? at->value : -%(n)d; }
int sum%(n)d(const int *v, int n) { int s = %(n)d; for (int i = 0; i < n; i++) s += v[i] * (i ^ s) %% (n + %(n)d + 1); return s; }
int both%(n)d(const struct node *at, const int *v, int n) { return find%(n)d(at, n) + sum%(n)d(v, n > 9 ? n - 9 : n); }
"""
PATTERN = r"([a-z])([a-z])[a-z]*\1\2 .*an\1"


def text(size):
    """Lines of words, common ones common."""
    draw = random.Random(1)
    syllables = [a + b for a in "bcdfghlmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "ou", "st")]
    words = ["".join(draw.choice(syllables) for _ in range(draw.randint(1, 3))) for _ in range(5000)]
    lines, length = [], 0
    while length < size:
        line = " ".join(words[int(draw.random() ** 2 * draw.random() * len(words))] for _ in range(draw.randint(4, 15)))
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines) + "\n"


def film(width, height, frames):
    """A disc that moves over a grating, as YUV4MPEG2."""
    out = [f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg\n".encode()]
    for frame in range(frames):
        x0, y0 = 20 + 3 * frame, 24 + 2 * frame
        luma = bytes(200 if (x - x0) ** 2 + (y - y0) ** 2 < 300 else 60 + (x * y // 7 + 5 * x) % 64
                     for y in range(height) for x in range(width))
        out += [b"FRAME\n", luma, bytes([118 + frame]) * (width * height // 2)]
    return b"".join(out)


def tune(samples):
    """Two voices and a little noise, 16 bits, one channel, as a WAV file."""
    draw = random.Random(1)
    data, phase = bytearray(), 0
    for i in range(samples):
        phase = (phase + 311 + i // 500) % 65536
        value = abs(phase - 32768) // 3 + (i * 97 % 4096) + draw.randint(-64, 64) - 7000
        data += value.to_bytes(2, "little", signed=True)
    size = len(data)
    return (b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little") + (1).to_bytes(2, "little")
            + (1).to_bytes(2, "little") + (44100).to_bytes(4, "little") + (88200).to_bytes(4, "little") + (2).to_bytes(2, "little")
            + (16).to_bytes(2, "little") + b"data" + size.to_bytes(4, "little") + bytes(data))


def transport(places):
    """A sparse linear programme in CPLEX format: goods from places to places at least cost."""
    draw = random.Random(1)
    cost = [(draw.randint(1, 99), i, j) for i in range(places) for j in range(places)]
    lines = ["Minimize", " cost: " + "\n + ".join(f"{c} x{i}_{j}" for c, i, j in cost), "Subject To"]
    lines += [" out%d: %s <= %d" % (i, " + ".join(f"x{i}_{j}" for j in range(places)), 40 + i) for i in range(places)]
    lines += [" in%d: %s >= %d" % (j, " + ".join(f"x{i}_{j}" for i in range(places)), 20 + j % 17) for j in range(places)]
    return "\n".join([*lines, "End", ""])


def formula(variables, clauses):
    """Three literals a clause, drawn at random, in DIMACS format."""
    draw = random.Random(7)
    lines = [f"p cnf {variables} {clauses}"]
    for _ in range(clauses):
        lines.append(" ".join(str(v if draw.random() < 0.5 else -v) for v in draw.sample(range(1, variables + 1), 3)) + " 0")
    return "\n".join([*lines, ""])


def contents():
    """{name of a file: what is in it}: input.NAME, and short.NAME where the short runs have less to do."""
    full = {"text": text(130_000), "less": text(40_000), "more": text(400_000), "large": text(1_600_000), "sql": SQL, "pl": PERL, "py": PYTHON,
            "lua": LUA, "chess": CHESS, "go": GO, "c": C % "".join(FUNCTION % {"n": n} for n in range(2)),
            "film": film(96, 80, 16), "wav": tune(300_000), "lp": transport(48), "cnf": formula(150, 620)}
    short = {"words": text(40_000), "less": text(10_000), "sql": SQL.replace("4000", "2000"), "py": PYTHON.replace("1200", "500"),
             "lua": LUA.replace("1500", "800"), "go": GO.replace("boardsize 9", "boardsize 7").replace("G3", "F3").replace("D7", "D6"),
             "chess": CHESS.replace("level 40 100 0", "level 40 9000 0"), # minutes: that time ends no search
             "c": C % (FUNCTION.strip().splitlines()[1] % {"n": 0}), "lp": transport(36)}
    return {f"{size}.{name}": data for size, files in (("input", full), ("short", short)) for name, data in files.items()}


def inputs(folder):
    """Writes all inputs."""
    for name, data in contents().items():
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    with open(folder / "input.xz", "wb") as packed:
        subprocess.run(["xz", "-1", "-c", "input.more"], cwd=folder, stdout=packed, check=True)


def programs(short=False):
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    size = "short" if short else "input"

    def of(name, stresses, *command, stdin=None):
        return Program(name, CORE, stresses, command, stdin)

    return [
        of("gzip", "compression: hash chains, literal bytes", "/usr/bin/gzip", "-6", "-c", "input.text"),
        of("bzip2", "compression: sorting, bits", "/usr/bin/bzip2", "-c", "input.text"),
        of("unxz", "decompression: a range decoder, a branch a bit", "/usr/bin/xz", "-dc", "input.xz"),
        of("perl", "an interpreter: hashes, regular expressions", "/usr/bin/perl", "input.pl", stdin="short.words" if short else "input.text"),
        of("python3", "an interpreter: objects, dispatch", "/usr/bin/python3", "-S", "-E", f"{size}.py",
           stdin="short.words" if short else "input.text"),
        of("lua", "an interpreter: floating point, tables", "/usr/bin/lua5.4", f"{size}.lua"),
        of("cc1", "a compiler: much code, pointers", cc1, "-quiet", "-O1", f"{size}.c", "-o", "out.s"),
        of("fairymax", "chess: a table, unpredictable branches", "/usr/games/fairymax", "14", stdin=f"{size}.chess"),
        of("gnugo", "Go: patterns, flood fill", "/usr/games/gnugo", "--mode", "gtp", "--level", "1", "--seed", "1", stdin=f"{size}.go"),
        of("vpxenc", "video: vector kernels, motion search", "/usr/bin/vpxenc", "--codec=vp8", "--quiet", "--threads=1", "--cpu-used=5", "--good",
           "--ivf", "-o", "out.ivf", "input.film"),
        of("flac", "audio: linear prediction", "/usr/bin/flac", "-5", "-s", "-c", "input.wav"),
        of("sqlite3", "SQL: trees of pages, an interpreter", "/usr/bin/sqlite3", ":memory:", stdin=f"{size}.sql"),
        of("grep", "a regular expression with back references", "/usr/bin/grep", "-cE", PATTERN, f"{size}.less"),
        of("sort", "sorting lines: comparisons, memory", "/usr/bin/sort", "--parallel=1", "input.large"),
        of("glpsol", "sparse linear algebra: the simplex method", "/usr/bin/glpsol", "--lp", f"{size}.lp", "-o", "out.lp"),
        of("minisat", "a walk over a graph of clauses", "/usr/bin/minisat", "-verb=0", "input.cnf"),
    ]
