"""Faults of servers and clients, one at each byte: what each exchange shows, and that no other one is harmed.

usage: faults.py SLUICE DIRECTORY CERTIFICATE KEY ROOT [servers | clients] [all]

`all` cuts answers over TLS in their heads, too.
Prints a line for each thing that is wrong; nothing where all is right.
"""

import concurrent.futures
import gzip
import os
import signal
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import zlib

from fault_peers import *
from h2_wire import Connection, Way, error_name, open_tunnel
from sluice_story import directory, end, environment, further, sluice, wrong

certificate, key, root, *chosen = further
FAILED, COMPLETE = 2, 1
FIRST_HEAD = CASES["interim"].answer.index(b"\r\n\r\n") + 4
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

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

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


# Servers that end at each byte


def judge(name, case, ending, position, seen, row, is_secure):
    """What is wrong with an exchange whose server sent so much and ended."""
    def bad(text):
        wrong(f"{name}: {text}; the client saw {seen}; recorded: {row and (row['state'], row['status'], row['flags'], told(row))}")

    if row is None:
        return bad("is not recorded")
    has_head, is_whole = position >= case.head, position >= case.end and not case.ends_with_connection
    if case.ends_with_connection and has_head and ending != "rst":
        is_whole = True
    body = case.body(position)
    # The page that explains a failure is recorded as what the client got.
    stored = b"" if row["flags"] & ANSWERED else stored_body(row)
    if ending == "rst":
        # A reset may overtake what was sent before it; then there is less, and nothing is made up.
        if row["state"] == COMPLETE and (not is_whole or not seen.is_whole):
            return bad("passes for whole")
        if not body.startswith(stored) or not body.startswith(seen.body) and seen.status != 502:
            return bad("has bytes that never came")
        if row["state"] == COMPLETE:
            return None
        has_head = row["status"] != 502
        is_whole = False
    elif stored != (body if has_head else b""):
        return bad(f"has the body {stored}, not {body}")
    if is_whole:
        if row["state"] != COMPLETE or row["failure"] or row["status"] != case.status:
            return bad("is not complete")
        if seen.status != case.status or seen.body != body or seen.rest or seen.interims != case.interims:
            return bad("did not reach the client as it was")
        lacks = is_secure and case.ends_with_connection and ending == "fin"
        if bool(row["flags"] & WITHOUT_NOTIFY) != lacks:
            return bad("has a wrong flag about close_notify")
        if lacks == (seen.is_whole and seen.ended == "end"):
            return bad("does not tell its client the end as it was")
        return None
    if row["state"] != FAILED or row["failure"] != "reset":
        return bad("has not failed by a reset")
    if has_head:
        if seen.is_whole or seen.status not in (case.status, 0) or row["status"] != case.status:
            return bad("passes for whole with its client")
        if ending != "rst" and seen.body != body:
            bad("did not pass on all that came")
    elif seen.status != 502 or not seen.is_whole or case.method != "HEAD" and not seen.body.startswith(b"Sluice: "):
        return bad("does not explain itself to its client")
    check_words(bad, case, ending, position, body, has_head, row)


def check_words(bad, case, ending, position, body, has_head, row):
    words = row["failure_message"] or ""
    if ("reset" if ending == "rst" else "closed") not in words:
        bad("does not say how the server ended")
    if has_head:
        count = len(stored_body(row))
        place = f"{count} of {case.length} bytes" if case.length else f"{count} byte"
        if f"body, {place}" not in words:
            bad(f"does not say that {place} had come")
    elif ending != "rst":
        # An interim response does not count.
        skipped = 0 if not case.interims or position < FIRST_HEAD else FIRST_HEAD
        place = f"head, after {position - skipped} byte" if position > skipped else "without an answer"
        if place not in words:
            bad(f"does not say {place!r}")


def servers_end(proxy, servers):
    jobs = []
    for server in servers:
        for name, case in CASES.items():
            # Whatever ends without a body does so in the same way.
            endings = ["fin", "rst"] if case.has_body and name != "longer" or "all" in chosen else ["fin"]
            for ending in endings + ["notify"] * bool(server.context):
                # Heads are read alike with and without TLS; handshakes take their time.
                first = max(0, case.head - 2) if server.context and "all" not in chosen else 0
                jobs += [(server, name, case, ending, position) for position in range(first, len(case.answer) + 1)]

    def run(job):
        server, name, case, ending, position = job
        try:
            return proxy.ask(server, f"/{name}/{ending}/{position}", case.method)
        except OSError as error:
            seen = Seen()
            seen.ended = f"{error!r}"
            return seen

    results = each(run, jobs)
    passed(f"{len(jobs)} answers were cut")
    found = {(row["port"], row["path"]): row for row in proxy.settle(count=len(jobs))}
    for job, seen in zip(jobs, results):
        server, name, case, ending, position = job
        row = found.get((server.port, f"/{name}/{ending}/{position}"))
        title = f"{'https' if server.context else 'http'} /{name}/{ending}/{position}"
        judge(title, case, ending, position, seen, row, bool(server.context))


def servers_end_http2(proxy, server):
    whole = greeting(1) + b"".join(http2_frames(1))
    frames = http2_frames(1)
    head = len(greeting(1)) + len(frames[0])
    second = head + len(frames[1])
    client = HTTP2Client(proxy, server)
    siblings = [client.begin("/sibling/alone")]
    jobs = [(ending, position) for ending in ("fin", "rst") for position in range(len(whole) + 1)]
    jobs += [("notify", position) for position in range(0, len(whole) + 1, 1 if "all" in chosen else 10)]
    results = each(lambda job: client.ask(f"/bytes/{job[0]}/{job[1]}"), jobs, 4)
    siblings.append(client.begin("/sibling/shared"))
    codes = [(f"reset{code}", position) for code in (0, 2, 7, 8, 11) for position in range(5)]
    others = each(lambda job: client.ask(f"/frames/{job[0]}/{job[1]}"), codes, 1)
    # These end the server's connection, and so all of its streams.
    going = [("goaway", position) for position in range(5)] + [("unprocessed", 0)]
    codes += going
    single = HTTP2Client(proxy, server)
    others += [single.ask(f"/frames/{ending}/{position}") for ending, position in going]
    single.close()
    passed(f"{len(jobs) + len(codes)} answers over HTTP/2 were cut")
    server.released.set()
    for sibling in siblings:
        seen = client.end(sibling)
        if not seen.is_whole or seen.body != b"steady" * (len(seen.body) // 6):
            wrong(f"the sibling on the same connection was harmed: {seen}")
    server.released.clear()
    client.close()
    found = {row["path"]: row for row in proxy.settle(f"port = {server.port} AND path NOT LIKE '/sibling%'")}
    for (ending, position), seen in zip(jobs, results):
        row = found.get(f"/bytes/{ending}/{position}")
        name = f"h2 /bytes/{ending}/{position}"
        # What came of a frame is passed on before the rest of it.
        body = b"hel"[:max(0, position - head - 9)] + b"lo"[:max(0, position - second - 9)]
        judge_http2(name, ending, position >= head, position >= len(whole), body, seen, row)
    for (ending, position), seen in zip(codes, others):
        row = found.get(f"/frames/{ending}/{position}")
        name = f"h2 /frames/{ending}/{position}"
        body = [b"", b"", b"hel", b"hello", b"hello"][position]
        judge_http2(name, ending, position > 0, position == 4, body, seen, row)


def judge_http2(name, ending, has_head, is_whole, body, seen, row):
    def bad(text):
        wrong(f"{name}: {text}; the client saw {seen}; recorded: {row and (row['state'], row['status'], row['flags'], told(row))}")

    if row is None:
        return bad("is not recorded")
    # The page that explains a failure is recorded as what the client got.
    stored = b"" if row["flags"] & ANSWERED else stored_body(row)
    if ending == "rst":
        if row["state"] == COMPLETE and not (is_whole and seen.is_whole):
            return bad("passes for whole")
        if not body.startswith(stored):
            return bad("has bytes that never came")
        if row["state"] == COMPLETE:
            return None
        has_head, is_whole = row["status"] == 200, False
    elif stored != (body if has_head else b""):
        return bad(f"has the body {stored}, not {body}")
    if is_whole:
        if row["state"] != COMPLETE or row["failure"] or not seen.is_whole or seen.body != body:
            bad("is not complete")
        return None
    if row["state"] != FAILED or row["failure"] != "reset":
        return bad("has not failed by a reset")
    if has_head:
        if seen.is_whole or not seen.ended.startswith("RST_STREAM"):
            bad("passes for whole with its client")
    elif ending.startswith("reset") or ending == "unprocessed":
        if not seen.ended.startswith("RST_STREAM") or row["status"]:
            bad("does not pass on the reset")
    elif seen.status != 502 or not seen.body.startswith(b"Sluice: "):
        bad("does not explain itself to its client")


# Servers that are wrong, stall, or send without end


def gzip_bomb(size):
    packed = zlib.compressobj(9, wbits=31)
    return packed.compress(bytes(size)) + packed.flush()


def servers_are_wrong(proxy, servers):
    """Answers that are malformed in their length, and bodies that are huge when unpacked."""
    bomb = gzip_bomb(200 << 20)
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    RAW.update({
        "chunk-size": chunked + b"5\r\nhello\r\nzz\r\nmore\r\n0\r\n\r\n",
        "chunk-huge": chunked + b"ffffffffffffffffff\r\nhello",
        "chunk-end": chunked + b"5\r\nhelloXX0\r\n\r\n",
        "chunk-cut": chunked + b"5\r\nhello\r\n64\r\nabc",
        "lengths": OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "negative": OK + b"Content-Length: -5\r\n\r\nhello",
        "huge": OK + b"Content-Length: 99999999999999999999\r\n\r\nhello",
        "bomb": OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb,
        "nested": OK + b"Content-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n" % len(gzip_twice(bomb))
        + gzip_twice(bomb),
    })
    # What the client sees: a status and whether it is whole; the state and the failure that are recorded.
    expected = {
        "chunk-size": (200, False, FAILED, "bad-response"), "chunk-huge": (200, False, FAILED, "bad-response"),
        "chunk-end": (200, False, FAILED, "bad-response"), "chunk-cut": (200, False, FAILED, "reset"),
        "lengths": (502, True, FAILED, "bad-response"), "negative": (502, True, FAILED, "bad-response"),
        "huge": (502, True, FAILED, "bad-response"),
        "bomb": (200, True, COMPLETE, None), "nested": (200, True, COMPLETE, None),
    }
    for server in servers:
        for name in RAW:
            seen = proxy.ask(server, f"/raw/{name}/notify")
            row = next(iter(proxy.settle(f"port = {server.port} AND path = '/raw/{name}/notify'", 1)), None)
            got = row and (seen.status, seen.is_whole, row["state"], row["failure"])
            if got != expected[name]:
                wrong(f"/raw/{name}: {got}, not {expected[name]}; {row and told(row)}; the client saw {seen}")


def gzip_twice(packed):
    return gzip.compress(packed)


def servers_stall(proxy, servers):
    """With a short --idle-timeout: 504 before the head, cut after it, and the server is let go."""
    jobs = [
        (server, name, position) for server in servers for name, case in CASES.items()
        for position in (0, 9, case.head - 1, case.head, case.end - 1) if 0 <= position < case.end
    ]
    results = each(lambda job: proxy.ask(job[0], f"/{job[1]}/stall/{job[2]}", CASES[job[1]].method), jobs, 24)
    found = {(row["port"], row["path"]): row for row in proxy.settle(count=len(jobs))}
    for (server, name, position), seen in zip(jobs, results):
        row, case = found.get((server.port, f"/{name}/stall/{position}")), CASES[name]
        title = f"{'https' if server.context else 'http'} /{name}/stall/{position}: "
        if row is None or row["state"] != FAILED or row["failure"] != "timeout" or "Nothing happened" not in told(row):
            wrong(f"{title}is recorded as {row and told(row)}")
        elif position < case.head and (seen.status != 504 or not seen.is_whole):
            wrong(f"{title}the client saw {seen}")
        elif position >= case.head and (seen.status != case.status or seen.is_whole or row["status"] != case.status):
            wrong(f"{title}the client saw {seen}")
        elif position > case.head and f"{len(case.body(position))} of" not in told(row) and case.length:
            wrong(f"{title}does not say how much had come: {told(row)}")
    for server in servers:
        eventually(lambda server=server: f"{server.open} connections are left to a server that stalled",
                   lambda server=server: server.open == 0)


def halves_close(proxy, servers):
    """A server, then a client, that ends its half and goes on reading."""
    for server in servers:
        for name, case in CASES.items():
            seen = proxy.ask(server, f"/{name}/half/{case.end}", case.method)
            lacks = bool(server.context) and case.ends_with_connection
            if seen.is_whole == lacks or seen.body != case.body(case.end):
                wrong(f"{name} of a server that ends its half: {seen}")
    server = servers[0]
    with proxy.connect() as connection:
        connection.sendall(proxy.request(server, "/length/fin/43"))
        connection.shutdown(socket.SHUT_WR)
        seen = read_answer(connection)
        if not seen.is_whole or seen.body != b"hello":
            wrong(f"a client that ended its half saw {seen}")


# Clients that go


def leave(connection, way):
    if way == "rst":
        # TLS' own object would send its goodbye.
        return reset(connection)
    connection.close()


def clients_go(proxy, server):
    """Clients that leave at each byte of what they send, in plain HTTP."""
    body = b"0123456789"
    request = proxy.request(server, "/client/", "POST", f"Content-Length: {len(body)}\r\n", body)
    head = len(request) - len(body)
    jobs = [(way, position) for way in ("fin", "rst") for position in range(len(request))]

    def run(job):
        way, position = job
        path = f"/client/{way}/{position}".encode()
        with proxy.connect() as connection:
            connection.sendall(request.replace(b"/client/", path)[:position + len(path) - len(b"/client/")])
            if position >= head:
                # The head is to be read before the end comes, so that there is an exchange.
                eventually(f"{path} is not recorded", lambda: proxy.rows(f"path = '{path.decode()}'"))
            leave(connection, way)

    each(run, jobs)
    rows = proxy.settle()
    found = {row["path"]: row for row in rows}
    for way, position in jobs:
        row = found.get(f"/client/{way}/{position}")
        if position < head:
            # Half a head is no exchange of that path, whatever else is said of it.
            if row and row["kind"] != 5:
                wrong(f"/client/{way}/{position}: is recorded as {told(row)}")
        elif row is None or row["state"] != FAILED or row["failure"] != "client-gone":
            wrong(f"/client/{way}/{position}: is recorded as {row and told(row)}")
        elif f"{position - head} of {len(body)} bytes" not in told(row):
            wrong(f"/client/{way}/{position}: does not say how much had come: {told(row)}")
    for row in rows:
        if row["kind"] == 5 and "in the middle of a request head" not in told(row):
            wrong(f"half a head is recorded as {told(row)}")
    eventually(lambda: f"{server.open} connections to the server are left", lambda: server.open == 0)


def clients_go_while(proxy, servers):
    """Clients that reset while the server is silent, while it sends, while a rule holds or slows their messages."""
    places = [f"/{case}/stall/{position}" for case, position in
              (("length", 0), ("length", 10), ("length", 40), ("chunked", 62), ("ending", 27))]
    places += ["/length/held/43", "/length/heldanswer/43", "/length/slow/43"]
    for server in servers:
        for path in places:
            seen = server.seen
            with proxy.connect(server) as connection:
                connection.sendall(proxy.request(server, path + "?gone"))
                condition = f"path = '{path}' AND query = 'gone' AND port = {server.port}"
                eventually(f"{path} does not begin", lambda: proxy.rows(condition))
                if "stall" in path or "heldanswer" in path:
                    eventually(f"{path} does not reach the server", lambda: server.seen > seen)
                leave(connection, "rst")
            rows = proxy.settle(condition, 1)
            if not rows or rows[0]["state"] != FAILED or rows[0]["failure"] != "client-gone":
                wrong(f"{path} of a client that is gone: {[(row['state'], told(row)) for row in rows]}")
            eventually(lambda: f"{path}: {server.open} connections to the server are left", lambda: server.open == 0)


def clients_go_in_handshakes(proxy, server):
    """Clients that leave in CONNECT, in the ClientHello, and in what follows."""
    connect = f"CONNECT localhost:{server.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    handshake = client_context(proxy.authority).wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        handshake.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outgoing.read()
    sent = connect + hello
    jobs = [(way, position) for way in ("fin", "rst") for position in [*range(len(connect)), *range(len(connect), len(sent) + 1, 9)]]

    def run(job):
        way, position = job
        with proxy.connect() as connection:
            connection.sendall(sent[:position])
            if position >= len(connect):
                connection.recv(len(OK) + 60)
            if position == len(sent):
                connection.recv(100)
            leave(connection, way)

    each(run, jobs)
    for row in proxy.settle(f"port = {server.port}"):
        if row["state"] not in (FAILED, COMPLETE):
            wrong(f"a handshake that was given up is recorded as {row['state']} {told(row)}")
    eventually(lambda: f"{server.open} connections to the server are left", lambda: server.open == 0)


def clients_go_http2(proxy, server):
    """Connections of HTTP/2 that end at each byte of a request's frames."""
    way = Way(f"localhost:{server.port}", proxy.port, proxy.authority)
    fields = block([(":method", "POST"), (":scheme", "https"), (":path", "/sibling/cut"), (":authority", way.target)])
    sent = PREFACE + frame(SETTINGS) + frame(HEADERS, END_HEADERS, 1, fields) + frame(DATA, 0, 1, b"12345")
    sent += frame(DATA, END_STREAM, 1, b"67890")
    jobs = [(ending, position) for ending in ("fin", "rst") for position in range(len(sent) + 1)]

    def run(job):
        ending, position = job
        connection = way.dial()
        connection.sendall(sent[:position])
        leave(connection, ending)

    each(run, jobs)
    for row in proxy.settle("path = '/sibling/cut'"):
        if row["state"] != FAILED or row["failure"] != "client-gone":
            wrong(f"a request over HTTP/2 that was cut is recorded as {row['state']} {told(row)}")


HOLDS = """version: 1
breakpoints:
  - { at: "*/length/held/*", on: request }
  - { at: "*/length/heldanswer/*", on: response }
throttle: { only: [ "*/length/slow/*" ], latency: 20000 }
"""


def main():
    plain, secure = Server(), Server(server_context("http/1.1"))
    other, third, multiplexed = Server(), Server(server_context("http/1.1")), Server(server_context("h2"), "h2")
    victim, unprocessing = Server(server_context("h2"), "h2"), Server(server_context("h2"), "h2")
    if "clients" not in chosen:
        proxy = Proxy("servers")
        for server in (plain, secure):
            proxy.ask(server, "/ok")
        siblings = Siblings(proxy, [other, third, multiplexed])
        time.sleep(0.5)
        before, memory = proxy.descriptors(), proxy.memory()
        servers_end(proxy, [plain, secure])
        passed("servers end")
        halves_close(proxy, [plain, secure])
        passed("halves close")
        check_descriptors(proxy, before, "servers that end")
        servers_end_http2(proxy, victim)
        passed("servers end http2")
        check_descriptors(proxy, before, "servers of HTTP/2 that end")
        servers_are_wrong(proxy, [plain, secure])
        passed("servers are wrong")
        siblings.end("servers that end")
        passed(f"memory {memory} KiB before, {proxy.memory()} KiB now")
        proxy.stop()
    if "servers" not in chosen:
        proxy = Proxy("clients", "--idle-timeout", "2", profile=HOLDS)
        for server in (plain, secure):
            proxy.ask(server, "/ok")
        siblings = Siblings(proxy, [other, third, multiplexed])
        time.sleep(0.5)
        before, memory = proxy.descriptors(), proxy.memory()
        servers_stall(proxy, [plain, secure])
        passed("servers stall")
        clients_go(proxy, plain)
        passed("clients go")
        clients_go_while(proxy, [plain, secure])
        passed("clients go while")
        clients_go_in_handshakes(proxy, secure)
        passed("clients go in handshakes")
        clients_go_http2(proxy, victim)
        passed("clients go http2")
        siblings.end("clients that go")
        check_descriptors(proxy, before, "clients that go")
        passed(f"memory {memory} KiB before, {proxy.memory()} KiB now")
        proxy.stop()


main()
end()
