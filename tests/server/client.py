"""A client of HTTP that sends any bytes, and the server that it sends them to."""

import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time

TIMEOUT_S = 60  # long, because machines are slow; nothing waits for it
PREDICT = "/api/v1/predict?model=bert-base-uncased&batch=8&seq=128"
TOKEN = "0123456789abcdef" * 4


class Answer:
    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.version, status, self.reason = lines[0].split(" ", 2)
        self.status, self.body = int(status), body
        self.fields = {}
        for line in lines[1:]:
            name, value = line.split(": ", 1)
            self.fields.setdefault(name.lower(), []).append(value)

    def __getitem__(self, name):
        return ", ".join(self.fields.get(name, []))

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:300]}"


class Connection:
    """One connection; bytes go out as they are given."""

    def __init__(self, family, address, tls=None):
        self.socket = socket.socket(family)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(address)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.unread = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def more(self):
        piece = self.socket.recv(1 << 16)
        self.unread += piece
        return bool(piece)

    def is_closed(self):
        """Waits until the other side closes; False if it says something before."""
        try:
            return not self.unread and not self.socket.recv(1)
        except ConnectionResetError:
            return True

    def take(self, size):
        while len(self.unread) < size:
            assert self.more(), f"closed after {len(self.unread)} of {size} bytes"
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def answer(self, method="GET"):
        """The next answer; None if the connection ends before one begins."""
        while b"\r\n\r\n" not in self.unread:
            if not self.more():
                assert not self.unread, self.unread
                return None
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        answer = Answer(head, b"")
        if method == "HEAD" or answer.status in (100, 204, 304):
            return answer
        if answer["transfer-encoding"] == "chunked":
            while size := int(self.line(), 16):
                answer.body += self.take(size)
                assert self.line() == b""
            assert self.line() == b""
        elif answer["content-length"]:
            answer.body = self.take(int(answer["content-length"]))
        else:
            while self.more():
                pass
            answer.body, self.unread = self.unread, b""
        return answer

    def line(self):
        while b"\r\n" not in self.unread:
            assert self.more(), "closed within a line"
        line, self.unread = self.unread.split(b"\r\n", 1)
        return line

    def ask(self, target, method="GET", body=None, version="1.1", **fields):
        self.send(request(target, method, body, version, **fields))
        return self.answer(method)


def request(target, method="GET", body=None, version="1.1", **fields):
    """The bytes of a request; sec_fetch_site="none" is the field sec-fetch-site, host=None leaves that out."""
    fields = {"host": "localhost", **fields}
    if body is not None:
        fields.setdefault("content_length", len(body))
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value is not None]
    return f"{method} {target} HTTP/{version}\r\n{''.join(lines)}\r\n".encode() + (body or b"")


class Server:
    """A folder for one case, and the server that it starts there."""

    def __init__(self, beryl, folder):
        self.beryl, self.folder, self.process, self.said, self.tls = beryl, folder, None, [], None

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def launch(self, *options, stdout=subprocess.DEVNULL, command=None, **how):
        environment = {**os.environ, "XDG_DATA_HOME": str(self.folder / "data"), "TMPDIR": str(self.folder)}
        self.process = subprocess.Popen([*(command or [self.beryl, "serve"]), *map(str, options)], cwd=self.folder,
                                        env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
                                        stderr=subprocess.PIPE, text=True, **how)
        self.said, self.heard = [], threading.Condition()
        threading.Thread(target=self.listen, args=(self.process.stderr,), daemon=True).start()

    def listen(self, stderr):
        for line in stderr:
            with self.heard:
                self.said.append(line)
                self.heard.notify_all()
        with self.heard:
            self.said.append(None)
            self.heard.notify_all()

    def wait_for(self, words, before=0):
        """The first line on stderr with these words, but for the first `before` lines."""
        with self.heard:
            ended = self.heard.wait_for(
                lambda: None in self.said or any(words in line for line in self.said[before:]), TIMEOUT_S)
            for line in self.said[before:]:
                if line and words in line:
                    return line
        raise AssertionError(f"{'it ended' if ended else 'it never said'} {words!r}: {self.said}")

    def start(self, *options, **how):
        if "--listen" not in options:
            options = ("--listen", "127.0.0.1:0", *options)
        self.launch(*options, **how)
        listening = self.wait_for("listening on")
        self.ports = [int(port) for port in re.findall(r"https?://(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)/", listening)]
        return self

    def connect(self, which=0, tls=None):
        return Connection(socket.AF_INET, ("127.0.0.1", self.ports[which]), tls or self.tls)

    def ask(self, *arguments, **fields):
        with self.connect() as client:
            return client.ask(*arguments, **fields)

    def status(self, data):
        """Of the first answer to bytes after which the client says that no more come."""
        with self.connect() as client:
            client.send(data)
            try:
                client.socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has been closed already
            answer = client.answer()
            return answer and answer.status

    def metrics(self):
        """Values by name with labels."""
        page = self.ask("/metrics").body.decode()
        values = {}
        for line in page.splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                assert name not in values, f"{name} is there twice"
                values[name] = float(value)
        return values

    def hang_up(self):
        """SIGHUP, until it was obeyed."""
        before = len(self.said)
        self.process.send_signal(signal.SIGHUP)
        return lambda words: self.wait_for(words, before)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(TIMEOUT_S)
        assert status == 0, (status, self.said)

    def refusal(self, *options):
        """What it says when it does not start, and the exit status."""
        self.launch(*options)
        status = self.process.wait(TIMEOUT_S)
        self.heard.acquire()
        self.heard.wait_for(lambda: None in self.said, TIMEOUT_S)
        self.heard.release()
        return status, "".join(line for line in self.said if line)

    def resident_bytes(self):
        pages = int((open(f"/proc/{self.process.pid}/statm", encoding="ascii").read()).split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def tls_context(certificate, version=None):
    context = ssl.create_default_context(cafile=certificate)
    if version:
        context.minimum_version = context.maximum_version = version
    return context


def eventually(holds):
    end = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def token_file(server, token=TOKEN):
    path = server.folder / "token"
    path.write_text(token + "\n")
    path.chmod(0o600)
    return path


def certificate(server, name="first"):
    paths = server.folder / f"{name}.pem", server.folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost", "-out", paths[0],
                    "-keyout", paths[1]], check=True, capture_output=True)
    return paths
