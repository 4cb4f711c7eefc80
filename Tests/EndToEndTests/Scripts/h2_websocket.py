"""A WebSocket over one stream of an HTTP/2 connection (RFC 8441), by the `h2` package.

usage: h2_websocket.py HOST:PORT [--proxy PORT] [--ca FILE] [--path PATH] [--count N]

Sends messages, reads them back, and closes with a code. Prints one line of JSON: whether the server offered extended
CONNECT, its answer, how many messages came back right, how it closed, and how another stream fared meanwhile.
"""

import h2.config
import h2.connection
import h2.events
from websockets.frames import Close, Frame, Opcode
from websockets.streams import StreamReader

from h2_wire import Way, report


class Session:
    """A connection whose events are gathered by stream."""

    def __init__(self, way):
        self.socket = way.dial()
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.state.initiate_connection()
        self.heads, self.ended, self.resets, self.readers = {}, set(), {}, {}
        self.has_settings = False
        self.flush()

    def flush(self):
        self.socket.sendall(self.state.data_to_send())

    def until(self, condition):
        while not condition():
            data = self.socket.recv(65536)
            if not data:
                raise SystemExit("the connection ended")
            for event in self.state.receive_data(data):
                self.happened(event)
            self.flush()

    def happened(self, event):
        if isinstance(event, h2.events.RemoteSettingsChanged):
            self.has_settings = True
        elif isinstance(event, h2.events.ResponseReceived):
            self.heads[event.stream_id] = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self.readers.setdefault(event.stream_id, StreamReader()).feed_data(event.data)
            self.state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.add(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.resets[event.stream_id] = event.error_code

    def send(self, stream, data, ends=False):
        while data:
            self.until(lambda: self.state.local_flow_control_window(stream) > 0)
            room = min(self.state.local_flow_control_window(stream), self.state.max_outbound_frame_size)
            self.state.send_data(stream, data[:room])
            data = data[room:]
            self.flush()
        if ends:
            self.state.end_stream(stream)
            self.flush()

    def message(self, stream):
        """The next frame of a WebSocket."""
        reader = self.readers.setdefault(stream, StreamReader())
        parser = Frame.parse(reader.read_exact, mask=False)
        while True:
            try:
                next(parser)
            except StopIteration as done:
                return done.value
            seen = len(reader.buffer)
            self.until(lambda: len(reader.buffer) > seen or stream in self.ended or stream in self.resets)
            if len(reader.buffer) == seen:
                raise SystemExit(f"the stream ended: {self.resets}")


def main():
    parser = Way.arguments(__doc__.split("\n")[0])
    parser.add_argument("--path", default="/")
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    way = Way.of(options)
    session = Session(way)
    session.until(lambda: session.has_settings)
    offered = session.state.remote_settings.enable_connect_protocol == 1
    if not offered:
        return report(offered=False)
    common = [(":scheme", way.scheme), (":authority", way.target)]
    session.state.send_headers(1, [
        (":method", "CONNECT"), (":protocol", "websocket"), *common[:1], (":path", options.path), *common[1:],
        ("sec-websocket-version", "13"), ("sec-websocket-protocol", "echo"), ("origin", "http://localhost"),
    ])
    session.flush()
    session.until(lambda: 1 in session.heads or 1 in session.resets)
    head = session.heads.get(1, {})
    if head.get(":status") != "200":
        return report(offered=True, status=head.get(":status"), reset=session.resets.get(1))
    # Another stream of the same connection is served meanwhile.
    session.state.send_headers(3, [(":method", "GET"), *common[:1], (":path", "/other"), *common[1:]], end_stream=True)
    session.flush()
    session.until(lambda: 3 in session.heads or 3 in session.resets)
    right = 0
    for index in range(options.count):
        data = f"message {index}".encode() if index else b"large" * 20_000
        session.send(1, Frame(Opcode.TEXT, data).serialize(mask=True))
        got = session.message(1)
        right += got.opcode is Opcode.TEXT and got.data == data
    session.send(1, Frame(Opcode.PING, b"ping").serialize(mask=True))
    pong = session.message(1)
    session.send(1, Frame(Opcode.CLOSE, Close(4002, "done").serialize()).serialize(mask=True), ends=True)
    close = Close.parse(session.message(1).data)
    session.until(lambda: 1 in session.ended or 1 in session.resets)
    report(
        offered=True, status=head[":status"], protocol=head.get("sec-websocket-protocol"),
        accept=head.get("sec-websocket-accept"), right=right,
        pong=pong.opcode is Opcode.PONG and pong.data == b"ping", code=close.code, ended=1 in session.ended,
        other=session.heads.get(3, {}).get(":status"),
    )


main()
