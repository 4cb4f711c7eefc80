"""A long run at full speed: HTTP/1.1, HTTP/2, WebSocket, events and faults, with all tools on and the console attached.

usage: soak.py SLUICE [--minutes 30] [--clients 4]

Needs nginx, curl with HTTP/2, tmux and Python's package websockets. Prints memory, descriptors and throughput every ten seconds, and at the end
the slopes of memory and descriptors over the second half, those of the console too, and the clients' counts beside the session's. Exit code 0
where all are flat, no exchange, message or event is lost or in flight, and the session is whole; else 1.
"""

import argparse
import asyncio
import os
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

import websockets
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

# What memory and descriptors may gain in an hour, in bytes and in number.
MEMORY_SLOPE, DESCRIPTOR_SLOPE = 64 << 20, 20

# What each WebSocket sends and gets back, and each stream of events consists of.
MESSAGES, STREAM = 200, [f"id: {number}\ndata: event {number}\n\n".encode() for number in range(20)]

PROFILE = """version: 1
allow: [ { at: "127.0.0.1:*" }, { at: "soak.example:*" } ]
block: [ { at: "*/blocked/*", action: 403 } ]
no-caching: true
block-cookies: { only: "*/cookies/*" }
rewrite: [ { at: "*/h1/*", rules: [ { add: header, on: response, name: X-Soak, to: seen } ] } ]
map-local: [ { from: "*/local/*", to: "LOCAL" } ]
map-remote: [ { from: "*/moved/*", to: "http://127.0.0.1:PLAIN/h1/" } ]
mirror: { to: "MIRROR", only: [ "*/mirrored/*" ] }
dns-spoofing: [ { host: soak.example, address: "127.0.0.1" } ]
breakpoints: { at: "*/held/*", on: response, after: 20ms, then: cancel }
throttle: { preset: fibre-100, only: "*/slow/*" }
"""


# What was not recorded though its exchange was.
LOST = {
    "WebSockets with fewer messages than were sent": (
        f"SELECT count(*) FROM exchange WHERE path LIKE '/ws/%' AND min(client_messages, server_messages) < {MESSAGES}"
    ),
    "streams with fewer events than were sent": (
        f"SELECT count(*) FROM exchange WHERE path LIKE '/events/%' AND response_body_size <> {len(b''.join(STREAM))}"
    ),
    "exchanges that were not recorded": "SELECT sum(not_recorded) FROM run",
    "bytes of bodies that were dropped": "SELECT sum(dropped_bytes) FROM run",
}


class Counts:
    """How many requests of each kind were sent, by all clients."""

    def __init__(self):
        self.lock, self.sent, self.problems = threading.Lock(), {}, []

    def take(self, kind):
        with self.lock:
            self.sent[kind] = self.sent.get(kind, 0) + 1
            return self.sent[kind]

    def add(self, kind, count):
        with self.lock:
            self.sent[kind] = self.sent.get(kind, 0) + count

    def problem(self, words):
        with self.lock:
            self.problems.append(words)


class Origin:
    """What nginx cannot do: events, faults, WebSockets."""

    async def start(self):
        self.plain = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.plain.sockets[0].getsockname()[1]
        self.sockets = await serve(self.echo, "127.0.0.1", 0)
        self.socket_port = next(iter(self.sockets.sockets)).getsockname()[1]

    async def echo(self, socket):
        async for message in socket:
            await socket.send(message)

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode()
                if "/events/" in path:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
                    for event in STREAM:
                        writer.write(event)
                        await writer.drain()
                        await asyncio.sleep(0.01)
                    return
                if "/reset/" in path:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 1000)
                    await writer.drain()
                    writer.transport.abort()
                    return
                if "/short/" in path:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 10)
                    return
                if "/garbage/" in path:
                    writer.write(b"\x00\x01\x02 no HTTP at all\r\n\r\n")
                    return
                return  # /gone/: closed without an answer.
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


class H1Client(threading.Thread):
    """One request after the other on a connection that is kept; each fault ends it, and the next begins."""

    # Each request has a kind; most are plain, the rest is what tools and faults are for.
    TOOLS = ["cookies", "blocked", "local", "moved", "slow", "mirrored", "held", "spoofed"]
    KINDS = ["h1"] * 12 + TOOLS + ["reset", "short", "garbage", "gone", "abort"]

    def __init__(self, counts, proxy, plain, faults, number):
        super().__init__(daemon=True)
        self.counts, self.proxy, self.plain, self.faults, self.index = counts, proxy, plain, faults, number
        self.stopping = False

    def run(self):
        import socket

        while not self.stopping:
            try:
                with socket.create_connection(("127.0.0.1", self.proxy), timeout=60) as connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    stream = connection.makefile("rb")
                    while not self.stopping and self.one(connection, stream):
                        pass
            except OSError as error:
                self.counts.problem(f"h1: {error}")
                time.sleep(0.1)

    def one(self, connection, stream):
        """Sends a request and reads its answer; returns whether the connection goes on."""
        self.index += 1
        kind = self.KINDS[self.index % len(self.KINDS)]
        port = self.faults if kind in ("reset", "short", "garbage", "gone") else self.plain
        place = f"{'soak.example' if kind == 'spoofed' else '127.0.0.1'}:{port}"
        number = self.counts.take(kind)
        connection.sendall(f"GET http://{place}/{kind}/{number} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        if kind == "abort":
            # The proxy has read the request once it answers; the client goes while the body comes.
            stream.readline()
            return False
        line = stream.readline()
        if not line.startswith(b"HTTP/1.1 "):
            return False
        expected = {"h1": b"200", "blocked": b"403"}.get(kind, b"200" if kind in self.TOOLS else b"")
        if not line.startswith(b"HTTP/1.1 " + expected):
            self.counts.problem(f"{kind}: {line}")
        length, closes = 0, False
        while (field := stream.readline().strip().lower()):
            if field.startswith(b"content-length:"):
                length = int(field.split(b":")[1])
            closes = closes or field == b"connection: close"
        return len(stream.read(length)) == length and not closes


class H2Client(threading.Thread):
    """curl with many streams on a connection, for as long as the run goes."""

    def __init__(self, counts, proxy, secure, directory, authority):
        super().__init__(daemon=True)
        self.counts, self.proxy, self.secure = counts, proxy, secure
        self.directory, self.authority, self.stopping = directory, authority, False

    def run(self):
        batch, first = 400, 1
        while not self.stopping:
            config = os.path.join(self.directory, "urls")
            with open(config, "w") as file:
                for number in range(first, first + batch):
                    file.write(f'url = "https://127.0.0.1:{self.secure}/h2/{number}"\noutput = "/dev/null"\n')
            done = subprocess.run(
                [
                    "curl", "-sS", "--no-progress-meter", "--http2", "--parallel", "--parallel-max", "20", "--proxy", f"http://127.0.0.1:{self.proxy}",
                    "--cacert", self.authority, "-K", config, "-w", "%{http_version} %{http_code}\n",
                ],
                capture_output=True, text=True,
            )
            lines = done.stdout.split("\n")[:-1]
            if lines.count("2 200") != batch:
                self.counts.problem(f"h2: {len(lines)} of {batch}: {sorted(set(lines))} {done.stderr[-200:]}")
            self.counts.add("h2", batch)
            first += batch


async def websocket_client(counts, proxy, port, stopping):
    while not stopping():
        number = counts.take("ws")
        try:
            async with connect(f"ws://127.0.0.1:{port}/ws/{number}", proxy=f"http://127.0.0.1:{proxy}") as socket:
                for message in range(MESSAGES):
                    await socket.send(f"message {message} " * 20)
                    await socket.recv()
        except (OSError, websockets.WebSocketException) as error:
            counts.problem(f"ws: {error}")
            await asyncio.sleep(0.1)


async def event_client(counts, proxy, port, stopping):
    while not stopping():
        number = counts.take("events")
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
        writer.write(f"GET http://127.0.0.1:{port}/events/{number} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        text = await reader.read(-1)
        if text.count(b"data: event") != len(STREAM):
            counts.problem(f"events: {len(text)} bytes")
        writer.close()


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_nginx(directory):
    plain, secure = free_port(), free_port()
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "10",
            "-keyout", f"{directory}/key.pem", "-out", f"{directory}/cert.pem", "-subj", "/CN=127.0.0.1",
            "-addext", "subjectAltName=IP:127.0.0.1",
        ],
        check=True, capture_output=True,
    )
    with open(f"{directory}/nginx.conf", "w") as file:
        file.write(
            f"daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/nginx.log;\n"
            "events { worker_connections 1024; }\nhttp { access_log off; keepalive_requests 1000000;\n"
            f"server {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl http2;\n"
            f"ssl_certificate {directory}/cert.pem; ssl_certificate_key {directory}/key.pem;\n"
            f"location /abort/ {{ return 200 '{'long ' * 700}'; }}\n"
            "location / { add_header Set-Cookie a=b; return 200 'a body of some words\\n'; } } }\n"
        )
    nginx = subprocess.Popen(["nginx", "-c", f"{directory}/nginx.conf"])
    time.sleep(0.5)
    if nginx.poll() is not None:
        raise SystemExit("nginx does not start")
    return nginx, plain, secure


def facts(pid):
    with open(f"/proc/{pid}/status") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) << 10
    return memory, len(os.listdir(f"/proc/{pid}/fd"))


class Sample(NamedTuple):
    """The seconds since the run began; bytes in memory and open descriptors, of the proxy and of the console."""

    at: float
    memory: int
    descriptors: int
    console_memory: int
    console_descriptors: int


def slope(points):
    """Least squares: what a value gains in an hour."""
    count = len(points)
    middle_x, middle_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return 3600 * sum((x - middle_x) * (y - middle_y) for x, y in points) / spread if spread else 0.0


async def drive(options, directory, environment):
    counts, origin = Counts(), Origin()
    await origin.start()
    nginx, plain, secure = start_nginx(directory)
    with open(f"{directory}/local.txt", "w") as file:
        file.write("local\n")
    profile = PROFILE.replace("LOCAL", f"{directory}/local.txt").replace("PLAIN", str(plain)).replace("MIRROR", f"{directory}/mirror")
    with open(f"{directory}/p.yaml", "w") as file:
        file.write(profile)
    session, errors = f"{directory}/soak.sluice", open(f"{directory}/errors.txt", "w+")
    sluice = subprocess.Popen(
        [
            options.sluice, "run", "--listen", "127.0.0.1:0", "--quiet", "--session", session, "--profile", f"{directory}/p.yaml",
            "--upstream-ca", f"{directory}/cert.pem",
        ],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=environment,
    )
    tmux = ["tmux", "-S", f"{directory}/tmux"]
    clients, proxy, samples = [], None, []
    try:
        for _ in range(600):
            text = open(errors.name).read()
            if "recording to" in text or sluice.poll() is not None:
                break
            await asyncio.sleep(0.05)
        line = next((line for line in open(errors.name) if "listening on " in line), None)
        if line is None or sluice.poll() is not None:
            raise SystemExit(f"sluice does not start: {open(errors.name).read()}")
        proxy = int(line.rsplit(":", 1)[1])
        console = f"exec '{options.sluice}' attach --control {sluice.pid}"
        subprocess.run(tmux + ["new-session", "-d", "-x", "160", "-y", "50", console], env=environment, check=True)
        pane = subprocess.run(tmux + ["display-message", "-p", "#{pane_pid}"], env=environment, check=True, capture_output=True, text=True).stdout
        end = time.monotonic() + options.minutes * 60
        stopping = lambda: time.monotonic() >= end
        authority = f"{environment['XDG_CONFIG_HOME']}/sluice/ca-cert.pem"
        clients = [H1Client(counts, proxy, plain, origin.port, 7 * index) for index in range(options.clients)]
        clients.append(H2Client(counts, proxy, secure, directory, authority))
        for client in clients:
            client.start()
        tasks = [asyncio.create_task(websocket_client(counts, proxy, origin.socket_port, stopping))]
        tasks += [asyncio.create_task(event_client(counts, proxy, origin.port, stopping)) for _ in range(2)]
        begun, before, key = time.monotonic(), 0, 0
        while not stopping() and sluice.poll() is None:
            await asyncio.sleep(min(10, max(0.1, end - time.monotonic())))
            try:
                sample = Sample(time.monotonic() - begun, *facts(sluice.pid), *facts(int(pane)))
            except OSError:
                break  # One of them is gone, which is said below.
            total, passed = sum(counts.sent.values()), sample.at - (samples[-1].at if samples else 0)
            samples.append(sample)
            print(
                f"{sample.at:6.0f} s  {sample.memory / (1 << 20):7.1f} MiB  {sample.descriptors:4} descriptors  {total:9} requests, "
                f"{(total - before) / passed:7.0f} a second  console {sample.console_memory / (1 << 20):7.1f} MiB",
                flush=True,
            )
            before = total
            # Somebody looks around in the console.
            subprocess.run(tmux + ["send-keys", ("Down", "Up", "2", "1", "End")[key % 5]], env=environment)
            key += 1
        for client in clients:
            client.stopping = True
        for client in clients:
            await asyncio.to_thread(client.join, 120)
        await asyncio.gather(*tasks)
        shown = subprocess.run(tmux + ["capture-pane", "-p"], env=environment, capture_output=True, text=True).stdout
        if "attached" not in shown and "soak.sluice" not in shown:
            counts.problem(f"the console is gone: {shown.strip()[-200:]}")
    finally:
        subprocess.run(tmux + ["kill-server"], env=environment, capture_output=True)
        sluice.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.to_thread(sluice.wait, 120)
        except subprocess.TimeoutExpired:
            sluice.kill()
            code = None
        nginx.terminate()
        nginx.wait()
    return counts, samples, session, code, open(errors.name).read()


def grown(samples):
    """Prints the slopes of a run's second half, and says which are too steep."""
    if len(samples) < 3:
        return []
    share = (samples[-1].at - samples[0].at) / 3600
    problems = []
    for who, memory, descriptors in (("sluice", "memory", "descriptors"), ("console", "console_memory", "console_descriptors")):
        bytes_an_hour = slope([(sample.at, getattr(sample, memory)) for sample in samples])
        files_an_hour = slope([(sample.at, getattr(sample, descriptors)) for sample in samples])
        print(
            f"slopes over the second half, {who}: {bytes_an_hour / (1 << 20):+.1f} MiB an hour, {files_an_hour:+.1f} descriptors an hour"
        )
        # A short run cannot tell a slope from noise; of an hour the limits are what they say.
        if bytes_an_hour * share > max(MEMORY_SLOPE * share, 16 << 20):
            problems.append(f"{who}: memory grows")
        if files_an_hour * share > max(DESCRIPTOR_SLOPE * share, 20):
            problems.append(f"{who}: descriptors grow")
    return problems


def judge(counts, samples, session, code, said):
    problems = list(counts.problems[:5])
    if code != 0:
        problems.append(f"sluice ended with {code}: {said[-500:]}")
    problems += grown(samples[len(samples) // 2:])
    database = sqlite3.connect(session)
    check = database.execute("PRAGMA integrity_check").fetchone()[0]
    if check != "ok":
        problems.append(check)
    print(f"{'kind':>10} {'sent':>9} {'recorded':>9}")
    for kind in sorted(counts.sent):
        sql = "SELECT count(*), count(DISTINCT path), sum(state = 0) FROM exchange WHERE path LIKE ?"
        recorded, different, flying = database.execute(sql, (f"/{kind}/%",)).fetchone()
        print(f"{kind:>10} {counts.sent[kind]:>9} {recorded:>9}")
        if recorded != counts.sent[kind] or different != recorded or flying:
            problems.append(f"{kind}: {counts.sent[kind]} sent, {recorded} recorded, {different} different, {flying} in flight")
    for what, sql in LOST.items():
        count = database.execute(sql).fetchone()[0]
        if count:
            problems.append(f"{what}: {count}")
    for kind in ("h1", "h2", "ws", "events"):
        sql = "SELECT failure_message, count(*) FROM exchange WHERE path LIKE ? AND failure IS NOT NULL GROUP BY 1 LIMIT 3"
        problems += [f"{kind}: {count} times: {words}" for words, count in database.execute(sql, (f"/{kind}/%",))]
    database.close()
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="sluice-soak-")
    environment = dict(os.environ, HOME=directory, TMPDIR=directory, TERM="xterm-256color")
    for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR"):
        environment[f"XDG_{name}"] = os.path.join(directory, name.lower())
        os.makedirs(environment[f"XDG_{name}"], mode=0o700)
    try:
        problems = judge(*asyncio.run(drive(options, directory, environment)))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    for problem in problems:
        print(problem)
    print("well" if not problems else f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
