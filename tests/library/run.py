#!/usr/bin/env python3
"""The library through the real binary, in a folder and in PostgreSQL, which it starts in a folder of its own.
Ends with "N passed, N failed".

--kills says how often commands are killed at random moments, in each store: then nothing that was acknowledged may be
lost, nothing unfinished may show as whole, and `library verify` passes."""

import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cases  # noqa: E402
import postgres as database  # noqa: E402
from cases import case  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDINGS = sorted((ROOT / "tests/data/recordings").glob("*.beryl"))
OPS, POWER = (ROOT / "tests/golden/tensorflow-layers-json" / name for name in ("ops.json", "power.csv"))


class Store:
    """A program, a folder for one case, and the libraries in it."""

    def __init__(self, beryl, folder, postgres, kills):
        self.beryl, self.folder, self.postgres, self.kills, self.folders = beryl, folder, postgres, kills, 0

    def places(self):
        """A new library in either store."""
        self.folders += 1
        yield str(self.folder / f"library-{self.folders}")
        if self.postgres:
            yield self.postgres.database()

    def start(self, *words, library=None):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        if library:
            environment["BERYL_LIBRARY"] = library
        return subprocess.Popen([self.beryl, "library", *map(str, words)], env=environment, cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words, library=None, status=0):
        process = self.start(*words, library=library)
        out, said = process.communicate()
        assert process.returncode == status, f"{words}: status {process.returncode}\n{out}{said}"
        return out if status == 0 else said

    def json(self, *words, library=None):
        return json.loads(self.run(*words, "--format", "json", library=library))

    def trace(self, number):
        """A run that no other is like: the traces of a golden case with another time."""
        folder = self.folder / f"trace-{number}"
        folder.mkdir(exist_ok=True)
        ops, power = folder / "ops.json", folder / "power.csv"
        ops.write_text(OPS.read_text().rstrip() + "\n" * (number + 1))
        power.write_text(POWER.read_text())
        return ["--ops", ops, "--power", power, "--name", f"run {number}"]


@case
def gives_back_what_it_was_given(store):
    for library in store.places():
        run = RECORDINGS[0]
        added = store.json("add", run, "--tag", "paper", "--notes", "two\nlines", "--model", "gpt2",
                           library=library)["entries"][0]
        assert added["tags"] == ["paper"] and added["model"] == "gpt2" and added["notes"] == "two\nlines", added
        assert added["form"] == "recording" and added["figures"]["energy_j"] > 0, added
        assert added["files"][0]["digest"] == hashlib.sha256(run.read_bytes()).hexdigest(), added
        again = store.start("add", run, library=library)
        out, said = again.communicate()
        assert added["id"] in out and "there already" in said, said
        traces = store.json("add", *store.trace(0), library=library)["entries"][0]
        assert traces["form"] == "traces" and traces["figures"]["operations"] > 0, traces
        back = store.folder / f"back-{traces['id']}"
        store.run("get", traces["id"], "-o", back, library=library)
        assert (back / "ops.json").read_bytes() == (store.folder / "trace-0/ops.json").read_bytes()
        store.run("get", traces["id"], "-o", back, library=library, status=1)  # replaces nothing
        listed = store.json("ls", library=library)["entries"]
        assert [entry["id"] for entry in listed] == [traces["id"], added["id"]], listed
        assert store.json("ls", "--tag", "paper", library=library)["entries"] == [added]
        assert store.json("ls", "--kind", "profile", library=library)["entries"] == []


@case
def says_what_it_removes(store):
    for library in store.places():
        entry = store.json("add", *store.trace(0), library=library)["entries"][0]
        assert entry["id"] in store.run("rm", entry["id"], library=library)
        assert "no entry" in store.run("rm", entry["id"], library=library, status=1)
        assert store.json("gc", library=library)["kept_files"] == 2
        time.sleep(1.1)
        garbage = store.json("gc", "--older-than", 0, library=library)
        assert garbage["files"] == 2 and garbage["bytes"] == entry["bytes"], garbage
        assert store.json("verify", library=library)["files"] == 0


@case
def refuses_what_it_cannot_read(store):
    bad = store.folder / "bad.beryl"
    bad.write_text("no run")
    for library in store.places():
        assert "bad.beryl" in store.run("add", bad, library=library, status=1)
        assert store.json("ls", library=library)["entries"] == []
        store.run("add", store.folder / "none.beryl", library=library, status=1)
        assert "page token" in store.run("ls", "--page-token", "x", library=library, status=2)
        assert "no time" in store.run("ls", "--since", "yesterday", library=library, status=2)
        store.run("verify", library=library)


@case
def moves_to_another_store(store):
    for library in store.places():
        ids = [store.json("add", *store.trace(i), library=library)["entries"][0]["id"] for i in range(3)]
        export = store.folder / f"export-{ids[0]}"
        store.run("export", "-o", export, library=library)
        store.run("export", "-o", export, library=library, status=2)  # not into a folder with something
        for other in store.places():
            store.run("add", export, library=other)
            assert store.json("ls", library=other)["entries"] == store.json("ls", library=library)["entries"]
            store.run("add", export, library=other)  # nothing is there twice
            assert len(store.json("ls", library=other)["entries"]) == 3
            store.run("verify", library=other)
        damaged = next(path for path in export.glob("files/*/*"))
        damaged.write_bytes(damaged.read_bytes() + b"x")
        for other in store.places():
            assert "damaged" in store.run("add", export, library=other, status=1)


@case
def finds_damage(store):
    library = next(store.places())
    store.json("add", *store.trace(0), library=library)
    stored = next(pathlib.Path(library).glob("files/*/*"))
    stored.write_bytes(b"x" * stored.stat().st_size)
    process = store.start("verify", "--format", "json", library=library)
    out, _ = process.communicate()
    assert process.returncode == 1, out
    assert [problem["kind"] for problem in json.loads(out)["problems"]] == ["content"], out


@case
def adds_from_many_at_once(store):
    for library in store.places():
        processes = [store.start("add", *store.trace(i % 4), library=library) for i in range(8)]
        ends = [process.communicate()[1] for process in processes]
        # Those that waited too long for a folder say so; nothing else may fail.
        assert all(p.returncode == 0 or "has this library open" in said for p, said in zip(processes, ends)), ends
        names = [entry["name"] for entry in store.json("ls", library=library)["entries"]]
        assert len(names) == len(set(names)), names
        store.run("verify", library=library)


@case
def survives_kills(store):
    for library in store.places():
        known, removing = {}, set()
        for number in range(store.kills):
            words = ["add", *store.trace(number), "--format", "json"]
            left = sorted(known.keys() - removing)
            if left and random.random() < 0.2:
                entry = random.choice(left)
                removing.add(entry)
                words = ["rm", entry, "--format", "json"]
            elif random.random() < 0.1:
                words = ["gc", "--older-than", "0", "--format", "json"]
            process = store.start(*words, library=library)
            killer = threading.Timer(random.uniform(0, 1.2) * store.typical, process.kill)
            began = time.monotonic()
            killer.start()
            out, said = process.communicate()
            killer.cancel()
            assert process.returncode in (0, -9), said
            if process.returncode == 0:
                store.typical = 0.7 * store.typical + 0.3 * (time.monotonic() - began)
                for entry in json.loads(out).get("entries", []):
                    if words[0] == "add":
                        known[entry["id"]] = {file["digest"] for file in entry["files"]}
                    else:
                        known.pop(entry["id"])
            else:
                store.typical *= 1.1
            # Before the first success there may be no library yet.
            if (known or removing) and (number % 10 == 9 or number == store.kills - 1):
                found = {}
                token = []
                while token is not None:
                    page = store.json("ls", "--max-results", 1000, *token, library=library)
                    for entry in page["entries"]:
                        assert len(entry["files"]) == 2 and entry["figures"]["energy_j"] > 0, entry
                        found[entry["id"]] = {file["digest"] for file in entry["files"]}
                    token = page["next_page_token"] and ["--page-token", page["next_page_token"]]
                for entry, files in known.items():
                    assert found.get(entry) == files or entry in removing, f"{entry} is lost"
                store.run("verify", library=library)


def main():
    parser = cases.parser(__doc__)
    parser.add_argument("--kills", type=int, default=20, help="in each store")
    args = parser.parse_args()
    beryl = args.beryl.resolve()
    with tempfile.TemporaryDirectory(prefix="beryl-postgres-") as folder:
        postgres = None
        if database.PROGRAMS:
            postgres = database.Postgres(pathlib.Path(folder))
        else:
            print("PostgreSQL is not installed (tools/packages-check.txt): only folders are tested")
        Store.typical = 0.5
        try:
            return cases.run("library", args.filter, lambda one: Store(beryl, one, postgres, args.kills), at_once=2)
        finally:
            if postgres:
                postgres.end()


if __name__ == "__main__":
    sys.exit(main())
