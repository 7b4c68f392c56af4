#!/usr/bin/env python3
"""What limits programs with one known bottleneck each, and that the analysis agrees with itself and with a plain run."""
from lib import CORES, SANITIZED, Tests, check, check_error, compile_program, profile

tests = Tests()

# kernel: function, the resources one of which must speed it up most, by how much at least at double capacity
LIMITS = {
    "fma": ("k_fma", {"latency", "latency.float"}, 1.9),
    "mul": ("k_mul", {"latency", "latency.multiply", "latency.integer"}, 1.3),
    "l2": ("k_chase", {"l2.latency", "llc.latency"}, 1.5),
    "memory": ("k_chase", {"memory.latency", "llc.latency", "memory.bandwidth"}, 1.2),
    "branch": ("k_branch", {"branch"}, 1.2),
}


# What is weighted beside the levels that a core has: enough to be wrong with, few enough to be quick.
COMMON = ["latency", "latency.integer", "latency.multiply", "latency.float", "frontend", "rob", "retire", "load.latency", "misses",
          "memory.latency", "memory.bandwidth", "tlb", "branch"]
LEVELS = {"x86-64": ["l2.latency", "llc.latency"], "aarch64": ["l2.latency"], "riscv64": ["llc.latency"]}


def limits(*args, **options):
    return profile(*args, command="sensitivity", **options)[0]


def limit(isa, name):
    function, resources, speedup = LIMITS[name]
    weighted = [r for r in COMMON + LEVELS[isa] if r in resources | {"rob", "tlb"} or not SANITIZED]

    def run():
        found = limits("--weights", "2", "--only", ",".join(weighted), "--roi", function, "--", compile_program("bottleneck.c", isa), name)
        top = found["resources"][0]
        what = [(r["name"], r["speedup"]) for r in found["resources"][:4]]
        check(found["model"] == "abstract" and found["core"] == CORES[isa], f"{found['core']} {found['model']}")
        check(top["name"] in resources, f"{what}")
        check(top["speedup"] >= speedup, f"{what}")
        for r in found["resources"]:
            speedups = [run["speedup"] for run in r["runs"]]
            check(r["speedup"] is None or r["speedup"] == speedups[0 if r["runs"][0]["weight"] < 1 else -1], f"{r}")
            for one in r["runs"]:
                check(abs(one["speedup"] - found["cycles"] / one["cycles"]) < 1e-6, f"{r}")
        # What was combined is what limits the region, not what limited the start of the program before it.
        check(all(top["name"] in c["name"].split("+") for c in found["combinations"][:2]), f"{what} {found['combinations']}")
        order = [r["speedup"] for r in found["resources"] if r["speedup"] is not None]
        check(order == sorted(order, reverse=True), f"{order}")
    return run


for isa in CORES:
    for name in LIMITS if isa == "x86-64" else ["fma", "l2"]:
        tests.case(f"{isa} {name}", sanitize=(isa, name) == ("riscv64", "fma"))(limit(isa, name))


@tests.case("figure 1: latency and nothing else, both loops alike")
def figure_1():
    program = compile_program("figure1.c", "x86-64", "-static", "-mavx2", "-mfma")
    for loop in "ab":
        found = limits("--roi", f"loop_{loop}", program)
        check(abs(found["cycles"] / 80000 - 1) < 0.02, f"{found['cycles']} cycles, not 8 an iteration")
        for r in found["resources"]:
            if r["name"] in ("latency", "latency.float"):
                check(r["speedup"] > 1.9, f"{r}")
            else:
                check(r["speedup"] is None or r["speedup"] < 1.02, f"{r}")


@tests.case("the same figures every time, and the cycles of a plain run")
def again():
    program = compile_program("bottleneck.c", "x86-64")
    args = ("--roi", "k_store", "--", program, "store")
    few = ("--only", "rob,p4,store_queue,l2.bandwidth,tlb", *args)
    first, second = limits(*few), limits(*few)
    check(first == second, "two runs differ")
    plain, _ = profile("--model", "abstract", *args, command="stat")
    check(abs(plain["cycles"] - first["cycles"]) <= 1, f"{plain['cycles']} and {first['cycles']}")


@tests.case("combinations of the top three, none worse than its parts by much")
def combinations():
    found = limits("--weights", "2", "--only", "rob,p4,store_queue,l2.bandwidth,retire", "--roi", "k_store", "--", compile_program("bottleneck.c", "x86-64"), "store")
    speed = {r["name"]: r["speedup"] for r in found["resources"]}
    check(len(found["combinations"]) == 4, f"{found['combinations']}")
    for c in found["combinations"]:
        parts = c["name"].split("+")
        check(len(parts) in (2, 3) and all(p in speed for p in parts), f"{c}")
        check(c["speedup"] >= 0.98 * max(speed[p] for p in parts), f"{c} {[speed[p] for p in parts]}")


@tests.case("two that are saturated at once are found, though neither limits alone")
def saturated():
    found = limits("--only", "latency,p23,p06,rob,retire,tlb,l2.bandwidth", "--roi", "k_saturated", "--", compile_program("saturated.c", "x86-64"))
    check(all(r["speedup"] < 1.02 for r in found["resources"]), f"{found['resources']}")
    check(max(c["speedup"] for c in found["combinations"] if set(c["name"].split("+")) == {"p23", "latency"}) > 1.5, f"{found['combinations']}")


@tests.case("the detailed core: latency limits a chain of multiply-adds, ports do not", sanitize=True)
def detailed():
    found = limits("--model", "ooo", "--weights", "2", "--only", "latency,p0,p01,rob,tlb,div", "--roi", "k_fma", "--",
                   compile_program("bottleneck.c", "x86-64"), "fma")
    speed = {r["name"]: r["speedup"] for r in found["resources"]}
    check(found["model"] == "ooo", found["model"])
    check(speed["latency"] > 1.9, f"{speed}")
    check(all(s < 1.02 for name, s in speed.items() if name != "latency"), f"{speed}")
    plain, _ = profile("--roi", "k_fma", "--", compile_program("bottleneck.c", "x86-64"), "fma", command="stat")
    check(abs(plain["cycles"] - found["cycles"]) <= 1, f"{plain['cycles']} and {found['cycles']}")


@tests.case("wrong options are refused", sanitize=True)
def wrong():
    for weights in ("much", "1", "", "2,,3", "0"):
        check_error(2, "--weights", f"'{weights}'", "such as 0.5,2", "sensitivity", "--weights", weights, "true")
    for only in ("", "p0,,p1", "foo"):
        check_error(2, "--only", "no resource", "shows all", "sensitivity", "--only", only, "true")
    _, process = profile("--only", "p1,robb", "true", command="sensitivity", status=2)
    check("did you mean rob?" in process.stderr, process.stderr)


if __name__ == "__main__":
    tests.main()
