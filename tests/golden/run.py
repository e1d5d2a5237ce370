#!/usr/bin/env python3
"""Golden tests: runs the real binary and compares every byte that it prints, except what depends on the machine.

A case is a folder beside this file:
  cmd     the arguments after `beryl`, quoted as in a shell; paths are relative to the case
  before  commands to run first, a line each, in the same form (optional: run files are made here). The case then runs in a
          copy of its folder, with the other cases and ../data beside it, and they must succeed
  env     NAME=VALUE lines, set for it (optional); {build} is the folder of the binary
  stdin   what it is given to read (optional)
  stdout  what it must print
  stderr  what it must say (nothing when absent)
  exit    its exit status (optional: 0 when absent)

To add a case, write `cmd` (and `stdin`), run with --bless, and read what it wrote.
"""

import argparse
import concurrent.futures
import contextlib
import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 60
SANITIZER = re.compile(rb"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|: runtime error: ")
# The expected output must not depend on the user's terminal, language or colours.
DROPPED_ENV = {"TERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "LANG", "LANGUAGE"}


def clean_env():
    env = {k: v for k, v in os.environ.items()
           if k not in DROPPED_ENV and not k.startswith(("LC_", "BERYL_"))}
    return env | {"LC_ALL": "C.UTF-8", "COLUMNS": "100", "TZ": "UTC"}


# What differs from machine to machine and build to build.
VARYING = re.compile(rb'"(machine|build_type|tool|version|when)":( ?)"[^"]*"')
# The stamp where it is a line of text; what went in stays.
STAMP = re.compile(rb"\bberyl \d+\.\d+\.\d+; [^;\n]+;((?: (?:from|profile|energy of|only) [^;\n]+;)*) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SECONDS = re.compile(rb'"seconds":[^,]*,"notes"')  # that an evaluation took
MACHINE = re.compile(rb"^Linux \S+ \S+, \d+ CPUs;", re.MULTILINE)  # below a table of meters
SEEN = re.compile(rb'"(seen_w|smallest_j)":[0-9.e+-]+')  # by meters that were watched
VERSION = re.compile(rb"\bberyl\s+\d+\.\d+\.\d+")  # in the small print of a picture


def steady(output):
    output = VARYING.sub(rb'"\1":\2"*"', output)
    output = STAMP.sub(rb"beryl *; *;\1 *", output)
    output = SECONDS.sub(b'"seconds":0,"notes"', output)
    output = MACHINE.sub(b"*;", output)
    output = SEEN.sub(rb'"\1":"*"', output)
    return VERSION.sub(b"beryl *", output)


def case_env(case, beryl):
    env = clean_env()
    if (case / "env").exists():
        for line in (case / "env").read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                name, _, value = line.partition("=")
                env[name.strip()] = value.strip().replace("{build}", str(beryl.parent))
    return env


def read(path, default=None):
    return path.read_bytes() if path.exists() else default


def write_or_remove(path, content):
    if content:
        path.write_bytes(content)
    else:
        path.unlink(missing_ok=True)


def diff(name, expected, actual):
    def lines(data):
        return data.decode("utf-8", "backslashreplace").splitlines(keepends=True)
    out = []
    for line in difflib.unified_diff(lines(expected), lines(actual),
                                     f"expected {name}", f"actual {name}"):
        out.append(line if line.endswith("\n") else line + "\n\\ no newline at end\n")
    return "".join(out)


@contextlib.contextmanager
def case_folder(case, beryl):
    """Where the case runs: its own folder, or a copy with what `before` wrote."""
    if not (case / "before").exists():
        yield case
        return
    with tempfile.TemporaryDirectory() as scratch:
        (pathlib.Path(scratch) / "data").symlink_to(HERE.parent / "data")
        folder = pathlib.Path(shutil.copytree(case, pathlib.Path(scratch) / "golden" / case.name))
        for other in HERE.iterdir():
            if other.name != case.name:
                (folder.parent / other.name).symlink_to(other)
        for line in (case / "before").read_text().splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            first = subprocess.run([beryl, *words], cwd=folder, env=case_env(case, beryl),
                                   capture_output=True, timeout=TIMEOUT_S, check=False)
            if first.returncode != 0:
                raise RuntimeError(f"before: {line}\n{first.stderr.decode('utf-8', 'backslashreplace')}")
        yield folder


def run_case(case, beryl, bless):
    """Returns what is wrong with the case, or an empty string."""
    try:
        with case_folder(case, beryl) as folder:
            return run_in(folder, case, beryl, bless)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return f"{error}\n"


def run_in(folder, case, beryl, bless):
    try:
        done = subprocess.run(
            [beryl, *shlex.split((case / "cmd").read_text(), comments=True)],
            cwd=folder, env=case_env(case, beryl), input=read(case / "stdin", b""),
            capture_output=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"still running after {TIMEOUT_S} s\n"

    stdout, stderr = steady(done.stdout), steady(done.stderr)
    # Never blessed: nobody wants these as the expected output.
    stderr_text = done.stderr.decode("utf-8", "backslashreplace")
    if SANITIZER.search(done.stderr):
        return f"a sanitizer complained:\n{stderr_text}"
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}\n{stderr_text}"

    if bless:
        (case / "stdout").write_bytes(stdout)
        write_or_remove(case / "stderr", stderr)
        write_or_remove(case / "exit", f"{done.returncode}\n".encode() if done.returncode else b"")
        return ""

    problems = ""
    expected_exit = int(read(case / "exit", b"0"))
    if done.returncode != expected_exit:
        problems += f"exit status {done.returncode}, expected {expected_exit}\n"
    expected_stdout = read(case / "stdout")
    if expected_stdout is None:
        problems += "no expected stdout; write it with --bless\n"
    elif stdout != expected_stdout:
        problems += diff("stdout", expected_stdout, stdout)
    expected_stderr = read(case / "stderr", b"")
    if stderr != expected_stderr:
        problems += diff("stderr", expected_stderr, stderr)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beryl", required=True, type=pathlib.Path, help="the binary to test")
    parser.add_argument("--filter", default="", help="run only cases whose name matches this regex")
    parser.add_argument("--bless", action="store_true", help="rewrite the expected files")
    args = parser.parse_args()

    cases = sorted(cmd.parent for cmd in HERE.glob("*/cmd")
                   if re.search(args.filter, cmd.parent.name))
    failed = 0

    def timed(case):
        start = time.monotonic()
        return run_case(case, args.beryl.resolve(), args.bless), time.monotonic() - start

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, (problems, seconds) in zip(cases, pool.map(timed, cases)):
            if problems:
                failed += 1
                print(f"FAIL {case.name}\n{problems}", end="")
            else:
                print(f"pass {seconds:7.2f} s  golden/{case.name}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
