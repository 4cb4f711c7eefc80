"""The scenario 'wire' of agent.py: lines of JSON-RPC without an SDK, also wrong ones."""

import contextlib
import json
import re
import subprocess
import threading
import time

from agent_client import NEWEST, OLDER, check, entry, session, start
from sluice_story import directory, wrong

META = {"io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {}}


class Wire:
    """A server, and the lines that it writes."""

    def __init__(self, *arguments, is_modern=True):
        self.is_modern, self.count, self.answers, self.changed = is_modern, 100, [], threading.Condition()
        with open(directory + "/wire.errors", "ab") as errors:
            self.process = start("mcp", *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if check(isinstance(message, dict) and message.get("jsonrpc") == "2.0", f"on standard output is {line[:200]}"):
                with self.changed:
                    self.answers.append(message)
                    self.changed.notify_all()

    def send(self, *messages):
        lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def take(self, *ids):
        """Removes the first answer with one of these ids, and returns it; waits for it."""
        def found():
            return next((one for one in self.answers if any(one.get("id") is id or one.get("id") == id for id in ids)), None)

        with self.changed:
            if not self.changed.wait_for(found, 30):
                return {"missing": f"no answer to {str(ids)[:100]}"}
            answer = found()
            self.answers.remove(answer)
            return answer

    def request(self, method, id=None, meta=META, **params):
        self.count += 1
        params = {**params, **({"_meta": meta} if self.is_modern and meta is not None else {})}
        return {"jsonrpc": "2.0", "id": self.count if id is None else id, "method": method, "params": params}

    def ask(self, method, **params):
        request = self.request(method, **params)
        self.send(request)
        return self.take(request["id"])

    def tool(self, name, id=None, **arguments):
        return self.request("tools/call", id=id, name=name, arguments=arguments)

    def works(self, what):
        answer = self.ask("tools/list")
        check("result" in answer, f"after {what}, the server answers {str(answer)[:300]}")

    def code(self, line, code, ids, what):
        """Sends a line, which must get an error; the server works afterwards."""
        self.send(line)
        answer = self.take(*ids)
        codes = code if isinstance(code, tuple) else (code,)
        found = (answer.get("error") or {}).get("code")
        check(found in codes if codes else isinstance(found, int), f"{what} gets {str(answer)[:300]}")
        self.works(what)
        return answer

    def close(self, what, seconds=5):
        self.process.stdin.close()
        try:
            check(self.process.wait(seconds) == 0, f"{what}: the server ended with {self.process.returncode}")
        except subprocess.TimeoutExpired:
            wrong(f"{what}: the server runs {seconds} seconds after the end of input")
            self.process.kill()
        self.reader.join(10)
        check(not self.answers, f"{what}: surplus answers {str(self.answers)[:500]}")


def wire():
    path = session(*(entry(f"http://api.example.com/{number}", body="x") for number in range(1, 4)))
    server = Wire(path)
    modern(server)
    bad_lines(server)
    waits(server)
    quick = [server.tool("status", id=f"quick {number}") for number in range(30)]
    server.send(*quick)
    answers = [server.take(request["id"]) for request in quick]
    refused = [one["result"]["content"][0]["text"] for one in answers if one.get("result", {}).get("isError")]
    check(1 <= len(refused) <= 20 and all("result" in one for one in answers), f"30 calls at once: {len(refused)} refused, {answers}")
    check(all(re.search(r"again.*\d|\d.*again", text) for text in refused), f"refused calls do not say when to try again: {refused}")
    # More calls are allowed a second later.
    time.sleep(1.2)
    later = server.ask("tools/call", name="status", arguments={})
    check(later.get("result", {}).get("isError", False) is False and "result" in later, f"a second later: {later}")
    server.send(server.tool("wait", after=3, seconds=60))
    server.works("wait")
    server.close("wait is open")
    half = Wire(path)
    half.works("the start")
    half.process.stdin.write(b'{"jsonrpc":"2.0","id":1,"meth')
    with contextlib.suppress(BrokenPipeError):
        half.process.stdin.flush()
    half.process.stdin.close()
    check(half.process.wait(5) == 0, "the server does not end with 0 after half a line")
    for asked, given in (("1999-01-01", OLDER), (OLDER, OLDER), ("2025-06-18", None), ("2025-03-26", None), ("2024-11-05", None)):
        legacy(path, asked, given or asked)


def modern(server):
    found = server.ask("server/discover").get("result", {})
    check(found.get("resultType") == "complete" and NEWEST in found.get("supportedVersions", []), f"server/discover: {found}")
    for result in (found, server.ask("tools/list").get("result", {})):
        is_cached = isinstance(result.get("ttlMs"), int) and result["ttlMs"] >= 0 and result.get("cacheScope") == "private"
        check(is_cached and result.get("resultType") == "complete", f"how long a result holds: {str(result)[:300]}")
    check(found.get("capabilities") == {"tools": {}}, f"capabilities are {found.get('capabilities')}")
    called = server.ask("tools/call", name="status", arguments={})
    check(called.get("result", {}).get("resultType") == "complete", f"a call's result: {called}")
    other = server.request("tools/list", meta={**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"})
    data = server.code(other, -32022, [other["id"]], "an unknown revision").get("error", {}).get("data", {})
    check(NEWEST in data.get("supported", []) and data.get("requested") == "2030-01-01", f"-32022 has the data {data}")
    for key in META:
        partial = server.request("tools/list", meta={name: value for name, value in META.items() if name != key})
        server.code(partial, -32602, [partial["id"]], f"a request without {key}")
    for request in (server.request("tools/list", meta=None), server.request("server/discover", meta=None),
                    {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, server.request("tools/call", name="nosuch", arguments={}),
                    server.request("tools/call"), server.request("tools/call", name="list", arguments=[1])):
        server.code(request, -32602, [request["id"]], request)
    for method in ("nosuch/method", "ping", "resources/list", "prompts/list", "logging/setLevel"):
        request = server.request(method)
        server.code(request, -32601, [request["id"]], method)


def bad_lines(server):
    server.code(b"this is not JSON", -32700, [None], "a line that is not JSON")
    server.code(b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', -32700, [None], "a line that is not UTF-8")
    server.code([server.request("tools/list")], -32600, [None], "a batch")
    for line in (b"[]", b"5", b'"text"', b"null", b"true"):
        server.code(line, -32600, [None], line)
    for line in (b'{"id":1,"method":"tools/list"}', b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', b'{"jsonrpc":"2.0","id":1}',
                 b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}', b'{"jsonrpc":"2.0","id":1,"method":5}'):
        server.code(line, -32600, [None, 1], line)
    server.code(b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}', (-32600, -32602), [None, 1], "params that are a text")
    server.code(server.request("tools/list", id=7, x="a" * (5 << 20)), (), [7, None], "a line of 5 MiB")
    for depth in (2_000, 200_000):
        deep = json.dumps(server.request("tools/list", id=8, x="DEEP")).replace('"DEEP"', "[" * depth + "]" * depth)
        server.code(deep.encode(), (), [8, None], f"JSON of depth {depth}")
    for line in (b'{"jsonrpc":"2.0","id":1e400,"method":"tools/list"}', b'{"jsonrpc":"2.0","id":1.5,"method":"nosuch"}',
                 b'{"jsonrpc":"2.0","id":99999999999999999999999,"method":"nosuch"}'):
        server.code(line, (), [None, float("inf"), 1.5, 99999999999999999999999], line)
    for id in (-1, 0, "", "é😀\u2028\u0000", "long" * 25_000):
        answer = server.ask("tools/list", id=id)
        check("result" in answer and type(answer["id"]) is type(id), f"a request with the id {str(id)[:20]!r}: {str(answer)[:200]}")
    # None of these gets an answer.
    server.send({"jsonrpc": "2.0", "method": "notifications/nosuch"}, {"jsonrpc": "2.0", "method": "notifications/cancelled"},
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12_345}})
    server.works("notifications")
    request = json.dumps(server.request("tools/list", id="halves")).encode()
    server.process.stdin.write(request[:40])
    server.process.stdin.flush()
    server.process.stdin.write(request[40:] + b"\r\n")
    server.process.stdin.flush()
    check("result" in server.take("halves"), "a request in two parts, with CRLF, gets no answer")


def waits(server):
    # The cancelled call would have ended before the last one, which therefore bounds this.
    server.send(server.tool("wait", id="cancelled", after=3, seconds=2))
    check("result" in server.ask("tools/call", name="status", arguments={}), "while wait is open, status gets no answer")
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "cancelled", "reason": "enough"}})
    check("result" in server.ask("tools/call", name="status", arguments={}), "after a cancelled wait, status gets no answer")
    begun = time.monotonic()
    last = server.ask("tools/call", name="wait", arguments={"after": 3, "seconds": 4})
    value = last.get("result", {}).get("structuredContent", {})
    check(value == {"found": False, "newest": 3} and time.monotonic() - begun > 3.5, f"wait ended with {last}")
    check(not any(one.get("id") == "cancelled" for one in server.answers), "a cancelled wait got an answer")


def legacy(path, asked, given):
    server = Wire(path, is_modern=False)
    hello = server.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "agent", "version": "1"})
    result = hello.get("result", {})
    check(result.get("protocolVersion") == given, f"initialize with {asked}: {hello}")
    check(result.get("capabilities") == {"tools": {}} and result.get("serverInfo", {}).get("name"), f"initialize: {result}")
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    check(server.ask("ping").get("result") == {}, f"ping in {given} is not answered with {{}}")
    server.works("initialize")
    called = server.ask("tools/call", name="list", arguments={"limit": 2})
    is_right = not called.get("result", {}).get("isError", False) and called.get("result", {}).get("content")
    check(is_right, f"a call in {given}: {called}")
    server.code(server.request("nosuch", id=5), -32601, [5], f"an unknown method in {given}")
    server.close(f"initialize with {asked}")
