"""Runs every command of the guide, and compares its screens with what the program prints.

    guide.py SLUICE ROOT DIRECTORY

ROOT is the checkout, whose pages are Sources/*/*.docc/Guide/*.md. Commands run word for word, in namespaces in which their hosts and ports
are the script's own: a network with nothing but a loopback, names that lead there, and programs in place of those that no test machine has.
Needs the rights of root. Prints a line for each thing that is wrong, and nothing where all is right.
"""

import fcntl
import glob
import http.server
import os
import pty
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import termios
import threading
import time

from postgres import PostgreSQL

SLUICE, ROOT, DIRECTORY = (os.path.abspath(path) for path in sys.argv[1:4])
HOSTS = (
    "example.com api.example.com staging.example.com api.staging.example.com www.example.com proxy.example tracker.example"
).split()
PATIENCE = 60
problems = []


def wrong(text):
    problems.append(text)
    print(text, flush=True)


# MARK: - A world of its own

def enter():
    """Starts this script anew in namespaces of its own."""
    command = ["unshare", "--net", "--mount", "--", sys.executable, os.path.abspath(__file__), SLUICE, ROOT, DIRECTORY]
    os.execvpe(command[0], command, dict(os.environ, GUIDE_INSIDE="1"))


def must(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def arrange():
    """Names, addresses, a user, an authority of the servers, and programs that stand for others."""
    must("ip", "link", "set", "lo", "up")
    must("ip", "address", "add", "192.168.0.7/16", "dev", "lo")
    names = "".join(f"127.0.0.1 {name}\n" for name in ["localhost", *HOSTS])
    for file, text in {"/etc/hosts": names + "::1 localhost\n", "/etc/passwd": None}.items():
        if text is None:
            text = open(file).read() + "sluice:x:64321:64321::/:/bin/sh\n"
        write(f"{DIRECTORY}/world{file}", text)
        must("mount", "--bind", f"{DIRECTORY}/world{file}", file)
    world = f"{DIRECTORY}/world"
    must("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=Guide", "-keyout",
         f"{world}/root.key", "-out", f"{world}/root.pem", "-addext", "keyUsage=critical,keyCertSign")
    must("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=example.com", "-keyout", f"{world}/server.key",
         "-out", f"{world}/server.csr")
    write(f"{world}/names", "subjectAltName=" + ",".join(f"DNS:{name}" for name in ["localhost", *HOSTS]) + "\n")
    must("openssl", "x509", "-req", "-in", f"{world}/server.csr", "-CA", f"{world}/root.pem", "-CAkey",
         f"{world}/root.key", "-CAcreateserial", "-days", "30", "-extfile", f"{world}/names", "-out",
         f"{world}/server.pem")
    programs = f"{world}/bin"
    for name, text in {
        "npm": 'exec curl -s --noproxy "" http://api.example.com/from-npm?page=2 -o /dev/null\n',
        "sudo": '[ "$1" = -u ] && shift 2\nexec "$@"\n',
        "firefox": "exit 0\n",
        "chromium": "exit 0\n",
        "jq": "exec cat\n",
    }.items():
        write(f"{programs}/{name}", "#!/bin/sh\n" + text, 0o755)
    os.symlink(SLUICE, f"{programs}/sluice")


def environment(home):
    return dict(
        {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}, HOME=home, XDG_CONFIG_HOME=home + "/config",
        XDG_STATE_HOME=home + "/state", XDG_RUNTIME_DIR=home + "/run", TMPDIR=home + "/tmp", TERM="xterm-256color",
        PGUSER="postgres", PGPASSWORD=team.password, LC_ALL="C.UTF-8", SSL_CERT_FILE=f"{DIRECTORY}/world/root.pem", PATH=f"{DIRECTORY}/world/bin:" + os.environ["PATH"],
    )


# MARK: - Servers

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        status = {"/missing": 404, "/broken": 500}.get(path, 200)
        if status != 200:
            return self.answer(status, "text/html", b"<p>No.</p>")
        self.answer(200, "application/json", b'{"plan": "free", "items": [1, 2], "note": "out of stock"}\n')

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer(200, "application/json", b'{"ok": true}\n')

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True

    def handle_error(self, *_):
        pass


def serve(port, tls=False):
    server = Server(("::", port), Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{DIRECTORY}/world/server.pem", f"{DIRECTORY}/world/server.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def serve_proxy(port):
    """A proxy that opens tunnels."""
    def tunnel(client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1) or b"\r\n\r\n"
        host, _, number = head.split()[1].decode().rpartition(":")
        with client, socket.create_connection((host, int(number))) as server:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                for one, other in ((client, server), (server, client)):
                    if one in select.select([client, server], [], [])[0]:
                        data = one.recv(65536)
                        if not data:
                            return
                        other.sendall(data)

    listener = socket.create_server(("127.0.0.1", port))

    def accept():
        while True:
            threading.Thread(target=tunnel, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


# MARK: - Running programs

class Running:
    """A program that goes on, on a terminal or without one."""

    def __init__(self, command, home, folder, terminal=False):
        self.text, self.command = b"", command
        # With an exec in front, the shell is the program that is told to end.
        words = ["bash", "-c", command if re.search(r"[|;]|^[a-z_]+=", command) else "exec " + command]
        self.screen, other = pty.openpty()
        if terminal:
            subprocess.run(["stty", "rows", "30", "cols", "100"], stdin=other)
        streams = dict(stdin=other, stdout=other, stderr=other) if terminal else dict(
            stdin=subprocess.DEVNULL, stdout=other, stderr=other)
        self.child = subprocess.Popen(
            words, cwd=folder, env=environment(home), start_new_session=True,
            # The terminal is the one that the program finds as /dev/tty, too.
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if terminal else None, **streams)
        os.close(other)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = os.read(self.screen, 65536)
            except OSError:
                return
            if not data:
                return
            self.text += data

    def await_text(self, *words):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if any(word.encode() in self.text for word in words):
                return True
            if self.child.poll() is not None:
                return False
            select.select([], [], [], 0.02)
        return False

    def end(self, *keys):
        """Ends it by keys, or as Ctrl-C does, and says with what it ended."""
        for key in keys:
            os.write(self.screen, key)
        if not keys:
            self.child.send_signal(signal.SIGINT)
        try:
            return self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
            return None

    def plain(self):
        return self.text.decode(errors="replace").replace("\r", "")


def run(command, home, folder):
    """What a command printed, and its exit code."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=PATIENCE * 2,
    )
    return done.stdout, done.returncode


# MARK: - What commands find

# The exchanges of which screens show some.
REQUESTS = """
curl -s http://localhost:3000/items?page=2
curl -s -H 'Authorization: Bearer 8f14e45fceea167a5a36dedd4bea2543' http://api.example.com/v1/me
curl -s https://localhost:8443/missing
"""


def record(home, folder, session, requests=REQUESTS, options=""):
    program = Running(f"sluice run --listen 127.0.0.1:0 --quiet {session} {options}", home, folder)
    if not program.await_text("recording to"):
        raise SystemExit(f"sluice run does not start: {program.plain()}")
    port = re.search(r"listening on \S*?:(\d+)", program.plain()).group(1)
    for line in requests.strip().splitlines():
        run(line.replace("curl", f"curl --proxy 127.0.0.1:{port} --cacert $(sluice ca path) -o /dev/null"), home, folder)
    if program.end() != 0:
        raise SystemExit(f"sluice run ended badly: {program.plain()}")


def prepare(home, folder):
    """The files that commands name, and a session of `sluice demo` that is the last one."""
    os.makedirs(home + "/tmp")
    os.makedirs(home + "/run", mode=0o700)
    os.makedirs(folder)
    record(home, folder, "--session build.sluice")
    shutil.copy(f"{folder}/build.sluice", f"{folder}/before.sluice")
    shutil.copy(f"{folder}/build.sluice", f"{folder}/after.sluice")
    for command in ["sluice demo --plain", "sluice export build.sluice --format har --secrets -o bug.har"]:
        printed, code = run(command, home, folder)
        if code != 0:
            raise SystemExit(f"{command}: {printed}")
    shutil.copy(f"{DIRECTORY}/world/root.pem", folder)
    os.symlink(f"{ROOT}/Profiles", f"{folder}/Profiles")
    # A FileDescriptorSet of one file without anything in it.
    with open(f"{folder}/api.pb", "wb") as file:
        file.write(b"\x0a\x0b\x0a\x09api.proto")
    shutil.copy(f"{ROOT}/Tests/FormatsTests/Archives/Fixtures/built-session.chlsj", f"{folder}/a.chlsj")
    write(f"{folder}/charles.xml", CHARLES)
    write(f"{folder}/hold.yaml", HOLD)
    write(f"{folder}/bad.yaml", BAD)
    write(f"{folder}/shadowed.yaml", SHADOWED)


HOLD = """version: 1
throttle: { preset: fibre-100, only: ["slow.example.com"] }
rewrite:
  - name: plans
    at: "*"
    rules: [ { modify: body, on: response, match: '/"plan": "(\\w+)"/', to: '"plan": "pro-$1"' } ]
breakpoints: { at: "localhost:3999/login", method: POST, on: request, after: 45s, then: cancel }
"""
CHARLES = """<?xml version='1.0' encoding='UTF-8' ?>
<?charles serialisation-version='2.0' ?>
<charles-export><toolConfiguration><configs><entry><string>Map Local</string><mapLocal><toolEnabled>true</toolEnabled>
<mappings><mapLocalMapping><sourceLocation><host>api.example.com</host></sourceLocation><dest>C:\\mocks\\user.json</dest>
<enabled>true</enabled></mapLocalMapping></mappings></mapLocal></entry></configs></toolConfiguration></charles-export>
"""
BAD = "version: 1\nthrotle: { preset: 3g }\n"
SHADOWED = """version: 1
map-remote: [ { from: "https://a.example.com/*", to: "http://localhost:3000" }, { from: "https://a.example.com/v1/*", to: "http://localhost:1" } ]
"""


# MARK: - The pages

def pages():
    for path in [f"{ROOT}/README.md", *sorted(glob.glob(f"{ROOT}/Sources/*/*.docc/Guide/*.md"))]:
        yield os.path.basename(path)[:-3], open(path).read()


def blocks(text, language):
    return [block.rstrip("\n").split("\n") for block in re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)]


# Commands whose exit code says more than that they worked.
CODES = {
    "sluice diff last 12 14": 1,
    # The servers of the demo are gone.
    "sluice repeat last 12 --times 100 --parallel 10": 1,
}
# What builds or tests Sluice itself.
BUILDS = "apt-get update"
# Those that need a Sluice that runs.
STEERING = re.compile(r"sluice (tool|hold|record|attach|mcp --attach|browser --running|decrypt|pass)\b")
# Those that go on until they are told to end, and of these the ones that need a screen.
LASTING = re.compile(r"(sudo -u sluice )?sluice( (run|replay)\b(?!.* -- )| open\b| attach\b|$)")
SCREENS = re.compile(r"sluice( (open|attach)\b|$)")
# Those that ask on a terminal.
ASKING = re.compile(r"sluice proxy-auth add|curl .*--proxy-user [a-z]+ ")


class Page:
    """A reader's own folder, in which the blocks of a page are tried one after the other."""

    def __init__(self, topic):
        self.topic, self.lasting = topic, []
        self.home, self.folder = f"{DIRECTORY}/pages/{topic}", f"{DIRECTORY}/pages/{topic}/here"
        shutil.copytree(f"{DIRECTORY}/home", self.home, symlinks=True)

    def wrong(self, text):
        wrong(f"{self.topic}: {text}")

    def run(self, command):
        return run(command, self.home, self.folder)

    def start(self, command, terminal=False, words=("recording to",)):
        program = Running(command, self.home, self.folder, terminal)
        if not program.await_text(*words):
            self.wrong(f"{command} does not start: {program.plain()[-600:]}")
        self.lasting.append(program)
        return program

    def end(self):
        while self.lasting:
            program = self.lasting.pop()
            code = program.end(*([b"q", b"y"] if SCREENS.match(program.command) else []))
            if code != 0:
                self.wrong(f"{program.command} ended with {code}: {program.plain()[-600:]}")

    def hold(self):
        """A Sluice with a request that waits at a breakpoint."""
        self.start("sluice run --profile hold.yaml")
        client = Running(
            "curl -s --proxy 127.0.0.1:8080 -d '{\"user\": \"ada\"}' -H 'Content-Type: application/json'"
            " http://localhost:3999/login", self.home, self.folder)
        wait_for(lambda: "1.1" in self.run("sluice hold list")[0])
        return client

    def play(self, lines):
        """Runs a block's lines one after the other; what goes on ends with the block."""
        if any(line.startswith("sluice hold") for line in lines):
            self.hold()
        elif any(STEERING.match(line) for line in lines):
            self.start("sluice run --profile hold.yaml")
        for line in lines:
            if line.startswith("#") or BUILDS in line:
                continue
            if LASTING.match(line):
                # One after the other, unless what follows is a client of it.
                if not SCREENS.match(line):
                    self.end()
                command = "http_proxy=http://proxy.example:3128 " + line if line.endswith(" env") else line
                isScreen = SCREENS.match(line) is not None
                self.start(command, isScreen, ("Sequence]",) if isScreen else ("recording to", "answers from"))
                # The screen is drawn before the proxy listens.
                if command == "sluice" and not wait_for(lambda: listens(8080)):
                    self.wrong(f"{command} does not listen")
            elif ASKING.match(line):
                program = Running(line, self.home, self.folder, terminal=True)
                asked = 0
                while program.child.poll() is None and asked < 3:
                    wait_for(lambda: program.text.lower().count(b"assword") > asked or program.child.poll() is not None)
                    asked = program.text.lower().count(b"assword")
                    os.write(program.screen, b"a secret of some length\n")
                if program.child.wait(PATIENCE) != 0:
                    self.wrong(f"{line}: {program.plain()[-600:]}")
            else:
                text, code = self.run(line)
                if code != CODES.get(line, 0):
                    self.wrong(f"{line} ended with {code}: {text[-600:]}")
        self.end()

    # MARK: - Screens

    def compare(self, lines, printed):
        """Whether the lines are among the printed ones, in their order; numbers and lengths of rules may differ."""
        def same(line):
            line = line.replace(f"{self.home}/state", "~/.local/state").rstrip(".")
            return " ".join(re.sub(r"\b0(\.0)? (ms|s|milliseconds?)", "0 ms", re.sub(r"\d+", "0", line)).split())

        rest = [same(line) for line in printed.split("\n")]
        for line in lines:
            if not line.strip():
                continue
            if same(line) not in rest:
                return self.wrong(f"a screen has '{line}', which is not printed there:\n{printed[-1500:]}")
            rest = rest[rest.index(same(line)) + 1 :]

    def screen(self, lines):
        if lines[0].startswith("at: "):
            self.compare(lines, self.drafted())
        elif lines[0] == "$ sluice --linear":
            commands = [line for line in lines if line in ("filter status:404", "rule block", "apply")]
            self.compare([line for line in lines[1:] if line not in commands], self.spoken(commands))
        elif lines[0].startswith((": ", "curl -H 'Host: ")):
            self.compare(lines, self.run("sluice export build.sluice --format curl")[0])
        elif lines[0] == "$ sluice show last 8":
            self.compare(lines[1:], self.run("sluice show build.sluice 3")[0])
        elif lines[0] == "$ sluice profile check bad.yaml":
            self.compare(lines, "".join(f"{line}\n{self.run(line[2:])[0]}" for line in lines if line.startswith("$ ")))
        elif lines[0] == "rewrite":
            record(self.home, self.folder, "--session why.sluice", "curl -s http://localhost:3000/a", "--profile hold.yaml")
            place = "Profiles/staging-to-local.yaml"
            self.compare(
                lines, self.run("sluice why why.sluice 1")[0]
                + self.run(f"sluice profile why {place} GET https://api.staging.example.com/v1")[0])
        elif lines[0].startswith('{"command"'):
            self.start("sluice run --profile hold.yaml")
            path = glob.glob(f"{self.home}/run/sluice/*.sock*")[0]
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(path)
                stream = peer.makefile("rw")
                for line in lines:
                    stream.write(line + "\n")
                    stream.flush()
                    if '"ok":true' not in (reply := stream.readline()):
                        self.wrong(f"{line} is answered by {reply}")
        elif lines[0].startswith("$ curl -i --proxy"):
            self.start("sluice replay bug.har", words=("answers from", "listening"))
            self.compare(lines[1:], self.run(lines[0][2:])[0].replace("\r", ""))
        elif lines[0].startswith("Messages: "):
            self.compare(lines, self.run("sluice show last 7")[0])
        elif lines[0] == "$ sluice hold list":
            self.hold()
            self.compare(lines[1:], self.run("sluice hold list")[0])
            self.run("sluice hold abort all")
        else:
            self.wrong(f"nothing says how this screen comes about: {lines[0]}")
        self.end()

    def speak(self, command):
        """A console on plain lines, whose output is one text."""
        return subprocess.Popen(
            command.split(), cwd=self.folder, env=environment(self.home), text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def spoken(self, commands):
        """What it says of two requests, and to commands."""
        program = self.speak("sluice --linear")
        printed = read_until(program, "help lists")
        for path in ["a.json", "missing"]:
            self.run(f"curl -s --proxy 127.0.0.1:8080 http://localhost:3000/{path}")
            printed += read_until(program, path)
        return printed + program.communicate("\n".join(commands) + "\n", PATIENCE)[0]

    def drafted(self):
        """What a rule is like that is made from an exchange of the demo."""
        program = self.speak("sluice demo --linear")
        printed = read_until(program, "/api/stock")
        number = printed.split("\n")[-2].split(",")[0]
        return printed + program.communicate(f"rule block {number}\n", PATIENCE)[0]


def read_until(program, word):
    printed = ""
    while word not in printed:
        line = program.stdout.readline()
        if not line:
            raise SystemExit(f"{program.args} ended before '{word}': {printed}")
        printed += line
    return printed


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        return True
    except OSError:
        return False


def wait_for(condition):
    """Whether it came about in time."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        select.select([], [], [], 0.02)
    return True


if not os.environ.get("GUIDE_INSIDE"):
    enter()
arrange()
team = PostgreSQL()
team.port = 5432
team.start()
team.sql("CREATE DATABASE team")
for port, tls in [(80, False), (443, True), (3000, False), (3999, False)]:
    serve(port, tls)
serve_proxy(3128)
# Where a page of the guide has a listener of Sluice.
shared = serve(8443, True)
prepare(f"{DIRECTORY}/home", f"{DIRECTORY}/home/here")
counts = {"commands": 0, "screens": 0}
for topic, text in pages():
    commands, screens = blocks(text, "sh"), blocks(text, "text")
    if not commands + screens:
        continue
    if topic == "modes":
        shared.shutdown()
        shared.server_close()
    page = Page(topic)
    for lines in commands:
        counts["commands"] += 1
        page.play(lines)
    if screens:
        shutil.rmtree(page.home)
        page = Page(topic)
    for lines in screens:
        counts["screens"] += 1
        page.screen(lines)
    if topic == "modes":
        shared = serve(8443, True)
    shutil.rmtree(page.home, ignore_errors=True)
if counts["commands"] < 25 or counts["screens"] < 8:
    wrong(f"only these were found: {counts}")
team.close()
sys.exit(1 if problems else 0)
