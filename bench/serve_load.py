#!/usr/bin/env python3
"""How much `beryl serve` answers on one core, with wrk on another, beside a Flask endpoint (gunicorn) that returns the
same bytes from memory, in the same run. Needs wrk (Debian's package) and, for the peer, PyPI; installs Flask in
build/venv-bench. Build the release preset first. Everything is on loopback, and ends.

Where wrk's core is busy and the server's is not, wrk is the limit, and requests/s say less of the server than the time
that its core works for a request ("CPU"), which is what is left for others.

  bench/serve_load.py                     # all of it, about three minutes
  bench/serve_load.py --requests 10000000 # and a long look at memory
  bench/serve_load.py --upload 1000       # only the upload of a trace of so many megabytes, beside `beryl import`
"""

import argparse
import dataclasses
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREDICT = "/api/v1/predict?model=bert-base-uncased&batch=8&seq=128"
PEER = ["flask==3.1.2", "gunicorn==23.0.0"]
# As it comes, gunicorn has one thread and closes each connection; Flask is at its best with threads that keep them.
PEERS = {"gunicorn as it comes": [],
         "gunicorn, 8 threads, keep-alive": ["-k", "gthread", "--threads", "8", "--keep-alive", "60"]}
EACH_ANOTHER = """
local number = {first}
request = function()
  number = number + 1
  return wrk.format(nil, wrk.path .. number)
end
"""
APP = """
import sys, flask
app = flask.Flask(__name__)
plain, packed = open("plain", "rb").read(), open("packed", "rb").read()

@app.get("/predict")
def predict():
    if "gzip" in flask.request.headers.get("accept-encoding", ""):
        return flask.Response(packed, headers={"content-type": "application/json", "content-encoding": "gzip"})
    return flask.Response(plain, headers={"content-type": "application/json"})
"""


def pinned(cpu):
    return lambda: os.sched_setaffinity(0, {cpu})


class Server:
    """On the first core; `wrk` has the second."""

    def __init__(self, process):
        self.process = process

    def cpu_seconds(self):
        """Of the process and of those that it started."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        ticks = 0
        for pid in [self.process.pid, *map(int, children.split())]:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.terminate()
        self.process.wait(30)


class Beryl(Server):
    def __init__(self, program, *options):
        super().__init__(subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", "--threads", "1", *options], stderr=subprocess.PIPE, text=True,
            preexec_fn=pinned(0), env={**os.environ, "XDG_DATA_HOME": tempfile.gettempdir() + "/beryl-bench-data"}))
        said = self.process.stderr.readline()
        self.url = re.search(r"http://[0-9.:]+", said)[0]
        self.port = int(self.url.rsplit(":", 1)[1])

    def resident(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Flask(Server):
    def __init__(self, folder, plain, packed, options):
        environment = ROOT / "build/venv-bench"
        if not (environment / "bin/gunicorn").exists():
            venv.create(environment, with_pip=True)
            subprocess.run([environment / "bin/pip", "install", "--quiet", *PEER], check=True, timeout=300)
        (folder / "app.py").write_text(APP)
        (folder / "plain").write_bytes(plain)
        (folder / "packed").write_bytes(packed)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        super().__init__(subprocess.Popen(
            [environment / "bin/gunicorn", "-b", f"127.0.0.1:{port}", *options, "--log-level", "error", "app:app"],
            cwd=folder, preexec_fn=pinned(0)))
        for _ in range(300):
            try:
                urllib.request.urlopen(self.url + "/predict", timeout=5).read()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("gunicorn does not answer")


@dataclasses.dataclass
class Load:
    """What wrk saw, and what it cost."""
    rate: float  # requests per second
    p99_ms: float
    cpu_us: float  # of the server, per request
    server_busy: float  # the share of its core
    wrk_busy: float


def wrk(server, path, seconds, connections=64, script=None, gzip=True):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s"]
    if gzip:
        command += ["-H", "Accept-Encoding: gzip"]
    if script:
        command += ["-s", script]
    own = server.cpu_seconds()
    of_wrk = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([*command, server.url + path], check=True, capture_output=True, text=True,
                          preexec_fn=pinned(1)).stdout
    own = server.cpu_seconds() - own
    since = resource.getrusage(resource.RUSAGE_CHILDREN)
    wrk_cpu = since.ru_utime + since.ru_stime - of_wrk.ru_utime - of_wrk.ru_stime
    assert "Non-2xx" not in said and "Socket errors" not in said, said
    count, took, unit = re.search(r"(\d+) requests in ([\d.]+)(s|m)", said).groups()
    took = float(took) * {"s": 1, "m": 60}[unit]
    p99, unit = re.search(r"^\s+99%\s+([\d.]+)(us|ms|s)$", said, re.M).groups()
    return Load(rate=float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]),
                p99_ms=float(p99) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit], cpu_us=1e6 * own / int(count),
                server_busy=own / took, wrk_busy=wrk_cpu / took)


def get(url, gzip=False):
    request = urllib.request.Request(url, headers={"accept-encoding": "gzip"} if gzip else {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def make_trace(folder, megabytes):
    """A TensorFlow timeline of that size, of steps of a model with twelve layers on a CPU and the streams of a GPU, and
    its power. Kept for the next time."""
    trace, power = folder / f"timeline-{megabytes}.json", folder / f"power-{megabytes}.csv"
    if power.exists():
        return trace, power
    folder.mkdir(exist_ok=True)
    parts = [f"{part}/{op}" for part in ("attention/self", "attention/output", "intermediate", "output")
             for op in ("MatMul", "BiasAdd", "Mul", "Softmax", "LayerNorm/batchnorm/add_1")]
    names = [f"{phase}bert/encoder/layer_{layer}/{part}" for phase in ("", "gradients/") for layer in range(12)
             for part in parts]
    names = [(json.dumps(name), json.dumps(name.rsplit("/", 1)[1])) for name in names]
    lanes = [(0, thread) for thread in range(4)] + [(2, stream) for stream in range(3)]
    start, draw = 1_690_000_000_000_000, random.Random(1)
    free = {lane: start for lane in lanes}
    with trace.open("w", buffering=1 << 20) as file:
        file.write('{"traceEvents":[\n' + ",\n".join(
            f'{{"name":"process_name","ph":"M","pid":{pid},"args":{{"name":"/job:localhost/replica:0/task:0/device:'
            f'{device}:0 Compute"}}}}' for pid, device in ((0, "CPU"), (2, "GPU"))))
        while file.tell() < megabytes * 1_000_000:
            pieces, before = [], names[-1][0]
            for name, op in names:
                pid, tid = draw.choice(lanes)
                began = free[pid, tid] + draw.randrange(20)
                took = draw.randrange(1, 300)
                free[pid, tid] = began + took
                pieces.append(f',\n{{"name":{op},"cat":"Op","ph":"X","ts":{began},"dur":{took},"pid":{pid},"tid":{tid},'
                              f'"args":{{"name":{name},"op":{op},"input0":{before}}}}}')
                before = name
            file.write("".join(pieces))
            latest = max(free.values())
            free = {lane: max(time, latest - 1000) for lane, time in free.items()}
        file.write("\n]}\n")
    end = max(free.values())
    with power.open("w") as file:
        file.write("timestamp_us,device,power_w\n")
        for now in range(start, end + 4000, 4000):
            file.write(f"{now},CPU:0,{30 + now % 17}\n{now},GPU:0,{180 + now % 61}\n")
    return trace, power


def upload(program, megabytes):
    """Memory of the server, and the time to its answer, beside the command that reads the same files."""
    trace, power = make_trace(pathlib.Path(tempfile.gettempdir()) / "beryl-bench", megabytes)
    with tempfile.TemporaryDirectory(prefix="beryl-bench-") as folder:
        times = []
        for number in range(3):
            began = time.monotonic()
            importing = subprocess.Popen([program, "import", "-o", f"{folder}/{number}.beryl", "--ops", trace, "--power",
                                          power, "--threads", "2"], stderr=subprocess.DEVNULL)
            used = os.wait4(importing.pid, 0)
            assert used[1] == 0, used
            times.append(time.monotonic() - began)
        server = Beryl(program, "--library", f"{folder}/library")
        os.sched_setaffinity(server.process.pid, range(os.cpu_count()))
        for thread in os.listdir(f"/proc/{server.process.pid}/task"):
            os.sched_setaffinity(int(thread), range(os.cpu_count()))
        boundary = "beryl-bench"
        heads = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file.name}"\r\n\r\n'.encode()
                 for name, file in (("ops", trace), ("power", power))]
        tail = f"\r\n--{boundary}--\r\n".encode()
        size = sum(map(len, heads)) + 2 + len(tail) + trace.stat().st_size + power.stat().st_size

        def body():
            for number, file in enumerate((trace, power)):
                yield (b"\r\n" if number else b"") + heads[number]
                with file.open("rb") as pieces:
                    while piece := pieces.read(1 << 20):
                        yield piece
            yield tail
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        connection.request("POST", "/api/v1/runs", body(), {"content-type": f"multipart/form-data; boundary={boundary}",
                                                            "content-length": str(size)})
        sent = time.monotonic() - began
        answer = connection.getresponse()
        said = answer.read()
        took = time.monotonic() - began
        assert answer.status == 201, said
        with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
            peak = next(int(row.split()[1]) for row in status if row.startswith("VmHWM")) * 1024
        server.end()
    best = min(times)
    line(f"upload of {trace.stat().st_size / 1e6:,.0f} MB, {json.loads(said)['entries'][0]['figures']['operations']:,.0f} operations",
         f"{took:.2f} s ({sent:.2f} s until it was sent)")
    line("  beryl import of the same, best of 3", f"{best:.2f} s, {used[2].ru_maxrss * 1024 / 1e6:.0f} MB")
    line("  ratio", f"{took / best:.2f}")
    line("  most memory of the server", f"{peak / 1e6:.1f} MB")


def line(what, value):
    print(f"{what:80} {value}", flush=True)


def median(loads, member):
    return statistics.median(getattr(load, member) for load in loads)


def show(what, loads):
    line(what, f"{median(loads, 'rate'):,.0f} requests/s, p99 {median(loads, 'p99_ms'):.2f} ms; "
               f"CPU {median(loads, 'cpu_us'):.1f} us a request; busy: server {median(loads, 'server_busy'):.0%}, "
               f"wrk {median(loads, 'wrk_busy'):.0%}")


def compare_with_flask(beryl, folder, seconds, rounds):
    show("the shortest answer, /healthz", [wrk(beryl, "/healthz", seconds) for _ in range(rounds)])
    plain, packed = get(beryl.url + PREDICT), get(beryl.url + PREDICT, gzip=True)
    for name, gzip, size in (("gzip", True, len(packed)), ("not compressed", False, len(plain))):
        ours, theirs = [], {peer: [] for peer in PEERS}
        for _ in range(rounds):
            ours.append(wrk(beryl, PREDICT, seconds, gzip=gzip))
            for peer, options in PEERS.items():
                flask = Flask(folder, plain, packed, options)
                try:
                    theirs[peer].append(wrk(flask, "/predict", seconds, gzip=gzip))
                finally:
                    flask.end()
        show(f"cached predict, {name}, {size:,} bytes", ours)
        for peer, loads in theirs.items():
            show(f"  Flask, the same bytes from memory; {peer}", loads)
            line("    ours: requests/s, and CPU a request",
                 f"{statistics.median(a.rate / b.rate for a, b in zip(ours, loads)):.1f}x, "
                 f"1/{statistics.median(b.cpu_us / a.cpu_us for a, b in zip(ours, loads)):.1f}")


def uncached(beryl, seconds, rounds):
    # The default profile has to hold the model; one that is named does not.
    path = "/api/v1/predict?model=bert-base-uncased&profile=gtx1080ti-i9-7900x&seq=128&batch="
    firsts = itertools.count(1, 100_000)  # far enough from one another
    for name, gzip in (("gzip", True), ("not compressed", False)):
        loads = []
        for first in itertools.islice(firsts, rounds):
            with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
                script.write(EACH_ANOTHER.format(first=first))
                script.flush()
                loads.append(wrk(beryl, path, seconds, script=script.name, gzip=gzip))
        show(f"uncached, every request another batch size, {name}", loads)


def slow_clients(beryl, seconds, rounds, count=200):
    def connect():
        client = socket.create_connection(("127.0.0.1", beryl.port))
        client.send(b"G")
        return client

    quiet, busy = [], []
    for _ in range(rounds):
        quiet.append(wrk(beryl, PREDICT, seconds).p99_ms)
        ended = threading.Event()

        def drip():
            clients = [connect() for _ in range(count)]
            while not ended.wait(1):  # a byte a second; those that are thrown out come again
                for number, client in enumerate(clients):
                    try:
                        client.send(b"E")
                    except OSError:
                        client.close()
                        clients[number] = connect()
            for client in clients:
                client.close()

        thread = threading.Thread(target=drip)
        thread.start()
        time.sleep(1)
        busy.append(wrk(beryl, PREDICT, seconds).p99_ms)
        ended.set()
        thread.join()
    line(f"p99 without and with {count} clients of a byte a second",
         f"{statistics.median(quiet):.2f} ms, {statistics.median(busy):.2f} ms: "
         f"{statistics.median(b / a for a, b in zip(quiet, busy)):.2f}x")


def idle_connections(beryl, count=5000):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * count), hard))
    before, clients = beryl.resident(), []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", beryl.port))
        client.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.recv(4096)
        clients.append(client)
    after = beryl.resident()
    line(f"memory of {count:,} idle connections", f"{(after - before) / 1e6:.1f} MB ({after / 1e6:.1f} MB in all)")
    for client in clients:
        client.close()


def flat_memory(beryl, requests):
    rate, done, seen = wrk(beryl, PREDICT, 2).rate, 0, []
    while done < requests:
        seconds = max(1, min(60, round((requests - done) / rate)))
        done += wrk(beryl, PREDICT, seconds).rate * seconds
        seen.append(f"{beryl.resident() / 1e6:.1f}")
    line(f"memory over {done:,.0f} cached requests", ", ".join(seen) + " MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beryl", type=pathlib.Path, default=ROOT / "build/release/beryl")
    parser.add_argument("--seconds", type=int, default=5, help="of each look")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=500_000, help="over which memory is looked at")
    parser.add_argument("--upload", type=int, metavar="MB", help="only an upload of that size")
    args = parser.parse_args()
    if args.upload:
        upload(args.beryl.resolve(), args.upload)
        return
    if not shutil.which("wrk") or os.cpu_count() < 2:
        sys.exit("this needs wrk and two CPUs")
    # A server for each, so that what one leaves in memory is not the other's.
    with tempfile.TemporaryDirectory(prefix="beryl-bench-") as folder:
        for look in (lambda beryl: compare_with_flask(beryl, pathlib.Path(folder), args.seconds, args.rounds),
                     lambda beryl: slow_clients(beryl, args.seconds, args.rounds),
                     lambda beryl: flat_memory(beryl, args.requests),
                     lambda beryl: idle_connections(beryl),
                     lambda beryl: (uncached(beryl, args.seconds, args.rounds), idle_connections(beryl))):
            beryl = Beryl(args.beryl.resolve())
            try:
                get(beryl.url + PREDICT, gzip=True)
                look(beryl)
            finally:
                beryl.end()


if __name__ == "__main__":
    main()
