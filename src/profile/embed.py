#!/usr/bin/env python3
"""Writes a text file as a C string: embed.py NAME INPUT OUTPUT."""
import sys

name, source, target = sys.argv[1:]
with open(source, encoding="utf-8") as f:
    lines = f.read().splitlines()
with open(target, "w", encoding="utf-8") as f:
    f.write(f"static const char {name}[] =\n")
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        f.write(f'\t"{escaped}\\n"\n')
    f.write("\t;\n")
