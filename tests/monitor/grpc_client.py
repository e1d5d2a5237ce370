"""Calls of gRPC with nothing but a socket, and frames that no library of gRPC would send."""

import contextlib
import os
import socket

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
LARGEST_WINDOW = 2**31 - 1


def connect(path, uid=None):
    """A connection, for root: as another user."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    with acting_as(uid):
        client.connect(str(path))
    return client


@contextlib.contextmanager
def acting_as(uid):
    if uid is not None:
        os.seteuid(uid)
    try:
        yield
    finally:
        if uid is not None:
            os.seteuid(0)


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def header(name, value):
    """Without a table and without compression."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def number(field, value):
    """A field of a message."""
    return varint(field << 3) + varint(value)


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def varint(value):
    parts = bytearray()
    while value > 0x7f:
        parts.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(parts) + bytes([value])


def read_varint(message, at):
    value, shift = 0, 0
    while True:
        value |= (message[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if message[at - 1] < 0x80:
            return value, at


def numbers(message):
    """The whole numbers of a message, by field: of each the last one."""
    found, at = {}, 0
    while at < len(message):
        key, at = read_varint(message, at)
        if key & 7 == 0:
            found[key >> 3], at = read_varint(message, at)
        elif key & 7 == 2:
            size, at = read_varint(message, at)
            at += size
        else:
            at += 8 if key & 7 == 1 else 4
    return found


class Refused(Exception):
    """A call that failed, with gRPC's status."""

    def __init__(self, status, why):
        super().__init__(f"{status}: {why}")
        self.status = status


class Client:
    """A connection that makes one call after the other."""

    def __init__(self, path, uid=None):
        self.socket, self.read, self.stream = connect(path, uid), b"", -1
        # No table of headers, so that the status comes as it is, and room for any answer.
        settings = (1).to_bytes(2, "big") + bytes(4) + (4).to_bytes(2, "big") + LARGEST_WINDOW.to_bytes(4, "big")
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, settings) +
                            frame(WINDOW_UPDATE, 0, 0, (LARGEST_WINDOW - 65535).to_bytes(4, "big")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def take(self, size):
        while len(self.read) < size:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError("the monitor closed the connection")
            self.read += part
        taken, self.read = self.read[:size], self.read[size:]
        return taken

    def call(self, method, message=b""):
        """The answer's messages. `method` as in "beryl.monitor.v1.Monitor/Start"."""
        self.stream += 2
        headers = b"".join(header(*one) for one in (
            (b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/" + method.encode()), (b":authority", b"here"),
            (b"te", b"trailers"), (b"content-type", b"application/grpc")))
        body = b"\0" + len(message).to_bytes(4, "big") + message
        self.socket.sendall(frame(HEADERS, END_HEADERS, self.stream, headers) +
                            frame(DATA, END_STREAM, self.stream, body))
        data, heads = b"", b""
        while True:
            head = self.take(9)
            payload = self.take(int.from_bytes(head[:3], "big"))
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            if kind == SETTINGS and not flags & ACK:
                self.socket.sendall(frame(SETTINGS, ACK, 0))
            if stream != self.stream:
                continue
            data += payload if kind == DATA else b""
            heads += payload if kind == HEADERS else b""
            if flags & END_STREAM and kind in (DATA, HEADERS):
                break
        status = int(header_in(heads, b"grpc-status"))
        if status != 0:
            raise Refused(status, header_in(heads, b"grpc-message").decode())
        messages, at = [], 0
        while at < len(data):
            size = int.from_bytes(data[at + 1:at + 5], "big")
            messages.append(data[at + 5:at + 5 + size])
            at += 5 + size
        return messages


def header_in(headers, name):
    at = headers.find(bytes([len(name)]) + name)
    if at < 0:
        return b""
    size, at = headers[at + len(name) + 1], at + len(name) + 2
    if size >= 0x7f:  # in more bytes, of which two are enough
        more, at = read_varint(headers, at)
        size += more
    return headers[at:at + size]
