"""What a case records with: a folder, the program and a terminal."""

import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import termios
import time


class Bench:
    """One case's folder and program."""

    def __init__(self, beryl, folder):
        self.beryl, self.folder = beryl, folder
        self.sysfs = self.folder / "sys"
        self.sysfs.mkdir()
        self.run_file = self.folder / "run.beryl"
        self.env = dict(os.environ, BERYL_SYSFS=str(self.sysfs), BERYL_NVML="/nonexistent.so")

    def give_proc(self, **files):
        """Instead of /proc, a folder with these files only."""
        folder = self.folder / "proc"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        self.env["BERYL_PROCFS"] = str(folder)

    def start(self, *arguments, **options):
        return subprocess.Popen([self.beryl, "record", "-o", self.run_file, "--force", *arguments], env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def record(self, *arguments, **options):
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def show(self, *arguments):
        done = subprocess.run([self.beryl, "show", self.run_file, "--format", "json", *arguments], env=self.env,
                              capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)


def device(shown, name):
    return next(one for one in shown["devices"] if one["device"] == name)


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, bench, *arguments):
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.shown = b""
        # The terminal is the program's own, so that it gets its signals.
        self.process = subprocess.Popen([bench.beryl, *arguments], env=dict(bench.env, TERM="xterm"), cwd=bench.folder,
                                        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def wait_for(self, text, seconds=30):
        end = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self.master], [], [], 0.2)[0]:
                self.shown += os.read(self.master, 65536)

    def end(self):
        code = None
        for _ in range(300):
            if select.select([self.master], [], [], 0.1)[0]:
                self.shown += os.read(self.master, 65536)
            elif self.process.poll() is not None:
                code = self.process.returncode
                break
        after = termios.tcgetattr(self.slave)
        os.close(self.slave)
        os.close(self.master)
        return code, after == self.before


def in_folder(bench, *arguments, **options):
    return subprocess.run([bench.beryl, *arguments], env=bench.env, cwd=bench.folder, capture_output=True, text=True,
                          timeout=120, **options)


def check_sums(shown):
    for one in shown["devices"]:
        if one["ours_j"] is None:
            continue
        parts = one["ours_j"] + one["rest_j"]
        assert abs(parts - one["energy_j"]) <= 1e-9 * max(1, one["energy_j"]), one
        assert min(one["ours_j"], one["rest_j"]) >= -1e-12, one


def near(value, truth, tolerance):
    assert abs(value - truth) <= tolerance, f"{value} is not {truth} +- {tolerance}"


def until(holds):
    """Waits for something that comes, however slow the machine is: the case has a time limit."""
    while not holds():
        time.sleep(0.02)


def takes_signals(process):
    """Whether a recorder reads its signals by now."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    blocked = int(next(line for line in text.splitlines() if line.startswith("SigBlk:")).split()[1], 16)
    return blocked >> (signal.SIGTERM - 1) & 1


def spin(seconds):
    """A command that uses so much CPU time, however busy the machine is, and ends at once."""
    return [sys.executable, "-c", f"import os, time\nwhile time.process_time() < {seconds}: pass\nos._exit(0)"]


SPIN = spin(1)
