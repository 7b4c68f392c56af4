#!/usr/bin/env python3
"""Advice on programs with one known bottleneck each names the right cause, place and instruction, and what it would be without."""
import functools
import json
import signal
import subprocess

from lib import CORES, CYCLEWISE, HANG, SANITIZED, WORK, Tests, check, compile_program, cyclewise, profile

tests = Tests()

# kernel: function, the cause (event, pattern) that must come first, beginnings of the instruction, by ISA, who predicts it, a
# speed-up at least. None: either may see the more.
X86, A64, RV = "x86-64", "aarch64", "riscv64"
LOAD = {X86: "mov", A64: "ldr", RV: "ld"}
STORE = {X86: "mov", A64: "str", RV: "sd"}
ADVICE = {
    "mul": ("k_mul", ("Base", "chain"), {X86: "imul", A64: "mul", RV: "mul"}, "abstract", 1.5),
    "fma": ("k_fma", ("Base", "chain"), {X86: "vfmadd", A64: "fmadd", RV: "fmadd"}, "abstract", 1.5),
    "l2": ("k_chase", ("ST-L1", "chase"), LOAD, "ooo", 2),
    "memory": ("k_chase", ("ST-LLC", "chase"), LOAD, "ooo", 2),
    "pages": ("k_chase", ("ST-TLB", "chase"), LOAD, "ooo", 1.15),
    "branch": ("k_branch", ("FL-MB", "unpredictable"), {X86: "je", A64: "cbz", RV: "beqz"}, "ooo", 2),
    "store": ("k_store", ("DR-SQ", "stride"), STORE, None, 1.05),
    "icache": ("k_icache", ("DR-L1", "thrash"), {X86: "nopl", A64: "nop", RV: "nop"}, "ooo", 1.2),
    "order": ("k_order", ("FL-MO", "late"), LOAD, "ooo", 1.01),
    "serial": ("k_serial", ("FL-EX", "serialising"), {X86: "lfence", A64: "isb", RV: "fsflags"}, "ooo", 1.5),
}


def advice(*args):
    return profile(*args, command="advise")[0]


@functools.cache
def of_kernel(isa, name):
    return advice("--roi", ADVICE[name][0], "--", compile_program("bottleneck.c", isa), name)


def bottleneck(isa, name):
    function, cause, texts, model, speedup = ADVICE[name]

    def run():
        found = of_kernel(isa, name)
        check(found["core"] == CORES[isa] and found["model"] == "ooo", f"{found['core']} {found['model']}")
        what = [(f["event"], f["pattern"], f["share"], f["predicted"]) for f in found["findings"]]
        check(found["findings"], "nothing was found")
        top = found["findings"][0]
        check((top["event"], top["pattern"]) == cause, f"{what}")
        check(top["symbol"] == function and top["file"].endswith("bottleneck.c") and top["line"], f"{top['symbol']} {top['file']}:{top['line']}")
        check(any(i["disassembly"].startswith(texts[isa]) for i in top["instructions"][:2]), f"{top['instructions'][:2]}")
        check(top["why"] and len(top["helps"]) >= 2 and top["seen"], f"{top}")
        best = max(top["predicted"], key=lambda p: p["speedup"])
        check(best["model"] == (model or best["model"]) and best["speedup"] >= speedup, f"{what}")
        for f in found["findings"]:
            check(f["predicted"], f"a finding without a number: {f['title']}")
    return run


# What sanitizers look at is the same on every ISA.
for isa in ["x86-64"] if SANITIZED else CORES:
    for name in ADVICE:
        if (isa, name) != (RV, "order"):
            tests.case(f"{isa} {name}", long=name == "memory" and isa != X86, sanitize=name in ("mul", "order", "pages"))(bottleneck(isa, name))


@tests.case("riscv64 order: BOOM's loads wait for stores, whether they must or not")
def waiting():
    found = of_kernel(RV, "order")
    what = [(f["event"], f["pattern"], f["share"], f["predicted"]) for f in found["findings"]]
    most = max(found["findings"], key=lambda f: f["cycles"])
    # What is left is the multiplications that the stores' addresses wait for, or the wait for these: the two take as long.
    text = {"chain": "mul", "forward": "ld"}
    check(most["event"] == "Base" and most["pattern"] in text and most["symbol"] == "k_order", f"{what}")
    check(most["instructions"][0]["disassembly"].startswith(text[most["pattern"]]), f"{most['instructions'][:2]}")


@tests.case("the same every time; the text says what the JSON does")
def again():
    args = ("--roi", "k_branch", "--", compile_program("bottleneck.c", "x86-64"), "branch")
    first, second = advice(*args), advice(*args)
    check(first == second, "two runs differ")
    report = WORK / "advice.txt"
    done = cyclewise("advise", "--no-progress", "--report", report, *args)
    check(done.returncode == 0 and not done.stderr, f"{done.returncode} {done.stderr}")
    text = " ".join(report.read_text().split())
    top = first["findings"][0]
    speedup = max(p["speedup"] for p in top["predicted"])
    for words in (top["title"], top["why"], top["seen"], *top["helps"], f"{speedup:.2f} times as fast", "says ooo"):
        check(words in text, f"'{words}' is not in {text}")


@tests.case("no prefetch is thought of in a chain of pointers")
def prefetch():
    found = of_kernel("x86-64", "memory")
    check(not any("prefetched" in p for f in found["findings"] for p in f["predicted"]), f"{found['findings'][0]['predicted']}")


@tests.case("what stands beside the pointer in a list is a chase, too, and cannot be prefetched")
def beside():
    source = WORK / "list.c"
    source.write_text("""
#include <stdlib.h>
struct node { struct node *next; long value; };
__attribute__((noinline)) long total(const struct node *p, long n) { long s = 0; while (n--) { s += p->value; p = p->next; } return s; }
int main(void)
{
	enum { NODES = 1 << 14, STEP = 4099 };
	struct node (*a)[4] = calloc(NODES, sizeof *a);
	for (long i = 0; i < NODES; i++)
		a[i * STEP % NODES]->next = a[(i + 1) * STEP % NODES];
	return (int)total(a[0], 40000);
}
""")
    subprocess.run(["gcc", "-O1", "-g", "-static", "-o", str(WORK / "list"), str(source)], check=True)
    found = advice("--roi", "total", "--", WORK / "list")
    top = found["findings"][0]
    check(top["pattern"] == "chase" and top["instructions"][0]["disassembly"].startswith("add"), f"{top}")
    predicted = {p["never"]: p["speedup"] for p in top["predicted"]}
    check(predicted["ST-L1+ST-TLB+ST-LLC"] > 1.2 * predicted[top["event"]] > 1.2, f"{predicted}")
    check("a chain of pointers, `mov" in top["seen"], top["seen"])
    check(not any("prefetched" in p for f in found["findings"] for p in f["predicted"]), f"{found['findings']}")


@tests.case("interrupted: what the program did is kept, and it is said that nothing is predicted", sanitize=True)
def interrupted():
    out = WORK / "interrupted.json"
    run = subprocess.Popen([CYCLEWISE, "advise", "--no-progress", f"--json={out}", "yes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    check(run.stdout.readline() == "y\n", "the program did not begin")
    run.send_signal(signal.SIGINT)
    errors = run.communicate(timeout=HANG)[1]
    check(run.returncode == 130, f"exit status {run.returncode}: {errors}")
    found = json.loads(out.read_text())
    check(not found["complete"] and found["instructions"] and not found["findings"], f"{found}")
    check(any("nothing is predicted" in note for note in found["notes"]), f"{found['notes']}")
    check("Nothing stands out" not in errors, errors)


@tests.case("code in turn, more than the uop cache holds: told once for the run, with its functions and a number", sanitize=True)
def delivery():
    functions = "".join(f"__attribute__((noinline)) int f{i}(int x) {{ return "
                        + " + ".join(f"(x ^ {1000 * i + k})" for k in range(8)) + "; }\n" for i in range(400))
    source = WORK / "turn.c"
    source.write_text(functions + "int turn(int n) { int s = 0; while (n--) { " + "".join(f"s += f{i}(n); " for i in range(400))
                      + "} return s; }\nint main(void) { return turn(100) == 1; }\n")
    subprocess.run(["gcc", "-O1", "-static", "-o", str(WORK / "turn"), str(source)], check=True)
    found = advice("--roi", "turn", "--", WORK / "turn")
    what = [(f["event"], f["pattern"], f["share"], f["nr_functions"], f["predicted"]) for f in found["findings"]]
    patterns = [f["pattern"] for f in found["findings"] if f["event"] == "Base"]
    check(len(set(patterns) & {"decode", "erratum", "taken", "frontend"}) >= 1 and "frontend" not in patterns, f"{what}")
    check(all(patterns.count(p) == 1 for p in ("decode", "erratum", "taken") if p in patterns), f"{what}")
    told = [f for f in found["findings"] if f["pattern"] in ("decode", "erratum", "taken")]
    for f in told:
        # jumps at boundaries are those of turn(), which calls all others
        check(f["nr_functions"] > (0 if f["pattern"] == "erratum" else 100), f"{what}")
        check(len(f["functions"]) == min(3, f["nr_functions"]) and all(p["model"] == "ooo" for p in f["predicted"]), f"{what}")


if __name__ == "__main__":
    tests.main()
