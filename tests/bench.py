#!/usr/bin/env python3
"""How fast cyclewise is, and how much memory it takes, as ratios within one run on one machine.

usage: tests/bench.py [BUILD]

The program is /usr/bin/gzip -9 on 2 MB of text made here, the same every time. It runs natively, under bare QEMU, under
cyclewise with everything on and with the abstract core, and under callgrind with its cache and branch simulation: the peer that
answers the nearest question; once more with all that it simulates: prefetches, lines written back, the use of lines, for each
instruction. Each is run twice, in turn, and the faster one counts. Then what is to take at most so much of another's time, on an
eighth of the text, with the ratio that was promised beside the one there is. Then memory: the peak of the cyclewise
process, without the emulator, for a short and a long run.

Times of one machine say nothing about another: no time is a mark to pass. The exit status is 1 where memory is over
MEMORY_MB or grows with the length of the run.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
ROUNDS = 2
TEXT_BYTES = 2 * 1000 * 1000
MEMORY_MB = 300
VARIANTS = 30  # of sensitivity
RATE = 25  # million instructions a second of the abstract core
GROWTH = 1.1  # of the long run's peak over the short one's
CALLGRIND = ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", "--callgrind-out-file=/dev/null"]


def text(size):
    """English-like lines: words of a few syllables, common ones common."""
    state = 1

    def draw(bound):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % bound

    syllables = [a + b for a in "bcdfghlmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "ou", "st")]
    words = ["".join(syllables[draw(len(syllables))] for _ in range(1 + draw(3))) for _ in range(8000)]
    lines, length = [], 0
    while length < size:
        lines.append(" ".join(words[draw(1 + draw(1 + draw(len(words))))] for _ in range(4 + draw(12))))
        length += len(lines[-1]) + 1
    return "\n".join(lines)[:size].encode()


def seconds(command, **options):
    start = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, **options)
    return time.monotonic() - start


def peak_mb(command):
    """Peak resident memory of the process itself, its children apart, as last seen before it ended."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, ended = 0, threading.Event()

    def watch():
        nonlocal peak
        while not ended.wait(0.01):
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                return
            peak = max([peak] + [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")])

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    ended.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"bench: exit status {process.returncode}: {' '.join(command)}")
    return peak / 1024


def speed(cyclewise, work, program):
    out = work / "out.json"
    abstract = [cyclewise, "run", "-q", "--no-progress", "--model", "abstract", "--json=/dev/null", "--", *program]
    runs = {
        "native": program,
        "bare QEMU": ["qemu-x86_64", *program],
        "cyclewise run": [cyclewise, "run", "--no-progress", f"--json={out}", "--limit", "10", "--", *program],
        "abstract core": abstract,
        "callgrind": [*CALLGRIND, *program],
        "callgrind, all": [*CALLGRIND, "--dump-instr=yes", "--simulate-hwpref=yes", "--simulate-wb=yes", "--cacheuse=yes", *program],
    }
    best = {}
    for _ in range(ROUNDS):
        for name, command in runs.items():
            best[name] = min(best.get(name, 1e9), seconds(command))
    report = json.loads(out.read_text())
    ours = best["cyclewise run"]
    print(f"{'':16}{'seconds':>9}  {'cyclewise takes':>16}  {'million instructions/s':>23}")
    for name, took in best.items():
        print(f"{name:16}{took:9.2f}  {ours / took:14.2f} x  {report['instructions'] / took / 1e6:23.1f}")
    print(f"\n{report['instructions']:,} instructions, {report['cycles']:,} cycles on {report['core']}, golden reference and samplers on")
    rate = report["instructions"] / best["abstract core"] / 1e6
    print(f"the abstract core: {rate:.1f} million instructions a second of {RATE} promised, {'kept' if rate >= RATE else 'missed'}")


def names(cyclewise, work, program, nr):
    """The first `nr` resources that sensitivity weights, by name."""
    out = work / "names.json"
    seconds([cyclewise, "sensitivity", "-q", "--no-progress", "--weights", "2", f"--json={out}", "--", *program])
    resources = sorted(resource["name"] for resource in json.loads(out.read_text())["resources"])
    if len(resources) < nr:
        sys.exit(f"bench: only {len(resources)} resources, {nr} wanted")
    return ",".join(resources[:nr])


def ratios(cyclewise, work, program):
    """What is to take at most so many times as long as what: (name, command, against, promised)."""
    def ours(command, *options):
        return [cyclewise, command, "-q", "--no-progress", f"--json={work / 'ratio.json'}", *options, "--", *program]

    variants = names(cyclewise, work, [*program[:-1], str(work / "tiny")], VARIANTS)
    abstract = ours("run", "--model", "abstract")
    callgrind = [*CALLGRIND, *program]
    none = ours("run", "--wrong-path", "none")
    rows = [
        ("all sampling methods", ours("methods", "--no-simulation"), "cyclewise stat", ours("stat"), 1.25),
        ("wrong path, instructions", ours("run", "--wrong-path", "instructions"), "no wrong path", none, 1 / 0.6),
        ("wrong path, full", ours("run", "--wrong-path", "full"), "no wrong path", none, 1 / 0.6),
        ("the abstract core", abstract, "callgrind", callgrind, 1.8),
        (f"sensitivity, {VARIANTS} variants", ours("sensitivity", "--weights", "2", "--only", variants), "abstract core", abstract, 10),
        ("causality", ours("causality"), "abstract core", abstract, 2),
    ]
    best = {}
    for _ in range(ROUNDS):
        for _, command, _, against, _ in rows:
            for one in (command, against):
                best[tuple(one)] = min(best.get(tuple(one), 1e9), seconds(one))
    print(f"\n{'':26}{'seconds':>9}  {'against':16}{'seconds':>9}  {'takes':>9}  {'at most':>9}")
    for name, command, peer, against, promised in rows:
        ratio = best[tuple(command)] / best[tuple(against)]
        print(f"{name:26}{best[tuple(command)]:9.2f}  {peer:16}{best[tuple(against)]:9.2f}  {ratio:7.2f} x  {promised:7.2f} x  "
              f"{'kept' if ratio <= promised else 'missed'}", flush=True)


def memory(cyclewise, work, program):
    run = [cyclewise, "run", "-q", "-o", str(work / "memory.cw"), "--", *program]
    short, long = peak_mb([*run, str(work / "short")]), peak_mb([*run, str(work / "long")])
    print(f"\npeak memory of the cyclewise process, without the emulator: {short:.0f} MB; in a run 8 times as long {long:.0f} MB")
    if max(short, long) > MEMORY_MB:
        sys.exit(f"bench: more than {MEMORY_MB} MB")
    if long > short * GROWTH:
        sys.exit("bench: memory grows with the length of the run")


def main():
    cyclewise = str(Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve() / "cyclewise")
    with tempfile.TemporaryDirectory(prefix="cyclewise-bench.") as folder:
        work = Path(folder)
        data = text(TEXT_BYTES)
        for name, part in (("text", 1), ("long", 1), ("short", 8), ("tiny", 100)):
            (work / name).write_bytes(data[:len(data) // part])
        gzip = ["/usr/bin/gzip", "-9", "-c"]
        print(f"gzip -9 on {TEXT_BYTES:,} bytes of text; {os.cpu_count()} processors; the faster of {ROUNDS} runs\n", flush=True)
        speed(cyclewise, work, [*gzip, str(work / "text")])
        sys.stdout.flush()
        ratios(cyclewise, work, [*gzip, str(work / "short")])
        memory(cyclewise, work, gzip)


if __name__ == "__main__":
    main()
