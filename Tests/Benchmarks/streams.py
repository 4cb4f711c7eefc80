"""Measures what streams must keep on a machine that does nothing else, with the binary that users run.

usage: streams.py [--sluice FILE] [--only TEXT] [--rounds N]     (with the Python of the test command: .build/peers)

    events      how much later 200 server-sent events come than without a proxy, over HTTP/1.1 and HTTP/2
    stalled     how much longer eight downloads take beside a stream whose reader has stopped
    many        a thousand streams of 1 MiB on one connection to slow readers: their hashes, and the most memory,
                against nginx at its default limit of streams and at 1,024

Exits with 1 where a figure is above what it may be. Needs nginx and openssl; records to the temporary directory.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = PACKAGE / "Tests/EndToEndTests/Scripts"
MEBIBYTE = 1 << 20
failures = []


def run(*arguments):
    subprocess.run([str(argument) for argument in arguments], check=True, capture_output=True)


def script(name, *arguments):
    """Runs one of the tests' scripts; the lines of JSON that it prints."""
    command = [sys.executable, SCRIPTS / name, *arguments]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)
    if result.returncode:
        sys.exit(f"{name} failed: {result.stdout}{result.stderr}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def started(command, port, **options):
    """A program that listens on a port."""
    process = subprocess.Popen([str(part) for part in command], **options)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process
        except OSError:
            time.sleep(0.01)
    sys.exit(f"{command[0]} does not listen")


def judge(text, value, most):
    """Prints a figure beside what it may be at most."""
    print(f"{text}: {value:.3g} (at most {most:.3g})", flush=True)
    if not value <= most:
        failures.append(text)


class Site:
    """Certificates, nginx, and Sluice, in a directory of their own."""

    def __init__(self, folder, binary):
        self.folder, self.binary, self.running = folder, binary, []
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        run("openssl", "req", "-x509", *curve, "-subj", "/CN=root", "-addext", "keyUsage=critical,keyCertSign",
            "-keyout", folder / "root.key", "-out", folder / "root.pem")
        run("openssl", "req", "-x509", *curve, "-CA", folder / "root.pem", "-CAkey", folder / "root.key",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-addext", "basicConstraints=critical,CA:FALSE",
            "-keyout", folder / "server.key", "-out", folder / "server.pem")
        self.body = random.Random(1).randbytes(MEBIBYTE)
        (folder / "1m").write_bytes(self.body)

    def nginx(self, streams=128):
        port = free_port()
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind}-{port};\n" for kind in kinds)
        configuration = self.folder / f"nginx-{port}.conf"
        configuration.write_text(f"""
            daemon off; master_process off; pid {self.folder}/nginx-{port}.pid; error_log {self.folder}/nginx.log;
            events {{ worker_connections 4096; }}
            http {{ {temporary} access_log off; keepalive_requests 1000000; http2_max_concurrent_streams {streams};
                server {{ listen 127.0.0.1:{port} ssl http2; root {self.folder};
                    ssl_certificate {self.folder}/server.pem; ssl_certificate_key {self.folder}/server.key; }} }}
        """)
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        command = [program, "-p", self.folder, "-c", configuration, "-e", self.folder / "nginx.log"]
        self.running.append(started(command, port))
        return port

    def sluice(self):
        """A new Sluice; its process and port."""
        port = free_port()
        root = self.folder / "root.pem"
        command = [
            self.binary, "run", "--quiet", "--listen", f"127.0.0.1:{port}", "--session", self.folder / f"{port}.sluice",
            "--ca", root, "--ca-key", self.folder / "root.key", "--upstream-ca", root,
        ]
        process = started(command, port, stderr=subprocess.DEVNULL)
        self.running.append(process)
        return process, port

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
            process.wait()


def peak(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def events(site, rounds):
    _, port = site.sluice()
    root, folder = site.folder / "root.pem", site.folder
    for line in script("events.py", "--proxy", port, "--authority", root, "--root", root, "--certificate",
                       folder / "server.pem", "--key", folder / "server.key", "--rounds", rounds):
        direct, proxied = line["direct"], line["proxied"]
        print(f"{line['version']}: direct {direct}, proxied {proxied}, in ms")
        judge(f"{line['version']} events, median added in ms", proxied["median"] - direct["median"], 1)
        judge(f"{line['version']} events, p99 added in ms", proxied["p99"] - direct["p99"], 5)


def stalled(site, rounds):
    _, port = site.sluice()
    [line] = script("h2_stalled.py", f"localhost:{site.nginx()}", "--proxy", port, "--ca", site.folder / "root.pem",
                    "--path", "/1m", "--rounds", max(rounds, 9))
    print(f"eight downloads of 1 MiB: {line['alone']} ms alone, {line['besideStalled']} ms beside a stalled one")
    judge("siblings of a stalled stream, ratio", line["ratio"], 1.1)


def many(site, _):
    digest = hashlib.sha256(site.body).hexdigest()
    for streams in (128, 1024):
        process, port = site.sluice()
        before = peak(process)
        [line] = script("h2_many.py", f"localhost:{site.nginx(streams)}", "--proxy", port, "--ca",
                        site.folder / "root.pem", "--path", "/1m", "--sha256", digest, "--streams", 1000)
        print(f"1,000 streams of 1 MiB, nginx at {streams}: {line}")
        judge("streams that were wrong", 1000 - line["right"], 0)
        # A stream may hold its window towards the server (128 KiB) and what waits for the client (64 KiB); wide streams,
        # the connection itself, sockets and the recorder have the rest.
        judge("memory in MiB above that before", peak(process) - before, 1000 * (0.125 + 0.0625) + 64)
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sluice", default=PACKAGE / ".build/release/sluice")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sluice-streams-") as folder:
        site = Site(pathlib.Path(folder), options.sluice)
        try:
            for measure in (events, stalled, many):
                if options.only in measure.__name__:
                    measure(site, options.rounds)
        finally:
            site.stop()
    sys.exit(f"above its limit: {', '.join(failures)}" if failures else 0)


main()
