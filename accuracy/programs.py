"""The group of whole programs: unmodified Debian binaries on inputs that are made here, the same every time.

Native time is user time. The kernel knows a process's time as a whole exactly, but which part of it was the user's by its ticks alone:
so the fastest run of a batch counts, times the user's part in all of them. Each round is a batch, of which those runs count that have
the core for themselves before and after, by the clock's width. Programs run long enough (some
hundred million instructions) that what the kernel does at their start is a small part, of the time and of what it leaves in the caches.
"""
import math
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from case import Case
from measure import NATIVE, Failed

BATCH_SECONDS = 2.0  # time of a batch, at least
LEAST_RUNS = 8
MOST_SECONDS = 10.0  # by the wall, to find so many runs that had the core for themselves

PERL = r"""
my %count; my $text = do { local $/; <STDIN> };
$count{lc $1}++ while $text =~ /(\w+)/g;
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$_ $count{$_}\n" for @top[0 .. 99];
"""
PYTHON = r"""
import sys
primes = [n for n in range(2, 3000) if all(n % d for d in range(2, int(n ** 0.5) + 1))]
words = {}
for line in sys.stdin:
    for word in line.split():
        words[word] = words.get(word, 0) + 1
print(len(primes), sorted(words.items(), key=lambda item: (-item[1], item[0]))[:20])
"""
SQL = """
create table t (a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 8000)
insert into t select i, i * 7919 % 10007, 'row ' || (i * 31 % 997) from n;
create index t_b on t (b);
select count(*), sum(b) from t where c like 'row 1%';
select c, count(*), avg(b) from t group by c order by 2 desc, 1 limit 20;
select count(*) from t x join t y on x.b = y.a where y.c < x.c;
update t set c = c || '!' where b % 3 = 0;
select max(length(c)) from t;
"""
AWK = '{ for (i = 1; i <= NF; i++) { n[length($i)]++; s += length($i) } } END { for (l in n) print l, n[l]; print s }'
C = """
struct node { struct node *left, *right; int key, value; };
%s
"""
FUNCTION = """
static int find%(n)d(const struct node *at, int key) { while (at && at->key != key) at = key < at->key ? at->left : at->right; return at ? at->value : -%(n)d; }
int sum%(n)d(const int *v, int n) { int s = %(n)d; for (int i = 0; i < n; i++) s += v[i] * (i ^ s) %% (n + %(n)d + 1); return s; }
int both%(n)d(const struct node *at, const int *v, int n) { return find%(n)d(at, n) + sum%(n)d(v, n > 9 ? n - 9 : n); }
"""


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


def inputs(folder):
    """Writes all inputs; {name: path}."""
    content = {"large": text(4_000_000), "text": text(1_600_000), "small": text(500_000), "smaller": text(200_000), "sql": SQL, "pl": PERL, "py": PYTHON,
               "c": C % "".join(FUNCTION % {"n": n} for n in range(8))}
    paths = {}
    for name, data in content.items():
        paths[name] = folder / f"input.{name}"
        paths[name].write_text(data)
    for name, source, command in (("gz", "large", ["gzip", "-9n"]), ("xz", "text", ["xz", "-1"]), ("bz2", "text", ["bzip2"])):
        paths[name] = folder / f"input.{name}"
        with open(paths[source], "rb") as plain, open(paths[name], "wb") as packed:
            subprocess.run([*command, "-c"], stdin=plain, stdout=packed, check=True)
    return {name: str(path) for name, path in paths.items()}


def commands(p):
    """{name: (command, standard input or None)}."""
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        "gzip": (["/usr/bin/gzip", "-6", "-c", p["small"]], None),
        "gunzip": (["/usr/bin/gzip", "-dc", p["gz"]], None),
        "xz": (["/usr/bin/xz", "-1", "-T1", "-c", p["small"]], None),
        "unxz": (["/usr/bin/xz", "-dc", p["xz"]], None),
        "bzip2": (["/usr/bin/bzip2", "-c", p["small"]], None),
        "bunzip2": (["/usr/bin/bzip2", "-dc", p["bz2"]], None),
        "sqlite3": (["/usr/bin/sqlite3", ":memory:"], p["sql"]),
        "perl": (["/usr/bin/perl", p["pl"]], p["small"]),
        "python3": (["/usr/bin/python3", "-S", p["py"]], p["small"]),
        "mawk": (["/usr/bin/mawk", AWK], p["text"]),
        "sort": (["/usr/bin/sort", "--parallel=1", p["large"]], None),
        "sed": (["/usr/bin/sed", "-E", r"s/(\w+)er (\w+)/\2 \1/g", p["small"]], None),
        "grep": (["/usr/bin/grep", "-cE", r"([a-z])([a-z])[a-z]*\1\2 .*an\1", p["smaller"]], None),
        "cc1": ([cc1, "-quiet", "-O1", p["c"], "-o", "/dev/null"], None),
    }


def cases(folder, _parameters):
    out = []
    for name, what in commands(inputs(folder)).items():
        case = Case("programs", name, what=what)
        if not os.access(what[0][0], os.X_OK):
            case.failed = "not installed"
        out.append(case)
    return out


def run(command, stdin):
    """What one run to its end used. Its output goes to a file: some programs, grep among them, do less for /dev/null."""
    with open(stdin or os.devnull, "rb") as source, tempfile.TemporaryFile() as sink:
        process = subprocess.Popen(command, stdin=source, stdout=sink, stderr=subprocess.DEVNULL,
                                   env=dict(NATIVE, LC_ALL="C", PYTHONHASHSEED="0", PERL_HASH_SEED="0"))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    if status:
        raise Failed(f"natively: status {status}")
    return usage


def native(case, measure):
    """Cycles of the fastest run of a batch, at the clock before and after it; None where every run was disturbed."""
    allowed, end = sorted(os.sched_getaffinity(0)), time.monotonic() + MOST_SECONDS
    command, stdin = case.what
    user, both, fastest, runs = 0, 0, math.inf, 0

    def enough():
        return (both >= BATCH_SECONDS and runs >= LEAST_RUNS) or time.monotonic() > end

    try:
        while not enough():
            os.sched_setaffinity(0, allowed[:1])
            before, alone = measure.clock()
            while alone and not enough():
                usage = run(command, stdin)
                after, alone = measure.clock()
                user += usage.ru_utime
                both += usage.ru_utime + usage.ru_stime
                if alone:
                    fastest = min(fastest, (usage.ru_utime + usage.ru_stime) * (before + after) / 2)
                    runs += 1
                before = after
            allowed.append(allowed.pop(0))  # a sibling thread is busy: another processor's may not be
    finally:
        os.sched_setaffinity(0, allowed)
    return fastest * user / both * 1e6 if runs else None


def model(case, measure, name):
    """Instructions and cycles under the timing model of that name."""
    command, stdin = case.what
    with open(stdin or os.devnull, "rb") as source, tempfile.TemporaryFile() as sink:
        answer = measure.stat(name, command, stdout=sink, stdin=source)
    return answer["instructions"], answer["cycles"]
