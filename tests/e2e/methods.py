#!/usr/bin/env python3
"""What `cyclewise methods` says of a real program: who is near the exact stacks and who is not, at which granularity, and that
all of them saw the same cycles; what ProfileMe estimates; top-down's two levels; the storage of the TEA paper."""
import json
import shutil

from lib import WORK, Skip, Tests, check, compile_program, cyclewise, profile

tests = Tests()
CYCLE_SAMPLERS = ["TEA", "NCI-TEA", "TIP", "IBS", "SPE", "RIS", "software"]
GRAINS = ["instruction", "basic_block", "function", "application"]
cache = {}


def text(size):
    """Words in no order that gzip could know, the same every time."""
    state, out = 1, []
    while sum(map(len, out)) < size:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(f"{'abcdefgh'[state >> 40 & 7]}{'aeiou'[(state >> 50) % 5]}{state >> 33 & 63} ")
    return "".join(out)[:size]


def gzip():
    """The methods of one small run of gzip, swept."""
    if "gzip" not in cache:
        if not shutil.which("gzip"):
            raise Skip("no gzip")
        path = WORK / "text"
        path.write_text(text(40000))
        answer, _ = profile("--period", "100", "--sweep-period", "--no-simulation", "--", "gzip", "-6", "-c", path, command="methods")
        cache["gzip"] = answer
    return cache["gzip"]


def sampling(answer):
    return {row["method"]: row for row in answer["sampling"]}


@tests.case("TEA is near the exact stacks, what tags in the front end is not, NCI is between")
def order():
    error = {name: row["error"]["instruction"] for name, row in sampling(gzip()).items()}
    check(set(error) == {*CYCLE_SAMPLERS, "ProfileMe"}, f"methods {sorted(error)}")
    check(error["TEA"] < 0.05 and error["TIP"] <= error["TEA"], f"errors {error}")
    check(error["TEA"] < 1.25 * sampling(gzip())["TEA"]["sampling_error"], f"{sampling(gzip())['TEA']}")
    check(2 * error["TEA"] < error["NCI-TEA"] < 0.35, f"errors {error}")
    for name in ("IBS", "SPE", "RIS", "software", "ProfileMe"):
        check(error[name] > error["NCI-TEA"] and error[name] > 0.3, f"errors {error}")


@tests.case("coarser units are never more wrong")
def grains():
    for name, row in sampling(gzip()).items():
        errors = [row["error"][grain] for grain in GRAINS]
        check(all(a >= b - 1e-6 for a, b in zip(errors, errors[1:])), f"{name}: {row['error']}")


@tests.case("all that sample cycles sample the same ones")
def same_cycles():
    rows = sampling(gzip())
    taken = {name: rows[name]["samples"] + rows[name]["dropped"] for name in CYCLE_SAMPLERS}
    check(max(taken.values()) - min(taken.values()) <= 2, f"samples {taken}")
    check(rows["TEA"]["dropped"] == rows["software"]["dropped"] == 0, f"dropped {rows}")
    check(rows["IBS"]["dropped"] == rows["SPE"]["dropped"] > 0, f"dropped {rows}")
    expected = gzip()["cycles"] / 100
    check(abs(taken["TEA"] / expected - 1) < 0.01, f"{taken['TEA']} samples of {expected:.0f} periods")
    me = rows["ProfileMe"]["samples"] + rows["ProfileMe"]["dropped"]
    check(abs(me / taken["TEA"] - 1) < 0.05, f"ProfileMe has {me} samples, TEA {taken['TEA']}")


@tests.case("the error grows with the period")
def sweep():
    rows = [row for row in gzip()["sweep"] if row["method"] == "TEA"]
    check(len(rows) >= 3, f"{len(rows)} periods")
    check([row["period"] for row in rows] == [200 << i for i in range(len(rows))], f"periods {rows}")
    errors = [sampling(gzip())["TEA"]["error"]["instruction"], *(row["error"]["instruction"] for row in rows)]
    check(errors[0] < errors[len(errors) // 2] < errors[-1], f"errors {errors}")
    check(sampling(gzip())["TEA"]["samples"] // 2 == rows[0]["samples"], f"samples {rows[0]}")


@tests.case("ProfileMe's estimates are near what is exactly so")
def profileme():
    rows = sorted(gzip()["profileme"], key=lambda row: -row["weight"])[:20]
    for name, tolerance in (("retired", 0.05), ("retired_in_flight", 0.15), ("wasted_slots", 0.15)):
        weight = sum(row["weight"] for row in rows)
        estimate = sum(row["weight"] * row[name] for row in rows) / weight
        exact = sum(row["weight"] * row["exact"][name] for row in rows) / weight
        check(abs(estimate / exact - 1) < tolerance, f"{name}: {estimate}, exactly {exact}")
    for stage in sorted({stage for row in rows for stage in row["latencies"]}):
        able = [row for row in rows if stage in row["latencies"]]  # not all are loads
        estimate = sum(row["weight"] * row["latencies"][stage] for row in able)
        exact = sum(row["weight"] * row["exact"]["latencies"][stage] for row in able)
        check(abs(estimate - exact) <= 0.05 * exact, f"{stage}: {estimate}, exactly {exact}")
    for row in rows:
        check(abs(row["exact"]["retired"] + sum(row["exact"]["aborts"].values()) - 1) < 1e-5, f"fates {row['exact']}")


def check_topdown(answer, name):
    """Both levels of one object of `stat`: classes sum to all slots, and are those of its slots; parts sum to their class."""
    level1, parts, slots = answer["topdown"], answer["topdown_parts"], answer["slots"]
    for whole, first, second in (("frontend_bound", "frontend_latency", "frontend_bandwidth"),
                                 ("backend_bound", "memory_bound", "core_bound"),
                                 ("bad_speculation", "branch_mispredicts", "machine_clears")):
        check(abs(parts[first] + parts[second] - level1[whole]) < 3e-6, f"{name}, {whole}: {level1}, {parts}")
        check(parts[first] >= 0 and parts[second] >= 0, f"{name}, {whole}: {parts}")
    check(abs(sum(level1.values()) - 1) < 4e-6, f"{name}, level 1: {level1}")
    check(abs(level1["retiring"] - slots["retired"] / slots["total"]) < 1e-6, f"{name}: {level1}, {slots}")


@tests.case("top-down's second level sums to the first, in the run, each thread and each region", sanitize=True)
def topdown():
    answer, _ = profile("--", "true", command="stat")
    check_topdown(answer, "run")
    check(all(part > 0 for part in answer["topdown_parts"].values()), f"parts {answer['topdown_parts']}")
    answer, _ = profile(compile_program("counters.c", "x86-64"), "2000", "threads", command="stat")
    check_topdown(answer, "run")
    for thread in answer["threads"]:
        check_topdown(thread, f"thread {thread['thread']}")
    for part, share in answer["topdown_parts"].items():
        threads = sum(t["topdown_parts"][part] * t["slots"]["total"] for t in answer["threads"])
        check(abs(threads / answer["slots"]["total"] - share) < 4e-6, f"{part}: threads {threads}, run {share}")
    region = answer["regions"][0]
    check_topdown(region, "region")
    check(region["topdown_parts"]["core_bound"] > 0.6, f"a chain of multiplications: {region}")


PARTS = ["l1d", "branch", "l1i", "l2i", "itlb", "l2d", "dtlb"]  # in the order in which they become real
INVERSE = ["l1d", "branch", "l2d", "dtlb", "l1i", "l2i", "itlb"]


def cycles_with(ideal):
    """Of `true` on asplos06 with those parts ideal, by a run of its own."""
    answer, _ = profile("--core", "asplos06", *(["--ideal", ",".join(ideal)] if ideal else []), "--", "true", command="stat")
    return answer["cycles"]


@tests.case("the reference of CPI stacks is what ideal parts save, in either order", sanitize=True)
def simulation():
    answer, _ = profile("--core", "asplos06", "--", "true", command="methods")
    stacks = {row["method"]: row for row in answer["cpi_stacks"]}
    for name, order in (("simulation", PARTS), ("simulation_inverse", INVERSE)):
        components = stacks[name]["components"]
        check(components["base"] == cycles_with(PARTS) and components["long_latency"] == 0, f"{name}: {components}")
        for real in (3, 5):
            so_far = components["base"] + sum(components[part] for part in order[:real])
            check(so_far == cycles_with(order[real:]), f"{name}: {so_far} cycles with {order[:real]} real")
        check(sum(components.values()) == answer["cycles"] == cycles_with([]), f"{name}: {components}")
    merged = {k: v for k, v in stacks["FMT"]["components"].items() if k != "long_latency"}
    merged["base"] += stacks["FMT"]["components"]["long_latency"]
    for name in ("simulation", "simulation_inverse"):
        errors = [abs(merged[k] - stacks[name]["components"][k]) / answer["cycles"] for k in merged]
        said = stacks["FMT"]["errors"][name]
        check(abs(said["max"] - max(errors)) < 2e-6 and abs(said["average"] - sum(errors) / 8) < 2e-6, f"{said}, not {errors}")
    check(stacks["FMT"]["max_error"] == max(e["max"] for e in stacks["FMT"]["errors"].values()), f"{stacks['FMT']}")
    check(stacks["naive"]["max_error"] > stacks["POWER5"]["max_error"] > stacks["FMT"]["max_error"], f"{stacks}")


@tests.case("without the reference no error of a CPI stack is claimed")
def no_simulation():
    stacks = {row["method"]: row for row in gzip()["cpi_stacks"]}
    check(set(stacks) == {"FMT", "FMT-dispatch", "sFMT", "POWER5", "naive", "naive_non_spec"}, f"stacks {sorted(stacks)}")
    check(all(row["max_error"] is None and row["average_error"] is None for row in stacks.values()), f"{stacks}")


@tests.case("TEA takes 249 bytes on boom, TIP 57", sanitize=True)
def storage():
    done = cyclewise("cost", "--core", "boom", "--json")
    rows = {row["method"]: row["bytes"] for row in json.loads(done.stdout)["storage"]}
    check(rows["TEA"] == 249 and rows["TIP"] == 57 and rows["IBS"] == rows["SPE"] == rows["RIS"] == 1, f"{rows}")


@tests.case("FMT and sFMT take what their columns sum to: of 16 branches, 128 entries and counters of 9 bits")
def tables():
    done = cyclewise("cost", "--core", "asplos06", "--set", "fmt.rows=16", "--json")
    rows = {row["method"]: row for row in json.loads(done.stdout)["storage"]}
    parts = {name: {p["where"]: p["entries"] * p["bits"] for p in rows[name]["parts"]} for name in ("FMT", "sFMT")}
    check(parts["FMT"] == {"rows of branches": 16 * (7 + 1 + 4 * 9), "pointers": 3 * 4}, f"{parts}")
    check(parts["sFMT"] == {"rows of branches": 16 * (7 + 1 + 9), "shared counters": 3 * 9, "reorder buffer": 128, "pointers": 3 * 4},
          f"{parts}")
    check(rows["FMT"]["bytes"] == 88 + 2 and rows["sFMT"]["bytes"] == 34 + 4 + 16 + 2, f"{rows}")


if __name__ == "__main__":
    tests.main()
