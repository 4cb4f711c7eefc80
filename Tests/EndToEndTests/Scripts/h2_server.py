"""An HTTP/2 server with behaviours that real servers show rarely.

usage: h2_server.py [--certificate FILE --key FILE] [--streams N] [--no-websocket]

Prints its port, then a line of JSON for each request: the fields in their order, and the connection's number.

    /echo               the request's body, and its trailers as trailers
    /trailers           a body, and a trailer field
    /early              103, and then 200
    /reset/CODE         RST_STREAM with this code in place of a response
    /cut/CODE           half a response, then RST_STREAM with this code
    /refused            the first time RST_STREAM with REFUSED_STREAM, then 200
    /goaway             the first time GOAWAY that says the stream was not processed, then 200 on another connection
    /bytes/N            N bytes, the same each time
    /events/N/MS        N server-sent events, so many milliseconds apart; each says when it was sent
    /pause/N            N server-sent events, and then neither more nor the end
    /wait               a response once the client has cancelled another stream of any connection, or asks for /go
    CONNECT, websocket  sends back the WebSocket messages it gets (RFC 8441)
"""

import argparse
import asyncio
import json
import random
import ssl
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
from websockets.frames import Frame, Opcode
from websockets.streams import StreamReader

once = set()
gate = asyncio.Event()
numbers = iter(range(1, 1 << 30))


class Stream:
    """One request: its fields, and its body as it comes."""

    def __init__(self, connection, identifier, fields):
        self.connection, self.id, self.fields = connection, identifier, fields
        self.arrived = asyncio.Queue()
        self.trailers = []
        self.window = asyncio.Event()
        head = dict(fields)
        self.method, self.path, self.protocol = head[":method"], head.get(":path", "/"), head.get(":protocol")

    def head(self, *fields, status=200, ends=False):
        self.connection.state.send_headers(self.id, [(":status", str(status)), *fields], end_stream=ends)
        self.connection.flush()

    async def send(self, data, ends=False):
        """Sends bytes as the windows allow."""
        state, offset = self.connection.state, 0
        while offset < len(data) or (ends and not data):
            room = min(state.local_flow_control_window(self.id), state.max_outbound_frame_size, len(data) - offset)
            if room <= 0 and data:
                self.window.clear()
                await self.window.wait()
                continue
            piece = data[offset : offset + room]
            offset += room
            state.send_data(self.id, piece, end_stream=ends and offset == len(data))
            self.connection.flush()
            await self.connection.writable.wait()
            if not data:
                return

    async def pieces(self):
        """The body; its window is given back as it is read."""
        while (piece := await self.arrived.get()) is not None:
            data, size = piece
            yield data
            if size:
                self.connection.state.acknowledge_received_data(size, self.id)
                self.connection.flush()

    async def body(self):
        return b"".join([piece async for piece in self.pieces()])

    # Behaviours

    async def answer(self):
        kind, *values = self.path.split("?")[0].strip("/").split("/")
        if self.method == "CONNECT" and self.protocol == "websocket":
            return await self.websocket()
        behaviour = getattr(self, "on_" + kind, None)
        if behaviour:
            return await behaviour(*values)
        await self.body()
        self.head(("content-type", "text/plain"), ("content-length", "5"))
        await self.send(b"hello", ends=True)

    async def on_echo(self):
        self.head(("content-type", "application/octet-stream"))
        async for piece in self.pieces():
            await self.send(piece)
        if self.trailers:
            self.connection.state.send_headers(self.id, self.trailers, end_stream=True)
            self.connection.flush()
        else:
            await self.send(b"", ends=True)

    async def on_trailers(self):
        self.head(("content-type", "text/plain"), ("trailer", "x-checksum"))
        await self.send(b"summed")
        self.connection.state.send_headers(self.id, [("x-checksum", "42")], end_stream=True)
        self.connection.flush()

    async def on_early(self):
        self.head(("link", "</style.css>; rel=preload"), status=103)
        self.head(("content-length", "5"))
        await self.send(b"later", ends=True)

    async def on_reset(self, code):
        self.connection.state.reset_stream(self.id, int(code))
        self.connection.flush()

    async def on_cut(self, code):
        self.head(("content-length", "10"))
        await self.send(b"half.")
        await self.on_reset(code)

    async def on_refused(self):
        if "refused" not in once:
            once.add("refused")
            return await self.on_reset(7)
        self.head(ends=True)

    async def on_goaway(self):
        if "goaway" not in once:
            once.add("goaway")
            self.connection.state.close_connection(0, last_stream_id=self.id - 2 if self.id > 2 else 0)
            self.connection.flush()
            return
        self.head(ends=True)

    async def on_bytes(self, count):
        self.head(("content-length", count), ("content-type", "application/octet-stream"))
        await self.send(random.Random(1).randbytes(int(count)), ends=True)

    async def on_events(self, count, milliseconds):
        self.head(("content-type", "text/event-stream"))
        start = time.monotonic()
        for index in range(int(count)):
            await asyncio.sleep(max(0, start + index * int(milliseconds) / 1e3 - time.monotonic()))
            await self.send(f"id: {index}\ndata: {time.monotonic_ns()}\n\n".encode())
        await self.send(b"", ends=True)

    async def on_pause(self, count):
        self.head(("content-type", "text/event-stream"))
        for index in range(int(count)):
            await self.send(f"data: event {index}\n\n".encode())
        await asyncio.Event().wait()

    async def on_wait(self):
        await gate.wait()
        self.head(ends=True)

    async def on_go(self):
        gate.set()
        self.head(ends=True)

    async def websocket(self):
        self.head()
        reader = StreamReader()

        async def feed():
            async for piece in self.pieces():
                reader.feed_data(piece)
                received.set()
            reader.feed_eof()
            received.set()

        received = asyncio.Event()
        feeding = asyncio.ensure_future(feed())
        while True:
            parser = Frame.parse(reader.read_exact, mask=True)
            while True:
                try:
                    next(parser)
                except StopIteration as done:
                    frame = done.value
                    break
                except EOFError:
                    return await self.send(b"", ends=True)
                await received.wait()
                received.clear()
            if frame.opcode is Opcode.PING:
                frame.opcode = Opcode.PONG
            if frame.opcode is Opcode.CLOSE:
                await self.send(frame.serialize(mask=False), ends=True)
                feeding.cancel()
                return
            await self.send(frame.serialize(mask=False))


class Connection(asyncio.Protocol):
    """One connection: events of the library become streams."""

    def __init__(self, options):
        self.options, self.number = options, next(numbers)
        self.streams, self.tasks = {}, set()
        self.writable = asyncio.Event()
        self.writable.set()
        self.state = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8", validate_inbound_headers=False)
        )

    def connection_made(self, transport):
        self.transport = transport
        codes = h2.settings.SettingCodes
        values = {codes.MAX_CONCURRENT_STREAMS: self.options.streams, codes.MAX_HEADER_LIST_SIZE: 65_536}
        if self.options.websocket:
            values[codes.ENABLE_CONNECT_PROTOCOL] = 1
        self.state.local_settings = h2.settings.Settings(client=False, initial_values=values)
        self.state.initiate_connection()
        self.flush()

    def flush(self):
        data = self.state.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)

    def pause_writing(self):
        self.writable.clear()

    def resume_writing(self):
        self.writable.set()

    def connection_lost(self, error):
        for task in self.tasks:
            task.cancel()

    def data_received(self, data):
        try:
            events = self.state.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            print(json.dumps({"error": str(error), "connection": self.number}), flush=True)
            self.flush()
            return self.transport.close()
        for event in events:
            self.happened(event)
        self.flush()

    def happened(self, event):
        stream = self.streams.get(getattr(event, "stream_id", None))
        if isinstance(event, h2.events.RequestReceived):
            stream = self.streams[event.stream_id] = Stream(self, event.stream_id, event.headers)
            print(json.dumps({"head": event.headers, "connection": self.number}), flush=True)
            task = asyncio.ensure_future(self.serve(stream))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        elif isinstance(event, h2.events.DataReceived) and stream:
            stream.arrived.put_nowait((event.data, event.flow_controlled_length))
        elif isinstance(event, h2.events.TrailersReceived) and stream:
            stream.trailers = event.headers
        elif isinstance(event, h2.events.StreamEnded) and stream:
            stream.arrived.put_nowait(None)
        elif isinstance(event, h2.events.StreamReset):
            print(json.dumps({"reset": event.error_code, "connection": self.number}), flush=True)
            gate.set()
            if stream:
                stream.task.cancel()
        elif isinstance(event, h2.events.WindowUpdated):
            for each in [stream] if stream else self.streams.values():
                each.window.set()
        elif isinstance(event, h2.events.RemoteSettingsChanged):
            for each in self.streams.values():
                each.window.set()
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.flush()
            self.transport.close()

    async def serve(self, stream):
        stream.task = asyncio.current_task()
        try:
            await stream.answer()
        except (h2.exceptions.ProtocolError, asyncio.CancelledError):
            pass
        finally:
            self.streams.pop(stream.id, None)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--no-websocket", dest="websocket", action="store_false")
    options = parser.parse_args()
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
        context.set_alpn_protocols(["h2"])
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(options), "127.0.0.1", 0, ssl=context, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
