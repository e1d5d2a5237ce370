#!/usr/bin/env python3
"""`kill -9` at random moments while the real server is busy with uploads, changes and jobs, or brings a library up to
date; in a folder and in PostgreSQL. Nothing that a client was told may be lost, nothing unfinished may show as whole,
and `beryl library verify` passes. Ends with "N passed, N failed".

  tests/server/kills.py --beryl build/dev/beryl                # a few
  tests/server/kills.py --beryl build/release/beryl --kills 200"""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import cases  # noqa: E402
import postgres as database  # noqa: E402
from cases import case  # noqa: E402
from client import TIMEOUT_S, Server, eventually  # noqa: E402

ROOT = HERE.parents[1]
RECORDINGS = sorted((ROOT / "tests/data/recordings").glob("*.beryl"))
DATASET = ROOT / "tests/data/learn/measured_slice.csv.gz"
OPS, POWER = (ROOT / "tests/golden/tensorflow-layers-json" / name for name in ("ops.json", "power.csv"))

# What the server does to a library of the first version when it starts; taken back here.
TO_FIRST_VERSION = ["DROP TABLE job_event", "DROP TABLE job", "UPDATE library_version SET version = 1"]
CLIENTS = 4
LISTED = 1000  # entries on a page


class Acknowledged:
    """What clients were told, and what they had asked for when the server was killed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.runs = {}  # id: digests
        self.names = {}  # id: the name that was acknowledged last, and the one that is on its way
        self.removing, self.predictions, self.jobs = set(), set(), set()
        self.dataset = None  # that jobs learn from; None: this server has no jobs
        self.answers = 0

    def __str__(self):
        return f"{self.answers} acknowledgements; at the end {len(self.runs)} runs, {len(self.predictions)} predictions, {len(self.jobs)} jobs"


class Ended(Exception):
    """The server is gone."""


class Client:
    """Sends one request after another until the server is killed."""

    def __init__(self, port, known, number):
        self.port, self.known, self.number, self.random = port, known, number, random.Random(random.random())

    def mine(self):
        """Runs that no other client changes or removes, so that what was asked last is known."""
        return sorted(run for run in self.known.runs.keys() - self.known.removing
                      if int(run, 36) % CLIENTS == self.number)

    def ask(self, method, path, body=None, headers=None):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
            with contextlib.closing(connection):
                connection.request(method, path, body, headers or {})
                answer = connection.getresponse()
                return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as problem:
            raise Ended from problem

    def slowly(self, data):
        """In pieces with pauses, so that kills come in the middle."""
        size = self.random.choice([4096, 65536, 1 << 20])
        for at in range(0, len(data), size):
            if self.random.random() < 0.1:
                time.sleep(0.002)
            yield data[at:at + size]

    def upload(self):
        number = self.random.getrandbits(60)
        if self.random.random() < 0.5:  # a run that no other is like, by what is blank at its end
            blanks = "".join("\n" if number >> bit & 1 else " " for bit in range(60))
            ops = OPS.read_bytes().rstrip() + blanks.encode() + b" " * self.random.randint(0, 300_000)
            power, boundary = POWER.read_bytes(), f"x{number:x}"
            form = b"".join(
                f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.json"\r\n\r\n'
                .encode() + data + b"\r\n" for name, data in (("ops", ops), ("power", power)))
            form += f"--{boundary}--\r\n".encode()
            files, kind = [ops, power], f"multipart/form-data; boundary={boundary}"
        else:
            form = self.random.choice(RECORDINGS).read_bytes()
            files, kind = [form], "application/octet-stream"
        query = urllib.parse.urlencode({"name": f"run {number}"} if files[0] is form else {})
        status, body = self.ask("POST", f"/api/v1/runs?{query}", self.slowly(form),
                                {"content-type": kind, "content-length": str(len(form))})
        assert status in (200, 201), (status, body)
        entry = json.loads(body)["entries"][0]
        with self.known.lock:
            self.known.answers += 1
            if entry["id"] not in self.known.removing:
                self.known.runs[entry["id"]] = {hashlib.sha256(data).hexdigest() for data in files}
                self.known.names.setdefault(entry["id"], {entry["name"]})

    def change(self):
        with self.known.lock:
            if not (mine := self.mine()):
                return
            run, name = self.random.choice(mine), f"changed {self.random.getrandbits(60)}"
            self.known.names[run] = self.known.names[run] | {name}
        status, body = self.ask("PATCH", f"/api/v1/runs/{run}", json.dumps({"name": name}),
                                {"content-type": "application/json"})
        assert status == 200, (status, body)
        with self.known.lock:
            self.known.answers += 1
            self.known.names[run] = {name}

    def remove(self):
        with self.known.lock:
            if len(mine := self.mine()) < 3:
                return
            run = self.random.choice(mine)
            self.known.removing.add(run)
        status, body = self.ask("DELETE", f"/api/v1/runs/{run}")
        assert status == 200, (status, body)
        with self.known.lock:
            self.known.answers += 1
            self.known.runs.pop(run)

    def predict(self):
        query = urllib.parse.urlencode(
            {"model": "gpt2", "batch": self.random.randint(1, 1 << 20), "profile": "gtx1080ti-i9-7900x"})
        status, body = self.ask("POST", f"/api/v1/predictions?{query}")
        assert status in (200, 201), (status, body)
        with self.known.lock:
            self.known.answers += 1
            self.known.predictions.add(json.loads(body)["entries"][0]["id"])

    def enqueue(self):
        if not self.known.dataset:
            return
        status, body = self.ask("POST", f"{self.known.dataset}/evaluate?method=law")
        assert status == 202, (status, body)
        with self.known.lock:
            self.known.answers += 1
            self.known.jobs.add(json.loads(body)["jobs"][0]["id"])

    def work(self, problems):
        deeds = [self.upload] * 4 + [self.change] * 3 + [self.remove, self.predict, self.enqueue]
        try:
            while True:
                self.random.choice(deeds)()
        except Ended:
            pass
        except Exception as problem:  # of another thread, it would be lost
            problems.append(problem)


class Machine(Server):
    """A server with a library of its own, in one of the stores."""

    def __init__(self, beryl, folder, postgres, kills):
        super().__init__(beryl, folder)
        self.postgres, self.kills = postgres, kills

    def places(self):
        yield "folder", str(self.folder / "library")
        if self.postgres:
            yield "PostgreSQL", self.postgres.database()

    def run(self, *words):
        done = subprocess.run([self.beryl, "library", *map(str, words)], capture_output=True, text=True,
                              timeout=TIMEOUT_S * 4, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def entries(self, place):
        found, token = {}, []
        while token is not None:
            page = json.loads(self.run("ls", "--library", place, "--max-results", LISTED, "--format", "json", *token))
            found.update({entry["id"]: entry for entry in page["entries"]})
            token = page["next_page_token"] and ["--page-token", page["next_page_token"]]
        return found

    def sql(self, statement, name="postgres"):
        """The rows that PostgreSQL answers in a database, a line each."""
        return subprocess.run([self.postgres.programs / "psql", "-qtA", "-h", self.postgres.folder, "-U", "beryl", "-d",
                               name, "-v", "ON_ERROR_STOP=1", "-c", statement],
                              check=True, capture_output=True, text=True).stdout

    def kill(self, place):
        """And waits until the database has seen that it is gone, and has ended what was under way."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(TIMEOUT_S)
        if place.startswith("postgresql:"):
            name = urllib.parse.urlsplit(place).path[1:]
            eventually(lambda: self.sql(
                f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'").strip() == "0")


def check_runs(machine, place, known):
    """Everything that is listed is whole, and everything acknowledged is listed."""
    found = machine.entries(place)
    for entry in found.values():
        if entry["kind"] == "run":
            wanted = 2 if entry["form"] == "traces" else 1
            assert len(entry["files"]) == wanted and entry["figures"]["energy_j"] > 0, entry
        assert entry["files"], entry
    assert known.predictions <= found.keys(), f"{known.predictions - found.keys()} are lost"
    for run in known.removing - found.keys():
        known.runs.pop(run, None)
    known.removing.clear()  # what is still there stays
    for run, digests in known.runs.items():
        assert run in found, f"{run} is lost"
        assert {file["digest"] for file in found[run]["files"]} == digests, found[run]
        assert found[run]["name"] in known.names[run], (found[run]["name"], known.names[run])
        known.names[run] = {found[run]["name"]}
    machine.run("verify", "--library", place)


def check_server(machine, known):
    """The same through the server: bytes as they were given, results, and jobs."""
    for run, digests in random.sample(sorted(known.runs.items()), min(3, len(known.runs))):
        for digest in digests:
            answer = machine.ask(f"/api/v1/runs/{run}/file?digest={digest}")
            assert answer.status == 200 and hashlib.sha256(answer.body).hexdigest() == digest, (run, answer.status)
        assert machine.ask(f"/api/v1/runs/{run}/measurement").status == 200
    for job in random.sample(sorted(known.jobs), min(10, len(known.jobs))):
        assert machine.ask(f"/api/v1/jobs/{job}").status == 200, job
    if known.dataset is None:
        answer = machine.ask(f"/api/v1/datasets?file_name={DATASET.name}", "POST", DATASET.read_bytes(),
                             content_type="application/octet-stream")
        known.dataset = answer["location"] if answer.status in (200, 201) else ""


@case
def loses_nothing_that_was_acknowledged(machine):
    for store, place in machine.places():
        known = Acknowledged()
        for _ in range(machine.kills):
            machine.start("--library", place)
            check_server(machine, known)
            problems = []
            clients = [threading.Thread(target=Client(machine.ports[0], known, number).work, args=(problems,))
                       for number in range(CLIENTS)]
            for client in clients:
                client.start()
            time.sleep(random.uniform(0, 1.5))
            machine.kill(place)
            for client in clients:
                client.join()
            assert not problems, problems
            check_runs(machine, place, known)
        print(f"{store}: {machine.kills} kills, {known}", flush=True)


def make_old(machine, place, copy):
    """The library at `place` as the first version had it."""
    if copy:
        shutil.copytree(machine.folder / "old", place)
        return place
    name = urllib.parse.urlsplit(place).path[1:]
    fresh = f"{name}_{random.getrandbits(40)}"
    machine.sql(f'CREATE DATABASE "{fresh}" TEMPLATE "{name}"')
    return place.replace("/" + name, "/" + fresh, 1)


@case
def finishes_a_migration_the_next_time(machine):
    for store, place in machine.places():
        is_folder = store == "folder"
        for number in range(10):
            ops = machine.folder / f"ops-{number}.json"
            ops.write_bytes(OPS.read_bytes().rstrip() + b"\n" * (number + 1))
            machine.run("add", "--library", place, "--ops", ops, "--power", POWER, "--name", f"run {number}")
        wanted = machine.entries(place)
        if is_folder:
            with contextlib.closing(sqlite3.connect(pathlib.Path(place) / "library.db")) as file:
                for statement in TO_FIRST_VERSION:
                    file.execute(statement)
                file.commit()
            shutil.move(place, machine.folder / "old")
        else:
            machine.sql("; ".join(TO_FIRST_VERSION), urllib.parse.urlsplit(place).path[1:])
        whole = None
        for kill in range(machine.kills + 1):
            old = make_old(machine, str(machine.folder / f"old-{kill}") if is_folder else place, is_folder)
            if whole:
                machine.launch("--listen", "127.0.0.1:0", "--library", old)
                time.sleep(random.uniform(0, whole))
                machine.kill(old)
            began = time.monotonic()
            machine.start("--library", old)
            whole = whole or 1.2 * (time.monotonic() - began)
            listed = machine.ask("/api/v1/runs?max_results=1000")
            assert listed.status == 200 and len(json.loads(listed.body)["entries"]) == len(wanted), listed
            machine.end()
            assert machine.entries(old) == wanted
            machine.run("verify", "--library", old)
            if is_folder:
                shutil.rmtree(old)
        print(f"{store}: {machine.kills} kills while a library was brought up to date", flush=True)


def main():
    parser = cases.parser(__doc__)
    parser.add_argument("--kills", type=int, default=4, help="of each case, in each store")
    args = parser.parse_args()
    cases.LIMIT_S = max(cases.LIMIT_S, 30 * args.kills)
    beryl = args.beryl.resolve()
    with tempfile.TemporaryDirectory(prefix="beryl-postgres-") as folder, \
            tempfile.TemporaryDirectory(prefix="beryl-cache-") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        postgres = None
        if database.PROGRAMS:
            postgres = database.Postgres(pathlib.Path(folder))
        else:
            print("PostgreSQL is not installed (tools/packages-check.txt): only folders are tested")
        made = []

        def start(one):
            made.append(Machine(beryl, one, postgres, args.kills))
            return made[-1]
        try:
            return cases.run("kills", args.filter, start)
        finally:
            for machine in made:
                machine.close()
            if postgres:
                postgres.end()


if __name__ == "__main__":
    sys.exit(main())
