"""HTTP/2 as bytes: connections on which a test chooses every frame.

They go to a server directly or through a proxy, over TLS or not. Only header blocks of responses need a library.
"""

import argparse
import collections
import json
import random
import socket
import ssl
import struct
import sys
import threading

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 0x1
END_HEADERS, PADDED, PRIORITIZED = 0x4, 0x8, 0x20
ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = range(2, 6)
ERRORS = (
    "NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR "
    "REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED"
).split()

Frame = collections.namedtuple("Frame", "kind flags stream payload")


def open_tunnel(connection, target):
    """Makes a connection to a proxy one to a target."""
    connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError(f"CONNECT was answered {answer!r}")
        answer += byte
    if b" 200 " not in answer.split(b"\r\n")[0]:
        raise ConnectionError(f"CONNECT was answered {answer!r}")


class Way:
    """Where a connection goes, and how."""

    def __init__(self, target, proxy=None, ca=None, straight=False):
        self.target, self.proxy, self.ca, self.straight = target, proxy, ca, straight

    @staticmethod
    def arguments(description):
        """A parser with the options that say the way."""
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("target", help="HOST:PORT of the server")
        parser.add_argument("--proxy", type=int, help="the port of a proxy on this machine")
        parser.add_argument("--straight", action="store_true", help="speak to the proxy itself, without CONNECT")
        parser.add_argument("--ca", help="speak TLS, and trust this authority")
        return parser

    @staticmethod
    def of(options):
        return Way(options.target, options.proxy, options.ca, options.straight)

    @property
    def scheme(self):
        return "https" if self.ca else "http"

    def dial(self, protocols=("h2",), timeout=15, receive_buffer=None):
        """A socket to the server: the tunnel is open, TLS is agreed."""
        host, port = self.target.rsplit(":", 1)
        address = ("127.0.0.1", self.proxy or int(port))
        connection = socket.socket()
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(timeout)
        connection.connect(address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.proxy and not self.straight:
            open_tunnel(connection, self.target)
        if not self.ca:
            return connection
        context = _context(self.ca, tuple(protocols))
        secure = context.wrap_socket(connection, server_hostname=host)
        if protocols and secure.selected_alpn_protocol() not in protocols:
            raise ConnectionError(f"ALPN agreed on {secure.selected_alpn_protocol()}")
        return secure


_contexts = {}


def _context(ca, protocols):
    if (ca, protocols) not in _contexts:
        context = ssl.create_default_context(cafile=ca)
        if protocols:
            context.set_alpn_protocols(list(protocols))
        _contexts[ca, protocols] = context
    return _contexts[ca, protocols]


def integer(value, bits, first=0):
    """An HPACK integer (RFC 7541 §5.1) below the given bits of its first byte."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes(out + [value])


def literal(name, value, first=0x00):
    """An HPACK field whose name and value are literals; by default one that is not indexed."""
    name, value = (text.encode() if isinstance(text, str) else text for text in (name, value))
    return bytes([first]) + integer(len(name), 7) + name + integer(len(value), 7) + value


def block(fields):
    return b"".join(literal(name, value) for name, value in fields)


class Connection:
    """An HTTP/2 connection that keeps no rules; methods that send return the connection, to be chained."""

    def __init__(self, way, settings=None, starts=True, timeout=15, protocols=("h2",), receive_buffer=None):
        self.way = way
        self.socket = way.dial(protocols, timeout, receive_buffer)
        self.decoder = hpack.Decoder()
        self.buffer = bytearray()
        self.peer = {}
        self.lock = threading.Lock()
        if starts:
            self.raw(PREFACE).settings(settings or {})

    # Sending

    def raw(self, data):
        with self.lock:
            self.socket.sendall(data)
        return self

    def frame(self, kind, flags=0, stream=0, payload=b"", length=None):
        return self.raw(frame(kind, flags, stream, payload, length))

    def settings(self, values):
        """A SETTINGS frame; values as a mapping, or as pairs where one comes twice."""
        pairs = values.items() if isinstance(values, dict) else values
        return self.frame(SETTINGS, 0, 0, b"".join(struct.pack("!HL", key, value) for key, value in pairs))

    def fields(self, method="GET", path="/", extra=()):
        return [
            (":method", method), (":scheme", self.way.scheme), (":path", path), (":authority", self.way.target), *extra,
        ]

    def head(self, stream=1, flags=END_STREAM | END_HEADERS, before=b"", after=b"", **request):
        """A HEADERS frame of a request; `before` and `after` are padding and priority around the block."""
        return self.frame(HEADERS, flags, stream, before + block(self.fields(**request)) + after)

    def window(self, increment, stream=0):
        return self.frame(WINDOW_UPDATE, 0, stream, struct.pack("!L", increment))

    def close(self):
        self.socket.close()

    # Receiving

    def next(self):
        """The next frame; `None` at the end of the connection."""
        while True:
            got = self.take()
            if got:
                return got
            try:
                data = self.socket.recv(1 << 18)
            except (ConnectionError, ssl.SSLError, BrokenPipeError):
                return None
            if not data:
                return None
            self.buffer += data

    def take(self):
        """A frame that has arrived already."""
        if len(self.buffer) < 9:
            return None
        length = int.from_bytes(self.buffer[:3], "big")
        if len(self.buffer) < 9 + length:
            return None
        kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big") & 0x7FFFFFFF
        payload = bytes(memoryview(self.buffer)[9 : 9 + length])
        del self.buffer[: 9 + length]
        if kind == SETTINGS and not flags & ACK:
            for offset in range(0, length - 5, 6):
                key, value = struct.unpack_from("!HL", payload, offset)
                self.peer[key] = value
        return Frame(kind, flags, stream, payload)

    def decode(self, got):
        """The fields of a HEADERS frame that is whole."""
        payload = got.payload
        if got.flags & PADDED:
            payload = payload[1 : len(payload) - payload[0]]
        if got.flags & PRIORITIZED:
            payload = payload[5:]
        return [(name, value) for name, value in self.decoder.decode(payload)]


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    """A frame's bytes."""
    size = len(payload) if length is None else length
    return struct.pack("!LBL", size << 8 | kind, flags, stream) + payload


def error_name(payload):
    """The name of the code in a RST_STREAM's or GOAWAY's payload."""
    code = int.from_bytes(payload[-4:] if len(payload) == 4 else payload[4:8], "big")
    return ERRORS[code] if code < len(ERRORS) else hex(code)


def noise(count, seed=1):
    """Bytes that do not compress, the same each time."""
    return random.Random(seed).randbytes(count)


def report(**values):
    """What a script has found, as one line for the test."""
    print(json.dumps(values), flush=True)


if __name__ == "__main__":
    sys.exit("this is a module of the other scripts")
