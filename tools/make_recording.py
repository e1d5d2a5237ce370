#!/usr/bin/env python3
"""Writes the small recordings that tests read, byte for byte the same every time.

    tools/make_recording.py tests/data/recordings

It knows the run file only from docs/run-file.md, so that the page is held to the program too.
"""

import pathlib
import struct
import sys
import zlib

START = 1_790_000_000_000_000_000  # 2026-09-21
MS = 1_000_000
(CONTEXT, POWER, END, METER, RECORDING_START, CPUS, TASKS, ACTIVITY, FEATURE_COLUMNS, FEATURES, WINDOW,
 RECORDING_END, NOTES) = (1, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return (number << 1) ^ (number >> 63) if number >= 0 else (-number << 1) - 1


def signed(number):
    return varint(zigzag(number))


def string(text):
    data = text.encode()
    return varint(len(data)) + data


def strings(texts):
    return varint(len(texts)) + b"".join(map(string, texts))


def double(number):
    return struct.pack("<d", number)


def column(numbers):
    codes = bytearray((len(numbers) + 3) // 4)
    data = bytearray()
    for i, number in enumerate(numbers):
        code = 0 if number < 1 << 8 else 1 if number < 1 << 16 else 2 if number < 1 << 32 else 3
        codes[i // 4] |= code << (i % 4 * 2)
        data += number.to_bytes(1 << code, "little")
    return varint(len(data)) + bytes(codes) + bytes(data) + bytes(8)


def block(kind, contents):
    packed = zlib.compress(contents, 9)
    coding, stored = (1, packed) if len(packed) < len(contents) else (0, contents)
    head = struct.pack("<BBHII", kind, coding, 0, len(contents), len(stored))
    return head + struct.pack("<I", zlib.crc32(stored, zlib.crc32(head))) + stored


def steps(times):
    return signed(times[0]) + column([b - a for a, b in zip(times, times[1:])])


class Meter:
    """A counter in joules that is read every `step` ms of a device that draws watts(t) at t ms."""

    def __init__(self, name, watts, source="rapl-powercap", within="", estimated=False, error=float("nan"), step=10,
                 gap=None):
        self.name, self.watts, self.source, self.within = name, watts, source, within
        self.estimated, self.error, self.step, self.gap = estimated, error, step, gap

    def meter(self):
        return block(METER, b"".join([
            string(self.name), varint(1), string(self.source), string(f"{self.source} of {self.name}"),
            varint(1 if self.estimated else 0), string("uJ"), double(1e-6), varint(262143328850),
            double(self.step * 1000.0), double(self.error), string(self.within), varint(0 if self.estimated else 2)]))

    def power(self, milliseconds):
        times, values, gaps, joules = [], [], [], 0.0
        for t in range(0, milliseconds + 1, self.step):
            if not self.gap or not self.gap[0] < t < self.gap[1]:
                if self.gap and t == self.gap[1]:
                    gaps.append(len(times))
                times.append(START + t * MS)
                values.append(round(joules, 6))
            joules += self.watts(t) * self.step * 1e-3
        return block(POWER, b"".join([
            string(self.name), varint(1), varint(1 if self.name == "CPU:0" else 0), varint(len(times)), steps(times),
            b"".join(map(double, values)), varint(len(gaps)), b"".join(map(varint, gaps)),
            b"".join(string(self.gap[2]) for _ in gaps)]))


def activity(cpus, milliseconds, tasks, others=50):
    """tasks: (CPU at t, share of that CPU) as a function of t in ms, every 100 ms. CPU 1 is busy with others for
    so many of them."""
    times = [START + t * MS for t in range(0, milliseconds + 1, 100)]
    busy, run = [[1000 * MS] * cpus], [[0] * len(tasks)]
    readings = [[(n, task(0)[0], 0) for n, task in enumerate(tasks)]]
    for t in range(100, milliseconds + 1, 100):
        load, now = list(busy[-1]), list(run[-1])
        read = []
        for n, task in enumerate(tasks):
            cpu, share = task(t)
            ran = round(100 * MS * share)
            now[n] += ran
            load[cpu] += ran
            if ran:
                read.append((n, cpu, now[n]))
        if cpus > 1:
            load[1] += others * MS
        busy.append(load)
        run.append(now)
        readings.append(read)
    changes = []
    for cpu in range(cpus):
        before = 0
        for sample in busy:
            changes.append(zigzag(sample[cpu] - before))
            before = sample[cpu]
    flat = [reading for sample in readings for reading in sample]
    task_column, cpu_column, run_column, before, last = [], [], [], {}, 0
    for task, cpu, ran in flat:
        was = before.get(task, (0, 0))
        task_column.append(zigzag(task - last))
        cpu_column.append(zigzag(cpu - was[0]))
        run_column.append(zigzag(ran - was[1]))
        before[task], last = (cpu, ran), task
    return block(ACTIVITY, b"".join([
        varint(len(times)), varint(cpus), steps(times), column(changes), column([len(s) for s in readings]),
        varint(len(flat)), column(task_column), column(cpu_column), column(run_column)]))


def features(columns, milliseconds):
    times = [START + t * MS for t in range(0, milliseconds + 1, 500)]
    names = varint(len(columns)) + b"".join(string(name) + string(device) for name, device, _ in columns)
    values = b"".join(double(value(i)) for _, _, value in columns for i in range(len(times)))
    return block(FEATURE_COLUMNS, names) + block(
        FEATURES, varint(len(times)) + varint(len(columns)) + steps(times) + values)


def head(command, packages):
    context = b"".join([varint(0), string(""), string(""), string("make_recording.py"), string("epoch"),
                        string("epoch"), string("meters"), varint(0), varint(0)])
    start = strings(command) + varint(0) + string("a machine of numbers") + signed(4 * MS) + signed(START)
    cpus = string("schedstat") + varint(len(packages)) + b"".join(map(varint, packages))
    return (b"\x89BERYL\r\n" + struct.pack("<II", 1, 0) + block(CONTEXT, context), block(RECORDING_START, start) +
            block(CPUS, cpus))


def end(milliseconds, exit_code, pids=(4711,)):
    return block(RECORDING_END, b"".join([
        signed(START + milliseconds * MS), signed(exit_code), double(milliseconds * 8e-6), double(milliseconds * 1e-3),
        varint(milliseconds // 4), varint(3), varint(2), varint(0), double(55.5), double(612.25), double(2101.0),
        varint(9 << 20), varint(len(pids))]) + b"".join(map(signed, pids))) + block(END, b"")


def tasks(*rows):
    return block(TASKS, varint(len(rows)) + b"".join(
        signed(pid) + signed(tid) + varint(owner) + string(name) for pid, tid, owner, name in rows))


def window(name, start, stop, warm_up, runs):
    return block(WINDOW, string(name) + signed(START + start * MS) + signed(START + stop * MS) +
                 varint(int(warm_up)) + varint(runs))


def training():
    """Two sockets with memory, psys, a GPU; a warm-up and three rounds; DRAM:1 stands still for a while."""
    length = 8000

    def wave(low, high):
        return lambda t: high if t % 2000 >= 400 else low

    meters = [
        Meter("psys", lambda t: wave(40, 150)(t) + 30),
        Meter("CPU:0", wave(18, 95), within="psys"),
        Meter("CORE:0", wave(6, 70), within="CPU:0"),
        Meter("DRAM:0", wave(3, 9), within="psys"),
        Meter("CPU:1", lambda t: 15.0, within="psys"),
        Meter("DRAM:1", lambda t: 2.5, within="psys", gap=(3000, 4500, "the counter stood still")),
        Meter("GPU:0", wave(30, 180), source="nvml", step=50),
    ]
    start, recording = head(["python3", "train.py", "--epochs", "3"], [0, 0, 1, 1])
    out = start + b"".join(meter.meter() for meter in meters) + recording
    out += tasks((4711, 4711, 0, "python3"), (4711, 4712, 0, "worker"), (4720, 4720, 0, "loader"),
                 (4000, 4000, 1, "beryl"))

    def worker(t):
        return (0, 0.9 if t % 2000 >= 400 else 0.0)

    def loader(t):  # goes from socket to socket
        return (2 if t // 1000 % 2 else 3, 0.3)

    out += b"".join(meter.power(length) for meter in meters)
    out += activity(4, length, [lambda t: (1, 0.2), worker, loader, lambda t: (3, 0.008)])
    out += features([("cpu_util", "", lambda i: 40.0 + i % 3), ("mem_usg", "", lambda i: 31.5),
                     ("gpu_util", "GPU:0", lambda i: 85.0 if i % 4 else 20.0), ("gm_usg", "GPU:0", lambda i: 61.0),
                     ("g_clk", "GPU:0", lambda i: 1410.0), ("gm_clk", "GPU:0", lambda i: 1215.0),
                     ("gpu_ours", "GPU:0", lambda i: 0.75)], length)
    out += window("warm-up", 0, 2000, True, 1)
    for number in (1, 2, 3):
        out += window(f"round {number}", 2000 * number, 2000 * number + 1990 + number, False, 4)
    return out + end(length, 0)


def estimate():
    """No meter at all: the estimate, of a command that a signal ended."""
    length = 2000
    meter = Meter("CPU:0", lambda t: 12.0 + t / 500, source="estimate", estimated=True, error=0.5, step=20)
    start, recording = head(["make", "-j2"], [0, 0])
    out = start + meter.meter() + recording
    out += tasks((4711, 4711, 0, "make"), (4712, 4712, 0, "cc1plus"), (4000, 4000, 1, "beryl"))
    out += meter.power(length)
    out += activity(2, length, [lambda t: (0, 0.05), lambda t: (0, 0.6), lambda t: (1, 0.01)])
    out += features([("cpu_util", "", lambda i: 55.0), ("mem_usg", "", lambda i: float("nan"))], length)
    out += block(NOTES, strings(["no meter of the CPUs could be read: their energy is an estimate from CPU time"]))
    return out + end(length, 143)


def machine():
    """A machine that idles, of which no process is watched: only the recorder is known. The board is measured and the
    card beside it, and of the CPUs there is an estimate."""
    length = 3000
    meters = [
        Meter("psys", lambda t: 50.0),
        Meter("GPU:0", lambda t: 20.0, source="nvml", step=50),
        Meter("CPU:0", lambda t: 12.0, source="estimate", within="psys", estimated=True, error=0.5, step=20),
    ]
    start, recording = head([], [0, 0, 0, 0])
    out = start + b"".join(meter.meter() for meter in meters) + recording
    out += tasks((4000, 4000, 1, "beryl"))
    out += b"".join(meter.power(length) for meter in meters)
    out += activity(4, length, [lambda t: (0, 0.0085)], others=0)
    out += features([("cpu_util", "", lambda i: 0.3), ("mem_usg", "", lambda i: 31.5),
                     ("gpu_util", "GPU:0", lambda i: 5.0), ("gpu_ours", "GPU:0", lambda i: 0.0)], length)
    return out + end(length, -1, pids=())


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    whole = training()
    (folder / "training.beryl").write_bytes(whole)
    # What is left of it if the recorder is killed: the end is missing.
    (folder / "killed.beryl").write_bytes(whole[:len(whole) - 140])
    (folder / "estimate.beryl").write_bytes(estimate())
    (folder / "machine.beryl").write_bytes(machine())


if __name__ == "__main__":
    main()
