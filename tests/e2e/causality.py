#!/usr/bin/env python3
"""The critical path of programs with one known bottleneck each, on both models."""
import json

from lib import CORES, WORK, Tests, check, check_error, compile_program, cyclewise, profile

tests = Tests()

# kernel: function, beginnings of the instructions that must carry the path, by ISA, their share at least, what binds them
X86, A64, RV = "x86-64", "aarch64", "riscv64"
PATHS = {
    "fma": ("k_fma", {X86: "vfmadd", A64: "fmadd", RV: "fmadd"}, 0.95, "latency"),
    "mul": ("k_mul", {X86: "imul", A64: "mul", RV: "mul"}, 0.95, "latency"),
    "memory": ("k_chase", {X86: "mov", A64: "ldr", RV: "ld"}, 0.9, "latency"),
}


def causes(*args):
    return profile(*args, command="causality")[0]


def check_shares(found):
    shares = [i["share"] for i in found["instructions"]]
    check(abs(sum(shares) - 1) < 1e-7, f"shares sum to {sum(shares)}")
    check(shares == sorted(shares, reverse=True), "not in the order of their shares")
    for i in found["instructions"]:
        check(abs(sum(i["resources"].values()) - 1) < 1e-4, f"{i}")


def path(isa, model, name):
    function, texts, share, bound = PATHS[name]

    def run():
        found = causes("--model", model, "--roi", function, "--", compile_program("bottleneck.c", isa), name)
        check(found["model"] == model and found["core"] == CORES[isa], f"{found['model']} {found['core']}")
        check_shares(found)
        rows = [i for i in found["instructions"] if i["disassembly"].startswith(texts[isa])]
        what = [(i["disassembly"], i["share"], i["resources"]) for i in found["instructions"][:4]]
        check(sum(i["share"] for i in rows) >= share, f"{what}")
        check(rows[0]["resources"].get(bound, 0) > 0.9, f"{what}")
    return run


for isa in CORES:
    for model in ("abstract", "ooo"):
        for name in PATHS:
            tests.case(f"{isa} {model} {name}", sanitize=(isa, name) == (A64, "mul"))(path(isa, model, name))


def figure_1(model):
    def run():
        program = compile_program("figure1.c", "x86-64", "-static", "-mavx2", "-mfma")
        for loop in "ab":
            found = causes("--model", model, "--roi", f"loop_{loop}", program)
            check_shares(found)
            fmas = [i for i in found["instructions"] if i["disassembly"].startswith("vfmadd")]
            check(len(fmas) == 2 and sum(i["share"] for i in fmas) >= 0.95, f"{found['instructions'][:4]}")
            check(all(i["resources"].get("latency", 0) > 0.95 for i in fmas), f"{fmas}")
    return run


for model in ("abstract", "ooo"):
    tests.case(f"{model}: figure 1's multiply-adds carry the path")(figure_1(model))


@tests.case("the same every time, in as many cycles as a plain run")
def again():
    for model in ("abstract", "ooo"):
        args = ("--model", model, "--", compile_program("bottleneck.c", "x86-64"), "store")
        first, second = causes(*args), causes(*args)
        check(first == second, "two runs differ")
        plain, _ = profile(*args, command="stat")
        check(plain["cycles"] == first["cycles"], f"{plain['cycles']} and {first['cycles']}")


@tests.case("what was written into a file is shown as it was, and has no cycles to annotate", sanitize=True)
def file():
    program, path = compile_program("bottleneck.c", "x86-64"), WORK / "analysis.cw"
    for command, options in (("causality", ()), ("sensitivity", ("--only", "rob,latency"))):
        found, _ = profile("-o", path, *options, "--roi", "k_fma", "--", program, "fma", command=command)
        shown = cyclewise("report", "--json", path)
        check(shown.returncode == 0 and json.loads(shown.stdout) == found, f"{command}: {shown.stdout[:500]} {shown.stderr}")
        check_error(125, path, f"`cyclewise {command}`", "`cyclewise report`", "annotate", path, "k_fma")


if __name__ == "__main__":
    tests.main()
