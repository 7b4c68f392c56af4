#!/usr/bin/env python3
"""What comes from outside: files that are none, names that a terminal would obey, programs at paths that lead nowhere."""
import json
import os
import shutil
import sqlite3
import subprocess
import unicodedata

from lib import BUILD, WORK, Tests, check, check_error, compile_program, cyclewise, profile

tests = Tests(sanitize=True)
TRUE = "/bin/true"
# Sets the title, clears the screen by the one-byte CSI, writes from right to left, and is no UTF-8.
EVIL = b"\x1b]0;t\x07 \xc2\x9b2J \xe2\x80\xae\xe2\x81\xa6 \x7f\xff\r\n\t"


def harmless(data, what):
    """Valid UTF-8 in which a terminal has nothing to obey but the ends of lines."""
    text = data.decode() if isinstance(data, bytes) else data
    bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    check(not bad, f"{what} has {sorted(map(ascii, bad))}")
    return text


def raw(*args, status=0):
    """Runs cyclewise; what it wrote to both streams, as bytes, must be harmless; that on standard output."""
    done = subprocess.run([BUILD / "cyclewise", *args], capture_output=True, timeout=600)
    check(done.returncode == status, f"{args}: exit status {done.returncode}: {done.stderr}")
    harmless(done.stderr, f"{args}: standard error")
    return harmless(done.stdout, f"{args}: standard output")


def core(name, *lines):
    path = WORK / name
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
    return str(path)


# --- files -------------------------------------------------------------------------------------------

@tests.case("files that never end, or never begin, are not read")
def _():
    pipe = WORK / "pipe"
    os.mkfifo(pipe)
    check_error(2, "/dev/zero", "is not a regular file", None, "run", "--core", "/dev/zero", TRUE)
    check_error(2, pipe, "is not a regular file", None, "run", "--core", pipe, TRUE)
    holes = WORK / "holes.core"
    holes.touch()
    os.truncate(holes, 1 << 40)
    check_error(2, holes, "is larger than 1 MiB", None, "run", "--core", holes, TRUE)
    child = core("pipe.core", "[core]", "inherit = skylake-sp", f"costs = {pipe}")
    check_error(2, pipe, "is not a regular file", None, "run", "--core", child, TRUE)
    child = core("parent.core", "[core]", f"inherit = {pipe}.core")
    os.rename(pipe, f"{pipe}.core")
    check_error(2, f"{pipe}.core", "is not a regular file", None, "run", "--core", child, TRUE)


@tests.case("cost files: what is not text, and more than one parent, by line and column")
def _():
    costs = core("bad.costs", "[A]", "latency = 1", "source = x", b"[*AM\xff-~]")
    child = core("bad.core", "[core]", "inherit = skylake-sp", "costs = bad.costs")
    check_error(2, f"{costs}:4:5", "not text", None, "run", "--core", child, TRUE)
    core("bad.costs", "inherit = other.costs", *["inherit = bad.costs"] * 60)
    core("other.costs", "")
    check_error(2, f"{costs}:2:11", "a file has one parent", None, "run", "--core", child, TRUE)


@tests.case("a perf map that never ends is not read, and it is said")
def _():
    for kind, why in (("holes", "is larger than 64 MiB"), ("pipe", "is not a regular file")):
        result, _ = profile(compile_program("outside.c", "x86-64"), kind)
        found = [note.split()[0] for note in result["notes"] if note.endswith(f".map {why}: JIT code has no names")]
        check(len(found) == 1, f"notes: {result['notes']}")
        os.unlink(found[0])


# --- texts -------------------------------------------------------------------------------------------

@tests.case("a profile whose texts are for the terminal")
def _():
    path = WORK / "good.cw"
    done = cyclewise("record", "-q", "-o", path, compile_program("outside.c", "x86-64"), "work")
    check(done.returncode == 0, done.stderr)
    db = sqlite3.connect(path)
    db.text_factory = bytes
    keep = {b"units_per_cycle", b"isa", b"core", b"model", b"view", b"window", b"identity"}
    for (key, value) in db.execute("SELECT key, value FROM run WHERE typeof(value) = 'text'").fetchall():
        if key in (b"arguments", b"notes"):
            evil = json.dumps([EVIL.decode(errors="replace")] * 3)
            db.execute("UPDATE run SET value = ? WHERE key = ?", (evil, key.decode()))
        elif key not in keep or key == b"window":
            db.execute("UPDATE run SET value = CAST(? AS TEXT) WHERE key = ?", (value + EVIL, key.decode()))
    for key in ("options", "window", "emulator", "program"):
        db.execute("INSERT OR REPLACE INTO run VALUES (?, CAST(? AS TEXT))", (key, EVIL))
    tables = [("module", "path"), ("source", "path"), ("function", "linkage"), ("insn", "disassembly"), ("insn", "text"),
              ("function", "symbol"), ("region", "name"), ("unmodelled", "form"), ("component", "component"), ("event", "event"),
              ("inlined", "symbol")]
    changed = 0
    for table, column in tables:
        if any(row[1] == column.encode() for row in db.execute(f"PRAGMA table_info({table})")):
            db.execute(f"UPDATE {table} SET {column} = CAST(CAST({column} AS BLOB) || ? AS TEXT) WHERE {column} IS NOT NULL", (EVIL,))
            changed += 1
    check(changed >= 6, f"{changed} columns were changed")
    db.commit()
    db.close()
    for args in (["report"], ["report", "--json"], ["report", "-v"]):
        text = raw(*args, path)
        check("t\\x07" in text or "t\\u0007" in text, f"{args}: {text}")
    json.loads(raw("report", "--json", path))
    symbol = b"work" + EVIL
    for args in (["annotate"], ["annotate", "--json"]):
        check("t\\x07" in raw(*args, path, symbol) or args[1:], args)
    raw("annotate", path, b"none" + EVIL, status=125)


@tests.case("a core, options and arguments that are for the terminal")
def _():
    evil = EVIL.replace(b"\xff", b"").replace(b"\r\n\t", b"")
    path = core("evil.core", "[core]", "inherit = skylake-sp", b"title = " + evil, b"leaves_out = " + evil, b"source = " + evil,
                b"[rob]", b"# " + evil, b"entries = 100")
    for args in (["cores"], ["cores", "--json"]):
        check("2J" in raw(*args, path), args)
    program = os.fsencode(WORK) + b"/evil" + EVIL.replace(b"/", b"")
    shutil.copy(compile_program("outside.c", "x86-64"), program)
    for args in (["run"], ["stat"], ["stat", "--json"], ["methods"]):
        raw(*args, "--no-progress", "--core", path, program, b"work", EVIL)
    raw("run", "--core", EVIL, TRUE, status=2)
    raw("run", "--set", EVIL + b"=1", TRUE, status=2)
    raw("run", "--roi", EVIL, "--no-progress", program, "work", status=125)
    raw(EVIL, status=2)
    raw("run", b"--" + EVIL, TRUE, status=2)
    raw("run", b"/none/" + EVIL, status=127)
    raw("report", b"/none/" + EVIL, status=125)


@tests.case("words of the command line can be given to a shell")
def _():
    words = [b"a b", b"it's", b"tab\there\\", b"\x1b[1m'\\n", b"\xe2\x80\xae", b""]
    out = WORK / "head.txt"
    done = cyclewise("run", "--no-progress", "--report", out, compile_program("outside.c", "x86-64"), "work", *map(os.fsdecode, words))
    check(done.returncode == 0, done.stderr)
    first = harmless(out.read_bytes(), "the report").splitlines()[0]
    shown = first[first.index(" work ") + 6:]
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {shown}"], capture_output=True, env={"LC_ALL": "C.UTF-8"})
    check(done.stdout == b"".join(w + b"\0" for w in words), f"{shown} is {done.stdout}")


# --- paths -------------------------------------------------------------------------------------------

def named(program, function, module, **options):
    """The function is named with its line in a run of the program; its module is so."""
    result, _ = profile("--", program, "work", **options)
    found = [f for f in result["functions"] if f["symbol"] == function]
    check(found and found[0]["line"] and found[0]["file"].endswith("outside.c"), f"{function}: {result['functions']}")
    check(found[0]["module"] == module, f"module is {found[0]['module']!r}, not {module!r}")


@tests.case("odd paths are shown as they are, and found")
def _():
    program = compile_program("outside.c", "x86-64")
    for name in (b"new\nline", b"oct\\012al", b"tab\there", b"quo\"te's", b"sp ace (deleted)", b"p%s,x=y:z", b"\xe2\x80\xaertl"):
        path = os.fsencode(WORK) + b"/" + name
        shutil.copy(program, path)
        named(os.fsdecode(path), "work", path.decode())
    path = os.fsencode(WORK) + b"/non\xffutf8"
    shutil.copy(program, path)
    named(os.fsdecode(path), "work", path.decode(errors="replace"))


@tests.case("programs that are at no path are found")
def _():
    program = compile_program("outside.c", "x86-64")
    fd = os.open(program, os.O_RDONLY)
    named(f"/proc/self/fd/{fd}", "work", program, pass_fds=[fd])
    named(f"/dev/fd/{fd}", "work", program, pass_fds=[fd])
    os.close(fd)
    fd = os.memfd_create("program")
    with open(program, "rb") as f:
        os.write(fd, f.read())
    named(f"/proc/self/fd/{fd}", "work", "/memfd:program (deleted)", pass_fds=[fd])
    os.close(fd)
    gone = f"{WORK}/gone"
    shutil.copy(program, gone)
    fd = os.open(gone, os.O_RDONLY)
    os.unlink(gone)
    named(f"/proc/self/fd/{fd}", "work", f"{gone} (deleted)", pass_fds=[fd])
    os.close(fd)


@tests.case("a program that removes itself is found")
def _():
    program = f"{WORK}/removes-itself"
    shutil.copy(compile_program("outside.c", "x86-64"), program)
    result, _ = profile(program, "unlink", program)
    check(not os.path.exists(program), "it is still there")
    found = [f for f in result["functions"] if f["symbol"] == "work"]
    check(found and found[0]["line"], f"{result['functions']}")


if __name__ == "__main__":
    tests.main()
