"""results.csv: written, read, and compared with the one before.

Lines that begin with # say where the figures are from: `# key: value`. Then one line a case, sorted by group and name as
the suite has them, with cycles and error for each timing model. Cycles are whole; errors are fractions of the native cycles.
"""
import csv

from case import MODELS, Case

COLUMNS = ["group", "name", "level", "bytes", "half", "instructions", "native", "spread",
           *(column for model in MODELS for column in (model, f"{model} error")), "verdict"]


def verdict(case):
    return f"failed: {case.failed}" if case.failed else "noisy" if case.noisy else ""


def modelled(case, model):
    """Its cells of the table, empty where it was not modelled."""
    return (f"{case.cycles[model]:.0f}", f"{case.error(model):+.4f}") if model in case.cycles else ("", "")


def write(path, about, cases):
    with open(path, "w", newline="") as out:
        for key, value in about.items():
            out.write(f"# {key}: {value}\n")
        table = csv.writer(out, lineterminator="\n")
        table.writerow(COLUMNS)
        for c in cases:
            table.writerow([c.group, c.name, c.level, c.bytes, "held out" if c.held_out else "tuning", c.instructions, f"{c.native:.0f}",
                            f"{c.spread:.5f}", *(text for m in MODELS for text in modelled(c, m)), verdict(c)])


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
                          cycles={model: float(row[model]) for model in MODELS if row[model]}, failed=failed))
    return about, cases


def differences(old, new, least=0.005):
    """Lines that say which cases' modelled cycles or errors moved by more than `least`, largest first; and what came or went."""
    before = {c.name: c for c in old}
    after = {c.name: c for c in new}
    moved = []
    for name, c in after.items():
        for model in MODELS:
            if name not in before or not c.counts_for(model) or not before[name].counts_for(model):
                continue
            was, now = before[name].error(model), c.error(model)
            if abs(now - was) > least:
                moved.append((abs(abs(now) - abs(was)), f"  {name}: {model}'s error {was:+.1%} -> {now:+.1%}, cycles {before[name].cycles[model]:,.0f} -> "
                                                        f"{c.cycles[model]:,.0f}, native {before[name].native:,.0f} -> {c.native:,.0f}"))
    lines = [text for _, text in sorted(moved, reverse=True)]
    lines += [f"  {name}: new" for name in after if name not in before]
    lines += [f"  {name}: gone" for name in before if name not in after]
    lines += [f"  {name}: {verdict(after[name]) or 'measured'}, was {verdict(before[name]) or 'measured'}" for name in after
              if name in before and verdict(after[name]) != verdict(before[name])]
    return lines
