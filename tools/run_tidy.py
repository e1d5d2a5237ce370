#!/usr/bin/env python3
"""Runs clang-tidy on the sources of src/, skipping those that were clean before and are unchanged.

Unchanged means: the source, every project header it includes (as the compiler recorded them), its
compile command, .clang-tidy and clang-tidy itself. Tests are left out: GoogleTest's macros break
most rules, and parsing them doubles the time.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--stamps", type=pathlib.Path, default=ROOT / "build/tidy")
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

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: run_tidy(build, job[0]), todo)
        for (source, stamp, key), complaints in zip(todo, results):
            if complaints:
                failed += 1
                print(complaints, flush=True)
            else:
                stamp.write_text(key)
    print(f"{len(todo)} files checked, {skipped} unchanged, {failed} with complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
