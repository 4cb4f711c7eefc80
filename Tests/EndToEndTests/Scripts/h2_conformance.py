"""What h2spec asks of an HTTP/2 server in its generic, hpack and http2 sections, asked of a port.

usage: h2_conformance.py HOST:PORT [--proxy PORT] [--ca FILE] [--only TEXT]

Each case sends frames and expects what the RFC says: one line each, named by h2spec's section and number. The server
behind must answer any request with 200 and a body of some bytes. Prints one line for each case that fails.
"""

import concurrent.futures
import struct
import sys

from h2_wire import *

PATIENCE = 5  # seconds


class Case(Connection):
    """A connection with what only these cases send."""

    def __init__(self, way):
        super().__init__(way, starts=False, timeout=PATIENCE)
        self.heads, self.bodies, self.ended = {}, {}, set()

    def start(self, settings=None):
        return self.raw(PREFACE).settings(settings or {}).frame(SETTINGS, ACK)

    def open(self, stream=1, **request):
        """A request whose body is still to come."""
        return self.head(stream, END_HEADERS, method="POST", **request)

    def block(self, data, stream=1, flags=END_STREAM | END_HEADERS):
        """A HEADERS frame whose block ends with the given bytes."""
        return self.frame(HEADERS, flags, stream, block(self.fields()) + data)

    def fields_only(self, *fields, data=b""):
        """A request of exactly these fields, and a body unless there is none."""
        self.frame(HEADERS, END_HEADERS | (0 if data else END_STREAM), 1, block(fields))
        return self.frame(DATA, END_STREAM, 1, data) if data else self

    def without(self, name):
        return self.fields_only(*[field for field in self.fields() if field[0] != name])

    def twice(self, name):
        return self.fields_only(*[field for field in self.fields() for _ in range(1 + (field[0] == name))])

    def priority(self, stream, on=0, exclusive=False, weight=15):
        return self.frame(PRIORITY, 0, stream, dependency(on, exclusive, weight))

    def pieces(self, count, stream=1):
        """A request's head in a HEADERS frame and a number of CONTINUATION frames."""
        whole = block(self.fields(extra=[("x-filler", "x" * 64)]))
        cuts = [len(whole) * index // (count + 1) for index in range(count + 2)]
        for index in range(count + 1):
            kind, flags = (CONTINUATION, 0) if index else (HEADERS, END_STREAM)
            self.frame(kind, flags | (END_HEADERS if index == count else 0), stream, whole[cuts[index] : cuts[index + 1]])
        return self

    def until(self, what, wanted):
        """Reads until a frame of which something holds; an error or the end before it fails the case."""
        while True:
            try:
                got = self.next()
            except TimeoutError:
                raise AssertionError(f"{what}: nothing came") from None
            if got is None:
                raise AssertionError(f"{what}: the connection ended")
            if got.kind == HEADERS:
                self.heads[got.stream] = dict(self.decode(got))
            if got.kind == DATA:
                self.bodies[got.stream] = self.bodies.get(got.stream, b"") + got.payload
            if got.kind in (HEADERS, DATA) and got.flags & END_STREAM:
                self.ended.add(got.stream)
            if wanted(got):
                return self
            if got.kind in (GOAWAY, RST_STREAM) and error_name(got.payload) != "NO_ERROR":
                raise AssertionError(f"{what}: {'GOAWAY' if got.kind == GOAWAY else 'RST_STREAM'} {error_name(got.payload)}")

    def answered(self, stream=1):
        """Waits until a response is whole, so that the stream is closed."""
        self.until("a response", lambda got: stream in self.ended)
        status = self.heads.get(stream, {}).get(":status")
        assert status == "200", f"a response: status {status}"
        return self

    def data(self, size):
        """Waits for a DATA frame that must have this size."""
        sizes = []
        self.until("DATA", lambda got: got.kind == DATA and not sizes.append(len(got.payload)))
        assert sizes == [size], f"DATA of {sizes} bytes in place of {size}"
        return self

    def settled(self):
        """Waits for the server's SETTINGS, so that its limits are known."""
        return self if self.peer else self.until("SETTINGS", lambda got: got.kind == SETTINGS and not got.flags & ACK)

    def cancelled(self):
        return self.frame(RST_STREAM, 0, 1, b"\0\0\0\x08")

    def crowd(self):
        """One stream more than the server allows at a time; none of them can end, having no window."""
        most = self.settled().peer.get(MAX_CONCURRENT_STREAMS)
        assert most is not None and most <= 10_000, f"the limit of streams is {most}"
        return self.raw(b"".join(
            frame(HEADERS, END_HEADERS, 2 * index + 1, block(self.fields(method="POST"))) for index in range(most + 1)
        ))


def dependency(on, exclusive=False, weight=15):
    return struct.pack("!LB", on | (1 << 31 if exclusive else 0), weight)


# What is expected.

def answer(stream=1):
    return lambda case: case.answered(stream)


def alive(case):
    case.frame(PING, 0, 0, b"alive???").until("a PING's answer", lambda got: got.kind == PING and got.payload == b"alive???")


def alive_or_closed(case):
    """After GOAWAY a server may go on or close, but not reproach anything."""
    try:
        alive(case)
    except (AssertionError, OSError) as error:
        if "ended" not in str(error) and isinstance(error, AssertionError):
            raise


def fails(kinds, *codes):
    def check(case):
        seen = []
        while True:
            try:
                got = case.next()
            except TimeoutError:
                raise AssertionError(f"expected {' or '.join(codes)}, got {', '.join(seen) or 'nothing'}") from None
            if got is None:
                if "closed" in codes:
                    return
                raise AssertionError(f"expected {' or '.join(codes)}, got {', '.join(seen) or 'nothing'}, then the end")
            if got.kind in kinds and error_name(got.payload) in codes:
                return
            if got.kind in (GOAWAY, RST_STREAM):
                seen.append(("GOAWAY " if got.kind == GOAWAY else "RST_STREAM ") + error_name(got.payload))
            elif got.kind in (HEADERS, DATA):
                seen.append("HEADERS" if got.kind == HEADERS else "DATA")

    return check


def connection_error(*codes):
    return fails((GOAWAY,), *codes)


def stream_error(*codes):
    """A stream error; a server may always make a connection error of it (RFC 9113 §5.4.2)."""
    return fails((RST_STREAM, GOAWAY), *codes)


def quiet_ping(case):
    """A PING's acknowledgement is not answered, and the connection lives on."""
    case.frame(PING, ACK, 0, b"nothing!").frame(PING, 0, 0, b"alive???")
    answers = []
    case.until("a PING's answer", lambda got: got.kind == PING and (answers.append(got.payload) or got.payload == b"alive???"))
    assert answers == [b"alive???"], f"a PING's acknowledgement was answered: {answers}"


def error_then_end(case):
    """GOAWAY, and then the end of the connection."""
    connection_error("FRAME_SIZE_ERROR")(case)
    try:
        while case.next():
            pass
    except TimeoutError:
        raise AssertionError("the connection stays open after GOAWAY") from None


def head_only(case):
    """A response without a body, as HEAD wants it."""
    case.answered()
    assert not case.bodies.get(1), f"a response to HEAD has a body: {case.bodies}"


P, F, S, C = "PROTOCOL_ERROR", "FRAME_SIZE_ERROR", "STREAM_CLOSED", "COMPRESSION_ERROR"
FLOW, REFUSED = "FLOW_CONTROL_ERROR", "REFUSED_STREAM"
HUGE = 16_385  # one byte more than frames may have by default
BAD_BLOCK = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
LEAST, MOST = 1 << 14, (1 << 31) - 1

CASES = [
    # generic
    ("generic/1/1 the connection preface", lambda c: c.start(), alive),
    ("generic/2/1 PRIORITY on an idle stream", lambda c: c.start().priority(1), alive),
    ("generic/2/2 WINDOW_UPDATE on a half-closed (remote) stream", lambda c: c.start().head().window(100, 1), answer()),
    ("generic/2/3 PRIORITY on a half-closed (remote) stream", lambda c: c.start().head().priority(1), answer()),
    ("generic/2/4 RST_STREAM on a half-closed (remote) stream", lambda c: c.start().head().cancelled(), alive),
    ("generic/2/5 PRIORITY on a closed stream", lambda c: c.start().head().answered().priority(1), alive),
    ("generic/3.1/1 a DATA frame", lambda c: c.start().open().frame(DATA, END_STREAM, 1, b"test"), answer()),
    ("generic/3.1/2 several DATA frames", lambda c: c.start().open().frame(DATA, 0, 1, b"test").frame(DATA, END_STREAM, 1, b"test"), answer()),
    ("generic/3.1/3 a padded DATA frame", lambda c: c.start().open().frame(DATA, END_STREAM | PADDED, 1, b"\x06test" + bytes(6)), answer()),
    ("generic/3.2/1 a HEADERS frame", lambda c: c.start().head(), answer()),
    ("generic/3.2/2 a padded HEADERS frame", lambda c: c.start().head(1, END_STREAM | END_HEADERS | PADDED, b"\x05", bytes(5)), answer()),
    ("generic/3.2/3 a HEADERS frame with priority", lambda c: c.start().head(1, END_STREAM | END_HEADERS | PRIORITIZED, dependency(0, True, 255)), answer()),
    ("generic/3.3/1 PRIORITY with weight 1", lambda c: c.start().priority(1, weight=0).head(), answer()),
    ("generic/3.3/2 PRIORITY with weight 256", lambda c: c.start().priority(1, weight=255).head(), answer()),
    ("generic/3.3/3 PRIORITY with a dependency", lambda c: c.start().priority(1, weight=255).priority(3, 1).head(), answer()),
    ("generic/3.3/4 PRIORITY with an exclusive dependency", lambda c: c.start().priority(3, 1, True).head(), answer()),
    ("generic/3.3/5 PRIORITY on an idle stream, then a lower stream opens", lambda c: c.start().priority(5).head(3), answer(3)),
    ("generic/3.4/1 RST_STREAM", lambda c: c.start().open().cancelled(), alive),
    ("generic/3.5/1 SETTINGS", lambda c: c.start().settings({MAX_CONCURRENT_STREAMS: 100}), lambda c: c.until("SETTINGS' acknowledgement", lambda got: got.kind == SETTINGS and got.flags & ACK)),
    ("generic/3.7/1 PING", lambda c: c.start(), alive),
    ("generic/3.8/1 GOAWAY", lambda c: c.start().frame(GOAWAY, 0, 0, bytes(8)), alive_or_closed),
    ("generic/3.9/1 WINDOW_UPDATE for the connection", lambda c: c.start().window(1).head(), answer()),
    ("generic/3.9/2 WINDOW_UPDATE for a stream", lambda c: c.start().open().window(1, 1).frame(DATA, END_STREAM, 1, b"x"), answer()),
    ("generic/3.10/1 one CONTINUATION", lambda c: c.start().pieces(1), answer()),
    ("generic/3.10/2 several CONTINUATIONs", lambda c: c.start().pieces(3), answer()),
    ("generic/4/1 GET", lambda c: c.start().head(), answer()),
    ("generic/4/2 HEAD", lambda c: c.start().head(method="HEAD"), head_only),
    ("generic/4/3 POST", lambda c: c.start().open().frame(DATA, END_STREAM, 1, b"test"), answer()),
    ("generic/4/4 POST with trailers", lambda c: c.start().open(extra=[("trailer", "x-test")]).frame(DATA, 0, 1, b"test").frame(HEADERS, END_STREAM | END_HEADERS, 1, block([("x-test", "ok")])), answer()),
    ("generic/5/1 an indexed field", lambda c: c.start().frame(HEADERS, 5, 1, b"\x82\x84" + block(c.fields()[1:2] + c.fields()[3:])), answer()),
    ("generic/5/2 a literal with indexing, name indexed", lambda c: c.start().block(b"\x7a\x04test"), answer()),
    ("generic/5/3 a literal with indexing, new name", lambda c: c.start().block(literal("x-test", "ok", 0x40)), answer()),
    ("generic/5/4 a literal without indexing, name indexed", lambda c: c.start().block(b"\x0f\x2b\x04test"), answer()),
    ("generic/5/5 a literal without indexing, new name", lambda c: c.start().block(literal("x-test", "ok")), answer()),
    ("generic/5/6 a literal never indexed, name indexed", lambda c: c.start().block(b"\x1f\x2b\x04test"), answer()),
    ("generic/5/7 a literal never indexed, new name", lambda c: c.start().block(literal("x-test", "ok", 0x10)), answer()),
    ("generic/5/8 a dynamic table size update", lambda c: c.start().frame(HEADERS, 5, 1, b"\x3e" + block(c.fields())), answer()),
    ("generic/5/9 several dynamic table size updates", lambda c: c.start().frame(HEADERS, 5, 1, b"\x20\x3e" + block(c.fields())), answer()),
    ("generic/5/10 a field that is Huffman-coded", lambda c: c.start().block(hpack.Encoder().encode([("x-test", "ok")], huffman=True)), answer()),
    # hpack
    ("hpack/2.3.3/1 an indexed field with an invalid index", lambda c: c.start().block(integer(70, 7, 0x80)), connection_error(C)),
    ("hpack/2.3.3/2 a literal with an invalid index", lambda c: c.start().block(integer(70, 6, 0x40) + b"\x01x"), connection_error(C)),
    ("hpack/4.2/1 a dynamic table size update at the end of a block", lambda c: c.start().block(b"\x21"), connection_error(C)),
    ("hpack/5.2/1 a Huffman string padded by more than 7 bits", lambda c: c.start().block(b"\0\x06x-test\x82\x0f\xff"), connection_error(C)),
    ("hpack/5.2/2 a Huffman string padded by zeros", lambda c: c.start().block(b"\0\x06x-test\x81\x08"), connection_error(C)),
    ("hpack/5.2/3 a Huffman string with EOS", lambda c: c.start().block(b"\0\x06x-test\x85\x0f\xff\xff\xff\xff"), connection_error(C)),
    ("hpack/6.1/1 an indexed field of index 0", lambda c: c.start().block(b"\x80"), connection_error(C)),
    ("hpack/6.3/1 a dynamic table size update above the limit", lambda c: c.start().frame(HEADERS, 5, 1, integer(1 << 20, 5, 0x20) + block(c.fields())), connection_error(C)),
    # http2
    ("http2/3.5/1 the client's preface", lambda c: c.start(), alive),
    ("http2/3.5/2 an invalid preface", lambda c: c.raw(b"INVALID CONNECTION PREFACE\r\n\r\n"), connection_error(P, "closed")),
    ("http2/4.1/1 a frame of unknown type", lambda c: c.start().frame(0xFF, 0, 0, b"unknown!"), alive),
    ("http2/4.1/2 an undefined flag", lambda c: c.start().frame(PING, 0x16, 0, b"flagged!"), alive),
    ("http2/4.1/3 a reserved bit", lambda c: c.start().frame(PING, 0, 1 << 31, b"reserved"), alive),
    ("http2/4.2/1 DATA of 2^14 bytes", lambda c: c.start().open().frame(DATA, END_STREAM, 1, bytes(LEAST)), answer()),
    ("http2/4.2/2 DATA above SETTINGS_MAX_FRAME_SIZE", lambda c: c.start().open().frame(DATA, END_STREAM, 1, bytes(HUGE)), stream_error(F)),
    ("http2/4.2/3 HEADERS above SETTINGS_MAX_FRAME_SIZE", lambda c: c.start().frame(HEADERS, 5, 1, block(c.fields()) + literal("x", "x" * HUGE)), connection_error(F)),
    ("http2/4.3/1 an invalid header block", lambda c: c.start().frame(HEADERS, 5, 1, BAD_BLOCK), connection_error(C)),
    ("http2/4.3/2 PRIORITY inside a header block", lambda c: c.start().head(1, END_STREAM).priority(1), connection_error(P)),
    ("http2/4.3/3 another stream's HEADERS inside a header block", lambda c: c.start().head(1, END_STREAM).head(3), connection_error(P)),
    ("http2/5.1/1 idle: DATA", lambda c: c.start().frame(DATA, END_STREAM, 1, b"test"), connection_error(P)),
    ("http2/5.1/2 idle: RST_STREAM", lambda c: c.start().frame(RST_STREAM, 0, 1, b"\0\0\0\x08"), connection_error(P)),
    ("http2/5.1/3 idle: WINDOW_UPDATE", lambda c: c.start().window(100, 1), connection_error(P)),
    ("http2/5.1/4 idle: CONTINUATION", lambda c: c.start().frame(CONTINUATION, END_HEADERS, 1, block(c.fields())), connection_error(P)),
    ("http2/5.1/5 half-closed (remote): DATA", lambda c: c.start({INITIAL_WINDOW_SIZE: 0}).head().frame(DATA, END_STREAM, 1, b"test"), stream_error(S)),
    ("http2/5.1/6 half-closed (remote): HEADERS", lambda c: c.start({INITIAL_WINDOW_SIZE: 0}).head().head(), stream_error(S)),
    ("http2/5.1/7 half-closed (remote): CONTINUATION", lambda c: c.start({INITIAL_WINDOW_SIZE: 0}).head().frame(CONTINUATION, END_HEADERS, 1, block(c.fields())), stream_error(S, P)),
    ("http2/5.1/8 closed by RST_STREAM: DATA", lambda c: c.start().open().cancelled().frame(DATA, END_STREAM, 1, b"test"), stream_error(S)),
    ("http2/5.1/9 closed by RST_STREAM: HEADERS", lambda c: c.start().open().cancelled().head(), stream_error(S)),
    ("http2/5.1/10 closed by RST_STREAM: CONTINUATION", lambda c: c.start().open().cancelled().frame(CONTINUATION, END_HEADERS, 1, block(c.fields())), stream_error(S, P)),
    ("http2/5.1/11 closed by END_STREAM: DATA", lambda c: c.start().head().answered().frame(DATA, END_STREAM, 1, b"test"), connection_error(S)),
    ("http2/5.1/12 closed by END_STREAM: HEADERS", lambda c: c.start().head().answered().head(), connection_error(S)),
    ("http2/5.1/13 closed by END_STREAM: CONTINUATION", lambda c: c.start().head().answered().frame(CONTINUATION, END_HEADERS, 1, block(c.fields())), connection_error(S, P)),
    ("http2/5.1.1/1 an even stream identifier", lambda c: c.start().head(2), connection_error(P)),
    ("http2/5.1.1/2 a lower stream identifier", lambda c: c.start().head(5).head(3), connection_error(P)),
    ("http2/5.1.2/1 more streams than allowed", lambda c: c.start({INITIAL_WINDOW_SIZE: 0}).crowd(), stream_error(P, REFUSED)),
    ("http2/5.3.1/1 HEADERS that depends on itself", lambda c: c.start().head(1, END_STREAM | END_HEADERS | PRIORITIZED, dependency(1)), stream_error(P)),
    ("http2/5.3.1/2 PRIORITY that depends on itself", lambda c: c.start().priority(2, 2), stream_error(P)),
    ("http2/5.4.1/1 the connection ends after an error", lambda c: c.start().frame(PING, 0, 0, b"short"), error_then_end),
    ("http2/5.4.1/2 GOAWAY names the error", lambda c: c.start().frame(PING, 0, 0, b"short"), connection_error(F)),
    ("http2/5.5/1 an unknown extension frame", lambda c: c.start().frame(0x16, 0, 0, b"extended"), alive),
    ("http2/5.5/2 an unknown extension frame inside a header block", lambda c: c.start().head(1, END_STREAM).frame(0x16, 0, 1, b"extended"), connection_error(P)),
    ("http2/6.1/1 DATA on stream 0", lambda c: c.start().frame(DATA, END_STREAM, 0, b"test"), connection_error(P)),
    ("http2/6.1/2 DATA on a stream that is not open", lambda c: c.start().head().answered().frame(DATA, END_STREAM, 1, b"test"), stream_error(S)),
    ("http2/6.1/3 DATA with an invalid pad length", lambda c: c.start().open().frame(DATA, END_STREAM | PADDED, 1, b"\x06test"), connection_error(P)),
    ("http2/6.2/1 HEADERS without END_HEADERS, then PRIORITY", lambda c: c.start().head(1, END_STREAM).priority(1), connection_error(P)),
    ("http2/6.2/2 HEADERS to another stream inside a block", lambda c: c.start().head(1, END_STREAM).head(3), connection_error(P)),
    ("http2/6.2/3 HEADERS on stream 0", lambda c: c.start().head(0), connection_error(P)),
    ("http2/6.2/4 HEADERS with an invalid pad length", lambda c: c.start().frame(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, b"\xff" + block(c.fields())), connection_error(P)),
    ("http2/6.3/1 PRIORITY on stream 0", lambda c: c.start().priority(0), connection_error(P)),
    ("http2/6.3/2 PRIORITY of another length than 5", lambda c: c.start().head(1, END_HEADERS).frame(PRIORITY, 0, 1, bytes(4)), stream_error(F)),
    ("http2/6.4/1 RST_STREAM on stream 0", lambda c: c.start().frame(RST_STREAM, 0, 0, b"\0\0\0\x08"), connection_error(P)),
    ("http2/6.4/2 RST_STREAM on an idle stream", lambda c: c.start().frame(RST_STREAM, 0, 1, b"\0\0\0\x08"), connection_error(P)),
    ("http2/6.4/3 RST_STREAM of another length than 4", lambda c: c.start().open().frame(RST_STREAM, 0, 1, bytes(3)), connection_error(F)),
    ("http2/6.5/1 SETTINGS with ACK and a payload", lambda c: c.start().frame(SETTINGS, ACK, 0, bytes(6)), connection_error(F)),
    ("http2/6.5/2 SETTINGS on a stream", lambda c: c.start().frame(SETTINGS, 0, 1, b"\0\x03\0\0\0\x64"), connection_error(P)),
    ("http2/6.5/3 SETTINGS whose length is no multiple of 6", lambda c: c.start().frame(SETTINGS, 0, 0, bytes(3)), connection_error(F)),
    ("http2/6.5.2/1 ENABLE_PUSH other than 0 and 1", lambda c: c.start({ENABLE_PUSH: 2}), connection_error(P)),
    ("http2/6.5.2/2 INITIAL_WINDOW_SIZE above the most", lambda c: c.start({INITIAL_WINDOW_SIZE: 1 << 31}), connection_error(FLOW)),
    ("http2/6.5.2/3 MAX_FRAME_SIZE below the least", lambda c: c.start({MAX_FRAME_SIZE: LEAST - 1}), connection_error(P)),
    ("http2/6.5.2/4 MAX_FRAME_SIZE above the most", lambda c: c.start({MAX_FRAME_SIZE: 1 << 24}), connection_error(P)),
    ("http2/6.5.2/5 an unknown setting", lambda c: c.start({0xFF: 1}), alive),
    ("http2/6.5.3/1 the last value of a setting counts", lambda c: c.start([(INITIAL_WINDOW_SIZE, 100), (INITIAL_WINDOW_SIZE, 1)]).head(), lambda c: c.data(1)),
    ("http2/6.5.3/2 SETTINGS are acknowledged", lambda c: c.start(), lambda c: c.until("an acknowledgement", lambda got: got.kind == SETTINGS and got.flags & ACK)),
    ("http2/6.7/1 PING", lambda c: c.start(), alive),
    ("http2/6.7/2 PING with ACK", lambda c: c.start(), quiet_ping),
    ("http2/6.7/3 PING on a stream", lambda c: c.start().frame(PING, 0, 1, bytes(8)), connection_error(P)),
    ("http2/6.7/4 PING of another length than 8", lambda c: c.start().frame(PING, 0, 0, bytes(6)), connection_error(F)),
    ("http2/6.8/1 GOAWAY on a stream", lambda c: c.start().frame(GOAWAY, 0, 1, bytes(8)), connection_error(P)),
    ("http2/6.9/1 WINDOW_UPDATE of 0 for the connection", lambda c: c.start().window(0), connection_error(P)),
    ("http2/6.9/2 WINDOW_UPDATE of 0 for a stream", lambda c: c.start().open().window(0, 1), stream_error(P)),
    ("http2/6.9/3 WINDOW_UPDATE of another length than 4", lambda c: c.start().frame(WINDOW_UPDATE, 0, 0, bytes(3)), connection_error(F)),
    ("http2/6.9.1/1 a window of 1", lambda c: c.start({INITIAL_WINDOW_SIZE: 1}).head(), lambda c: c.data(1)),
    ("http2/6.9.1/2 the connection's window above the most", lambda c: c.start().window(MOST).window(MOST), connection_error(FLOW)),
    ("http2/6.9.1/3 a stream's window above the most", lambda c: c.start().open().window(MOST, 1).window(MOST, 1), stream_error(FLOW)),
    ("http2/6.9.2/1 INITIAL_WINDOW_SIZE changes after HEADERS", lambda c: c.start({INITIAL_WINDOW_SIZE: 0}).head().settings({INITIAL_WINDOW_SIZE: 1}), lambda c: c.data(1)),
    ("http2/6.9.2/2 a window below zero", lambda c: c.start({INITIAL_WINDOW_SIZE: 3}).head().data(3).settings({INITIAL_WINDOW_SIZE: 2}).window(2, 1), lambda c: c.data(1)),
    ("http2/6.9.2/3 INITIAL_WINDOW_SIZE above the most", lambda c: c.start().settings({INITIAL_WINDOW_SIZE: 1 << 31}), connection_error(FLOW)),
    ("http2/6.10/1 several CONTINUATIONs", lambda c: c.start().pieces(5), answer()),
    ("http2/6.10/2 CONTINUATION, then another frame", lambda c: c.start().head(1, END_STREAM).frame(CONTINUATION, 0, 1, block([("x", "y")])).frame(DATA, END_STREAM, 1, b"test"), connection_error(P)),
    ("http2/6.10/3 CONTINUATION on stream 0", lambda c: c.start().head(1, END_STREAM).frame(CONTINUATION, END_HEADERS, 0, block([("x", "y")])), connection_error(P)),
    ("http2/6.10/4 CONTINUATION after HEADERS with END_HEADERS", lambda c: c.start().head(1, END_HEADERS).frame(CONTINUATION, END_HEADERS, 1, block([("x", "y")])), connection_error(P)),
    ("http2/6.10/5 CONTINUATION after CONTINUATION with END_HEADERS", lambda c: c.start().open().frame(RST_STREAM, 0, 1, bytes(4)).head(3, 0, method="POST").frame(CONTINUATION, END_HEADERS, 3, b"").frame(CONTINUATION, END_HEADERS, 3, block([("x", "y")])), connection_error(P)),
    ("http2/6.10/6 CONTINUATION after DATA", lambda c: c.start().open().frame(DATA, 0, 1, b"test").frame(CONTINUATION, END_HEADERS, 1, block([("x", "y")])), connection_error(P)),
    ("http2/7/1 GOAWAY with an unknown code", lambda c: c.start().frame(GOAWAY, 0, 0, bytes(4) + b"\0\0\0\xff"), alive_or_closed),
    ("http2/7/2 RST_STREAM with an unknown code", lambda c: c.start().open().frame(RST_STREAM, 0, 1, b"\0\0\0\xff"), alive),
    ("http2/8.1/1 a second HEADERS without END_STREAM", lambda c: c.start().open().head(1, END_HEADERS), stream_error(P)),
    ("http2/8.1.2/1 an upper-case field name", lambda c: c.start().head(extra=[("X-TEST", "ok")]), stream_error(P)),
    ("http2/8.1.2.1/1 an unknown pseudo-header", lambda c: c.start().fields_only((":test", "ok"), *c.fields()), stream_error(P)),
    ("http2/8.1.2.1/2 a response's pseudo-header", lambda c: c.start().fields_only((":status", "200"), *c.fields()), stream_error(P)),
    ("http2/8.1.2.1/3 a pseudo-header in trailers", lambda c: c.start().open().frame(DATA, 0, 1, b"test").frame(HEADERS, END_STREAM | END_HEADERS, 1, block([(":method", "GET")])), stream_error(P)),
    ("http2/8.1.2.1/4 a pseudo-header after fields", lambda c: c.start().fields_only(("x-test", "ok"), *c.fields()), stream_error(P)),
    ("http2/8.1.2.2/1 a field for one connection only", lambda c: c.start().head(extra=[("connection", "keep-alive")]), stream_error(P)),
    ("http2/8.1.2.2/2 te other than trailers", lambda c: c.start().head(extra=[("te", "trailers, deflate")]), stream_error(P)),
    ("http2/8.1.2.3/1 an empty :path", lambda c: c.start().head(path=""), stream_error(P)),
    ("http2/8.1.2.3/2 no :method", lambda c: c.start().without(":method"), stream_error(P)),
    ("http2/8.1.2.3/3 no :scheme", lambda c: c.start().without(":scheme"), stream_error(P)),
    ("http2/8.1.2.3/4 no :path", lambda c: c.start().without(":path"), stream_error(P)),
    ("http2/8.1.2.3/5 :method twice", lambda c: c.start().twice(":method"), stream_error(P)),
    ("http2/8.1.2.3/6 :scheme twice", lambda c: c.start().twice(":scheme"), stream_error(P)),
    ("http2/8.1.2.3/7 :path twice", lambda c: c.start().twice(":path"), stream_error(P)),
    ("http2/8.1.2.6/1 content-length other than DATA", lambda c: c.start().open(extra=[("content-length", "1")]).frame(DATA, END_STREAM, 1, b"test"), stream_error(P)),
    ("http2/8.1.2.6/2 content-length other than several DATA", lambda c: c.start().open(extra=[("content-length", "1")]).frame(DATA, 0, 1, b"test").frame(DATA, END_STREAM, 1, b"test"), stream_error(P)),
    ("http2/8.2/1 PUSH_PROMISE from a client", lambda c: c.start().frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\x02" + block(c.fields())), connection_error(P)),
]


def run(way, case):
    """Why a case fails; `None` where it passes."""
    _, send, expected = case
    try:
        connection = Case(way)
    except OSError as error:
        return f"no connection: {error}"
    try:
        expected(send(connection))
    except AssertionError as error:
        return str(error)
    except OSError as error:
        # The server ended the connection before all was sent; what it said can still be read.
        try:
            expected(connection)
        except (AssertionError, OSError) as second:
            return f"{second} ({error})"
    finally:
        connection.close()
    return None


def main():
    parser = Way.arguments(__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="run the cases whose name has this text")
    options = parser.parse_args()
    way = Way.of(options)
    cases = [case for case in CASES if options.only in case[0]]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        failures = [(case[0], why) for case, why in zip(cases, pool.map(lambda case: run(way, case), cases)) if why]
    for name, why in failures:
        print(f"{name}: {why}")
    print(f"{len(cases) - len(failures)} of {len(cases)} cases pass", file=sys.stderr)
    sys.exit(1 if failures or not cases else 0)


main()
