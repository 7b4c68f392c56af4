#!/usr/bin/python3
"""Regenerates docs/papers from runs of the present tree: one page a paper, our figures beside the paper's. The drawings go into
BUILD/papers.

usage: papers.py [--quick] [--only PAGE,...] [--window SKIP,COUNT] [BUILD]

--quick takes two programs of each set and writes no page: it shows that everything works. Runs are kept in BUILD/papers, too, so
what was interrupted goes on. --window counts only COUNT instructions of the whole programs, after SKIP: a few minutes in
place of an hour, and fewer samples, which the pages say. Needs the packages of the groups build, run, test, bench and papers in scripts/packages.

A page is a module with NAME (of the file), TITLE, and fill(page, study, sets): it asks `study` for runs and puts headings,
text, tables and figures on `page`. `sets` is {core: [Program]}: Debian's programs on skylake-sp, those written here on boom.
Add a page by its module and its name in PAGES.
"""
import argparse
import importlib
import sys
from pathlib import Path

PAGES = ["tea", "cases", "gus", "cpi"]


def arguments():
    parser = argparse.ArgumentParser(description="Regenerates docs/papers.")
    parser.add_argument("--quick", action="store_true", help="two programs of each set; writes no page")
    parser.add_argument("--only", default=",".join(PAGES), help="pages to make, of " + ", ".join(PAGES))
    parser.add_argument("--window", type=lambda text: [int(n) for n in text.split(",", 1)], help="SKIP,COUNT instructions of whole programs")
    parser.add_argument("build", nargs="?", default="build", type=Path)
    chosen = parser.parse_args()
    chosen.only = chosen.only.split(",")
    if unknown := set(chosen.only) - set(PAGES):
        parser.error(f"no such page: {', '.join(sorted(unknown))}")
    return chosen


def main():
    chosen = arguments()
    import debian
    import own
    from page import Page
    from study import Failed, Study
    study = Study(chosen.build.resolve(), chosen.window)
    try:
        debian.inputs(study.inputs)
        sets = {debian.CORE: debian.programs(), own.CORE: own.programs(study)}
        if chosen.quick:
            sets = {core: programs[:2] for core, programs in sets.items()}
        for name in chosen.only:
            module = importlib.import_module(name)
            page = Page(module.NAME, module.TITLE, study)
            module.fill(page, study, sets)
            if not chosen.quick:
                page.write()
            print(f"{module.NAME}: {len(page.figures)} figures", file=sys.stderr)
    except Failed as why:
        sys.exit(f"papers: {why}")


if __name__ == "__main__":
    main()
