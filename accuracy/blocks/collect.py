#!/usr/bin/env python3
"""Takes the hottest basic blocks from profiles of real programs and writes accuracy/blocks/blocks.txt.

usage: accuracy/blocks/collect.py [BUILD]

A block is straight-line code whose instructions ran equally often, without the branch at its end. What cannot run as a loop
on its own is left out: system calls, string instructions, thread-local storage, x87, what takes or raises exceptions on the
inputs that runner.c gives it. The programs are those of programs.py; the profiles are made with the default core.
"""
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import blocks  # noqa: E402
import programs  # noqa: E402

WANTED = 240
EACH = 40  # of a program, at most
LENGTH = range(3, 41)  # instructions
INSTRUCTIONS = 30_000_000  # profiled, of a program
BRANCH = re.compile(r"^(?:notrack |bnd )?(?:j|call|ret|loop)")
UNFIT = re.compile(r"^(?:rep|lock|syscall|cpuid|rdtsc|xgetbv|xsave|xrstor|fxsave|pushf|popf|movs[bwlq]\b|stos|lods|scas|cmps[bwlq]\b|leave|enter|hlt|ud|int|"
                   r"f|mfence|lfence|sfence|prefetch|cld|std|sahf|lahf)|%[fg]s:")
QUERY = """
    select m.path, i.address, i.bytes, i.disassembly, sum(c.executions), sum(c.units) / 720720.0
    from cycles c join insn i using (insn) join module m using (module)
    group by c.insn order by m.path, i.address
"""


def record(cyclewise, command, stdin, folder):
    out = folder / "blocks.cw"
    with open(stdin or os.devnull, "rb") as source:
        subprocess.run([cyclewise, "record", "-q", "--no-progress", "--count", str(INSTRUCTIONS), "-o", str(out), "--", *command], stdin=source,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C", PYTHONHASHSEED="0"), check=True)
    with sqlite3.connect(out) as db:
        return db.execute(QUERY).fetchall()


def straight(rows):
    """Runs of rows that follow one another, ran equally often and branch nowhere but at the end."""
    block = []
    for row in rows:
        path, address, _, text, executions, _ = row
        if block:
            last = block[-1]
            if path != last[0] or address != last[1] + len(last[2]) or executions != last[4] or BRANCH.match(last[3]):
                yield block
                block = []
        block.append(row)
    if block:
        yield block


def patches(block):
    """offset:end:target for each displacement relative to the instruction pointer; None where one cannot be found."""
    out, start = [], block[0][1]
    for _, address, code, text, _, _ in block:
        if "(%rip)" not in text:
            continue
        shown = re.search(r"(-?)0x([0-9a-f]+)\(%rip\)", text)
        if not shown:
            return None
        displacement = int(shown.group(2), 16) * (-1 if shown.group(1) else 1)
        at = code.find((displacement % 2**32).to_bytes(4, "little"), 1)
        if at < 0:
            return None
        end = address + len(code)
        out.append(f"{address - start + at}:{end - start}:{(end + displacement) % 65536}")
    return out


def fit(block):
    """The block as (name, bytes, patches, cycles), or None."""
    if BRANCH.match(block[-1][3]):
        block = block[:-1]
    if len(block) not in LENGTH or any(UNFIT.search(row[3]) for row in block):
        return None
    found = patches(block)
    if found is None:
        return None
    name = f"{Path(block[0][0]).name}+0x{block[0][1]:x}"
    return name, b"".join(row[2] for row in block).hex(), found, sum(row[5] for row in block)


def runs(runner, code, patch):
    """Natively and under the emulator, which differ in what instructions leave undefined."""
    return all(subprocess.run([*on, runner, "-r", str(blocks.ROUNDS), code, *patch], capture_output=True).returncode == 0
               for on in ([], ["qemu-x86_64"]))


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    folder = build / "accuracy"
    folder.mkdir(parents=True, exist_ok=True)
    blocks.build(folder)
    chosen, seen = [], set()
    for program, (command, stdin) in programs.commands(programs.inputs(folder)).items():
        found = [b for b in map(fit, straight(record(str(build / "cyclewise"), command, stdin, folder))) if b]
        kept = 0
        for name, code, patch, cycles in sorted(found, key=lambda b: -b[3]):
            if kept == EACH:
                break
            if code not in seen and runs(str(folder / "runner"), code, patch):
                seen.add(code)
                chosen.append((program, kept, name, code, patch))
                kept += 1
        print(f"{program}: {len(found)} blocks, {kept} kept", file=sys.stderr)
    chosen.sort(key=lambda b: b[1])  # the hottest of each program first
    with open(HERE / "blocks.txt", "w") as out:
        out.write("# Basic blocks of Debian 12's binaries, the hottest of each program's profile, without the branch at their end.\n"
                  "# program module+address bytes patches; runner.c says what a patch is. Written by collect.py.\n")
        for program, _, name, code, patch in sorted(chosen[:WANTED], key=lambda b: (b[0], b[2])):
            out.write(" ".join([program, name, code, *patch]) + "\n")


if __name__ == "__main__":
    main()
