#!/usr/bin/env python3
"""The page of the real `beryl serve` in a real browser: what a hand and a keyboard do, what stands in the address, what axe
finds, and that web/dist is what web/src makes. Pictures of each view are kept in build/web-pictures, to be looked at. Ends
with "N passed, N failed"; says what is skipped where Chromium or npm cannot be had."""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = ROOT / "build/web/node_modules"
NOTHING_THERE = 77


def build_is_that_of_the_sources():
    done = subprocess.run([ROOT / "tools/web", "--check"], capture_output=True, text=True, timeout=600, check=False)
    said = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode == NOTHING_THERE:
        print(f"skip  web/dist is what web/src makes: {said[-1] if said else ''}")
        return None
    print(("pass  0.00 s  " if done.returncode == 0 else "FAIL  ") + "web/dist is what web/src makes")
    if done.returncode != 0:
        print("\n".join("    " + line for line in said))
    return done.returncode == 0


def start_server(beryl, folder):
    """The server, and where it is."""
    process = subprocess.Popen([beryl, "serve", "--listen", "127.0.0.1:0", "--library", folder / "library"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        said = re.search(r"listening on (http://127\.0\.0\.1:\d+/)", line)
        if said:
            return process, said.group(1)
    sys.exit("the server ended")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beryl", required=True, type=pathlib.Path, help="the program to test")
    parser.add_argument("--filter", default="", help="run only cases whose name has this in it")
    parser.add_argument("--base", default="", help="a page that is served already, instead of that of --beryl")
    args = parser.parse_args()
    built = build_is_that_of_the_sources() if not args.filter else None
    verdicts = [built] if built is not None else []
    node, chromium = shutil.which("node"), shutil.which("chromium")
    if not node or not chromium or not (TOOLS / "playwright-core").exists():
        print(f"skip  the page in a browser: {'Node.js' if not node else 'Chromium' if not chromium else 'playwright-core'} "
              "is not installed")
        print(f"{verdicts.count(True)} passed, {verdicts.count(False)} failed")
        return 1 if False in verdicts else 0
    pictures = ROOT / "build/web-pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="beryl-web-") as folder:
        process, base = (None, args.base) if args.base else start_server(args.beryl.resolve(), pathlib.Path(folder))
        try:
            done = subprocess.run(
                [node, HERE / "browser.mjs", args.filter], check=False, timeout=840, stdout=subprocess.PIPE, text=True,
                env=os.environ | {"BERYL_PAGE": base, "BERYL_CHROMIUM": chromium, "BERYL_TOOLS": str(TOOLS),
                                  "BERYL_PICTURES": str(pictures), "BERYL_ROOT": str(ROOT)})
        finally:
            if process:
                process.send_signal(signal.SIGTERM)
                process.stderr.read()
                process.wait(60)
    lines = done.stdout.splitlines()
    summary = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1]) if lines else None
    print("\n".join(lines[:-1] if summary else lines))
    passed, failed = map(int, summary.groups()) if summary else (0, 1)
    passed, failed = passed + verdicts.count(True), failed + verdicts.count(False)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
