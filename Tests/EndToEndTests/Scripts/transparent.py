"""Connections that the kernel redirects to Sluice, in network namespaces of their own.

    transparent.py SLUICE CERTIFICATE KEY ROOT DIRECTORY

Three namespaces: a client's, whose gateway is Sluice's, and a server's behind that. Prints one JSON object with what each
client got, what Sluice said, and where its sessions are.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

SLUICE, CERTIFICATE, KEY, ROOT, DIRECTORY = sys.argv[1:6]
NOBODY = 65534
SERVER = r"""
import http.server, json, socket, ssl, sys, threading

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = json.dumps({"host": self.headers["Host"], "path": self.path, "tls": self.server.tls}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

def serve(port, tls):
    server = Server(("::", port), Handler)
    server.tls = tls
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()

serve(80, False)
serve(443, True)

# A server that speaks first, at a port that is redirected, too.
def greet():
    listener = socket.create_server(("::", 2525), family=socket.AF_INET6, dualstack_ipv6=True)
    while True:
        peer, _ = listener.accept()
        peer.sendall(b"220 hello\r\n")
        peer.recv(100)
        peer.close()

threading.Thread(target=greet, daemon=True).start()
print("serving", flush=True)
sys.stdin.read()
"""

children = []


def start(*command, **options):
    child = subprocess.Popen(command, text=True, **options)
    children.append(child)
    return child


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, timeout=60, **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Namespace:
    """A network namespace, kept by a process that waits."""

    def __init__(self):
        self.keeper = start(
            "unshare", "-n", "sh", "-c", "echo there; exec cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.keeper.stdout.readline()
        self.ip("link", "set", "lo", "up")

    def inside(self, *command):
        return ("nsenter", "-n", "-t", str(self.keeper.pid), "--", *command)

    def ip(self, *arguments):
        must(*self.inside("ip", *arguments))

    def run(self, *command, user=0, **options):
        become = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--")
        return run(*self.inside(*become, *command), **options)


def link(first, second, name, number):
    """Connects two namespaces; the first has address 1 and the second 2."""
    first.ip("link", "add", name, "type", "veth", "peer", "name", name, "netns", str(second.keeper.pid))
    for space, host in ((first, 1), (second, 2)):
        space.ip("address", "add", f"10.{number}.0.{host}/24", "dev", name)
        space.ip("address", "add", f"fd{number}::{host}/64", "dev", name, "nodad")
        space.ip("link", "set", name, "up")


def environment(name):
    home = f"{DIRECTORY}/{name}"
    os.makedirs(home, exist_ok=True)
    return {
        **os.environ, "HOME": home, "XDG_CONFIG_HOME": f"{home}/config", "XDG_STATE_HOME": f"{home}/state",
        "XDG_RUNTIME_DIR": home,
    }


def sluice(space, name, *modes):
    """Starts Sluice, and waits until it listens in all modes."""
    options = [word for mode in modes for word in ("--mode", mode)]
    child = start(
        *space.inside(SLUICE, "run", *options, "--allow", "10.78.0.0/24,fd78::/64", "--upstream-ca", ROOT, "--session",
                      f"{DIRECTORY}/{name}.sluice", "--connect-timeout", "5"),
        env=environment(name), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )
    said = ""
    while "recording to" not in said:
        line = child.stderr.readline()
        if not line:
            raise SystemExit(f"sluice ended: {said}")
        said += line
    shutil.copy(f"{DIRECTORY}/{name}/config/sluice/ca-cert.pem", f"{DIRECTORY}/{name}.pem")
    return child, said


def stop(child):
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    return said


def rules(space, *options):
    """Puts the rules in force that Sluice prints."""
    text = must(SLUICE, "transparent", "--print", "--server-ports", "80,443,2525", *options)
    done = run(*space.inside("nft", "-f", "-"), input=text)
    if done.returncode != 0:
        raise SystemExit(f"nft refuses the rules: {done.stderr}\n{text}")
    return text


def curl(space, name, url, *options, user=NOBODY, authority="main"):
    """Asks as a user; the server's name means its addresses."""
    done = space.run(
        "curl", "-sS", "--noproxy", "*", "--max-time", "20", "--cacert", f"{DIRECTORY}/{authority}.pem", "-w",
        "\n%{http_code}", *options, url, user=user, env={"HOME": "/", "PATH": os.environ["PATH"]},
    )
    results[name] = {"status": done.stdout.rpartition("\n")[2], "body": done.stdout.rpartition("\n")[0],
                     "errors": done.stderr}


def greeting(space, name, user=NOBODY):
    """Waits for what a server says first."""
    code = "import socket; s = socket.create_connection(('10.77.0.2', 2525), 10); s.settimeout(10); print(s.recv(20))"
    done = space.run(sys.executable, "-c", code, user=user)
    results[name] = {"body": done.stdout.strip(), "errors": done.stderr}


results = {}
os.chmod(DIRECTORY, 0o755)
try:
    gateway, client, server = Namespace(), Namespace(), Namespace()
    link(gateway, server, "inner", 77)
    link(gateway, client, "outer", 78)
    client.ip("route", "add", "default", "via", "10.78.0.1")
    client.ip("-6", "route", "add", "default", "via", "fd78::1")
    server.ip("route", "add", "default", "via", "10.77.0.1")
    serving = start(*server.inside(sys.executable, "-c", SERVER, CERTIFICATE, KEY), stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE)
    serving.stdout.readline()

    four = ("--resolve", "api.sluice.test:80:10.77.0.2", "--resolve", "api.sluice.test:443:10.77.0.2")
    six = ("--resolve", "api.sluice.test:80:[fd77::2]", "--resolve", "api.sluice.test:443:[fd77::2]")
    results["rules"] = rules(gateway, "--user", "0", "--port", "8080")
    main, said = sluice(gateway, "main", "transparent@[::]:8080")
    results["said"] = said
    # Other machines, whose gateway this is.
    curl(client, "gateway http", "http://api.sluice.test/a", *four)
    curl(client, "gateway https", "https://api.sluice.test/b", *four)
    curl(client, "gateway http 6", "http://api.sluice.test/c", *six)
    curl(client, "gateway https 6", "https://api.sluice.test/d", *six)
    curl(client, "by address", "http://10.77.0.2/e")
    # This machine's own programs.
    curl(gateway, "own http", "http://api.sluice.test/f", *four)
    curl(gateway, "own https", "https://api.sluice.test/g", *four)
    curl(gateway, "own http 6", "http://api.sluice.test/h", *six)
    # The user that Sluice runs as is not redirected.
    curl(gateway, "own user", "http://api.sluice.test/not-redirected", *four, user=0)
    # The listener itself, and the page of a phone.
    curl(client, "direct", "http://10.78.0.1:8080/x")
    curl(client, "own page", "http://10.78.0.1:8080/ca.pem")
    # A server that speaks first.
    greeting(client, "greeting")
    results["main"] = stop(main)

    # Rules that leave out another user than Sluice's: its connections come back to it.
    rules(gateway, "--user", str(NOBODY), "--port", "8080", "--only", "local")
    loop, _ = sluice(gateway, "loop", "transparent@127.0.0.1:8080")
    curl(gateway, "loop", "http://api.sluice.test/loop", *four, user=0, authority="loop")
    curl(gateway, "loop https", "https://api.sluice.test/loop", *four, user=0, authority="loop")
    greeting(gateway, "loop greeting", user=0)
    results["loop end"] = stop(loop)

    # And the rules go as the file says.
    undo = re.search(r"gone again: sudo (.*)", results["rules"]).group(1).split()
    must(*gateway.inside(*undo))
    results["left"] = must(*gateway.inside("nft", "list", "ruleset"))
    print(json.dumps(results))
finally:
    for child in reversed(children):
        if child.poll() is None:
            child.kill()
        child.wait()
