"""Makes a flow file of a real mitmdump: HTTP/2 and HTTP/1.1 over TLS, compressed and binary bodies, fields that come twice and
that are not ASCII, a redirect, HTTP/1.0, a comment, and a server that closes before it has answered.

usage: make_mitmproxy_flows.py MITMDUMP OUT.flows     (with curl and openssl)
"""

import gzip
import http.server
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading

mitmdump, output = sys.argv[1:3]


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", *fields, reason=None):
        self.send_response(status, reason)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, body[::-1], ("Content-Type", "application/octet-stream"), reason="Made it")

    def do_GET(self):
        if self.path == "/packed":
            packed = gzip.compress("grün, ".encode() * 20, mtime=0)
            self.answer(200, packed, ("Content-Type", "text/plain; charset=utf-8"), ("Content-Encoding", "gzip"))
        elif self.path == "/twice":
            self.answer(200, b"ok", ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Latin", "gr\xfcn"))
        elif self.path == "/moved":
            self.answer(302, b"", ("Location", "/twice"))
        elif self.path == "/cut":
            self.close_connection = True
        else:
            self.answer(404, b"<p>no</p>", ("Content-Type", "text/html"))


with tempfile.TemporaryDirectory() as folder:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout",
         folder + "/key", "-out", folder + "/certificate"], check=True, capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder + "/certificate", folder + "/key")
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) for _ in range(2)]
    servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    plain, secure = (server.server_address[1] for server in servers)
    with open(folder + "/comment.py", "w") as file:
        file.write("def response(flow):\n    if 'packed' in flow.request.path: flow.comment = 'grün gepackt'\n")
    proxy = subprocess.Popen(
        [mitmdump, "--set", "confdir=" + folder, "-s", folder + "/comment.py", "-k", "--set", "connection_strategy=lazy",
         "--listen-host", "127.0.0.1", "-p", "0", "-w", output], stdout=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONUNBUFFERED="1"),
    )
    while not (found := re.search(r"listening at \S*?:(\d+)", line := proxy.stdout.readline())):
        if not line:
            sys.exit("mitmdump does not start")
    threading.Thread(target=proxy.stdout.read, daemon=True).start()
    curl = ["curl", "-sk", "-o", "/dev/null", "-x", f"http://127.0.0.1:{found.group(1)}"]
    base = f"https://localhost:{secure}"
    subprocess.run([*curl, "--http2", f"{base}/packed", "-H", "X-Two: a", "-H", "X-Two: b", "-H", "Cookie: a=1; b=2"], check=True)
    subprocess.run([*curl, "--http2", "-X", "PUT", "--data-binary", "@-", f"{base}/put?q=%C3%BC"], input=bytes(range(256)), check=True)
    subprocess.run([*curl, "--http1.1", f"{base}/moved", "-L"], check=True)
    subprocess.run([*curl, "--http1.1", "-H", "X-Latin: gr\xfcn".encode("latin-1"), f"http://127.0.0.1:{plain}/twice"], check=True)
    subprocess.run([*curl, "-0", f"http://127.0.0.1:{plain}/missing"], check=True)
    subprocess.run([*curl, f"http://127.0.0.1:{plain}/cut"], check=True)
    subprocess.run([*curl, "-I", f"http://127.0.0.1:{plain}/head"], check=True)
    proxy.send_signal(signal.SIGINT)
    proxy.wait()
