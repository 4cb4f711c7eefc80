"""CONNECT on an HTTP/2 connection: `h2_connect.py PROXYPORT HOST:PORT [options]`; --path PATH is asked for.

With --ca FILE, TLS is spoken inside the stream; without, plain HTTP/1.1. With --early the request is sent without waiting
for the answer to CONNECT, with --body N it has so many bytes, with --half the client's side ends behind it. Prints one line of JSON: the status of the CONNECT,
the status line inside, the body's length and its SHA-256; where the CONNECT is refused, the length of that answer's body.
"""
import argparse
import hashlib
import json
import socket
import ssl

import h2.config
import h2.connection
import h2.events


class Stream:
    """The CONNECT's stream as a socket."""

    def __init__(self, port, target, early=b""):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.connection.initiate_connection()
        self.id = self.connection.get_next_available_stream_id()
        self.connection.send_headers(self.id, [(":method", "CONNECT"), (":authority", target)])
        self.received = b""
        self.status = None
        self.is_over = False
        if early:
            self.connection.send_data(self.id, early)
        self.flush()
        while self.status is None and not self.is_over:
            self.pump()

    def flush(self):
        self.socket.sendall(self.connection.data_to_send())

    def pump(self):
        bytes = self.socket.recv(65536)
        if not bytes:
            self.is_over = True
            return
        for event in self.connection.receive_data(bytes):
            if isinstance(event, h2.events.ResponseReceived):
                self.status = dict(event.headers)[b":status"].decode()
            elif isinstance(event, h2.events.DataReceived):
                self.received += event.data
                self.connection.acknowledge_received_data(event.flow_controlled_length, self.id)
            elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                self.is_over = True
        self.flush()

    def send(self, bytes):
        while bytes and not self.is_over:
            room = min(self.connection.local_flow_control_window(self.id), self.connection.max_outbound_frame_size)
            self.connection.send_data(self.id, bytes[:room]) if room else self.pump()
            bytes = bytes[room:]
            self.flush()

    def end(self):
        self.connection.end_stream(self.id)
        self.flush()

    def receive(self):
        while not self.received and not self.is_over:
            self.pump()
        bytes, self.received = self.received, b""
        return bytes


class Secure:
    """TLS inside a stream."""

    def __init__(self, stream, host, authority):
        self.stream = stream
        self.input, self.output = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=authority)
        self.tls = context.wrap_bio(self.input, self.output, server_hostname=host)
        self.run(self.tls.do_handshake)

    def run(self, action, *arguments):
        while True:
            try:
                result = action(*arguments)
                if self.output.pending:
                    self.stream.send(self.output.read())
                return result
            except ssl.SSLWantReadError:
                if self.output.pending:
                    self.stream.send(self.output.read())
                bytes = self.stream.receive()
                if not bytes:
                    return b""
                self.input.write(bytes)

    def send(self, bytes):
        self.run(self.tls.write, bytes)

    def receive(self):
        return self.run(self.tls.read, 65536)


parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("target")
parser.add_argument("--ca")
parser.add_argument("--path", default="/")
parser.add_argument("--early", action="store_true")
parser.add_argument("--half", action="store_true")
parser.add_argument("--body", type=int, default=0)
options = parser.parse_args()
head = f"GET {options.path} HTTP/1.1\r\nHost: {options.target}\r\nConnection: close\r\nContent-Length: {options.body}"
request = f"{head}\r\n\r\n".encode() + bytes(options.body)
stream = Stream(options.port, options.target, request if options.early else b"")
result = {"connect": stream.status, "status": "", "count": 0, "digest": ""}
inside = stream
if stream.status == "200":
    if options.ca:
        inside = Secure(stream, options.target.rsplit(":", 1)[0], options.ca)
    if not options.early:
        inside.send(request)
    if options.half:
        stream.end()
answer = b""
while part := inside.receive():
    answer += part
head, _, body = answer.partition(b"\r\n\r\n") if stream.status == "200" else (b"", b"", answer)
result["status"] = head.split(b"\r\n")[0].decode()
result["count"] = len(body)
result["digest"] = hashlib.sha256(body).hexdigest()
print(json.dumps(result))
