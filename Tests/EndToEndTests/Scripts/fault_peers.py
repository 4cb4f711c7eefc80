"""Servers that end where they are told to, and clients that say what they saw; for faults.py.

A request's path tells a server what to do: /CASE/ENDING/POSITION. It sends so many bytes of the case's answer, and ends:
`fin` ends the connection, `rst` resets it, `notify` says TLS's close_notify before, `stall` waits until the client is gone.
"""

import re
import socket
import ssl
import struct
import threading

import hpack
from h2_wire import (
    ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PREFACE, RST_STREAM, SETTINGS, block, frame,
)

PATIENCE = 30  # seconds


def reset(connection):
    """Closes a connection by a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Secure:
    """TLS on a connection that one thread reads and others write: the library's own socket does not stand that."""

    def __init__(self, connection, context, **options):
        self.connection, self.lock = connection, threading.Lock()
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, **options)
        while not self.attempt(self.tls.do_handshake):
            self.fill()

    def attempt(self, work, *arguments):
        """Does something to TLS, and sends what came of it; `None` where more has to be received first."""
        with self.lock:
            try:
                return work(*arguments) or True
            except ssl.SSLWantReadError:
                return None
            finally:
                if self.outgoing.pending:
                    self.connection.sendall(self.outgoing.read())

    def fill(self):
        data = self.connection.recv(65536)
        with self.lock:
            self.incoming.write(data) if data else self.incoming.write_eof()

    def recv(self, size):
        while True:
            try:
                data = self.attempt(self.tls.read, size)
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""
            if data is not None:
                return b"" if data is True else data
            self.fill()

    def read_exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.recv(size - len(data))
            if not piece:
                return b""
            data += piece
        return data

    def sendall(self, data):
        if data:
            self.attempt(self.tls.write, data)

    def end(self, ending):
        """Ends the connection, with a goodbye of TLS's or by a reset."""
        if ending == "notify":
            self.attempt(self.tls.unwrap)
        reset(self.connection) if ending == "rst" else self.close()

    def close(self):
        self.connection.close()


class Case:
    """An answer of HTTP/1.1, and how much of it is what."""

    def __init__(self, answer, method="GET", interims=0):
        self.answer, self.method, self.interims = answer, method, interims
        self.head = -1
        for _ in range(interims + 1):
            self.head = answer.index(b"\r\n\r\n", self.head + 1) + 4
        head = answer[:self.head].lower()
        self.is_chunked = b"chunked" in head
        self.length = re.search(rb"content-length: (\d+)\r\n\r\n$", head)
        self.length = int(self.length.group(1)) if self.length else None
        self.has_body = method != "HEAD" and not re.search(rb"http/1.1 (204|304)", head)
        self.ends_with_connection = self.has_body and not self.is_chunked and self.length is None
        # Where the answer is whole.
        self.end = len(answer)
        if not self.has_body:
            self.end = self.head
        elif self.length is not None:
            self.end = self.head + self.length
        self.status = int(answer[:self.head].rsplit(b"HTTP/1.1 ", 1)[1][:3])

    def body(self, position):
        """The body's bytes among the first ones of the answer."""
        data = self.answer[self.head:min(position, self.end)]
        if not self.has_body:
            return b""
        if not self.is_chunked:
            return data
        body = b""
        while b"\r\n" in data:
            size, data = data.split(b"\r\n", 1)
            size = int(size.split(b";")[0], 16)
            body, data = body + data[:size], data[size + 2:]
            if size == 0:
                break
        return body


OK = b"HTTP/1.1 200 OK\r\n"
CASES = {
    "length": Case(OK + b"Content-Length: 5\r\n\r\nhello"),
    "chunked": Case(
        OK + b"Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nX: y\r\n\r\n"
    ),
    "ending": Case(OK + b"X: y\r\n\r\nhello"),
    "empty": Case(b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n"),
    "unchanged": Case(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
    "head": Case(OK + b"Content-Length: 5\r\n\r\n", method="HEAD"),
    "interim": Case(
        b"HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok", interims=1
    ),
    "longer": Case(OK + b"Content-Length: 3\r\n\r\nhello"),
}


class Server:
    """Listens on a port of its own, and counts the connections that are open."""

    def __init__(self, context=None, protocol="http/1.1"):
        self.context, self.protocol = context, protocol
        self.open, self.seen, self.lock = 0, 0, threading.Lock()
        self.released = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(PATIENCE)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with self.lock:
            self.open += 1
            self.seen += 1
        try:
            if self.protocol == "h2":
                connection.settimeout(10 * PATIENCE)
                connection = Secure(connection, self.context, server_side=True)
            elif self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            (self.serve_http2 if self.protocol == "h2" else self.serve_http1)(connection)
        except (OSError, ValueError, IndexError):
            pass
        finally:
            try:
                connection.close()
            except OSError:
                pass
            with self.lock:
                self.open -= 1

    def end(self, connection, ending):
        if ending == "rst":
            return reset(connection)
        if ending == "notify" and self.context:
            connection.settimeout(5)
            connection = connection.unwrap()
        if ending == "stall":
            while connection.recv(65536):
                pass
        if ending == "half":
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        connection.close()

    # HTTP/1.1

    def serve_http1(self, connection):
        stream = connection.makefile("rb")
        while True:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = stream.readline()
                if not line:
                    return
                head += line
            path = head.split(b" ")[1].decode().split("?")[0]
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if length and len(stream.read(int(length.group(1)))) < int(length.group(1)):
                return
            if path.startswith("/sibling"):
                self.drip(connection.sendall)
                continue
            if path.startswith("/ok"):
                connection.sendall(OK + b"Content-Length: 2\r\n\r\nok")
                continue
            if path.startswith("/raw/"):
                connection.sendall(RAW[path.split("/")[2]])
                return self.end(connection, path.split("/")[3])
            _, case, ending, position = path.split("/")[:4]
            connection.sendall(CASES[case].answer[:int(position)])
            if ending == "keep":
                continue
            return self.end(connection, ending)

    def drip(self, send):
        """A long answer that comes in pieces until everything else was tried."""
        send(OK + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(3_000):
            send(b"6\r\nsteady\r\n")
            if self.released.wait(0.05):
                break
        send(b"0\r\n\r\n")

    # HTTP/2

    def serve_http2(self, connection):
        decoder, send, is_greeted = hpack.Decoder(), connection.sendall, False
        if connection.read_exactly(len(PREFACE)) != PREFACE:
            return
        while True:
            start = connection.read_exactly(9)
            if len(start) < 9:
                return
            size, kind, flags = int.from_bytes(start[:3], "big"), start[3], start[4]
            number = int.from_bytes(start[5:], "big") & 0x7FFFFFFF
            payload = connection.read_exactly(size)
            if kind != HEADERS:
                continue
            fields = dict(decoder.decode(payload[5:] if flags & 0x20 else payload))
            path = fields[":path"]
            if path.startswith("/sibling"):
                # One that is alone on its connection, or one that shares it.
                if not is_greeted:
                    send(greeting(100 if path == "/sibling/shared" else 1))
                threading.Thread(target=self.drip_http2, args=(send, number), daemon=True).start()
            elif path.startswith("/ok"):
                send((b"" if is_greeted else greeting()) + b"".join(http2_frames(number)))
            elif path.startswith("/raw/"):
                send((b"" if is_greeted else greeting()) + raw_http2(number, RAW[path.split("/")[2]]))
            else:
                _, case, ending, position = path.split("/")[:4]
                if case == "frames":
                    # So many frames of the answer, and then one that ends the stream or the connection.
                    sent = (b"" if is_greeted else greeting()) + b"".join(http2_frames(number)[:int(position)])
                    if ending.startswith("reset"):
                        send(sent + frame(RST_STREAM, 0, number, struct.pack("!L", int(ending[5:]))))
                    else:
                        last = number - 2 if ending == "unprocessed" else number
                        send(sent + frame(GOAWAY, 0, 0, struct.pack("!LL", max(last, 0), 11) + b"calm"))
                        return connection.end("fin")
                else:
                    send((greeting(1) + b"".join(http2_frames(number)))[:int(position)])
                    return connection.end(ending)
            is_greeted = True

    def drip_http2(self, send, number):
        try:
            send(http2_frames(number)[0])
            for _ in range(3_000):
                send(frame(DATA, 0, number, b"steady"))
                if self.released.wait(0.05):
                    break
            send(frame(DATA, END_STREAM, number))
        except OSError:
            pass


def greeting(streams=100):
    """Our settings, and that we have taken those of the peer."""
    return frame(SETTINGS, 0, 0, struct.pack("!HL", 3, streams)) + frame(SETTINGS, ACK)


def http2_frames(number):
    """An answer with trailers."""
    return [
        frame(HEADERS, END_HEADERS, number, block([(":status", "200"), ("x", "y")])),
        frame(DATA, 0, number, b"hel"), frame(DATA, 0, number, b"lo"),
        frame(HEADERS, END_HEADERS | END_STREAM, number, block([("x", "y")])),
    ]


def raw_http2(number, answer):
    """An answer of HTTP/1.1 in frames, as long as the proxy's window takes it."""
    head, body = answer.split(b"\r\n\r\n", 1)
    fields = [line.decode().split(": ", 1) for line in head.split(b"\r\n")[1:]]
    fields = [(":status", "200")] + [(name.lower(), value) for name, value in fields]
    pieces = [body[place:place + 16_384] for place in range(0, len(body), 16_384)]
    return frame(HEADERS, END_HEADERS, number, block(fields)) + b"".join(
        frame(DATA, END_STREAM * (index == len(pieces) - 1), number, piece) for index, piece in enumerate(pieces)
    )


# Answers that are wrong in themselves, by name.
RAW = {}


class Seen:
    """What a client saw: interims, a status, a body, and how that ended."""

    def __init__(self):
        self.interims, self.status, self.body, self.is_whole, self.head, self.rest = 0, 0, b"", False, b"", b""
        self.ended = ""

    def __repr__(self):
        return f"{self.status} {self.body[:80]!r} {'whole' if self.is_whole else 'cut'} by {self.ended}"


def read_answer(connection, method="GET"):
    """Reads to the connection's end, strictly."""
    seen, data = Seen(), b""
    try:
        while True:
            piece = connection.recv(65536)
            if not piece:
                seen.ended = "end"
                break
            data += piece
    except ssl.SSLEOFError:
        seen.ended = "ragged end"
    except (ConnectionError, ssl.SSLError) as error:
        seen.ended = "reset"
    except TimeoutError:
        seen.ended = "nothing"
    while b"\r\n\r\n" in data:
        seen.head, data = data.split(b"\r\n\r\n", 1)
        seen.status = int(seen.head.split(b" ")[1])
        if seen.status >= 200 or seen.status == 101:
            break
        seen.interims, seen.status = seen.interims + 1, 0
    if not seen.status:
        seen.rest = data
        return seen
    head = seen.head.lower()
    length = re.search(rb"\r\ncontent-length: (\d+)", head)
    if method == "HEAD" or seen.status in (204, 304):
        seen.is_whole, seen.rest = True, data
    elif b"chunked" in head:
        while b"\r\n" in data:
            size, after = data.split(b"\r\n", 1)
            size = int(size.split(b";")[0], 16)
            if size == 0:
                trailers = (b"\r\n" + after).split(b"\r\n\r\n", 1)
                seen.is_whole = len(trailers) == 2
                seen.rest = trailers[-1] if seen.is_whole else b""
                break
            seen.body += after[:size]
            if len(after) < size + 2:
                break
            data = after[size + 2:]
    elif length:
        seen.body, seen.rest = data[:int(length.group(1))], data[int(length.group(1)):]
        seen.is_whole = len(seen.body) == int(length.group(1))
    else:
        seen.body, seen.is_whole = data, seen.ended == "end"
    return seen
