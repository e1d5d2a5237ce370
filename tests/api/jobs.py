"""Data sets, and the jobs that learn from them: through restarts and kills of the server."""

import json
import pathlib
import socket
import statistics
import tempfile
import time

import postgres
from cases import case

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
FEATURES = sorted((DATA / "three-models").iterdir())
ACCURACIES = DATA.parent / "golden/tradeoff-table/accuracy.csv"
SLICE = DATA / "learn/measured_slice.csv.gz"
LONG = {"method": "end2end", "seeds": 10000}  # of the slice: many minutes, if nobody cancels it


def add_dataset(server, files=FEATURES, name="three-models"):
    answer = server.form([*(("file", file) for file in files), ("name", name)], path="datasets")
    return answer.headers["location"]


def add_slice(server):
    answer = server.send("POST", "/api/v1/datasets", {"file_name": SLICE.name}, SLICE.read_bytes(),
                         "application/octet-stream")
    assert answer.status in (200, 201), answer.body
    return answer.headers["location"]


def queue(server, place, query=None, body=None, type=None):
    """The place of a new job."""
    return server.ask("POST", place, query, body, type, 202).headers["location"]


def job_at(server, place):
    (job,) = server.ask("GET", place).json["jobs"]
    return job


def events_of(text):
    """(id, name, data) of what a stream said."""
    events = []
    for block in text.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "id" in fields:
            events.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return events


def wait(server, place):
    """All events of a job, once it has ended."""
    answer = server.ask("GET", place + "/events")
    assert answer.headers["content-type"] == "text/event-stream" and answer.headers["cache-control"] == "no-store"
    assert answer.body.startswith(b"retry: "), answer.body[:100]
    return events_of(answer.body)


def wait_until(condition, what):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"not in a minute: {what}")


def listen(place, path, last=0, enough=3):
    """The bytes of a stream until it has said so many events, when the client goes away."""
    host, port = place.split(":")
    with socket.create_connection((host, int(port)), 60) as client:
        client.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\nLast-Event-ID: {last}\r\n\r\n".encode())
        text = b""
        while text.count(b"\nevent: ") < enough:
            piece = client.recv(1 << 16)
            if not piece:
                break
            text += piece
    head, _, body = text.partition(b"\r\n\r\n")
    assert b" 200 " in head, head
    return events_of(body[:body.rfind(b"\n\n") + 2])


@case
def keeps_data_sets(server):
    place = add_dataset(server)
    entry = server.ask("GET", place).json["entries"][0]
    assert entry["kind"] == "dataset" and len(entry["files"]) == 4 and entry["name"] == "three-models", entry
    assert server.form([("file", file) for file in FEATURES], 200, "datasets").json["entries"] == [entry]
    assert server.get("datasets").json["entries"] == [entry]
    assert server.get("datasets", search="none").json["entries"] == []
    digest = entry["files"][0]["digest"]
    assert server.ask("GET", place + "/file", {"digest": digest}).body == FEATURES[0].read_bytes()
    server.ask("PATCH", place, None, b'{"notes": "of the lab"}', "application/json")
    assert server.get("datasets", search="lab").json["entries"][0]["id"] == entry["id"]
    alone = server.ask("POST", "/api/v1/datasets", {"file_name": FEATURES[0].name}, FEATURES[0].read_bytes(),
                       "application/octet-stream", 201).json["entries"][0]
    assert alone["name"] == FEATURES[0].name, alone
    wrong = server.ask("POST", "/api/v1/datasets", None, b"no features\n", "application/octet-stream", 422).json
    assert "tmp" not in wrong["detail"], wrong
    server.form([("file", FEATURES[0]), ("rank", "1")], 400, "datasets")
    server.ask("DELETE", place)
    server.ask("GET", place, status=404)


@case
def evaluates_and_trains_as_the_commands_do(server):
    place = add_dataset(server)
    job = queue(server, place + "/evaluate", {"method": "end2end", "seeds": 2})
    events = wait(server, job)
    assert [events[0][1], events[1][1], events[-1][1]] == ["queued", "running", "done"], events
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1)), events
    result = server.ask("GET", job + "/result").json
    printed = json.loads(server.run("evaluate", "three-models", "--method", "end2end", "--seeds", 2, "--format", "json",
                                    cwd=DATA))
    assert result.pop("seconds") > 0 and printed.pop("seconds") > 0
    assert result == printed, f"{result}\n{printed}"
    job = queue(server, place + "/train", {"name": "mine", "machine": "lab", "tag": "a"})
    made = wait(server, job)[-1][2]["entries"]
    (listed,) = job_at(server, job)["entries"]
    assert made == [{"kind": "profile", "id": listed["id"]}], (made, listed)
    entry = server.get("profiles", stored="true").json["entries"][0]
    assert (entry["id"], entry["name"], entry["machine"], entry["tags"]) == (listed["id"], "mine", "lab", ["a"]), entry
    printed = server.run("train", "three-models", "--machine", "lab", "-o", "-", cwd=DATA)
    assert server.ask("GET", job + "/result").body == printed
    assert server.get(listed["location"].removeprefix("/api/v1/")).json["method"] == "law"
    # With a profile that predicts from descriptions, too.
    shipped = server.get("profiles/gtx1080ti-i9-7900x").body
    profile = server.ask("POST", "/api/v1/profiles", None, shipped, "application/json", 201).json["entries"][0]["id"]
    for query in ({}, {"profile": listed["id"]}, {"profile": profile, "batch": 8, "seq": 32}):
        answer = server.ask("POST", add_two(server) + "/tradeoff", query, ACCURACIES.read_bytes(), "text/csv")
        assert answer.json["points"], answer.json
    server.ask("POST", place + "/train", {"method": "magic"}, status=400)
    server.ask("POST", "/api/v1/datasets/none-such/train", status=404)


def add_two(server):
    files = sorted((DATA / "two-models").iterdir())
    listed = server.get("datasets", search="two-models").json["entries"]
    return f"/api/v1/datasets/{listed[0]['id']}" if listed else add_dataset(server, files, "two-models")


@case
def trades_off_as_the_command_does(server):
    place = add_two(server)
    answer = server.ask("POST", place + "/tradeoff", {"budget": 1, "target": 0.9}, ACCURACIES.read_bytes(), "text/csv")
    text = ACCURACIES.read_text()
    (server.folder / "accuracies").write_text(text)
    (server.folder / "two-models").symlink_to(DATA / "two-models")
    printed = server.run("tradeoff", "two-models", "accuracies", "--budget", 1, "--target", 0.9, "--format", "json",
                         cwd=server.folder)
    assert answer.body == printed, f"{answer.body}\n{printed}"
    server.ask("POST", place + "/tradeoff", {"format": "svg"}, text, "text/csv")
    server.get("tradeoff", 422)
    for name, model, accuracy in [("small", "gpt2", 0.3), ("large", "gpt2-large", 0.5)]:
        kept = server.ask("POST", "/api/v1/predictions", {"model": model, "name": name}, status=201).headers["location"]
        server.ask("PATCH", kept, None, json.dumps({"accuracy": accuracy}), "application/json")
    stored = server.get("tradeoff", target=0.4).json
    assert [point["label"] for point in stored["points"]] == ["small", "large"], stored
    assert stored["choices"][0]["at_target"] == stored["points"][1]["model"]
    assert stored["points"][0]["predicted_low_j"] < stored["points"][0]["predicted_j"]
    server.get("tradeoff", by="per_token_j", format="csv")
    server.get("tradeoff", 400, by="readings")


@case
def sweeps_later(server):
    query = {"model": "gpt2", "sweep": ["batch=1,2,4", "seq=8,16"], "profile": "h100,a100"}
    job = queue(server, "/api/v1/sweeps", query)
    assert wait(server, job)[-1][1] == "done"
    assert server.ask("GET", job + "/result").body == server.get("predict", **query).body
    config = (DATA / "models/tiny-bert.json").read_bytes()
    job = queue(server, "/api/v1/sweeps", {"sweep": "batch=1,2"}, config, "application/json")
    assert wait(server, job)[-1][1] == "done" and job_at(server, job)["request"]["config"]["model_type"] == "bert"
    # What no variant can be is known only when it is done.
    job = queue(server, "/api/v1/sweeps", {"model": "gpt2", "sweep": "seq=100000,200000"})
    assert wait(server, job)[-1][1] == "failed"
    assert "none of the 2 variants" in job_at(server, job)["error"]["detail"]
    server.ask("GET", job + "/result", status=409)
    server.ask("POST", "/api/v1/sweeps", {"model": "gpt2"}, status=400)


@case
def lists_regions(server):
    regions = {one["region"]: one for one in server.get("regions").json["regions"]}
    assert regions["DE"]["currency"] == "EUR" and regions["FR"]["price_per_kwh"] is None, regions
    assert server.get("regions", format="csv").body.count(b"\n") > len(regions)


@case
def cancels_what_waits_and_what_runs(server):
    place = add_slice(server)
    jobs = [queue(server, place + "/evaluate", {**LONG, "seed": seed}) for seed in range(3)]
    wait_until(lambda: job_at(server, jobs[0])["progress"]["done"] > 0, "the first job works")
    assert [job_at(server, job)["state"] for job in jobs] == ["running", "running", "queued"]
    assert server.ask("DELETE", jobs[2]).json["jobs"][0]["state"] == "cancelled"
    assert wait(server, jobs[2]) == [(1, "queued", {"attempts": 0}), (2, "cancelled", {"attempts": 0})]
    began = time.monotonic()
    assert server.ask("DELETE", jobs[0]).json["jobs"][0]["cancel_requested"]
    assert wait(server, jobs[0])[-1][1] == "cancelled"
    assert time.monotonic() - began < 20, "a job that runs does not end soon"
    assert job_at(server, jobs[1])["state"] == "running"
    server.ask("DELETE", jobs[1])
    wait(server, jobs[1])
    assert server.ask("DELETE", jobs[1]).json["jobs"][0]["state"] == "cancelled"
    page = server.get("jobs", max_results=2).json
    rest = server.get("jobs", max_results=2, page_token=page["next_page_token"]).json
    assert [job["id"] for job in page["jobs"] + rest["jobs"]] == [job.rpartition("/")[2] for job in reversed(jobs)]
    assert server.get("jobs", state="running").json["jobs"] == [] and len(server.get("jobs", kind="train").json["jobs"]) == 0
    assert server.get("jobs", format="csv").body.count(b",cancelled,") == 3
    assert b'beryl_library_jobs{state="cancelled"} 3\n' in server.ask("GET", "/metrics").body
    server.get("jobs/none-such", 404)


@case
def a_listener_that_comes_back_misses_nothing(server):
    job = queue(server, add_slice(server) + "/evaluate", LONG)
    wait_until(lambda: job_at(server, job)["state"] == "running", "the job runs")
    heard = []
    while len(heard) < 8:  # goes away after every two or three
        heard += listen(server.place, job + "/events", heard[-1][0] if heard else 0, 2 + len(heard) % 2)
    server.ask("DELETE", job)
    heard += listen(server.place, job + "/events", heard[-1][0], 1000)
    assert [number for number, _, _ in heard] == list(range(1, len(heard) + 1)), heard
    assert heard[-1][1] == "cancelled" and all(name == "progress" for _, name, _ in heard[2:-1]), heard
    assert heard == wait(server, job)
    done = [data["done"] for _, name, data in heard if name == "progress"]
    assert done == sorted(done) and done[-1] > 0, done
    seen = {"last-event-id": str(heard[-1][0])}
    server.ask("GET", job + "/events", headers=seen, status=204)
    server.ask("GET", job + "/events", {"after": heard[-1][0]}, status=204)
    server.ask("GET", job + "/events", headers={"last-event-id": "x"}, status=400)


@case
def jobs_survive_kills_and_restarts(server):
    place = add_slice(server)
    jobs = [queue(server, place + "/evaluate", {**LONG, "seed": seed}) for seed in range(2)]
    waiting = queue(server, place + "/evaluate", {"method": "law"})
    wait_until(lambda: all(job_at(server, job)["progress"]["done"] > 0 for job in jobs), "the jobs work")
    before = job_at(server, jobs[0])["last_event"]
    server.kill()
    server.start()
    wait_until(lambda: all(job_at(server, job)["attempts"] == 2 for job in jobs), "they run again")
    names = [name for _, name, _ in listen(server.place, jobs[0] + "/events", before, 5)]
    assert names[names.index("queued"):][:3] == ["queued", "running", "progress"], names
    assert job_at(server, waiting)["state"] == "queued"
    # Ended in good order, it is not their fault.
    began = time.monotonic()
    server.end()
    ending = time.monotonic() - began
    server.start("--jobs", "0")
    states = [(job_at(server, job)["state"], job_at(server, job)["attempts"]) for job in (*jobs, waiting)]
    assert states == [("queued", 1), ("queued", 1), ("queued", 0)], states
    server.ask("DELETE", jobs[0])
    server.start()
    server.ask("DELETE", jobs[1])
    assert wait(server, waiting)[-1][1] == "done"
    assert [job_at(server, job)["state"] for job in jobs] == ["cancelled"] * 2
    events = wait(server, jobs[1])
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1)), events
    assert ending < 30, f"{ending:.1f} s to end"
    # One that ends its server each time is not tried forever.
    job = queue(server, place + "/evaluate", LONG)
    for attempt in range(1, 4):
        wait_until(lambda: job_at(server, job)["attempts"] == attempt and job_at(server, job)["state"] == "running",
                   f"attempt {attempt}")
        server.kill()
        server.start()
    assert job_at(server, job)["state"] == "failed" and "3 times" in job_at(server, job)["error"]["detail"]


@case
def small_requests_do_not_wait_for_jobs(server):
    def milliseconds(first):
        """Of predictions that no one has asked for before."""
        times = []
        for batch in range(first, first + 150):
            began = time.monotonic()
            assert server.send("GET", "/api/v1/predict", {"model": "gpt2", "batch": batch}).status == 200
            times.append(1000 * (time.monotonic() - began))
        return statistics.quantiles(times, n=20)
    idle = milliseconds(1)
    place = add_slice(server)
    jobs = [queue(server, place + "/evaluate", {**LONG, "seed": seed}) for seed in range(2)]
    wait_until(lambda: all(job_at(server, job)["progress"]["done"] > 0 for job in jobs), "the jobs work")
    busy = milliseconds(1001)
    assert [job_at(server, job)["state"] for job in jobs] == ["running"] * 2
    print(f"      a prediction beside two jobs: median {busy[9]:.1f} ms (idle {idle[9]:.1f}), 95 of 100 within "
          f"{busy[18]:.1f} ms (idle {idle[18]:.1f})")
    assert busy[9] < 5 * idle[9] + 20 and busy[18] < 10 * idle[18] + 100, (idle, busy)
    for job in jobs:
        server.ask("DELETE", job)


@case
def servers_share_the_jobs_of_postgresql(server):
    if not postgres.PROGRAMS:
        print("skip  PostgreSQL is not installed (tools/packages-check.txt)")
        return
    with tempfile.TemporaryDirectory(prefix="beryl-postgres-") as folder:
        database = postgres.Postgres(pathlib.Path(folder))
        library = database.database()
        server.start("--jobs", "0", library=library)
        other = type(server)(server.beryl, server.folder, 0)
        try:
            place = add_slice(server)
            job = queue(server, place + "/evaluate", {"method": "law"})
            assert job_at(server, job)["state"] == "queued"
            other.start("--jobs", "1", library=library)
            assert wait(server, job)[-1][1] == "done"
            assert server.ask("GET", job + "/result").json["method"] == "law"
            # Cancelled where it does not run.
            job = queue(server, place + "/evaluate", LONG)
            wait_until(lambda: job_at(server, job)["progress"]["done"] > 0, "the other server works")
            server.ask("DELETE", job)
            assert wait(server, job)[-1][1] == "cancelled"
            # Given back by one, done by the other.
            job = queue(server, place + "/evaluate", LONG)
            wait_until(lambda: job_at(server, job)["state"] == "running", "the other server has it")
            other.end()
            assert job_at(server, job)["state"] == "queued"
            server.start("--jobs", "1", library=library)
            wait_until(lambda: job_at(server, job)["state"] == "running", "this server has it")
            server.ask("DELETE", job)
            assert wait(server, job)[-1][1] == "cancelled"
        finally:
            server.end()
            other.end()
            database.end()
