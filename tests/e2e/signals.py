#!/usr/bin/env python3
"""A signal to cyclewise is one to the program, once; stops and terminals included. When the program has ended, a signal ends
what cyclewise still does. No emulator is left, no full disk ends a program."""
import fcntl
import json
import os
import pty
import resource
import signal
import subprocess
import sys

from lib import CYCLEWISE, HANG, WORK, Skip, Tests, check, check_sums, compile_program, cyclewise, wait_until

tests = Tests(sanitize=True)


def program(*left):
    return [compile_program("told_signals.c", "x86-64"), *(str(int(sig)) for sig in left)]


def usual():
    """What the terminal or a shell sends is not ignored, as it is where the tests run under nohup or in the background."""
    for sig in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
        signal.signal(sig, signal.SIG_DFL)


def start(command, *options, **how):
    """cyclewise with a program that has said its first line."""
    process = subprocess.Popen([CYCLEWISE, *options, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               **{"preexec_fn": usual, **how})
    check(process.stdout.readline() in ("ready\n", "started\n"), "the program did not begin")
    return process


def ends(process, status):
    """What the program still said, and what was said on standard error."""
    out, errors = process.communicate(timeout=HANG)
    check(process.returncode == status, f"exit status {process.returncode}, not {status}: {errors}")
    return out, errors


def has_ended(pid):
    """Whether all its threads have, and it waits for its parent at most."""
    try:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    except OSError:
        return True
    return fields[0] == "Z" and int(fields[17]) <= 1


def emulator(process):
    return int(open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()[0])


def long_program(name, how="long"):
    """A program that runs until there is a file, and that file."""
    go = WORK / f"{name}.go"
    return [compile_program("ending.c", "x86-64"), how, "0", str(WORK / f"{name}.done"), str(go)], go


# --- while the program runs --------------------------------------------------------------------------

@tests.case("every signal reaches the program, once, and the end is its own")
def _():
    out = WORK / "every.json"
    process = start(program(), "run", "-q", f"--json={out}", start_new_session=True)
    # no handler can be had of the first two; the emulator takes no more than 62; a terminal is written to in spite of SIGTTOU;
    # faults that somebody sent kill the emulator of Debian 12, or are lost in it, without cyclewise, too
    faults = {signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}
    others = {signal.SIGKILL, signal.SIGSTOP, signal.SIGTTOU, signal.SIGTERM, 32, 33}
    for sig in sorted(set(range(1, 63)) - faults - others):
        process.send_signal(sig)
        line = process.stdout.readline()
        check(line == f"got {sig} 0\n", f"after signal {sig}: {line}")
    process.send_signal(signal.SIGTERM)
    said, _ = ends(process, 9)
    check(said == "got 15 0\n", f"the program said {said}")
    report = json.loads(out.read_text())
    check(report["complete"] is True and report["exit_status"] == 9, f"exit_status {report['exit_status']}")


@tests.case("a program that leaves a signal as it is ends of it, and what it did is kept")
def _():
    for sig in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM, signal.SIGPIPE, signal.SIGABRT, 40:
        out = WORK / "ends.json"
        process = start(program(sig), "run", "-q", f"--json={out}")
        process.send_signal(sig)
        ends(process, 128 + sig)
        report = json.loads(out.read_text())
        check(report["complete"] is False and report["signal"] == sig and report["instructions"] > 1000, f"signal {sig}: {report['signal']}")


@tests.case("what the user has ignored or blocked is so for the program alone")
def _():
    ignored = {signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ}

    def begin():
        for sig in ignored:
            signal.signal(sig, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    for command in [], [CYCLEWISE, "run", "-q", "--"]:
        done = subprocess.run([*command, program()[0], "inherited"], capture_output=True, text=True,
                              preexec_fn=begin, restore_signals=False, timeout=HANG)
        check(done.returncode == 0, f"{done.returncode}: {done.stderr}")
        found = {line for line in done.stdout.splitlines()}
        wanted = {f"{int(sig)} is ignored" for sig in ignored} | {f"{int(signal.SIGUSR2)} is blocked"}
        check(found == wanted, f"{command}: {done.stdout}")
    process = start(program(), "run", "-q", preexec_fn=begin, restore_signals=False)
    process.send_signal(signal.SIGHUP)     # ignored by who started it, but not by the program
    check(process.stdout.readline() == "got 1 0\n", "SIGHUP did not reach the program")
    process.send_signal(signal.SIGTERM)
    ends(process, 9)


@tests.case("timeout(1) sees the program's own end")
def _():
    done = subprocess.run(["timeout", "-s", "TERM", "3", CYCLEWISE, "run", "-q", "--", *program()], capture_output=True, text=True,
                          timeout=HANG)
    check(done.returncode == 124 and "got 15" in done.stdout, f"{done.returncode}: {done.stdout}")
    done = subprocess.run(["timeout", "--preserve-status", "3", CYCLEWISE, "run", "-q", "--", *program()], capture_output=True, text=True,
                          timeout=HANG)
    check(done.returncode == 9, f"{done.returncode}: {done.stdout}")


# --- stops and terminals -----------------------------------------------------------------------------

# What a shell does for a job: a group of its own, in the foreground; a line where it stops; then on with it, in the foreground or
# (by a signal to cyclewise alone) as it is.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
say = lambda *what: os.write(int(sys.argv[1]), (" ".join(map(str, what)) + "\\n").encode())
pid = os.fork()
if not pid:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[3], sys.argv[3:])
while True:
    status = os.waitpid(pid, os.WUNTRACED)[1]
    if not os.WIFSTOPPED(status):
        break
    say("stopped", os.WSTOPSIG(status))
    if sys.argv[2] == "group":
        os.killpg(pid, signal.SIGCONT)
    else:
        os.kill(pid, signal.SIGCONT)
say("ended", os.waitstatus_to_exitcode(status))
"""


def on_terminal(command, on):
    """The terminal, and what the shell says."""
    said, say = os.pipe()
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        raise Skip(f"no pseudo-terminal to be had: {error}") from None
    if pid == 0:
        os.set_inheritable(say, True)
        os.execv(sys.executable, [sys.executable, "-c", SHELL, str(say), on, CYCLEWISE, "run", "-q", "--", *command])
    os.close(say)
    return pid, os.fdopen(terminal, "r+b", buffering=0), os.fdopen(said)


def expect(terminal, *wanted):
    """The program's next lines, whatever else is echoed."""
    seen = b""
    for line in wanted:
        while line.encode() not in seen:
            seen += os.read(terminal.fileno(), 4096)
        check(seen.count(line.encode()) == 1, f"{seen}")
        seen = seen.split(line.encode(), 1)[1]
    return seen


@tests.case("a terminal's signals come once")
def _():
    pid, terminal, said = on_terminal(program(), "group")
    expect(terminal, "ready")
    seen = b""
    for key, sig in (b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT), (b"\x1a", signal.SIGTSTP), (b"\x03", signal.SIGINT):
        terminal.write(key)
        seen = expect(terminal, f"got {int(sig)} 0")
        check(b"got" not in seen, f"{seen}")
    os.kill(int(open(f"/proc/{pid}/task/{pid}/children").read()), signal.SIGTERM)
    expect(terminal, "got 15 0")
    check(said.read() == "ended 9\n", "the shell saw another end")
    os.waitpid(pid, 0)


@tests.case("job control: the job stops with the program, and goes on")
def _():
    for on in "group", "alone":
        pid, terminal, said = on_terminal(program(signal.SIGTSTP), on)
        expect(terminal, "ready")
        for _ in range(2):
            terminal.write(b"\x1a")
            line = said.readline()
            check(line == f"stopped {int(signal.SIGTSTP)}\n", f"{on}: the shell saw: {line}")
            seen = expect(terminal, "got 18 0")
            check(b"got" not in seen, f"{on}: {seen}")
        os.kill(int(open(f"/proc/{pid}/task/{pid}/children").read()), signal.SIGTERM)
        expect(terminal, "got 15 0")
        line = said.read()
        check(line == "ended 9\n", f"{on}: the shell saw {line}")
        os.waitpid(pid, 0)


# --- after the program's end -------------------------------------------------------------------------

@tests.case("the first signal after the program's end writes what is known, the second ends at once")
def _():
    for command, twice in ("whatif", False), ("sensitivity", False), ("whatif", True):
        out, path = WORK / "after.json", WORK / f"after-{command}-{twice}.cw"
        long, go = long_program(f"after-{command}-{twice}")
        process = start(long, command, "-o", str(path), "--no-progress", f"--json={out}")
        pid = emulator(process)
        opening = path.stat().st_ino
        wait_until(lambda: path.stat().st_ino != opening, "there is no checkpoint")
        go.write_text("")
        wait_until(lambda: has_ended(pid), "the program did not end")
        process.send_signal(signal.SIGTERM)
        if twice:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=HANG)
            check(process.returncode in (130, 143), f"exit status {process.returncode}")
        else:
            ends(process, 143)
            report = json.loads(out.read_text())
            check(report["complete"] is False and report["instructions"] > 1000 and report["exit_status"] == 0, f"{command}: {report}")
        report = json.loads(cyclewise("report", "--json", path).stdout)
        check(report["complete"] is False, f"{command}: the file is complete")


# --- cyclewise is killed -----------------------------------------------------------------------------

@tests.case("SIGKILL of cyclewise leaves no emulator, whatever the program does")
def _():
    for command in program(), long_program("killed")[0]:
        process = start(command, "run", "-q")
        pid = emulator(process)
        process.kill()
        wait_until(lambda: has_ended(pid), "the emulator runs on")
        process.communicate(timeout=HANG)


@tests.case("SIGKILL of cyclewise ends a program that has given up root")
def _():
    if os.getuid():
        raise Skip("only root can give it up")
    source = WORK / "drop.c"
    source.write_text('#include <stdio.h>\n#include <unistd.h>\nint main(void) { if (setgid(65534) || setuid(65534)) return 1; '
                      'puts("ready"); fflush(stdout); for (;;) pause(); }\n')
    subprocess.run(["gcc", "-O1", "-static", "-o", str(WORK / "drop"), str(source)], check=True)
    process = start([str(WORK / "drop")], "run", "-q")
    pid = emulator(process)
    process.kill()
    wait_until(lambda: has_ended(pid), "the emulator runs on")
    process.communicate(timeout=HANG)


# --- checkpoints that cannot be written --------------------------------------------------------------

def warned(process, why):
    line = process.stderr.readline()
    check(why in line and "the program runs on" in line, f"standard error: {line}")


@tests.case("a checkpoint that cannot be written is left out, and the program runs on")
def _():
    path, part = WORK / "left-out.cw", WORK / ".left-out.cw.part"
    command, go = long_program("left-out")
    process = start(command, "record", "-o", str(path))
    with open(part, "w", encoding="ascii") as taken:  # as by another cyclewise, or a disk that is full
        fcntl.flock(taken, fcntl.LOCK_EX)
        warned(process, "another cyclewise is writing it")
        part.unlink()
    go.write_text("")
    _, errors = ends(process, 0)
    check("tried again" not in errors, f"said again: {errors}")
    report = json.loads(cyclewise("report", "--json", path).stdout)
    check(report["complete"] is True, "the last one was not written")
    check_sums(report)


@tests.case("a limit on the size of files: said, the program runs to its end, the file is valid")
def _():
    path = WORK / "limit.cw"
    command, go = long_program("limit")
    limit = 128 << 10  # more than an empty profile takes
    process = start(command, "record", "-o", str(path),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    warned(process, "File too large")
    go.write_text("")
    _, errors = ends(process, 125)
    check(f"cyclewise: {path}: File too large" in errors, errors)
    check((WORK / "limit.done").read_text() == "done 1\n", "the program did not run to its end")
    check(not (WORK / ".limit.cw.part").exists(), "a part is left")
    report = json.loads(cyclewise("report", "--json", path).stdout)
    check(report["complete"] is False and report["program"] == command[0], f"{report}")

    done = cyclewise("run", "-q", f"--json={WORK / 'limit.json'}", "--", command[0],
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY)))
    check(done.returncode == 125 and "limit.json: File too large" in done.stderr, f"{done.returncode}: {done.stderr}")
    # the program's own write is its own affair
    done = cyclewise("run", "-q", "--", "/bin/dd", "if=/dev/zero", f"of={WORK / 'limit.out'}", "bs=4k", "count=100",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))
    check(done.returncode == 128 + signal.SIGXFSZ, f"{done.returncode}: {done.stderr}")


if __name__ == "__main__":
    tests.main()
