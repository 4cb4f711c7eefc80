"""A PostgreSQL server of one test, which can be stopped, killed, filled and cut off.

    postgres.py DIRECTORY

As a program it tries all that on itself: it prints a line for each thing that is wrong, and nothing where all is right.
"""

import contextlib
import glob
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 30


def wait_for(condition, seconds=PATIENCE, pause=0.05):
    """What the condition returned last: something true, unless the time was over."""
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(pause)
    return found


def unused_port():
    """Below the ports that the system gives to clients, one of which could have it when the server is started again."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def tied(command, user=None, signal_name="KILL"):
    """The command as a child that ends with this script, if the system can do that."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return command
    identity = [] if user is None else [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return [setpriv, *identity, f"--pdeathsig={signal_name}", "--", *command]


def is_child(number, parent):
    """Whether the process is a child of the other one."""
    done = subprocess.run(["ps", "-o", "ppid=", "-p", str(number)], capture_output=True, text=True)
    return done.stdout.strip() == str(parent)


class PostgreSQL:
    """A cluster in a folder of its own, which `close` removes.

    Over TCP roles need their passwords; `psql` comes over the socket in `sockets`, without a password.
    """

    # `nobody`, since initdb refuses root.
    USER = 65534
    # Where folders are made, if the server's user comes there and the path is short: a socket's may have 107 bytes.
    parent = "/tmp"

    def __init__(self, data=None, wal=None, settings=None):
        """`data` and `wal`: folders of which a test has chosen the file system; they may exist, if they are empty."""
        self.bin = self.find_programs()
        self.user = self.USER if os.geteuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="sluice-postgres-", dir=self.parent if self.is_suitable(self.parent) else "/tmp")
        self.data = data or f"{self.folder}/data"
        self.wal = wal
        self.sockets = f"{self.folder}/sockets"
        self.log = f"{self.folder}/log"
        self.port = unused_port()
        self.password = "super" + os.urandom(8).hex()
        self.process = None
        self.settings = {
            "fsync": "off", "full_page_writes": "off", "shared_buffers": "16MB", "max_connections": "60",
            "timezone": "UTC", "log_timezone": "UTC", "autovacuum_naptime": "3600", "max_wal_size": "64MB",
            "lc_messages": "C", "ssl": "off", **(settings or {}),
        }
        for folder in filter(None, (self.folder, self.sockets, self.data, self.wal)):
            os.makedirs(folder, exist_ok=True)
            if self.user is not None:
                os.chown(folder, self.user, self.user)
        os.chmod(self.sockets, 0o755)
        os.chmod(self.folder, 0o755)
        try:
            self.initialise()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def is_suitable(self, folder):
        parts = os.path.realpath(folder).split("/")
        ancestors = ["/".join(parts[:number]) or "/" for number in range(1, len(parts) + 1)]
        return len(folder) < 60 and (self.user is None or all(os.stat(one).st_mode & 0o001 for one in ancestors))

    @staticmethod
    def find_programs():
        folders = [os.environ.get("POSTGRESQL_BIN", ""), "/usr/lib/postgresql/15/bin"]
        folders += sorted(glob.glob("/usr/lib/postgresql/*/bin") + glob.glob("/opt/homebrew/opt/postgresql@*/bin"))[::-1]
        if program := shutil.which("initdb"):
            folders.append(os.path.dirname(os.path.realpath(program)))
        for folder in folders:
            if os.access(f"{folder}/initdb", os.X_OK):
                return folder
        raise SystemExit("PostgreSQL 15 is not installed: apt-get install postgresql-15, or set POSTGRESQL_BIN")

    def program(self, *command, **options):
        return subprocess.run(
            tied([f"{self.bin}/{command[0]}", *command[1:]], self.user), capture_output=True, text=True, timeout=120,
            cwd=self.folder, env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": self.folder}, **options,
        )

    def initialise(self):
        password_file = f"{self.folder}/password"
        with open(password_file, "w") as file:
            file.write(self.password + "\n")
        if self.user is not None:
            os.chown(password_file, self.user, self.user)
        options = ["--waldir", self.wal] if self.wal else []
        done = self.program(
            "initdb", "-D", self.data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--auth-local=trust",
            "--auth-host=scram-sha-256", f"--pwfile={password_file}", "--no-sync", "--wal-segsize=1",
            "--no-instructions", *options,
        )
        os.unlink(password_file)
        if done.returncode != 0:
            raise SystemExit(f"initdb failed: {done.stdout[-400:]}{done.stderr[-600:]}")

    # Its life.

    def start(self, seconds=PATIENCE):
        """Starts it and waits until it answers; again if memory of a killed one is still in use."""
        deadline = time.monotonic() + seconds
        while True:
            settings = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
            command = [
                f"{self.bin}/postgres", "-D", self.data, "-p", str(self.port), "-k", self.sockets,
                "-c", "listen_addresses=127.0.0.1", *settings,
            ]
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(
                    tied(command, self.user, "QUIT"), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                    stderr=log, env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"},
                    # Ctrl-C on a terminal is for the script, which then ends it.
                    start_new_session=True,
                )
            wait_for(lambda: self.process.poll() is not None or self.is_ready(), max(1, deadline - time.monotonic()))
            if self.process.poll() is None and self.is_ready():
                return self
            if time.monotonic() > deadline:
                if self.process.poll() is None:
                    self.kill()
                raise SystemExit(f"PostgreSQL does not start: {self.read_log()[-1500:]}")
            time.sleep(0.2)

    def is_ready(self):
        """Whether it answers a query, over TCP like its clients."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 2):
                pass
        except OSError:
            return False
        return self.query("SELECT 1").returncode == 0

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, mode="fast"):
        """`fast` ends connections and writes all down, `immediate` leaves that to the next start."""
        if self.is_running():
            self.process.send_signal({"fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process = None

    def kill(self):
        """Ends it with SIGKILL; its own children then end by themselves."""
        if self.is_running():
            self.process.kill()
            self.process.wait()
        self.process = None

    def crash(self):
        """Kills one connection's process with SIGKILL. The server then ends every connection and recovers by itself."""
        before = self.sql("SELECT pg_postmaster_start_time(), (SELECT count(*) FROM pg_stat_activity)")
        numbers = self.rows(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1"
        ) or self.rows("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
        number = int(numbers[0][0])
        if not is_child(number, self.process.pid):
            raise SystemExit(f"{number} is not a process of this server ({before})")
        os.kill(number, signal.SIGKILL)

    def restart(self, mode="fast"):
        self.stop(mode)
        return self.start()

    def close(self):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    # Questions.

    def query(self, text, database="postgres", seconds=60):
        return subprocess.run(
            [f"{self.bin}/psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", self.sockets, "-p",
             str(self.port), "-U", "postgres", "-d", database],
            input=text, capture_output=True, text=True, timeout=seconds,
            env={"PATH": os.environ["PATH"], "PGCONNECT_TIMEOUT": "10", "PGCLIENTENCODING": "UTF8", "LC_ALL": "C.UTF-8",
                 "HOME": self.folder},
        )

    def sql(self, text, database="postgres", seconds=60):
        """What psql prints, with tabs between columns; ends the script if PostgreSQL refuses it."""
        done = self.query(text, database, seconds)
        if done.returncode != 0:
            raise SystemExit(f"psql refuses {text[:300]!r}: {done.stderr[-500:]}")
        return done.stdout.rstrip("\n")

    def rows(self, text, database="postgres", seconds=60):
        printed = self.sql(text, database, seconds)
        return [line.split("\t") for line in printed.split("\n")] if printed else []

    def sql_as(self, user, password, text, database="postgres"):
        """The outcome of psql over TCP as that role."""
        return subprocess.run(
            [f"{self.bin}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
             "-U", user, "-d", database, "-c", text],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "PGPASSWORD": password, "PGCONNECT_TIMEOUT": "10", "HOME": self.folder,
                 "LC_ALL": "C.UTF-8"},
        )

    def dump(self, database="postgres"):
        """What `pg_dump` writes."""
        done = subprocess.run(
            [f"{self.bin}/pg_dump", "-h", self.sockets, "-p", str(self.port), "-U", "postgres", "-d", database],
            capture_output=True, timeout=120, env={"PATH": os.environ["PATH"], "HOME": self.folder},
        )
        if done.returncode != 0:
            raise SystemExit(f"pg_dump failed: {done.stderr[-500:]}")
        return done.stdout

    def read_log(self):
        with contextlib.suppress(FileNotFoundError), open(self.log, errors="replace") as file:
            return file.read()
        return ""

    def files(self):
        """The paths of everything that the server has on disk."""
        for folder in filter(None, (self.data, self.wal)):
            for path, _, names in os.walk(folder):
                yield from (f"{path}/{name}" for name in names)


class Relay:
    """A port that leads to a server's, keeps what passes, and can be cut in several ways."""

    def __init__(self, port):
        self.target, self.sent, self.received = port, bytearray(), bytearray()
        self.connections, self.lock = [], threading.Lock()
        self.is_open = True
        # Called with the bytes of an answer and its number on the connection; if true, the connection ends without them.
        self.cuts_before = None
        self.cuts = 0
        # Set: data may pass.
        self.passage = threading.Event()
        self.passage.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept_all, daemon=True).start()

    def accept_all(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if not self.is_open:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            with self.lock:
                self.connections.append((client, server))
            for source, target, kept, is_answer in (
                (client, server, self.sent, False), (server, client, self.received, True),
            ):
                threading.Thread(target=self.pass_on, args=(source, target, kept, is_answer), daemon=True).start()

    def pass_on(self, source, target, kept, is_answer):
        with contextlib.suppress(OSError):
            number = 0
            while data := source.recv(65536):
                self.passage.wait()
                kept += data
                number += 1
                if is_answer and self.cuts_before and self.cuts_before(data, number):
                    self.cuts += 1
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Ends all connections; new ones are still accepted."""
        with self.lock:
            ended, self.connections = self.connections, []
        for pair in ended:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()

    def shut(self):
        """Ends all connections and refuses new ones, until `open`."""
        self.is_open = False
        self.cut()

    def open(self):
        self.is_open = True
        self.cuts_before = None
        self.passage.set()

    def stall(self):
        """Holds the data of all connections without ending them, until `open`."""
        self.passage.clear()

    def close(self):
        self.is_open = False
        self.passage.set()
        self.listener.close()
        self.cut()


class Filter:
    """Drops packets from and to a port, in a network namespace of the test's own."""

    def __init__(self, port):
        self.port = port

    def nft(self, text):
        done = subprocess.run(["nft", "-f", "-"], input=text, capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise SystemExit(f"nft refuses the rules: {done.stderr}")

    def drop(self):
        self.nft(
            "add table inet store\n"
            "add chain inet store cut { type filter hook input priority 0; }\n"
            f"add rule inet store cut tcp dport {self.port} drop\n"
            f"add rule inet store cut tcp sport {self.port} drop\n"
        )

    def pass_all(self):
        self.nft("delete table inet store\n")


def fill(folder, left=0):
    """Fills the file system of a folder but for `left` bytes, and returns the file that does."""
    path = f"{folder}/filler"
    with open(path, "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(512))
        file.truncate(max(0, file.tell() - left))
    return path


def enter_namespaces(mark, *kinds):
    """Starts this script again in namespaces of its own, unless it is in them. Needs the rights of root."""
    if os.environ.get(mark):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    command = ["unshare", *(f"--{kind}" for kind in kinds), "--", sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:]]
    os.execvpe(command[0], command, {**os.environ, mark: "1"})


# MARK: - Trying itself

def try_all(directory):
    problems = []

    def check(holds, text):
        if not holds:
            problems.append(text)
            print(text, flush=True)

    with PostgreSQL() as server:
        server.sql("CREATE ROLE app LOGIN PASSWORD 'p@ss/%'; CREATE TABLE t(n int); GRANT INSERT ON t TO app")
        done = server.sql_as("app", "p@ss/%", "INSERT INTO t VALUES (1)")
        check(done.returncode == 0, f"the role cannot insert: {done.stderr}")
        check(server.sql_as("app", "wrong", "SELECT 1").returncode != 0, "a wrong password is accepted")
        check("permission denied" in server.sql_as("app", "p@ss/%", "SELECT * FROM t").stderr, "the role may read")
        check(server.rows("SELECT n, 'a' FROM t") == [["1", "a"]], "the row is not there")
        check(b"CREATE TABLE public.t" in server.dump(), "pg_dump has no table")
        for end in ("fast", "immediate"):
            server.stop(end)
            check(not server.is_ready(), f"it answers after stop({end})")
            server.start()
        server.kill()
        check(not server.is_ready(), "it answers after kill")
        server.start()
        server.restart()
        server.crash()
        check(wait_for(server.is_ready), "it does not recover from a crash")
        check(wait_for(lambda: "terminated by signal 9" in server.read_log()), "it did not crash")
        check(server.sql("SELECT count(*) FROM t") == "1", "the row is lost")
        check(any("pg_wal" in path for path in server.files()), "files has no WAL")

        # The relay.
        relay = Relay(server.port)
        options = {"env": {"PATH": os.environ["PATH"], "PGPASSWORD": "p@ss/%", "HOME": server.folder}}

        def insert(number):
            return subprocess.Popen(
                tied([f"{server.bin}/psql", "-X", "-h", "127.0.0.1", "-p", str(relay.port), "-U", "app", "-d", "postgres", "-c",
                      f"INSERT INTO t VALUES ({number})"]),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options,
            )

        check(insert(2).wait(PATIENCE) == 0 and b"INSERT INTO t VALUES (2)" in relay.sent, "the relay does not pass")
        relay.shut()
        check(insert(3).wait(PATIENCE) != 0, "the relay passes while it is shut")
        relay.open()
        relay.stall()
        held = insert(4)
        time.sleep(0.3)
        check(held.poll() is None, "a stalled relay passes")
        relay.open()
        check(held.wait(PATIENCE) == 0, "a relay that was stalled does not go on")
        relay.cuts_before = lambda data, number: b"INSERT 0 1" in data
        check(insert(5).wait(PATIENCE) != 0 and relay.cuts == 1, "an answer passes that the relay should drop")
        relay.open()
        check(server.sql("SELECT string_agg(n::text, ',' ORDER BY n) FROM t") == "1,2,4,5", "the relay's rows are wrong")
        relay.close()
        # Packets that are dropped.
        if os.environ.get("POSTGRES_INSIDE"):
            cut = Filter(server.port)
            cut.drop()
            started = time.monotonic()
            check(not server.is_ready() and time.monotonic() - started > 1, "packets pass the filter")
            cut.pass_all()
            check(wait_for(server.is_ready), "packets are still dropped")
    check(not os.path.exists(server.folder) and not server.is_running(), "something is left")

    # A full disk.
    if os.environ.get("POSTGRES_INSIDE"):
        for place in ("tables", "all"):
            small = f"{directory}/small-{place}"
            os.makedirs(small)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m,mode=0755", "none", small], check=True)
            wal = None if place == "all" else f"{directory}/wal"
            if wal:
                # The path to it has to be open for `nobody`.
                wal = tempfile.mkdtemp(prefix="sluice-wal-", dir="/tmp")
            with PostgreSQL(data=f"{small}/data", wal=wal) as server:
                server.sql("CREATE TABLE t(n int, text text)")
                filler = fill(small)
                done = server.query("INSERT INTO t SELECT n, repeat('x', 500) FROM generate_series(1, 100000) n")
                check("No space left" in done.stderr + server.read_log(), f"the disk is not full: {done.stderr[-300:]}")
                os.unlink(filler)
                if not wait_for(server.is_ready, 5):
                    server.restart("immediate")
                server.sql("INSERT INTO t VALUES (1, 'a')")
                check(server.sql("SELECT count(*) FROM t") == "1", f"{place}: other rows are there")
            if wal:
                shutil.rmtree(wal)
            subprocess.run(["umount", small], check=True)
    return problems


if __name__ == "__main__":
    if os.geteuid() == 0:
        enter_namespaces("POSTGRES_INSIDE", "net", "mount")
    os.makedirs(sys.argv[1], exist_ok=True)
    sys.exit(1 if try_all(sys.argv[1]) else 0)
