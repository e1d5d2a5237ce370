#!/usr/bin/env python3
"""The real server among clients of all kinds, line by line of what docs/serve.md promises. Ends with
"N passed, N failed"."""

import gzip
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import cases  # noqa: E402
import hostile  # noqa: E402,F401
import remote  # noqa: E402,F401
import visitors  # noqa: E402,F401
from cases import case  # noqa: E402
from client import PREDICT, Connection, Server, eventually, request  # noqa: E402


# ---- What it answers

@case
def predicts_the_bytes_of_the_command(server):
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    try:
        server.start()
        said = subprocess.run([server.beryl, "predict", "bert-base-uncased", "--batch", "8", "--seq", "128", "--format",
                               "json"], check=True, capture_output=True)
    finally:
        del os.environ["SOURCE_DATE_EPOCH"]
    answer = server.ask(PREDICT)
    assert answer.status == 200 and answer["content-type"] == "application/json", answer
    assert answer.body == said.stdout


@case
def keeps_a_connection_and_answers_in_order(server):
    server.start()
    with server.connect() as client:
        for batch in (1, 2, 3):
            answer = client.ask(f"/api/v1/predict?model=gpt2&batch={batch}&format=csv")
            assert answer.status == 200 and not answer["connection"], answer
        # In one piece, with bodies between them, and what is slower first.
        config = client.ask("/api/v1/models/gpt2").body
        wanted = [200, 404, 200, 400, 200, 200]
        client.send(request("/api/v1/predict?model=gpt2&sweep=batch=1,2,3,4") + request("/none") +
                    request("/healthz", "HEAD") + request("/api/v1/predict?batch=x") +
                    request("/api/v1/describe?format=csv", "POST", config) + request("/healthz"))
        methods = ["GET", "GET", "HEAD", "GET", "POST", "GET"]
        assert [client.answer(method).status for method in methods] == wanted
        assert client.ask("/healthz", connection="close")["connection"] == "close"
        assert client.is_closed()
    with server.connect() as client:  # what follows a body that nobody wanted is not looked at
        client.send(request("/api/v1/models", "POST", b"xyz") + request("/healthz"))
        assert client.answer()["connection"] == "close" and client.is_closed()
    with server.connect() as client:
        assert client.ask("/healthz", version="1.0").status == 200 and client.is_closed()
    with server.connect() as client:
        for _ in range(2):
            assert client.ask("/healthz", version="1.0", connection="keep-alive")["connection"] == "keep-alive"
    with server.connect() as client:
        client.send(request("/healthz") * 500)
        assert all(client.answer().body == b"ok\n" for _ in range(500))


@case
def compresses_once(server):
    server.start()
    plain = server.ask(PREDICT)
    before = server.metrics()
    packed = [server.ask(PREDICT, accept_encoding="br, gzip;q=0.5") for _ in range(3)]
    after = server.metrics()
    assert plain["vary"] == "accept-encoding" and not plain["content-encoding"], plain
    for answer in packed:
        assert answer["content-encoding"] == "gzip" and gzip.decompress(answer.body) == plain.body
        assert len(answer.body) < len(plain.body) / 4 and answer["etag"] != plain["etag"]
    assert after["beryl_http_answers_from_memory_total"] - before["beryl_http_answers_from_memory_total"] == 3
    # The packed form is kept beside the plain one, once, though three asked for it.
    grown = after["beryl_http_kept_answers_bytes"] - before["beryl_http_kept_answers_bytes"]
    assert grown == len(packed[0].body), (grown, len(packed[0].body))
    assert not server.ask(PREDICT, accept_encoding="gzip;q=0")["content-encoding"]


@case
def checks_tags(server):
    server.start()
    first = server.ask(PREDICT)
    tag = first["etag"]
    assert re.fullmatch('"[0-9a-f]{32}"', tag) and first["cache-control"] == "no-cache", first
    assert server.ask(PREDICT)["etag"] == tag
    assert server.ask(PREDICT.replace("=8", "=9"))["etag"] != tag
    for wanted in (tag, f'"x", {tag}', f"W/{tag}", "*"):
        same = server.ask(PREDICT, if_none_match=wanted)
        assert same.status == 304 and same.body == b"" and same["etag"] == tag, (wanted, same)
    assert server.ask(PREDICT, if_none_match='"x"').status == 200
    packed = server.ask(PREDICT, accept_encoding="gzip")["etag"]
    assert server.ask(PREDICT, accept_encoding="gzip", if_none_match=packed).status == 304
    # What does not depend on the time has the same tag when the server was started again.
    config = server.ask("/api/v1/models/gpt2")["etag"]
    server.end()
    assert server.start().ask("/api/v1/models/gpt2")["etag"] == config
    assert server.ask("/healthz")["cache-control"] == "no-store"


@case
def answers_head_as_get_without_a_body(server):
    server.start()
    for target in (PREDICT, "/healthz", "/none", "/api/v1/predict?batch=x"):
        with server.connect() as client:
            got, headed = client.ask(target), client.ask(target, "HEAD")
            got.fields.pop("date"), headed.fields.pop("date")
            assert got.status == headed.status and got.fields == headed.fields, (got, headed)
            assert headed.body == b"" and client.ask("/healthz").body == b"ok\n"


@case
def serves_its_contract(server):
    server.start()
    contract = server.ask("/api/v1/openapi.yaml")
    assert contract.status == 200 and b"openapi: 3.1.0" in contract.body
    schemas = set(re.findall(r"\$ref: (/api/v1/schemas/[a-z0-9.-]+)", contract.body.decode()))
    assert len(schemas) > 3
    for schema in schemas:
        assert json.loads(server.ask(schema).body)["$schema"], schema


# ---- How it runs

@case
def finishes_what_runs_when_it_ends(server):
    server.start()
    idle, asking = server.connect(), server.connect()
    assert idle.ask("/healthz").status == 200
    before = server.metrics()["beryl_server_cpu_seconds_total"]
    # Hundreds of variants take a while.
    asking.send(request("/api/v1/predict?model=bert-large-uncased&sweep=batch=" + ",".join(map(str, range(1, 200)))))
    eventually(lambda: server.metrics()["beryl_server_cpu_seconds_total"] > before)
    server.process.terminate()
    answer = asking.answer()
    assert answer.status == 200 and b"beryl.sweep/" in answer.body, answer
    assert idle.is_closed()
    assert server.process.wait(60) == 0
    try:
        server.connect()
        raise AssertionError("it still listens")
    except ConnectionRefusedError:
        pass


@case
def tells_what_it_did(server):
    server.start("--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--listen", f"unix:{server.folder}/socket")
    for which in (0, 1):
        with server.connect(which) as client:
            for target in (PREDICT, PREDICT, "/none", "/api/v1/predict?model=none"):
                client.ask(target)
    with Connection(socket.AF_UNIX, f"{server.folder}/socket") as client:
        assert client.ask("/healthz").status == 200
    count = 'beryl_http_requests_total{{route="{}",status="{}"}}'
    eventually(lambda: count.format("/healthz", 200) in server.metrics())  # each address has a thread
    values = server.metrics()
    assert values[count.format("/api/v1/predict", 200)] == 4, values
    assert values[count.format("/api/v1/predict", 422)] == 2, values
    assert values[count.format("", 404)] == 2, values
    assert values[count.format("/healthz", 200)] == 1, values
    assert values["beryl_http_answers_from_memory_total"] == 2, values
    times = [(float(name.split('le="')[1].rstrip('"}')), value) for name, value in values.items()
             if name.startswith('beryl_http_request_duration_seconds_bucket{route="/api/v1/predict",')]
    assert [value for _, value in times] == sorted(value for _, value in times) and times[-1] == (float("inf"), 6)
    assert values['beryl_http_request_duration_seconds_count{route="/api/v1/predict"}'] == 6
    assert values['beryl_http_request_duration_seconds_sum{route="/api/v1/predict"}'] > 0
    assert values["beryl_server_cpu_seconds_total"] > 0
    page = server.ask("/metrics").body.decode().splitlines()
    kinds = [line.split()[2] for line in page if line.startswith("# TYPE ")]
    assert len(kinds) == len(set(kinds)), "each family is there once"


@case
def serves_what_the_dashboard_asks_for(server):
    server.start()
    dashboard = (HERE.parents[1] / "docs/grafana/beryl.json").read_text()
    asked = set(re.findall(r"\bberyl_(?:http|server)_[a-z_]+", dashboard))
    assert len(asked) > 2, asked
    eventually(lambda: asked <= {name.split("{")[0] for name in server.metrics()})


@case
def tells_its_own_energy(server):
    server.start()

    def energy():
        found = {name: value for name, value in server.metrics().items() if name.startswith("beryl_server_energy_")}
        assert all('beryl_origin="' in name for name in found)
        return sum(found.values())

    eventually(lambda: energy() > 0)
    first, batch = energy(), 0
    deadline = time.monotonic() + 60
    while energy() <= first:
        assert time.monotonic() < deadline
        batch += 1
        server.ask(f"/api/v1/predict?model=gpt2&batch={batch}")


@case
def logs_each_request(server):
    server.start("--access-log", "log")
    server.ask(PREDICT)
    server.ask('/none?a="b')
    server.ask("/" + "%0a" * 2000)
    server.status("GET /bad")
    log = server.folder / "log"
    eventually(lambda: len(log.read_text().splitlines()) == 4)
    first, none, long, bad = map(json.loads, log.read_text().splitlines())
    assert first["route"] == "/api/v1/predict" and first["status"] == 200 and first["bytes"] > 1000, first
    assert first["method"] == "GET" and first["peer"] == "127.0.0.1" and first["seconds"] > 0, first
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"]), first
    assert none["status"] == 404 and none["route"] == "" and none["path"] == "/none", none
    assert long["status"] == 404 and long["path"].startswith("/%0a") and bad["status"] == 400
    # Whoever rotates logs renames it, and then sends SIGHUP.
    log.rename(server.folder / "log.1")
    server.hang_up()("read again")
    server.ask("/healthz")
    eventually(lambda: log.exists() and len(log.read_text().splitlines()) == 1)
    server.end()
    server.start("--access-log", "log").ask("/healthz")  # nothing is lost
    eventually(lambda: len(log.read_text().splitlines()) == 2)


@case
def a_log_that_nobody_reads_delays_nobody(server):
    ours, theirs = os.pipe()
    server.start("--access-log", "-", stdout=theirs)
    with server.connect() as client:
        for _ in range(1500):  # more than a pipe holds
            client.send(request("/healthz?" + "x" * 200) * 2)
            assert client.answer().status == client.answer().status == 200
        os.set_blocking(ours, False)
        lines = bytearray()

        def reads_a_lost():
            try:
                lines.extend(os.read(ours, 1 << 16))
            except BlockingIOError:
                client.ask("/healthz")  # the next line says how many were lost
            return b'{"lost":' in lines
        eventually(reads_a_lost)
    for line in lines.rpartition(b"\n")[0].decode().splitlines():
        json.loads(line)
    os.close(ours)
    os.close(theirs)


@case
def takes_a_socket_that_systemd_opened(server):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    script = f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
    server.start(command=["/bin/bash", "-c", script, "sh", server.beryl, "serve"], pass_fds=[listener.fileno()])
    server.ports = [listener.getsockname()[1]]
    listener.close()
    assert server.ask("/healthz").status == 200
    server.end()


def main():
    parser = cases.parser(__doc__)
    parser.add_argument("--requests", type=int, default=2000, help="that are mutated")
    args = parser.parse_args()
    servers = []

    def start(folder):
        while servers:
            servers.pop().close()
        server = Server(args.beryl.resolve(), folder)
        server.requests = args.requests
        servers.append(server)
        return server

    try:
        return cases.run("server", args.filter, start)
    finally:
        while servers:
            servers.pop().close()


if __name__ == "__main__":
    sys.exit(main())
