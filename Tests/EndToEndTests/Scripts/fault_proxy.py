"""A proxy under faults: what it holds and has recorded, clients of it, and exchanges beside those that fail; for faults.py."""

import concurrent.futures
import os
import signal
import sqlite3
import ssl
import subprocess
import sys
import threading
import time

from fault_peers import *
from h2_wire import Connection, Way, error_name, open_tunnel
from sluice_story import directory, environment, further, sluice, wrong

certificate, key, root, *chosen = further
FAILED, COMPLETE = 2, 1
ANSWERED, WITHOUT_NOTIFY = 4, 32


def server_context(*protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(protocols)
    return context


class Proxy:
    """A running proxy, with what it holds."""

    def __init__(self, name, *options, profile=None):
        self.session = f"{directory}/{name}.sluice"
        if profile:
            with open(f"{directory}/{name}.yaml", "w") as file:
                file.write(profile)
            options += ("--profile", f"{directory}/{name}.yaml")
        self.log = open(f"{directory}/{name}.log", "w+")
        self.process = subprocess.Popen(
            [sluice, "run", "--listen", "127.0.0.1:0", "--session", self.session, "--upstream-ca", root, "--quiet",
             *options],
            env=environment, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
        )
        self.port = int(self.await_line("sluice: listening on ").rsplit(":", 1)[1])
        self.await_line("recording to")
        self.authority = directory + "/config/sluice/ca-cert.pem"

    def text(self):
        with open(self.log.name) as file:
            return file.read()

    def await_line(self, words):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            for line in self.text().splitlines():
                if words in line:
                    return line
            time.sleep(0.02)
        raise SystemExit(f"sluice did not say {words!r}: {self.text()}")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory(self, key="VmRSS"):
        """In KiB: the memory it has now, or with `VmHWM` the most that it had."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key))

    def rows(self, condition="1"):
        connection = sqlite3.connect(f"file:{self.session}?mode=ro", uri=True, timeout=10)
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        try:
            return [dict(row) for row in connection.execute(
                "SELECT exchange.*, trace, coalesce(nullif(response_body, x''),"
                " (SELECT group_concat(CAST(data AS TEXT), '') FROM chunk WHERE exchange = exchange.id AND side = 2))"
                " AS body FROM exchange"
                f" LEFT JOIN payload ON payload.id = exchange.payload WHERE {condition} ORDER BY exchange.id"
            )]
        finally:
            connection.close()

    def settle(self, condition="path NOT LIKE '/sibling%'", count=0, seconds=15):
        """Waits until there are so many rows, and nothing of them is in flight; the rows."""
        deadline = time.monotonic() + seconds
        while True:
            rows = self.rows(condition)
            if len(rows) >= count and all(row["state"] for row in rows) or time.monotonic() > deadline:
                return rows
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return wrong(f"sluice did not stop: {self.text()}")
        if status:
            wrong(f"sluice ended with {status}: {self.text()}")

    # Clients

    def connect(self, server=None, timeout=PATIENCE):
        """A connection to the proxy; with a server that speaks TLS, one to it through a tunnel."""
        if not server or not server.context:
            connection = socket.create_connection(("127.0.0.1", self.port), timeout)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        connection = tunnel(self.port, server.port, timeout)
        return client_context(self.authority).wrap_socket(
            connection, server_hostname="localhost", suppress_ragged_eofs=False
        )

    def request(self, server, path, method="GET", fields="", body=b""):
        prefix = "" if server.context else f"http://127.0.0.1:{server.port}"
        name = "localhost" if server.context else "127.0.0.1"
        return f"{method} {prefix}{path} HTTP/1.1\r\nHost: {name}:{server.port}\r\n{fields}\r\n".encode() + body

    def ask(self, server, path, method="GET", fields="Connection: close\r\n", body=b""):
        with self.connect(server) as connection:
            connection.sendall(self.request(server, path, method, fields, body))
            return read_answer(connection, method)


contexts = {}


def client_context(authority, protocol="http/1.1"):
    if (authority, protocol) not in contexts:
        context = contexts[authority, protocol] = ssl.create_default_context(cafile=authority)
        context.set_alpn_protocols([protocol])
    return contexts[authority, protocol]


def tunnel(proxy, port, timeout):
    """A tunnel through a proxy to a port of this machine."""
    connection = socket.create_connection(("127.0.0.1", proxy), timeout)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    open_tunnel(connection, f"localhost:{port}")
    return connection


class SecureWay(Way):
    """A way on which one thread reads and others write."""

    def dial(self, *arguments):
        connection = tunnel(self.proxy, int(self.target.rsplit(":", 1)[1]), PATIENCE)
        return Secure(connection, client_context(self.ca, "h2"), server_hostname="localhost")


class HTTP2Client:
    """An HTTP/2 connection through the proxy, and what came on each of its streams."""

    def __init__(self, proxy, server):
        way = SecureWay(f"localhost:{server.port}", proxy.port, proxy.authority)
        self.connection = Connection(way, timeout=PATIENCE)
        self.seen, self.done, self.lock, self.number = {}, {}, threading.Lock(), 1
        self.is_over = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while (got := self.connection.next()) is not None:
                self.take(got)
        except OSError:
            pass
        self.is_over = True
        for number, done in list(self.done.items()):
            self.seen[number].ended = self.seen[number].ended or "connection"
            done.set()

    def take(self, got):
        seen = self.seen.get(got.stream)
        if got.kind == SETTINGS and not got.flags & ACK:
            self.connection.frame(SETTINGS, ACK)
        if seen is None:
            return
        if got.kind == HEADERS:
            fields = dict(self.connection.decode(got))
            if ":status" in fields:
                seen.status = int(fields[":status"])
                seen.interims += seen.status < 200
        elif got.kind == DATA:
            seen.body += got.payload
        elif got.kind == RST_STREAM:
            seen.ended = "RST_STREAM " + error_name(got.payload)
        if got.kind in (HEADERS, DATA) and got.flags & END_STREAM:
            seen.is_whole, seen.ended = True, "END_STREAM"
        if seen.ended:
            self.done[got.stream].set()

    def begin(self, path, **request):
        with self.lock:
            number, self.number = self.number, self.number + 2
            self.seen[number], self.done[number] = Seen(), threading.Event()
            self.connection.head(number, path=path, **request)
        return number

    def end(self, number, patience=PATIENCE):
        if not self.done[number].wait(patience):
            self.seen[number].ended = "nothing"
        return self.seen[number]

    def ask(self, path, **request):
        return self.end(self.begin(path, **request))

    def close(self):
        self.connection.close()


class Siblings:
    """Exchanges beside those that fail: a long answer on each kind of connection, and short ones all the time."""

    def __init__(self, proxy, servers):
        self.proxy, self.servers, self.found, self.stopped = proxy, servers, {}, threading.Event()
        self.threads = [threading.Thread(target=self.follow, args=(server,), daemon=True) for server in servers]
        self.threads.append(threading.Thread(target=self.repeat, daemon=True))
        for thread in self.threads:
            thread.start()

    def follow(self, server):
        try:
            if server.protocol == "h2":
                client = HTTP2Client(self.proxy, server)
                self.found[server] = client.end(client.begin("/sibling/h2"), 10 * PATIENCE)
                client.close()
            else:
                self.found[server] = self.proxy.ask(server, "/sibling/h1")
        except OSError as error:
            self.found[server] = error

    def repeat(self):
        """Small exchanges on lasting connections."""
        try:
            connection, count = self.proxy.connect(self.servers[0]), 0
            with connection:
                while not self.stopped.wait(0.02):
                    connection.sendall(self.proxy.request(self.servers[0], "/ok"))
                    answer = b""
                    while not answer.endswith(b"\r\n\r\nok"):
                        piece = connection.recv(4096)
                        if not piece:
                            return wrong(f"a sibling's connection ended after {count} exchanges: {answer}")
                        answer += piece
                    if not answer.startswith(OK):
                        return wrong(f"a sibling got {answer}")
                    count += 1
        except OSError as error:
            wrong(f"a sibling failed: {error}")

    def end(self, what):
        self.stopped.set()
        for server in self.servers:
            server.released.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        for server in self.servers:
            seen = self.found.get(server)
            if not isinstance(seen, Seen) or not seen.is_whole or seen.body != b"steady" * (len(seen.body) // 6):
                wrong(f"{what}: the sibling of {server.protocol} was harmed: {seen}")
            server.released.clear()


def each(work, items, workers=8):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


begun = time.monotonic()


def passed(what):
    """Tells how long the parts took, for whoever runs this by hand."""
    print(f"{time.monotonic() - begun:.1f} s: {what}", file=sys.stderr, flush=True)


def eventually(what, condition, seconds=15):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return wrong(what() if callable(what) else what)
        time.sleep(0.05)


def check_descriptors(proxy, before, what, slack=2):
    eventually(
        lambda: f"{what}: {proxy.descriptors()} descriptors are open, {before} before", lambda:
        proxy.descriptors() <= before + slack,
    )


def stored_body(row):
    """The body as received; that of an exchange that took long is in pieces."""
    body = row["body"] or b""
    return body.encode("utf-8", "surrogateescape") if isinstance(body, str) else body


def told(row):
    return f"{row['failure']}: {row['failure_message']} {row['failure_hint'] or ''}"
