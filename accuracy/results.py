"""results.csv: written, read, and compared with the one before.

Lines that begin with # say where the figures are from: `# key: value`. Then one line a case, sorted by group and name as
the suite has them. Cycles are whole; errors are fractions of the native cycles.
"""
import csv

from case import Case

COLUMNS = ["group", "name", "level", "bytes", "half", "instructions", "native", "spread", "model", "error", "verdict"]


def verdict(case):
    return f"failed: {case.failed}" if case.failed else "noisy" if case.noisy else ""


def write(path, about, cases):
    with open(path, "w", newline="") as out:
        for key, value in about.items():
            out.write(f"# {key}: {value}\n")
        table = csv.writer(out, lineterminator="\n")
        table.writerow(COLUMNS)
        for c in cases:
            table.writerow([c.group, c.name, c.level, c.bytes, "held out" if c.held_out else "tuning", c.instructions, f"{c.native:.0f}",
                            f"{c.spread:.5f}", f"{c.cycles:.0f}", f"{c.error:+.4f}", verdict(c)])


def read(path):
    """(about, cases)."""
    about, cases, lines = {}, [], []
    with open(path, newline="") as text:
        for line in text:
            if line.startswith("# "):
                key, _, value = line[2:].rstrip("\n").partition(": ")
                about[key] = value
            else:
                lines.append(line)
    for row in csv.DictReader(lines):
        failed = row["verdict"].removeprefix("failed: ") if row["verdict"].startswith("failed: ") else ""
        native = float(row["native"])
        rounds = [native, native * (1 + float(row["spread"]))] if native else []
        cases.append(Case(row["group"], row["name"], row["level"], int(row["bytes"]), rounds=rounds, instructions=int(row["instructions"]),
                          cycles=float(row["model"]), failed=failed))
    return about, cases


def differences(old, new, least=0.005):
    """Lines that say which cases' modelled cycles or errors moved by more than `least`, largest first; and what came or went."""
    before = {c.name: c for c in old}
    after = {c.name: c for c in new}
    moved = []
    for name, c in after.items():
        if name in before and c.counts and before[name].counts:
            by = abs(c.error) - abs(before[name].error)
            if abs(c.error - before[name].error) > least:
                moved.append((abs(by), f"  {name}: error {before[name].error:+.1%} -> {c.error:+.1%}, model {before[name].cycles:,.0f} -> "
                                       f"{c.cycles:,.0f}, native {before[name].native:,.0f} -> {c.native:,.0f}"))
    lines = [text for _, text in sorted(moved, reverse=True)]
    lines += [f"  {name}: new" for name in after if name not in before]
    lines += [f"  {name}: gone" for name in before if name not in after]
    lines += [f"  {name}: {verdict(after[name]) or 'measured'}, was {verdict(before[name]) or 'measured'}" for name in after
              if name in before and verdict(after[name]) != verdict(before[name])]
    return lines
