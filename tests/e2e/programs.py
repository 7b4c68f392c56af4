#!/usr/bin/env python3
"""Real programs of Debian that nobody here wrote: they do what they do without cyclewise, and every cycle is somebody's."""
import contextlib
import glob
import json
import os
import shutil
import subprocess

from lib import COMPILERS, CYCLEWISE, EVENTS, HANG, SANITIZED, WORK, Skip, Tests, check, check_sums, compile_program, cyclewise, profile

tests = Tests()
SLACK = 1e-4  # of a sum of some figures, each rounded for print


def text(size):
    """Text that compresses: numbered lines of common words."""
    words = "where do the cycles of a real program go and why does this instruction wait for that one".split()
    lines, state = [], 1
    while size > 0:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        line = " ".join(words[(state >> shift) % len(words)] for shift in range(8, 60, 4)) + f" {state >> 48}\n"
        lines.append(line)
        size -= len(line)
    return "".join(lines)


def file(name, content):
    path = WORK / name
    path.write_text(content)
    return str(path)


def find(program):
    """Debian's own, not one that a user has put before it in PATH."""
    path = shutil.which(program, path="/usr/bin:/bin")
    if not path:
        raise Skip(f"{program} is not installed")
    return os.path.realpath(path) if program == "python3" else path


def invoke(command, *args, program, env=None):
    """Runs `cyclewise COMMAND --json=FILE ARGS -- PROGRAM`; (JSON, standard output as bytes, standard error)."""
    out = WORK / "out.json"
    done = subprocess.run([CYCLEWISE, command, "--no-progress", f"--json={out}", *args, "--", *program],
                          stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=HANG, cwd=WORK)
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(out.read_text()), done.stdout, done.stderr.decode(errors="replace")


def whole(program, floor, modules, functions=(), env=None, compare=True):
    """Records a program and checks what every profile must have; the report.

    At least `floor` instructions; the module with the most cycles is one of `modules`; one of `functions` is among the
    hottest that have names. Its standard output is that of a native run, unless that is never the same (`compare`).
    """
    path = WORK / "program.cw"
    report, output, errors = invoke("record", "-o", str(path), program=program, env=env)
    check(report["complete"] and report["exit_status"] == 0, f"complete {report['complete']}, notes {report['notes']}: {errors}")
    check([report["program"], *report["arguments"]] == program, f"program {report['program']} {report['arguments']}")
    check(report["instructions"] >= floor, f"{report['instructions']} instructions")
    check(0.05 < report["instructions"] / report["cycles"] < 4, f"{report['instructions']} in {report['cycles']} cycles")
    check_sums(report)
    if compare:
        native = subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, check=True, env=env)
        check(output == native.stdout, f"output differs from a native run's: {output[:200]} {native.stdout[:200]}")

    done = subprocess.run([CYCLEWISE, "report", "--json", str(path)], capture_output=True, text=True, check=True)
    check(json.loads(done.stdout) == report, "report of the file differs from what record said")

    cycles = {}
    for row in report["functions"]:
        name = os.path.basename(row["module"] or "jit")
        cycles[name] = cycles.get(name, 0) + row["cycles"]
    top = max(cycles, key=cycles.get)
    check(any(top.startswith(m) for m in modules), f"the most cycles are in {top}: {sorted(cycles.items(), key=lambda i: -i[1])[:4]}")
    if functions:
        named = [row["symbol"] for row in report["functions"] if row["symbol"]][:5]
        check(any(any(f in name for f in functions) for name in named), f"the hottest functions are {named}")
    rows = report["hot"]
    check(all(a["cycles"] >= b["cycles"] for a, b in zip(rows, rows[1:])), "not the most cycles first")
    check(all(row["executions"] > 0 and row["disassembly"] for row in rows), "a row without executions or text")
    return report


def whole_stat(program, threads=1):
    """`cyclewise stat` of a program: its sums; the JSON."""
    stat, _, _ = invoke("stat", program=program)
    near = lambda a, b, what: check(abs(a - b) <= SLACK, f"{what}: {a}, not {b}")
    near(sum(stat["cpi_stack"].values()), stat["cycles"], "CPI stack")
    check(list(stat["cpi_stack"]) == ["base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch", "long_latency"],
          f"components {list(stat['cpi_stack'])}")
    check(stat["cpi_stack_method"] == "fmt", stat["cpi_stack_method"])
    check(list(stat["states"]) == ["compute", "stalled", "drained", "flushed"], f"states {list(stat['states'])}")
    near(sum(stat["states"].values()), stat["cycles"], "states")
    near(sum(stat["topdown"].values()), 1, "top-down")
    check(all(0 <= part <= 1 for part in stat["topdown"].values()), f"top-down {stat['topdown']}")
    near(stat["ipc"], stat["instructions"] / stat["cycles"], "IPC")
    # Two fused instructions are one.
    check(stat["instructions"] * 2 >= stat["uops"] >= stat["instructions"] / 2, f"{stat['uops']} uops of {stat['instructions']} instructions")
    check(list(stat["events"]) == EVENTS, f"events {list(stat['events'])}")
    check(all(0 <= n <= stat["instructions"] for n in stat["events"].values()), f"events {stat['events']}")
    check(isinstance(stat["unmodelled"]["forms"], list), f"unmodelled {stat['unmodelled']}")
    check(stat["unmodelled"]["instructions"] < stat["instructions"] / 1000, f"unmodelled {stat['unmodelled']}")

    slots = stat["slots"]
    check(slots["total"] >= slots["filled"] >= slots["issued"] >= slots["retired"] > 0, f"slots {slots}")
    check(slots["recovery"] <= slots["total"] - slots["filled"], f"slots {slots}")
    near(slots["total"], slots["width"] * stat["cycles"], "slots")
    classes = {"frontend_bound": slots["total"] - slots["filled"] - slots["recovery"],
               "backend_bound": slots["filled"] - slots["issued"],
               "bad_speculation": slots["issued"] - slots["retired"] + slots["recovery"], "retiring": slots["retired"]}
    for name, amount in classes.items():
        near(stat["topdown"][name], amount / slots["total"], name)

    rows = stat["threads"]
    check([row["thread"] for row in rows] == list(range(len(rows))), "threads are not 0, 1, ...")
    check(len(rows) == threads, f"{len(rows)} threads, not {threads}")
    near(sum(row["cycles"] for row in rows), stat["cycles"], "cycles of threads")
    check(sum(row["instructions"] for row in rows) == stat["instructions"], "instructions of threads")
    for name in ("total", "filled", "issued", "retired", "recovery"):
        check(sum(row["slots"][name] for row in rows) == slots[name], f"{name} slots of threads")
    return stat


@contextlib.contextmanager
def removing_maps(name):
    """Removes the maps of code made at run time that programs write meanwhile, where they have the name."""
    before = set(glob.glob("/tmp/perf-*.map"))
    try:
        yield
    finally:
        for path in set(glob.glob("/tmp/perf-*.map")) - before:
            with open(path, errors="replace") as names:
                ours = name in names.read()
            if ours:
                os.unlink(path)


@tests.case("gzip -9")
def _():
    program = [find("gzip"), "-9", "-c", file("gzip.txt", text(20000))]
    report = whole(program, 10**6, ["gzip"])
    again, _, _ = invoke("run", program=program)
    check(again == report, "run and record differ")
    stat = whole_stat(program)
    check((stat["cycles"], stat["instructions"]) == (report["cycles"], report["instructions"]), "stat and report differ")


@tests.case("xz", long=True)
def _():
    whole([find("xz"), "-c", "-6", file("xz.txt", text(30000))], 10**6, ["liblzma"])


@tests.case("xz -T2")
def _():
    program = [find("xz"), "-c", "-T2", "-1", "--block-size=40000", file("xz2.txt", text(80000))]
    whole(program, 10**6, ["liblzma"])
    stat = whole_stat(program, threads=3)
    check(all(row["instructions"] > 1000 for row in stat["threads"]), f"threads {stat['threads']}")


@tests.case("pigz")
def _():
    # Output of pigz without -T holds the time of the file; threads come and go as the machine lets them.
    whole([find("pigz"), "-c", "-n", "-T", "-p", "2", "-b", "128", file("pigz.txt", text(300000))], 10**6, ["libz", "pigz"])


@tests.case("sqlite3")
def _():
    sql = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
           "SELECT i % 7, count(*), sum(i * i), max(printf('%05d', i * 7919 % 10007)) FROM n GROUP BY 1 ORDER BY 3;")
    whole([find("sqlite3"), ":memory:", sql], 10**6, ["libsqlite3"])


@tests.case("python3")
def _():
    code = "print(sum(i * i % 7 for i in range(20000)), sorted(str(i) for i in range(500))[:3])"
    program = [find("python3"), "-I", "-S", "-c", code]
    env = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
    whole(program, 10**7, ["python3"], ["_PyEval_EvalFrameDefault"], env=env)


@tests.case("perl")
def _():
    code = "my %h; $h{$_ % 97} += $_ for 1 .. 20000; print join(',', map { \"$_=$h{$_}\" } sort { $a <=> $b } keys %h), \"\\n\""
    whole([find("perl"), "-e", code], 10**6, ["perl", "libperl"], ["Perl_"], env=dict(os.environ, PERL_HASH_SEED="0"))


@tests.case("cc1", long=True)
def _():
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    source = "\n".join(f"int f{i}(int a, int b) {{ for (int i = 0; i < b; i++) a += i * {i} ^ a; return a; }}" for i in range(3))
    whole([cc1, "-quiet", "-O1", "-o", "-", file("unit.c", source + "\n")], 10**7, ["cc1", "libc.so"])


@tests.case("openssl speed for a second")
def _():
    # The second is the clock's: on a busy machine the start costs more than what it measures.
    report = whole([find("openssl"), "speed", "-seconds", "1", "-bytes", "1024", "sha256"], 10**6, ["libcrypto", "ld-linux"], compare=False)
    check(report["notes"] == [], f"notes {report['notes']}")
    check(any("libcrypto" in (row["module"] or "") and row["executions"] > 100 for row in report["hot"]), "libcrypto hardly ran")


@tests.case("php with a just-in-time compiler, and the names of its code")
def _():
    script = file("hot.php", "<?php function hot_in_php($n) { $x = 1; for ($i = 0; $i < $n; $i++) $x = ($x * 31 + $i) % 65537; return $x; }"
                             "echo hot_in_php(40000), \"\\n\";")
    options = ["zend_extension=opcache", "opcache.enable_cli=1", "opcache.file_update_protection=0", "opcache.jit_buffer_size=1M",
               "opcache.jit=function", "opcache.jit_debug=16"]  # 16: writes /tmp/perf-PID.map
    with removing_maps("hot_in_php"):
        report = whole([find("php8.2"), "-n", *(word for option in options for word in ("-d", option)), script], 10**7, ["jit", "php", "ld"])
    made = {row["symbol"]: row for row in report["functions"] if row["module"] is None}
    check("JIT$hot_in_php" in made, f"code made at run time: {list(made)[:8]}")
    divides = [row for row in report["hot"] if row["symbol"] == "JIT$hot_in_php" and row["disassembly"].startswith("idiv")]
    check([row["executions"] for row in divides] == [40000], f"the loop's division ran {[row['executions'] for row in divides]} times")
    check(divides[0]["module"] is None and divides[0]["offset"] > 0, f"its place is {divides[0]}")


@tests.case("node, whose threads run on when all is counted")
def _():
    program = [find("node"), "-e", "setTimeout(() => console.log('ended'), 10)"]
    report, output, _ = invoke("run", "--count", "5000000", program=program)
    check(output == b"ended\n", f"output {output}")
    check(report["complete"] and report["exit_status"] == 0, f"complete {report['complete']}, notes {report['notes']}")
    check(report["instructions"] == 5000000, f"{report['instructions']} instructions")
    check_sums(report)


def node():
    script = file("hot.js", "function hot_in_node(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) % 65537; return x }"
                            "let s = 0; for (let k = 0; k < 100; k++) s += hot_in_node(400); console.log(s)")
    program, text_of = [find("node"), "--single-threaded", script], WORK / "node.txt"
    native = subprocess.run(program, capture_output=True, check=True).stdout
    program.insert(1, "--perf-basic-prof")  # writes /tmp/perf-PID.map
    with removing_maps("hot_in_node"):
        report, output, _ = invoke("run", "--report", str(text_of), "--limit", "2000", program=program)
    check(output == native, f"output {output}, not {native}")
    check(report["complete"] and report["exit_status"] == 0 and report["notes"] == [], f"complete {report['complete']}, notes {report['notes']}")
    check(report["instructions"] > 10**8, f"{report['instructions']} instructions")
    check("sum of all components of all instructions: exactly the run's cycles" in text_of.read_text(), "the stacks do not sum to the cycles")
    made = [row["symbol"] for row in report["functions"] if row["module"] is None]
    check(any(name and "hot_in_node" in name for name in made), f"code made at run time: {made[:8]}")
    loop = [row for row in report["hot"] if row["module"] is None and "hot_in_node" in (row["symbol"] or "") and row["executions"] > 20000]
    check(any("mul" in row["disassembly"] for row in loop), f"its loop: {[(row['disassembly'], row['executions']) for row in loop]}")


# Half a billion instructions before its script begins; sanitizers would take half an hour.
if not SANITIZED:
    tests.case("node with its just-in-time compiler, and the names of its code", long=True)(node)


@tests.case("a window that ends while there are threads")
def _():
    program = [find("xz"), "-c", "-T2", "-1", "--block-size=40000", file("xz3.txt", text(160000))]
    native = subprocess.run(program, capture_output=True, check=True).stdout
    stat, output, _ = invoke("stat", "--skip", "3000000", "--count", "3000000", program=program)
    check(output == native, "output differs from a native run's")
    check(stat["complete"] and stat["instructions"] == 3000000, f"complete {stat['complete']}, {stat['instructions']} instructions")
    check(sum(row["instructions"] for row in stat["threads"]) == 3000000, f"threads {stat['threads']}")
    check(sum(row["instructions"] > 0 for row in stat["threads"]) >= 2, f"threads {stat['threads']}")


@tests.case("a shell and its children")
def _():
    path = file("child.txt", text(20000))
    script = f"gzip -c {path} | wc -c; (exit 3); test $? = 3 && ls {path}; exit 7"
    native = subprocess.run([find("sh"), "-c", script], capture_output=True)
    report, done = profile("--", find("sh"), "-c", script, status=7)
    check(native.returncode == 7 and done.stdout == native.stdout.decode(), f"output {done.stdout}")
    check(report["complete"] and report["exit_status"] == 7, f"complete {report['complete']}, exit status {report['exit_status']}")
    check(report["notes"] == ["4 child processes were not profiled"], f"notes {report['notes']}")


def signals(isa):
    report, done = profile("--", compile_program("signals.c", isa))
    check(report["complete"] and report["notes"] == [], f"complete {report['complete']}, notes {report['notes']}")
    check(int(done.stdout) >= 5, f"{done.stdout} signals")
    check_sums(report)
    entered = [row["executions"] for row in report["hot"] if row["symbol"] == "touch" and row["offset"] == 0]
    check(entered == [3000], f"touch was entered {entered} times")


for each in COMPILERS:
    tests.case(f"a program under a fast timer, {each}", sanitize=each == "x86-64")(lambda isa=each: signals(isa))


@tests.case("a log of stages: every attempt begins and ends, as many commit as are counted, the same every time", sanitize=True)
def _():
    logs = [WORK / "first.kanata", WORK / "second.kanata"]
    program = ("perl", "-e", "my %h; $h{$_ * 7919 % 1000}++ for 1..3000; print scalar %h")
    for log in logs:
        profile("--skip", 3000000, "--count", 5000, "--kanata", log, "--", *program, env={**os.environ, "PERL_HASH_SEED": "0"})
    lines = [line.split("\t") for line in logs[0].read_text().splitlines()]
    check(lines[0] == ["Kanata", "0004"] and lines[1][0] == "C=", f"begins with {lines[:2]}")
    kinds = {kind: [line for line in lines if line[0] == kind] for kind in "CILSWR"}
    begun, ended = ([line[1] for line in kinds[kind]] for kind in "IR")
    check(sorted(begun, key=int) == sorted(ended, key=int) == [str(n) for n in range(len(begun))], f"{len(begun)} begin, {len(ended)} end")
    committed = sum(line[3] == "0" for line in kinds["R"])
    check(committed == 5000 and len(begun) > 5100, f"{committed} commit of {len(begun)}")
    check(all(int(line[1]) > 0 for line in kinds["C"]), "time stands still")
    check({line[3] for line in kinds["S"]} == set("FDSXC"), "stages")
    check(len(kinds["W"]) > 1000 and any("+0x" in line[3] for line in kinds["L"]), "arrows, names")
    check(logs[0].read_bytes() == logs[1].read_bytes(), "the logs differ")


@tests.case("annotate code without names by an address", sanitize=True)
def _():
    path = WORK / "nameless.cw"
    report, _ = profile("-o", path, "--count", 1000000, "--", "gzip", "-c", __file__)
    hot = next(row for row in report["hot"] if row["module"] and row["module"].endswith("/gzip"))
    check(hot["symbol"] is None, f"gzip has names: {hot['symbol']}")
    done = cyclewise("annotate", "--json", path, f"{hot['address']} [gzip]")
    check(done.returncode == 0, done.stderr)
    code = json.loads(done.stdout)["code"]
    check(hot["address"] in [row["address"] for row in code] and 33 <= len(code) <= 65, f"{len(code)} instructions")
    check(all(row["executions"] for row in code), "what was never executed")
    check([row["address"] for row in code] == sorted((row["address"] for row in code), key=lambda a: int(a, 16)), "order")
    named = next(row for row in report["hot"] if row["symbol"] and row["offset"])
    done = cyclewise("annotate", "--json", path, f"{named['symbol']}+{named['offset']}")
    check(done.returncode == 0 and json.loads(done.stdout)["functions"][0]["symbol"] == named["symbol"], done.stderr)


@tests.case("annotate")
def _():
    path = WORK / "python.cw"
    report, _, _ = invoke("record", "-o", str(path), program=[find("python3"), "-I", "-S", "-c", "print(sum(range(1000)))"])
    symbol = "_PyEval_EvalFrameDefault"
    done = subprocess.run([CYCLEWISE, "annotate", "--json", str(path), symbol], capture_output=True, text=True, check=True)
    function = json.loads(done.stdout)
    rows = {row["address"]: row for row in report["hot"] if row["symbol"] == symbol}
    shown = {row["address"]: row for row in function["hot"] if row["executions"]}
    check(rows and set(shown) == set(rows), f"{len(shown)} instructions shown, {len(rows)} executed")
    for address, row in rows.items():
        check(shown[address]["cycles"] == row["cycles"] and shown[address]["stack"] == row["stack"], f"{address} differs")
    total = next(row["cycles"] for row in report["functions"] if row["symbol"] == symbol)
    check(abs(sum(row["cycles"] for row in rows.values()) - total) <= SLACK * len(rows), "the function's instructions do not sum to it")
    text_of = subprocess.run([CYCLEWISE, "annotate", str(path), symbol], capture_output=True, text=True, check=True).stdout
    check(symbol in text_of and len(text_of.splitlines()) > len(rows), "text")


if __name__ == "__main__":
    tests.main()
