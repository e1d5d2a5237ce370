#!/usr/bin/env python3
"""Runs clang-tidy on the sources of src/, skipping those that were clean before and are unchanged.

Unchanged means: the source, every project header it includes (as the compiler recorded them), its
compile command, .clang-tidy and clang-tidy itself. Tests are left out: GoogleTest's macros break
most rules, and parsing them doubles the time.

What was changed last is checked first, so that --minutes leaves out what was checked longest ago.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def is_test(source):
    return source.stem.endswith("_test")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def recorded_includes(build):
    """Object file -> what the compiler read to make it, project files only."""
    includes, current = {}, None
    for line in output_of("ninja", "-C", build, "-t", "deps").splitlines():
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
        elif ": #deps" in line:
            current = includes.setdefault(line.split(": #deps")[0], [])
    return includes


def fingerprint(entry, includes, common):
    digest = hashlib.sha256(common + entry["command"].encode())
    for path in sorted({pathlib.Path(entry["file"]), *includes}):
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def run_tidy(build, source):
    # The commands are GCC's, and Clang does not know all of its warnings.
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", build, "--extra-arg=-Wno-unknown-warning-option", source],
        capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout or done.stderr  # stderr counts warnings


def changed_when(sources):
    """When each source was last changed: now for what is not committed, else by its last commit."""
    when = dict.fromkeys(sources, 0)
    log = output_of("git", "-C", ROOT, "log", "--format=%ct", "--name-only", "--", "src")
    at = 0
    for line in log.splitlines():
        if line.isdigit():
            at = int(line)
        elif line:
            path = ROOT / line
            if when.get(path) == 0:
                when[path] = at
    for line in output_of("git", "-C", ROOT, "status", "--porcelain", "--", "src").splitlines():
        when[ROOT / line[3:]] = time.time()
    return when


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--stamps", type=pathlib.Path, default=ROOT / "build/tidy")
    parser.add_argument("--minutes", type=float, help="start no file after so long")
    args = parser.parse_args()
    args.stamps.mkdir(parents=True, exist_ok=True)

    build = args.build.resolve()
    common = output_of("clang-tidy", "--version").encode() + (ROOT / ".clang-tidy").read_bytes()
    includes = recorded_includes(build)
    todo, skipped = [], 0
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if not source.is_relative_to(ROOT / "src") or is_test(source) or not source.exists():
            continue
        stamp = args.stamps / "-".join(source.relative_to(ROOT / "src").parts)
        output = re.search(r" -o (\S+)", entry["command"])[1]
        key = fingerprint(entry, includes.get(output, []), common)
        if stamp.exists() and stamp.read_text() == key:
            skipped += 1
        else:
            todo.append((source, stamp, key))

    when = changed_when([source for source, _, _ in todo])
    todo.sort(key=lambda job: -when[job[0]])
    deadline = time.monotonic() + 60 * args.minutes if args.minutes is not None else float("inf")
    failed = left = 0

    def check(job):
        return run_tidy(build, job[0]) if time.monotonic() < deadline else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (source, stamp, key), complaints in zip(todo, pool.map(check, todo)):
            if complaints is None:
                left += 1
            elif complaints:
                failed += 1
                print(complaints, flush=True)
            else:
                stamp.write_text(key)
    print(f"{len(todo) - left} files checked, {skipped} unchanged, {left} left for want of time, "
          f"{failed} with complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
