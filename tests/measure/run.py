#!/usr/bin/env python3
"""Records for real through the real binary: commands that crash, recorders that are killed, and a
machine of files whose true energy is known. Ends with "N passed, N failed"."""

import argparse
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from standin import Counter, Machine

CASES = []


def case(function):
    CASES.append(function)
    return function


class Bench:
    """One case's folder and program."""

    def __init__(self, beryl, folder):
        self.beryl, self.folder = beryl, pathlib.Path(folder)
        self.sysfs = self.folder / "sys"
        self.sysfs.mkdir()
        self.run_file = self.folder / "run.beryl"
        self.env = dict(os.environ, BERYL_SYSFS=str(self.sysfs), BERYL_NVML="/nonexistent.so")

    def start(self, *arguments, **options):
        return subprocess.Popen([self.beryl, "record", "-o", self.run_file, *arguments], env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def record(self, *arguments, **options):
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def show(self):
        done = subprocess.run([self.beryl, "show", self.run_file, "--format", "json"], env=self.env,
                              capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)


def device(shown, name):
    return next(one for one in shown["devices"] if one["device"] == name)


def check_sums(shown):
    for one in shown["devices"]:
        if one["ours_j"] is None:
            continue
        parts = one["ours_j"] + one["rest_j"]
        assert abs(parts - one["energy_j"]) <= 1e-9 * max(1, one["energy_j"]), one
        assert min(one["ours_j"], one["rest_j"]) >= -1e-12, one


def near(value, truth, tolerance):
    assert abs(value - truth) <= tolerance, f"{value} is not {truth} +- {tolerance}"


TO_END_S = 0.05  # what Python may take to end on a slow machine


def spin(seconds):
    """A command that uses so much CPU time, however busy the machine is."""
    return [sys.executable, "-c", f"import time\nwhile time.process_time() < {seconds}: pass"]


SPIN = spin(1)


def watched_cpu_s(shown):
    return sum(one["cpu_s"] for one in shown["processes"] if one["owner"] == "watched")


@case
def without_a_meter_it_is_an_estimate(bench):
    code, _, err = bench.record("--", *SPIN)
    assert code == 0, err
    shown = bench.show()
    (cpu,) = shown["devices"]
    assert cpu["origin"] == "estimated" and cpu["source"] == "estimate", cpu
    assert cpu["energy_j"] > 0 and cpu["low_j"] < cpu["energy_j"] < cpu["high_j"], cpu
    assert 0 < cpu["ours_j"] <= cpu["energy_j"], cpu
    assert "estimate" in err, err
    check_sums(shown)


@case
def the_commands_output_and_exit_code_pass_through(bench):
    code, out, _ = bench.record("-q", "--", "sh", "-c", "echo hello; exit 7")
    assert (code, out) == (7, "hello\n"), (code, out)
    assert bench.show()["exit_code"] == 7


@case
def a_crash_of_the_command_leaves_a_good_file(bench):
    code, _, _ = bench.record("--", "sh", "-c", "kill -SEGV $$")
    assert code == 128 + signal.SIGSEGV, code
    assert bench.show()["exit_code"] == 128 + signal.SIGSEGV


@case
def a_command_that_is_not_there_is_named(bench):
    code, _, err = bench.record("--", "no-such-program-anywhere")
    assert code == 1 and "no-such-program-anywhere" in err and "No such file" in err, err


@case
def ctrl_c_and_sigterm_end_it_orderly(bench):
    for number in (signal.SIGINT, signal.SIGTERM):
        process = bench.start("--", "sleep", "30")
        time.sleep(1.5)
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode == 128 + number, process.returncode
        shown = bench.show()
        assert shown["exit_code"] == 128 + number and 0.5 < shown["seconds"] < 20, shown["seconds"]


@case
def kill_9_leaves_a_readable_file(bench):
    process = bench.start("--", "sleep", "30")
    time.sleep(3.5)
    process.kill()
    process.communicate()
    shown = bench.show()
    assert shown["devices"][0]["energy_j"] > 0 and shown["seconds"] > 1, shown["seconds"]
    assert any(note["kind"] == "recorder_killed" for note in shown["notes"]), shown["notes"]


@case
def children_and_their_children_are_ours(bench):
    code, _, err = bench.record("--", "sh", "-c",
                                f"({' '.join(SPIN[:2])} '{SPIN[2]}') & wait")
    assert code == 0, err
    shown = bench.show()
    near(watched_cpu_s(shown), 1.03, 0.08)


@case
def many_short_children_are_not_lost(bench):
    code, _, err = bench.record("--", "sh", "-c", "for i in $(seq 200); do /bin/true; done; "
                                "for i in 1 2 3 4 5 6; do "
                                "python3 -c 'x = sum(range(3_000_000))'; done")
    assert code == 0, err
    shown = bench.show()
    assert watched_cpu_s(shown) > 0.15, shown["processes"]


@case
def a_process_that_runs_already(bench):
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)
        code, _, err = bench.record("--pid", str(spinner.pid), "--for", "1s")
    finally:
        spinner.kill()
        used = os.wait4(spinner.pid, 0)[2]
        spinner.returncode = 0
    assert code == 0, err
    shown = bench.show()
    near(shown["seconds"], 1.0, 0.05)
    assert shown["exit_code"] is None, shown["exit_code"]
    assert 0 < watched_cpu_s(shown) < used.ru_utime + used.ru_stime + 0.02, shown["processes"]
    bench.run_file.unlink()
    assert bench.record("--pid", "999999999")[0] == 1
    assert not bench.run_file.exists()


@case
def all_of_a_short_command_is_its_own(bench):
    for seconds in (0.08, 0.15, 0.45):
        code, _, err = bench.record("--", *spin(seconds))
        assert code == 0, err
        near(watched_cpu_s(bench.show()), seconds, TO_END_S)
    code, _, err = bench.record("--period", "5s", "--", *spin(0.5))
    near(watched_cpu_s(bench.show()), 0.5, TO_END_S)


@case
def orphans_are_ours(bench):
    command = f"({SPIN[0]} -c '{SPIN[2]}' &) ; sleep 3"
    code, _, err = bench.record("--", "sh", "-c", command)
    assert code == 0, err
    assert watched_cpu_s(bench.show()) > 0.5, bench.show()["processes"]


@case
def a_recording_that_cannot_be_written_does_not_end_the_command(bench):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    mark = bench.folder / "mark"
    code, _, err = bench.record("--", "sh", "-c", f"sleep 3; : > {mark}; exit 5",
                                preexec_fn=small_files)
    assert code == 5 and mark.exists() and "File too large" in err, (code, err)


@case
def ignored_signals_change_nothing(bench):
    def ignore_children():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    code, _, err = bench.record("--", "sh", "-c", "exit 3", preexec_fn=ignore_children)
    assert code == 3, (code, err)

    def nohup():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    process = bench.start("--", "sleep", "2", preexec_fn=nohup)
    time.sleep(1)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode == 0, process.returncode


@case
def a_stop_before_the_command_starts_is_for_the_recorder(bench):
    mark = bench.folder / "mark"
    meter = bench.folder / "meter"
    os.mkfifo(meter)  # nobody writes: the recorder waits for a first line
    keep = os.open(meter, os.O_RDWR)
    process = bench.start("--meter", f"{meter},format={{W}}", "--", "sh", "-c", f": > {mark}")
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    os.close(keep)
    assert process.returncode == 128 + signal.SIGTERM and not mark.exists(), process.returncode


@case
def nothing_to_read_is_an_error_before_the_command_runs(bench):
    mark = bench.folder / "mark"
    code, _, err = bench.record("--only", "nvml", "--", "sh", "-c", f": > {mark}")
    assert code == 1 and "no meter" in err and not mark.exists(), (code, err)
    code, _, err = bench.record("-o", "-", "--", "true")
    assert code == 2 and "-o" in err, (code, err)


@case
def slow_counters_are_right_at_both_ends(bench):
    counters = {update: Counter(f"intel-rapl:{i}", f"package-{i}", 50.0, update_s=update)
                for i, update in enumerate((0.02, 0.05, 0.1))}
    with Machine(bench.sysfs, list(counters.values()), cpus=3, sockets=3) as machine:
        code, _, err = bench.record("--", sys.executable, "-c",
                                    "import time; time.sleep(3.03)")
    assert code == 0, err
    shown = bench.show()
    for one in shown["devices"]:
        # A step is seen when a reading comes; its time is as sure as readings are close.
        near(one["energy_j"], 50.0 * shown["seconds"],
             0.001 * 50 * shown["seconds"] + 50 * machine.longest_gap_s)
        near(one["seconds"], shown["seconds"], 1e-6)


@case
def a_meter_that_prints_once_a_second(bench):
    meter = bench.folder / "meter"
    os.mkfifo(meter)
    stop = threading.Event()

    def write():
        with open(meter, "r+b", buffering=0) as pipe:
            while not stop.wait(1):
                pipe.write(b"100.0\n")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        code, _, err = bench.record("--only", "meter", "--meter", f"{meter},format={{W}}", "--",
                                    "sleep", "3.5")
    finally:
        stop.set()
        writer.join()
    assert code == 0, err
    shown = bench.show()
    near(device(shown, "wall")["energy_j"], 100 * shown["seconds"], 0.1)


@case
def rounds_have_a_mean_and_a_deviation(bench):
    code, _, err = bench.record("--repeat", "3", "--for", "300ms", "--cooldown=1s", "--", "sleep",
                                "0.1")
    assert code == 0, err
    shown = bench.show()
    names = [one["name"] for one in shown["windows"]]
    assert names == ["warm-up", "round 1", "round 2", "round 3"], names
    assert all(one["runs"] >= 3 for one in shown["windows"][1:]), shown["windows"]
    assert shown["rounds"]["n"] == 3 and shown["rounds"]["energy_j"]["mean"] > 0, shown["rounds"]


def two_sockets():
    return {
        "cpu0": Counter("intel-rapl:0", "package-0", 50.0, wrap_uj=40_000_000, start_uj=39_000_000),
        "core0": Counter("intel-rapl:0:0", "core", 30.0),
        "dram0": Counter("intel-rapl:0:1", "dram", 8.0),
        "cpu1": Counter("intel-rapl:1", "package-1", 70.0, start_uj=262_143_000_000),
        "dram1": Counter("intel-rapl:1:0", "dram", 6.0),
        "psys": Counter("intel-rapl:2", "psys", 160.0),
        "mmio": Counter("intel-rapl-mmio:0", "package-0", 50.0),
    }


@case
def a_machine_of_known_energy_is_read_right(bench):
    counters = two_sockets()
    with Machine(bench.sysfs, list(counters.values())) as machine:
        code, _, err = bench.record("--for", "5s")
    assert code == 0, err
    shown = bench.show()
    assert sorted(one["device"] for one in shown["devices"]) == ["CPU:0", "CPU:1", "DRAM:0",
                                                                 "DRAM:1"], shown["devices"]
    for name, counter in (("CPU:0", "cpu0"), ("CPU:1", "cpu1"), ("DRAM:0", "dram0"),
                          ("DRAM:1", "dram1")):
        one, watts = device(shown, name), counters[counter].watts
        # What the files say lags behind by as long as their writer was kept waiting.
        near(one["energy_j"], watts * one["seconds"],
             0.001 * watts * one["seconds"] + watts * machine.longest_gap_s)
        assert one["seconds"] > 0.95 * shown["seconds"], one
        assert one["origin"] == "measured" and one["source"] == "rapl-powercap", one
    assert device(shown, "CPU:0")["channels"], "what is contained is listed"
    near(shown["whole"]["energy_j"], 160.0 * shown["seconds"], 3.2 + 160 * machine.longest_gap_s)
    check_sums(shown)
    wraps = [one["wraps"] for one in shown["channels"] if one["channel"] == "CPU:0"]
    assert wraps and wraps[0] >= 5, wraps


@case
def frozen_and_vanished_counters_are_gaps(bench):
    counters = two_sockets()
    with Machine(bench.sysfs, list(counters.values())) as machine:
        process = bench.start("--for", "5s")
        time.sleep(2.5)
        at = time.time() - machine.start
        counters["cpu0"].frozen_after = at
        counters["cpu1"].deleted_after = at
        process.communicate(timeout=60)
    shown = bench.show()
    for name, watts in (("CPU:0", 50.0), ("CPU:1", 70.0)):
        one = device(shown, name)
        assert one["gaps"] and one["seconds"] < 0.9 * shown["seconds"], one
        near(one["energy_j"], watts * one["seconds"],
             0.001 * watts * one["seconds"] + watts * (machine.longest_gap_s + 0.01))
        assert any(name in note["text"] for note in shown["notes"]), shown["notes"]
    assert not device(shown, "DRAM:0")["gaps"], device(shown, "DRAM:0")
    check_sums(shown)


@case
def a_counter_that_never_moves_is_not_believed(bench):
    counter = Counter("intel-rapl:0", "package-0", 0.0, start_uj=123)
    with Machine(bench.sysfs, [counter]):
        code, _, err = bench.record("--for", "1s")
    assert code == 0, err
    shown = bench.show()
    assert all(one["origin"] == "estimated" for one in shown["devices"]), shown["devices"]
    assert all(one["energy_j"] is None or one["energy_j"] > 0 for one in shown["devices"])


# Writes its own meter: 100 J in two seconds, in steps of 50 ms.
DRIVER = """
import sys, time
for step in range(1, 41):
    time.sleep(0.05)
    open(sys.argv[1], "r+").write(f"{step * 2_500_000:<20}")
"""


@case
def a_counter_that_moves_only_while_the_command_runs(bench):
    counter = Counter("intel-rapl:0", "package-0", 0.0)
    counter.make(bench.sysfs)
    code, _, err = bench.record("--", sys.executable, "-c", DRIVER, counter.file)
    assert code == 0, err
    one = device(bench.show(), "CPU:0")
    assert one["origin"] == "measured" and one["source"] == "rapl-powercap", one
    near(one["energy_j"], 100.0, 1e-6)


@case
def a_machine_whose_proc_has_not_the_command(bench):
    proc = bench.folder / "proc"
    proc.mkdir()
    (proc / "stat").write_text("cpu  1 0 0 9 0 0 0 0 0 0\ncpu0 1 0 0 9 0 0 0 0 0 0\nprocesses 5\n")
    (proc / "meminfo").write_text("MemTotal: 1000 kB\nMemAvailable: 250 kB\n")
    bench.env["BERYL_PROCFS"] = str(proc)
    with Machine(bench.sysfs, [Counter("intel-rapl:0", "package-0", 50.0)], cpus=1, sockets=1):
        code, _, err = bench.record("--", "sleep", "1")
    assert code == 0, err
    shown = bench.show()
    one = device(shown, "CPU:0")
    assert one["energy_j"] > 40 and one["ours_j"] is None, one
    near(shown["features"]["mem_usg"], 75, 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beryl", required=True, type=pathlib.Path)
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    # A script's background job starts with these ignored, and what it starts inherits that.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    failed = 0
    chosen = [one for one in CASES if arguments.filter in one.__name__]
    for one in chosen:
        folder, start = tempfile.mkdtemp(prefix="beryl-measure-"), time.monotonic()
        try:
            one(Bench(arguments.beryl.resolve(), folder))
            print(f"pass {time.monotonic() - start:7.2f} s  measure/{one.__name__}", flush=True)
        except Exception:  # whatever it is, the others still run
            failed += 1
            print(f"FAIL  {one.__name__}\n{traceback.format_exc()}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
