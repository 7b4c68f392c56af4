#!/usr/bin/env python3
"""Sensitivity agrees with itself: what limits a kernel must limit its optimised version no more. TAP.

The kernels of the accuracy suite, compiled without and with vectors, in L1. For every resource of which twice as much would
make the plain kernel B over 2% faster, the speed-up of the optimised version V is at most B's and 0.02. Ref: Gus, section 4.4.
"""
import functools
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from lib import CYCLEWISE, SANITIZED, TOP, WORK, Tests, check

sys.path.insert(0, str(TOP / "accuracy"))
import kernels  # noqa: E402

tests = Tests()
BYTES, ITERATIONS = 16384, 20_000
LIMITS, MORE = 1.02, 0.02
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}  # the same everywhere: it is on the guest's stack, and moves what lies below it

# No optimised versions: with vectors they take longer. The recurrences of deriche, sums in another order, are the longer for it;
# cholesky's vectors are loaded of what was just stored one by one, which has to be written first (forward.fail_penalty).
SLOWER = {"deriche", "cholesky"}

# (kernel, resource): why V is limited more. Unless it is that V may take more of it (MORE_OF_IT), the test checks that V loses
# no more cycles to the resource than B, within MORE of its own: they are only a larger share of what is left.
EXCEPTIONS = {
    ("mvt", "load_queue"): "how many rows' chains overlap is the same; the chains are a quarter as long",
    ("lu", "branch"): "the ends of the loops are as hard to predict, the loops shorter",
    ("ludcmp", "branch"): "loops of 1 to 45 elements end in remainders, which are branches of their own",
    ("trisolv", "latency"): "vectors are loaded of what was just stored one by one, and wait for the writes: rows follow each other",
    ("trisolv", "latency.float"): "as latency",
    ("ludcmp", "latency"): "as trisolv",
    ("ludcmp", "latency.float"): "as latency",
    ("seidel-2d", "latency"): "B's chain also goes from a store to the next load, V's does not: what is left of it is arithmetic",
    ("seidel-2d", "latency.float"): "as latency",
}
MORE_OF_IT = {("ludcmp", "branch")}


@functools.cache
def build():
    """The programs of the suite, but for `run`, which must stay a function to be the region."""
    sources = [str(p) for p in sorted((kernels.HERE / "kernels").glob("*.c")) if p.name != "main.c"]
    main = str(WORK / "main.o")
    subprocess.run(["gcc", *kernels.COMMON, "-O1", "-fno-inline", "-c", "-o", main, str(kernels.HERE / "kernels/main.c")], check=True)
    for variant in ("scalar", "vector"):
        subprocess.run(["gcc", *kernels.COMMON, *kernels.VARIANTS[variant][0], "-o", str(WORK / variant), main, *sources,
                        str(kernels.HERE / "clock.c"), "-lm"], check=True)
    listed = subprocess.run([str(WORK / "scalar"), "list"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


def limits(variant, name, *options):
    """Cycles, and resource -> speed-up at twice the capacity."""
    done = subprocess.run([CYCLEWISE, "sensitivity", "--no-progress", "--json", "--weights", "2", *options, "--roi", "run", "--",
                           "./" + variant, name, str(BYTES), str(ITERATIONS)], cwd=WORK, env=ENVIRONMENT,
                          capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    found = json.loads(done.stdout)
    return found["cycles"], {r["name"]: r["speedup"] for r in found["resources"] if r["speedup"] is not None}


def lost(cycles, speedup):
    return cycles * (1 - 1 / speedup)


@tests.case("what limits a kernel limits its vectorised version no more")
def pairs():
    names = build()
    chosen = [name for name in names if name not in SLOWER][:3 if SANITIZED else None]
    with ThreadPoolExecutor(2) as pool:
        plain, optimised = ([*pool.map(lambda name: limits(variant, name), chosen)] for variant in ("scalar", "vector"))
    compared, wrong, needed = 0, [], set()
    for name, (b_cycles, b), (v_cycles, v) in zip(chosen, plain, optimised):
        check(v_cycles < b_cycles, f"{name}: {v_cycles} cycles with vectors, {b_cycles} without: not optimised")
        limiting = {resource: speedup for resource, speedup in b.items() if speedup > LIMITS}
        compared += bool(limiting)
        for resource, speedup in limiting.items():
            what, with_vectors = (name, resource), v.get(resource, 1)
            if what not in EXCEPTIONS:
                if with_vectors > speedup + MORE:
                    wrong.append(f"{name}: {resource} {speedup:.3f}, with vectors {with_vectors:.3f}")
            elif with_vectors > speedup:
                needed.add(what)
                if what not in MORE_OF_IT and lost(v_cycles, with_vectors) > lost(b_cycles, speedup) + MORE * v_cycles:
                    wrong.append(f"{name}: {resource} costs {lost(b_cycles, speedup):.0f} cycles, with vectors {lost(v_cycles, with_vectors):.0f}")
    check(not wrong, "\n".join(wrong))
    if not SANITIZED:
        check(compared >= 20, f"{compared} pairs have a resource to compare")
        check(needed == EXCEPTIONS.keys(), f"no longer exceptions: {EXCEPTIONS.keys() - needed}")


@tests.case("what is slower with vectors is no pair")
def slower():
    build()
    for name in sorted(SLOWER):
        check(limits("vector", name)[0] > limits("scalar", name)[0], f"{name} is not: compare it")


@tests.case("seidel-2d without vectors also waits for its stores")
def chain():
    build()
    at_once = ("--only", "latency", "--set", "forward.latency=0", "--set", "forward.vector=0", "--set", "l1d.latency=1")
    check(limits("scalar", "seidel-2d", *at_once)[1]["latency"] > limits("vector", "seidel-2d", "--only", "latency")[1]["latency"] - MORE,
          "were a store's value there at once, latency would limit it as much as with vectors")


if __name__ == "__main__":
    tests.main()
