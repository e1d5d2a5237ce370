#!/usr/bin/env python3
"""The API through the real server: each answer is held to api/openapi.yaml, and to what the command line prints. Ends
with "N passed, N failed"."""

import http.client
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import cases  # noqa: E402
import jobs  # noqa: E402
from cases import case  # noqa: E402
from contract import Contract  # noqa: E402

ROOT = HERE.parents[1]
DATA = ROOT / "tests/data"
RECORDING = DATA / "recordings/training.beryl"
STEPS = [ROOT / "tests/golden/tensorflow-two-steps" / name for name in ("ops.json", "ops2.json", "power.csv")]
BERT = [DATA / "pytorch/tiny_bert_step.json.gz", DATA / "pytorch/flat_30w.csv"]
CONTRACT = Contract((ROOT / "api/openapi.yaml").read_text())
PATIENCE = 60
# One time for all results, so that those of two programs can be compared.
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """A server with a library of its own."""

    def __init__(self, beryl, folder, schemathesis_seconds):
        self.beryl, self.folder, self.schemathesis_seconds = beryl, folder, schemathesis_seconds
        self.process = None
        self.start()

    def start(self, *options, library=None):
        self.end()
        self.process = subprocess.Popen(
            [self.beryl, "serve", "--listen", "127.0.0.1:0", "--library", library or self.folder / "library", *options],
            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            said = re.search(r"listening on http://(127\.0\.0\.1:\d+)/", line)
            if said:
                self.place = said.group(1)
                return
        raise AssertionError("the server ended")

    def end(self):
        if not self.process:
            return
        self.process.send_signal(signal.SIGTERM)
        self.process.stderr.read()
        assert self.process.wait(PATIENCE) == 0
        self.process = None

    __del__ = end

    def send(self, method, path, query=None, body=None, type=None, headers=None):
        """Without a look at the contract."""
        target = path + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")
        connection = http.client.HTTPConnection(self.place, timeout=PATIENCE)
        connection.request(method, target, body, {**({"content-type": type} if type else {}), **(headers or {})})
        response = connection.getresponse()
        answer = Answer(response.status, {name.lower(): value for name, value in response.getheaders()},
                        response.read())
        connection.close()
        return answer

    def ask(self, method, path, query=None, body=None, type=None, status=200, headers=None):
        answer = self.send(method, path, query, body, type, headers)
        assert answer.status == status, f"{method} {path} {query}: {answer.status}\n{answer.body[:2000]}"
        CONTRACT.check(method, path, answer.status, answer.headers, answer.body)
        return answer

    def get(self, path, status=200, **query):
        return self.ask("GET", "/api/v1/" + path, query, status=status)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process = None

    def form(self, fields, status=201, path="runs"):
        """Files and texts, in their order."""
        body = b""
        for name, value in fields:
            file = f'; filename="{value.name}"' if isinstance(value, pathlib.Path) else ""
            content = value.read_bytes() if file else value.encode()
            body += f'--xyz\r\ncontent-disposition: form-data; name="{name}"{file}\r\n\r\n'.encode() + content + b"\r\n"
        return self.ask("POST", f"/api/v1/{path}", None, body + b"--xyz--\r\n", "multipart/form-data; boundary=xyz",
                        status)

    def upload(self, file, status=201, **query):
        return self.ask("POST", "/api/v1/runs", {"file_name": file.name, **query}, file.read_bytes(),
                        "application/octet-stream", status)

    def run(self, *words, cwd=ROOT):
        return subprocess.run([self.beryl, *map(str, words)], env=ENVIRONMENT, cwd=cwd, check=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def same(answer, printed):
    assert answer.body == printed, f"{answer.body[:1000]}\nis not\n{printed[:1000]}"


@case
def predicts_the_bytes_that_the_command_prints(server):
    same(server.get("predict", model="bert-base-uncased", batch=8, seq=128),
         server.run("predict", "bert-base-uncased", "--batch", 8, "--seq", 128, "--format", "json"))
    same(server.get("predict", model="gpt2", profile="h100", prompt=16, generate=4, format="csv"),
         server.run("predict", "gpt2", "--profile", "h100", "--prompt", 16, "--generate", 4, "--format", "csv"))
    same(server.get("predict", model="gpt2", sweep=["batch=1,2"], profile="h100,a100"),
         server.run("predict", "gpt2", "--sweep", "batch=1,2", "--profile", "h100,a100", "--format", "json"))
    same(server.get("describe", model="gpt2", level="module", set="n_layer:2"),
         server.run("describe", "gpt2", "--level", "module", "--set", "n_layer=2", "--format", "json"))
    same(server.get("models"), server.run("models", "--format", "json"))
    same(server.get("profiles"), server.run("profiles", "--format", "json"))


@case
def folds_like_layers(server):
    def count(node):
        return 1 + sum(map(count, node["children"]))

    def layers(node):
        return max([node["layers"], *map(layers, node["children"])])

    for path in ("predict", "describe"):
        whole, folded = (server.get(path, model="gpt2", **fold).json["tree"] for fold in ({}, {"fold": "true"}))
        assert layers(whole) == 1 and layers(folded) == 12, path
        assert count(folded) * 5 < count(whole), path
        assert folded["flops"] == whole["flops"], path
    run = server.form([("ops", BERT[0]), ("power", BERT[1])]).json["entries"][0]["id"]
    whole, folded = (server.get(f"runs/{run}/account", **fold).json["tree"] for fold in ({}, {"fold": "true"}))
    assert count(folded) < count(whole) and math.isclose(folded["energy_j"], whole["energy_j"], rel_tol=1e-12)
    lines = [server.get("predict", model="gpt2", format="csv", **fold).body.count(b"\n") for fold in ({}, {"fold": "true"})]
    assert lines[1] * 5 < lines[0], lines
    server.ask("DELETE", f"/api/v1/runs/{run}")


@case
def serves_the_page(server):
    page = server.ask("GET", "/")
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy, policy
    assert page.headers["cache-control"] == "no-cache" and page.headers["etag"], page.headers
    again = server.send("GET", "/", headers={"if-none-match": page.headers["etag"]})
    assert again.status == 304 and not again.body
    named = re.findall(rb'"(assets/[0-9a-f]{16}/page\.(?:js|css))"', page.body)
    assert len(named) == 2, page.body
    sizes = 0
    for address in named:
        file = server.ask("GET", "/" + address.decode())
        assert "immutable" in file.headers["cache-control"], file.headers
        packed = server.send("GET", "/" + address.decode(), headers={"accept-encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        sizes += len(packed.body)
    assert sizes < 150_000, sizes
    # Nothing but what the page names: not with another hash, not another file, not with a parameter.
    server.ask("GET", "/assets/0123456789abcdef/page.js", status=404)
    server.ask("GET", "/" + named[0].decode().rsplit("/", 1)[0] + "/index.html", status=404)
    server.ask("GET", "/" + named[0].decode(), {"x": 1}, status=400)


@case
def sends_variants_one_by_one(server):
    query = {"model": "gpt2", "sweep": ["batch=1,2", "seq=8,16"], "profile": "h100"}
    answer = server.get("sweep", **query)
    assert answer.headers["content-type"] == "application/jsonl", answer.headers
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [line["rows"] for line in lines] == [[row] for row in server.get("predict", **query).json["rows"]]
    schema = {"$ref": "http://beryl/api/v1/schemas/sweep-2.json"}
    for line in lines:
        CONTRACT.validate(line, schema)
    config = (DATA / "models/tiny-bert.json").read_bytes()
    answer = server.ask("POST", "/api/v1/sweep", {"sweep": "batch=1,2,3"}, config, "application/json")
    assert len(answer.body.splitlines()) == 3
    for wrong in ({}, {"sweep": "batch"}, {"sweep": "batch=1,x"}):
        server.get("sweep", 400, model="gpt2", **wrong)


@case
def compares_runs_and_models(server):
    recordings = sorted((DATA / "recordings").glob("*.beryl"))
    names = [file.name for file in recordings[:2]]
    ids = [server.upload(file).json["entries"][0]["id"] for file in recordings[:2]]
    same(server.get("compare", of=ids), server.run("compare", *names, "--format", "json", cwd=recordings[0].parent))
    bert = server.form([("ops", BERT[0]), ("power", BERT[1]), ("name", "bert")]).json["entries"][0]["id"]
    tree = server.get("compare", of=[bert, "bert-base-uncased@h100"], level="module").json
    assert [side["label"] for side in tree["sides"]] == ["bert", "bert-base-uncased@h100"], tree["sides"]
    two = ["bert-base-uncased@h100-sxm", "bert-base-uncased@a100-80gb-sxm"]
    same(server.get("compare", of=two, batch=8, seq=128),
         server.run("compare", *two, "--batch", 8, "--seq", 128, "--format", "json"))
    groups = [",".join(ids), ",".join(reversed(ids))]
    assert server.get("compare", of=groups, labels="old,new", format="csv").body
    server.get("compare", of=ids, format="svg")
    assert server.get("compare", 404, of=[ids[0], "none-such"]).json["errors"][0]["parameter"] == "of"
    for wrong in ({"of": ids[0]}, {"of": ids, "labels": "a,b,c"}, {"of": ids, "level": "x"}, {}):
        server.get("compare", 400, **wrong)


@case
def takes_a_configuration(server):
    config = (DATA / "models/tiny-bert.json").read_bytes()
    for path in ("describe", "predict"):
        answer = server.ask("POST", f"/api/v1/{path}", {"batch": 2, "seq": 4}, config, "application/json").json
        assert answer["tree"]["children"], answer
    server.ask("POST", "/api/v1/predict", None, b"{", "application/json", 422)
    server.ask("POST", "/api/v1/predict", None, b"", "application/json", 400)


@case
def gives_the_tree_that_irene_published(server):
    tree = server.get("predict", model="bert-base-uncased", batch=8, seq=128, format="irene").json
    assert set(tree) == {"model_name", "batch_size", "seq_len", "frontend_tree"}, tree.keys()
    root = tree["frontend_tree"]
    energy = server.get("predict", model="bert-base-uncased", batch=8, seq=128).json["tree"]
    assert root["scope"] == "root" and root["type"] == "model" and root["predicted_energy"] > 0, root.keys()
    assert len(root["child_nodes"]) == len(root["child_nodes_obj"]) >= 2
    assert root["num_parameters"] == energy["parameters"], energy.keys()
    file = server.folder / "tree.jsonl"
    file.write_bytes(json.dumps(tree).encode())
    # The program takes it for the published form.
    assert server.run("predict", "--profile", "gtx1080ti-i9-7900x", "--data", file, "--format", "csv")
    server.get("predict", 400, model="gpt2", sweep="batch=1,2", format="irene")


@case
def shows_its_contract(server):
    shown = server.get("openapi.yaml")
    assert shown.body == (ROOT / "api/openapi.yaml").read_bytes()
    for schema in sorted((ROOT / "api/schemas").iterdir()):
        same(server.get(f"schemas/{schema.name}"), schema.read_bytes())
    server.get("schemas/none-such", 404)
    server.get("models/bert-base-uncased")
    server.get("profiles/h100")
    server.ask("GET", "/healthz")
    server.upload(RECORDING)
    assert b'beryl_library_entries{kind="run"} 1\n' in server.ask("GET", "/metrics").body


@case
def keeps_a_run_once_and_gives_it_back(server):
    added = server.upload(RECORDING, name="one", tag=["a", "b"], notes="two\nlines", accuracy=0.5)
    entry = added.json["entries"][0]
    place = added.headers["location"]
    assert place == f"/api/v1/runs/{entry['id']}" and entry["tags"] == ["a", "b"] and entry["form"] == "recording", entry
    assert server.upload(RECORDING, status=200).json["entries"] == [entry]
    same(server.ask("GET", f"{place}/file"), RECORDING.read_bytes())
    assert server.ask("GET", place).json["entries"] == [entry]
    traces = server.form([("ops", STEPS[0]), ("ops", STEPS[1]), ("power", STEPS[2]), ("name", "steps"), ("tag", "b")])
    listed = server.get("runs", tag="b").json["entries"]
    assert [one["id"] for one in listed] == [traces.json["entries"][0]["id"], entry["id"]], listed
    page = server.get("runs", max_results=1).json
    rest = server.get("runs", max_results=1, page_token=page["next_page_token"]).json
    assert page["entries"] + rest["entries"] == listed and rest["next_page_token"] is None
    server.get("runs", format="csv")
    server.get("runs", 400, since="yesterday")
    server.get("runs", 400, page_token="none such")
    changed = server.ask("PATCH", place, None, json.dumps({"name": "two", "accuracy": None}), "application/json")
    assert changed.json["entries"][0]["name"] == "two" and changed.json["entries"][0]["figures"]["accuracy"] is None
    server.ask("PATCH", place, None, b'{"names": 1}', "application/json", 422)
    # Another server on the same library finds all of it.
    server.start()
    assert server.get("runs", tag="a").json["entries"] == changed.json["entries"]
    same(server.ask("GET", f"{place}/file"), RECORDING.read_bytes())
    server.ask("DELETE", place)
    server.ask("GET", place, status=404)
    server.ask("DELETE", place, status=404)


@case
def analyses_are_those_of_the_command_line(server):
    place = server.form([("ops", STEPS[0]), ("ops", STEPS[1]), ("power", STEPS[2])]).headers["location"]
    files = ["--ops", "ops.json", "--ops", "ops2.json", "--power", "power.csv"]
    here = STEPS[0].parent
    for name, query, words in [
            ("account", {}, []),
            ("account", {"level": "module", "depth": 2, "top": 3}, ["--level", "module", "--depth", 2, "--top", 3]),
            ("account", {"idle_power": "5", "policy": "linear"}, ["--idle-power", "5", "--policy", "linear"]),
            ("rank", {}, []), ("rank", {"no_fold": "true", "phase": "forward"}, ["--no-fold", "--phase", "forward"]),
            ("rank", {"by": "power", "min_share": 1}, ["--by", "power", "--min-share", 1]),
            ("diagram", {"depth": 2}, ["--depth", 2]),
            ("timeline", {"slices": 20}, ["--slices", 20]), ("timeline", {"mean": "1"}, ["--mean"]),
            *((name, {"step": 1}, ["--step", 1]) for name in ("account", "rank", "diagram", "timeline")),
            ("account", {"from": "0.0005", "to": "1500us"}, ["--from", "0.0005", "--to", "1500us"]),
            ("timeline", {"from": "@1200", "step": "0-1"}, ["--from", "@1200", "--step", "0-1"])]:
        answer = server.ask("GET", f"{place}/{name}", query)
        same(answer, server.run(name, *files, *words, "--format", "json", cwd=here))
        assert answer.headers["cache-control"] == "no-cache" and answer.headers["etag"]
        again = server.send("GET", f"{place}/{name}", query, headers={"if-none-match": answer.headers["etag"]})
        assert again.status == 304 and again.body == b""
    for name, format in [("account", "csv"), ("account", "html"), ("rank", "svg"), ("diagram", "svg"),
                         ("timeline", "svg")]:
        same(server.ask("GET", f"{place}/{name}", {"format": format}),
             server.run(name, *files, "--format", format, cwd=here))
    for to in ("folded", "speedscope", "chrome", "pprof", "model-explorer", "model-explorer-data", "perfetto",
               "tfevents", "firefox"):
        same(server.ask("GET", f"{place}/export", {"to": to}), server.run("export", *files, "--to", to, cwd=here))
    for query in ({}, {"to": "xprof"}):
        server.ask("GET", f"{place}/export", query, status=400)
    server.ask("GET", f"{place}/rank", {"by": "power", "no_fold": "1"}, status=400)
    server.ask("GET", f"{place}/diagram", {"node": "none-such"}, status=400)
    server.ask("GET", f"{place}/file", status=400)
    server.ask("GET", "/api/v1/runs/none-such/account", status=404)


@case
def measured_beside_predicted(server):
    place = server.form([("ops", BERT[0]), ("power", BERT[1])]).headers["location"]
    same(server.ask("GET", f"{place}/account", {"model": "bert-base-uncased", "profile": "h100", "level": "ml"}),
         server.run("account", "--ops", BERT[0].name, "--power", BERT[1].name, "--model", "bert-base-uncased",
                    "--profile", "h100", "--level", "ml", "--format", "json", cwd=BERT[0].parent))
    wrong = server.ask("GET", f"{place}/account", {"batch": 8}, status=400).json
    assert wrong["errors"][0]["parameter"] == "batch", wrong


@case
def predicts_with_an_uploaded_profile(server):
    shipped = server.get("profiles/gtx1080ti-i9-7900x")
    added = server.ask("POST", "/api/v1/profiles", {"name": "mine.json"}, shipped.body, "application/json", 201)
    entry = added.json["entries"][0]
    assert server.ask("POST", "/api/v1/profiles", None, shipped.body, "application/json").json["entries"] == [entry]
    assert server.get("profiles", stored="true").json["entries"] == [entry]
    (server.folder / "mine.json").write_bytes(shipped.body)
    same(server.get("predict", model="gpt2", profile=entry["id"]),
         server.run("predict", "gpt2", "--profile", "mine.json", "--format", "json", cwd=server.folder))
    server.ask("POST", "/api/v1/profiles", None, b"{}", "application/json", 422)
    server.ask("DELETE", f"/api/v1/profiles/{entry['id']}")
    server.ask("DELETE", "/api/v1/profiles/h100", status=404)
    server.get("predict", 422, model="gpt2", profile=entry["id"])


@case
def keeps_predictions_and_ranks_them(server):
    def add(**query):
        added = server.ask("POST", "/api/v1/predictions", query, status=201)
        return added.headers["location"], added.json["entries"][0]
    place, small = add(model="gpt2", batch=2, tag="a", name="small")
    _, large = add(model="gpt2-large", profile="h100", tag="a")
    same(server.ask("GET", f"{place}/file"), server.get("predict", model="gpt2", batch=2).body)
    assert small["request"] == {"parameters": {"batch": ["2"], "model": ["gpt2"], "name": ["small"], "tag": ["a"]}}
    assert large["origin"] == "uncalibrated" and small["origin"] == "predicted", (large, small)
    server.ask("POST", "/api/v1/predictions", {"batch": 2, "seq": 4}, (DATA / "models/tiny-bert.json").read_bytes(),
               "application/json", 201)
    ranked = server.get("leaderboard", tag="a", by="parameters").json["entries"]
    assert ranked == [small, large], ranked
    costs = [entry["figures"]["per_query_j"] for entry in server.get("leaderboard", by="per_query_j").json["entries"]]
    assert len(costs) == 3 and costs == sorted(costs), costs
    server.upload(RECORDING)
    assert len(server.get("leaderboard", kind="run").json["entries"]) == 1
    assert len(server.get("predictions").json["entries"]) == 3
    assert server.ask("GET", place).json["entries"] == [small]
    server.ask("PATCH", place, None, b'{"notes": "n", "accuracy": 0.25}', "application/json")
    server.ask("DELETE", place)
    server.ask("GET", place, status=404)
    server.ask("POST", "/api/v1/predictions", {}, status=400)


@case
def measures_a_recording(server):
    place = server.upload(RECORDING).headers["location"]
    for query, words in [({}, []), ({"split": "capacity", "slices": 9, "region": "DE"},
                                    ["--split", "capacity", "--slices", 9, "--region", "DE"])]:
        same(server.ask("GET", f"{place}/measurement", query),
             server.run("show", RECORDING.name, *words, "--format", "json", cwd=RECORDING.parent))
    server.ask("GET", f"{place}/measurement", {"format": "svg"})


@case
def shows_the_meters_live(server):
    answer = server.get("live", count=2)
    assert answer.headers["content-type"] == "text/event-stream" and answer.headers["cache-control"] == "no-store"
    events = jobs.events_of(answer.body)
    assert len(events) == 2 and events[1][0] == events[0][0] + 1, answer.body
    for _, event, data in events:
        assert event == "power", event
        CONTRACT.validate(data, {"$ref": "http://beryl/api/v1/schemas/top-1.json"})
    server.get("live", 400, count=0)


@case
def refuses_uploads(server):
    assert server.form([("nmae", "x")], 400).json["errors"][0]["parameter"] == "nmae"
    server.form([("name", "no files")], 400)
    server.form([("run", DATA / "models/tiny-bert.json")], 422)
    server.ask("POST", "/api/v1/runs", None, b"no run", "application/octet-stream", 422)
    server.ask("POST", "/api/v1/runs", None, b"--x", "multipart/form-data; boundary=x", 422)
    server.ask("POST", "/api/v1/runs", {"nmae": 1}, b"x", "application/octet-stream", 400)
    server.start("--limit-upload", "1")
    server.ask("POST", "/api/v1/runs", None, b"x" * 1_100_000, "application/octet-stream", 413)
    server.start("--limit-library", "1")
    server.ask("POST", "/api/v1/runs", None, b"x" * 1_100_000, "application/octet-stream", 507)
    assert server.get("runs").json["entries"] == []
    server.end()
    said = json.loads(server.run("library", "verify", "--library", server.folder / "library", "--format", "json"))
    assert said["problems"] == [] and said["runs"] == 0 and said["files"] == said["unnamed_files"], said
    server.start("--read-only")
    server.ask("POST", "/api/v1/runs", None, b"x", "application/octet-stream", 403)
    server.get("runs")


@case
def an_upload_is_never_in_memory(server):
    def most():
        pid = server.process.pid
        return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
    before = most()

    def zeros():
        for _ in range(200):
            yield bytes(1_000_000)
    answer = server.send("POST", "/api/v1/runs", None, zeros(), "application/octet-stream")
    assert answer.status == 422, answer.body
    assert most() - before < 100_000, f"{most() - before} kB more"


@case
def what_is_not_there_is_a_problem(server):
    for method, path in [("GET", "/api/v1/none"), ("DELETE", "/api/v1/models"), ("PUT", "/api/v1/runs")]:
        answer = server.send(method, path)
        CONTRACT.check(method, path, answer.status, answer.headers, answer.body)
        assert answer.status == (404 if path.endswith("none") else 405), answer.body
    server.get("models/none-such", 404)
    server.get("profiles/none-such", 404)
    wrong = server.get("predict", 400, modle="x", batch=-1).json
    assert {part["parameter"] for part in wrong["errors"]} == {"modle", "batch", "model"}, wrong
    assert "--" not in json.dumps(wrong)


@case
def schemathesis_finds_nothing(server):
    sys.path.insert(0, str(ROOT / "tools"))
    import api_tools
    program, why = api_tools.install()
    if program is None:
        print(f"skip  Schemathesis: {why}")
        return
    server.upload(RECORDING)
    # How far random requests come depends on the machine: they are not part of every check.
    phases = ["--phases", "examples,coverage"]
    if server.schemathesis_seconds:
        phases = ["--phases", "examples,coverage,fuzzing", "--max-time", str(server.schemathesis_seconds)]
    done = subprocess.run(
        [program, "run", f"http://{server.place}/api/v1/openapi.yaml", "--max-examples", "8", "--seed", "17",
         *phases, "--no-shrink",
         "--exclude-path", "/api/v1/live", "--suppress-health-check", "all", "--generation-database", "none", "--request-timeout", "60",
         # What fits the schemas may still be no model and no run.
         "--exclude-checks", "positive_data_acceptance"],
        cwd=server.folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@case
def every_operation_was_answered(server):
    server.start("--token-file", make_token(server.folder))
    server.ask("POST", "/api/v1/login", None, b"secret-token-of-the-test", "text/plain", 204)
    server.ask("POST", "/api/v1/login", None, b"another", "text/plain", 401)
    if not server.wanted:
        assert CONTRACT.answered == CONTRACT.operations(), CONTRACT.operations() - CONTRACT.answered


def make_token(folder):
    file = folder / "token"
    file.touch(0o600)
    file.write_text("secret-token-of-the-test\n")
    return file


def main():
    parser = cases.parser(__doc__)
    parser.add_argument("--schemathesis-seconds", type=int, default=0, help="also send random requests, for so long")
    arguments = parser.parse_args()

    def start(folder):
        server = Server(arguments.beryl.resolve(), folder, arguments.schemathesis_seconds)
        server.wanted = arguments.filter
        return server
    return cases.run("api", arguments.filter, start)


if __name__ == "__main__":
    sys.exit(main())
