#!/usr/bin/env python3
"""Runs the real monitor among clients that mean it no good. Ends with "N passed, N failed"."""

import os
import pathlib
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cases  # noqa: E402
from cases import case  # noqa: E402
from grpc_client import (PREFACE, HEADERS, SETTINGS, Client, Refused, connect, frame,  # noqa: E402
                         header, number, numbers)

SERVICE = "beryl.monitor.v1.Monitor/"
STRANGER, ANOTHER = 12345, 12346

class Bench:
    """One case's folder and the monitor in it, on Unix sockets, on a machine without meters."""

    def __init__(self, monitor, folder):
        self.program, self.folder, self.process = monitor, folder, None
        (folder / "sys").mkdir()
        self.socket, self.metrics = folder / "s", folder / "m"
        self.env = dict(os.environ, BERYL_SYSFS=str(folder / "sys"), BERYL_NVML="/nonexistent.so", TMPDIR=str(folder))
        self.told, self.say = os.pipe()
        folder.chmod(0o755)

    def start(self, *arguments, descriptors=None):
        def limit():
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        self.process = subprocess.Popen(
            [self.program, "--listen", f"unix:{self.socket}", "--metrics", f"unix:{self.metrics}", *arguments],
            env=self.env, stderr=self.say, preexec_fn=limit)
        self.wait_for("listening on")

    def wait_for(self, words):
        text = b""
        while words.encode() not in text:
            text += os.read(self.told, 65536)
        return text.decode()

    def fill_stderr(self):
        os.set_blocking(self.say, False)
        for size in (4096, 1):
            try:
                while True:
                    os.write(self.say, b"x" * size)
            except BlockingIOError:
                pass
        os.set_blocking(self.say, True)

    def read_stderr(self):
        os.set_blocking(self.told, False)
        text = b""
        try:
            while True:
                text += os.read(self.told, 65536)
        except BlockingIOError:
            pass
        os.set_blocking(self.told, True)
        return text

    def scrape(self, uid=None):
        with connect(self.metrics, uid) as client:
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            return receive_all(client)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(100) == 0, self.process.returncode


def receive_all(client):
    answer = b""
    while part := client.recv(65536):
        answer += part
    return answer.decode()


def malformed_request(path):
    """A call whose headers gRPC complains about, with a line of the log's own form in them."""
    forged = b"1x\nberyl monitor: forged\r\x1b[2J"
    headers = b"".join(header(*one) for one in (
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/x"), (b"te", b"trailers"),
        (b"content-type", b"application/grpc"), (b"grpc-timeout", forged), (b"grpc-encoding", forged),
        (b"grpc-previous-rpc-attempts", forged)))
    with connect(path) as client:
        try:
            client.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 5, 1, headers) + frame(99, 255, 7, forged))
            client.settimeout(0.05)
            client.recv(65536)
        except OSError:
            pass  # refused, or nothing to say


@case
def missing_folder_is_said_at_start(bench):
    done = subprocess.run([bench.program, "--listen", f"unix:{bench.socket}", "--folder", bench.folder / "gone"],
                          env=bench.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "listening" not in done.stderr, done
    assert f"'{bench.folder}/gone': cannot keep the recordings" in done.stderr, done.stderr
    assert "--folder" in done.stderr, done.stderr


@case
def full_stderr_stops_nothing(bench):
    bench.start()
    bench.fill_stderr()
    for _ in range(402):
        malformed_request(bench.socket)
    assert "beryl_sessions 0" in bench.scrape()
    bench.end()


@case
def nobody_forges_log_lines(bench):
    bench.start()
    for _ in range(50):
        malformed_request(bench.socket)
    bench.end()
    log = bench.read_stderr()
    assert log.count(b"\n") <= 20, log
    for line in log.splitlines():
        assert line.startswith(b"beryl monitor: ") and not line.startswith(b"beryl monitor: forged"), log
        assert b"\x1b" not in line and b"\r" not in line, log


@case
def idle_connections_do_not_delay_a_scrape(bench):
    bench.start()
    idle = [connect(bench.metrics) for _ in range(12)]
    for one in idle[:6]:
        one.sendall(b"GET /metr")
    began = time.monotonic()
    answer = bench.scrape()
    # Of connections that are served one after the other, each would take three seconds.
    assert time.monotonic() - began < 15, "the scrape waited for others"
    assert answer.startswith("HTTP/1.1 200 OK\r\n") and "beryl_sessions 0" in answer, answer
    # Half a request is waited for three seconds.
    assert receive_all(idle[0]).startswith("HTTP/1.1 408 ")
    bench.end()


@case
def sockets_are_for_everybody(bench):
    before = os.umask(0o077)
    bench.start()
    os.umask(before)
    for path in (bench.socket, bench.metrics):
        assert stat.S_IMODE(os.lstat(path).st_mode) == 0o666, path
    bench.end()
    assert not bench.socket.exists() and not bench.metrics.exists()


@case
def a_link_in_place_of_the_socket_is_refused(bench):
    secret = bench.folder / "secret"
    secret.touch(0o600)
    bench.socket.symlink_to(secret)
    done = subprocess.run([bench.program, "--listen", f"unix:{bench.socket}"], env=bench.env, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and "cannot listen" in done.stderr, done
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def needs_root(function):
    """A case that acts as several users."""
    def run(bench):
        if os.geteuid() == 0:
            function(bench)
        else:
            print(f"      {function.__name__}: skipped, as it needs root")
    run.__name__ = function.__name__
    return run


class Process:
    """One of that user, which has done `work` and stays until it is killed."""

    def __init__(self, uid, work):
        ready, say = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
                work()
                os.write(say, b"ready")
                time.sleep(1000)
            finally:
                os._exit(1)
        os.close(say)
        with open(ready, "rb") as told:
            assert told.read(5) == b"ready"

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def sleep_in_threads(count):
    threading.stack_size(65536)
    try:
        for _ in range(count):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    except RuntimeError:
        pass  # a container may have a limit


def owner(pid):
    """Whom it runs as."""
    uids = next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("Uid:"))
    return int(uids.split()[2])


def start_session(client, *pids):
    request = b"".join(number(1, pid) for pid in pids)
    return numbers(client.call(SERVICE + "Start", request)[0])[1]


def refused_sessions(client, count, pid):
    refused = 0
    for _ in range(count):
        try:
            start_session(client, pid)
        except Refused as error:
            assert error.status == 8, error  # RESOURCE_EXHAUSTED
            refused += 1
    return refused


def hold_connections(path, held, refused):
    """Makes a hundred that say nothing, and waits until so many of them are refused."""
    left = [connect(path, STRANGER) for _ in range(100)]
    held += left
    while len(left) > 100 - refused:
        for one in select.select(left, [], [])[0]:
            answer = one.recv(4096)
            if answer == b"" or answer.startswith(b"HTTP/1.1 429 "):
                left.remove(one)


@case
@needs_root
def a_stranger_leaves_room_for_root(bench):
    bench.start(descriptors=1024)
    theirs = Process(STRANGER, lambda: sleep_in_threads(3000))
    other = Process(ANOTHER, lambda: None)
    held = []
    try:
        client = Client(bench.socket, STRANGER)
        refused = refused_sessions(client, 100, theirs.pid)
        threads = len(os.listdir(f"/proc/{theirs.pid}/task"))
        assert (refused > 0 or threads < 3000) and refused < 100, f"{refused} of 100 sessions were refused"
        # A user has 64 connections, of which one is the client's, and 16 to the metrics.
        hold_connections(bench.socket, held, 37)
        hold_connections(bench.metrics, held, 84)
        # Root last: what it watches may take all that is left.
        for uid, pid in ((ANOTHER, other.pid), (None, theirs.pid), (None, other.pid)):
            with Client(bench.socket, uid) as one:
                start_session(one, pid)
                start_session(one)
                sessions = one.call(SERVICE + "List")[0]
                assert (number(4, STRANGER) in sessions) == (uid is None), sessions
            answer = bench.scrape(uid)
            assert "beryl_sessions" in answer, answer
    finally:
        for one in held:
            one.close()
        theirs.kill()
        other.kill()
    bench.end()


@case
@needs_root
def descendants_of_another_user_are_not_told_apart(bench):
    bench.start()
    secret = bench.folder / "secret-work"
    shutil.copy(shutil.which("sleep"), secret)
    os.chown(secret, ANOTHER, ANOTHER)
    secret.chmod(0o4755)  # becomes the other user
    children = []
    theirs = Process(STRANGER, lambda: [subprocess.Popen([name, "1000"]) for name in (secret, "sleep")])
    try:
        owners = set()
        while owners != {STRANGER, ANOTHER}:  # forever, if the file system lets nobody become another user
            children = pathlib.Path(f"/proc/{theirs.pid}/task/{theirs.pid}/children").read_text().split()
            owners = {owner(pid) for pid in children}
        told = {}
        for uid in (STRANGER, None):
            with Client(bench.socket, uid) as client:
                session = start_session(client, theirs.pid)
                time.sleep(0.5)
                told[uid] = client.call(SERVICE + "Read", number(1, session))[0].decode(errors="replace")
        assert '"sleep"' in told[STRANGER] and "secret-work" not in told[STRANGER], told[STRANGER]
        assert "secret-work" in told[None], told[None]
    finally:
        for pid in children:
            os.kill(int(pid), signal.SIGKILL)
        theirs.kill()
    bench.end()


def main():
    parser = cases.parser(__doc__, "monitor")
    arguments = parser.parse_args()
    monitor = arguments.monitor.resolve()
    benches = []

    def start(folder):
        benches.append(Bench(monitor, folder))
        return benches[-1]

    try:
        return cases.run("monitor", arguments.filter, start)
    finally:
        for bench in benches:
            if bench.process and bench.process.poll() is None:
                bench.process.kill()


if __name__ == "__main__":
    sys.exit(main())
