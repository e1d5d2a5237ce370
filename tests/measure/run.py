#!/usr/bin/env python3
"""Records for real through the real binary: commands that crash, recorders that are killed, and a
machine of files whose true energy is known. Ends with "N passed, N failed"."""

import json
import os
import pathlib
import resource
import shlex
import signal
import subprocess
import sys
import time

from standin import Counter, Machine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cases  # noqa: E402
import known_machines  # noqa: E402,F401
from bench import SPIN, Bench, Terminal, check_sums, in_folder, near, spin, takes_signals, until  # noqa: E402
from cases import case  # noqa: E402

TO_END_S = 0.05  # of CPU time, which Python may take to end on a slow machine


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
def an_estimate_stays_within_its_curve_however_often_it_is_read(bench):
    # CPU time comes in ticks of 10 ms: between two readings it stands still, or jumps.
    # All CPUs are busy from before the first reading, so that every step is at the top of the curve.
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        time.sleep(0.3)
        code, _, err = bench.record("--period", "4ms", "--estimate", "idle=11,full=35", "--", *SPIN)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert code == 0, err
    (cpu,) = bench.show("--slices", "5000")["devices"]
    known = [watts for watts in cpu["slices_w"] if watts is not None]
    assert len(known) > 4000 and 11 * 0.9999 <= min(known) and max(known) <= 35 * 1.0001, (min(known), max(known))


@case
def an_estimate_of_a_virtual_machine_says_what_it_assumes(bench):
    bench.give_proc(stat="cpu0 50 0 0 450 0 0 0 0 0 0\ncpu1 50 0 0 450 0 0 0 0 0 0\n",
                    cpuinfo="flags\t\t: fpu hypervisor\n")
    code, _, err = bench.record("--for", "300ms")
    assert code == 0 and "virtual machine" in err, err
    shown = bench.show()
    assert any(note["kind"] == "estimate_of_vm" for note in shown["notes"]), shown["notes"]
    (cpu,) = shown["devices"]
    assert abs(cpu["high_j"] / cpu["energy_j"] - 1.75) < 1e-6, cpu


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
        mark = bench.folder / f"runs-{number}"
        process = bench.start("--", "sh", "-c", f": > {mark}; exec sleep 100")
        until(mark.exists)
        time.sleep(1)
        process.send_signal(number)
        process.communicate(timeout=90)
        assert process.returncode == 128 + number, process.returncode
        shown = bench.show()
        assert shown["exit_code"] == 128 + number and 0.9 < shown["seconds"] < 100, shown["seconds"]


@case
def kill_9_leaves_a_readable_file(bench):
    mark = bench.folder / "pid"
    process = bench.start("--", "sh", "-c", f"echo $$ > {mark}; exec sleep 100")
    until(lambda: mark.exists() and mark.read_text())
    time.sleep(2.5)
    process.kill()
    process.wait()
    os.kill(int(mark.read_text()), signal.SIGKILL)  # it lived on
    process.communicate()
    shown = bench.show()
    assert shown["devices"][0]["energy_j"] > 0 and shown["seconds"] > 1, shown["seconds"]
    assert any(note["kind"] == "recorder_killed" for note in shown["notes"]), shown["notes"]


@case
def children_and_their_children_are_ours(bench):
    code, _, err = bench.record("--", "sh", "-c",
                                f"({shlex.join(SPIN)}) & wait")
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
def a_process_has_the_name_of_the_program_that_it_runs(bench):
    # Between fork and exec it has the name of the recorder, before the last exec that of the shell.
    python = os.path.basename(os.path.realpath(sys.executable))[:15]
    for command in (["true"], [os.path.realpath(sys.executable), "-c", "pass"],
                    ["sh", "-c", f"exec {os.path.realpath(sys.executable)} -c pass"]) * 7:
        code, _, err = bench.record("-q", "--", *command)
        assert code == 0, err
        names = {one["name"] for one in bench.show()["processes"] if one["owner"] == "watched"}
        assert names == {"true" if command == ["true"] else python}, (command, names)


@case
def a_process_that_runs_already(bench):
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)
        began = time.monotonic()
        code, _, err = bench.record("--pid", str(spinner.pid), "--for", "1s")
        took_s = time.monotonic() - began
    finally:
        spinner.kill()
        used = os.wait4(spinner.pid, 0)[2]
        spinner.returncode = 0
    assert code == 0, err
    shown = bench.show()
    assert 0.95 < shown["seconds"] < took_s, shown["seconds"]
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
    mark = bench.folder / "mark"
    command = f"({shlex.join(SPIN)} && : > {mark} &) ; until [ -e {mark} ]; do sleep 0.1; done"
    code, _, err = bench.record("--", "sh", "-c", command)
    assert code == 0, err
    assert watched_cpu_s(bench.show()) > 0.9, bench.show()["processes"]


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
    until(lambda: takes_signals(process))
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
def rounds_have_a_mean_and_a_deviation(bench):
    code, _, err = bench.record("--repeat", "3", "--for", "300ms", "--cooldown=1s", "--", "sleep",
                                "0.1")
    assert code == 0, err
    shown = bench.show()
    names = [one["name"] for one in shown["windows"]]
    assert names == ["warm-up", "round 1", "round 2", "round 3"], names
    for one in shown["windows"][1:]:
        assert one["seconds"] >= 0.3 and 1 <= one["runs"] <= one["seconds"] / 0.1, one
    assert shown["rounds"]["n"] == 3 and shown["rounds"]["energy_j"]["mean"] > 0, shown["rounds"]
    other = bench.folder / "other.beryl"
    other.write_bytes(bench.run_file.read_bytes())
    done = in_folder(bench, "compare", bench.run_file, other, "--whole-machine", "--format", "json")
    compared = json.loads(done.stdout)
    verdict = compared["verdicts"][0]
    assert len(compared["runs"]) == 6 and verdict["unit"] == "rounds" and not verdict["certain"], verdict
    assert verdict["systematic"]["assumed"] > 0, verdict


@case
def recordings_without_a_name_stand_side_by_side(bench):
    for name in ("run.beryl", "run-2.beryl", "run-3.beryl"):
        done = in_folder(bench, "record", "--", "true")
        assert done.returncode == 0 and f"wrote {name};" in done.stderr, done.stderr
    before = {path: path.read_bytes() for path in bench.folder.glob("*.beryl")}
    for arguments in (["-o", "run.beryl", "--", "true"],
                      ["-o", "run.beryl", "--force", "--", "no-such-program-anywhere"],
                      ["--", "no-such-program-anywhere"]):
        assert in_folder(bench, "record", *arguments).returncode != 0, arguments
    after = {path: path.read_bytes() for path in bench.folder.iterdir() if path.is_file()}
    assert before == after, sorted(after)
    done = in_folder(bench, "record", "-o", "run.beryl", "--force", "--", "true")
    assert done.returncode == 0 and before[bench.run_file] != bench.run_file.read_bytes(), done.stderr


@case
def recordings_that_begin_at_once_have_a_file_each(bench):
    for named in ([], ["-o", "mine.beryl"]):
        commands = [["sleep", f"0.{i}"] for i in range(3, 7)]
        started = [subprocess.Popen([bench.beryl, "record", *named, "--", *command], env=bench.env, cwd=bench.folder,
                                    stderr=subprocess.PIPE, text=True) for command in commands]
        said = [process.communicate(timeout=60)[1] for process in started]
        files = set()
        for process, command, err in zip(started, commands, said):
            if named and process.returncode == 2:  # the first had begun by then
                assert "there is such a file" in err, err
                continue
            assert process.returncode == 0, err
            name = err.split("wrote ")[1].split(";")[0]
            files.add(name)
            bench.run_file = bench.folder / name
            assert bench.show()["command"] == command, (name, command)
        written = sum(process.returncode == 0 for process in started)
        assert len(files) == written and written >= (1 if named else 4), files


@case
def a_machine_is_recorded_until_ctrl_c_and_that_is_said(bench):
    process = subprocess.Popen([bench.beryl, "record"], env=bench.env, cwd=bench.folder, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    assert line == ("recording the whole machine into run.beryl until Ctrl-C (a command: beryl record -- CMD; "
                    "a process: --pid PID)\n"), line
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=30)
    assert process.returncode == 0 and "wrote run.beryl" in rest, rest


@case
def demo_overwrites_no_page(bench):
    for name in ("report.html", "report-2.html"):
        done = in_folder(bench, "demo")
        assert done.returncode == 0 and f"wrote {name}:" in done.stderr, done.stderr
    page = bench.folder / "mine.html"
    page.write_text("dear")
    assert in_folder(bench, "demo", "-o", "mine.html").returncode == 2 and page.read_text() == "dear"
    assert in_folder(bench, "demo", "-o", "mine.html", "--force").returncode == 0 and page.read_text() != "dear"


@case
def a_run_of_the_command_is_its_own_energy(bench):
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        code, _, err = bench.record("--repeat", "2", "--", *spin(0.4))
    finally:
        spinner.kill()
        spinner.wait()
    assert code == 0 and "a run of the command: " in err and "Wh, " in err, err
    assert err.index(" ours, ") < err.index("of the machine"), err
    run, rounds = bench.show()["rounds"]["run"], bench.show()["rounds"]
    assert run["energy_of"] == "ours" and run["energy_j"]["n"] == 2, run
    assert 0 < run["energy_j"]["mean"] < 0.95 * rounds["energy_j"]["mean"], rounds


@case
def top_shows_what_a_process_draws(bench):
    counter = Counter("intel-rapl:0", "package-0", 50.0)
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        with Machine(bench.sysfs, [counter]) as machine:
            done = in_folder(bench, "top", "--count", "2", "--format", "json", "--pid", str(spinner.pid))
            everything = in_folder(bench, "top", "--once", "--format", "json")
            page = in_folder(bench, "top", "--once", "--top", "3")
    finally:
        spinner.kill()
        spinner.wait()
    assert done.returncode == 0, done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    for look in (first, second):
        near(look["power_w"], 50, 5 + 50 * machine.longest_gap_s)  # an interval has a second
        ours = [one for one in look["processes"] if one["owner"] == "watched"]
        assert [one["pid"] for one in ours] == [spinner.pid] and 0.05 < ours[0]["cpus"] < 1.1, ours
        assert 0 < look["ours_w"] <= look["power_w"] + 1e-9, look
    near(second["energy_j"], 50 * second["elapsed_s"], 5 + 50 * machine.longest_gap_s)
    assert spinner.pid in [one["pid"] for one in json.loads(everything.stdout)["processes"]], everything.stdout
    assert page.returncode == 0 and "CPU:0" in page.stdout and "\x1b" not in page.stdout, page.stdout


@case
def the_terminal_is_as_it_was_however_top_ends(bench):
    for how in (b"q", b"\x03", signal.SIGTERM, signal.SIGHUP):
        terminal = Terminal(bench, "top", "--interval", "500ms")
        terminal.wait_for(b"\x1b[?1049h")
        terminal.wait_for(b"process")
        if isinstance(how, bytes):
            os.write(terminal.master, how)
        else:
            terminal.process.send_signal(how)
        code, is_restored = terminal.end()
        assert code == 0 and is_restored, (how, code, is_restored)
        assert terminal.shown.rstrip().endswith(b"\x1b[?25h\x1b[?1049l"), terminal.shown[-200:]


@case
def a_live_recording_ends_with_a_key(bench):
    terminal = Terminal(bench, "record", "--live")
    terminal.wait_for(b"\x1b[?1049h")
    terminal.wait_for(b"q ends")
    os.write(terminal.master, b"q")
    code, is_restored = terminal.end()
    assert code == 0 and is_restored and b"wrote run.beryl" in terminal.shown, terminal.shown[-400:]
    assert bench.show()["seconds"] > 0.5
    done = in_folder(bench, "record", "--live", "--", "sleep", "2.5")
    assert done.returncode == 0 and " of it ours" in done.stderr.splitlines()[0], done.stderr


def main():
    parser = cases.parser(__doc__)
    arguments = parser.parse_args()
    return cases.run("measure", arguments.filter, lambda folder: Bench(arguments.beryl.resolve(), folder), at_once=2)


if __name__ == "__main__":
    sys.exit(main())
