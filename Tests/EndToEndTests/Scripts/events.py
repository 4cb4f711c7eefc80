"""Measures how much later server-sent events come through a proxy than without it, in the same run.

usage: events.py --proxy PORT --authority FILE --root FILE --certificate FILE --key FILE
                 [--events N] [--spacing MS] [--rounds N]

Servers for HTTP/1.1 and HTTP/2 run in a process of their own, and send the time in each event; direct and proxied
connections take turns. Prints one line of JSON for each version: median and 99th percentile, in milliseconds, of both.
"""

import argparse
import os
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time

from h2_wire import *

HERE = os.path.dirname(os.path.abspath(__file__))


def serve(certificate, key):
    """An HTTP/1.1 server over TLS that answers /events/N/MS; prints its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["http/1.1"])
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(context, connection), daemon=True).start()


def answer(context, connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    secure = context.wrap_socket(connection, server_side=True)
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        request += secure.recv(4096)
    count, spacing = request.split(b" ")[1].split(b"/")[2:4]
    secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    start = time.monotonic()
    for index in range(int(count)):
        time.sleep(max(0, start + index * int(spacing) / 1e3 - time.monotonic()))
        event = f"id: {index}\ndata: {time.monotonic_ns()}\n\n".encode()
        secure.sendall(f"{len(event):x}\r\n".encode() + event + b"\r\n")
    secure.sendall(b"0\r\n\r\n")
    secure.close()


def over_http1(way, path):
    """The delays of all events, in nanoseconds."""
    connection = way.dial(["http/1.1"])
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {way.target}\r\n\r\n".encode())
    delays = Delays()
    while not delays.feed(connection.recv(65536), b"\r\n0\r\n\r\n"):
        pass
    connection.close()
    return delays.list


def over_http2(way, path):
    connection = Connection(way).head(path=path)
    delays = Delays()
    while got := connection.next():
        if got.kind == HEADERS:
            assert dict(connection.decode(got))[":status"] == "200"
        if got.kind == DATA:
            delays.feed(got.payload)
            if got.payload:
                connection.window(len(got.payload)).window(len(got.payload), 1)
        if got.stream == 1 and got.flags & END_STREAM and got.kind in (HEADERS, DATA):
            break
    connection.close()
    return delays.list


class Delays:
    """Reads events, and notes how old each is."""

    def __init__(self):
        self.list, self.rest = [], b""

    def feed(self, data, last=None):
        """Takes bytes; whether the stream has ended."""
        now = time.monotonic_ns()
        self.rest += data
        while b"\n\n" in self.rest:
            event, self.rest = self.rest.split(b"\n\n", 1)
            self.list.append(now - int(event.split(b"data: ")[1]))
        return not data or last is not None and self.rest.endswith(last)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--proxy", type=int)
    parser.add_argument("--authority", help="the proxy's", default=None)
    parser.add_argument("--root", help="the servers'")
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--spacing", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--serve", action="store_true")
    options = parser.parse_args()
    if options.serve:
        serve(options.certificate, options.key)
    files = ["--certificate", options.certificate, "--key", options.key]
    servers = {
        "HTTP/1.1": ([os.path.join(HERE, "events.py"), "--serve", *files], over_http1),
        "HTTP/2": ([os.path.join(HERE, "h2_server.py"), *files], over_http2),
    }
    path = f"/events/{options.events}/{options.spacing}"
    for version, (command, client) in servers.items():
        server = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
        try:
            target = f"localhost:{int(server.stdout.readline())}"
            ways = {"direct": Way(target, ca=options.root)}
            if options.proxy:
                ways["proxied"] = Way(target, options.proxy, options.authority)
            delays = {name: [] for name in ways}
            for way in ways.values():
                client(way, "/events/5/1")
            for _ in range(options.rounds):
                for name, way in ways.items():
                    got = client(way, path)
                    assert len(got) == options.events, f"{len(got)} events {name}"
                    delays[name] += got
            figures = {}
            for name, values in delays.items():
                figures[name] = {
                    "median": round(statistics.median(values) / 1e6, 3),
                    "p99": round(statistics.quantiles(values, n=100)[98] / 1e6, 3),
                }
            report(version=version, **figures)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
