#!/usr/bin/env python3
"""Opens what `beryl export` writes with the tools it is for, or with their own readers, and adds the energy up
again. tools/exports_tools.py installs them; a tool that cannot be had is skipped, and a line says so. Ends with
"N passed, N failed"."""

import argparse
import contextlib
import functools
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GOLDEN = ROOT / "tests/golden"
DATA = ROOT / "tests/data"
SHARED = pathlib.Path(os.environ.get("BERYL_SHARED", ROOT.parent / "shared"))

BERT = ["--ops", DATA / "pytorch/tiny_bert_step.json.gz", "--power", DATA / "pytorch/flat_30w.csv"]
BERT_MODEL = [*BERT, "--model", DATA / "models/tiny-bert.json"]
TWO_STEPS = ["--ops", GOLDEN / "tensorflow-two-steps/ops.json", "--ops", GOLDEN / "tensorflow-two-steps/ops2.json",
             "--power", GOLDEN / "tensorflow-two-steps/power.csv"]
DEMO = ["--ops", ROOT / "data/demo_ops.json.gz", "--power", ROOT / "data/demo_power.csv.gz"]
RUNS = {"bert": BERT, "two steps": TWO_STEPS, "demo": DEMO}

CASES = []


class Skip(Exception):
    pass


def case(function):
    CASES.append(function)
    return function


class Bench:
    """The binary, a folder to write into, and the tools."""

    def __init__(self, beryl, folder):
        self.beryl, self.folder = beryl, folder

    def run(self, *arguments, check=True):
        done = subprocess.run([self.beryl, *map(str, arguments)], capture_output=True, timeout=120, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"beryl {' '.join(map(str, arguments))}\n{done.stderr.decode()}")
        return done

    def export(self, to, *arguments):
        file = self.folder / f"{to}-{len(list(self.folder.iterdir()))}.tfevents"
        self.run("export", *arguments, "--to", to, "-o", file)
        return file

    @functools.lru_cache(maxsize=None)
    def account(self, *arguments):
        return json.loads(self.run("account", *arguments, "--format", "json").stdout)

    def energy(self, *arguments):
        return self.account(*arguments)["tree"]["energy_j"]

    @functools.cached_property
    def tools(self):
        sys.path.insert(0, str(ROOT / "tools"))
        import exports_tools
        return exports_tools.install_python(), exports_tools.install_node()

    def python(self, script, *arguments):
        """Runs a part of this file, tool_NAME, with the packages, and returns the JSON that it prints."""
        interpreter, why = self.tools[0]
        if interpreter is None:
            raise Skip(why)
        environment = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb", "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run([interpreter, HERE / "tools.py", script, *map(str, arguments)], capture_output=True,
                              text=True, timeout=120, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def firefox(self, profile, *commands):
        """The answers of Firefox Profiler's own reader to commands, as JSON."""
        script, why = self.tools[1]
        if script is None:
            raise Skip(why)
        session = f"beryl-{os.getpid()}"
        environment = {**os.environ, "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}

        def run(*command):
            return subprocess.run(["node", script, *command, "--session", session], capture_output=True, text=True,
                                  timeout=60, check=False, env=environment)

        def ask(*command):
            done = run(*command)
            assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}{done.stdout}"
            return done.stdout

        # It waits half a second for a process of its own, which a slow machine takes longer to start.
        for _ in range(20):
            loaded = run("load", str(profile))
            if "did not become ready" not in loaded.stderr + loaded.stdout:
                break
            for late in re.findall(r"pid (\d+)", loaded.stderr + loaded.stdout):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(late), signal.SIGTERM)
        assert loaded.returncode == 0, f"{loaded.stderr}{loaded.stdout}"
        try:
            return [json.loads(ask(*command, "--json")) for command in commands]
        finally:
            subprocess.run(["node", script, "stop", session], capture_output=True, timeout=60, check=False,
                           env=environment)


def close(a, b, share=1e-9):
    assert math.isclose(a, b, rel_tol=share, abs_tol=1e-12), f"{a} is not {b}"


def walk(node):
    yield node
    for child in node.get("children", ()):
        yield from walk(child)


# ---- Model Explorer

@case
def model_explorer_energy_is_that_of_the_run(bench):
    for arguments in (*RUNS.values(), BERT_MODEL):
        data = json.loads(bench.export("model-explorer-data", *arguments).read_text())["beryl"]
        close(sum(entry["value"] for entry in data["results"].values()), bench.energy(*arguments))
        graph, = json.loads(bench.export("model-explorer", *arguments).read_text())
        ids = [node["id"] for node in graph["nodes"]]
        assert len(ids) == len(set(ids)) and set(data["results"]) <= set(ids)
        groups = {node["namespace"] for node in graph["nodes"]} - {""}
        groups |= {group[:i] for group in groups for i, letter in enumerate(group) if letter == "/"}
        assert set(graph["groupNodeAttributes"]) - {""} >= groups, "every group has attributes"
        assert graph["groupNodeAttributes"][""]["provenance"].startswith("beryl ")


@case
def model_explorer_has_the_dataflow_of_the_model(bench):
    graph, = json.loads(bench.export("model-explorer", *BERT_MODEL).read_text())
    nodes = {node["id"]: node for node in graph["nodes"]}
    edges = [(edge["sourceNodeId"], node["id"]) for node in nodes.values() for edge in node["incomingEdges"]]
    assert len(edges) > 20 and all(source in nodes for source, _ in edges)
    path = [nodes[source]["namespace"] for source, target in edges if "attention/self" in nodes[target]["namespace"]]
    assert any("query" in namespace for namespace in path), path
    assert any("FLOP" in attributes for attributes in graph["groupNodeAttributes"].values())


@case
def model_explorer_s_own_classes_take_it(bench):
    for arguments in (TWO_STEPS, BERT_MODEL):
        told = bench.python("model_explorer", bench.export("model-explorer", *arguments),
                            bench.export("model-explorer-data", *arguments))
        assert told["nodes"] > 5, told
        close(told["sum"], bench.energy(*arguments))


# ---- Perfetto

@case
def perfetto_is_what_its_protos_say(bench):
    for name, arguments in RUNS.items():
        told = bench.python("perfetto", bench.export("perfetto", *arguments))
        close(told["weights"], bench.energy(*arguments))
        channels = {c["device"]: c for c in bench.account(*arguments)["closure"]}
        assert set(told["counters"]) == set(channels), (name, told["counters"])
        for channel, energy in told["counters"].items():
            close(energy, channels[channel]["measured_j"], 1e-6)
        assert told["unit"] == ["W"] and told["provenance"].startswith("beryl ")
        assert told["open_slices"] == 0 and told["steps"] >= 1


@case
def perfetto_s_own_description_of_the_file(bench):
    if not shutil.which("protoc"):
        raise Skip("protoc is not installed")
    raw = subprocess.run(["protoc", "--decode_raw"], input=bench.export("perfetto", *TWO_STEPS).read_bytes(),
                         capture_output=True, timeout=60, check=True).stdout.decode()
    assert '6: "W"' in raw and "57: 0x" in raw


# ---- the bundle

@case
def bundle_is_an_archive_that_others_open(bench):
    file = bench.export("perfetto-bundle", *BERT)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {"perfetto_manifest.json", "beryl.pftrace", "tiny_bert_step.json"}
        import gzip
        assert archive.read("tiny_bert_step.json") == gzip.open(DATA / "pytorch/tiny_bert_step.json.gz").read()
        assert archive.read("perfetto_manifest.json").startswith(b'{"perfetto_manifest"'), "it is found by that"
    if shutil.which("unzip"):
        subprocess.run(["unzip", "-tqq", file], check=True, timeout=60)


@case
def bundle_lays_both_on_one_timeline(bench):
    for name, arguments in RUNS.items():
        with zipfile.ZipFile(bench.export("perfetto-bundle", *arguments)) as archive:
            manifest = json.loads(archive.read("perfetto_manifest.json"))["perfetto_manifest"]
            assert manifest["version"] == 1
            paths = [entry["path"] for entry in manifest["files"]]
            assert sorted([*paths, "perfetto_manifest.json"]) == sorted(archive.namelist())
            tracks = bench.folder / "tracks"
            tracks.write_bytes(archive.read("beryl.pftrace"))
            first, last = bench.python("perfetto", tracks)["steps_at"]
            # The operations as Perfetto puts them: microseconds of the file, moved by the offset.
            times = []
            for entry in manifest["files"][1:]:
                assert entry["clocks"]["sync_to"] == {"file": "beryl.pftrace", "clock": "BOOTTIME"}
                events = json.loads(archive.read(entry["path"]))
                events = events["traceEvents"] if isinstance(events, dict) else events
                times += [event["ts"] * 1000 + entry["clocks"]["offset_ns"] for event in events
                          if event.get("ph") == "X" and event.get("dur", 0) > 0]
            # Steps begin and end with operations, or mark them.
            assert min(times) <= last and max(times) >= first, (name, first, last, min(times), max(times))
            assert abs(min(times) - first) < 5e8 and abs(max(times) - last) < 5e8, (name, min(times) - first)


@case
def bundle_says_what_it_cannot_have(bench):
    run = bench.folder / "run.beryl"
    bench.run("import", *TWO_STEPS, "-o", run)
    done = bench.run("export", run, "--to", "perfetto-bundle", "-o", bench.folder / "no.zip", check=False)
    assert done.returncode == 2 and b"--ops" in done.stderr, done.stderr
    assert not (bench.folder / "no.zip").exists()
    gpu = GOLDEN / "xplane-gpu"
    done = bench.run("export", "--ops", gpu / "ops.xplane.pb", "--power", gpu / "power.csv", "--to",
                     "perfetto-bundle", "-o", bench.folder / "no.zip", check=False)
    assert done.returncode == 1 and b"XPlane" in done.stderr, done.stderr


# ---- TensorBoard

@case
def tensorboard_reads_the_events(bench):
    for arguments in RUNS.values():
        tags = bench.python("tensorboard", bench.export("tfevents", *arguments))
        account = bench.account(*arguments)
        for channel in account["closure"]:
            name = channel["device"]
            close(sum(w * s for w, s in spans(tags[f"power (W)/{name}"], channel)), channel["measured_j"], 0.2)
            close(tags[f"energy of the run (J)/{name}/operations"][0][2], channel["attributed_j"], 1e-6)
        in_steps = sum(value for _, _, value in tags["energy of a step (J)/all"])
        close(in_steps, energy_in_steps(account), 1e-6)
        of_channels = sum(value for tag, values in tags.items() for _, _, value in values
                          if tag.startswith("energy of a step (J)/") and not tag.endswith("/all"))
        close(of_channels, in_steps, 1e-6)


def spans(points, channel):
    """Watts, and how long they held."""
    times = [wall for wall, _, _ in points]
    ends = [*times[1:], times[-1] + (times[-1] - times[0]) / max(1, len(times) - 1)]
    return [(value, end - start) for (start, _, value), end in zip(points, ends)]


def energy_in_steps(account):
    return account["tree"]["energy_j"] if "steps" not in account else account["tree"]["energy_j"]


# ---- Firefox Profiler

@case
def firefox_profiler_reads_the_profile(bench):
    for name, arguments in RUNS.items():
        file = bench.export("firefox", *arguments, "--region", "DE")
        profile = json.loads(file.read_text())
        listed, markers = bench.firefox(file, ["counter", "list"], ["thread", "markers"])
        closure = bench.account(*arguments)["closure"]
        assert len(listed["counters"]) == len(closure), listed
        shown = [stat["value"] for counter in listed["counters"] for stat in counter["stats"]]
        assert shown == [sum(counter["sampleGroups"][0]["samples"]["count"]) for counter in profile["counters"]]
        for counter, channel in zip(profile["counters"], closure):
            samples = counter["sampleGroups"][0]["samples"]
            assert len(samples["time"]) == len(samples["count"]) == samples["length"]
            assert all(isinstance(count, int) for count in samples["count"])
            assert abs(sum(samples["count"]) * 3.6e-9 - channel["measured_j"]) < 1e-8 + 1e-9 * channel["measured_j"]
            assert counter["category"] == "power"
        assert profile["meta"]["gramsOfCO2ePerKWh"] > 100
        assert "Step" in json.dumps(markers), (name, markers)


# ---- XProf

def xprof(bench, *arguments):
    return bench.export("xprof", *arguments)


def xplane_runs():
    runs = [["--ops", GOLDEN / f"xplane-{name}/ops.xplane.pb", "--power", GOLDEN / f"xplane-{name}/power.csv"]
            for name in ("gpu", "tpu", "host", "programs")]
    lstm = SHARED / "data/tensorflow/keras_lstm_tf2.21.xplane.pb"
    if lstm.exists():
        runs.append(["--ops", lstm, "--power", lstm])
    return runs


@case
def xprof_s_events_have_the_energy(bench):
    for arguments in xplane_runs():
        if arguments[1] == arguments[3]:
            arguments[3] = power_for(bench, arguments[1])
        told = bench.python("xplane", arguments[1], xprof(bench, *arguments))
        close(told["energy"], bench.energy(*arguments))
        assert told["events"] > 0 and told["same"], told
        assert "not of the VDD rail alone" in told["description"]


def power_for(bench, trace):
    """A power trace over all of it."""
    start, end = bench.python("xplane_span", trace)
    file = bench.folder / "lstm_power.csv"
    step = max(1, (end - start) // 50)
    rows = [f"{at / 1000:.3f},CPU:0,{40 + i % 7}" for i, at in enumerate(range(start - step, end + 2 * step, step))]
    file.write_text("timestamp_us,device,power_w\n" + "\n".join(rows) + "\n")
    return file


@case
def xprof_itself_shows_the_column(bench):
    trace, power = bench.folder / "tpu.xplane.pb", bench.folder / "tpu.csv"
    bench.python("make_tpu", trace)
    power.write_text("timestamp_us,device,power_w\n" + "".join(f"{at},TPU:0,100\n" for at in range(0, 1001, 10)))
    arguments = ["--ops", trace, "--power", power, "--feed", "TPU:0=all"]
    told = bench.python("xprof", xprof(bench, *arguments))
    assert told["label"] == "VDD Energy (J)", told
    assert told["rows"] == 2 and told["in_viewer"] == 4, told
    close(told["sum"], bench.energy(*arguments), 1e-6)


@case
def xprof_refuses_a_second_time(bench):
    tpu = GOLDEN / "xplane-tpu"
    copy = xprof(bench, "--ops", tpu / "ops.xplane.pb", "--power", tpu / "power.csv")
    done = bench.run("export", "--ops", copy, "--power", tpu / "power.csv", "--to", "xprof", "-o",
                     bench.folder / "twice", check=False)
    assert done.returncode == 1 and b"vdd_energy_j already" in done.stderr, done.stderr
    done = bench.run("export", *TWO_STEPS, "--to", "xprof", "-o", bench.folder / "twice", check=False)
    assert done.returncode == 2 and b".xplane.pb" in done.stderr, done.stderr
    assert not (bench.folder / "twice").exists()


# ---- Grafana

@case
def grafana_dashboard_is_one(bench):
    dashboard = json.loads((ROOT / "docs/grafana/beryl.json").read_text())
    assert isinstance(dashboard["schemaVersion"], int) and dashboard["schemaVersion"] >= 39
    assert dashboard["uid"] and dashboard["title"]
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    units, taken = set(), set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, f"{panel['title']}: its place"
        taken |= cells
        if panel["type"] == "row":
            continue
        units.add(panel["fieldConfig"]["defaults"]["unit"])
        refs = [target["refId"] for target in panel["targets"]]
        assert refs and len(refs) == len(set(refs)), panel["title"]
        for target in panel["targets"]:
            expression = target["expr"]
            assert expression.count("(") == expression.count(")") and expression.count("{") == expression.count("}")
            used = set(re.findall(r"\$\{?([a-z_]+)", expression)) - {"__range", "__rate_interval"}
            assert used <= variables, used
            assert target["datasource"]["uid"] == "${datasource}"
    assert {"watt", "joule", "kwatth"} <= units, units


# ---- all

@case
def binary_formats_are_not_for_terminals(bench):
    import pty
    for to in ("pprof", "perfetto", "perfetto-bundle", "tfevents", "xprof"):
        ours, theirs = pty.openpty()
        done = subprocess.run([bench.beryl, "export", *map(str, TWO_STEPS), "--to", to], stdout=theirs,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(theirs)
        os.close(ours)
        assert done.returncode == 2 and b"terminal" in done.stderr, (to, done.stderr)


@case
def pprof_and_folded_and_speedscope_agree(bench):
    for arguments in RUNS.values():
        energy = bench.energy(*arguments)
        folded = bench.export("folded", *arguments).read_text()
        assert abs(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) * 1e-6 - energy) <= 1e-6
        speedscope = json.loads(bench.export("speedscope", *arguments).read_text())
        close(sum(speedscope["profiles"][0]["weights"]), energy)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beryl", required=True, type=pathlib.Path, help="the binary to test")
    parser.add_argument("--filter", default="", help="run only cases whose name has this in it")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args.beryl.resolve(), pathlib.Path(folder))
        for one in CASES:
            if args.filter not in one.__name__:
                continue
            start = time.monotonic()
            try:
                one(bench)
                passed += 1
                print(f"pass {time.monotonic() - start:6.1f} s  {one.__name__}")
            except Skip as why:
                print(f"skip           {one.__name__}: {why}")
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"FAIL           {one.__name__}\n    {type(error).__name__}: {str(error)[:2000]}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
