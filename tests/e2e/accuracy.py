#!/usr/bin/env python3
"""The accuracy suite's own machinery: its programs count what they should, its figures are what they are by hand. TAP."""
import functools
import subprocess
import sys
from pathlib import Path

from lib import TOP, WORK, Skip, Tests, check, profile

sys.path.insert(0, str(TOP / "accuracy"))
import blocks  # noqa: E402
import document  # noqa: E402
import fingerprint  # noqa: E402
import host  # noqa: E402
import kernels  # noqa: E402
import results  # noqa: E402
from case import Case  # noqa: E402
from measure import Measure  # noqa: E402
from score import order, score  # noqa: E402

tests = Tests()


@functools.cache
def built():
    """Where the suite's programs are."""
    kernels.build(WORK)
    blocks.build(WORK)
    return WORK


def region(*command):
    report, _ = profile(*command, command="stat")
    check(len(report["regions"]) == 1, f"regions {report['regions']}")
    return report["regions"][0]


def native(*command):
    """Runs what is compiled for processors with AVX2 on this one."""
    if " avx2 " not in Path("/proc/cpuinfo").read_text():
        raise Skip("no AVX2")
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


@tests.case("only the kernel counts, and a kernel does as much as it is told")
def kernel_region():
    few, many = (region(built() / "kernels-scalar", "gemm", 16384, budget)["instructions"] for budget in (20_000, 200_000))
    check(8 < many / few < 12, f"{few} instructions for 20,000 iterations, {many} for 200,000")
    check(80_000 < few < 200_000, f"{few} instructions for 20,000 iterations")


@tests.case("all thirty kernels run in every variant and give samples")
def kernel_list():
    listed = native(built() / "kernels-scalar", "list").stdout.split("\n")[:-1]
    check(len(listed) == 30, f"{len(listed)} kernels")
    for variant in kernels.VARIANTS:
        for name in (line.split()[0] for line in listed):
            done = native(built() / f"kernels-{variant}", name, 65536, 1000)
            check(done.returncode == 0, f"{name}, {variant}: exit status {done.returncode} {done.stderr}")


@tests.case("a chain of additions takes a cycle each, as a block and as modelled")
def chain():
    found = region(built() / "runner", "-r", 50, "4883c001" * 8)
    check(0.9 < found["cycles"] / found["instructions"] < 1.1, f"{found}")


@tests.case("a block's accesses are made valid wherever they go; what cannot be is rejected")
def block_memory():
    # mov rax,[rax+rcx]; mov [rdi+0x100000],rax; mov rdx,[rip+0]
    valid = native(built() / "runner", "-r", 5, "488b0408" + "48898700001000" + "488b1500000000", "14:18:4660")
    check(valid.returncode == 0, f"exit status {valid.returncode}: {valid.stderr}")
    for why, code in (("exception", "31c9f7f1"), ("cannot be mapped", "31c0488b00")):  # division by 0; address 0
        done = native(built() / "runner", "-r", 5, code)
        check(done.returncode == 3 and why in done.stderr, f"{code}: exit status {done.returncode}: {done.stderr}")


@tests.case("there are 200 blocks and more, of ten programs and more, each once")
def block_list():
    listed = [line.split() for line in (TOP / "accuracy/blocks/blocks.txt").read_text().splitlines() if not line.startswith("#")]
    check(len(listed) >= 200 and len({row[0] for row in listed}) >= 10, f"{len(listed)} blocks")
    check(len({row[1] for row in listed}) == len({row[2] for row in listed}) == len(listed), "a block is there twice")


@tests.case("errors, bias and Kendall's tau are those by hand; noisy and failed cases do not count")
def figures():
    check(order([(1, 1), (2, 2), (3, 3)]) == (1, 1) and order([(1, 3), (2, 2), (3, 1)]) == (-1, 0), "tau of sorted pairs")
    tau, ordered = order([(1, 1), (2, 3), (3, 2), (4, 4)])
    check(abs(tau - 2 / 3) < 1e-12 and abs(ordered - 5 / 6) < 1e-12, "tau of one exchange in six pairs")
    check(order([(1, 1), (1, 2)]) == (None, None) and order([]) == (None, None), "tau of nothing to order")
    cases = [Case("kernels", "a/scalar/L1", "L1", rounds=[100, 101], cycles={"ooo": 105, "abstract": 90}),
             Case("kernels", "b/scalar/L1", "L1", rounds=[202, 200], cycles={"ooo": 160, "abstract": 80}),
             Case("kernels", "c/scalar/L1", "L1", rounds=[100, 120], cycles={"ooo": 100, "abstract": 100}),
             Case("kernels", "d/scalar/L1", "L1", failed="no reason")]
    s, other = score(cases, "ooo"), score(cases, "abstract")
    check((s.cases, s.noisy, s.failed) == (2, 1, 1), f"{s}")
    check(abs(s.error - 0.125) < 1e-12 and abs(s.bias + 0.075) < 1e-12 and s.tau == 1 and s.within == 0.5, f"{s}")
    check(other.cases == 2 and abs(other.error - 0.35) < 1e-12 and abs(other.bias + 0.35) < 1e-12 and other.tau == -1, f"{other}")
    check({c.held_out for c in (Case("kernels", f"gemm/{v}/L1") for v in kernels.VARIANTS)} == {Case("kernels", "gemm/x/L2").held_out}, "halves")


@tests.case("results read as they were written; what differs from those before is told")
def table():
    old = [Case("blocks", "a", rounds=[100.0, 101.0], cycles={"ooo": 110, "abstract": 90}, instructions=7),
           Case("blocks", "gone", rounds=[50.0, 50.0], cycles={"ooo": 50, "abstract": 50})]
    new = [Case("blocks", "a", rounds=[100.0, 101.0], cycles={"ooo": 120, "abstract": 95}, instructions=7),
           Case("blocks", "new", rounds=[50.0, 60.0], cycles={"ooo": 50, "abstract": 50})]
    results.write(WORK / "results.csv", {"host": "here", "core": "some"}, old)
    about, cases = results.read(WORK / "results.csv")
    check(about == {"host": "here", "core": "some"}, f"{about}")
    check([(c.name, c.native, c.cycles, c.instructions, round(c.spread, 3)) for c in cases] ==
          [("a", 100, {"ooo": 110, "abstract": 90}, 7, 0.01), ("gone", 50, {"ooo": 50, "abstract": 50}, 0, 0)], f"{cases}")
    told = results.differences(cases, new)
    check(len(told) == 4 and "ooo's error +10.0% -> +20.0%" in told[0] and "abstract's error -10.0% -> -5.0%" in told[1] and
          told[2:] == ["  new: new", "  gone: gone"], f"{told}")


@tests.case("a core's files are its parents' and cost files, too; its fingerprint tells of each model apart")
def fingerprints():
    names = sorted(p.name for p in host.core_files("cascade-lake"))
    check(names == ["cascade-lake.core", "skylake-sp.core", "skylake-sp.costs"], f"{names}")
    names = sorted({p.name for p in host.core_files("zen5")})
    check(names == ["zen.costs", "zen4.core", "zen5.core", "zen5.costs"], f"{names}")
    for about, _ in host.everything():
        table = fingerprint.present(about)
        lines = table.splitlines()
        first = lines[1].split("\t")
        other = "\n".join([lines[0], "\t".join([*first[:4], str(int(first[4]) + 1)]), *lines[2:]])
        check([m for m in ("ooo", "abstract") if fingerprint.digest(table, m) != fingerprint.digest(other, m)] == ["abstract"], about["core"])


@tests.case("a busy sibling is told by the samples of the same command")
def alone():
    measure = Measure("cyclewise", "zen4", WORK)
    check(all(measure.alone(["wide"], 11.7) for _ in range(100)), "the widest are not alone")
    check(measure.alone(["narrow"], 10.5) and measure.alone([], 11.0), "what another command reaches counts")
    check(not measure.alone(["wide"], 10.5), "a crowded sample counts")


@tests.case("every reason told of an error is of a case there is")
def reasons():
    names = {name: [c.name for c in host.recorded(name)[1] if not c.held_out] for name in host.known()}
    for hosts, pattern, _ in document.reasons():
        for name in names if hosts == "*" else hosts.split(","):
            check(any(document.fnmatch(case, pattern) for case in names[name]), f"{name} has no {pattern} that may be looked at")
    check(document.reason("amd-25-1", "cc1+0xb9b288") and not document.reason("amd-25-1", "cc1"), "patterns are of whole names")


tests.main()
