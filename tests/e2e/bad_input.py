#!/usr/bin/env python3
"""What bad input gets: one line that says what and why, one with the remedy, the documented exit status, and
nothing that was already known is lost."""
import json
import os
import pty
import resource
import signal
import subprocess

from lib import CYCLEWISE, HANG, WORK, Skip, Tests, check, check_error, check_sums, compile_program, cyclewise, profile, wait_until

tests = Tests(sanitize=True)
TRUE = "/bin/true"


def ending():
    return compile_program("ending.c", "x86-64")


def write(name, data, mode=0o644):
    path = WORK / name
    path.write_bytes(data)
    path.chmod(mode)
    return str(path)


def elf_header(bits, machine, order=1, kind=2):
    """The first bytes of an ELF file, padded with zeros."""
    small = "little" if order == 1 else "big"
    return (b"\x7fELF" + bytes([bits // 32, order, 1]) + bytes(9)
            + kind.to_bytes(2, small) + machine.to_bytes(2, small)).ljust(512, b"\0")


def report_of(path, *args):
    """The profile in `path` as JSON."""
    done = cyclewise("report", "--json", *args, path)
    check(done.returncode == 0, f"report: exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


# --- programs that cannot be run ---------------------------------------------------------------------

@tests.case("no such program")
def _():
    check_error(127, "/no/such", "no such file", None, "run", "/no/such", "a", "b", program=["/no/such", "a", "b"])
    check_error(127, "no-such", "no such program in PATH", None, "record", "--", "no-such")
    check_error(127, "no-such", "no such program in PATH", None, "stat", "no-such")
    local = write("local-one", elf_header(64, 62), 0o755)
    check_error(127, "local-one", "no such program in PATH", "./local-one", "run", "local-one", cwd=os.path.dirname(local))


@tests.case("a program that is not executable")
def _():
    plain = write("plain", elf_header(64, 62))
    check_error(126, plain, "not executable", f"chmod +x {plain}", "run", plain, program=[plain])
    check_error(126, str(WORK), "is a directory", None, "run", str(WORK))
    check_error(126, "/dev/null", "is a device", None, "run", "/dev/null")


@tests.case("a script")
def _():
    script = write("script", b"#! /bin/sh -e\necho ran\n", 0o755)
    check_error(126, script, "is a script", f"/bin/sh -e {script}", "run", script)


@tests.case("a file that is not a program for a core")
def _():
    run = lambda name, data, why, remedy: check_error(126, p := write(name, data, 0o755), why, remedy, "run", p)
    run("text", b"hello\n", "not an ELF", None)
    run("nothing", b"", "not an ELF", None)
    run("magic", b"\x7fELF", "not an ELF", None)
    run("i386", elf_header(32, 3), "32-bit x86", "x86-64, AArch64 and RV64")
    run("arm", elf_header(32, 40), "32-bit ARM", "x86-64, AArch64 and RV64")
    run("x32", elf_header(32, 62), "32-bit", "64 bits")
    run("rv32", elf_header(32, 243), "32-bit", "64 bits")
    run("s390x", elf_header(64, 22, order=2), "", "x86-64, AArch64 and RV64")
    run("ppc64", elf_header(64, 21), "POWER", "x86-64, AArch64 and RV64")
    run("odd", elf_header(64, 999), "machine 999", "x86-64, AArch64 and RV64")
    run("object", elf_header(64, 62, kind=1), "not a program", None)


@tests.case("an ELF file cut short or damaged behind its header")
def _():
    whole = open(ending(), "rb").read()
    for size in (100, 2000):
        cut = write("cut", whole[:size], 0o755)
        check_error(126, cut, "is cut short", None, "run", cut, program=[cut])
    done = cyclewise("run", write("scrambled", whole[:64] + bytes(b ^ 0x5a for b in whole[64:4096]) + whole[4096:], 0o755))
    check(done.returncode in (125, 126) and "cyclewise: " in done.stderr, f"{done.returncode}: {done.stderr[-500:]}")


@tests.case("a static position-independent program, started by a relative path")
def _():
    compile_program("ending.c", "x86-64", "-static-pie")
    report, _ = profile("--", "./ending-x86-64-static-pie", "_exit", 3, status=3, cwd=WORK)
    check(report["complete"] and report["program"] == "./ending-x86-64-static-pie", f"{report['program']}")
    check(any(row["symbol"] == "work" for row in report["hot"]), "work is not named")


@tests.case("a program with other rights runs without them, and the report says so")
def _():
    path = write("set-id", open(ending(), "rb").read(), 0o755)
    if os.geteuid() != 0:
        raise Skip("only root can give a file to another user")
    os.chown(path, 65534, 65534)
    os.chmod(path, 0o4755)
    report, _ = profile("--", path, "exit", 0)
    check(report["complete"] and any("set-user-ID" in note for note in report["notes"]), f"notes {report['notes']}")


@tests.case("few descriptors, small files, long arguments")
def _():
    limit = lambda which, n, hard: {"preexec_fn": lambda: resource.setrlimit(which, (n, n if hard else resource.getrlimit(which)[1]))}
    report, _ = profile("--", ending(), "exit", 0, **limit(resource.RLIMIT_NOFILE, 40, True))
    check(report["complete"], "not complete with 40 descriptors")
    for hard in (False, True):
        done = cyclewise("run", "-q", "--", "/bin/sh", "-c", "ulimit -S -f", **limit(resource.RLIMIT_FSIZE, 512000, hard))
        check((done.returncode, done.stdout) == (0, "1000\n"), f"{done.returncode}: {done.stdout} {done.stderr}")
    words = [str(i) for i in range(15000)]
    done = cyclewise("run", "-q", "--", "/bin/echo", *words, env=dict(os.environ, LONG="x" * 100000))
    check((done.returncode, done.stdout) == (0, " ".join(words) + "\n"), f"{done.returncode}: {done.stderr[-500:]}")


@tests.case("standard streams that are closed")
def _():
    native = lambda n: subprocess.run(["/bin/sh", "-c", f"exec /bin/cat {n}>&-"], stdin=subprocess.DEVNULL, capture_output=True)
    for n in (0, 1, 2):
        out = WORK / "closed.json"
        run = f"exec '{CYCLEWISE}' run --no-progress --json='{out}' -- /bin/cat {n}{'<' if n == 0 else '>'}&-"
        done = subprocess.run(["/bin/sh", "-c", run], stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG)
        report = json.loads(out.read_text())
        check(report["complete"] and report["exit_status"] == done.returncode == native(n).returncode,
              f"descriptor {n} closed: {done.returncode}, {report['exit_status']}")


@tests.case("no emulator")
def _():
    env = dict(os.environ, PATH=str(WORK))
    env.pop("CYCLEWISE_QEMU", None)
    check_error(125, "qemu-x86_64", "not there", "apt install qemu-user", "run", TRUE, env=env)
    env["CYCLEWISE_QEMU"] = "/no/such/qemu"
    check_error(125, "/no/such/qemu", "not there", "CYCLEWISE_QEMU", "run", TRUE, env=env)
    done = cyclewise("run", "-q", TRUE, env=dict(os.environ, CYCLEWISE_QEMU=""))
    check(done.returncode == 0, f"an empty CYCLEWISE_QEMU: {done.stderr}")
    env["CYCLEWISE_QEMU"] = "/bin/echo"
    check_error(125, "/bin/echo", "not an emulator", None, "run", TRUE, env=env)


# --- wrong usage -------------------------------------------------------------------------------------

@tests.case("unknown names on the command line")
def _():
    check_error(2, "nosuch", "no core", "skylake-sp", "run", "--core", "nosuch", TRUE, program=[TRUE])
    check_error(2, "--set rob.entires=4", "no parameter", "", "run", "--set", "rob.entires=4", TRUE)
    check_error(2, "--scale nothing=2", "no parameter", "", "run", "--scale", "nothing=2", TRUE)
    check_error(2, "--ideal", "no part 'l9'", "l1d", "run", "--ideal", "l9", TRUE)
    check_error(2, "nosuch", "no such timing model", "they are: ooo, abstract", "run", "--model", "nosuch", TRUE)
    check_error(2, "abstrat", "no such timing model", "did you mean abstract? without --model it is ooo", "run", "--model", "abstrat", TRUE)
    check_error(2, "--frobnicate", "no such option", "--help", "run", "--frobnicate", TRUE)
    check_error(2, "core", "no core ''", "skylake-sp", "run", "--core", "", TRUE)
    check_error(2, "PROGRAM", "is missing", "usage", "run")


@tests.case("a core that cannot be made of its description: wrong usage, before the program runs")
def _():
    for model in ("ooo", "abstract"):
        check_error(2, "skylake-sp", "fetch.bytes is 24, which is no power of two", "", "run", "--model", model,
                    "--set", "fetch.bytes=24", "--", "/bin/echo", "ran", program=["/bin/echo", "ran"])
    check_error(2, str(WORK), "Is a directory", None, "run", "--core", WORK, TRUE)
    costless, nosuch = WORK / "costless.core", WORK / "nosuch.core"
    costless.write_text("[core]\nisa = x86-64\nports = p0\n")
    check_error(2, costless, "does not say core.llvm_cpu", "inherit", "run", "--core", costless, TRUE)
    nosuch.write_text("[core]\ninherit = skylake-sp\nllvm_cpu = nosuch\n")
    check_error(2, "nosuch", "LLVM knows no such CPU", "core.llvm_cpu", "run", "--core", nosuch, TRUE)


@tests.case("a name that is more than one line")
def _():
    done = cyclewise("report", "two\nlines\033[31m")
    check(done.stderr.startswith("cyclewise: two\\nlines\\x1b[31m: No such file") and len(done.stderr.splitlines()) == 2, done.stderr)


@tests.case("values that do not fit")
def _():
    check_error(2, "--set rob.entries=many", "whole number", None, "run", "--set", "rob.entries=many", TRUE)
    for args in (("--set", "rob.entries=0"), ("--set", "rob.entries=999999999"), ("--set", "rob.entries"),
                 ("--scale", "rob.entries=-1"), ("--count", "x"), ("--skip", "-1"), ("--period", "-1"), ("--limit", "one"),
                 ("--count", "0")):
        done = cyclewise("run", *args, TRUE)
        check(done.returncode == 2, f"{args}: exit status {done.returncode}: {done.stderr[-500:]}")
        check(done.stderr.startswith("cyclewise: ") and len(done.stderr.splitlines()) <= 2, f"{args}: {done.stderr}")


@tests.case("a core for another instruction set")
def _():
    check_error(2, "boom", "is a core for riscv64", "skylake-sp", "run", "--core", "boom", TRUE)


@tests.case("an unknown command, and none")
def _():
    done = cyclewise("frobnicate")
    check(done.returncode == 2 and done.stderr.startswith("cyclewise: frobnicate: "), done.stderr)
    done = cyclewise()
    check(done.returncode == 2 and "usage: cyclewise" in done.stderr, done.stderr)


# --- profile files -----------------------------------------------------------------------------------

def recorded():
    path = WORK / "whole.cw"
    if not path.exists():
        done = cyclewise("record", "-o", path, "--", ending(), "exit", 0)
        check(done.returncode == 0, done.stderr)
    return path


def both(status, what, why, remedy, path):
    """report and annotate say the same of a bad file."""
    check_error(status, what, why, remedy, "report", path)
    check_error(status, what, why, remedy, "annotate", path, "main")


@tests.case("a profile that is not there, not one, empty, a directory")
def _():
    missing = str(WORK / "missing.cw")
    both(125, missing, "No such file", "cyclewise record", missing)
    text = write("text.cw", b"not a profile\n" * 100)
    both(125, text, "is not a profile", "cyclewise record", text)
    empty = write("empty.cw", b"")
    both(125, empty, "is empty", "cyclewise record", empty)
    both(125, str(WORK), "is a directory", "cyclewise record", str(WORK))
    foreign = str(WORK / "foreign.cw")
    subprocess.run(["sqlite3", foreign, "CREATE TABLE t (a); INSERT INTO t VALUES (1)"], check=True)
    both(125, foreign, "not a profile", "cyclewise record", foreign)


@tests.case("a profile that may not be read")
def _():
    path = write("secret.cw", recorded().read_bytes(), 0)
    WORK.chmod(0o755)
    # Root may read everything; nobody may not, if it may execute the program under test.
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 and reachable() else {}
    if os.geteuid() == 0 and not other:
        raise Skip("root may read everything, and nobody else may execute the build directory's files")
    check_error(125, path, "Permission denied", None, "report", path, **other)
    check_error(125, path, "Permission denied", None, "annotate", path, "main", **other)


def reachable():
    """Can another user execute the program under test?"""
    path = os.path.realpath(CYCLEWISE)
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


@tests.case("a truncated profile, at many lengths")
def _():
    whole = recorded().read_bytes()
    for part in (1, 15, 16, 50, 99, 100, 512, 4095, 4096, 8192, len(whole) // 3, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        path = write("truncated.cw", whole[:part])
        done = cyclewise("report", path)
        check(done.returncode == 125, f"{part} bytes: exit status {done.returncode}")
        lines = done.stderr.splitlines()
        check(len(lines) == 2 and lines[0].startswith(f"cyclewise: {path}: "), f"{part} bytes: {done.stderr}")
    both(125, path, "", "record", path)


@tests.case("a damaged profile is an error or a report, never a crash")
def _():
    whole = bytearray(recorded().read_bytes())
    seed = 1
    for trial in range(24):
        data = bytearray(whole)
        for _ in range(64):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            data[100 + (seed >> 20) % (len(data) - 100)] ^= 1 << (seed >> 60) % 8
        path = write("damaged.cw", bytes(data))
        for command in (("report", path), ("annotate", path, "main"), ("report", "--json", path)):
            done = cyclewise(*command)
            check(done.returncode in (0, 125), f"trial {trial}: {command[0]}: exit status {done.returncode}: {done.stderr[-800:]}")
            check(done.returncode == 0 or done.stderr.startswith("cyclewise: ") and len(done.stderr.splitlines()) == 2,
                  f"trial {trial}: {done.stderr}")


@tests.case("annotate of a function that is not there")
def _():
    check_error(125, "no_such_function", "no function of this name", "report", "annotate", recorded(), "no_such_function")
    check_error(125, "(no symbol)", "no function of this name", "address", "annotate", recorded(), "(no symbol)")
    check_error(125, "0x1", "no instruction that begins there", "objdump", "annotate", recorded(), "0x1")
    check_error(125, "0x1 [nosuch]", "no instruction that begins there", "objdump", "annotate", recorded(), "0x1 [nosuch]")
    check_error(2, "SYMBOL", "is missing", "usage", "annotate", recorded(), cwd=str(WORK))


@tests.case("a file that cannot be written is found out before the program runs")
def _():
    done_file = WORK / "not-run"
    for args in (("record", "-o", "/no/such/dir/a.cw"), ("run", "-o", "/no/such/dir/a.cw"),
                 ("run", "--json=/no/such/dir/a.json"), ("run", "--report", "/no/such/dir/a.txt")):
        done = cyclewise(*args, "--", ending(), "long", 1, done_file)
        check(done.returncode == 125, f"{args}: exit status {done.returncode}: {done.stderr}")
        check(done.stderr.startswith("cyclewise: /no/such/dir/a."), f"{args}: {done.stderr}")
        check(not done_file.exists(), f"{args}: the program ran")


class SmallDisk:
    """A directory where only `size` bytes can be written: a file system of its own where that can be had, else by the limit
    on the size of files."""

    def __init__(self, size):
        self.path = WORK / f"disk-{size}"
        self.size = size
        self.options = {}

    def __enter__(self):
        self.path.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={self.size}", "cyclewise-test", str(self.path)]
        self.mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
        if not self.mounted:
            limit = (self.size, self.size)
            self.options = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)}
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", str(self.path)], check=True)


@tests.case("a full disk from the start: found out before the program runs")
def _():
    with SmallDisk(16384) as disk:
        path, done_file = disk.path / "a.cw", WORK / "full-not-run"
        check_error(125, path, "", "make room", "record", "-o", path, "--", ending(), "long", 1, done_file, **disk.options)
        check(not done_file.exists(), "the program ran")


@tests.case("a disk that fills: the report is not lost")
def _():
    with SmallDisk(262144) as disk:
        path = disk.path / "a.cw"
        done = cyclewise("run", "-o", path, "--limit", 5, "--", ending(), "exit", 0, **disk.options)
        check(done.returncode == 125, f"exit status {done.returncode}: {done.stderr[-1000:]}")
        check(f"cyclewise: {path}: " in done.stderr and "make room" in done.stderr, done.stderr[-1000:])
        check("Where the cycles went" in done.stderr, f"no report: {done.stderr[-1000:]}")


@tests.case("output to a full device")
def _():
    for args in (("--json=/dev/full",), ("--report", "/dev/full")):
        done = cyclewise("run", *args, "--", TRUE)
        check(done.returncode == 125, f"{args}: exit status {done.returncode}")
        check("cyclewise: /dev/full: No space left on device" in done.stderr, f"{args}: {done.stderr}")
    with open("/dev/full", "w") as full:
        for args in (("report", str(recorded())), ("--help",), ("run", "--help"), ("--version",)):
            done = subprocess.run([CYCLEWISE, *args], stdout=full, stderr=subprocess.PIPE, text=True)
            check(done.returncode == 125 and done.stderr == "cyclewise: standard output: No space left on device\n",
                  f"{args}: {done.returncode}: {done.stderr}")


# --- programs that end badly -------------------------------------------------------------------------

@tests.case("a log of stages that cannot be written")
def _():
    path = WORK / "no-such-directory" / "log"
    check_error(125, path, "No such file", None, "run", "--kanata", path, TRUE)
    check_error(125, "/dev/full", "No space left", None, "run", "-q", "--kanata", "/dev/full", TRUE)


@tests.case("exit statuses are passed on")
def _():
    for status in (0, 1, 2, 42, 125, 126, 127, 128, 139, 255):
        for how in ("exit", "_exit"):
            report, _ = profile("--limit", 1, "--", ending(), how, status, status=status)
            check(report["exit_status"] == status and report.get("signal") is None, f"{report['exit_status']}")
            check(report["complete"] and "error" not in report, "not complete")


@tests.case("signals are passed on as 128 + signal")
def _():
    for sig in (signal.SIGABRT, signal.SIGTERM, signal.SIGKILL, signal.SIGFPE, signal.SIGUSR1, signal.SIGPIPE, signal.SIGINT):
        report, _ = profile("--limit", 1, "--", ending(), "raise", int(sig), status=128 + sig)
        check(report["signal"] == sig and report.get("exit_status") is None, f"{sig}: {report.get('signal')}")


@tests.case("a program that crashes")
def _():
    report, _ = profile("--", ending(), "crash", status=139)
    check(report["signal"] == signal.SIGSEGV and report["complete"] is False, f"{report['signal']}")
    check_sums(report)
    check(any(row["symbol"] == "work" for row in report["hot"]), "what ran before is not there")
    done = cyclewise("run", "--limit", 3, ending(), "crash")
    check(done.returncode == 139 and "signal 11" in done.stderr and "Where the cycles went" in done.stderr, done.stderr)


@tests.case("a program that closes all its descriptors")
def _():
    report, _ = profile("--", ending(), "close", 5, status=5)
    check(report["complete"], "not complete")
    check_sums(report)
    rows = [row for row in report["hot"] if row["symbol"] == "work" and row["disassembly"].startswith("imul")]
    check(rows and rows[0]["executions"] == 2000, f"executions: {[row['executions'] for row in rows]}")
    done = cyclewise("run", "--limit", 3, ending(), "close", 5)
    check(done.returncode == 5 and "Where the cycles went" in done.stderr, done.stderr)


@tests.case("an instruction that the emulator lacks")
def _():
    report, _ = profile("--", ending(), "illegal", status=128 + signal.SIGILL)
    check(report["signal"] == signal.SIGILL and not report["complete"], "not cut short")
    done = cyclewise("run", "--limit", 3, ending(), "illegal")
    symbols = dict(line.split()[::2][::-1] for line in
                   subprocess.run(["nm", ending()], capture_output=True, text=True, check=True).stdout.splitlines()
                   if len(line.split()) == 3)
    check("vpaddd" in done.stderr and "zmm" in done.stderr, f"the instruction is not named: {done.stderr}")
    check(ending() in done.stderr, f"its place is not named: {done.stderr}")
    check("AVX-512" in done.stderr and "compile for" in done.stderr, f"no remedy: {done.stderr}")
    address = next(int(word.split("0x")[1].rstrip(",:"), 16) for line in done.stderr.splitlines() if "vpaddd" in line and "killed" in line
                   for word in line.split() if word.startswith("0x"))
    start = int(symbols["illegal"], 16)
    check(start <= address < start + 16, f"0x{address:x} is not in illegal() at 0x{start:x}")


@tests.case("an instruction that the core lacks, and that only computes")
def _():
    program = compile_program("figure1.c", "x86-64", "-static", "-mavx2", "-mfma")
    report, _ = profile("--core", "sandy-bridge", "--", program, status=128 + signal.SIGILL)
    note = next((n for n in report["notes"] if n.startswith("killed by vfmadd231ps")), None)
    check(note and program in note and "does not have on this core" in note and "--core" in note, f"notes: {report['notes']}")


@tests.case("nothing runs in the region of interest")
def _():
    check_error(125, "no_such_function", "has a function of this name", "nm -D", "run", "--roi", "no_such_function", ending())
    check_error(125, "crash", "never entered", "--roi", "stat", "--roi", "crash", ending())
    check_error(125, "no_such_function", "has a function of this name", "nm -D", "run", "--start-after", "no_such_function", ending())
    check_error(125, "crash", "never returned", "--start-after", "run", "--start-after", "crash", ending())
    check_error(125, "--skip", "ended before", "skip fewer", "run", "--skip", 10**12, ending())


# --- runs that are cut short -------------------------------------------------------------------------

def children(pid):
    """Process ids of the children of `pid`."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry))
    return found


def start_long(path, how="long", done=WORK / "done", go=WORK / "no-such-file"):
    """`cyclewise record` of a program that runs on until it is stopped, or there is a file `go`; returns once it has begun: what it
    has executed by then is recorded, however soon it ends."""
    process = subprocess.Popen([CYCLEWISE, "record", "-o", str(path), "--", ending(), how, "0", str(done), str(go)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(process.stdout.readline() == "started\n", "the program did not begin")
    return process


def check_cut_short(path, sig):
    report = report_of(path)
    check(report["complete"] is False, "complete")
    check(report.get("signal") == sig, f"signal {report.get('signal')}")
    check_sums(report)
    check(any(row["symbol"] == "work" for row in report["hot"]), "what ran is not there")
    check(subprocess.run(["sqlite3", str(path), "PRAGMA integrity_check"], capture_output=True, text=True,
                         check=True).stdout == "ok\n", "the file is damaged")


@tests.case("SIGINT: 130 and a profile marked incomplete")
def _():
    path = WORK / "int.cw"
    process = start_long(path)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANG)
    check(process.returncode == 130, f"exit status {process.returncode}: {errors}")
    check_cut_short(path, signal.SIGINT)


@tests.case("SIGTERM: 143 and a profile marked incomplete")
def _():
    path = WORK / "term.cw"
    process = start_long(path)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=HANG)
    check(process.returncode == 143, f"exit status {process.returncode}: {errors}")
    check_cut_short(path, signal.SIGTERM)


@tests.case("Ctrl-C on a terminal")
def _():
    path = WORK / "tty.cw"
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        raise Skip(f"no pseudo-terminal to be had: {error}") from None
    if pid == 0:
        os.execv(CYCLEWISE, [CYCLEWISE, "record", "-o", str(path), "--", ending(), "long", "0", str(WORK / "done"), str(WORK / "no-such-file")])
    seen = b""
    while b"started" not in seen:
        seen += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    check(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 130, f"wait status {status:#x}: {seen}")
    check_cut_short(path, signal.SIGINT)


@tests.case("the program handles the signal itself: its end, and all of it")
def _():
    path = WORK / "handle.cw"
    process = start_long(path, how="handle")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANG)
    check(process.returncode == 7, f"exit status {process.returncode}: {errors}")
    report = report_of(path)
    check(report["complete"] is True and report["exit_status"] == 7, f"exit_status {report.get('exit_status')}")


@tests.case("the emulator killed with SIGKILL")
def _():
    path = WORK / "killed.cw"
    process = start_long(path)
    emulators = children(process.pid)
    check(len(emulators) == 1, f"children {emulators}")
    os.kill(emulators[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=HANG)
    check(process.returncode == 137, f"exit status {process.returncode}: {errors}")
    check_cut_short(path, signal.SIGKILL)


@tests.case("cyclewise killed with SIGKILL: the program ends with it, the file is valid")
def _():
    for wait in (False, True):
        path = WORK / f"orphan{wait}.cw"
        process = start_long(path)
        emulator = children(process.pid)[0]
        if wait:
            wait_until(lambda: json.loads(cyclewise("report", "--json", path).stdout).get("instructions"), "no checkpoint counts anything")
        process.kill()
        process.communicate(timeout=HANG)  # until the program, too, has closed its output
        wait_until(lambda: not os.path.exists(f"/proc/{emulator}/fd/1"), "the program runs on")
        if wait:
            report = report_of(path)
            check(report["complete"] is False and report["instructions"] > 10000, f"{report['instructions']} instructions")
            check_sums(report)
        else:
            done = cyclewise("report", "--json", path)
            answer = json.loads(done.stdout)
            check(done.returncode in (0, 125) and answer["complete"] is False, f"{done.returncode}: {done.stderr}")
            check(answer["program"] == str(ending()), f"program {answer['program']}")


@tests.case("a report to a reader that has gone")
def _():
    process = subprocess.Popen([CYCLEWISE, "report", str(recorded())], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read().decode()
    check(process.wait(timeout=HANG) in (-signal.SIGPIPE, 125, 128 + signal.SIGPIPE), f"exit status {process.returncode}: {errors}")


if __name__ == "__main__":
    tests.main()
