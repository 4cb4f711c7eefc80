"""Kills a Sluice under load at random moments (kill -9), and looks at what is left.

usage: crash.py SLUICE [--moments 200] [--seed N] [--rotate] [--clients 6]

After each kill: every file opens with Sluice's own reader and with SQLite's check of integrity; every exchange whose response the client
had whole more than 200 ms before the kill is there and complete, in one file only; the next Sluice goes on with the session. While it runs,
a second Sluice on the same session refuses. Exit code 0 where all of that held, else 1. The seed is printed.
"""

import argparse
import glob
import http.server
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        size = (200, 200, 5_000, 90_000)[int(self.path.rsplit("/", 1)[1]) % 4]
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(b"x" * size)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass  # Its client was killed.


class Load:
    """Clients on connections of their own; they note when each response was whole."""

    def __init__(self, proxy, origin, clients, first):
        self.done, self.stopping, self.number = [], False, first
        self.lock, self.proxy, self.origin = threading.Lock(), proxy, origin
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self):
        try:
            with socket.create_connection(("127.0.0.1", self.proxy), timeout=30) as connection:
                stream = connection.makefile("rb")
                while not self.stopping:
                    with self.lock:
                        self.number += 1
                        number = self.number
                    connection.sendall(
                        f"GET http://127.0.0.1:{self.origin}/n/{number} HTTP/1.1\r\nHost: 127.0.0.1:{self.origin}\r\n\r\n".encode()
                    )
                    if not stream.readline().startswith(b"HTTP/1.1 200"):
                        return
                    length = 0
                    while (line := stream.readline().strip()):
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    if len(stream.read(length)) < length:
                        return
                    self.done.append((number, time.monotonic()))
        except OSError:
            pass  # The proxy was killed.

    def end(self):
        self.stopping = True
        for thread in self.threads:
            thread.join(30)


def start(sluice, directory, options, environment):
    errors = open(os.path.join(directory, "errors.txt"), "w+b")
    process = subprocess.Popen(
        [sluice, "run", "--listen", "127.0.0.1:0", "--quiet", "--grace", "0"] + options,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=environment,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        text = open(errors.name, "rb").read().decode(errors="replace")
        for line in text.splitlines():
            if "listening on " in line and "recording to" in text:
                return process, int(line.rsplit(":", 1)[1]), text
        time.sleep(0.005)
    raise SystemExit(f"sluice does not start: {open(errors.name).read()}")


def look(sluice, path, environment):
    """The numbers in the paths of the complete exchanges of a file, and what is wrong with it."""
    problems = []
    listed = subprocess.run([sluice, "list", path, "id:1"], capture_output=True, text=True, env=environment)
    if listed.returncode != 0:
        problems.append(f"sluice list {path}: {listed.stderr.strip()}")
    database = sqlite3.connect(path)
    try:
        check = [row[0] for row in database.execute("PRAGMA integrity_check")]
        if check != ["ok"]:
            problems.append(f"{path}: {check[:3]}")
        rows = database.execute("SELECT path FROM exchange WHERE state = 1 AND path LIKE '/n/%'")
        numbers = [int(row[0].rsplit("/", 1)[1]) for row in rows]
    finally:
        database.close()
    return numbers, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--allowed", type=float, default=0.2, help="seconds before the kill that may be lost")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--rotate", action="store_true", help="with a new file after each megabyte")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"seed {options.seed}")
    directory = tempfile.mkdtemp(prefix="sluice-crash-")
    environment = dict(os.environ, HOME=directory, TMPDIR=directory)
    for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR"):
        environment[f"XDG_{name}"] = os.path.join(directory, name.lower())
        os.makedirs(environment[f"XDG_{name}"], mode=0o700)
    origin = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    problems, total, promised_total, late, number, refusals = [], 0, 0, [], 0, 0
    try:
        for moment in range(options.moments):
            # Ten kills of one session, which the next Sluice goes on with; then a new one.
            folder = os.path.join(directory, f"s{moment // 10}")
            os.makedirs(folder, exist_ok=True)
            name = "s-%N.sluice" if options.rotate else "s.sluice"
            session = ["--session", os.path.join(folder, name)] + (["--rotate", "1mb"] if options.rotate else [])
            process, port, text = start(options.sluice, directory, session, environment)
            load = Load(port, origin.server_port, options.clients, number)
            try:
                time.sleep(chance.uniform(0.05, 1.5))
                if moment % 10 == 0 and not options.rotate:
                    second = subprocess.run(
                        [options.sluice, "run", "--listen", "127.0.0.1:0"] + session,
                        capture_output=True, text=True, env=environment, timeout=60,
                    )
                    if second.returncode != 1 or "is being recorded by another running Sluice" not in second.stderr:
                        problems.append(f"moment {moment}: a second Sluice ended with {second.returncode}: {second.stderr}")
                    refusals += 1
            finally:
                killed = time.monotonic()
                process.send_signal(signal.SIGKILL)
                process.wait()
                load.end()
            found = []
            for path in sorted(glob.glob(os.path.join(folder, "*.sluice"))):
                numbers, wrong = look(options.sluice, path, environment)
                found += numbers
                problems += [f"moment {moment}: {words}" for words in wrong]
            if len(set(found)) < len(found):
                problems.append(f"moment {moment}: {len(found) - len(set(found))} exchanges are there twice")
            there = set(found)
            missing = [at for one, at in load.done if one not in there]
            promised = [at for _, at in load.done if at < killed - options.allowed]
            lost = [at for at in missing if at < killed - options.allowed]
            if lost:
                problems.append(f"moment {moment}: {len(lost)} exchanges lost, the oldest {killed - min(lost):.3f} s before the kill")
            late.append(max((killed - at for at in missing), default=0))
            total, promised_total, number = total + len(load.done), promised_total + len(promised), load.number
            if moment % 10 == 9:
                print(f"{moment + 1} moments, {total} exchanges, longest loss {max(late) * 1000:.0f} ms", flush=True)
                shutil.rmtree(folder)
    finally:
        origin.shutdown()
        shutil.rmtree(directory, ignore_errors=True)
    late.sort()
    print(
        f"{options.moments} kills, {total} responses of which {promised_total} were {options.allowed * 1000:.0f} ms old: "
        f"loss at most {late[-1] * 1000:.0f} ms, median {late[len(late) // 2] * 1000:.0f} ms; "
        f"a second Sluice refused {refusals} times; {len(problems)} problems"
    )
    for problem in problems:
        print(problem)
    sys.exit(1 if problems or total == 0 else 0)


if __name__ == "__main__":
    main()
