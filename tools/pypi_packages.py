"""Packages from PyPI, of fixed versions, in a virtual environment of their own."""

import hashlib
import shutil
import subprocess
import venv


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason was given"]
        raise OSError(lines[-1])


def install(folder, packages):
    """Once. Returns the interpreter that has them, and why not."""
    python = folder / "bin/python"
    mark = folder / "packages"
    wanted = hashlib.sha256("\n".join(packages).encode()).hexdigest()
    if mark.exists() and mark.read_text() == wanted and python.exists():
        return python, ""
    try:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
            "--only-binary", ":all:", "--retries", "1", "--timeout", "10", "--no-deps", *packages)
    except (OSError, subprocess.SubprocessError) as error:
        return None, f"no packages from PyPI: {error}"
    mark.write_text(wanted)
    return python, ""
