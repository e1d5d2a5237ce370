#!/usr/bin/env python3
"""How much `beryl serve` answers on one core, with wrk on another, beside a Flask endpoint (gunicorn) that returns the
same bytes from memory, in the same run. Needs wrk (Debian's package) and, for the peer, PyPI; installs Flask in
build/venv-bench. Build the release preset first. Everything is on loopback, and ends.

  bench/serve_load.py                     # all of it, about two minutes
  bench/serve_load.py --requests 10000000 # and a long look at memory
  bench/serve_load.py --upload 1000       # only the upload of a trace of so many megabytes, beside `beryl import`
"""

import argparse
import http.client
import json
import os
import random
import pathlib
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


class Beryl:
    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--threads", "1", *options],
                                        stderr=subprocess.PIPE, text=True, preexec_fn=pinned(0),
                                        env={**os.environ, "XDG_DATA_HOME": tempfile.gettempdir() + "/beryl-bench-data"})
        said = self.process.stderr.readline()
        self.url = re.search(r"http://[0-9.:]+", said)[0]
        self.port = int(self.url.rsplit(":", 1)[1])

    def resident(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def end(self):
        self.process.terminate()
        self.process.wait(30)


class Flask:
    """The peer; None if it cannot be had."""

    def __init__(self, folder, plain, packed):
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
        self.process = subprocess.Popen(
            [environment / "bin/gunicorn", "-b", f"127.0.0.1:{port}", "-w", "1", "-k", "gthread", "--threads", "8",
             "--keep-alive", "60", "--log-level", "error", "app:app"], cwd=folder, preexec_fn=pinned(0))
        for _ in range(300):
            try:
                urllib.request.urlopen(self.url + "/predict", timeout=5).read()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("gunicorn does not answer")

    def end(self):
        self.process.terminate()
        self.process.wait(30)


def wrk(url, seconds, connections=64, script=None, gzip=True):
    """Requests per second, and latencies by percentile in milliseconds."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s"]
    if gzip:
        command += ["-H", "Accept-Encoding: gzip"]
    if script:
        command += ["-s", script]
    said = subprocess.run([*command, url], check=True, capture_output=True, text=True, preexec_fn=pinned(1)).stdout
    assert "Non-2xx" not in said and "Socket errors" not in said, said
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    latency = {int(share): float(number) * unit[name]
               for share, number, name in re.findall(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s)$", said, re.M)}
    return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]), latency


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
    print(f"{what:58} {value}", flush=True)


def compare_with_flask(beryl, folder, seconds, rounds):
    plain, packed = get(beryl.url + PREDICT), get(beryl.url + PREDICT, gzip=True)
    flask = Flask(folder, plain, packed)
    try:
        for name, gzip, size in (("gzip", True, len(packed)), ("not compressed", False, len(plain))):
            ours, theirs, tails = [], [], []
            for _ in range(rounds):
                rate, latency = wrk(beryl.url + PREDICT, seconds, gzip=gzip)
                ours.append(rate)
                tails.append(latency[99])
                theirs.append(wrk(flask.url + "/predict", seconds, gzip=gzip)[0])
            line(f"cached predict, {name}, {size:,} bytes: requests/s", f"{statistics.median(ours):,.0f}")
            line("  p99", f"{statistics.median(tails):.2f} ms")
            line("  Flask with the same bytes from memory: requests/s", f"{statistics.median(theirs):,.0f}")
            line("  ratio", f"{statistics.median(a / b for a, b in zip(ours, theirs)):.1f}")
    finally:
        flask.end()


def slow_clients(beryl, seconds, rounds, count=200):
    def connect():
        client = socket.create_connection(("127.0.0.1", beryl.port))
        client.send(b"G")
        return client

    quiet, busy = [], []
    for _ in range(rounds):
        quiet.append(wrk(beryl.url + PREDICT, seconds)[1][99])
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
        busy.append(wrk(beryl.url + PREDICT, seconds)[1][99])
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
    rate, done, seen = wrk(beryl.url + PREDICT, 2)[0], 0, []
    while done < requests:
        seconds = max(1, min(60, round((requests - done) / rate)))
        done += wrk(beryl.url + PREDICT, seconds)[0] * seconds
        seen.append(f"{beryl.resident() / 1e6:.1f}")
    line(f"memory over {done:,.0f} cached requests, MB", ", ".join(seen))


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
    beryl = Beryl(args.beryl.resolve())
    with tempfile.TemporaryDirectory(prefix="beryl-bench-") as folder:
        try:
            get(beryl.url + PREDICT, gzip=True)
            compare_with_flask(beryl, pathlib.Path(folder), args.seconds, args.rounds)
            rate, latency = wrk(beryl.url + "/api/v1/predict?model=bert-base-uncased&seq=128&batch=", args.seconds,
                                script=ROOT / "bench/serve_load.lua")
            line("uncached, every request another batch size: requests/s", f"{rate:,.0f}, p99 {latency[99]:.1f} ms")
            slow_clients(beryl, args.seconds, args.rounds)
            idle_connections(beryl)
            flat_memory(beryl, args.requests)
        finally:
            beryl.end()


if __name__ == "__main__":
    main()
