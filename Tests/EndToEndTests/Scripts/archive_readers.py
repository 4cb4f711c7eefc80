"""Our HARs as haralyzer and mitmproxy read them, and mitmproxy's flows as we do: each exchange with its fields and bodies.

usage: archive_readers.py SLUICE DIRECTORY FIXTURES

Prints a line for each thing that is wrong; nothing where all is right.
"""

import base64
import json
import os
import subprocess
import sys
from datetime import datetime, timezone

from haralyzer import HarEntry, HarParser
from mitmproxy.io import FlowReader

from sluice_story import directory, end, environment, further, sluice, wrong

fixtures = further[0]


def run(*arguments):
    done = subprocess.run([sluice, *arguments], env=environment, capture_output=True, cwd=directory, timeout=60)
    if done.returncode != 0:
        wrong(f"{arguments} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return done.stdout


def flows(path):
    with open(path, "rb") as file:
        return list(FlowReader(file).stream())


def text(fields):
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in fields]


# Flows that mitmproxy wrote: what it reads of them is what the session has.


def latin(value):
    """A field as its bytes: UTF-8 where it is valid, else Latin-1, as our exports have it."""
    return (value.encode() if any(ord(sign) > 255 for sign in value) else value.encode("latin-1")).decode("latin-1")


def ours(message):
    head = message.get("received") or {}
    return [(field["name"], latin(field["value"])) for field in head.get("headers", ())]


def body(message):
    found = message.get("body")
    if not found:
        return b""
    return base64.b64decode(found["text"]) if found.get("encoding") == "base64" else found["text"].encode()


def same(name, number, what, one, other):
    if one != other:
        wrong(f"{name}: {what} of {number} is {one}, mitmproxy has {other}")


def moment(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc)


for name in ("mitmproxy-11.0.2.flows", "mitmproxy-11.0.2-tls.flows", "mitmproxy-9.0.1.flows"):
    read = flows(f"{fixtures}/{name}")
    session = f"{directory}/{name}.sluice"
    run("import", "session", f"{fixtures}/{name}", "-o", session)
    rows = json.loads(run("export", session, "--format", "json", "--secrets"))
    if len(read) != len(rows) or len(rows) < 6:
        wrong(f"{name}: {len(rows)} exchanges, mitmproxy has {len(read)}")
    for number, (flow, row) in enumerate(zip(read, rows), 1):
        request, response = flow.request, flow.response
        same(name, number, "the method", row["method"], request.method)
        url = flow.request.url.replace("http", "ws", 1) if flow.websocket and row["url"].startswith("ws") else flow.request.url
        same(name, number, "the URL", row["url"], url)
        version = {"HTTP/2.0": "HTTP/2"}.get(request.http_version, request.http_version)
        same(name, number, "the version", row["clientVersion"], version)
        sent = [field for field in text(request.headers.fields) if not field[0].startswith(":")]
        # HTTP/2 has the host in a pseudo field.
        mine = [field for field in ours(row["request"]) if field[0] != "host" or request.http_version != "HTTP/2.0"]
        same(name, number, "the request's fields", mine, sent)
        # Frames are no body.
        if not flow.websocket:
            same(name, number, "the request's body", body(row["request"]), request.content or b"")
        same(name, number, "the status", row["status"], response.status_code if response else 0)
        if response:
            same(name, number, "the response's fields", ours(row["response"]), text(response.headers.fields))
            if not flow.websocket:
                same(name, number, "the response's body", body(row["response"]), response.content or b"")
            reason = (row["response"].get("received") or {}).get("reason", "")
            same(name, number, "the reason", reason, response.reason or "")
        same(name, number, "whether it failed", row["state"] == "failed", flow.error is not None and response is None)
        if flow.error and not response and flow.error.msg not in row["failure"]["message"]:
            wrong(f"{name}: the failure of {number} is {row['failure']}, mitmproxy has {flow.error.msg}")
        began = datetime.fromisoformat(row["startedAt"].replace("Z", "+00:00"))
        if abs((began - moment(request.timestamp_start)).total_seconds()) > 2e-6:
            wrong(f"{name}: {number} began at {began}, in mitmproxy at {moment(request.timestamp_start)}")
        same(name, number, "the remark", row.get("comment", ""), flow.comment)
        server = flow.server_conn.peername
        if server:
            same(name, number, "the server", row["upstream"]["peerAddress"], f"{server[0]}:{server[1]}")
            tls = row["upstream"].get("tls") or {}
            same(name, number, "TLS", tls.get("protocol", tls.get("protocolVersion")), flow.server_conn.tls_version)
        carried = [
            (message["direction"] == "send", message.get("text", "").encode() or base64.b64decode(message.get("base64", "")))
            for message in row.get("messages", ()) if message["kind"] in ("text", "binary")
        ]
        written = [
            (message.from_client, message.content) for message in (flow.websocket.messages if flow.websocket else ())
        ]
        same(name, number, "what the WebSocket carried", carried, written)

# Our HAR, with secrets and without, in haralyzer and in mitmproxy.

session = directory + "/all.sluice"
files = [
    f"{fixtures}/{name}" for name in (
        "mitmproxy-11.0.2.flows", "mitmproxy-11.0.2-tls.flows", "built-session.chlsj", "built-session.xml", "built-bash.curl",
        "playwright-chromium-156.har", "firefox-153.har",
    )
]
run("import", "session", *files, "-o", session)
for kind, options in (("whole", ["--secrets"]), ("masked", [])):
    path = f"{directory}/{kind}.har"
    run("export", session, "--format", "har", *options, "-o", path)
    with open(path) as file:
        archive = json.load(file)
    entries = archive["log"]["entries"]
    parser = HarParser(archive)
    found = parser.har_data["entries"]
    if len(found) != len(entries) or len(entries) < 30:
        wrong(f"{kind}: haralyzer has {len(found)} entries of {len(entries)}")
    for number, (entry, other) in enumerate(zip(entries, found), 1):
        request, response = HarEntry(other).request, HarEntry(other).response
        content = entry["response"]["content"]
        # It asks for a text where HAR 1.2 needs none.
        answer = response.text if "text" in content else ""
        read = (request.method, request.url, response.status, answer, response.mimeType, response.bodySize)
        own = (
            entry["request"]["method"], entry["request"]["url"], entry["response"]["status"], content.get("text", ""),
            content["mimeType"], entry["response"]["bodySize"],
        )
        if read != own:
            wrong(f"{kind}: haralyzer reads {number} as {read}, it is {own}")
        if [(field["name"], field["value"]) for field in request.headers] != [
            (field["name"], field["value"]) for field in entry["request"]["headers"]
        ]:
            wrong(f"{kind}: haralyzer reads other fields of {number}")
    # As mitmdump takes it, which writes it down as flows.
    flow_file = f"{directory}/{kind}.flows"
    done = subprocess.run(
        [os.path.dirname(sys.executable) + "/mitmdump", "--set", f"confdir={directory}/mitm", "-nr", path, "-w", flow_file],
        capture_output=True, cwd=directory, timeout=120,
    )
    if done.returncode != 0:
        wrong(f"{kind}: mitmdump ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    read = flows(flow_file)
    if len(read) != len(entries):
        wrong(f"{kind}: mitmproxy has {len(read)} flows of {len(entries)}")
    for number, (entry, flow) in enumerate(zip(entries, read), 1):
        request, response = entry["request"], entry["response"]
        if request["method"] != "CONNECT" and flow.request.url != request["url"]:
            wrong(f"{kind}: mitmproxy reads the URL of {number} as {flow.request.url}, it is {request['url']}")
        if (flow.request.method, flow.response.status_code) != (request["method"], response["status"]):
            wrong(f"{kind}: mitmproxy reads {number} as {flow.request.method} {flow.response.status_code}")
        content = response["content"]
        own = content.get("text", "")
        own = base64.b64decode(own) if content.get("encoding") == "base64" else own.encode()
        if (flow.response.content or b"") != own:
            wrong(f"{kind}: mitmproxy reads the answer of {number} as {flow.response.content}, it is {own}")
        sent = request.get("postData", {})
        if sent.get("_encoding") != "base64" and (flow.request.content or b"") != sent.get("text", "").encode():
            wrong(f"{kind}: mitmproxy reads what {number} sent as {flow.request.content}, it is {sent}")
        fields = [(name.lower(), value) for name, value in text(flow.response.headers.fields)]
        for field in response["headers"]:
            if field["name"].lower() not in ("content-length", "content-encoding", "transfer-encoding") and (
                field["name"].lower(), field["value"].encode().decode("latin-1")
            ) not in fields:
                wrong(f"{kind}: mitmproxy has no {field} of {number}: {fields}")
end()
