#!/usr/bin/env python3
"""Programs with one known bottleneck each: the right instruction pays, on the right event, and, where the number
of cycles is known, it is met within 2%."""
from lib import CORES, Tests, check, check_sums, compile_program, profile

tests = Tests()

# kernel: function, instructions that must pay (beginnings of their text, by ISA), event, share of the cycles they
# carry at least, cycles known exactly (by ISA: per execution, executions)
X86, A64, RV = "x86-64", "aarch64", "riscv64"
KERNELS = {
    "mul": ("k_mul", {X86: "imul", A64: "mul", RV: "mul"}, "Base", 0.9,
            {X86: (3, 320000), A64: (5, 320000), RV: (3, 320000)}),
    "fma": ("k_fma", {X86: "vfmadd", A64: "fmadd", RV: "fmadd"}, "Base", 0.9,
            {X86: (4, 320000), A64: (3, 320000), RV: (4, 320000)}),
    "l2": ("k_chase", {X86: "mov", A64: "ldr", RV: "ld"}, "ST-L1", 0.9, {X86: (14, 320000), A64: (21, 320000)}),
    "memory": ("k_chase", {X86: "mov", A64: "ldr", RV: "ld"}, "ST-LLC", 0.9, {}),
    "pages": ("k_chase", {X86: "mov", A64: "ldr", RV: "ld"}, "ST-TLB", 0.9, {}),
    "branch": ("k_branch", {X86: "je", A64: "cbz", RV: "beqz"}, "FL-MB", 0.3, {}),
    "store": ("k_store", {X86: "mov", A64: "str", RV: "sd"}, "DR-SQ", 0.5, {}),
    "icache": ("k_icache", {X86: "nopl", A64: "nop", RV: "nop"}, "DR-L1", 0.5, {}),
    # BOOM's small table of dependences makes most loads wait, whether they must or not: few violations are left.
    "order": ("k_order", {X86: "mov", A64: "ldr", RV: "ld"}, "FL-MO", {X86: 0.4, A64: 0.4, RV: 0.05}, {}),
    "serial": ("k_serial", {X86: "lfence", A64: "isb", RV: "fsflags"}, "FL-EX", 0.5, {}),
}


def mnemonics(report):
    """Cycles by mnemonic, most first."""
    cycles = {}
    for row in report["hot"]:
        name = row["disassembly"].split()[0]
        cycles[name] = cycles.get(name, 0) + row["cycles"]
    return sorted(cycles.items(), key=lambda item: -item[1])


def paid(report, text, event):
    """Cycles of the instructions with that text, in components with the event."""
    rows = [row for row in report["hot"] if row["disassembly"].split()[0].startswith(text)]
    return sum(c for row in rows for name, c in row["stack"].items() if event in name.split("+"))


def bottleneck(isa, name):
    function, texts, event, share, exact = KERNELS[name]
    share = share[isa] if isinstance(share, dict) else share

    def run():
        report, _ = profile("--roi", function, "--", compile_program("bottleneck.c", isa), name)
        check(report["core"] == CORES[isa], f"core {report['core']}")
        check(report["complete"], "not complete")
        check_sums(report)
        top = mnemonics(report)
        part = paid(report, texts[isa], event) / report["cycles"]
        what = f"{report['cycles']} cycles: {top[:3]}"
        check(top[0][0].startswith(texts[isa]), f"the most cycles are not on {texts[isa]}: {what}")
        check(part >= share, f"{texts[isa]} carries {part:.3f} of the cycles on {event}: {what}")
        if isa in exact:
            each, times = exact[isa]
            error = report["cycles"] / (each * times) - 1
            check(abs(error) <= 0.02, f"{report['cycles']} cycles, not {each} x {times}: {error:+.2%}")
    return run


for isa in CORES:
    for name in KERNELS:
        tests.case(f"{isa} {name}", sanitize=(isa, name) in ((X86, "order"), (A64, "serial"), (RV, "icache")))(bottleneck(isa, name))

if __name__ == "__main__":
    tests.main()
