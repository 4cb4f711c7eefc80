"""The leak test of exports: secrets planted wherever messages have them, and ordinary values that look like them.

usage: masking.py SLUICE DIRECTORY

Runs a proxy between a client and an origin that keep every byte, exports the session in every format, and prints a line
for each thing that is wrong; nothing where all is right.
"""

import base64
import gzip
import hashlib
import json
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import urllib.parse
import zipfile
import zlib

from sluice_story import directory, end, environment, listen, read_head, sluice, wrong

session = directory + "/leak.sluice"
secrets, ordinary = [], []


def secret(prefix=""):
    value = prefix + hashlib.sha256(f"secret {len(secrets)}".encode()).hexdigest()[:18] + f"Zq{len(secrets)}"
    secrets.append(value)
    return value


def usual(value):
    ordinary.append(value)
    return value


def url_base64(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


# The origin: keeps each request as it came, by its path.

answers, kept = {}, {}


def field(head, name):
    found = re.search(rb"(?im)^" + name + rb":[ \t]*(.*?)\r$", head)
    return found and found.group(1)


def frame(opcode, payload, is_masked, is_compressed=False):
    if is_compressed:
        deflater = zlib.compressobj(wbits=-15)
        payload = (deflater.compress(payload) + deflater.flush(zlib.Z_SYNC_FLUSH))[:-4]
    first = 0x80 | opcode | (0x40 if is_compressed else 0)
    bit = 0x80 if is_masked else 0
    size = struct.pack(">B", bit | len(payload)) if len(payload) < 126 else struct.pack(">BH", bit | 126, len(payload))
    if is_masked:
        key = b"\x11\x22\x33\x44"
        payload = key + bytes(byte ^ key[place % 4] for place, byte in enumerate(payload))
    return bytes([first]) + size + payload


def read_frame(stream):
    first, second = stream.read(2)
    size = second & 0x7F
    if size == 126:
        size = struct.unpack(">H", stream.read(2))[0]
    return first & 15, stream.read(size + (4 if second & 0x80 else 0))


def web_socket(stream, head, messages):
    accept = base64.b64encode(
        hashlib.sha1(field(head, b"sec-websocket-key") + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    )
    is_compressed = field(head, b"sec-websocket-extensions") is not None
    extension = b"Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n"
    stream.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        + accept + b"\r\n" + (extension if is_compressed else b"") + b"\r\n"
    )
    for message in messages:
        stream.write(frame(1, message, False, is_compressed))
    stream.flush()
    while read_frame(stream)[0] != 8:
        pass
    stream.write(frame(8, b"\x03\xe8", False))
    stream.flush()


def serve(connection):
    with connection, connection.makefile("rwb") as stream:
        while (head := read_head(stream)) is not None:
            body = stream.read(int(field(head, b"content-length") or 0))
            path = head.split(b" ")[1].decode().split("?")[0]
            kept.setdefault(path, []).append(head + body)
            status, fields, content = answers.get(path, (200, [], b"ok"))
            if status == 101:
                return web_socket(stream, head, content)
            text = f"HTTP/1.1 {status} Answer\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)
            stream.write(text.encode() + f"Content-Length: {len(content)}\r\n\r\n".encode() + content)
            stream.flush()


port = listen(serve)

# The proxy, with a profile that says what else is masked.

profile = directory + "/mask.yaml"
# What rules put into messages, none of which passes.
rule_secrets = [hashlib.sha256(f"rule {number}".encode()).hexdigest()[:22] + "Qz" for number in range(4)]
with open(profile, "w") as file:
    file.write(f"""\
# {rule_secrets[0]} was the key of last year
rewrite:
  - name: keys
    at: "http://nowhere.example/*"
    rules:
      - {{ add: header, on: request, name: Authorization, to: "Bearer {rule_secrets[1]}" }}
      - {{ add: header, on: request, name: X-Color, to: "a green colour" }}
      - add: query
        name: api_key
        to: '{rule_secrets[2]}'
      - {{ add: header, on: response, name: X-Plain-Token, to: word{rule_secrets[3][:6]} }}
""")
    rule_secrets[3] = "word" + rule_secrets[3][:6]
    file.write("version: 1\nmask: { also: [ x-tenant, '*codeword' ], except: [ csrfmiddlewaretoken ], patterns: [ email, card ] }\n")
proxy = subprocess.Popen(
    [sluice, "run", "--listen", "127.0.0.1:0", "--session", session, "--profile", profile, "--json"], env=environment,
    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
)
lines = []
threading.Thread(target=lambda: lines.extend(proxy.stdout), daemon=True).start()
while not (found := re.search(rb"listening on 127\.0\.0\.1:(\d+)", line := proxy.stderr.readline())):
    if not line:
        sys.exit("the proxy does not start")
threading.Thread(target=proxy.stderr.read, daemon=True).start()
proxy_address = ("127.0.0.1", int(found.group(1)))

# The client.


def ask(target, *fields, method=None, body=b"", kind=None, answer=None):
    """Sends a request through the proxy, and gives what came back."""
    if answer:
        answers[target.split("?")[0]] = answer
    body = body.encode() if isinstance(body, str) else body
    head = f"{method or ('POST' if body else 'GET')} http://127.0.0.1:{port}{target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    head += "".join(f"{field}\r\n" for field in fields)
    if kind:
        head += f"Content-Type: {kind}\r\n"
    if body:
        head += f"Content-Length: {len(body)}\r\n"
    with socket.create_connection(proxy_address) as connection, connection.makefile("rwb") as stream:
        stream.write(head.encode() + b"\r\n" + body)
        stream.flush()
        answer_head = read_head(stream)
        return stream.read(int(field(answer_head, b"content-length") or 0))


def web_socket_client(path, messages, answer, is_compressed):
    answers[path] = (101, [], answer)
    with socket.create_connection(proxy_address) as connection, connection.makefile("rwb") as stream:
        stream.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        stream.flush()
        read_head(stream)
        stream.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n".encode()
            + (b"Sec-WebSocket-Extensions: permessage-deflate\r\n" if is_compressed else b"") + b"\r\n"
        )
        stream.flush()
        read_head(stream)
        for message in messages:
            stream.write(frame(1, message.encode(), True, is_compressed))
        stream.write(frame(8, b"\x03\xe8", True))
        stream.flush()
        while read_frame(stream)[0] != 8:
            pass


def json_answer(value, *fields):
    return 200, [("Content-Type", "application/json"), *fields], json.dumps(value).encode()


bearer = secret()
ask(
    "/headers", "Authorization: Bearer " + bearer, "X-Api-Key: " + secret(), "X-Auth-Token: " + secret(),
    "X-CSRF-Token: " + secret(), "Ocp-Apim-Subscription-Key: " + secret(), "X-Tenant: " + secret(),
    f"Cookie: sid={secret()}; theme=dark; session={secret()}", "Accept-Language: " + usual("en-GB,en;q=0.9,de;q=0.8"),
    "If-None-Match: " + usual('"33a64df551425fcc55e4d42a148795d9f25f89d4"'), "X-Request-Id: " + usual("7d9f3a52c1e84b06"),
    "traceparent: " + usual("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    "User-Agent: " + usual("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101"),
    "Accept: " + usual("text/html,application/xhtml+xml;q=0.9"), "If-Modified-Since: " + usual("Wed, 21 Oct 2015 07:28:00 GMT"),
)
# The token comes back: the two must still be seen to be one.
ask("/joins", answer=json_answer({"who": "bob", "authorization": "Bearer " + bearer, "seen": [bearer]}))
# A URL has what a head of its own exchange names, and what a body names, which the lines of a running proxy do not know.
in_own_head, in_body = secret(), "Body7hQ2mZ9xW4kL1v"
ask(f"/own-head?q={in_own_head}", "Authorization: Bearer " + in_own_head)
ask("/names-it", kind="application/json", body=json.dumps({"password": in_body}))
ask(f"/of-a-body?q={in_body}")
basic = secret()
ask("/basic", "Authorization: Basic " + base64.b64encode(f"bob:{basic}".encode()).decode())
ask("/basic-again", kind="application/x-www-form-urlencoded", body=f"login=bob&word={basic}")
ask("/digest", f'Authorization: Digest username="bob", realm="r", nonce="n", uri="/digest", response="{secret()}", cnonce="{secret()}"')
ask("/rails", f'Authorization: Token token="{secret()}"')
ask("/own", f"Authorization: Custom user=bob, phrase={secret()}")
ask(
    f"/query?access_token={secret()}&page=2&api_key={secret()}&client_secret={secret()}&user%5Bpassword%5D={secret()}"
    f"&auth={secret()}&q={usual('ordinary-search-words')}&next_page_token={usual('CAUQAA1234567')}&sort={usual('-created_at')}"
    f"&id={usual('f47ac10b-58cc-4372-a567-0e02b2c3d479')}&back={urllib.parse.quote('https://x.example/?token=' + secret() + '&y=1', safe='')}"
)
ask(
    "/json", kind="application/json", body=json.dumps({"username": "bob", "password": secret() + " with space", "otp": secret()}),
    answer=json_answer(
        {
            "access_token": secret(), "token_type": usual("bearer"), "refresh_token": secret(), "expires_in": 3599,
            "id": usual("0b7c2ee0-7b1c-4a1e-9d53-0a8e4a1f1d11"), "max_tokens": 4096, "completion_tokens": 17,
            "user": {"password": secret(), "pin": 918273, "email": "bob.masked@example.com", "card": "4111 1111 1111 1111"},
            "apiKeys": [secret(), secret()], "forgot_password": usual("Forgot your password?"),
            "nested": json.dumps({"client_secret": secret(), "deep": json.dumps({"password": secret() + '"x'})}),
            "url": f"https://u:{secret()}@host.example/x?token={secret()}&y=1", "my_codeword": secret(),
            "commit": usual("9fceb02d0ae598e95dc970b74767f19372d61af8"), "nextPageToken": usual("CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA"),
            "password": {"value": secret()},
            "price": usual("1299.99"), "date": usual("2024-05-17T12:34:56.789Z"), "phone": usual("+49 30 123456"),
            "image": usual("logo.3f2a9c41b7.png"), "hash": usual("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            "passwordHint": usual("the dog"), "color": usual("#ff8800"), "version": usual("12.4.1-rc.2+build.77"),
            "secretary": usual("Miss Moneypenny"), "tokenizer": usual("cl100k_base"), "keyboard": usual("qwertz"),
            "key": usual("settings.title"), "code": usual("NOT_FOUND"), "passport": usual("ordinary document"),
            "csrfmiddlewaretoken": usual("EXEMPTEDbyTHEprofile0987"), "ids": [usual("507f1f77bcf86cd799439011")],
            "primaryKey": usual("customer_id"), "author": usual("Ann Author"), "session_count": usual("twelve sessions"),
            "labels": {"password": usual("Your password"), "token": usual("token"), "confirm_password": usual("Repeat the password")},
            "signature_algorithm": usual("RS256withRSA"), "isPasswordSet": True, "hasToken": False, "tokens_used": 1234567,
        },
        ("Set-Cookie", f"JSESSIONID={secret()}; Path=/; HttpOnly; {usual('SameSite=Lax')}"), ("Set-Cookie", "lang=en_US"),
        ("ETag", usual('W/"0815-abcdef0123456789"')), ("X-Cache", usual("HIT from edge-7f3b")), ("Server", usual("nginx/1.27.0")),
        ("Content-Language", usual("en-GB")),
    ),
)
secrets += ["918273", "bob.masked@example.com", "4111 1111 1111 1111"]
ask("/form", kind="application/x-www-form-urlencoded", body=f"user=bob&password={secret()}%2Bx&remember=1&grant_type=password&code={secret()}")
boundary = "----boundary7MA4YWxkTrZu0gW"
parts = [("password", "", secret()), ("title", "", usual("hello there")), ("meta", "Content-Type: application/json\r\n", json.dumps({"token": secret()}))]
multipart = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n{more}\r\n{value}\r\n' for name, more, value in parts)
ask("/multipart", kind=f"multipart/form-data; boundary={boundary}", body=multipart + f"--{boundary}--\r\n")
packed = secret()
ask("/gzip", answer=(200, [("Content-Type", "application/json"), ("Content-Encoding", "gzip")], gzip.compress(json.dumps({"sessionToken": packed}).encode())))
ask(
    "/again",
    answer=(200, [("Content-Type", "text/plain")], "".join(
        f"again {packed}, {base64.b64encode((pad + packed + pad).encode()).decode()} "
        f"{base64.b64encode(bytes([0, 255, 1, 254]) + pad.encode() + packed.encode()).decode()}\n" for pad in ("", "x", "yy", "zzz")
    ).encode()),
)
ask("/xml", answer=(200, [("Content-Type", "application/xml")], (
    f'<r><Password>{secret()}</Password><ns:apiKey a="1">{secret()}</ns:apiKey><user token="{secret()}" name="x"/><Secret><![CDATA[{secret()}]]></Secret>'
    f'<Title>{usual("A Title Here")}</Title><PasswordPolicy>{usual("strong ones only")}</PasswordPolicy></r>'
).encode()))
ask("/html", answer=(200, [("Content-Type", "text/html")], (
    f'<form><input type="hidden" name="csrf_token" value="{secret()}"><input value="{secret()}" type="hidden" name="authenticity_token">'
    f'<input type="password" name="password" value=""><label>{usual("Password: ")}</label><meta name="csrf-token" content="{secret()}">'
    f'<meta name="viewport" content="{usual("width=device-width, initial-scale=1")}"><a href="/x?token={secret()}&amp;b=1">x</a></form>'
    f'<script>var cfg={{"apiKey":"{secret()}"}}</script><a href="/reset">{usual("Forgot password?")}</a>'
).encode()))
ask("/events", answer=(200, [("Content-Type", "text/event-stream")], "".join(f'event: m\ndata: {{"token":"{secret()}"}}\n\n' for _ in range(3)).encode()))
claims = json.dumps({"sub": "user " + secret()})
web_token = ".".join(url_base64(part) for part in ('{"alg":"HS256"}', claims, secret("signed")))
ask("/jwt", answer=(200, [("Content-Type", "text/plain")], f"here {web_token} there".encode()))
secrets.append(web_token)
pem = "-----BEGIN PRIVATE KEY-----\n" + "".join(secret("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC") + "\n" for _ in range(2)) + "-----END PRIVATE KEY-----\n"
ask("/pem", answer=json_answer({"pem": pem}))
ask("/location", f"Referer: https://x.example/?access_token={secret()}", answer=(302, [("Location", f"https://cb.example/cb?code={secret()}&state={usual('af0ifjsldkj')}"), ("Link", f"<https://x.example/?page=2&access_token={secret()}>; rel=next")], b""))
ask("/binary", answer=(200, [("Content-Type", "application/octet-stream")], b"\x00\x01\x02" + packed.encode() + b"\x00\xff\xfe"))
ask("/script", answer=(200, [("Content-Type", "application/javascript")], " ".join([
    usual('var token=a.token;password=document.getElementById("pw-field-7f3a9b2c");'), usual('return"?token="+token'), usual("x={token:t.token,secret:s.secret}"),
    usual('messages={password:"Password",confirmPassword:"Confirm"}'), usual("if(e.apiKey===undefined)throw e"),
]).encode()))
ask("/style", answer=(200, [("Content-Type", "text/css")], (usual(".password-field:focus{color:#1a2b3c4d}") + usual("@import url(a.8f3e2d1c0b9a.css);")).encode()))
ask("/i18n", answer=json_answer({"login.password": usual("Enter your password"), "error.token": usual("The token has expired"), "password": usual("Passwort"), "errors": {"secret": usual("A secret is required")}}))
web_socket_client("/socket", [json.dumps({"auth": {"token": secret()}}), usual("plain words of a socket")], [json.dumps({"session_id": secret()}).encode()], False)
web_socket_client("/packed-socket", [json.dumps({"password": secret()})], [json.dumps({"refresh_token": secret(), "a": packed}).encode()], True)

# What is exported.


def run(*arguments, status=0):
    done = subprocess.run([sluice, *arguments], env=environment, capture_output=True)
    if done.returncode != status:
        wrong(f"{arguments} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return done.stdout


def unfolded(output):
    """What can be read out of an output: as it is, without escapes, and what base64 and gzip have in them."""
    texts, seen = [output], set()
    for text in (output.replace(b"\\\\", b"\\"), urllib.parse.unquote_to_bytes(output), re.sub(rb"\\+[nr]|\n|\r", b"", output)):
        texts.append(text)
    for text in list(texts):
        for run in set(re.findall(rb"[A-Za-z0-9+/_-]{12,}", text)) - seen:
            seen.add(run)
            for start in range(4):
                digits = run[start:].replace(b"-", b"+").replace(b"_", b"/")
                plain = base64.b64decode(digits + b"A" * (-len(digits) % 4))
                texts.append(plain)
                if plain[:2] == b"\x1f\x8b":
                    try:
                        texts.append(zlib.decompressobj(31).decompress(plain))
                    except zlib.error:
                        pass
    return b"\0".join(texts) + b"\0" + b"\0".join(texts).replace(b"\0", b"")


def forms(value):
    once = json.dumps(value)[1:-1]
    return [text.encode() for text in (value, once, json.dumps(once)[1:-1])]


def check(name, output, wants_ordinary=False):
    text = unfolded(output)
    for value in secrets:
        if value.encode() in text or value.encode().hex().encode() in text:
            wrong(f"{name}: the secret {value[:40]} is in it: {(re.search(b'.{60}' + re.escape(value.encode()), text) or [b''])[0]}")
    for value in ordinary if wants_ordinary else []:
        if not any(form in output for form in forms(value)):
            wrong(f"{name}: the ordinary value {value} is gone")


print(len(secrets), len(ordinary), file=sys.stderr)
if len(secrets) < 60 or len(ordinary) < 60:
    wrong(f"only {len(secrets)} secrets and {len(ordinary)} ordinary values")
# Of a session that is being recorded, and of one that is closed.
check("live har", run("export", session, "--format", "har"), True)
check("live list", run("list", session, "--json"))
proxy.send_signal(signal.SIGINT)
proxy.wait()
check("run --json", b"".join(lines))
if not any(b'"/headers' in line or b"/headers" in line for line in lines):
    wrong("run --json says nothing of the traffic")
har, whole_har = run("export", session, "--format", "har"), run("export", session, "--format", "har", "--secrets")
rows, whole_rows = run("export", session, "--format", "json"), run("export", session, "--format", "json", "--secrets")
check("har", har, True)
check("json", rows, True)
lines_of_json = run("export", session, "--format", "jsonl")
check("jsonl", lines_of_json, True)
if [json.loads(line) for line in lines_of_json.splitlines()] != json.loads(rows):
    wrong("the lines of jsonl are not the objects of json")
listed = run("list", session, "--json")
check("list", listed)
if b"/of-a-body?q=sluice-" not in listed or in_body.encode() in listed:
    wrong("list --json has in a URL what a body names as a password")
script = run("export", session, "--format", "curl")
check("curl", script)
run("export", session, "--format", "raw", "--bodies", "-o", directory + "/raw")
raw_files = [open(f"{directory}/raw/{name}", "rb").read() for name in sorted(os.listdir(directory + "/raw"))]
# What is in chunks, or has a coding, is looked at without it.
raw = b"\0".join(raw_files + [re.sub(rb"\r\n[0-9a-f]+\r\n", b"", data) for data in raw_files])
for data in raw_files:
    body = data.partition(b"\r\n\r\n")[2]
    if body[:2] == b"\x1f\x8b":
        raw += b"\0" + zlib.decompressobj(31).decompress(body)
check("raw", raw, True)
for name in ("httpie", "fetch", "python", "csv", "openapi"):
    path = f"{directory}/{name}.out"
    run("export", session, "--format", name, "-o", path)
    files = [path] + [f"{path}.bodies/{file}" for file in (os.listdir(path + ".bodies") if os.path.isdir(path + ".bodies") else [])]
    data = b"\0".join(open(file, "rb").read() for file in files)
    if len(data) < 2_000:
        wrong(f"{name}: has only {len(data)} bytes")
    check(name, data)
page = run("export", session, "--format", "html")
for escape, sign in ((b"\\u003c", b"<"), (b"\\u003e", b">"), (b"\\u0026", b"&")):
    page = page.replace(escape, sign)
check("html", page, True)

# With --secrets all is there.
text = unfolded(whole_har)
for value in secrets:
    if value != "918273" and value.encode() not in text and value.encode() not in whole_har.replace(b"\\n", b""):
        if value.encode().decode().encode("utf-16-le") not in text:
            wrong(f"--secrets: {value} is missing")

# Joins, sizes, and what is said to be masked.


def entries(output):
    return {urllib.parse.urlsplit(entry["request"]["url"]).path: entry for entry in json.loads(output)["log"]["entries"]}


masked, whole = entries(har), entries(whole_har)
token = next(item["value"] for item in masked["/headers"]["request"]["headers"] if item["name"] == "Authorization").split(" ")[1]
answer = json.loads(masked["/joins"]["response"]["content"]["text"])
if answer["seen"] != [token] or answer["authorization"] != "Bearer " + token or not re.fullmatch(r"sluice-token-\d+", token):
    wrong(f"the token of /headers is {token}, and in /joins {answer}")
for path, entry in whole.items():
    for side, names in (("request", ("headersSize", "bodySize")), ("response", ("headersSize", "bodySize"))):
        for name in names:
            if masked[path][side][name] != entry[side][name]:
                wrong(f"{path}: {side}.{name} is {masked[path][side][name]}, recorded {entry[side][name]}")
    if masked[path]["response"]["content"]["size"] != entry["response"]["content"]["size"]:
        wrong(f"{path}: the content's size is not the recorded one")
row_list, whole_row_list = json.loads(rows), json.loads(whole_rows)
if isinstance(row_list, dict):
    row_list, whole_row_list = row_list["exchanges"], whole_row_list["exchanges"]
for row, whole_row in zip(row_list, whole_row_list):
    if "/json" in row["url"] and set(row["masked"]) != {"request body", "response headers", "response body"}:
        wrong(f"/json: masked are {row['masked']}")
    if row["sizes"] != whole_row["sizes"]:
        wrong(f"{row['url']}: sizes are {row['sizes']}, recorded {whole_row['sizes']}")
# What is shown of one exchange: the content of its bodies, and messages as they came, with their times.
for number, row in enumerate(row_list, 1):
    name = urllib.parse.urlsplit(row["url"]).path
    if name not in ("/headers", "/gzip", "/events", "/socket"):
        continue
    shown, whole_shown = run("show", session, str(number), "--mask"), run("show", session, str(number))
    check(f"show {name} --mask", shown)
    if b"sluice-" not in shown or b"cannot be read" in shown or b"Not decoded" in shown:
        wrong(f"show {name} --mask: {shown.decode()}")
    times = [re.findall(rb"(?m)^ +([0-9.]+ s) +\xe2\x86[\x90\x92]", text) for text in (shown, whole_shown)]
    if times[0] != times[1] or (len(times[0]) > 1) != ("socket" in name or name == "/events"):
        wrong(f"show {name} --mask has other messages, {times}: {shown.decode()}")
    parts = [("--message", "1")] if "socket" in name or name == "/events" else [("--body", "request"), ("--body", "response")]
    for part in parts:
        for form in ((), ("--raw",)):
            shown = run("show", session, str(number), "--mask", *part, *form)
            check(f"show {name} --mask {part} {form}", shown)
            whole_part = run("show", session, str(number), *part, *form)
            plain = gzip.decompress(shown) if shown.startswith(b"\x1f\x8b") else shown
            if any(bytes(item, "utf-8") in whole_part for item in secrets) and b"sluice-" not in plain:
                wrong(f"show {name} --mask {part} {form}: {plain}")
            if len(whole_part) > 0 and len(shown) == 0:
                wrong(f"show {name} --mask {part} {form} prints nothing")

# An export of one exchange knows its own secrets alone.
for number, row in enumerate(row_list, 1):
    alone = json.loads(run("export", session, f"id:{number}", "--format", "json"))[0]
    name = urllib.parse.urlsplit(row["url"]).path
    if name == "/headers" and set(alone["masked"]) != set(row["masked"]):
        wrong(f"json of {row['url']} alone: masked are {row['masked']} in the whole export, alone {alone['masked']}")
    if name == "/of-a-body" and in_body not in alone["url"]:
        wrong(f"json of {row['url']} alone masks what only another exchange names")
none = subprocess.run([sluice, "export", session, "id:9999", "--format", "har", "-o", directory + "/none.har"],
                      capture_output=True, env=environment)
if none.returncode != 1 or f"no exchange of {session} fits." not in none.stderr.decode() or os.path.exists(directory + "/none.har"):
    wrong(f"an export of nothing: {none.returncode} {none.stderr.decode()}")

# The script: refuses to run without its variables, and with them sends what was sent.
values = {}


def learn(one, other):
    """Which secret each placeholder stands for, from the same text masked and whole."""
    if isinstance(one, dict):
        # These are decoded; a variable takes the place of what was sent.
        for name in one.keys() - {"params", "queryString", "cookies"}:
            learn(one[name], other.get(name))
    elif isinstance(one, list) and isinstance(other, list):
        for left, right in zip(one, other):
            learn(left, right)
    elif isinstance(one, str) and isinstance(other, str) and "sluice-" in one:
        parts = re.split(r"sluice-([a-z-]+)-(\d+)", one)
        match = re.fullmatch("(.+?)".join(re.escape(part) for part in parts[::3]), other, re.S)
        for place, value in enumerate(match.groups() if match else ()):
            values.setdefault(f"SLUICE_{parts[place * 3 + 1].upper().replace('-', '_')}_{parts[place * 3 + 2]}", value)


for path in masked:
    learn(masked[path]["request"], whole[path]["request"])
# Where a secret is encoded in its place, the variable is for it as it stands there: as the whole script has it.
whole_script = run("export", session, "--format", "curl", "--secrets")
for one, other in zip(*(re.split(rb"^# ['\"]?\d+ .*$", text, flags=re.M)[1:] for text in (script, whole_script))):
    # A secret at an end of a word has its quote on one side only.
    parts = re.split(rb"('?)\"\$\{(SLUICE_\w+):\?[a-z0-9. -]+\}\"('?)", one)
    pattern = re.escape(parts[0])
    for before, _, after, part in zip(*(parts[place::4] for place in range(1, 5))):
        pattern += (b"" if before else b"'") + b"(.+?)" + (b"" if after else b"'") + re.escape(part)
    match = re.fullmatch(pattern, other, re.S)
    for name, value in zip(parts[2::4], match.groups() if match else ()):
        values.setdefault(name.decode(), value.decode())
with open(directory + "/again.sh", "wb") as file:
    file.write(script)
needed = re.findall(rb'"\$\{(SLUICE_\w+):\?', script)
done = subprocess.run(["sh", directory + "/again.sh"], capture_output=True)
if not needed or done.returncode == 0 or needed[0] not in done.stderr:
    wrong(f"the script runs without its variables: {done.returncode} {done.stderr[-200:]}")
if b':?token of 127.0.0.1}' not in script:
    wrong("the script does not say which token it needs")
first = dict(kept)
kept.clear()
for name in needed:
    # A masked script has no Content-Length, so that the scripts differ; the exports have the form that the place needs.
    values.setdefault(name.decode(), values.get(name.decode().removesuffix("_ENCODED")))
missing = [name.decode() for name in needed if values[name.decode()] is None]
if missing:
    wrong(f"the script needs {missing}, which stand in no request")
answers.clear()
variables = {name.decode(): values.get(name.decode(), "none") for name in needed}
done = subprocess.run(["sh", directory + "/again.sh"], env={**environment, **variables}, capture_output=True, timeout=100)
for path in first:
    if path.endswith("socket"):
        continue
    if path == "/multipart":
        # A body that is not plain text is printed with its placeholders.
        if b"sluice-password-" not in b"".join(kept[path]):
            wrong(f"{path}: cURL sent {kept.get(path)}")
    elif kept.get(path) != first[path]:
        wrong(f"{path}: cURL sent\n{kept.get(path)}\nand the client\n{first[path]}")

# The bundle: what is in the zip, each value of each table of its session, and the session as it opens again.


def values_of(path):
    """Each value of a session, bodies put together and without gzip."""
    base, found = sqlite3.connect(path), []
    for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for row in base.execute(f"SELECT * FROM {table}"):
            found += [cell.encode() if isinstance(cell, str) else cell for cell in row if isinstance(cell, (str, bytes))]
    bodies = {}
    for exchange, side, data in base.execute("SELECT exchange, side, data FROM chunk ORDER BY exchange, side, offset"):
        bodies[exchange, side] = bodies.get((exchange, side), b"") + data
    found += bodies.values()
    for cell in list(found):
        if cell[:2] == b"\x1f\x8b":
            found.append(zlib.decompressobj(31).decompress(cell))
        # The client's frames, whatever their mask.
        for place in range(len(cell) - 6) if len(cell) < 4096 else ():
            if cell[place] & 0x7F in (1, 2, 8, 0x41) and cell[place + 1] & 0x80:
                key, start = cell[place + 2:place + 6], place + 6
                if cell[place + 1] == 0xFE:
                    key, start = cell[place + 4:place + 8], place + 8
                if len(key) == 4:
                    found.append(bytes(byte ^ key[index % 4] for index, byte in enumerate(cell[start:start + 300])))
                    try:
                        found.append(zlib.decompressobj(-15).decompress(found[-1]))
                    except zlib.error:
                        pass
    base.close()
    return found


bundle = directory + "/bug.zip"
run("export", session, "--format", "bundle", "-o", bundle)
if os.stat(bundle).st_mode & 0o777 != 0o600:
    wrong(f"the bundle's mode is {os.stat(bundle).st_mode & 0o777:o}")
if subprocess.run(["unzip", "-tq", bundle], capture_output=True).returncode != 0:
    wrong("unzip does not take the bundle")
secrets += rule_secrets
with zipfile.ZipFile(bundle) as archive:
    names = archive.namelist()
    for name in names:
        check(f"bundle: {name}", archive.read(name), name.endswith(".har"))
    archive.extract("session.sluice", directory)
    story = archive.read("README.txt").decode()
    rules = [archive.read(name).decode() for name in names if name.startswith("profile/")]
if not {"README.txt", "session.sluice", "exchanges.har", "versions", "profile/1-mask.yaml"} <= set(names):
    wrong(f"the bundle has {names}")
if "Exchanges:  %d\n" % len(row_list) not in story or "are masked" not in story or "sluice open" not in story:
    wrong(f"the story is {story}")
for part in ("name: Authorization", "a green colour", "add: query", "also: [ x-tenant"):
    if not any(part in rule for rule in rules):
        wrong(f"the bundle's profile has no {part}: {rules}")
cells = values_of(directory + "/session.sluice")
check("bundle: tables", b"\0".join(cells))
seen_in_original = b"\0".join(values_of(session))
if sum(value.encode() in seen_in_original for value in secrets) < 50:
    wrong("the look into the tables sees no secrets where there are some")
# What opens again has all of it that is no secret, and the numbers, sizes and bodies that were recorded.
again = run("export", bundle, "--format", "har", "--secrets")
check("bundle: opened", again, True)
again_rows = json.loads(run("export", bundle, "--format", "json", "--secrets"))
again_rows = again_rows["exchanges"] if isinstance(again_rows, dict) else again_rows
for row, other in zip(row_list, again_rows):
    if bool(row.get("masked")) != bool(other.get("masked")):
        wrong(f"bundle: {row['url']}: masked is {other.get('masked')}, exported {row.get('masked')}")
    for name in ("id", "method", "status", "started", "sizes", "timings", "kind", "client", "server"):
        if row.get(name) != other.get(name):
            wrong(f"bundle: {row['url']}: {name} is {other.get(name)}, exported {row[name]}")
if len(row_list) != len(again_rows):
    wrong(f"bundle: {len(again_rows)} exchanges of {len(row_list)}")
once, twice = entries(har), entries(again)
for path, entry in once.items():
    if entry["response"]["content"].get("text") != twice[path]["response"]["content"].get("text"):
        wrong(f"bundle: the answer of {path} is {twice[path]['response']['content']}, exported {entry['response']['content']}")
    if entry.get("_webSocketMessages") and [(m["type"], m["opcode"], m["data"]) for m in entry["_webSocketMessages"]] != [
        (m["type"], m["opcode"], m["data"]) for m in twice[path]["_webSocketMessages"]
    ]:
        wrong(f"bundle: the messages of {path} are {twice[path]['_webSocketMessages']}, exported {entry['_webSocketMessages']}")
# Unmasked, it is all there, byte for byte.
run("export", session, "--format", "bundle", "--secrets", "-o", bundle)
if run("export", bundle, "--format", "json", "--secrets") != run("export", session, "--format", "json", "--secrets"):
    wrong("a bundle with its secrets is not what was recorded")
piped = run("export", session, "id:1", "--format", "bundle", "-o", "-")
if piped[:2] != b"PK":
    wrong("-o - writes no zip")

end()
