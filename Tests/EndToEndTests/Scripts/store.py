"""Sluice records into PostgreSQL: complete and masked, also if the database or the network fails.

    store.py SLUICE DIRECTORY [SCENARIO …]

Without a scenario, all of them. Each has a database, an origin and proxies of its own. Prints a line for each thing that is
wrong, and nothing where all is right. STORE_VERBOSE=1 also prints the output of Sluice on stderr.
"""

import base64
import contextlib
import datetime
import gzip
import hashlib
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

from postgres import Filter, PostgreSQL, Relay, enter_namespaces, fill, tied, unused_port, wait_for

SLUICE, DIRECTORY = (os.path.abspath(path) for path in sys.argv[1:3])
# The longest time until exchanges are in a database that can be reached again.
ARRIVAL = 90
problems = []
current = ""


def wrong(text):
    line = f"{current}: {text}"[:1500].replace("\n", " | ")
    problems.append(line)
    print(line, flush=True)


def check(holds, text):
    if not holds:
        wrong(text)
    return bool(holds)


def verbose(*words):
    if os.environ.get("STORE_VERBOSE"):
        print(*words, file=sys.stderr, flush=True)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def sha(data):
    return hashlib.sha256(data).hexdigest()


# MARK: - The origin and its clients

SAME = ("the same for everybody " * 45)[:1024].encode()
BIG = b"".join(hashlib.sha256(str(number).encode()).hexdigest().encode() for number in range(49_152))
ANSWER_PASSWORD = "orangeQz" + sha(b"answer")[:10]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet.
    wbufsize = -1
    disable_nagle_algorithm = True

    def answer(self, status, kind, body, fields=()):
        self.send_response(status)
        for name, value in [("Content-Type", kind), *fields, ("Content-Length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path in self.server.answers:
            return self.answer(*self.server.answers[path])
        if path.startswith("/load/"):
            # Half of the bodies are the same.
            number = path.rpartition("/")[2]
            is_shared = number.isdigit() and int(number) % 2
            body = SAME if is_shared else json.dumps({"path": path, "filler": f"answer {number}, " * 40}).encode()
            return self.answer(200, "text/plain" if is_shared else "application/json", body)
        self.answer(404, "text/plain", b"not here\n")

    def do_POST(self):
        size = len(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        self.answer(201, "application/json", json.dumps({"received": size}).encode())

    def log_message(self, *_):
        pass


class Origin(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, tls=False):
        super().__init__(("127.0.0.1", 0), Handler)
        if tls:
            names = (path("origin.key"), path("origin.pem"))
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", names[0],
                 "-out", names[1]], check=True, capture_output=True,
            )
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(names[1], names[0])
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]
        self.answers = {
            "/same": (200, "text/plain", SAME),
            "/big": (200, "text/plain", BIG),
            "/json": (200, "application/json", json.dumps({"user": "ann", "password": ANSWER_PASSWORD}).encode()),
            "/packed": (200, "application/json", gzip.compress(b'{"items": [1, 2, 3]}', mtime=0),
                        [("Content-Encoding", "gzip")]),
        }
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"


def curl(proxy, url, *options):
    done = subprocess.run(
        ["curl", "-sS", "--noproxy", "", "--proxy", f"http://127.0.0.1:{proxy}", "--max-time", "30", "-o", os.devnull, "-w",
         "%{http_code}", *options, url],
        capture_output=True, text=True, timeout=60, env={"PATH": os.environ["PATH"], "HOME": DIRECTORY},
    )
    if done.returncode != 0:
        wrong(f"curl {url} failed: {done.stderr}")
    return done.stdout


class Load:
    """Clients that request one path after the other through a proxy, each path once, until they have all or are stopped."""

    def __init__(self, origin, proxy, name, count=None, clients=4, pause=0.0):
        self.origin, self.proxy, self.name, self.pause, self.count = origin, proxy, name, pause, count
        self.lock, self.is_stopped = threading.Lock(), False
        self.next, self.answered, self.failed, self.slowest = 0, [], 0, 0.0
        self.started = time.monotonic()
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self):
        connection, proxy = None, None
        while True:
            with self.lock:
                if self.is_stopped or self.next == self.count:
                    break
                self.next += 1
                path = f"/load/{self.name}/{self.next}"
            began = time.monotonic()
            try:
                if connection is None or proxy != self.proxy:
                    proxy = self.proxy
                    connection = http.client.HTTPConnection("127.0.0.1", proxy, timeout=30)
                connection.request("GET", self.origin.url(path), headers={"Accept": "*/*"})
                answer = connection.getresponse()
                answer.read()
                is_good = answer.status == 200
            except (OSError, http.client.HTTPException):
                # The proxy is away.
                connection, is_good = None, False
                time.sleep(0.02)
            with self.lock:
                if is_good:
                    self.answered.append(path)
                else:
                    self.failed += 1
                self.slowest = max(self.slowest, time.monotonic() - began)
            if self.pause:
                time.sleep(self.pause)
        if connection:
            connection.close()

    def reach(self, count, seconds=60):
        """Waits until so many more are answered."""
        aim = len(self.answered) + count
        if not wait_for(lambda: len(self.answered) >= aim or not any(thread.is_alive() for thread in self.threads), seconds):
            wrong(f"the load {self.name} stands still at {len(self.answered)} answers, {self.failed} failed")

    def finish(self):
        """Waits for the end of a load with a count; the seconds that it took."""
        for thread in self.threads:
            thread.join(120)
        return time.monotonic() - self.started

    def stop(self):
        self.is_stopped = True
        self.finish()
        return self


# MARK: - Sluice

# Everything that Sluice printed, with the command.
said = []


def home(name="home"):
    folder = f"{DIRECTORY}/{current}/{name}"
    for part in ("run", "tmp"):
        os.makedirs(f"{folder}/{part}", mode=0o700, exist_ok=True)
    return folder


def environment(folder):
    kept = {key: value for key, value in os.environ.items() if "proxy" not in key.lower() and not key.startswith("PG")}
    return dict(
        kept, HOME=folder, XDG_CONFIG_HOME=folder + "/config", XDG_STATE_HOME=folder + "/state",
        XDG_RUNTIME_DIR=folder + "/run", TMPDIR=folder + "/tmp", LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1",
    )


class Outcome:
    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err
        self.text = out + err
        said.append((command, self.text))
        verbose(f"$ sluice {' '.join(command)}\n{self.text[-2000:]}[{code}]")


def run(*command, at="home", code=0, input="", seconds=90):
    """A command of Sluice to its end, which has to have that exit code; None accepts every one."""
    try:
        done = subprocess.run(
            tied([SLUICE, *command]), env=environment(home(at)), cwd=f"{DIRECTORY}/{current}", input=input.encode(),
            capture_output=True, timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        wrong(f"sluice {' '.join(command[:3])} has no end after {seconds} s")
        return Outcome(command, None, (error.stdout or b"").decode(errors="replace"), (error.stderr or b"").decode(errors="replace"))
    outcome = Outcome(command, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
    if code is not None and outcome.code != code:
        wrong(f"sluice {' '.join(command[:3])} … ended with {outcome.code}, not {code}: {outcome.text[-600:]}")
    return outcome


class Proxy:
    """`sluice run` until it is stopped."""

    def __init__(self, session, *options, at="home", patience=20):
        self.session, self.at, self.text = session, at, ""
        command = ["run", "-p", "127.0.0.1:0", "--quiet", "--session", session, *options]
        self.command = command
        self.child = subprocess.Popen(
            tied([SLUICE, *command]), env=environment(home(at)), cwd=f"{DIRECTORY}/{current}", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.port = None
        wait_for(lambda: self.found() or self.child.poll() is not None, patience, 0.02)
        if match := self.found():
            self.port = int(match.group(1))
        else:
            self.kill()
            raise Failed(f"sluice run does not start: {self.text[-800:]}")

    def found(self):
        return re.search(r"listening on \S*?:(\d+)", self.text)

    def read(self):
        for line in self.child.stdout:
            self.text += line.decode(errors="replace")

    def status(self, *options):
        return run("status", "--control", str(self.child.pid), *options, at=self.at).text

    def stop(self, seconds=60):
        """Ends it like Ctrl-C, and returns what it printed."""
        self.child.send_signal(signal.SIGINT)
        try:
            code = self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            wrong(f"sluice run does not end {seconds} s after SIGINT: {self.text[-400:]}")
            self.child.kill()
            code = self.child.wait()
        self.reader.join(10)
        self.outcome = Outcome(self.command, code, self.text, "")
        return self.text

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.reader.join(10)
        said.append((self.command, self.text))


class Failed(Exception):
    """The scenario cannot go on."""


def counts(text):
    """How many exchanges are stored and how many wait, as the exit text says it; None for what it does not say."""
    def number(word):
        for line in text.splitlines():
            part = next((part for part in re.split(r"[,;.](?!\d)", line) if re.search(rf"\b{word}", part)), None)
            if part and (found := re.search(r"\d[\d,]*", part)):
                return int(found.group().replace(",", ""))
        return None

    return number("stored"), number("wait")


def check_counts(proxy, stored=None, waiting=None):
    """What the exit text says. A session that was begun earlier may count what is stored differently, so None is any."""
    text = proxy.text
    found = counts(text)
    if stored is not None:
        check(found[0] == stored, f"the exit text says {found[0]} stored, not {stored}: {text[-500:]}")
    if waiting is not None:
        check((found[1] or 0) == waiting, f"the exit text says {found[1]} wait, not {waiting}: {text[-500:]}")


# MARK: - The store

class Store:
    """A database with a schema, and roles for a shard, a reader and the owner, whose passwords need escapes in a URL."""

    def __init__(self, server, project="traffic", through=None):
        self.server, self.project = server, project
        self.port = through or server.port
        self.database = "shop"
        # The part of each password that is the same in every writing of it.
        self.cores = {role: f"Core{os.urandom(9).hex()}" for role in ("owner", "shard", "reader")}
        self.passwords = {role: f"{core}@:/%?" for role, core in self.cores.items()}

    def create(self):
        self.server.sql(
            f"CREATE ROLE owner LOGIN CREATEROLE PASSWORD '{self.passwords['owner']}';\n"
            f"CREATE DATABASE {self.database} OWNER owner;\n"
        )
        return self

    def url(self, role="shard", scheme="postgres", password=None, port=None, database=None):
        password = urllib.parse.quote(password or self.passwords[role], safe="")
        return f"{scheme}://{role}:{password}@127.0.0.1:{port or self.port}/{database or self.database}"

    @property
    def named(self):
        return [] if self.project == "traffic" else ["--project", self.project]

    def options(self, *more):
        return ["--store", self.url(), *self.named, *more]

    def init(self):
        outcome = run("store", "init", self.url("owner"), *self.named)
        if outcome.code != 0:
            raise Failed("the store cannot be initialised")
        for role, group in (("shard", "writer"), ("reader", "reader")):
            self.server.sql(
                f"CREATE ROLE {role} LOGIN PASSWORD '{self.passwords[role]}' IN ROLE {self.project}_{group};", self.database
            )
        return self

    def sql(self, text):
        return self.server.sql(f"SET search_path = {self.project};\n{text}", self.database)

    def rows(self, text):
        return self.server.rows(f"SET search_path = {self.project};\n{text}", self.database)

    def number(self, text):
        return int(self.sql(text) or 0)

    def bytes(self, text):
        """The one column of each row, as bytes; `text` has to encode it in hexadecimal digits."""
        return [bytes.fromhex(row[0]) for row in self.rows(text)]

    def stored(self, session):
        """What is told apart of the exchanges of a session."""
        columns = ", ".join(f"coalesce({name}::text, '')" for name in COMPARED)
        return self.rows(f"SELECT {columns} FROM exchanges WHERE session = '{identifier(session)}' ORDER BY id, day")


@contextlib.contextmanager
def server_and_store(**options):
    relay = options.pop("relay", False)
    with PostgreSQL(**options) as server:
        between = Relay(server.port) if relay else None
        store = Store(server, through=between.port if between else None)
        store.relay = between
        try:
            yield store.create().init()
        finally:
            if between:
                between.close()


COMPARED = ["id", "started_at", "state", "method", "scheme", "host", "port", "path", "query", "status", "total"]


def path(name):
    return f"{DIRECTORY}/{current}/{name}"


def session_rows(session, query):
    connection = sqlite3.connect(f"file:{urllib.parse.quote(session)}?mode=ro", uri=True, timeout=30)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def identifier(session):
    return session_rows(session, "SELECT identifier FROM session")[0][0]


def recorded(session):
    """The ended exchanges of a session file, as `Store.stored` has them."""
    rows = session_rows(session, f"SELECT {', '.join(COMPARED)} FROM exchange WHERE state <> 0 ORDER BY id")
    return [["" if value is None else str(value) for value in row] for row in rows]


def await_arrival(store, session, expected=None, seconds=ARRIVAL):
    """Whether every exchange of the session file is in the store, once and with the same values."""
    # A recorder writes after the answer.
    wait_for(lambda: len(recorded(session)) >= (expected or 0), 20, 0.1)
    # A test that is wrong already need not wait as long again.
    seconds = min(seconds, 15) if problems else seconds
    local = recorded(session)
    if expected is not None:
        check(len(local) == expected, f"{os.path.basename(session)} has {len(local)} exchanges, not {expected}")
    number = identifier(session)
    wait_for(lambda: store.number(f"SELECT count(*) FROM exchanges WHERE session = '{number}'") >= len(local), seconds, 0.2)
    stored = store.stored(session)
    ids = [row[0] for row in stored]
    twice = sorted({one for one in ids if ids.count(one) > 1}, key=int) if len(set(ids)) != len(ids) else []
    missing = [row for row in local if row[0] not in set(ids)]
    more = [row for row in stored if row[0] not in {row[0] for row in local}]
    mine = {row[0]: row for row in local}
    other = [(row, mine[row[0]]) for row in stored if row[0] in mine and row != mine[row[0]]]
    name = os.path.basename(session)
    check(not twice, f"{name}: {len(twice)} exchanges are stored twice, such as {twice[:3]}")
    check(not missing, f"{name}: {len(missing)} of {len(local)} exchanges are not in the store after {seconds} s, such as {missing[:2]}")
    check(not more, f"{name}: {len(more)} exchanges of the store are not in the session file, such as {more[:2]}")
    check(not other, f"{name}: {len(other)} exchanges differ, such as (stored, recorded) {other[:2]}")
    check_bodies(store, number)
    return not (twice or missing or more or other)


def check_bodies(store, number):
    """Every body that a row names is there, once in a day."""
    for column in ("request_body", "response_body"):
        absent = store.number(
            f"SELECT count(*) FROM exchanges e WHERE session = '{number}' AND {column} IS NOT NULL"
            f" AND NOT EXISTS (SELECT 1 FROM bodies b WHERE b.hash = e.{column} AND b.day = e.day)"
        )
        check(absent == 0, f"{absent} rows name a {column} that is not in bodies")
    twice = store.number("SELECT count(*) FROM (SELECT day, hash FROM bodies GROUP BY day, hash HAVING count(*) > 1) AS t")
    check(twice == 0, f"{twice} bodies are stored twice")


def unpacked(data):
    done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, timeout=60)
    if done.returncode != 0:
        wrong(f"a body is not zstd: {data[:20].hex()}")
    return done.stdout


def check_passwords(store):
    """No password of a URL is in what Sluice printed, or in its files."""
    for role, core in store.cores.items():
        for command, text in said:
            if core in text:
                wrong(f"the password of {role} is printed by sluice {command[0]}: {text[:300].replace(core, '<PASSWORD>')}")
        for folder, _, names in os.walk(f"{DIRECTORY}/{current}"):
            for name in names:
                with contextlib.suppress(OSError), open(f"{folder}/{name}", "rb") as file:
                    if core.encode() in file.read():
                        wrong(f"the password of {role} is in {folder}/{name}")
    # Its tables and its log, too, apart from those of the roles.
    dump = store.server.dump(store.database)
    for role, core in store.cores.items():
        check(core.encode() not in dump, f"the password of {role} is in the database")


def entries(*arguments, at="home"):
    """The lines of an export as JSON."""
    outcome = run("export", *arguments, "--format", "jsonl", at=at)
    try:
        return [json.loads(line) for line in outcome.out.splitlines()]
    except ValueError as error:
        wrong(f"export {arguments[1:]} is not JSON: {error}")
        return []


def picture(entry):
    """What of an exchange has to be the same in the session and in the store."""
    masked = " ".join(entry.get("masked") or [])
    made = {key: entry.get(key) for key in ("kind", "state", "startedAt", "method", "url", "status", "mediaType", "duration", "comment")}
    for side in ("request", "response"):
        message = entry.get(side) or {}
        for part in ("received", "sent", "trailers"):
            head = message.get(part)
            if isinstance(head, dict) and "headers" in head:
                head = dict(head, headers=[
                    (field["name"], field["value"]) for field in head["headers"]
                    # A placeholder may be longer than its secret.
                    if not (field["name"].lower() == "content-length" and f"{side} body" in masked)
                ])
            made[side + part] = head
        made[side + "body"] = {key: (message.get("body") or {}).get(key) for key in ("text", "encoding")}
    return made


PLACEHOLDER = re.compile(r"sluice-([a-z]+)-([0-9a-f]{6}|\d{1,9})(?![0-9a-zA-Z])-*")


def normal(made):
    """The same exchanges, with placeholders numbered in the order of their first use."""
    numbers = {}
    return [
        json.loads(PLACEHOLDER.sub(
            lambda found: f"<{found[1]} {numbers.setdefault(found[0].rstrip('-'), len(numbers) + 1)}>",
            json.dumps(one, sort_keys=True),
        ))
        for one in made
    ]


def compare(what, one, other, skip=()):
    """Entries of two exports, in the order of their starts."""
    def ordered(made):
        return normal(picture(entry) for entry in sorted(made, key=lambda entry: (entry["startedAt"], entry["url"])))

    one, other = ordered(one), ordered(other)
    if not check(len(one) == len(other), f"{what}: {len(other)} exchanges, not {len(one)}"):
        return
    told = 0
    for mine, yours in zip(one, other):
        for key in mine:
            if mine[key] != yours[key] and (urllib.parse.urlsplit(mine["url"]).path, key) not in skip and told < 6:
                told += 1
                wrong(f"{what}: {key} of {mine['url']} is {str(yours[key])[:250]}, recorded is {str(mine[key])[:250]}")


# MARK: - Scenarios

scenarios = {}


def scenario(function):
    scenarios[function.__name__.replace("_", "-")] = function
    return function


@scenario
def basics():
    """Recorded exchanges are in the store, and list, stats, export, fetch and open read them there."""
    origin, secure = Origin(), Origin(tls=True)
    bearer = "tok" + sha(b"bearer")[:24]
    with PostgreSQL() as server:
        store = Store(server).create().init()
        again = run("store", "init", store.url("owner", "postgresql"))
        check(again.code == 0, f"a second init fails: {again.text}")
        roles = server.rows("SELECT rolname, rolcanlogin FROM pg_roles WHERE rolname LIKE 'traffic\\_%' ORDER BY 1")
        check(roles == [["traffic_reader", "f"], ["traffic_writer", "f"]], f"the group roles are {roles}")
        for table in ("sessions", "exchanges", "exchanges_late", "bodies", "annotations", "missing"):
            check(store.sql(f"SELECT to_regclass('traffic.{table}') IS NOT NULL") == "t", f"there is no table {table}")

        session = path("a.sluice")
        proxy = Proxy(session, *store.options("--label", "shard=a", "--label", "build=17", "--store-body", "1mb"), "--insecure-upstream")
        for number in range(50):
            check(curl(proxy.port, origin.url(f"/same?n={number}")) == "200", "/same is not answered")
        head = f"Authorization: Bearer {bearer}"
        curl(proxy.port, origin.url("/json"), "-H", head)
        curl(proxy.port, origin.url("/json?second=1"), "-H", head)
        for number in range(3):
            curl(proxy.port, origin.url(f"/form/{number}"), "--json", json.dumps({"password": f"{ANSWER_PASSWORD}{number}", "n": number}))
        curl(proxy.port, origin.url("/upload"), "--data-binary", "plain text of a request", "-H", "Content-Type: text/plain")
        curl(proxy.port, origin.url("/packed"))
        curl(proxy.port, origin.url("/big"))
        check(curl(proxy.port, origin.url("/missing")) == "404", "/missing is there")
        closed = unused_port()
        check(curl(proxy.port, f"http://127.0.0.1:{closed}/refused") == "502", "a closed port is not refused")
        check(curl(proxy.port, secure.url("/json?secure=1").replace("http", "https", 1), "-k") == "200", "https is not answered")
        total = 61
        wait_for(lambda: store.number("SELECT count(*) FROM exchanges") >= total, ARRIVAL, 0.2)
        status = proxy.status()
        check("store" in status.lower(), f"sluice status does not name the store: {status}")
        proxy.status("--json")
        proxy.stop()
        check(proxy.outcome.code == 0, f"sluice run ended with {proxy.outcome.code}")
        check_counts(proxy, total, 0)
        await_arrival(store, session, total)

        # The tables.
        uuid = identifier(session)
        check(store.rows(f"SELECT labels ->> 'shard', labels ->> 'build' FROM sessions WHERE session = '{uuid}'") == [["a", "17"]],
              f"the labels are {store.rows('SELECT session, labels FROM sessions')}")
        late = store.number("SELECT count(*) FROM exchanges_late")
        check(late == 0, f"{late} exchanges of today are in exchanges_late")
        homes = {row[0] for row in store.rows("SELECT DISTINCT tableoid::regclass FROM exchanges")}
        today = f"exchanges_{now():%Y%m%d}"
        check(any(name.endswith(today) for name in homes), f"exchanges are in {homes}, not in {today}")
        copies = store.number(f"SELECT count(*) FROM bodies WHERE hash = '\\x{sha(SAME)}'")
        check(1 <= copies <= len(homes), f"the body of 50 answers is stored {copies} times")
        cut = None
        for day, digest, size, data in store.rows("SELECT day, encode(hash, 'hex'), size, encode(data, 'hex') FROM bodies"):
            body = unpacked(bytes.fromhex(data))
            if BIG.startswith(body) and len(body) > 4096:
                cut = body
                continue
            check(sha(body) == digest, f"the hash of a body is not that of its bytes: {body[:60]}")
            check(int(size) == len(body), f"size is {size} for a body of {len(body)} bytes")
        check(cut is not None and len(cut) == 1_000_000, f"--store-body 1mb stored {cut and len(cut)} bytes of 3 MiB")
        check(max((len(row[0]) // 2 for row in store.rows("SELECT encode(data, 'hex') FROM bodies")), default=0) <= 2 << 20, "a body is too long")

        # Commands that read it.
        reader = store.url("reader")
        listed = json_lines(run("list", reader, "--json").out)
        local = json_lines(run("list", session, "--json").out)
        check([row["url"] for row in listed] == [row["url"] for row in local], "list has other URLs, or in another order")
        check([row["status"] for row in listed] == [row["status"] for row in local], "list has other statuses")
        same = json_lines(run("list", reader, "path:/same", "--json", "--limit", "5").out)
        numbers = [urllib.parse.urlsplit(row["url"]).query for row in same]
        check(numbers == [f"n={number}" for number in range(45, 50)], f"--limit 5 lists {numbers}")
        for words, count in (
            (["status:404"], 1), ([f"session:{uuid[:8]}"], total), (["session:00000000"], 0), (['label:"shard=a"'], total),
            (['label:"shard=b"'], 0), (['label:"shard=a"', "path:/json"], 3), (["not", "label:shard=a"], 0),
            (["(session:00 or label:shard=a)", "not", "label:x=y"], total), (["label:shard=b or status:404"], 1),
            ([f"!session:{uuid[:8]} or status:404"], 1), (["scheme:https"], 1), (["method:POST"], 4), (["is:failed"], None),
            (["size:>2mb"], 1), (["res.json.received:>0"], None),
        ):
            outcome = run("list", reader, *words, "--json", code=None)
            wanted = run("list", session, *words, "--json", code=None) if count is None else None
            found = len(json_lines(outcome.out))
            if wanted is not None:
                check(outcome.code == wanted.code, f"list {words} ends with {outcome.code}, on the session with {wanted.code}: {outcome.err}")
                count = len(json_lines(wanted.out))
            check(found == count, f"list {words} has {found} exchanges, not {count}: {outcome.err}")
        plain = run("list", reader, "path:/missing").out
        check("/missing" in plain and "404" in plain, f"list prints {plain}")
        stats = run("stats", reader).out
        check(f"{total} exchanges" in stats and "127.0.0.1" in stats, f"stats print {stats[:300]}")
        check(
            re.search(r"^ *50 .*GET 127\.0\.0\.1/same", run("stats", reader, "--by", "endpoint").out, re.M), "stats do not count /same",
        )
        masked = entries(session)
        exported = entries(reader)
        # The big body is cut in the store.
        big = [("/big", "responsebody")]
        compare("export from the store", masked, exported, big)
        fetched = path("fetched.sluice")
        run("store", "fetch", reader, f"session:{uuid[:13]}", "-o", fetched)
        if check(os.path.exists(fetched), "fetch wrote no session"):
            compare("the fetched session", masked, entries(fetched, "--secrets"), big)
            check(oct(os.stat(fetched).st_mode & 0o777) == "0o600", "others may read the fetched session")
            (mark,) = [entry for entry in entries(fetched) if entry["url"].endswith("/big")] or [{}]
            body = (mark.get("response") or {}).get("body") or {}
            check(BIG.startswith(body.get("text", "-").encode()), "the cut body is not the beginning of the body")
            (mine,) = [entry for entry in masked if entry["url"].endswith("/big")]
            without = {key: value for key, value in body.items() if key != "text"}
            check(
                without != {key: value for key, value in mine["response"]["body"].items() if key != "text"} or mark.get("flags") != mine.get("flags"),
                f"nothing marks that the body is cut: {without} {mark.get('flags')}",
            )
        part = path("part.sluice")
        run("store", "fetch", reader, "path:/same", "-o", part)
        check(os.path.exists(part) and len(entries(part)) == 50, "fetch with a filter has other exchanges")
        run("store", "fetch", reader, "path:/nothing-like-it", "-o", path("none.sluice"), code=None)
        har = run("export", reader, "path:/json", "--format", "har").out
        check(len(json.loads(har or "{}").get("log", {}).get("entries", [])) == 3, "the HAR has other entries")
        opened = run("open", reader, "path:/json", "--linear", input="list\nquit\n").out
        check("3 exchanges" in opened and "/json" in opened, f"open prints {opened[:300]}")
        sessions = run("store", "sessions", reader).out
        check(uuid[:8] in sessions.lower() and "shard" in sessions and "61" in sessions, f"store sessions prints {sessions}")
        told = run("store", "status", reader).out
        check("traffic" in told and "61" in told, f"store status prints {told}")
        for text in (har, json.dumps(exported), plain, opened):
            check(bearer not in text and ANSWER_PASSWORD not in text, "a secret is printed")

        # Rights.
        uuid_row = f"'{uuid}'"
        for table in ("exchanges", "bodies", "sessions", "annotations", today):
            for text in (f"SELECT * FROM {table}", f"SELECT count(*) FROM {table}", f"DELETE FROM {table}", f"TRUNCATE {table}",
                         f"DROP TABLE {table}"):
                done = server.sql_as("shard", store.passwords["shard"], f"SET search_path = traffic; {text}", store.database)
                check(done.returncode != 0 and re.search("permission denied|must be owner", done.stderr),
                      f"the writer may {text}: {done.stdout[:80]}{done.stderr[:150]}")
            done = server.sql_as("reader", store.passwords["reader"], f"SET search_path = traffic; SELECT count(*) FROM {table}", store.database)
            check(done.returncode == 0 or table == today, f"the reader may not read {table}: {done.stderr}")
        for role, text in (
            ("shard", "UPDATE exchanges SET status = 1"), ("shard", "UPDATE bodies SET size = 1"), ("shard", "UPDATE sessions SET labels = '{}'"),
            ("shard", "CREATE TABLE mine(n int)"), ("reader", "CREATE TABLE mine(n int)"),
            ("reader", f"INSERT INTO annotations(session, exchange, at, comment) VALUES ({uuid_row}, 1, 1, 'x')"),
            ("reader", "INSERT INTO bodies(day, hash, size, data) VALUES (current_date, '\\x00', 1, '\\x00')"),
            ("reader", "INSERT INTO exchanges SELECT * FROM exchanges"), ("reader", "DELETE FROM exchanges"),
            ("reader", "UPDATE exchanges SET status = 1"), ("reader", "TRUNCATE bodies"),
        ):
            done = server.sql_as(role, store.passwords[role], f"SET search_path = traffic; {text}", store.database)
            check(done.returncode != 0 and re.search("permission denied|must be owner", done.stderr),
                  f"{role} may {text}: {done.stdout[:80]}{done.stderr[:150]}")
        # A role without either group sees nothing.
        server.sql("CREATE ROLE stranger LOGIN PASSWORD 'stranger1'")
        done = server.sql_as("stranger", "stranger1", "SELECT count(*) FROM traffic.exchanges", store.database)
        check("permission denied" in done.stderr, f"a stranger may read: {done.stdout}{done.stderr}")
        # A second project in the same database is apart.
        run("store", "init", store.url("owner"), "--project", "other_shop")
        server.sql(f"GRANT other_shop_reader TO reader", store.database)
        check(json_lines(run("list", reader, "--project", "other_shop", "--json", code=None).out) == [], "another project has exchanges")
        check_passwords(store)


def json_lines(text):
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        wrong(f"this is not JSON: {text[:200]}")
        return []


@scenario
def late_database():
    """The database is stopped when Sluice starts: traffic passes at full speed and arrives later, once."""
    origin = Origin()
    amount = 1500
    with server_and_store() as store:
        plain = Proxy(path("plain.sluice"), at="plain")
        load = Load(origin, plain.port, "plain", amount)
        usual, slowest = load.finish(), load.slowest
        plain.stop()

        store.server.stop()
        session = path("a.sluice")
        began = time.monotonic()
        proxy = Proxy(session, *store.options())
        check(time.monotonic() - began < 10, f"it took {time.monotonic() - began:.1f} s to start without the database")
        load = Load(origin, proxy.port, "away", amount)
        taken = load.finish()
        verbose(f"{amount} requests: {usual:.2f} s without a store, {taken:.2f} s with one that is away; slowest {slowest:.3f}, {load.slowest:.3f}")
        check(load.failed == 0 and len(load.answered) == amount, f"{load.failed} requests failed without the database")
        check(taken < 2 * usual + 1, f"{amount} requests took {taken:.1f} s without the database, {usual:.1f} s without a store")
        check(load.slowest < slowest + 1, f"a request took {load.slowest:.1f} s without the database")
        text = proxy.status()
        check(re.search(r"wait", text), f"sluice status does not say that exchanges wait: {text}")
        store.server.start()
        await_arrival(store, session, amount)
        proxy.stop()
        check_counts(proxy, amount, 0)
        await_arrival(store, session, amount)

        # It ends before the database is back; a new start, and store import, send the rest.
        for name, sends in (("again", True), ("imported", False)):
            store.server.stop()
            session = path(f"{name}.sluice")
            proxy = Proxy(session, *store.options())
            Load(origin, proxy.port, name, 200).finish()
            began = time.monotonic()
            proxy.stop()
            check(time.monotonic() - began < 30, f"it took {time.monotonic() - began:.1f} s to end without the database")
            check_counts(proxy, None, 200)
            store.server.start()
            if sends:
                proxy = Proxy(session, *store.options())
                await_arrival(store, session, 200)
                proxy.stop()
                check_counts(proxy, None, 0)
            else:
                run("store", "import", store.url(), session)
            await_arrival(store, session, 200, 10)
            run("store", "import", store.url(), session)
            await_arrival(store, session, 200, 10)
        check_passwords(store)


@contextlib.contextmanager
def blocked(store):
    """While it goes on, a batch comes as far as the table of exchanges, and waits there."""
    server = store.server
    holder = subprocess.Popen(
        tied([f"{server.bin}/psql", "-X", "-q", "-h", server.sockets, "-p", str(server.port), "-U", "postgres", "-d", store.database]),
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "HOME": server.folder},
    )
    holder.stdin.write(f"BEGIN; LOCK TABLE {store.project}.exchanges;\n".encode())
    holder.stdin.flush()
    try:
        yield
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()


def is_batch_waiting(store):
    done = store.server.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'shard' AND wait_event_type = 'Lock'")
    return done.returncode == 0 and int(done.stdout) > 0


@scenario
def restarts():
    """The database is stopped, killed and started again while traffic passes and in the middle of a batch."""
    origin = Origin()
    with server_and_store() as store:
        server, session = store.server, path("a.sluice")
        proxy = Proxy(session, *store.options())
        load = Load(origin, proxy.port, "restarts", pause=0.04)
        load.reach(100)
        for end in ("fast", "immediate", "kill", "crash"):
            for in_batch in (False, True):
                load.reach(100)
                with blocked(store) if in_batch else contextlib.nullcontext():
                    if in_batch:
                        check(wait_for(lambda: is_batch_waiting(store), 60), "no batch came to the table of exchanges")
                    if end == "crash":
                        server.crash()
                    elif end == "kill":
                        server.kill()
                    else:
                        server.stop(end)
                if end == "crash":
                    check(wait_for(server.is_ready), "PostgreSQL does not recover")
                    load.reach(100)
                else:
                    load.reach(100)
                    server.start()
                # It is at work again before the next end.
                before = store.number("SELECT count(*) FROM exchanges")
                check(wait_for(lambda: store.number("SELECT count(*) FROM exchanges") > before, ARRIVAL, 0.2),
                      f"nothing arrives after {end}{' in a batch' if in_batch else ''}: {proxy.status()[-400:]}")
        load.stop()
        check(load.failed == 0, f"{load.failed} requests failed while the database was away")
        await_arrival(store, session, len(load.answered))
        proxy.stop()
        check_counts(proxy, len(load.answered), 0)
        await_arrival(store, session, len(load.answered), 5)
        check_passwords(store)


@scenario
def lost_answers():
    """The connection ends after a batch is committed and before Sluice knows it: nothing is stored twice."""
    origin = Origin()
    with server_and_store(relay=True) as store:
        relay, session = store.relay, path("a.sluice")
        proxy = Proxy(session, *store.options())
        load = Load(origin, proxy.port, "answers", pause=0.04)
        load.reach(100)
        # The answer to COMMIT, if there is one.
        relay.cuts_before = lambda data, number: b"COMMIT\0" in data
        wait_for(lambda: relay.cuts >= 2, 20)
        verbose(f"{relay.cuts} connections were cut before the answer to COMMIT")
        relay.open()
        load.reach(100)
        # Then one answer after the other, the first ones of which are those to the password.
        before = relay.cuts
        limits = list(range(6, 10))
        relay.cuts_before = lambda data, number: relay.cuts - before < len(limits) and number >= limits[relay.cuts - before]
        relay.cut()
        wait_for(lambda: relay.cuts - before >= len(limits), ARRIVAL)
        check(relay.cuts - before >= 3, f"only {relay.cuts - before} connections were cut")
        relay.open()
        # And requests that never arrive whole.
        for _ in range(3):
            load.reach(50)
            relay.cut()
        load.stop()
        check(load.failed == 0, f"{load.failed} requests failed")
        await_arrival(store, session, len(load.answered))
        proxy.stop()
        check_counts(proxy, len(load.answered), 0)
        check_passwords(store)


@scenario
def filters():
    """A filter finds in a store what it finds in the session, whether PostgreSQL decides its terms or not."""
    terms = """status:5xx|host:localhost|host:*ost|host:LOCALHOST|host:tracker.example,localhost|method:post|method:p*|path:/api/*
        path:/API/*|path:*.png|path:articles|url:articles|articles|LARGE|8|query:page|query:x|scheme:https|port:1|port:>1024|type:json
        type:application/json|type:png|size:>1kb|size:<100|time:>100ms|time:<1ms|version:h2|version:1.1|is:error|is:failed|is:blocked
        is:websocket|is:grpc|is:commented|is:imported|is:local|is:tunnel|grpc:ok|grpc:0|messages:>0|process:slu*|process:x|mode:regular
        ip:127.0.0.1|header:set-cookie|reqheader:accept:*|body:articles|body:/art.*les/|res.json.error:*|comment:x|colour:red
        since:1h|before:1h|SOON|path:/^\\/api/""".replace("\n", "|").split("|")
    # Later today, so that a day too few shows.
    soon = f"before:{now() + datetime.timedelta(minutes=1):%Y-%m-%dT%H:%M:%SZ}"
    terms = [soon if term == "SOON" else term for term in map(str.strip, terms)]
    texts = terms + [f"not {term}" for term in terms]
    for index, term in enumerate(terms):
        other, third = terms[(index * 7 + 3) % len(terms)], terms[(index * 5 + 11) % len(terms)]
        texts.append([f"{term} or {other}", f"not ({term} {other})", f"({term} or not {other}) {third}"][index % 3])
    run("demo", "--plain", "--session", path("demo.sluice"))
    with server_and_store() as store:
        run("store", "import", store.url("shard"), path("demo.sluice"), "--store-secrets", "--store-body", "100mb")

        def found(place, text):
            done = run("list", place, text, "--columns", "method,url,status,time", code=None)
            return done.code, sorted(done.out.splitlines())

        for text in texts:
            local, stored = found(path("demo.sluice"), text), found(store.url("reader"), text)
            check(local[1] == stored[1], f"{text}: the session has {len(local[1])}, the store {len(stored[1])} {stored[0]}")


@scenario
def credentials():
    """The role's password is changed while Sluice runs: exchanges wait, Sluice says why, and sends them when it is right again."""
    origin = Origin()
    with server_and_store() as store:
        session = path("a.sluice")
        proxy = Proxy(session, *store.options())
        load = Load(origin, proxy.port, "before", 100)
        load.finish()
        await_arrival(store, session, 100)

        def change(password):
            store.server.sql(
                f"ALTER ROLE shard PASSWORD '{password}'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shard'"
            )

        change("a different one")
        load = Load(origin, proxy.port, "during", 200)
        load.finish()
        check(load.failed == 0, f"{load.failed} requests failed")
        said_so = wait_for(lambda: re.search(r"password|authenticat|credentials", proxy.status(), re.I), 60, 0.5)
        text = proxy.status()
        check(said_so, f"sluice status does not say why nothing arrives: {text}")
        check(re.search(r"wait", text), f"sluice status does not say that exchanges wait: {text}")
        check(store.number("SELECT count(*) FROM exchanges") == 100, "exchanges arrive with a wrong password")
        change(store.passwords["shard"])
        await_arrival(store, session, 300)

        # The exit text says it, too.
        change("a different one")
        Load(origin, proxy.port, "end", 50).finish()
        wait_for(lambda: re.search(r"password|authenticat|credentials", proxy.status(), re.I), 60, 0.5)
        text = proxy.stop()
        check_counts(proxy, None, 50)
        check(re.search(r"password|authenticat|credentials", text, re.I), f"the exit text does not say why exchanges wait: {text[-500:]}")
        change(store.passwords["shard"])
        run("store", "import", store.url(), session)
        await_arrival(store, session, 350, 10)
        check_passwords(store)


@scenario
def proxy_killed():
    """Sluice is killed during load and started again with the same session: nothing is lost, nothing is there twice."""
    origin = Origin()
    with server_and_store() as store:
        session = path("a.sluice")
        proxy = Proxy(session, *store.options())
        load = Load(origin, proxy.port, "killed", pause=0.02)
        answered = []
        for in_batch in (False, False, True):
            load.reach(300)
            with blocked(store) if in_batch else contextlib.nullcontext():
                if in_batch:
                    check(wait_for(lambda: is_batch_waiting(store), 60), "no batch came to the table of exchanges")
                proxy.kill()
            answered.append(len(load.answered))
            proxy = Proxy(session, *store.options())
            load.proxy = proxy.port
        load.reach(200)
        load.stop()
        # On a slow machine the last ones may take longer than Sluice waits at its end.
        wait_for(lambda: store.number("SELECT count(*) FROM exchanges") >= len(recorded(session)), ARRIVAL, 0.2)
        proxy.stop()
        await_arrival(store, session)
        local = {row[COMPARED.index("path")] for row in recorded(session)}
        lost = [path for path in load.answered if path not in local]
        verbose(f"{len(load.answered)} answered, {load.failed} failed, {len(lost)} of them not in the session file, kills at {answered}")
        # Each kill may take the exchanges of the last moments, which were not yet written.
        check(len(lost) < 300, f"the session file misses {len(lost)} of {len(load.answered)} answered requests")
        check(counts(proxy.text)[1] in (None, 0), f"exchanges wait at the end: {proxy.text[-400:]}")
        sessions = store.number("SELECT count(*) FROM sessions")
        check(sessions == 1, f"one session has {sessions} rows")
        check_passwords(store)


SECRETS = {
    name: f"{prefix}{sha(name.encode())[:20]}Zq"
    for name, prefix in {
        "bearer": "tok", "basic": "ann:", "cookie": "sid", "set-cookie": "sid", "query": "key", "json-request": "pw", "json-answer": "pw",
        "form": "pw", "packed-answer": "pw", "api-key": "key", "refresh": "rt", "late": "pw",
    }.items()
}


def plant(origin, port):
    """Sends exchanges with every secret of SECRETS."""
    origin.answers.update({
        "/login": (200, "application/json", json.dumps({"user": "ann", "password": SECRETS["json-answer"]}).encode(),
                   [("Set-Cookie", f"session={SECRETS['set-cookie']}; HttpOnly")]),
        "/packed-login": (200, "application/json", gzip.compress(json.dumps({"password": SECRETS["packed-answer"]}).encode()),
                          [("Content-Encoding", "gzip")]),
    })
    basic = base64.b64encode(SECRETS["basic"].encode()).decode()
    curl(port, origin.url("/login"), "-H", f"Authorization: Bearer {SECRETS['bearer']}", "-H", f"Cookie: session={SECRETS['cookie']}")
    curl(port, origin.url("/packed-login"), "-H", f"Authorization: Basic {basic}", "-H", f"X-Api-Key: {SECRETS['api-key']}")
    curl(port, origin.url(f"/search?api_key={SECRETS['query']}&page=2"))
    curl(port, origin.url("/post"), "--json", json.dumps({"password": SECRETS["json-request"], "name": "Ann"}))
    curl(port, origin.url("/form"), "--data", f"user=ann&password={SECRETS['form']}")
    curl(port, origin.url("/token"), "--json", json.dumps({"refresh_token": SECRETS["refresh"], "long": "word " * 2000}))
    # Only its body says that the value of the field is a secret.
    curl(port, origin.url("/late"), "-H", f"X-Note: {SECRETS['late']}", "--json", json.dumps({"password": SECRETS["late"]}))
    return 7


def forms(secret):
    """The bytes in which a secret may be written."""
    data = secret.encode()
    made = {data, data.hex().encode(), data.hex().upper().encode(), urllib.parse.quote(secret, safe="").encode()}
    # Base64 at each of the three places that a secret may begin at.
    for place in range(3):
        encoded = base64.b64encode(b"\0" * place + data)
        made.add(encoded[(0, 4, 4)[place]:len(encoded) // 4 * 4 - 4])
    return made


def leaks(data, secrets):
    return [name for name, secret in secrets.items() if any(form in data for form in forms(secret))]


def search_database(store, secrets, what):
    """No secret is in any byte of the database, of its files, or of what passed on the connection."""
    texts = {"the dump": store.server.dump(store.database)}
    columns = store.rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'traffic' AND data_type = 'bytea'"
        " AND table_name NOT LIKE '%\\_2%' AND table_name NOT LIKE '%\\_late' ORDER BY 1, 2"
    )
    check(len(columns) >= 4, f"bytes are in {columns}")
    zstd = shutil.which("zstd")
    for table, column in columns:
        for data in store.bytes(f"SELECT encode({column}, 'hex') FROM {table} WHERE {column} IS NOT NULL"):
            if data.startswith(b"\x28\xb5\x2f\xfd") and zstd:
                data = unpacked(data)
            if data.startswith(b"\x1f\x8b"):
                data += gzip.decompress(data)
            texts[f"{table}.{column}"] = texts.get(f"{table}.{column}", b"") + data + b"\n"
    for name, data in texts.items():
        for secret in leaks(data, secrets):
            place = next((data.find(form) for form in forms(secrets[secret]) if form in data), 0)
            wrong(f"{what}: the secret '{secret}' is in {name}: {data[max(0, place - 80):place + 60]}")
    for secret in leaks(bytes(store.relay.sent), secrets):
        wrong(f"{what}: the secret '{secret}' passed on the connection to the database")
    store.server.sql("CHECKPOINT")
    for file in store.server.files():
        with contextlib.suppress(OSError), open(file, "rb") as opened:
            data = opened.read()
            for secret, value in secrets.items():
                if value.encode() in data:
                    wrong(f"{what}: the secret '{secret}' is in the file {file} of PostgreSQL")
    log = store.server.read_log().encode()
    check(not leaks(log, secrets), f"{what}: PostgreSQL's log has {leaks(log, secrets)}")
    return texts


def placeholder(store, session, kind="token"):
    """What stands for the bearer token in a session."""
    heads = store.bytes(
        f"SELECT encode(request_head, 'hex') FROM exchanges WHERE session = '{identifier(session)}' AND path = '/login'"
    )
    found = re.search(rb"(?im)^authorization: bearer (\S+)\r?$", heads[0]) if heads else None
    return found.group(1).decode() if found else None


@scenario
def masking():
    """No secret leaves the machine; the same one has the same placeholder wherever the key is the same."""
    origin = Origin()
    settings = {"log_statement": "all", "log_parameter_max_length": "-1"}
    with server_and_store(relay=True, settings=settings) as store:
        keys = {}
        for name in ("one", "two"):
            keys[name] = path(f"{name}.key")
            with open(keys[name], "w") as file:
                file.write(sha(name.encode()) + "\n")
            os.chmod(keys[name], 0o600)
        found = {}
        for name, key in (("a", "one"), ("b", "one"), ("c", "two"), ("d", None), ("e", None)):
            session = path(f"{name}.sluice")
            options = ["--label-key", keys[key]] if key else []
            # Each shard is a machine of its own.
            proxy = Proxy(session, *store.options("--label", f"shard={name}", *options), at=f"home-{name}")
            count = plant(origin, proxy.port)
            # The local file has every secret.
            proxy.stop()
            await_arrival_masked(store, session, count)
            found[name] = placeholder(store, session)
            check(re.fullmatch(r"sluice-token-[0-9a-f]{6}", found[name] or ""), f"the placeholder in shard {name} is {found[name]}")
            whole = " ".join(json.dumps(entry) for entry in entries(session, "--secrets"))
            absent = [name for name, value in SECRETS.items() if value not in whole and name != "basic"]
            check(not absent, f"the session file of shard {name} lacks {absent}")
        check(found["a"] == found["b"], f"one key gives different placeholders: {found}")
        check(len({found[name] for name in "acde"}) == 4, f"different keys, or none, give the same placeholder: {found}")
        texts = search_database(store, SECRETS, "masked")
        check(b"sluice-password-" in b"".join(texts.values()), "the database has no placeholder of a password")
        # The hash of a short body with a secret would be as good as the secret to who guesses.
        originals = [
            json.dumps({"user": "ann", "password": SECRETS["json-answer"]}), json.dumps({"password": SECRETS["json-request"], "name": "Ann"}),
            f"user=ann&password={SECRETS['form']}",
        ]
        for original in originals:
            digest = sha(original.encode())
            check(not any(digest.encode() in data or bytes.fromhex(digest) in data for data in texts.values()),
                  f"the database has the hash of the unmasked body {original}")
        key_text = {name: sha(name.encode()) for name in keys}
        for name, value in key_text.items():
            for place, data in texts.items():
                check(value.encode() not in data and bytes.fromhex(value) not in data, f"{place} has the key '{name}'")
        # What reads the store masks nothing twice, and loses no placeholder.
        fetched = path("fetched.sluice")
        run("store", "fetch", store.url("reader"), 'label:"shard=a"', "-o", fetched)
        text = json.dumps(entries(fetched)) if os.path.exists(fetched) else ""
        check(found["a"] and found["a"] in text, "a masked export of a fetched session changes its placeholders")
        # The secret that a and b have in common is found by its placeholder.
        both = run("list", store.url("reader"), f'req.header.authorization:*{found["a"]}', "--json", code=None)
        check(len(json_lines(both.out)) == 2, f"the placeholder of two shards is found {len(json_lines(both.out))} times: {both.err}")

        # With --store-secrets the originals are there.
        session = path("secrets.sluice")
        proxy = Proxy(session, *store.options("--store-secrets"), at="home-s")
        count = plant(origin, proxy.port)
        proxy.stop()
        await_arrival(store, session, count)
        check(placeholder(store, session) == SECRETS["bearer"], f"--store-secrets stores {placeholder(store, session)}")
        fetched = path("fetched-secrets.sluice")
        run("store", "fetch", store.url("reader"), f"session:{identifier(session)}", "-o", fetched)
        if os.path.exists(fetched):
            compare("a session fetched with secrets", entries(session, "--secrets"), entries(fetched, "--secrets"))
            text = json.dumps(entries(store.url("reader"), f"session:{identifier(session)}"))
            check(not leaks(text.encode(), SECRETS), f"an export from the store has {leaks(text.encode(), SECRETS)}")
        check_passwords(store)


def await_arrival_masked(store, session, count):
    """Like `await_arrival`, but a query may have a placeholder."""
    number = identifier(session)
    wait_for(lambda: store.number(f"SELECT count(*) FROM exchanges WHERE session = '{number}'") >= count, ARRIVAL, 0.2)
    stored, local = store.stored(session), recorded(session)
    place = COMPARED.index("query")
    def bare(rows):
        return [row[:place] + row[place + 1:] for row in rows]
    check(bare(stored) == bare(local), f"{os.path.basename(session)}: stored {bare(stored)[:2]}, recorded {bare(local)[:2]}")


@scenario
def network():
    """Packets to the database are dropped for some seconds: no connection ends, nothing is lost, nothing arrives twice."""
    origin = Origin()
    with server_and_store() as store:
        session = path("a.sluice")
        cut = Filter(store.server.port)
        # From the beginning: nobody refuses the connection.
        cut.drop()
        proxy = Proxy(session, *store.options())
        load = Load(origin, proxy.port, "network", pause=0.04)
        load.reach(300)
        cut.pass_all()
        check(wait_for(lambda: store.number("SELECT count(*) FROM exchanges") > 0, ARRIVAL, 0.2), "nothing arrives after the first cut")
        for seconds in (2, 8):
            load.reach(200)
            cut.drop()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                load.reach(20)
            cut.pass_all()
            load.reach(100)
        load.stop()
        check(load.failed == 0 and load.slowest < 2, f"{load.failed} requests failed, the slowest took {load.slowest:.1f} s")
        await_arrival(store, session, len(load.answered))
        # It ends while packets are dropped.
        Load(origin, proxy.port, "end", 50).finish()
        await_arrival(store, session, len(load.answered) + 50)
        cut.drop()
        Load(origin, proxy.port, "dropped", 50).finish()
        began = time.monotonic()
        proxy.stop(90)
        check(time.monotonic() - began < 30, f"it took {time.monotonic() - began:.0f} s to end while packets were dropped")
        cut.pass_all()
        check_counts(proxy, None, 50)
        run("store", "import", store.url(), session)
        await_arrival(store, session, len(load.answered) + 100, 10)
        check_passwords(store)


@scenario
def disk_full():
    """The database's disk is full for a while, first without and then with its log of changes."""
    origin = Origin()
    for place in ("tables", "all"):
        small = path(f"small-{place}")
        os.makedirs(small)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m,mode=0755", "none", small], check=True)
        # `nobody` has to come there.
        outside = path(f"small-{place}-wal")
        os.makedirs(outside)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m,mode=0755", "none", outside], check=True)
        with server_and_store(data=f"{small}/data", wal=f"{outside}/wal" if place == "tables" else None) as store:
            session = path(f"{place}.sluice")
            proxy = Proxy(session, *store.options())
            load = Load(origin, proxy.port, place, pause=0.02)
            load.reach(300)
            filler = fill(small)
            is_full = wait_for(
                lambda: load.reach(50) or "No space left" in store.server.read_log() or not store.server.is_running(), 60,
            )
            check(is_full, f"{place}: the disk is never full")
            load.reach(300)
            text = proxy.status()
            check(re.search(r"wait", text), f"{place}: sluice status does not say that exchanges wait: {text}")
            os.unlink(filler)
            if not wait_for(store.server.is_ready, 5):
                store.server.restart("immediate")
            load.reach(200)
            load.stop()
            check(load.failed == 0, f"{place}: {load.failed} requests failed while the disk was full")
            await_arrival(store, session, len(load.answered))
            proxy.stop()
            check_counts(proxy, None, 0)
            check_passwords(store)
        for folder in (small, outside):
            subprocess.run(["umount", folder], check=True)


def archive(name, times, body="hello"):
    """A session of exchanges that began at these times, made of a HAR."""
    made = [
        {
            "startedDateTime": moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "time": 6,
            "request": {"method": "GET", "url": f"http://{name}.example/n/{number}", "httpVersion": "HTTP/1.1", "cookies": [],
                        "headers": [{"name": "Host", "value": f"{name}.example"}], "queryString": [], "headersSize": -1, "bodySize": 0},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [], "redirectURL": "",
                         "headers": [{"name": "Content-Type", "value": "text/plain"}], "headersSize": -1, "bodySize": len(body),
                         "content": {"size": len(body), "mimeType": "text/plain", "text": body}},
            "cache": {}, "timings": {"send": 1, "wait": 3, "receive": 2},
        }
        for number, moment in enumerate(times, 1)
    ]
    with open(path(f"{name}.har"), "w") as file:
        json.dump({"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": made}}, file)
    session = path(f"{name}.sluice")
    run("import", "session", path(f"{name}.har"), "-o", session)
    return session


@scenario
def wrong_clock():
    """Exchanges of other days are in the late partition, and found like all others."""
    with server_and_store() as store:
        today = now()
        old = archive("old", [today - datetime.timedelta(days=31, minutes=number) for number in range(5)])
        future = archive("future", [today + datetime.timedelta(days=31, minutes=number) for number in range(3)])
        ancient = archive("ancient", [datetime.datetime(1999, 2, 3, 4, 5, 6)])
        present = archive("present", [today])
        for session, count in ((old, 5), (future, 3), (ancient, 1), (present, 1)):
            # The second time changes nothing.
            for _ in range(2):
                run("store", "import", store.url(), session)
                await_arrival(store, session, count, 10)
        late = {row[0]: int(row[1]) for row in store.rows("SELECT host, count(*) FROM exchanges_late GROUP BY 1")}
        check(late == {"old.example": 5, "future.example": 3, "ancient.example": 1}, f"exchanges_late has {late}")
        days = store.rows("SELECT DISTINCT day FROM exchanges WHERE host = 'ancient.example'")
        check(days == [["1999-02-03"]], f"the day of 1999-02-03 is {days}")
        listed = json_lines(run("list", store.url("reader"), "host:old.example", "--json").out)
        check([row["url"][-1] for row in listed] == list("54321"), f"list has {[row['url'] for row in listed]}")
        everything = [urllib.parse.urlsplit(row["url"]).hostname for row in json_lines(run("list", store.url("reader"), "--json").out)]
        check(everything == ["ancient.example"] + ["old.example"] * 5 + ["present.example"] + ["future.example"] * 3,
              f"list is not in the order of times: {everything}")
        texts = {((entry["response"].get("body") or {}).get("text")) for entry in entries(store.url("reader"), "host:old.example")}
        check(texts == {"hello"}, f"the bodies of late exchanges are {texts}")
        check_passwords(store)


@scenario
def comments():
    """Comments that are made later are added as rows, and listed."""
    origin = Origin()
    with server_and_store() as store:
        session = path("a.sluice")
        proxy = Proxy(session, *store.options())
        Load(origin, proxy.port, "comments", 5, clients=1).finish()
        await_arrival(store, session, 5)
        uuid = identifier(session)

        def rows():
            return [tuple(row) for row in store.rows(
                f"SELECT exchange, coalesce(comment, '') FROM annotations WHERE session = '{uuid}' ORDER BY at, exchange")]

        def expect(*wanted):
            wait_for(lambda: len(rows()) >= len(wanted), ARRIVAL, 0.2)
            check(rows() == list(wanted), f"the annotations are {rows()}, not {list(wanted)}")

        def listed():
            printed = run("list", store.url("reader"), "--columns", "id,comment").out
            return {line.split("\t")[0]: line.split("\t")[1] for line in printed.splitlines() if "\t" in line}

        # While it runs.
        run("comment", session, "1", "slow today")
        expect(("1", "slow today"))
        run("comment", session, "2-3", "both of them")
        first = [("1", "slow today"), ("2", "both of them"), ("3", "both of them")]
        expect(*first)
        run("comment", session, "1", "fast again")
        first.append(("1", "fast again"))
        expect(*first)
        run("comment", session, "3", "")
        first.append(("3", ""))
        expect(*first)
        shown = {"1": "fast again", "2": "both of them", "3": "", "4": "", "5": ""}
        check(listed() == shown, f"list shows the comments {listed()}")
        proxy.stop()
        # After its end, with the session sent again.
        run("comment", session, "5", "found later")
        run("store", "import", store.url(), session)
        first.append(("5", "found later"))
        expect(*first)
        run("store", "import", store.url(), session)
        expect(*first)
        check(listed() == dict(shown, **{"5": "found later"}), f"list shows the comments {listed()}")
        found = json_lines(run("list", store.url("reader"), "comment:found", "--json", code=None).out)
        local = json_lines(run("list", session, "comment:found", "--json", code=None).out)
        check(len(found) == len(local), f"the filter comment: finds {len(found)} in the store, {len(local)} in the session")
        fetched = path("fetched.sluice")
        run("store", "fetch", store.url("reader"), f"session:{uuid}", "-o", fetched)
        if check(os.path.exists(fetched), "fetch wrote no session"):
            compare("the fetched session", entries(session), entries(fetched))
        # Rows are only added.
        for text in ("DELETE FROM annotations", "UPDATE annotations SET comment = 'x'"):
            done = store.server.sql_as("shard", store.passwords["shard"], f"SET search_path = traffic; {text}", store.database)
            check("permission denied" in done.stderr, f"the writer may {text}")
        check_passwords(store)


@scenario
def prune():
    """Old partitions and late rows are removed, newer ones stay."""
    with server_and_store() as store:
        today = now()
        # A partition as it would be there if Sluice had run all the time.
        for age in (20, 14, 13):
            day = today.date() - datetime.timedelta(days=age)
            for table in ("exchanges", "bodies"):
                store.server.sql(
                    f"SET ROLE owner; CREATE TABLE traffic.{table}_{day:%Y%m%d} PARTITION OF traffic.{table}"
                    f" FOR VALUES FROM ('{day}') TO ('{day + datetime.timedelta(days=1)}')", store.database,
                )
        ages = {"d400": 400, "d31": 31, "d20": 20, "d13": 13, "d5": 5, "d0": 0}
        for name, age in ages.items():
            # Each with the same body.
            session = archive(name, [today - datetime.timedelta(days=age, seconds=number) for number in range(3)], "shared body")
            run("store", "import", store.url(), session)
        hosts = "SELECT split_part(host, '.', 1) FROM exchanges GROUP BY 1 ORDER BY min(started_at)"
        check([row[0] for row in store.rows(hosts)] == list(ages), f"before, there are {store.rows(hosts)}")
        old = f"exchanges_{today - datetime.timedelta(days=20):%Y%m%d}"
        check(store.number(f"SELECT count(*) FROM {old}") == 3, f"{old} has no rows")

        for writer in ("shard", "reader"):
            outcome = run("store", "prune", store.url(writer), "--older", "14d", code=1)
            check(store.number("SELECT count(*) FROM exchanges") == 18, f"{writer} may prune: {outcome.text}")
        run("store", "prune", store.url("owner"), "--older", "14d")
        check([row[0] for row in store.rows(hosts)] == ["d13", "d5", "d0"], f"after it, there are {store.rows(hosts)}")
        for table in ("exchanges", "bodies"):
            day = f"{today - datetime.timedelta(days=20):%Y%m%d}"
            check(store.sql(f"SELECT to_regclass('traffic.{table}_{day}') IS NULL") == "t", f"{table}_{day} is still there")
            day = f"{today - datetime.timedelta(days=13):%Y%m%d}"
            check(store.sql(f"SELECT to_regclass('traffic.{table}_{day}') IS NOT NULL") == "t", f"{table}_{day} is removed")
            number = store.number(f"SELECT count(*) FROM {table} WHERE day < '{(today - datetime.timedelta(days=15)).date()}'")
            check(number == 0, f"{table} has {number} old rows")
        texts = [(entry["response"].get("body") or {}).get("text") for entry in entries(store.url("reader"))]
        check(texts == ["shared body"] * 9, f"the bodies after it are {texts}")
        run("store", "prune", store.url("owner"), "--older", "14d")
        check(store.number("SELECT count(*) FROM exchanges") == 9, "a second prune removes more")
        # What was removed may be sent again, and recording goes on.
        run("store", "import", store.url(), path("d0.sluice"))
        check(store.number("SELECT count(*) FROM exchanges") == 9, "import after prune adds rows twice")
        for older in ("", "14", "-3d", "14x", "yesterday"):
            outcome = run("store", "prune", store.url("owner"), "--older", older, code=None)
            check(outcome.code == 2 and outcome.err.strip(), f"--older '{older}' ends with {outcome.code}: {outcome.text}")
        outcome = run("store", "prune", store.url("owner"), code=None)
        check(outcome.code == 2, f"prune without --older ends with {outcome.code}")
        check(store.number("SELECT count(*) FROM exchanges") == 9, "wrong usage removed rows")
        check_passwords(store)


def check_message(outcome, codes, words=()):
    """A failure ends with one of these codes and a short message."""
    name = " ".join(re.sub(r"Core[0-9a-f]+", "PASSWORD", word) for word in outcome.command)
    check(outcome.code in codes, f"sluice {name} ended with {outcome.code}, not {codes}: {outcome.text[-300:]}")
    text = outcome.err.strip()
    check(text, f"sluice {name} says nothing")
    check(text.startswith("sluice: "), f"sluice {name} does not begin with its name: {text[:200]}")
    # Names of types, dumps of errors.
    bad = re.search(r"Error:|PSQLError|NIO[A-Z]\w+|Fatal|\w+\(code:|Optional\(|SWIFT|\.swift", text)
    check(not bad, f"sluice {name} speaks of {bad and bad.group()}: {text[:300]}")
    check(len(text) < 1200, f"sluice {name} says too much: {text[:300]}")
    check(any(re.search(word, text, re.I) for word in words) or not words, f"sluice {name} names none of {words}: {text[:300]}")


@scenario
def wrong_things():
    """Wrong URLs, passwords, projects and options end with 1 or 2 and a clear message without the password."""
    with PostgreSQL() as server:
        store = Store(server).create()
        session = archive("one", [now()])
        uninitialised = store.url("owner")
        # The same for every command that reads or writes.
        def commands(url):
            return [
                ["store", "status", url], ["store", "sessions", url], ["list", url], ["stats", url], ["export", url, "--format", "har"],
                ["store", "fetch", url, "host:x", "-o", path("x.sluice")], ["store", "import", url, session],
                ["store", "prune", url, "--older", "14d"], ["open", "--linear", url],
            ]

        for command in commands(uninitialised):
            check_message(run(*command, code=None), [1], ["store init", "initiali", "no schema"])
        # A run that has no store to send to either ends at once, or waits for it.
        try:
            proxy = Proxy(path("early.sluice"), "--store", store.url("owner"))
        except Failed as failure:
            check("init" in str(failure), f"run without a schema says {failure}")
            proxy = None
        if proxy:
            origin = Origin()
            Load(origin, proxy.port, "early", 20).finish()
            store.init()
            await_arrival(store, path("early.sluice"), 20)
            proxy.stop()
        else:
            store.init()

        refused = store.url("owner", port=unused_port())
        for command in [["store", "init", refused], *commands(refused)]:
            check_message(run(*command, code=None), [1], ["refused", "reach", "connect"])
        for command in [["store", "init", store.url("owner", password=f"{store.cores['owner']}x")],
                        *commands(store.url("reader", password=f"{store.cores['reader']}x"))]:
            check_message(run(*command, code=None), [1], ["password", "authenticat"])
        missing = store.url("owner", database="nowhere")
        for command in [["store", "init", missing], ["list", missing]]:
            check_message(run(*command, code=None), [1], ["nowhere"])
        for command in commands(store.url("reader")):
            if command[0] != "open" and command[1] != "prune":
                check_message(run(*command, "--project", "nothing", code=None), [1], ["nothing"])
        for project in ("", "a b", "x'; DROP SCHEMA traffic", 'x"y', "a" * 64, "pg_mine"):
            outcome = run("store", "init", store.url("owner"), "--project", project, code=None)
            check_message(outcome, [1, 2], ["project", "name"])
        # Names that resolve to nothing, and a port where nobody answers.
        core = store.cores["owner"]
        check_message(run("store", "status", f"postgres://owner:{core}@nowhere.invalid/shop", code=None), [1], ["nowhere.invalid"])
        with socket.create_server(("127.0.0.1", 0)) as silent:
            began = time.monotonic()
            check_message(run("store", "status", f"postgres://owner:{core}@127.0.0.1:{silent.getsockname()[1]}/shop", code=None), [1])
            check(time.monotonic() - began < 60, "a server that says nothing is awaited for more than a minute")
        # Another server than PostgreSQL.
        origin = Origin()
        check_message(run("store", "status", f"postgres://owner:{core}@127.0.0.1:{origin.port}/shop", code=None), [1])

        for url in (
            f"postgres://owner:{core}@127.0.0.1:99999/shop", f"postgres://owner:{core}@127.0.0.1:port/shop",
            f"mysql://owner:{core}@127.0.0.1/shop", f"postgres://owner:{core}@[::1/shop", f"postgres://owner:{core}%zz@127.0.0.1/shop",
            f"owner:{core}@127.0.0.1", "", f"postgres://owner:{core}@127.0.0.1/shop?sslmode=sometimes",
        ):
            check_message(run("store", "status", url, code=None), [2], ["url", "postgres", "port", "host", "sslmode", "argument"])
            outcome = run("run", "-p", "127.0.0.1:0", "--session", path("never.sluice"), "--store", url, "--", "true", code=None)
            check(outcome.code == 2, f"run --store with a malformed URL ends with {outcome.code}: {outcome.text[-300:]}")
        good = store.url()
        key = path("key")
        with open(key, "w") as file:
            file.write("")
        for options, words in (
            (["--label", "novalue"], ["label"]), (["--label", "=x"], ["label"]), (["--label-key", path("no-such-file")], ["no-such-file"]),
            (["--label-key", key], ["key"]), (["--store-body", "much"], ["store-body", "size", "much"]),
            (["--store-body", "-1"], ["store-body", "size", "-1"]), (["--project", ""], ["project"]),
        ):
            outcome = run("run", "-p", "127.0.0.1:0", "--session", path("never.sluice"), "--store", good, *options, "--", "true", code=None)
            check(outcome.code in (1, 2) and outcome.err.startswith("sluice: "), f"run {options} ends with {outcome.code}: {outcome.text[-300:]}")
            check(any(word in outcome.err for word in words), f"run {options} names none of {words}: {outcome.err[-300:]}")
        for options in (["--project", "x"], ["--store-secrets"], ["--store-body", "1mb"], ["--label-key", key]):
            outcome = run("run", "-p", "127.0.0.1:0", "--session", path("never.sluice"), *options, "--", "true", code=None)
            check(outcome.code == 2, f"run {options} without --store ends with {outcome.code}: {outcome.text[-200:]}")
        outcome = run("run", "-p", "127.0.0.1:0", "--no-session", "--store", good, "--", "true", code=None)
        check(outcome.code == 2, f"run --no-session --store ends with {outcome.code}: {outcome.text[-200:]}")
        for words in (["--limit", "x"], ["--limit", "-1"], ["label:"], ['session:zz'], ["status:nonsense"]):
            check_message(run("list", store.url("reader"), *words, code=None), [2])
        for command in (["store"], ["store", "nonsense"], ["store", "init"], ["store", "fetch", good], ["store", "import", good]):
            outcome = run(*command, code=None)
            check(outcome.code in (0, 2) if command == ["store"] else outcome.code == 2, f"sluice {command[:2]} ends with {outcome.code}")
        check_message(run("store", "import", good, path("no-such.sluice"), code=None), [1, 2], ["no-such"])
        existing = path("existing.sluice")
        shutil.copy(session, existing)
        before = sha(open(existing, "rb").read())
        run("store", "import", good, session)
        run("store", "fetch", store.url("reader"), "host:one.example", "-o", existing, code=None)
        after = run("list", existing, "--json", code=None)
        check(after.code == 0 and "one.example" in after.out, f"fetch onto a session broke it ({before[:8]}): {after.text[:200]}")
        # A table that is not as Sluice made it.
        server.sql("ALTER TABLE traffic.exchanges RENAME COLUMN status TO state_of_affairs", store.database)
        check_message(run("list", store.url("reader"), code=None), [1])
        check_passwords(store)


@scenario
def itself():
    """Tests the helpers of this script without a store: origin, load, kill, comparison, archives. Works with an older SLUICE."""
    origin = Origin()
    session = path("a.sluice")
    proxy = Proxy(session)
    check(curl(proxy.port, origin.url("/same")) == "200", "curl gets no answer")
    load = Load(origin, proxy.port, "itself", 500)
    seconds = load.finish()
    verbose(f"500 requests in {seconds:.2f} s, the slowest {load.slowest * 1000:.0f} ms")
    check(load.failed == 0 and len(set(load.answered)) == 500, f"{load.failed} failed")
    planted = plant(origin, proxy.port)
    proxy.status()
    load = Load(origin, proxy.port, "killed", pause=0.02)
    load.reach(100)
    proxy.kill()
    proxy = Proxy(session)
    load.proxy = proxy.port
    load.reach(100)
    load.stop()
    check(load.failed > 0, "no request failed when the proxy was killed")
    proxy.stop()
    check(proxy.outcome.code == 0, f"it ended with {proxy.outcome.code}")
    rows = recorded(session)
    paths = [row[COMPARED.index("path")] for row in rows]
    check(len(paths) - len(set(paths)) == 0 or paths.count("/load/itself/1") == 1, "paths are there twice")
    lost = set(load.answered) - set(paths)
    verbose(f"{len(lost)} answered requests are not in the session after a kill; {len(rows)} are")
    check(planted == 6 and len(rows) > 600, f"the session has {len(rows)} rows")
    masked = json.dumps(entries(session))
    check(not leaks(masked.encode(), SECRETS), f"a masked export has {leaks(masked.encode(), SECRETS)}")
    whole = json.dumps(entries(session, "--secrets"))
    absent = sorted(set(SECRETS) - set(leaks(whole.encode(), SECRETS)))
    check(not absent, f"these secrets are not found where they are: {absent}")
    # An archive of the masked session is like the session, with its placeholders as they are.
    run("export", session, "--format", "bundle", "-o", path("a.zip"))
    run("import", "session", path("a.zip"), "-o", path("b.sluice"))
    compare("a masked copy", entries(session), entries(path("b.sluice"), "--secrets"))
    old = archive("old", [now() - datetime.timedelta(days=31)])
    (row,) = json_lines(run("list", old, "--json").out)
    check(row["startedAt"].startswith(f"{now() - datetime.timedelta(days=31):%Y-%m-%d}"), f"the archive began at {row['startedAt']}")
    check(counts("sluice: 1,234 exchanges stored in the store, 17 wait: refused") == (1234, 17), "counts")
    check(counts("sluice: store: 5 stored, 0 waiting.") == (5, 0), "counts")
    check(counts("sluice: store: stored 5 exchanges; waiting: 3") == (5, 3), "counts")
    with PostgreSQL() as server:
        store = Store(server).create()
        done = server.sql_as("owner", store.passwords["owner"], "CREATE SCHEMA traffic; SELECT 7", store.database)
        check(done.stdout.strip() == "7", f"the owner cannot make a schema: {done.stderr}")
        check(store.cores["owner"] in store.url("owner") and "%40%3A%2F%25%3F@" in store.url("owner"), f"{store.url('owner')}")


# Those that need root, with the namespaces in which they run.
SPACES = {"network": ("net",), "disk-full": ("mount",)}


def main():
    global current
    names = sys.argv[3:] or [name for name in scenarios if name != "itself"]
    for name in names:
        if name not in scenarios:
            sys.exit(f"no scenario '{name}': {', '.join(scenarios)}")
    if len(names) > 1:
        # Each is a program of its own, as namespaces and printed texts are.
        codes = [subprocess.run(tied([sys.executable, os.path.abspath(sys.argv[0]), SLUICE, DIRECTORY, name])).returncode for name in names]
        return 1 if any(codes) else 0
    (current,) = names
    if current in SPACES:
        if os.geteuid() != 0:
            sys.exit(f"{current} needs root")
        enter_namespaces("STORE_INSIDE", *SPACES[current])
    os.makedirs(f"{DIRECTORY}/{current}")
    PostgreSQL.parent = DIRECTORY
    # Its servers end and their folders are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        scenarios[current]()
    except Failed as failure:
        wrong(str(failure))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
