"""The server and the page that the HARs of browsers here were made of.

A page with a dozen requests: a redirect, a compressed answer, a POST of a form, of JSON and of bytes, an image, a style sheet,
a script, a status 404, a cookie that is set and sent, a 204, a WebSocket, and a connection that is refused. The title is
"done" when all is answered.
"""

import base64
import gzip
import hashlib
import http.server
import socket
import threading

pixel = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
closed = socket.create_server(("127.0.0.1", 0))
refused = closed.getsockname()[1]
closed.close()
page = f"""<!doctype html><html lang="en"><head><title>Sluice</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css"><script src="/script.js"></script></head>
<body><img src="/pixel.png" alt=""><p>Käse</p><script>
(async () => {{
  await fetch("/moved");
  await (await fetch("/packed.json")).json();
  await fetch("/form", {{method: "POST", body: new URLSearchParams({{name: "Jürgen & Co", n: "1"}})}});
  await fetch("/json", {{method: "POST", headers: {{"Content-Type": "application/json", "X-Two": "a"}}, body: '{{"a": [1, "ü"]}}'}});
  await fetch("/bytes", {{method: "POST", body: new Uint8Array([0, 1, 254, 255])}});
  /*more*/
  await fetch("/missing");
  await fetch("/empty", {{method: "DELETE"}});
  await fetch("http://127.0.0.1:{refused}/refused").catch(() => 0);
  await new Promise(done => {{
    const socket = new WebSocket("ws://" + location.host + "/socket");
    socket.onopen = () => socket.send("hello ü");
    socket.onmessage = event => {{ if (typeof event.data !== "string") socket.close(); }};
    socket.onclose = done;
  }});
  document.title = "done";
}})();
</script></body></html>"""


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, kind, body=b"", **fields):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        self.answer(204, None)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, "application/octet-stream", body[::-1])

    def do_GET(self):
        if self.path == "/":
            body = page.replace("/*more*/", self.server.more).encode()
            self.answer(200, "text/html; charset=utf-8", body, Set_Cookie=f"id={self.server.browser}; Path=/; HttpOnly")
        elif self.path == "/style.css":
            self.answer(200, "text/css", b"body { color: #123 }")
        elif self.path == "/script.js":
            self.answer(200, "text/javascript", b"var ready = true;")
        elif self.path == "/pixel.png":
            self.answer(200, "image/png", pixel)
        elif self.path == "/moved":
            self.answer(302, None, Location="/target?a=1&b=%20")
        elif self.path.startswith("/target"):
            self.answer(200, "text/plain", b"here")
        elif self.path == "/packed.json":
            packed = gzip.compress(b'{"packed": true, "words": "' + b"again and " * 50 + b'"}', mtime=0)
            self.answer(200, "application/json", packed, Content_Encoding="gzip")
        elif self.path == "/socket":
            self.socket()
        else:
            self.answer(404, "text/html", b"<p>no</p>")

    def socket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.rfile.read(2 + 4 + len("hello ü".encode()))
        self.wfile.write(b"\x81\x03abc" + b"\x82\x03\x00\x01\xff")
        self.wfile.flush()
        self.rfile.read(6)
        self.wfile.write(b"\x88\x00")
        self.close_connection = True


def serve(browser, more=""):
    """The URL of a page for this browser, with these further statements in its script."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.browser, server.more = browser, more
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"
