#!/usr/bin/env python3
"""Runs the script of the pages that the real binary writes and looks at what a reader sees: page.js has
the cases, and Node.js with jsdom stands in for the browser. Ends with "N passed, N failed"."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = ROOT / "tests/data"
GOLDEN = ROOT / "tests/golden"
DEMO = ROOT / "data"
# Where Debian's packages are; only Debian's own Node.js looks there by itself.
MODULES = "/usr/share/nodejs"

# The operations and the power of each run, and further arguments.
RUNS = {
    "training": (GOLDEN / "pytorch-modules-json/ops.json", GOLDEN / "pytorch-modules-json/power.csv"),
    "partly_unknown": (GOLDEN / "device-without-power/ops.json", GOLDEN / "device-without-power/power.csv"),
    "unknown": (GOLDEN / "device-without-power/ops.json", DATA / "power/other_gpu.csv"),
    "incomplete": (GOLDEN / "truncated-file/ops.json", GOLDEN / "truncated-file/power.csv"),
    "hostile": (DATA / "pytorch/hostile_names.json", DATA / "power/hostile_names.csv"),
    "demo": (DEMO / "demo_ops.json.gz", DEMO / "demo_power.csv.gz"),
    "modelled": (DATA / "pytorch/tiny_bert_step.json.gz", DATA / "pytorch/flat_30w.csv",
                 "--model", DATA / "models/tiny-bert.json", "--profile", "gtx1080ti-i9-7900x"),
}
# What only the page is told.
OF_PAGE = {"modelled": ("--columns", "flops,ratio")}


def make_pages(beryl, folder):
    """NAME.html and, with the same numbers, NAME.json."""
    def run(*arguments):
        done = subprocess.run([beryl, *arguments], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            sys.exit(f"beryl {' '.join(map(str, arguments))}\n{done.stderr}")

    for name, (ops, power, *more) in RUNS.items():
        if name == "hostile":  # a page has its title from the name of the file
            ops = shutil.copy(ops, folder / "<img id=evil src=x onerror=hacked=5>.json")
        account = ["account", "--ops", ops, "--power", power, *more]
        run(*account, "--format", "json", "-o", folder / f"{name}.json")
        page = folder / f"{name}.html"
        run(*(["demo"] if name == "demo" else [*account, "--format", "html", *OF_PAGE.get(name, ())]), "-o", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beryl", required=True, type=pathlib.Path, help="the binary to test")
    parser.add_argument("--filter", default="", help="run only cases whose name has this in it")
    args = parser.parse_args()
    node = shutil.which("node")
    if not node:
        sys.exit("error: Node.js is not installed; tools/packages-check.txt names the packages")
    paths = os.pathsep.join(filter(None, [os.environ.get("NODE_PATH"), MODULES]))
    with tempfile.TemporaryDirectory(prefix="beryl-page-") as folder:
        make_pages(args.beryl.resolve(), pathlib.Path(folder))
        return subprocess.run([node, HERE / "page.js", folder, args.filter], timeout=300,
                              env=os.environ | {"NODE_PATH": paths}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
