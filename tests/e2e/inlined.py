#!/usr/bin/env python3
"""Functions that were inlined: `annotate` finds them by name and shows them at each call and together, `report` lists them,
and --roi, --start-after and --stop-at know where they begin and end."""
import json
import shutil
import sqlite3
import subprocess

from lib import COMPILERS, WORK, Tests, check, check_error, check_sums, compile_program, cyclewise, profile

tests = Tests()
FLAGS = ("-O2", "-static")


def program(isa="x86-64"):
    return compile_program("inlined.c", isa, *FLAGS)


def entries(report, symbol):
    """How often the function's first instruction was executed."""
    return sum(row["executions"] for row in report["hot"] if row["symbol"] == symbol and not row["offset"])


def executions(report, symbol):
    return sum(row["executions"] for row in report["hot"] if row["symbol"] == symbol)


def recorded(isa="x86-64"):
    path = WORK / f"inlined-{isa}.cw"
    if not path.exists():
        done = cyclewise("record", "-q", "-o", path, "--", program(isa))
        check(path.exists(), done.stderr)
    return path


def annotated(symbol, isa="x86-64"):
    done = cyclewise("annotate", "--json", recorded(isa), symbol)
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


for isa in COMPILERS:
    @tests.case(f"{isa}: an inlined function is annotated at its calls and merged", long=isa != "x86-64")
    def annotate(isa=isa):
        found = annotated("climb", isa)
        climb, = found["inlined"]
        check(climb["file"].endswith("inlined.c") and climb["line"] == 20, f"declared at {climb['file']}:{climb['line']}")
        check(sorted((c["symbol"], c["calls"][0]["line"]) for c in climb["copies"]) ==
              [("leave", 40), ("main", 54), ("main", 56)], f"copies {climb['copies']}")
        check(abs(sum(c["cycles"] for c in climb["copies"]) - climb["cycles"]) < 1e-4, "copies sum to the function")
        check(found["functions"][0]["symbol"] == "climb" and found["functions"][0]["inlined"], f"{found['functions']}")
        check(abs(sum(row["cycles"] for row in found["hot"]) - climb["cycles"]) < 1e-3, "instructions sum to the function")
        loop = {row["line"]: row["executions"] for row in climb["lines"]}
        check(loop[17] == 400 + 200 + 10, f"executions by line: {loop}")
        step, = annotated("step", isa)["inlined"]
        check(all([c["symbol"] for c in copy["calls"]] == ["step", "climb"] for copy in step["copies"]), f"{step['copies']}")

    @tests.case(f"{isa}: --roi counts the inlined copies of a function and what they call", long=isa != "x86-64")
    def roi(isa=isa):
        report, _ = profile("--roi", "climb", "--", program(isa))
        check_sums(report)
        check(entries(report, "spend") == 3, f"spend() is called {entries(report, 'spend')} times")
        report, _ = profile("--roi", "tail", "--", program(isa))
        whole = executions(report, "spend")
        report, _ = profile("--roi", "hop", "--", program(isa))
        check(executions(report, "spend") == whole, "a copy that ends in a tail call ends when that returns")
        check({row["symbol"] for row in report["hot"]} == {"tail", "spend"}, "nothing but the copy and what it calls")
        report, _ = profile("--roi", "step", "--", program(isa))
        check(executions(report, "spend") == 0 and executions(report, "main") >= 600, "step() calls nothing")


@tests.case("--start-after and --stop-at take an inlined function")
def window():
    whole, _ = profile("--", program(), command="stat")
    before, _ = profile("--stop-at", "climb", "--", program(), command="stat")
    after, _ = profile("--start-after", "climb", "--", program(), command="stat")
    first, _ = profile("--roi", "climb", "--", program(), command="stat")
    check(before["instructions"] > 3000 and after["instructions"] > 3000, f"{before['instructions']}, {after['instructions']}")
    rest = whole["instructions"] - before["instructions"] - after["instructions"]
    check(0 < rest < first["instructions"], f"the first copy has {rest} instructions, all three {first['instructions']}")


@tests.case("the report lists inlined functions beside the others")
def listed():
    done = cyclewise("report", "--json", recorded())
    report = json.loads(done.stdout)
    check_sums(report)
    names = {row["symbol"]: row for row in report["inlined"]}
    check({"climb", "step", "hop"} <= set(names), f"inlined: {set(names)}")
    check(names["climb"]["cycles"] > names["step"]["cycles"], "what is inlined into a function is its own")


@tests.case("a profile that was written before opens, and lists none")
def older():
    path = WORK / "older.cw"
    shutil.copy(recorded(), path)
    with sqlite3.connect(path) as profile_file:
        for table in ("inline_function", "module_code", "source_text"):
            profile_file.execute(f"DROP TABLE {table}")
        profile_file.execute("ALTER TABLE inlined DROP COLUMN function")
    profile_file.close()
    done = cyclewise("report", "--json", path)
    check(done.returncode == 0, done.stderr)
    check_sums(json.loads(done.stdout))
    check(json.loads(done.stdout)["inlined"] == [], "inlined functions of an older profile")
    done = cyclewise("annotate", "--json", path, "main")
    check(done.returncode == 0 and any(row["text"] for row in json.loads(done.stdout)["source"]), done.stderr)


@tests.case("a function of which the compiler left nothing is said to be")
def gone():
    check_error(125, "wasted", "left no code", "optimised away", "run", "--roi", "wasted", "--", program(),
                program=[program()])
    check_error(125, "wasted", "left no code", "optimised away", "annotate", recorded(), "wasted")


@tests.case("a function is in the file that declares it, not in that of its first line")
def declared():
    source = WORK / "sum.cc"
    source.write_text('#include <vector>\n__attribute__((noinline)) double total(const std::vector<double> &a)\n'
                      '{ double s = 0; for (double x : a) s += x; return s; }\n'
                      'int main() { std::vector<double> a(99, 1); return total(a) < 0; }\n')
    for flags in ((), ("-gdwarf-4",), ("-flto",)):
        subprocess.run(["g++", "-O2", "-g", "-static", *flags, "-o", WORK / "sum", source], check=True)
        report, _ = profile("--", WORK / "sum")
        found = [(row["file"], row["line"]) for row in report["functions"] if (row["symbol"] or "").startswith("total(")]
        check(found == [(str(source), 2)], f"{flags}: {found}")


tests.main()
