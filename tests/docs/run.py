#!/usr/bin/env python3
"""Runs the examples in README.md and docs/ and compares what they print with what is shown there.

In a fenced block, a line that starts with `$ ` is a command (a trailing `|` or `\\` continues it), and what follows is its
output; a line `…` stands for any lines. `cd` lasts to the end of the block. Blocks without `$ ` are not run.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ANY_LINES = "…"
BERYL = re.compile(r"(?:(?:\.\./)+|\./)beryl\b")


def blocks(text):
    """(line number, lines) of every fenced block."""
    lines, start = text.splitlines(), None
    for number, line in enumerate(lines):
        if line.startswith("```"):
            if start is None:
                start = number + 1
            else:
                yield start + 1, lines[start:number]
                start = None


def examples(lines):
    """(command, expected lines) of a block."""
    found, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            if found:
                found[-1][1].append(lines[at])
            at += 1
            continue
        command = lines[at][2:]
        while command.rstrip().endswith(("|", "\\")) and at + 1 < len(lines):
            at += 1
            command += "\n" + lines[at]
        found.append((command, []))
        at += 1
    return found


def matches(expected, actual):
    while expected and expected[-1] == "":
        expected = expected[:-1]
    while actual and actual[-1] == "":
        actual = actual[:-1]
    if not expected:
        return not actual
    if expected[0] == ANY_LINES:
        return any(matches(expected[1:], actual[skip:]) for skip in range(len(actual) + 1))
    return bool(actual) and expected[0].rstrip() == actual[0].rstrip() and matches(expected[1:], actual[1:])


def run_block(page, line, lines, beryl, scratch):
    """Returns (how many examples ran, what is wrong)."""
    ran, problems, folder = 0, "", pathlib.Path(scratch)
    env = {k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR") and not k.startswith("LC_")}
    env |= {"LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    for command, expected in examples(lines):
        if command.startswith("cd "):
            folder = (folder / command[3:].strip()).resolve()
            continue
        script = BERYL.sub(str(beryl), command)
        ran += 1
        try:
            done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        except subprocess.TimeoutExpired:
            problems += f"{page.relative_to(ROOT)}:{line}: $ {command}\n  still running after 120 s\n"
            continue
        actual = done.stdout.decode().replace(f"{scratch}/", "").replace(str(beryl), "beryl").splitlines()
        if not matches(list(expected), actual):
            problems += f"{page.relative_to(ROOT)}:{line}: $ {command}\n  prints:\n" + "".join(f"  {text}\n" for text in actual[:60])
    return ran, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beryl", required=True, type=pathlib.Path, help="the binary to run")
    args = parser.parse_args()
    has_jq = shutil.which("jq") is not None
    passed = failed = skipped = 0
    # Examples run at the top of the source, as it seems to them; what they write is gone afterwards.
    with tempfile.TemporaryDirectory() as scratch:
        for entry in ROOT.iterdir():
            if entry.suffix not in (".beryl", ".html", ".folded"):
                (pathlib.Path(scratch) / entry.name).symlink_to(entry)
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for line, lines in blocks(page.read_text()):
                if not has_jq and any("jq " in text for text in lines):
                    skipped += 1
                    continue
                start = time.monotonic()
                ran, problems = run_block(page, line, lines, args.beryl.resolve(), scratch)
                passed += ran > 0 and not problems
                failed += bool(problems)
                print(problems, end="")
                if ran and not problems:
                    place = f"{page.relative_to(ROOT)}:{line}"
                    print(f"pass {time.monotonic() - start:7.2f} s  {place}")
    if skipped:
        print(f"{skipped} blocks skipped: jq is not installed")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
