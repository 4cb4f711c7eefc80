"""Measures whether the throttle keeps its word, with the binary that users run, over TLS on HTTP/1.1 and HTTP/2.

usage: throttle.py [--sluice FILE] [--only TEXT] [--rates LIST]   (with the Python of the test command: .build/peers)

    downloads   at the client, in kbit/s, for each rate: 3 % off at most, 5 % at 56 kbit/s
    uploads     at the server likewise, since buffers on the way swallow megabytes
    latency     the median that a request takes longer than through the same rule without latency: 3 ms off at most
    sharing     two downloads on one link; and the best of five from a host that no rule is for, with and without one
                beside it
    chance      how many of 800 messages of 10 KiB fail at a reliability of 50 % (within 99 of 100 samples), and whether the same
                ones fail again

Rates are taken from 1 s after the first byte, over 10 s or 8 MB, whichever is less; bytes are those of the messages, and
the heads lie before that time. Exits with 1 where a figure is off. Needs nginx, curl and openssl.
"""

import argparse
import asyncio
import json
import math
import os
import pathlib
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import h2.config
import h2.connection
import h2.events

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = {"h1": "--http1.1", "h2": "--http2"}
RATES = [56, 256, 1_000, 10_000, 100_000]
failures = []


def run(*arguments):
    subprocess.run([str(argument) for argument in arguments], check=True, capture_output=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def judge(text, isGood):
    print(f"{'ok ' if isGood else 'OFF'} {text}", flush=True)
    if not isGood:
        failures.append(text)


class Meter:
    """When bytes came, and how many there were by then."""

    def __init__(self):
        self.arrivals, self.total = [], 0

    def add(self, count):
        self.total += count
        self.arrivals.append((time.monotonic(), self.total))

    def rate(self):
        """In kbit/s from 1 s after the first byte to the last one; with the time and the bytes it is taken over."""
        begin = self.arrivals[0][0] + 1
        first = next((arrival for arrival in self.arrivals if arrival[0] >= begin), None)
        last = self.arrivals[-1]
        if first is None or last[0] <= first[0]:
            return 0, 0, 0
        seconds, count = last[0] - first[0], last[1] - first[1]
        return count * 8 / 1000 / seconds, seconds, count


def size(rate):
    """The bytes of 1 s, and of 10 s or 8 MB: whichever is less."""
    second = rate * 125
    return second + max(second // 20, 6_000) + min(10 * second, 8_000_000)


class UploadServer:
    """Takes uploads over HTTP/1.1 and HTTP/2, and answers with the rate at which they came."""

    def __init__(self, folder, protocol):
        self.port = free_port()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / "server.pem", folder / "server.key")
        self.context.set_alpn_protocols([protocol])
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True).start()
        ready.wait()

    async def serve(self, ready):
        server = await asyncio.start_server(self.accept, "127.0.0.1", self.port, ssl=self.context)
        ready.set()
        await server.serve_forever()

    async def accept(self, reader, writer):
        protocol = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        try:
            await (self.http2 if protocol == "h2" else self.http1)(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        writer.close()

    @staticmethod
    def answer(meter, version):
        rate, seconds, count = meter.rate()
        return json.dumps({"rate": rate, "seconds": seconds, "count": count, "version": version}).encode()

    async def http1(self, reader, writer):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            left, meter = int(head.split("content-length:")[1].split()[0]), Meter()
            while left:
                part = await reader.read(min(left, 65536))
                if not part:
                    return
                left -= len(part)
                meter.add(len(part))
            body = self.answer(meter, "h1")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()

    async def http2(self, reader, writer):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        meters = {}
        while True:
            writer.write(connection.data_to_send())
            data = await reader.read(65536)
            if not data:
                return
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    meters[event.stream_id] = Meter()
                elif isinstance(event, h2.events.DataReceived):
                    if event.data:
                        meters[event.stream_id].add(len(event.data))
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    connection.send_headers(event.stream_id, [(":status", "200")])
                    body = self.answer(meters.pop(event.stream_id), "h2")
                    connection.send_data(event.stream_id, body, end_stream=True)


class Site:
    """Certificates, two nginx on ports of their own, an upload server, and a Sluice for each profile."""

    def __init__(self, folder, binary):
        self.folder, self.binary, self.running = folder, binary, []
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        run("openssl", "req", "-x509", *curve, "-subj", "/CN=root", "-addext", "keyUsage=critical,keyCertSign",
            "-keyout", folder / "root.key", "-out", folder / "root.pem")
        run("openssl", "req", "-x509", *curve, "-CA", folder / "root.pem", "-CAkey", folder / "root.key",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-addext", "basicConstraints=critical,CA:FALSE",
            "-keyout", folder / "server.key", "-out", folder / "server.pem")
        # The servers speak the version that is measured, so that both legs do.
        self.slow, self.free = [{"h1": self.nginx(""), "h2": self.nginx("http2")} for _ in range(2)]
        self.uploads = {"h1": UploadServer(folder, "http/1.1").port, "h2": UploadServer(folder, "h2").port}

    def started(self, command, port, **options):
        process = subprocess.Popen([str(part) for part in command], **options)
        self.running.append(process)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return process
            except OSError:
                time.sleep(0.01)
        sys.exit(f"{command[0]} does not listen")

    def nginx(self, version):
        port = free_port()
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind}-{port};\n" for kind in kinds)
        configuration = self.folder / f"nginx-{port}.conf"
        configuration.write_text(f"""
            daemon off; master_process off; pid {self.folder}/nginx-{port}.pid; error_log {self.folder}/nginx.log;
            events {{ worker_connections 1024; }}
            http {{ {temporary} access_log off; keepalive_requests 1000000;
                server {{ listen 127.0.0.1:{port} ssl {version}; root {self.folder};
                    ssl_certificate {self.folder}/server.pem; ssl_certificate_key {self.folder}/server.key; }} }}
        """)
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        command = [program, "-p", self.folder, "-c", configuration, "-e", self.folder / "nginx.log"]
        self.started(command, port)
        return port

    def file(self, count):
        path = self.folder / str(count)
        if not path.exists():
            path.write_bytes(os.urandom(count))
        return path

    def sluice(self, rules):
        """The port of a new Sluice with these throttle rules."""
        port, root = free_port(), self.folder / "root.pem"
        profile = self.folder / f"{port}.yaml"
        profile.write_text(f"version: 1\nthrottle:\n{rules}\n")
        self.started([
            self.binary, "run", "--quiet", "--listen", f"127.0.0.1:{port}", "--session", self.folder / f"{port}.sluice",
            "--ca", root, "--ca-key", self.folder / "root.key", "--upstream-ca", root, "--profile", profile,
        ], port, stderr=subprocess.DEVNULL)
        return port

    def curl(self, proxy, version, *arguments):
        return [
            "curl", "-s", "-q", "--noproxy", "", "--proxy", f"http://127.0.0.1:{proxy}", "--cacert",
            str(self.folder / "root.pem"), VERSIONS[version], *[str(argument) for argument in arguments],
        ]

    def download(self, proxy, version, url):
        """Reads a body and takes down when its bytes came."""
        meter = Meter()
        process = subprocess.Popen(self.curl(proxy, version, "-N", url), stdout=subprocess.PIPE)
        while part := os.read(process.stdout.fileno(), 65536):
            meter.add(len(part))
        if process.wait():
            sys.exit(f"curl ended with {process.returncode}")
        return meter

    def downloads(self, proxy, version, *urls):
        """Several at the same time."""
        meters = [None] * len(urls)

        def fetch(index):
            meters[index] = self.download(proxy, version, urls[index])

        threads = [threading.Thread(target=fetch, args=(index,)) for index in range(len(urls))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return meters

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
            process.wait()


def within(rate):
    return 0.05 if rate <= 56 else 0.03


def told(kind, version, rate, measured, seconds, count):
    off = measured / rate - 1
    isEnough = seconds >= 9.9 or count >= 7_900_000
    judge(f"{kind} {version} {rate} kbit/s: {measured:.2f} ({off:+.2%}) over {seconds:.2f} s, {count} bytes",
          abs(off) <= within(rate) and isEnough)


def downloads(site, options):
    for rate in options.rates:
        for version in VERSIONS:
            # Half of it is not to be had, so that utilisation is measured too.
            proxy = site.sluice(f"  - {{ down: {rate * 2}, utilisation: 50 }}")
            meter = site.download(proxy, version, f"https://localhost:{site.slow[version]}/{site.file(size(rate)).name}")
            told("download", version, rate, *meter.rate())


def uploads(site, options):
    for rate in options.rates:
        for version in VERSIONS:
            proxy = site.sluice(f"  - {{ up: {rate}, down: 1000000 }}")
            command = site.curl(proxy, version, "-H", "Expect:", "-T", site.file(size(rate)),
                                f"https://localhost:{site.uploads[version]}/")
            answer = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            if answer["version"] != version:
                sys.exit(f"the server was asked in {answer['version']}")
            told("upload", version, rate, answer["rate"], answer["seconds"], answer["count"])


def latency(site, _):
    site.file(100)
    count = 60
    for version in VERSIONS:
        times = {}
        for latency in (0, 20, 100, 300):
            proxy = site.sluice(f"  - {{ latency: {latency} }}")
            url = f"https://localhost:{site.slow[version]}/100?[1-{count}]"
            form = "%{num_connects} %{time_pretransfer} %{time_starttransfer}\\n"
            command = site.curl(proxy, version, "-o", os.devnull, "-w", form, url)
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            connects, before, after = zip(*[[float(word) for word in line.split()] for line in lines])
            if sum(connects) != 1:
                sys.exit(f"{sum(connects):.0f} connections, not one")
            times[latency] = [(end - begin) * 1000 for begin, end in zip(before, after)]
        base = statistics.median(times[0])
        for latency in (20, 100, 300):
            off = [value - base - latency for value in times[latency]]
            # The first one also makes the connection to the server, with and without latency.
            off[0] += base - times[0][0]
            text = f"first {off[0]:+.2f}, median {statistics.median(off):+.2f}, worst of the others {max(off[1:], key=abs):+.2f} ms"
            judge(f"latency {version} {latency} ms, {count} requests on one connection, {base:.2f} ms without: {text}",
                  abs(statistics.median(off)) <= 3)


def sharing(site, _):
    rate = 4_000
    count = rate * 125 * 12 // 2
    for version in VERSIONS:
        proxy = site.sluice(f"  - {{ down: {rate}, only: [\"localhost:{site.slow[version]}\"] }}")
        url = f"https://localhost:{site.slow[version]}/{site.file(count).name}"
        rates = [meter.rate()[0] for meter in site.downloads(proxy, version, url, url + "?2")]
        judge(f"sharing {version} {rate} kbit/s: {rates[0]:.1f} and {rates[1]:.1f}",
              all(abs(one / (rate / 2) - 1) <= 0.03 for one in rates))

        # Beside a throttled download, at what speed another host's comes; and without any.
        big = f"https://localhost:{site.free[version]}/{site.file(200_000_000).name}"
        speeds = []
        for isBeside in (False, True) * 5:
            # Well under way, so that neither the other client's start nor its handshakes count.
            slow = subprocess.Popen(site.curl(proxy, version, "-o", os.devnull, url)) if isBeside else None
            if slow:
                time.sleep(1)
            meter = site.download(proxy, version, big)
            if slow:
                if slow.poll() is not None:
                    sys.exit("the throttled download ended too soon")
                slow.terminate()
                slow.wait()
            speeds.append(meter.total * 8e-6 / (meter.arrivals[-1][0] - meter.arrivals[0][0]))
        alone, beside = max(speeds[::2]), max(speeds[1::2])
        judge(f"another host {version}: {alone:.0f} Mbit/s alone, {beside:.0f} beside a throttled download",
              beside > 0.8 * alone)


def chance(site, _):
    number, head = 800, 240
    site.file(10_240 - head)
    for version in VERSIONS:
        failed = []
        for parallel in (1, 1, 16):
            proxy = site.sluice("  - { reliability: 50, seed: 42, name: coin }")
            # A closed connection each, since curl repeats by itself what a reused one has lost.
            form = "%{exitcode} %{url_effective} %{size_request} %{size_header}\\n"
            command = site.curl(proxy, version, "-o", os.devnull, "-w", form, "-H", "Connection: close",
                                *(["-Z", "--parallel-max", parallel] if parallel > 1 else []),
                                f"https://localhost:{site.slow[version]}/{10_240 - head}?[1-{number}]")
            lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
            lines = [line.split() for line in lines if len(line.split()) == 4 and line.split()[0].isdigit()]
            if len(lines) != number:
                sys.exit(f"{len(lines)} outcomes, not {number}")
            failed.append({line[1].rpartition("?")[2] for line in lines if line[0] != "0"})
            if parallel == 1:
                size = max(int(line[2]) + int(line[3]) for line in lines) + 10_240 - head
        expected = 1 - 0.5 ** (size / 10_240)
        sampling = 2.58 * math.sqrt(expected * (1 - expected) / number)
        share = len(failed[0]) / number
        judge(f"chance {version}: {len(failed[0])} of {number} messages of {size} bytes failed, {share:.1%}; "
              f"{expected:.1%} ± {sampling:.1%} expected", abs(share - expected) <= sampling)
        judge(f"the same seed {version}: the same requests failed again, and 16 at a time: "
              f"{len(failed[0] ^ failed[1])} and {len(failed[0] ^ failed[2])} differ", failed[0] == failed[1] == failed[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sluice", default=PACKAGE / ".build/release/sluice")
    parser.add_argument("--only", default="")
    parser.add_argument("--rates", type=lambda text: [int(rate) for rate in text.split(",")], default=RATES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sluice-throttle-") as folder:
        site = Site(pathlib.Path(folder), options.sluice)
        try:
            for measure in (downloads, uploads, latency, sharing, chance):
                if options.only in measure.__name__:
                    measure(site, options)
        finally:
            site.stop()
    sys.exit(f"off: {len(failures)}" if failures else 0)


main()
