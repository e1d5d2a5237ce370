"""Clients that mean the server no good."""

import concurrent.futures
import os
import random as randomness
import socket
import time

from cases import case
from client import PREDICT, eventually, request


@case
def refuses_what_can_be_read_in_two_ways(server):
    server.start()
    get, post = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "POST /api/v1/describe HTTP/1.1\r\nHost: localhost\r\n"
    good_chunk, chunked = "1\r\nx\r\n0\r\n\r\n", post + "Transfer-Encoding: chunked\r\n"
    refused = {
        # lengths
        post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n" + good_chunk: 400,
        post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n" + good_chunk: 400,
        post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy": 400,
        post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx": 400,
        post + "Content-Length: 1, 1\r\n\r\nx": 400,
        post + "Content-Length: -1\r\n\r\nx": 400,
        post + "Content-Length: +1\r\n\r\nx": 400,
        post + "Content-Length: 0x1\r\n\r\nx": 400,
        post + "Content-Length: 1e0\r\n\r\nx": 400,
        post + "Content-Length: 99999999999999999999\r\n\r\nx": 400,
        post + "Content-Length: 5\r\n\r\nx": 400,
        # encodings
        post + "Transfer-Encoding: gzip\r\n\r\n": 501,
        post + "Transfer-Encoding: gzip, chunked\r\n\r\n" + good_chunk: 501,
        post + "Transfer-Encoding: identity\r\n\r\n": 501,
        post + "Transfer-Encoding: xchunked\r\n\r\n" + good_chunk: 501,
        post + "Transfer-Encoding: chunked, chunked\r\n\r\n" + good_chunk: 501,
        post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + good_chunk: 400,
        chunked.replace("1.1", "1.0") + "\r\n" + good_chunk: 400,
        # chunks
        chunked + "\r\nx\r\ny\r\n0\r\n\r\n": 400,
        chunked + "\r\n-1\r\ny\r\n0\r\n\r\n": 400,
        chunked + "\r\n0x1\r\ny\r\n0\r\n\r\n": 400,
        chunked + "\r\n 1\r\ny\r\n0\r\n\r\n": 400,
        chunked + "\r\n1 \r\ny\r\n0\r\n\r\n": 400,
        chunked + "\r\n1\ny\n0\n\n": 400,
        chunked + "\r\n1\r\nyy\r\n0\r\n\r\n": 400,
        chunked + "\r\nfffffffffffffffff\r\ny\r\n0\r\n\r\n": 400,
        chunked + "\r\n1\r\ny\r\n": 400,
        chunked + "\r\n1;" + "x" * 20000 + "\r\ny\r\n0\r\n\r\n": 431,
        chunked + "\r\n1\r\ny\r\n0\r\nx: " + "y" * 20000 + "\r\n\r\n": 431,
        chunked + "\r\n1\r\ny\r\n0\r\n" + "x: y\r\n" * 4000 + "\r\n": 431,
        # characters
        get + "X: a\0b\r\n\r\n": 400,
        get + "X: a\x01b\r\n\r\n": 400,
        get + "X: a\x7fb\r\n\r\n": 400,
        get + "X: a\rb\r\n\r\n": 400,
        get + "X : a\r\n\r\n": 400,
        get + "X\r\n\r\n": 400,
        get + ": a\r\n\r\n": 400,
        get + "\x0bX: a\r\n\r\n": 400,
        "GET /health\x01z HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
        "GET /healthz\x7f HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
        "G\x01T /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
        "GET /healthz HTTP/1.1 \r\nHost: localhost\r\n\r\n": 505,
        # hosts, targets and versions
        get + "Host: localhost\r\n\r\n": 400,
        get + "Host: evil.example.org\r\n\r\n": 400,
        "GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
        "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
        "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
        "GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n": 505,
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": 505,
        "GET /healthz\r\n\r\n": 400,
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03": 400,  # TLS
        post + "Expect: 200-maybe\r\nContent-Length: 1\r\n\r\n": 417,
    }
    for data, status in refused.items():
        # Whatever follows is not taken for a second request.
        assert server.status(data) == status, (data[:200], server.status(data), status)
        with server.connect() as client:
            client.send(data)
            client.socket.shutdown(socket.SHUT_WR)
            answer = client.answer()
            assert answer["connection"] == "close" and answer["content-type"] == "application/problem+json", answer
            assert client.answer() is None, data[:200]
    config = server.ask("/api/v1/models/gpt2").body.decode()
    good = chunked + f"\r\n{len(config) - 1:X};a=b\r\n{config[:-1]}\r\n1\r\n{config[-1]}\r\n0\r\nx: y\r\n\r\n"
    assert server.status(good) == 200


@case
def each_limit_has_its_status(server):
    server.start("--limit-connections", 3, "--head-time", "300ms", "--body-time", "300ms", "--idle-time", "1500ms")
    assert server.status(request("/healthz", x="y" * 17000)) == 431
    assert server.status(request("/healthz?" + "y" * 9000)) == 414
    mebibyte = 1 << 20
    assert server.status(request("/api/v1/describe", "POST", content_length=mebibyte + 1)) == 413
    assert server.status(request("/api/v1/describe", "POST", transfer_encoding="chunked") +
                         b"100001\r\n" + b" " * (mebibyte + 1)) == 413
    assert server.status(request("/healthz", "GET", b"x" * 70000)) in (200, 413)
    # The time is for the whole head and the whole body, however many bytes keep coming.
    for begin in (b"GET /healthz HTTP/1.1\r\n", request("/api/v1/describe", "POST", content_length=9000)):
        with server.connect() as client:
            client.send(begin)
            began = time.monotonic()
            client.socket.settimeout(0.05)
            while True:
                try:
                    client.send(b"x")
                    if client.more():
                        break
                except socket.timeout:
                    assert time.monotonic() - began < 30
            client.socket.settimeout(30)
            assert client.answer().status == 408
    with server.connect() as client:
        assert client.ask("/healthz").status == 200
        assert client.is_closed()  # idle for too long
    held = []

    def hold_all():  # as soon as those before are gone
        held.append(server.connect())
        if held[-1].ask("/healthz").status != 200:
            held.pop()
        return len(held) == 3

    eventually(hold_all)
    refused = server.connect().answer()
    assert refused.status == 503 and refused["retry-after"], refused
    for client in held:
        client.socket.close()
    eventually(lambda: server.connect().ask("/healthz").status == 200)


@case
def takes_answers_to_the_end_only_in_time(server):
    """A client that asks for much and reads nothing loses its connection, and delays nobody."""
    server.start("--body-time", "200ms")
    with server.connect() as greedy:
        greedy.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        greedy.send(request(PREDICT, accept_encoding="gzip") * 3000)
        assert server.ask("/healthz").status == 200
        eventually(lambda: server.metrics()["beryl_http_connections"] == 1)


@case
def slow_clients_delay_nobody(server):
    server.start()
    server.ask(PREDICT)
    slow = [server.connect() for _ in range(200)]
    with server.connect() as client:
        for number in range(200):
            slow[number].send("GET"[number % 3])
            assert client.ask(PREDICT).status == 200
    for one in slow:
        one.socket.close()
    eventually(lambda: server.metrics()["beryl_http_connections"] == 1)


@case
def clients_may_go_away_at_any_time(server):
    server.start()
    whole = request("/api/v1/describe", "POST", server.ask("/api/v1/models/gpt2").body)
    for cut in range(0, len(whole), max(1, len(whole) // 60)):
        with server.connect() as client:
            client.send(whole[:cut])
            if cut % 2:  # RST instead of FIN
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    for number in range(60):  # while the answer is made and sent
        with server.connect() as client:
            client.send(request(f"/api/v1/predict?model=gpt2&batch={number + 1}") * 3)
    eventually(lambda: server.metrics()["beryl_http_connections"] == 1)
    assert server.ask("/healthz").status == 200


def mutated(random, seeds):
    """A request as somebody sends it who means it no good."""
    data = bytearray(random.choice(seeds))
    for _ in range(random.choice((0, 1, 1, 2, 4, 8))):
        at, kind = random.randrange(len(data) + 1), random.randrange(6)
        if kind == 0:
            data[at:at] = random.choice((b"\r\n", b"\0", b" ", b":", b"%", b"\xff", b"Content-Length: 7\r\n", b"&", b"=",
                                         b"Transfer-Encoding: chunked\r\n", b"9" * 30, b"\n", b"../", b"%00", b";"))
        elif kind == 1 and at < len(data):
            data[at] = random.randrange(256)
        elif kind == 2:
            del data[at:at + random.choice((1, 2, 8, 64))]
        elif kind == 3:
            data[at:at] = data[at:at + random.randrange(64)]
        elif kind == 4:
            data[at:at] = random.randbytes(random.randrange(16))
        elif at:
            other = random.choice(seeds)
            data[at:] = other[random.randrange(len(other)):]
    return bytes(data)


@case
def survives_mutated_requests(server):
    seed = int(os.environ.get("BERYL_SEED", randomness.randrange(1 << 32)))
    count = server.requests
    server.start("--head-time", "2s", "--body-time", "2s")
    config = server.ask("/api/v1/models/gpt2").body
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(config), config)
    seeds = [
        request(PREDICT), request("/api/v1/describe?model=gpt2&depth=2"), request("/metrics"), request("/healthz"),
        request("/api/v1/predict", "POST", config), request("/api/v1/models/gpt2", "HEAD"),
        request("/api/v1/describe", "POST", transfer_encoding="chunked") + chunks,
        request("/api/v1/predict?model=gpt2&sweep=batch=1,2&set=n_layer:2&profile=h100,a100&format=csv"),
        request("/api/v1/profiles/h100", if_none_match='"x"', accept_encoding="gzip"),
        request("/api/v1/login", "POST", b"x" * 64), request("/api/v1/openapi.yaml", version="1.0"),
        request("/api/v1/models?pattern=*bert*", "OPTIONS", origin="http://localhost"),
    ]
    allowed = {200, 204, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 421, 422, 431, 501, 505}

    def run(thread):
        random = randomness.Random(f"{seed} {thread}")
        seen = {}
        for _ in range(count // 4):
            data = mutated(random, seeds)
            if random.random() < 0.2:
                data += mutated(random, seeds)
            with server.connect() as client:
                client.send(data)
                try:
                    client.socket.shutdown(socket.SHUT_WR)
                    answer = client.answer("HEAD" if data.startswith(b"HEAD") else "GET")
                except OSError:
                    continue  # it was closed before all was read
                status = answer and answer.status
                assert status is None or status in allowed, (seed, status, data)
                seen[status] = seen.get(status, 0) + 1
        return seen

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        seen = list(threads.map(run, range(4)))
    statuses = {status for one in seen for status in one}
    assert {200, 400, 404} <= statuses, (seed, statuses)
    assert server.ask("/healthz").status == 200, seed
    server.end()
    assert not [line for line in server.said if line and "ERROR" in line], (seed, server.said)
