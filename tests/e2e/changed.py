#!/usr/bin/env python3
"""Files that are no longer those that ran: programs and sources that were built or edited anew, while a program runs or
before its profile is looked at. What is shown is of the file that ran, or is left out, and a note says so."""
import json
import shutil
import subprocess

from lib import TOP, WORK, Skip, Tests, check, cyclewise, profile

tests = Tests()
SOURCE = TOP / "tests/programs/changes.c"


def build(name, *flags):
    path = WORK / name
    subprocess.run(["gcc", "-O1", "-g", "-static", "-Wl,--build-id", *flags, "-o", path, SOURCE], check=True)
    return path


def cycles(report):
    return {row["symbol"]: row["cycles"] for row in report["functions"]}


def annotate(path, symbol):
    done = cyclewise("annotate", "--json", path, symbol)
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


@tests.case("a program that is built anew while it runs keeps the names of the file that ran")
def replaced():
    program, new = build("replaced"), build("new", "-DMORE")
    report, _ = profile("--", program, "rename", new)
    check(not new.exists(), "the program did not replace itself")
    found = cycles(report)
    check({"first", "second"} <= set(found) and not {"more", "still_more"} & set(found), f"functions {set(found)}")
    check(2 < found["first"] / found["second"] < 3, f"first {found['first']}, second {found['second']}")


@tests.case("a plugin that is built anew and loaded again is two modules, each with its own names")
def reloaded():
    gcc = ["gcc", "-O1", "-g", "-Wl,--build-id"]
    plugin = [*gcc, "-shared", "-fPIC", TOP / "tests/programs/plugin.c", "-o"]
    subprocess.run([*gcc, "-o", WORK / "reload", TOP / "tests/programs/reload.c"], check=True)
    subprocess.run([*plugin, WORK / "plugin.so"], check=True)
    subprocess.run([*plugin, WORK / "new.so", "-DMORE"], check=True)
    report, _ = profile("--", WORK / "reload", WORK / "plugin.so", WORK / "new.so")
    rows = [row for row in report["functions"] if row["module"] == str(WORK / "plugin.so")]
    work = {row["build_id"]: row["cycles"] for row in rows if row["symbol"] == "work"}
    check(len(work) == 2 and not any(row["symbol"] == "more" for row in rows), f"functions {rows}")
    first, second = sorted(work.values(), reverse=True)
    check(2 < first / second < 3, f"work() of each: {first}, {second}")


@tests.case("a program whose file is written to while it runs has no names, and a note says so")
def written():
    program = build("written")
    notes = subprocess.run(["readelf", "-WS", program], capture_output=True, text=True, check=True).stdout
    offset = int(next(line for line in notes.splitlines() if ".note.gnu.build-id" in line).split("NOTE")[1].split()[1], 16)
    report, _ = profile("--", program, "write", offset + 16)
    check("second" not in cycles(report), f"functions {set(cycles(report))}")
    check(any(str(program) in note and "changed" in note for note in report["notes"]), f"notes {report['notes']}")


def rebuilt(*flags):
    """A profile whose program was built anew before it is looked at: nothing of the new file is shown."""
    program, path = build("rebuilt", *flags), WORK / "rebuilt.cw"
    done = cyclewise("record", "-q", "-o", path, "--", program)
    check(done.returncode == 0, done.stderr)
    whole = annotate(path, "main")
    check(any(not row["executions"] for row in whole["code"]) and not whole["notes"], "what was not executed is shown")
    build("rebuilt", "-DMORE", *flags)
    left = annotate(path, "main")
    check(all(row["executions"] for row in left["code"]), "code of another build is shown")
    check(any(str(program) in note for note in left["notes"]), f"notes {left['notes']}")


@tests.case("of a program that was built anew since, annotate shows what was executed, and a note says so")
def rebuilt_since():
    rebuilt()


@tests.case("the same without a build-id, by a hash of the code")
def rebuilt_without_id():
    rebuilt("-Wl,--build-id=none")


def edited(edit, *options):
    """annotate's JSON of a program in a folder of its own, after edit(folder) between recording and looking."""
    folder = WORK / f"edited{len(list(WORK.glob('edited*')))}"
    folder.mkdir()
    (folder / "s.c").write_text("int main(void)\n{\n\tvolatile int s = 0; for (int i = 0; i < 99; i++) s += i; return 0;\n}\n")
    subprocess.run(["gcc", "-O1", "-g", "-static", "-o", "s", folder / "s.c"], check=True, cwd=folder)
    done = cyclewise("record", "-q", "-o", folder / "s.cw", "--", folder / "s")
    check(done.returncode == 0, done.stderr)
    edit(folder)
    done = cyclewise("annotate", "--json", *[str(o).replace("FOLDER", str(folder)).replace("FOLDE", str(folder)[:-1]) for o in options], folder / "s.cw", "main")
    check(done.returncode == 0, done.stderr)
    found = json.loads(done.stdout)
    return {row["line"]: row["text"] for row in found["source"]}.get(3), found["notes"]


LOOP = "\tvolatile int s = 0; for (int i = 0; i < 99; i++) s += i; return 0;"


@tests.case("a source that was edited since the run is not shown, and a note names it")
def source_edited():
    text, notes = edited(lambda folder: None)
    check(text == LOOP and not notes, f"{text}, {notes}")
    text, notes = edited(lambda folder: (folder / "s.c").write_text("#include <stdio.h>\n" + (folder / "s.c").read_text()))
    check(text is None, f"shown: {text}")
    check(any("/s.c has been edited" in note for note in notes), f"notes {notes}")


@tests.case("a source that is newer than the program is shown with a warning")
def source_newer():
    source = WORK / "newer.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-g", "-static", "-o", WORK / "newer", source], check=True)
    later = (WORK / "newer").stat().st_mtime + 10
    subprocess.run(["touch", "-d", f"@{later}", source], check=True)
    cyclewise("record", "-q", "-o", WORK / "newer.cw", "--", WORK / "newer")
    found = annotate(WORK / "newer.cw", "main")
    check(found["source"][0]["text"], "no text")
    check(any("newer.c was edited after the program was built" in note for note in found["notes"]), f"{found['notes']}")


@tests.case("a source that was edited between build and run is known by the checksum that the compiler left")
def source_checksum():
    if not shutil.which("clang"):
        raise Skip("clang is not installed")
    source = WORK / "sum.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["clang", "-g", "-gdwarf-5", "-o", WORK / "sum", source], check=True)
    for edit, shown in (("", True), ("/* more */\n", False)):
        source.write_text(edit + source.read_text())
        subprocess.run(["touch", "-d", "2001-01-01", source], check=True)
        cyclewise("record", "-q", "-o", WORK / "sum.cw", "--", WORK / "sum")
        found = annotate(WORK / "sum.cw", "main")
        check(bool(found["source"][0]["text"]) == shown, f"{found['source']}")
        check(any("sum.c has been edited" in note for note in found["notes"]) != shown, f"{found['notes']}")


@tests.case("--source-path finds sources that were moved")
def source_moved():
    def move(folder):
        (folder / "sources").mkdir()
        (folder / "s.c").rename(folder / "sources/s.c")

    text, _ = edited(move)
    check(text is None, f"found: {text}")
    for old, shown in (("FOLDER", LOOP), ("FOLDER/", LOOP), ("FOLDE", None), ("/nowhere", None)):
        text, notes = edited(move, "--source-path", "/elsewhere=/nowhere", "--source-path", f"{old}=FOLDER/sources")
        check(text == shown and not notes, f"{old}: {text}, {notes}")

    def move_and_edit(folder):
        move(folder)
        (folder / "sources/s.c").write_text("int main(void);\n\nint other;\n")

    text, notes = edited(move_and_edit, "--source-path", "FOLDER=FOLDER/sources")
    check(text is None and any("sources/s.c has been edited" in note for note in notes), f"{text}, {notes}")
    done = cyclewise("annotate", "--source-path", "/a", "main")
    check(done.returncode == 2 and "OLD=NEW" in done.stderr, done.stderr)


tests.main()
