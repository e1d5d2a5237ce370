#!/usr/bin/env python3
"""Bad days of the real binary: full disks, kills, too little memory, files without an end, and names that somebody
made to deceive. Ends with "N passed, N failed".

What is said of memory is checked of a binary without sanitizers only: those need much of their own."""

import gzip
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cases  # noqa: E402
from cases import case  # noqa: E402

# What a terminal obeys, or shows as something else. Ends of lines are of the text itself.
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HOSTILE = "evil\x1b[2J\x9b31m\u202egpj\ttab\r"


class Day:
    """One case's folder and program."""

    def __init__(self, beryl, folder):
        self.beryl, self.folder = beryl, folder
        self.measures_memory = b"__asan_" not in beryl.read_bytes()
        self.out = folder / "out"
        self.out.mkdir()

    def start(self, *arguments, before=None, **options):
        return subprocess.Popen([self.beryl, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=before, **options)

    def run(self, *arguments, before=None):
        """Its exit status, output, messages and the most memory it had, in bytes."""
        process = self.start(*arguments, before=before)
        texts = [b"", b""]

        def read(i, pipe):
            texts[i] = pipe.read()
        readers = [threading.Thread(target=read, args=one) for one in enumerate((process.stdout, process.stderr))]
        for reader in readers:
            reader.start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for reader in readers:
            reader.join()
        return (process.returncode, texts[0].decode("utf-8", "surrogateescape"),
                texts[1].decode("utf-8", "surrogateescape"), used.ru_maxrss * 1024)

    def trace(self, name="ops.json", events=3, names=1, label="op"):
        """A TensorFlow timeline with that many operations and different names."""
        path = self.folder / name
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write('{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": '
                       '"/job:localhost/replica:0/task:0/device:CPU:0 Compute"}}')
            for i in range(events):
                unit = f"{label}{i % names if names > 1 else ''}"
                file.write(f',\n{{"ph": "X", "pid": 1, "tid": 0, "ts": {1000 + 10 * i}, "dur": 8, "name": "MatMul", '
                           f'"args": {{"name": {json.dumps("model/" + unit + "/MatMul")}, "op": "MatMul"}}}}')
            file.write("]}")
        return path

    def power(self, name="power.csv", device="CPU:0", until_us=2000):
        path = self.folder / name
        quoted = device.replace('"', '""')
        rows = "".join(f'{t},"{quoted}",{10 + t % 7}\n' for t in range(0, until_us + 1, max(100, until_us // 1000)))
        path.write_text("timestamp_us,device,power_w\n" + rows, encoding="utf-8", newline="")
        return path

    def left(self):
        return sorted(path.name for path in self.out.iterdir())


def limit(kind, size):
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(kind, (size, size))
    return before


@case
def a_full_disk_leaves_what_was_there(day):
    ops, power = day.trace(events=2000, names=2000), day.power()
    (day.out / "result").write_text("old")
    full = limit(resource.RLIMIT_FSIZE, 4096)
    for command in (["import"], ["account", "--format", "json"], ["account", "--format", "html"]):
        code, _, err, _ = day.run(*command, "--ops", ops, "--power", power, "-o", "out/result", before=full)
        assert code == 1 and "cannot write: File too large" in err, (command, code, err)
        assert day.left() == ["result"] and (day.out / "result").read_text() == "old", day.left()
    code, _, err, _ = day.run("import", "--ops", ops, "--power", power, "-o", "/dev/full")
    assert code == 1 and "/dev/full: cannot write: No space left on device" in err, err


@case
def a_kill_leaves_nothing_behind(day):
    power = day.power()
    os.mkfifo(day.folder / "ops.json")
    for command in (["import"], ["account"]):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            (day.out / "result").write_text("old")
            process = day.start(*command, "--power", power, "--ops", "ops.json", "-o", "out/result")
            # Opens when the program does, which has its output by then.
            with open(day.folder / "ops.json", "w") as pipe:
                pipe.write('{"traceEvents": [')
                pipe.flush()
                time.sleep(0.1)
                process.send_signal(number)
                process.wait(timeout=20)
            assert process.returncode == -number, (command, number, process.returncode)
            assert day.left() == ["result"] and (day.out / "result").read_text() == "old", (number, day.left())


@case
def a_broken_input_leaves_the_run_file_that_was_there(day):
    power, broken = day.power(), day.folder / "broken.json"
    broken.write_text('{"traceEvents": [{"ph" 1}]}')
    (day.out / "run.beryl").write_text("old")
    code, _, _, _ = day.run("import", "--ops", broken, "--power", power, "-o", "out/run.beryl")
    assert code == 1 and day.left() == ["run.beryl"] and (day.out / "run.beryl").read_text() == "old"


@case
def too_little_memory_is_an_error_with_the_amount(day):
    if not day.measures_memory:
        return
    ops, power = day.trace(events=300_000, names=300_000), day.power(until_us=4_000_000)
    seen = set()
    for threads in (1, 4):
        for megabytes in (40, 60, 80, 100, 130, 160):
            code, _, err, _ = day.run("import", "--ops", ops, "--power", power, "--threads", threads, "-o", "out/run",
                                      before=limit(resource.RLIMIT_AS, megabytes << 20))
            assert code in (0, 1), (megabytes, code, err)
            seen.add(code)
            if code == 1:
                assert re.search(r"out of memory: [\d.]+ MB more are needed beside the \d+ MB in use", err), err
                assert day.left() == [], day.left()
            else:
                (day.out / "run").unlink()
    assert 1 in seen, "there was always enough"


@case
def a_recorder_that_is_killed_at_any_time_leaves_a_good_file_or_none(day):
    started = day.folder / "started"
    for wait_ms in (5, 20, 50, 100, 150, 200, 300, 450, 700, 1500):
        started.unlink(missing_ok=True)
        (day.out / "run.beryl").unlink(missing_ok=True)
        process = day.start("record", "-o", "out/run.beryl", "--", "sh", "-c", f"touch {started}; exec sleep 3",
                            start_new_session=True)
        time.sleep(wait_ms / 1000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        begun = started.exists()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.stdout.close()
        process.stderr.close()
        assert day.left() in ([], ["run.beryl"]), day.left()
        assert day.left() or not begun, f"the command started after {wait_ms} ms without a file"
        if day.left():
            code, out, err, _ = day.run("show", "out/run.beryl", "--format", "json")
            assert code == 0, (wait_ms, err)
            assert json.loads(out)["command"][0] == "sh", out[:500]


@case
def names_from_outside_give_a_terminal_no_orders(day):
    day.trace(label=HOSTILE)
    day.power(device="CPU:0")
    day.power("other.csv", device=HOSTILE)
    day.power(HOSTILE + ".csv")
    run = ["--ops", "ops.json", "--power", "power.csv", "--align", "start"]
    code, _, err, _ = day.run("import", *run[:4], "-o", "run.beryl")
    assert code == 0, err
    orders = [[command, *run, "--format", form] for command, forms in
              {"account": ("table", "json", "csv", "html"), "rank": ("table", "json", "csv", "svg"),
               "diagram": ("table", "json", "csv", "svg"), "timeline": ("table", "json", "csv", "svg")}.items()
              for form in forms]
    orders += [["export", *run, "--to", form] for form in
               ("folded", "speedscope", "chrome", "model-explorer", "model-explorer-data", "firefox")]
    orders += [["account", "--ops", "ops.json", "--power", "other.csv", "--align", "start"],
               ["account", *run, "--power", HOSTILE + ".csv"], ["account", *run, "--label", HOSTILE],
               ["account", "--ops", HOSTILE, "--power", HOSTILE], ["show", HOSTILE], [HOSTILE], ["account", HOSTILE],
               ["account", "--" + HOSTILE], ["compare", "run.beryl", HOSTILE], ["describe", HOSTILE],
               ["predict", HOSTILE, "--batch", "1"], ["account", *run, "-o", HOSTILE + "/x"],
               ["diagram", *run, "--node", HOSTILE], ["record", "--pid", "1", "--for", HOSTILE],
               ["record", "-o", HOSTILE + ".beryl", "--", HOSTILE], ["import", *run[:4], "-o", HOSTILE],
               ["compare", "run.beryl", HOSTILE, "--labels", f"{HOSTILE},b", "--align", "start"]]
    said = 0
    for order in orders:
        _, out, err, _ = day.run(*order)
        for name, text in (("stdout", out), ("stderr", err)):
            found = CONTROLS.search(text.replace("\ufffd", ""))
            assert not found, f"{order}: {name} has {found.group()!r} in {text[max(0, found.start() - 60):][:120]!r}"
            assert "evil\n" not in text
            said += "evil\\x1b[2J" in text
    assert said > 20, f"only {said} texts have the name, made visible"


@case
def a_csv_cell_that_a_spreadsheet_would_run_is_neutralised(day):
    day.trace(label="x", events=1)
    text = (day.folder / "ops.json").read_text().replace("model/x/MatMul", "=cmd|' /C calc'!A0")
    (day.folder / "ops.json").write_text(text)
    day.power()
    run = ["account", "--ops", "ops.json", "--power", "power.csv", "--align", "start", "--format", "csv"]
    _, safe, _, _ = day.run(*run)
    _, raw, _, _ = day.run(*run, "--csv", "raw")
    assert "\n'=cmd|" in safe and "\n=cmd" not in safe and ",=cmd" not in safe, safe
    assert "\n=cmd|" in raw and "'=cmd" not in raw, raw


def endless(path, text, size):
    """Writes `size` bytes of `text` into a pipe, or as many as are read."""
    def write():
        try:
            with open(path, "wb", buffering=0) as pipe:
                for _ in range(size // len(text)):
                    pipe.write(text)
        except BrokenPipeError:
            pass
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


@case
def a_power_file_without_a_line_end_takes_no_memory(day):
    ops, pipe = day.trace(), day.folder / "power.csv"
    os.mkfifo(pipe)
    for text in (b"x" * 65536, b"," * 65536, b'"' * 65536, b"#" * 65536, b" " * 65536):
        writer, start = endless(pipe, text, 4 << 30), time.monotonic()
        code, _, err, memory = day.run("account", "--ops", ops, "--power", pipe)
        writer.join()
        assert code == 1 and "longer than 4 MiB" in err, (text[:1], code, err)
        if day.measures_memory:
            assert time.monotonic() - start < 5, text[:1]
            assert memory < 150 << 20, (text[:1], memory)


@case
def power_as_json_takes_the_memory_of_its_readings(day):
    ops = day.trace()
    readings = 2_000_000 if day.measures_memory else 20_000
    with gzip.open(day.folder / "power.json", "wt", compresslevel=1) as file:
        file.write('{"junk": "')
        for _ in range(readings // 1000):  # in pieces: what this process holds counts as the program's own at its start
            file.write("x" * 100_000)
        file.write('", "nested": [' + '{"a": [1, ' * 400 + '"x"' + ']}' * 400 + '], "CPU:0": {')
        for start in range(0, readings, 1000):
            file.write(",".join(f'"{1690000000000000 + 4000 * i}": 51.{i % 10}' for i in range(start, start + 1000)))
            file.write("," if start + 1000 < readings else "}}")
    code, _, err, memory = day.run("account", "--ops", ops, "--power", "power.json", "--align", "start")
    assert code == 0, err
    if day.measures_memory:  # the text has 270 MB
        assert memory < readings * 60 + (40 << 20), f"{memory >> 20} MiB"


@case
def a_million_names_have_the_memory_that_is_promised(day):
    """What docs/reliability.md says. A time that grows with the square of their number ends in the case's limit."""
    if not day.measures_memory:
        return
    ops = day.trace(events=1_000_000, names=1_000_000, label="layer_with_a_long_name/and_a_number_")
    power = day.power(until_us=10_002_000)
    for command, most_mb in ((["import", "-o", "out/run"], 600), (["account", "--format", "table"], 800)):
        code, _, err, memory = day.run(*command, "--ops", ops, "--power", power)
        assert code == 0, err
        print(f"      {command[0]}: {memory / 1e6:.0f} MB")
        assert memory < most_mb * 1e6, f"{command}: {memory / 1e6:.0f} MB"


@case
def numbers_beyond_physics_have_no_hundreds_of_digits(day):
    ops = day.trace()
    (day.folder / "power.csv").write_text("timestamp_us,device,power_w\n1000,CPU:0,5\n1010,CPU:0,1e302\n1020,CPU:0,5\n"
                                          "1030,CPU:0,5\n")
    for order in (["account", "--ops", ops, "--power", "power.csv", "--align", "start"],
                  ["sources", "--estimate", "idle=1e302,full=1e308"],
                  ["account", "--ops", ops, "--power", "power.csv", "--align", "1e302"],
                  ["describe", "bert-base-uncased", "--set", "hidden_size=1e302"],
                  ["record", "--for", "1e302s", "true"], ["record", "--period", "1e302ms", "true"],
                  ["cost", "bert-base-uncased", "--price", "1e302"]):
        _, out, err, _ = day.run(*order)
        digits = re.search(r"\d{40}", out + err)
        assert not digits, (order, out + err)
    _, out, err, _ = day.run("account", "--ops", ops, "--power", "power.csv", "--align", "start")
    assert "more than any machine draws" in out and "e+" not in out, out


def main():
    parser = cases.parser(__doc__)
    arguments = parser.parse_args()
    return cases.run("bad_days", arguments.filter, lambda folder: Day(arguments.beryl.resolve(), folder), at_once=2)


if __name__ == "__main__":
    sys.exit(main())
