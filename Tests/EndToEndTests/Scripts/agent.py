"""`sluice mcp`, as agents use it. The client is the protocol's official Python SDK, in the version that is installed.

usage: agent.py SLUICE DIRECTORY story|demo|reading|oracle|wire

SDK 2 speaks revision 2026-07-28, SDK 1 speaks 2025-11-25; 'wire' needs no SDK. Prints a line for each thing that is wrong,
and nothing if all is right.
"""

import base64
import functools
import hashlib
import json
import os
import re
import signal
import subprocess
import threading
import time
import traceback

from agent_client import HOSTILE, MARKER, READING, Agent, Origin, Proxy, check, contents, entry, session, start, started, until
from agent_oracle import oracle
from agent_wire import wire
from sluice_story import directory, end, environment, further, sluice

# Each scenario must end within this time, in seconds.
LIMIT = 480

# MARK: - An agent finds and proves a fix

REFUSED_RULES = [
    'map-local: [ { from: "http://127.0.0.1/x", to: /etc/passwd } ]',
    "vars: { HOME: { env: HOME } }",
    "include: [ /etc/passwd ]",
    "mirror: { to: /tmp/mirror }",
    'dns-spoofing: [ { host: a.example, address: "127.0.0.1" } ]',
    'upstream: [ { proxy: "http://192.0.2.1:3128", only: "http://a.example/*" } ]',
    "access: [ 0.0.0.0/0 ]",
    "intercept: { except: [ a.example ] }",
    'map-remote: [ { from: "http://127.0.0.1/*", to: "http://192.0.2.1/" } ]',
    'map-remote: [ { from: "http://127.0.0.1/*", to: "http://127.0.0.1.evil.example/" } ]',
    'map-remote: [ { from: "http://127.0.0.1/*", to: "http://$1/" } ]',
    'rewrite: [ { at: "http://127.0.0.1/*", rules: [ { modify: host, to: evil.example } ] } ]',
    'rewrite: [ { at: "http://127.0.0.1/*", rules: [ { modify: url, match: "127.0.0.1", to: evil.example } ] } ]',
]
STORY_SECRET = "Zk4Wv9Qx7Jg2Yz8Kq5Xw"


async def story():
    origin, other, proxy = Origin(), Origin(), Proxy()
    login = {"Authorization": "Bearer " + STORY_SECRET}
    proxy.request(origin.url("/health?token=" + STORY_SECRET), **login)
    proxy.request(origin.url("/api/order?id=7"), **login)
    proxy.request(origin.url("/elsewhere", host="localhost"), **login)
    control = ["--attach", "--control", str(proxy.process.pid)]
    async with Agent("reader", *control) as reader:
        check(set(reader.tools) == READING, f"without --allow there is {sorted(reader.tools)}")
        check((await reader.call("status")).get("allowed") == [], "without --allow something is allowed")
    async with Agent("agent", *control, "--allow", "rules,holds,send=127.0.0.1") as agent:
        agent.secrets.append(STORY_SECRET)
        check(set(agent.tools) == READING | {"rules", "holds", "repeat"}, f"tools are {sorted(agent.tools)}")
        for name in ("rules", "holds", "repeat"):
            hints = agent.tools[name].get("annotations") or {}
            check(not hints.get("readOnlyHint"), f"{name} has the hints {hints}")
        check((agent.tools["rules"].get("annotations") or {}).get("destructiveHint") is True, "rules has no destructiveHint")
        failed = await find_cause(agent)
        await try_fix(agent, proxy, origin, other, failed)
        await refusals(agent, origin, other)
        await held_message(agent, proxy, origin)
        await many_sends(agent, origin, failed)
    proxy.process.terminate()
    check(proxy.process.wait(60) == 0, "sluice run did not end with 0")


async def newest(agent, number):
    """Waits until the session has so many exchanges."""
    for _ in range(20):
        status = await agent.call("status")
        if status.get("newest", 0) >= number:
            return status
        await agent.call("wait", after=number - 1, seconds=3)
    raise TimeoutError(f"exchange {number} is not in the session")


async def find_cause(agent):
    status = await newest(agent, 3)
    running = status.get("running") or {}
    check(status.get("attached") is True and status.get("exchanges") == 3, f"status is {status}")
    check(any("rules" in one for one in status["allowed"]) and any("127.0.0.1" in one for one in status["allowed"]), status["allowed"])
    check(running.get("address") and running.get("version") and running.get("recording") is True, f"running is {running}")
    rows = (await agent.call("list", filter="status:5xx"))["exchanges"]
    is_found = len(rows) == 1 and rows[0]["status"] == 500 and rows[0]["untrusted"]["method"] == "GET"
    check(is_found and "/api/order" in rows[0]["untrusted"]["url"], f"status:5xx finds {rows}")
    failed = rows[0]["number"]
    report = await agent.call("show", number=failed)
    check("X-Tenant" in report["untrusted"] and report["number"] == failed and report["offset"] == 0, f"the report is {report}")
    value = (await agent.call("show", number=failed, place="res.json.error"))["untrusted"]
    check("X-Tenant is missing" in value, f"res.json.error is {value!r}")
    head = (await agent.call("show", number=failed, place="req.header.authorization"))["untrusted"]
    check(re.search(r"Bearer sluice-token-[0-9a-f]+", head), f"the authorization is {head!r}")
    check((await agent.call("why", number=failed)).get("untrusted"), "why says nothing")
    return failed


async def try_fix(agent, proxy, origin, other, failed):
    import anyio

    location = origin.url("/api/*")
    rules = "    rules:\n      - { add: req.header.x-tenant, to: acme }\n"
    profile = f'version: 1\nrewrite:\n  - name: tenant\n    at: "{location}"\n{rules}'
    bad = await agent.call("profile_check", profile=profile.replace("rules:", "rulez:"))
    issue = (bad.get("issues") or [{}])[0]
    is_placed = issue.get("line", 0) > 1 and issue.get("column", 0) > 0 and issue.get("message") and issue.get("severity")
    check(bad.get("valid") is False and is_placed, f"a wrong profile: {bad}")
    check((await agent.call("profile_check", profile=profile)).get("valid") is True, "the profile is not valid")
    tried = await agent.call("try_rule", profile=profile, filter="status:5xx")
    example = (tried.get("examples") or [{}])[0]
    check(tried.get("played") == 1 and tried.get("acted") == 1, f"try_rule: {tried}")
    check(example.get("number") == failed and "rewrite" in example.get("did", []), f"try_rule's example: {example}")
    check(all(path != "/api/order?id=8" for _, path in origin.requests), "try_rule sent something")

    put = await agent.call("rules", action="put", profile=profile)
    check(put.get("message"), f"rules put: {put}")
    shown = await agent.call("rules", action="show")
    check("x-tenant" in shown.get("profile", ""), f"rules show: {shown}")
    rules = (await agent.call("status"))["running"]["rules"]
    check(any(one["tool"] == "rewrite" and one["on"] for one in rules), f"after put, the rules are {rules}")
    again = await agent.call("repeat", number=failed)
    check(again.get("number", 0) > failed and again.get("status") == 200 and "ms" in again, f"repeat with the rule: {again}")
    check("200" in (await agent.call("show", number=again["number"]))["untrusted"], "the new exchange has no 200")
    difference = await agent.call("diff", first=failed, second=again["number"])
    check(difference.get("same") is False and "200" in difference["untrusted"], f"diff: {difference}")
    check((await agent.call("diff", first=failed, second=failed)).get("same") is True, "an exchange differs from itself")

    last, found, order = (await agent.call("status"))["newest"], {}, []

    async def next_exchange():
        found.update(await agent.call("wait", after=last, filter="path:/later", seconds=60))
        order.append("wait")

    async with anyio.create_task_group() as group:
        group.start_soon(next_exchange)
        await anyio.to_thread.run_sync(until, "wait is called", lambda: b"path:/later" in contents(agent.log + ".in"))
        await agent.call("status")
        order.append("status")
        await anyio.to_thread.run_sync(proxy.request, origin.url("/later"))
    check(order == ["status", "wait"], f"while wait was open, calls ended in the order {order}")
    row = found.get("exchange", {})
    check(found.get("found") is True and row.get("number") == last + 1 and "/later" in row["untrusted"]["url"], f"wait: {found}")
    late = await agent.call("wait", after=last + 1, seconds=1)
    check(late.get("found") is False and late.get("newest") == last + 1, f"wait for nothing: {late}")

    check((await agent.call("rules", action="withdraw")).get("message"), "rules withdraw says nothing")
    again = await agent.call("repeat", number=failed)
    check(again.get("status") == 500, f"after withdraw, repeat: {again}")
    fields = [{"name": "x-tenant", "value": "acme"}]
    changed = await agent.call("repeat", number=failed, method="POST", path="/api/order?id=8", headers=fields, body="{}")
    check(changed.get("status") == 200 and origin.requests[-1] == ("POST", "/api/order?id=8"), f"repeat with changes: {changed}")
    gone = [{"name": "Authorization", "value": ""}]
    bare = await agent.call("repeat", number=failed, headers=gone)
    head = (await agent.call("show", number=bare["number"]))["untrusted"]
    check("authorization" not in head.lower(), f"an empty value does not remove the header: {head}")


async def refusals(agent, origin, other):
    before = await agent.call("rules", action="show")
    for rules in REFUSED_RULES:
        await agent.fails("rules", action="put", profile=f"version: 1\n{rules}\n")
        await agent.fails("try_rule", profile=f"version: 1\n{rules}\n")
    check(await agent.call("rules", action="show") == before, "a refused profile changed the rules")
    elsewhere = (await agent.call("list", filter="path:/elsewhere"))["exchanges"][0]["number"]
    count = len(origin.requests)
    await agent.fails("repeat", "127.0.0.1", number=elsewhere)
    check(len(origin.requests) == count, "repeat sent to a host that is not allowed")
    await agent.fails("repeat", "99999", number=99_999)
    # These paths must neither name another server nor add another request.
    for path in (other.url("/stolen"), f"@127.0.0.1:{other.server_address[1]}/", "/a HTTP/1.1\r\nHost: evil\r\n\r\nGET /b"):
        await agent.result("repeat", {"number": 1, "path": path})
    await agent.result("repeat", {"number": 1, "headers": [{"name": "X", "value": "a\r\nX-Injected: b"}]})
    check(not other.requests, f"repeat sent to another server: {other.requests}")
    check(("GET", "/b") not in origin.requests, "repeat sent a second request")


async def held_message(agent, proxy, origin):
    import anyio

    profile = f'version: 1\nbreakpoints: [ {{ at: "{origin.url("/held")}", on: response }} ]\n'
    await agent.call("rules", action="put", profile=profile)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(proxy.request(origin.url("/held"))), daemon=True)
    thread.start()
    holds, deadline = [], time.monotonic() + 60
    while not holds and time.monotonic() < deadline:
        holds = (await agent.call("holds", action="list"))["holds"]
    if not check(len(holds) == 1 and "/held" in holds[0]["untrusted"]["url"], f"holds: {holds}"):
        return
    shown = await agent.call("holds", action="show", id=holds[0]["id"])
    check(shown.get("id") == holds[0]["id"] and "/held" in shown["untrusted"]["body"], f"holds show: {shown}")
    decided = await agent.call("holds", action="edit", id=holds[0]["id"], status=418, body="edited")
    check(len(decided.get("decided", [])) == 1, f"holds edit: {decided}")
    await anyio.to_thread.run_sync(functools.partial(thread.join, 60))
    check(answers == [(418, b"edited")], f"the client of a held response got {answers}")
    check((await agent.call("holds", action="list"))["holds"] == [], "a decided hold is still in the list")
    await agent.call("rules", action="withdraw")


async def demo():
    """The failing call of `sluice demo` gets an answer of the agent's."""
    process = start("demo", "--linear", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until("the demo can be controlled", lambda: subprocess.run(
        [sluice, "status", "--control", str(process.pid)], env=environment, capture_output=True, timeout=60,
    ).returncode == 0)
    options = ["--attach", "--control", str(process.pid), "--allow", "rules,send=localhost"]
    async with Agent("demo", *options) as agent:
        found = (await agent.call("wait", after=0, filter="status:500", seconds=60)).get("exchange") or {}
        failed, url = found.get("number"), found.get("untrusted", {}).get("url", "")
        check(found.get("status") == 500 and url.endswith("/api/broken"), f"the failing call is {found}")
        check("out of order" in (await agent.call("show", number=failed, place="res.json.error"))["untrusted"], "no reason")
        check("map-local" in (await agent.call("why", number=failed))["untrusted"], "why has no rules of the demo")
        profile = f'version: 1\nmap-local: [ {{ from: "{url}", answer: {{ json: {{ mended: true }} }} }} ]\n'
        tried = await agent.call("try_rule", profile=profile, filter="status:500")
        check([one["number"] for one in tried["examples"]] == [failed], f"try_rule: {tried}")
        await agent.call("rules", action="put", profile=profile)
        again = await agent.call("repeat", number=failed)
        check(again.get("status") == 200 and again["number"] > failed, f"repeat with the rule: {again}")
        value = await agent.call("show", number=again["number"], place="res.json.mended")
        check(value["untrusted"] == "true", f"the new answer is {value}")
        await agent.call("rules", action="withdraw")
        check((await agent.call("repeat", number=failed)).get("status") == 500, "after withdraw, repeat")
    process.kill()


async def many_sends(agent, origin, failed):
    refused, before = None, len(origin.requests)
    for _ in range(65):
        result, _ = await agent.result("repeat", {"number": failed})
        if result.get("isError"):
            refused = " ".join(part["text"] for part in result["content"])
            break
    check(refused and re.search(r"\d", refused), f"more than sixty sends in a minute: {refused}")
    check(len(origin.requests) - before <= 60, "more than sixty sends in a minute arrived")


# MARK: - A finished session


async def reading():
    long = "".join(f"{number} é😀 line\n" for number in range(6_000))
    binary = base64.b64encode(bytes(range(256)) * 8).decode()
    api = "http://api.example.com"
    entries = [entry(f"{api}/item/{number}", body=f"item {number}") for number in range(1, 251)] + [
        entry(f"{api}/binary", body=binary, kind="application/octet-stream", encoding="base64"),
        entry(f"{api}/{MARKER}?q={MARKER}", body=HOSTILE, request=[("X-Note", MARKER), ("Referer", f"{api}/{MARKER}")]),
        entry(f"{api}/long", body=long),
        entry(f"{api}/order", status=500, body=json.dumps({"error": {"code": 42, "text": HOSTILE}}), kind="application/json"),
        entry(f"{api}/order", body=json.dumps({"order": 7}), kind="application/json"),
    ]
    path = session(*entries)
    total, before = len(entries), hashlib.sha256(contents(path)).digest()
    for wrong_options in (["--allow", "rules"], ["--allow", "send=127.0.0.1"]):
        done = subprocess.run(
            [sluice, "mcp", path, *wrong_options], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        )
        is_usage = done.returncode == 2 and "--attach" in done.stderr and not done.stdout
        check(is_usage, f"{wrong_options} without --attach: {done.returncode} {done.stdout} {done.stderr}")
    async with Agent("reading", path) as agent:
        check(set(agent.tools) == READING, f"tools of a session are {sorted(agent.tools)}")
        for name, tool in agent.tools.items():
            hints, schema = tool.get("annotations") or {}, tool.get("inputSchema") or {}
            check(hints.get("readOnlyHint") is True and hints.get("openWorldHint") is False, f"{name} has the hints {hints}")
            check(schema.get("type") == "object" and tool.get("description"), f"{name} has no schema or description")
        status = await agent.call("status")
        is_right = status.get("exchanges") == total and status.get("newest") == total and not status.get("attached")
        check(is_right and status.get("allowed") == [] and not status.get("running"), f"status is {status}")
        await lists(agent, total)
        await shows(agent, long, total)
        await wrong_calls(agent)
        await exports(agent, total)
        await agent.fails("stats", "'list' takes all", by="endpoint", filter="path:/order")
        stats = await agent.call("stats", by="endpoint", filter="method:GET")
        check("/order" in stats["untrusted"] and "api.example.com" in (await agent.call("stats", by="host"))["untrusted"], stats)
        check((await agent.call("diff", first=total - 1, second=total)).get("same") is False, "diff of 500 and 200")
        check("untrusted" in await agent.call("why", number=1), "why says nothing")
        late = await agent.call("wait", after=total, seconds=1)
        check(late == {"found": False, "newest": total}, f"wait at the end of a session: {late}")
        rule = f'version: 1\nblock: [ {{ at: "{api}/item/1*" }} ]\n'
        tried = await agent.call("try_rule", profile=rule, filter="path:/item/*", limit=100)
        does_block = all(one["did"] == ["block"] for one in tried["examples"])
        check(tried["played"] >= tried["acted"] >= len(tried["examples"]) > 0 and does_block, f"try_rule: {tried}")
        for rules in REFUSED_RULES[:3]:
            await agent.fails("try_rule", profile=f"version: 1\n{rules}\n")
    os.mkdir(directory + "/exports")
    async with Agent("files", path, "--files", directory + "/exports") as agent:
        hints = agent.tools["export"].get("annotations") or {}
        check(hints.get("readOnlyHint") is False and hints.get("destructiveHint") is False, f"export has the hints {hints}")
        await written_exports(agent)
    check(hashlib.sha256(contents(path)).digest() == before, "reading changed the session's file")
    check(not [name for name in os.listdir(directory) if name.startswith("traffic.sluice-")], "files beside the session are left")


async def lists(agent, total):
    for filter, limit, expected in (("", 100, list(range(total, 0, -1))), ("path:/item/*", 45, list(range(250, 0, -1)))):
        numbers, before = [], {}
        while True:
            page = await agent.call("list", **({"filter": filter} if filter else {}), limit=limit, **before)
            check(len(page["exchanges"]) <= limit, f"a page of {limit} has {len(page['exchanges'])}")
            numbers += [row["number"] for row in page["exchanges"]]
            if page.get("next") is None or not page["exchanges"]:
                break
            before = {"before": page["next"]}
        check(numbers == expected, f"pages of {limit} with {filter!r} have {numbers}")
    rows = (await agent.call("list"))["exchanges"]
    check(len(rows) == 20 and rows[0]["number"] == total, f"a list without arguments has {len(rows)}")
    missing = {"number", "status", "state", "kind", "requestBytes", "responseBytes", "startedAt", "untrusted"} - set(rows[0])
    check(not missing, f"a row has no {missing}: {rows[0]}")
    hostile = (await agent.call("list", filter=MARKER))["exchanges"]
    check(len(hostile) == 1 and MARKER in hostile[0]["untrusted"]["url"], f"a bare word finds {hostile}")
    for limit in (0, 101, -1, "many"):
        await agent.invalid("list", limit=limit)


async def shows(agent, long, total):
    body, size = await agent.pages("show", number=253, place="res.body", length=16_001)
    check(body == long, f"the pages of a body of {len(long)} characters have {len(body)}, 'total' is {size}")
    report, _ = await agent.pages("show", number=252)
    whole = (await agent.call("show", number=252, length=65_536))["untrusted"]
    pieces, _ = await agent.pages("show", number=252, length=101)
    check(report == whole == pieces and HOSTILE in whole, f"pages of a report differ: {pieces} | {whole}")
    check(HOSTILE in (await agent.call("show", number=252, place="res.body"))["untrusted"], "the hostile body is not there")
    check(HOSTILE in (await agent.call("show", number=total - 1, place="res.json.error.text"))["untrusted"], "nor in JSON")
    binary = (await agent.call("show", number=251))["untrusted"]
    check("application/octet-stream" in binary and "\x00" not in binary and "\x1b" not in binary, f"a binary body: {binary[:300]!r}")
    past = await agent.result("show", {"number": 1, "offset": 1_000_000})
    check(past[0].get("isError") or past[0]["structuredContent"]["untrusted"] == "", f"an offset after the end: {past}")
    for arguments in ({"length": 0}, {"length": 65_537}, {"offset": -1}, {"number": "one"}, {"number": 1e30}):
        await agent.invalid("show", **{"number": 1, **arguments})


async def wrong_calls(agent):
    _, code = await agent.result("nosuchtool", {})
    check(code == -32602, f"an unknown tool gives {code}")
    for name in ("rules", "holds", "repeat"):
        _, code = await agent.result(name, {"action": "show", "number": 1})
        check(code == -32602, f"{name} without --allow gives {code}")
    for tool in ("show", "why"):
        await agent.fails(tool, "99999", number=99_999)
    await agent.fails("diff", "99999", first=1, second=99_999)
    absent, _ = await agent.result("show", {"number": 255, "place": "res.json.nosuch"})
    check(absent.get("isError") or absent["structuredContent"]["untrusted"] == "", f"a missing place: {absent}")
    await agent.fails("show", "nosuchplace", number=255, place="nosuchplace")
    for tool, more in (("list", {}), ("stats", {}), ("wait", {"after": 0}), ("export", {"format": "har"})):
        await agent.fails(tool, "status", filter="status:nosuch", **more)
    await agent.fails("try_rule", profile="version: 1\nblock: [ { att: x } ]\n")
    await agent.invalid("show")
    await agent.invalid("stats", by="colour")
    await agent.invalid("wait", after=0, seconds=61)
    await agent.invalid("export", format="pdf", number=1)


async def exports(agent, total):
    command, _ = await agent.pages("export", format="curl", number=1)
    check("curl " in command and "http://api.example.com/item/1" in command, f"a cURL command: {command}")
    text, _ = await agent.pages("export", format="har", filter="path:/item/*", length=65_536)
    check(len(json.loads(text)["log"]["entries"]) == 250, "a HAR has not 250 exchanges")
    hostile, _ = await agent.pages("export", format="har", number=252)
    check(json.loads(hostile)["log"]["entries"][0]["response"]["content"]["text"] == HOSTILE, "a HAR has another body")
    await agent.fails("export", "--files", format="har", number=1, file="out.har")


async def written_exports(agent):
    exports, outside = directory + "/exports", directory + "/x.har"
    done = await agent.call("export", format="har", filter="status:500", file="out.har")
    written = json.loads(contents(exports + "/out.har"))
    check(done.get("exchanges") == 1 == len(written["log"]["entries"]) and done.get("file", "").endswith("out.har"), f"export: {done}")
    before = contents(exports + "/out.har")
    os.symlink(outside, exports + "/link.har")
    os.symlink(directory, exports + "/up")
    for name in ("out.har", "../x.har", outside, "link.har", "up/x.har", "", ".", "..", "a\x00b"):
        await agent.fails("export", format="har", number=1, file=name)
    check(contents(exports + "/out.har") == before and not os.path.exists(outside), "a refused export wrote a file")
    check(sorted(os.listdir(exports)) == ["link.har", "out.har", "up"], f"files in the folder are {os.listdir(exports)}")


def main():
    def too_long(*_):
        raise TimeoutError(f"the scenario takes longer than {LIMIT} seconds")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT)
    try:
        scenario = {"story": story, "demo": demo, "reading": reading, "oracle": oracle, "wire": wire}[further[0]]
        if scenario is wire:
            wire()
        else:
            import anyio

            anyio.run(scenario)
    except BaseException as error:  # noqa: BLE001
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        check(False, "".join(traceback.format_exception(error)[-6:])[-1500:])
    finally:
        signal.alarm(0)
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
    end()


main()
