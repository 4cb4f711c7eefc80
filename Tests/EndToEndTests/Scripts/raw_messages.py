"""Raw messages: what a client and an origin kept of their bytes is in the files, and Python's parsers read them.

usage: raw_messages.py SLUICE DIRECTORY

Prints a line for each thing that is wrong; nothing where all is right.
"""

import gzip
import http.client
import http.server
import io
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import zipfile

from sluice_story import directory, end, environment, listen, read_head, sluice, temporary, wrong

# The origin keeps each request's bytes, and answers as its path says.

kept = []
packed = gzip.compress(b'{"name": "Ann"}' * 40)
answers = {
    "/plain": b"HTTP/1.1 200 Fine thing\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello",
    "/packed": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: "
    + str(len(packed)).encode() + b"\r\n\r\n" + packed,
    "/chunks": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    "/secret": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 32\r\n\r\n"
    b'{"password":"a-secret-of-mine1"}',
}


def read_message(stream):
    head = read_head(stream)
    if head is None:
        return None
    length = re.search(rb"(?im)^content-length:\s*(\d+)", head)
    return head + (stream.read(int(length.group(1))) if length else b"")


def serve(connection):
    with connection, connection.makefile("rwb") as stream:
        while (message := read_message(stream)) is not None:
            kept.append(message)
            stream.write(answers[message.split(b" ")[1].decode()])
            stream.flush()


port = listen(serve)

session = directory + "/raw.sluice"
proxy = subprocess.Popen(
    [sluice, "run", "--listen", "127.0.0.1:0", "--session", session], env=environment, stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
)
while not (found := re.search(rb"listening on 127\.0\.0\.1:(\d+)", line := proxy.stderr.readline())):
    if not line:
        sys.exit("the proxy does not start")
threading.Thread(target=proxy.stderr.read, daemon=True).start()

sent = []
for path, body in (("/plain", b""), ("/packed", b""), ("/chunks", bytes(range(256))), ("/secret", b"")):
    request = f"{'POST' if body else 'GET'} http://127.0.0.1:{port}{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    request += "X-Odd:   spaced\r\nAuthorization: Bearer tok-5f4dcc3b5aa765d6\r\n"
    if body:
        request += f"Content-Length: {len(body)}\r\n"
    sent.append(request.encode() + b"\r\n" + body)
    with socket.create_connection(("127.0.0.1", int(found.group(1)))) as connection, connection.makefile("rwb") as stream:
        stream.write(sent[-1])
        stream.flush()
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        answer.read()
proxy.send_signal(signal.SIGINT)
proxy.wait()


def export(*arguments, status=0):
    done = subprocess.run(
        [sluice, "export", session, "--format", "raw", *arguments], env=environment, capture_output=True, cwd=directory
    )
    if done.returncode != status:
        wrong(f"{arguments} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    left = [name for name in os.listdir(temporary) if name.startswith("sluice-raw")]
    if left or any(name.endswith(".part") for name in os.listdir(directory)):
        wrong(f"{arguments} leaves {left} {os.listdir(directory)}")
    return done.stdout, done.stderr.decode()


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Parsed(http.server.BaseHTTPRequestHandler):
    def __init__(self, data):
        self.rfile, self.wfile = io.BytesIO(data), io.BytesIO()
        self.raw_requestline = self.rfile.readline()
        self.is_good = self.parse_request()


class Wire:
    def __init__(self, data):
        self.data = data

    def makefile(self, *_):
        return io.BytesIO(self.data)


def response(data, method="GET"):
    parsed = http.client.HTTPResponse(Wire(data), method=method)
    parsed.begin()
    return parsed, parsed.read()


# With secrets: the bytes that passed.

out = directory + "/out"
_, told = export("-o", "out", "--secrets", "--bodies")
if "8 messages are in it" not in told:
    wrong(f"the summary is {told}")
names = sorted(os.listdir(out))
expected = [f"000{number}-{part}.http" for number in range(1, 5) for part in ("request", "response")]
expected += [
    "0001-response.body.html", "0002-response.body.json", "0003-request.body.bin", "0003-response.body.txt",
    "0004-response.body.json", "index.csv",
]
if names != sorted(expected):
    wrong(f"the files are {names}")
if stat.S_IMODE(os.stat(out).st_mode) != 0o700 or any(stat.S_IMODE(os.stat(f"{out}/{name}").st_mode) != 0o600 for name in names):
    wrong("others may read it")
for number, request in enumerate(sent, 1):
    data = content(f"{out}/000{number}-request.http")
    if data != request:
        wrong(f"request {number} is {data}, sent was {request}")
    parsed = Parsed(data)
    if not parsed.is_good or parsed.headers["X-Odd"] != "spaced":
        wrong(f"Python's server cannot read request {number}")
for number, path in ((1, "/plain"), (2, "/packed")):
    if content(f"{out}/000{number}-response.http") != answers[path]:
        wrong(f"response {number} is {content(f'{out}/000{number}-response.http')}")
parsed, body = response(content(out + "/0002-response.http"))
if gzip.decompress(body) != content(out + "/0002-response.body.json") or parsed.status != 200:
    wrong("the packed body is not what the body's file is")
parsed, body = response(content(out + "/0003-response.http"))
if body != b"abcde" or parsed.getheader("Transfer-Encoding") != "chunked":
    wrong(f"the chunks are {body}")
if content(out + "/0003-request.body.bin") != bytes(range(256)):
    wrong("the body of the request is another one")
if "http://127.0.0.1" not in content(out + "/index.csv").decode().splitlines()[4]:
    wrong("the index does not name the URLs")

# A file goes to the origin as it is, and is understood.
kept.clear()
with socket.create_connection(("127.0.0.1", port)) as connection:
    request = content(out + "/0001-request.http").replace(f"http://127.0.0.1:{port}/".encode(), b"/")
    connection.sendall(request)
    if connection.recv(1000) != answers["/plain"] or kept != [request]:
        wrong("a raw request that is sent again is not answered")

# Masked, by default: no secret, and lengths that fit.

_, told = export("-o", directory + "/masked", "--bodies")
for name in os.listdir(directory + "/masked"):
    data = content(f"{directory}/masked/{name}")
    if b"5f4dcc3b5aa765d6" in data or b"a-secret-of-mine1" in data:
        wrong(f"{name} has a secret")
if "2 secrets are masked" not in told:
    wrong(f"the summary is {told}")
parsed, body = response(content(directory + "/masked/0004-response.http"))
if body != b'{"password":"sluice-password-1"}' or int(parsed.getheader("Content-Length")) != len(body):
    wrong(f"the masked answer is {body}, its length {parsed.getheader('Content-Length')}")
if content(directory + "/masked/0002-response.http") != answers["/packed"]:
    wrong("a body without secrets is not what passed")

# A directory that has files is refused; --force keeps what else is in it. A zip has the same files.

with open(out + "/mine.txt", "w") as file:
    file.write("mine")
_, told = export("-o", out, status=1)
if "not empty" not in told or "--force" not in told or b"tok-5f4d" not in content(out + "/0001-request.http"):
    wrong(f"a directory that is there says {told}")
export("-o", out, "--force")
if b"tok-5f4d" in content(out + "/0001-request.http") or content(out + "/mine.txt") != b"mine":
    wrong("--force does not write over what has its name, or over more")
export("id:1..2", "-o", directory + "/some.ZIP")
piped, _ = export("id:1..2", "-o", "-")
for data in (content(directory + "/some.ZIP"), piped):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sorted(archive.namelist()) != [
            "0001-request.http", "0001-response.http", "0002-request.http", "0002-response.http", "index.csv",
        ]:
            wrong(f"the zip has {archive.namelist()}")
        if archive.read("0001-response.http") != answers["/plain"]:
            wrong("the zip's files are others")
if stat.S_IMODE(os.stat(directory + "/some.ZIP").st_mode) != 0o600:
    wrong("others may read the zip")
export("-o", directory + "/missing/out", status=1)
for arguments in (["--print0"], ["--strict", "--secrets"]):
    export(*arguments, status=2)
if subprocess.run(
    [sluice, "export", session, "--format", "har", "--bodies"], env=environment, capture_output=True
).returncode != 2:
    wrong("--bodies goes with har")
end()
