"""Measures how cost grows with work, with the binary that users run, and prints a table for each kind of work.

usage: growth.py [--sluice FILE] [--maker FILE] [--only TEXT] [--largest N] [--directory FOLDER]

    rules        0 to 10,000 rules that do not match: CPU for a request
    connections  10 to 5,000 connections over HTTP/1.1: CPU for a request, memory
    bodies       downloads of 1 KiB to 10 GiB over HTTP/1.1: CPU, speed, the most memory
    sessions     10,000 exchanges to N (10,000,000): reading them with list, stats, show and a search
    store        one and four shippers into one PostgreSQL; a filter over N rows (10,000,000), with the query's plan

Needs nginx, h2load (Debian's nghttp2-client), PostgreSQL 15 for the store and, for sessions and the store, the
session-maker of this package. The largest session has 8 GB, the largest download 10 GiB; both are on the disk of
FOLDER.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
TICKS = os.sysconf("SC_CLK_TCK")
NGINX = """
daemon off; worker_processes 1; pid nginx.pid; worker_rlimit_nofile 20000;
events { worker_connections 16000; }
http {
    access_log off; sendfile on; keepalive_requests 1000000000; keepalive_timeout 1h;
    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
    server { listen 127.0.0.1:%d backlog=8192; root files; }
}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(2_000):
        if process.poll() is not None:
            sys.exit("%s ended with %d" % (process.args[0], process.returncode))
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.005)
    sys.exit("nothing accepts on port %d" % port)


def cpu(pid):
    """User and system time of a process, in seconds."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid, key):
    """`VmRSS` or `VmHWM` of a process, in MiB."""
    with open("/proc/%d/status" % pid) as file:
        return int(re.search(key + r":\s+(\d+)", file.read()).group(1)) / 1024


def table(*rows):
    for number, row in enumerate(rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |")
        if number == 0:
            print("|" + " --- |" * len(row))
    print(flush=True)


class Proxy:
    """A Sluice that records, as a reverse proxy of the origin and as a forward proxy."""

    def __init__(self, bench, *arguments, session=None):
        self.kept = session is not None
        self.session = session or bench.folder / "session.sluice"
        self.reverse, self.forward = free_port(), free_port()
        mode = "reverse:http://127.0.0.1:%d@%d" % (bench.port, self.reverse)
        command = [bench.sluice, "run", "--quiet", "--session", self.session, "--mode", mode]
        command += ["--mode", "regular@%d" % self.forward, *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=bench.folder)
        wait_for(self.reverse, self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(120)
        if not self.kept:
            for file in self.session.parent.glob("session.sluice*"):
                file.unlink()


class Bench:
    def __init__(self, options, folder):
        self.sluice, self.maker, self.largest = options.sluice, options.maker, options.largest
        self.folder, self.port = folder, free_port()
        (folder / "files").mkdir()
        # nginx serves as a user of its own.
        folder.chmod(0o755)
        self.file("1k", 1 << 10)
        (folder / "nginx.conf").write_text(NGINX % self.port)
        self.nginx = subprocess.Popen(["nginx", "-p", folder, "-c", "nginx.conf", "-e", "nginx.log"], cwd=folder)
        wait_for(self.port, self.nginx)

    def file(self, name, size):
        with open(self.folder / "files" / name, "wb") as file:
            file.truncate(size)

    def requests(self, proxy, count, connections=32):
        """CPU in µs of the proxy for each request."""
        load = ["h2load", "--h1", "-t", "1", "-c", str(connections)]
        load += ["-n", str(count), "http://127.0.0.1:%d/1k" % proxy.reverse]
        before = cpu(proxy.process.pid)
        output = subprocess.run(load, stdout=subprocess.PIPE, text=True, check=True).stdout
        done, failed = (int(re.search(r"(\d+) " + word, output).group(1)) for word in ("succeeded", "failed"))
        if failed:
            sys.exit("%d of %d requests failed" % (failed, done + failed))
        time.sleep(0.5)
        return (cpu(proxy.process.pid) - before) / done * 1e6

    def rules(self):
        rows = [("rules", "CPU for a request, µs")]
        for count in (0, 10, 1_000, 10_000):
            profile = self.folder / "rules.yaml"
            lines = ["  - { name: r%d, at: host%d.example.com/path%d/* }" % (i, i, i) for i in range(count)]
            profile.write_text("version: 1\nblock:%s\n" % ("\n" + "\n".join(lines) if lines else " []"))
            with Proxy(self, "--profile", profile) as proxy:
                self.requests(proxy, 5_000)
                rows.append(("{:,}".format(count), "%.1f" % self.requests(proxy, 60_000)))
        table(*rows)

    def connections(self):
        rows = [("connections", "CPU for a request, µs", "most memory, MiB")]
        for count in (10, 100, 1_000, 5_000):
            with Proxy(self, "--max-client-connections", "10000") as proxy:
                self.requests(proxy, max(5_000, count), count)
                spent = self.requests(proxy, max(100_000, count * 60), count)
                rows.append(("{:,}".format(count), "%.1f" % spent, "%.0f" % memory(proxy.process.pid, "VmHWM")))
        table(*rows)

    def bodies(self):
        rows = [("body", "CPU", "CPU for each MiB, ms", "MB/s", "most memory, MiB")]
        for name, size in (("1 KiB", 1 << 10), ("1 MiB", 1 << 20), ("100 MiB", 100 << 20), ("10 GiB", 10 << 30)):
            self.file("body", size)
            with Proxy(self) as proxy:
                count = max(1, min(200, (200 << 20) // size))
                url = "http://127.0.0.1:%d/body" % self.port
                client = ["curl", "-sSf", "-x", "http://127.0.0.1:%d" % proxy.forward, "--noproxy", "", "-o", "/dev/null"]
                subprocess.run([*client, "http://127.0.0.1:%d/1k" % self.port], check=True)
                before, start = cpu(proxy.process.pid), time.time()
                subprocess.run([*client, url + "?[1-%d]" % count], check=True)
                seconds = time.time() - start
                time.sleep(0.5)
                spent = (cpu(proxy.process.pid) - before) / count
                peak = memory(proxy.process.pid, "VmHWM")
            speed = size * count / seconds / 1e6
            rows.append((name, "%.2f ms" % (spent * 1e3), "%.2f" % (spent * 1e3 / (size / (1 << 20))), "%.0f" % speed, "%.0f" % peak))
        table(*rows)

    def sessions(self):
        session, count = self.folder / "large.sluice", 0
        commands = {
            "`show 5000`": ["show", session, "5000"],
            "`list id:..20`": ["list", session, "id:..20"],
            "`list status:418`": ["list", session, "status:418"],
            "`list host:nowhere`": ["list", session, "host:nowhere"],
            "`list body:nowhere`": ["list", session, "body:nowhere"],
            "`stats`": ["stats", session],
        }
        rows = [["exchanges", "file, MB", "made, each second"] + [name + ", s" for name in commands]]
        for size in (10_000, 100_000, 1_000_000, 10_000_000):
            if size > self.largest:
                break
            made = subprocess.run([self.maker, "--count", str(size - count), session], stdout=subprocess.PIPE, text=True, check=True)
            count = size
            row = ["{:,}".format(size), "{:,}".format(session.stat().st_size // 10**6), made.stdout.split()[-3]]
            for command in commands.values():
                start = time.time()
                done = subprocess.run([self.sluice, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                if done.returncode != 0:
                    sys.exit("%s: %s" % (command, done.stderr))
                row.append("%.2f" % (time.time() - start))
            rows.append(row)
        table(*rows)

    def store(self):
        sys.path.insert(0, str(PACKAGE / "Tests/EndToEndTests/Scripts"))
        from postgres import PostgreSQL

        with PostgreSQL(settings={"shared_buffers": "256MB", "max_wal_size": "4GB"}) as server:
            url = "postgresql://postgres:%s@127.0.0.1:%d/postgres" % (server.password, server.port)
            subprocess.run([self.sluice, "store", "init", url], stdout=subprocess.DEVNULL, check=True)
            sessions = [self.folder / ("shard%d.sluice" % number) for number in range(5)]
            for session in sessions:
                with Proxy(self, session=session) as proxy:
                    self.requests(proxy, 20_000)
            rows = [("shippers", "exchanges", "CPU for an exchange, µs", "exchanges a second")]
            for group in (sessions[:1], sessions[1:]):
                start = time.time()
                imports = [
                    subprocess.Popen([self.sluice, "store", "import", url, one], stdout=subprocess.DEVNULL) for one in group
                ]
                ends = [os.wait4(one.pid, 0) for one in imports]
                seconds = time.time() - start
                if any(status for _, status, _ in ends):
                    sys.exit("an import failed")
                spent = sum(usage.ru_utime + usage.ru_stime for _, _, usage in ends)
                count = 20_000 * len(group)
                rows.append((len(group), "{:,}".format(count), "%.0f" % (spent / count * 1e6), "{:,.0f}".format(count / seconds)))
            table(*rows)
            self.fill(server)
            command = [self.sluice, "list", url, "host:host7.example.com status:5xx since:2d"]
            rows = [("rows", "rows found", "first page, ms")]
            for _ in range(3):
                start = time.time()
                found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.count("host7")
                rows.append(("{:,}".format(self.largest), found, "%.0f" % ((time.time() - start) * 1e3)))
            table(*rows)
            options = "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0"
            subprocess.run(command, stdout=subprocess.DEVNULL, env={**os.environ, "PGOPTIONS": options}, check=True)
            plans = [text for text in server.read_log().split("Query Text")[1:] if "host7" in text]
            print("\n".join(re.findall(r".*(?:Scan|Cond|Filter|Append|Subplans).*", plans[-1])))

    def fill(self, server):
        """Makes the rows: of forty shards over seven days, each like one that was shipped, without heads and bodies."""
        rows = server.rows("SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'traffic' "
                           "AND table_name = 'exchanges' ORDER BY ordinal_position")
        at = "(extract(epoch FROM now()) * 1e6)::bigint - n * 604800000000 / %d" % self.largest
        values = {
            "day": "(to_timestamp((%s) / 1e6) AT TIME ZONE 'UTC')::date" % at,
            "session": "lpad((n * 40 / %d)::text, 32, '0')::uuid" % self.largest,
            "id": "n",
            "started_at": at,
            "host": "'host' || n % 1000 || '.example.com'",
            "status": "CASE WHEN n / 1000 % 50 = 0 THEN 503 ELSE 200 END",
        }
        columns = [values.get(name, "NULL" if kind == "bytea" else 't."%s"' % name) for name, kind in rows]
        server.sql(
            "SET search_path = traffic; SELECT make_day(current_date - n) FROM generate_series(0, 7) n;\n"
            "INSERT INTO exchanges SELECT %s FROM (SELECT * FROM exchanges LIMIT 1) t, generate_series(1::bigint, %d) n;\n"
            "VACUUM ANALYZE exchanges" % (", ".join(columns), self.largest),
            seconds=1_800,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=PACKAGE / ".build/release/sluice", type=pathlib.Path)
    parser.add_argument("--maker", default=PACKAGE / "Tests/Benchmarks/.build/release/session-maker", type=pathlib.Path)
    parser.add_argument("--only", default="", help="only kinds of work whose names have this text")
    parser.add_argument("--largest", type=int, default=10_000_000, help="exchanges of the largest session")
    parser.add_argument("--directory", help="where sessions are made")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-growth-", dir=options.directory))
    try:
        bench = Bench(options, folder)
        try:
            for name in ("rules", "connections", "bodies", "sessions", "store"):
                if options.only in name:
                    getattr(bench, name)()
        finally:
            bench.nginx.send_signal(signal.SIGTERM)
            bench.nginx.wait(30)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
