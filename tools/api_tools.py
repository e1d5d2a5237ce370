#!/usr/bin/env python3
"""Installs Schemathesis from PyPI, which tests/api/run.py holds the API to its contract with, once, in
build/venv-api. Says why it is missing."""

import argparse
import pathlib
import sys

import pypi_packages

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "build/venv-api"

PYTHON = [
    "schemathesis==4.32.5", "anyio==4.16.0", "certifi==2026.10.18", "charset-normalizer==3.5.2", "click==8.5.1",
    "graphql-core==3.3.2", "harfile==0.6.0", "hypothesis==6.170.15", "hypothesis-graphql==0.13.5", "idna==3.20",
    "iniconfig==2.3.1", "jsonschema_rs==0.60.3", "markdown-it-py==4.3.0", "MarkupSafe==3.0.4", "mdurl==0.1.2",
    "packaging==26.3", "pluggy==1.7.0", "Pygments==2.21.0", "pyrate-limiter==4.5.1", "pytest==9.2.0",
    "PyYAML==6.0.3", "requests==2.34.2", "rich==15.0.0", "sortedcontainers==2.4.0", "typing_extensions==4.16.0",
    "urllib3==2.8.0", "Werkzeug==3.1.9",
]


def install():
    """The program, and why not."""
    python, why = pypi_packages.install(FOLDER, PYTHON)
    return python and python.parent / "schemathesis", why


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    found, reason = install()
    print(found or f"skip: {reason}")
    sys.exit(0)
