#!/usr/bin/env python3
"""What measuring costs, in one run.

  record_cost.py share     CPU, memory and lateness of `beryl record` at 4 ms with RAPL and NVML
                           stand-ins and a process of 64 threads
  record_cost.py workload  a workload with and without the recorder, 20 runs each, interleaved

Needs the release build (./check makes it): --build build/release.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "measure"))
from standin import Counter, Machine  # noqa: E402

THREADS = """
import threading, time
def work():
    while True:
        sum(range(1000))
        time.sleep(0.02)
for _ in range(63):
    threading.Thread(target=work, daemon=True).start()
work()
"""
WORKLOAD = "import hashlib\nfor i in range(12): hashlib.sha256(bytes(40_000_000)).digest()"


def standin_machine(folder):
    for cpu in range(8):
        policy = folder / f"sys/devices/system/cpu/cpufreq/policy{cpu}"
        policy.mkdir(parents=True)
        (policy / "scaling_cur_freq").write_text("3600000\n")
    for package in range(2):
        chip = folder / f"sys/class/hwmon/hwmon{package}"
        chip.mkdir(parents=True)
        (chip / "name").write_text("coretemp\n")
        (chip / "temp1_input").write_text("61000\n")
    return Machine(folder / "sys", [
        Counter("intel-rapl:0", "package-0", 50.0), Counter("intel-rapl:0:0", "core", 30.0),
        Counter("intel-rapl:0:1", "dram", 8.0), Counter("intel-rapl:1", "package-1", 70.0),
        Counter("intel-rapl:1:0", "core", 40.0), Counter("intel-rapl:1:1", "dram", 6.0),
        Counter("intel-rapl:2", "psys", 160.0)], cpus=os.cpu_count() or 1)


def environment(build, folder):
    libraries = list(build.glob("**/libnvidia-ml.so.1")) + list(build.glob("**/*standin*nvml*.so*"))
    nvml = str(libraries[0].resolve()) if libraries else "/nonexistent.so"
    return dict(os.environ, BERYL_SYSFS=str(folder / "sys"), BERYL_NVML=nvml)


def show(beryl, run):
    return json.loads(subprocess.run([beryl, "show", run, "--format", "json"], check=True,
                                     capture_output=True).stdout)


def share(arguments):
    beryl = arguments.build / "beryl"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = folder / "run.beryl"
        threads = subprocess.Popen([sys.executable, "-c", THREADS])
        try:
            with standin_machine(folder):
                time.sleep(0.5)
                subprocess.run([beryl, "record", "-q", "-o", run, "--pid", str(threads.pid), "--for",
                                f"{arguments.seconds}s"], check=True,
                               env=environment(arguments.build, folder))
        finally:
            threads.kill()
            threads.wait()
        shown = show(beryl, run)
        cost = shown["overhead"]
        tasks = sum(one["threads"] for one in shown["processes"] if one["owner"] == "watched")
        print(f"{len(shown['channels'])} channels, {tasks} threads, {shown['seconds']:.1f} s at 4 ms")
        print(f"  CPU        {cost['cpu_pct']:.2f} % of one core (asked: 2, aim 1; published monitor 24.5)")
        print(f"  resident   {cost['resident_bytes'] / 1e6:.1f} MB (asked: 15)")
        print(f"  lateness   p99 {cost['late_p99_us']:.0f} us (asked: 1000 on an idle machine)")
        print(f"  missed     {cost['missed_ticks']} ticks, lost {cost['lost_samples']} samples")
        print(f"  file       {run.stat().st_size / shown['seconds'] / 1e3:.1f} kB/s")


def workload(arguments):
    beryl = arguments.build / "beryl"
    times = {"without": [], "with": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [sys.executable, "-c", WORKLOAD]
        timed = ["python3", "-c", "import subprocess,sys,time\nt=time.perf_counter()\n"
                 "subprocess.run(sys.argv[1:], check=True)\nprint(time.perf_counter()-t)", *command]
        for i in range(2 * arguments.runs):
            kind = "with" if (i + i // 2) % 2 else "without"
            recorder = [beryl, "record", "-q", "-o", folder / "run.beryl", "--"] if kind == "with" else []
            out = subprocess.run([*recorder, *timed], check=True, capture_output=True).stdout
            times[kind].append(float(out))
    for kind, values in times.items():
        print(f"{kind:8} {statistics.mean(values):.4f} s +- {statistics.stdev(values):.4f} s of {len(values)} runs")
    difference = statistics.mean(times["with"]) - statistics.mean(times["without"])
    noise = math.sqrt(sum(statistics.variance(v) / len(v) for v in times.values()))
    print(f"difference {difference * 1e3:+.1f} ms ({100 * difference / statistics.mean(times['without']):+.2f} %), "
          f"noise of the means {noise * 1e3:.1f} ms, of single runs "
          f"{statistics.stdev(times['without']) * 1e3:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["share", "workload"])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    {"share": share, "workload": workload}[arguments.what](arguments)


if __name__ == "__main__":
    main()
