"""Cases of machines made of files, whose true energy is known."""

import json
import os
import sys
import threading
import time

from bench import check_sums, device, in_folder, near
from cases import case
from standin import Counter, Machine


def late_s(shown):
    """As long as a reading was kept waiting."""
    return shown["overhead"]["late_max_us"] * 1e-6


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
             0.001 * 50 * shown["seconds"] + 50 * (machine.longest_gap_s + late_s(shown)))
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
    wall = device(shown, "wall")
    near(wall["energy_j"], 100 * wall["seconds"], 0.1)
    assert wall["seconds"] > 1, wall  # a line that came too late leaves a gap


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
    bench.give_proc(stat="cpu  1 0 0 9 0 0 0 0 0 0\ncpu0 1 0 0 9 0 0 0 0 0 0\nprocesses 5\n",
                    meminfo="MemTotal: 1000 kB\nMemAvailable: 250 kB\n")
    with Machine(bench.sysfs, [Counter("intel-rapl:0", "package-0", 50.0)], cpus=1, sockets=1):
        code, _, err = bench.record("--", "sleep", "1")
    assert code == 0, err
    shown = bench.show()
    one = device(shown, "CPU:0")
    assert one["energy_j"] > 40 and one["ours_j"] is None, one
    near(shown["features"]["mem_usg"], 75, 1e-9)


@case
def how_warm_the_processors_were_widens_a_comparison(bench):
    cpufreq = bench.sysfs / "devices/system/cpu/cpufreq/policy0"
    hwmon = bench.sysfs / "class/hwmon/hwmon0"
    for folder in (cpufreq, hwmon):
        folder.mkdir(parents=True)
    (cpufreq / "scaling_cur_freq").write_text("3600000\n")
    (hwmon / "name").write_text("coretemp\n")
    with Machine(bench.sysfs, [Counter("intel-rapl:0", "package-0", 50.0)], cpus=1, sockets=1):
        for name, degrees in (("cool", 41), ("warm", 81)):
            (hwmon / "temp1_input").write_text(f"{degrees}000\n")
            bench.run_file = bench.folder / f"{name}.beryl"
            code, _, err = bench.record("--", "sleep", "0.5")
            assert code == 0, err
            features = bench.show()["features"]
            assert (features["c_clk"], features["c_temp"]) == (3600, degrees), features
    done = in_folder(bench, "compare", "cool.beryl", "warm.beryl", "--format", "json")
    compared = json.loads(done.stdout)
    near(compared["verdicts"][0]["systematic"]["temperature"], 40 * 0.003 / 3 ** 0.5, 1e-9)
    assert any(note["kind"] == "temperatures_differ" for note in compared["notes"]), compared["notes"]
