#!/usr/bin/env python3
"""Installs the tools that tests/exports/run.py opens exports with, once, in build/venv-exports: packages from
PyPI, without what they depend on unless it is named here, and one from npm. Says which are missing and why."""

import argparse
import pathlib
import shutil
import subprocess
import sys

import pypi_packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/venv-exports"

PYTHON = [
    "perfetto==0.59.1", "protobuf==7.36.2",
    "tensorboard==2.21.0", "numpy==2.4.6", "absl-py==2.5.1", "packaging==26.3",
    "xprof==2.24.2",
    "ai-edge-model-explorer==0.1.34", "typing-extensions==4.16.0",
]
# Firefox Profiler's own reader of profiles, with a command line.
NODE = "@firefox-devtools/profiler-cli@0.10.0"


def install_python():
    """The interpreter that has the packages, and why not."""
    return pypi_packages.install(FOLDER, PYTHON)


def install_node():
    """The script of profiler-cli, and why not."""
    folder = FOLDER / "node"
    script = folder / "package/dist/profiler-cli.js"
    if script.exists():
        return script, ""
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "Node.js or npm is not installed"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pypi_packages.run("npm", "pack", "--silent", "--fetch-retries", "1", "--fetch-timeout", "10000", NODE, cwd=folder)
        pypi_packages.run("tar", "xzf", next(folder.glob("*.tgz")).name, cwd=folder)
    except (OSError, subprocess.SubprocessError) as error:
        return None, f"no package from npm: {error}"
    return script, ""


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    for found, why in (install_python(), install_node()):
        print(found or f"skip: {why}")


if __name__ == "__main__":
    sys.exit(main())
