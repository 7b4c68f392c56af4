#!/usr/bin/env python3
"""What runs would take without events, against the same programs changed so that the event goes; what else the command promises."""
from lib import EVENTS, WORK, Tests, check, check_error, compile_program, cyclewise, profile

tests = Tests()

# Without the erratum, where in its line a loop's branch happens to end does not matter.
COMMON = ("--set", "uopcache.jcc_erratum=0")
# With pages so large that no load misses a TLB, and a last level so small that what is larger than L2 comes from memory.
FAR = (*COMMON, "--set", "page.bits=21", "--set", "llc.size=180224")
KERNELS = {
    "sort": ("FL-MB", COMMON),
    "pages": ("ST-TLB", COMMON),
    "shrink": ("ST-LLC", FAR),
    "chase": ("ST-LLC", FAR),
    "fit": ("ST-L1", COMMON),
    "serial": ("FL-EX", COMMON),
}
WITHIN = 0.10


def program(isa="x86-64"):
    return compile_program("whatif.c", isa)


def whatif(*args, **options):
    return profile(*args, command="whatif", **options)[0]


def cycles(*args):
    return profile(*args, command="stat")[0]["cycles"]


def close(predicted, real):
    check(abs(predicted / real - 1) <= WITHIN, f"predicted {predicted}, changed it takes {real}: {predicted / real:.3f}")


def changed(name):
    event, options = KERNELS[name]

    def run():
        kernel = "k_" + name
        found = whatif(*options, "--function", kernel, "--event", event, "--roi", kernel, "--", program(), name)
        only, = found["whatifs"]
        check(only["never"] == [event] and only["instructions"] == f"function {kernel}", f"{only}")
        real = cycles(*options, "--roi", kernel + "_not" if name == "serial" else kernel, "--", program(), name, "changed")
        close(only["cycles"], real)
        check(found["cycles"] > 1.15 * real, f"{found['cycles']} cycles as it is, {real} without: nothing to be predicted")
        check(abs(only["speedup"] - found["cycles"] / only["cycles"]) < 1e-6, f"{only}")
    return run


for name in KERNELS:
    tests.case(f"{name} without {KERNELS[name][0]}", long=name == "chase", sanitize=name == "serial")(changed(name))


def gather_of(found, kernel):
    """Where the load of a kernel that costs most is."""
    row = max((row for row in found["hot"] if row["symbol"] == kernel), key=lambda row: row["cycles"])
    return f"{kernel}+0x{row['offset']:x}", row


@tests.case("a prefetch that is put into the program, less the cost of its instructions", sanitize=True)
def prefetch():
    args = ("--roi", "k_fetch", "--", program("riscv64"), "fetch")
    place, row = gather_of(profile(*args)[0], "k_fetch")
    found = whatif("--prefetch", place, "--distance", "1,16", *args)
    only, = found["prefetches"]
    check(only["disassembly"] == row["disassembly"] and only["executions"] == 5000, f"{only}")
    check([d["distance"] for d in only["distances"]] == [1, 16], f"{only}")
    near, far = (d["cycles"] for d in only["distances"])
    check(found["whatifs"] == [] and far < near < found["cycles"], f"{found}")
    # The program as it is prefetches a line that is there: with the same instructions, the address alone is changed.
    close(far, cycles(*args, "changed"))


@tests.case("the ten largest pairs, largest first, with what the stacks say of them", sanitize=True)
def largest():
    args = (*COMMON, "--roi", "k_pages", "--", program(), "pages")
    plain, _ = profile(*args)
    found = whatif(*args)
    check(abs(found["cycles"] - plain["cycles"]) < 1, f"{found['cycles']} cycles, a plain run has {plain['cycles']}")
    pairs = {}
    for row in plain["hot"]:
        for component, units in row["stack"].items():
            for event in component.split("+"):
                if event != "Base" and units:
                    pairs[event, row["offset"]] = pairs.get((event, row["offset"]), 0) + units
    *rows, together = found["whatifs"]
    check(len(rows) == min(10, len(pairs)), f"{len(rows)} rows of {len(pairs)} pairs")
    shares = [row["share"] for row in rows]
    check(shares == sorted(shares, reverse=True), f"{shares}")
    for row in rows:
        event, = row["never"]
        check(abs(row["share"] - pairs[event, row["offset"]]) <= 0.5, f"{row}, the stacks say {pairs[event, row['offset']]}")
    check(shares[0] >= max(pairs.values()) - 0.5, f"{rows[0]} of {pairs}")
    check("instructions" in together and "share" in together, f"{together}")
    check(together["cycles"] <= min(row["cycles"] for row in rows), f"{together} of {rows}")
    check(rows[0]["cycles"] < 0.6 * found["cycles"], f"{rows[0]}")


@tests.case("the branch that is mispredicted most often behind the ten largest pairs, where it is none of them", long=True)
def mispredicted():
    *rows, together = whatif(*COMMON, "--", program(), "pages")["whatifs"]
    check(len(rows) == 11 and all(row["never"] != ["FL-MB"] for row in rows[:10]) and rows[10]["never"] == ["FL-MB"], f"{rows}")
    check(rows[10]["share"] <= rows[9]["share"] and "FL-MB" in together["never"], f"{rows}, {together}")
    *rows, _ = whatif("--limit", "10", *COMMON, "--", program(), "pages")["whatifs"]
    check(len(rows) == 10 and all(row["never"] != ["FL-MB"] for row in rows), f"{rows}")


@tests.case("the same figures every time, and from the file that it writes")
def again():
    out = WORK / "whatif.cw"
    args = ("--insn", "k_sort+0x0", "--event", "FL-MB,DR-L1", "--function", "k_sort", "--roi", "k_sort", "--", program(), "sort")
    first, second = whatif(*args), whatif("-o", out, *args)
    check(first == second, "two runs differ")
    check([row["never"] for row in first["whatifs"]] == [["DR-L1"], ["FL-MB"], ["DR-L1", "FL-MB"]], f"{first['whatifs']}")
    check(first["whatifs"][0]["instructions"] == "k_sort+0x0, function k_sort", f"{first['whatifs']}")
    report = cyclewise("report", out)
    check(report.returncode == 0 and "k_sort" in report.stdout, report.stdout + report.stderr)


@tests.case("threads: each has cores of its own, and the cycles are those of all")
def threads():
    args = ("--skip", "1000", "--", "xz", "-T2", "--block-size=20000", "-0", "-c", "/usr/share/common-licenses/GPL-3")
    plain, _ = profile(*args)
    found = whatif("--event", "FL-MB", *args)
    check(abs(found["cycles"] - plain["cycles"]) < 0.2 * plain["cycles"], f"{found['cycles']} and {plain['cycles']}")
    check(found["whatifs"][0]["cycles"] < found["cycles"], f"{found['whatifs'][0]}")


@tests.case("every event can be supposed away on every ISA", sanitize=True)
def everywhere():
    for isa in ("x86-64", "aarch64", "riscv64"):
        found = whatif("--event", ",".join(EVENTS), "--", compile_program("bottleneck.c", isa), "order")
        check([row["never"] for row in found["whatifs"]] == [[e] for e in EVENTS] + [EVENTS], f"{found['whatifs']}")
        for row in found["whatifs"]:
            check(row["cycles"] <= 1.02 * found["cycles"], f"{isa}: {row} of {found['cycles']}")
        check(found["whatifs"][-1]["cycles"] < 0.9 * found["cycles"], f"{isa}: {found['whatifs'][-1]}")


@tests.case("what is wrong is said, before the program runs where that can be known", sanitize=True)
def wrong():
    sort = ("--roi", "k_sort", "--", program(), "sort")
    quiet = min(f"k_sort+0x{row['offset']:x}" for row in profile(*sort)[0]["hot"] if row["symbol"] == "k_sort" and set(row["stack"]) == {"Base"})
    for args, what, why, remedy in [
        (("--event", "ST-LC"), "--event", "there is no event 'ST-LC'", "did you mean ST-L1?"),
        (("--event", ""), "--event", "there is no event ''", "the nine are"),
        (("--distance", "0", "--prefetch", "main+0x0"), "--distance", "'0' is not a list", "such as 4,16"),
        (("--insn", "k_sort"), "k_sort", "is neither FUNCTION+OFFSET nor an address", "main+0x1c"),
        (("--prefetch", "+0x4"), "+0x4", "is neither FUNCTION+OFFSET nor an address", "main+0x1c"),
        (("--distance", "4"), "--distance", "there is no --prefetch", None),
        (("--model", "abstract"), "abstract", "cannot suppose", "it is ooo"),
    ]:
        check_error(2, what, why, remedy, "whatif", *args, *sort)
    for args, what, why in [
        (("--insn", "k_sort+0x1"), "k_sort+0x1", "no instruction that begins there was executed"),
        (("--insn", "0x3"), "0x3", "no instruction that begins there was executed"),
        (("--function", "k_srt"), "k_srt", "no function of this name"),
        (("--prefetch", "k_sort+0x0"), "k_sort+0x0", "is no load"),
        (("--insn", quiet), quiet, "met none of the nine events"),
    ]:
        done = cyclewise("whatif", "-q", *args, *sort)
        check(done.returncode == 125, f"exit status {done.returncode}: {done.stderr}")
        check(f"cyclewise: {what}: " in done.stderr and why in done.stderr, done.stderr)


if __name__ == "__main__":
    tests.main()
