"""Servers that end at each byte of an answer, are wrong, stall, or end their half; for faults.py."""

import gzip
import zlib

from fault_proxy import *

FIRST_HEAD = CASES["interim"].answer.index(b"\r\n\r\n") + 4


def judge(name, case, ending, position, seen, row, is_secure):
    """What is wrong with an exchange whose server sent so much and ended."""
    def bad(text):
        wrong(f"{name}: {text}; the client saw {seen}; recorded: {row and (row['state'], row['status'], row['flags'], told(row))}")

    if row is None:
        return bad("is not recorded")
    has_head, is_whole = position >= case.head, position >= case.end and not case.ends_with_connection
    if case.ends_with_connection and has_head and ending != "rst":
        is_whole = True
    body = case.body(position)
    # The page that explains a failure is recorded as what the client got.
    stored = b"" if row["flags"] & ANSWERED else stored_body(row)
    if ending == "rst":
        # A reset may overtake what was sent before it; then there is less, and nothing is made up.
        if row["state"] == COMPLETE and (not is_whole or not seen.is_whole):
            return bad("passes for whole")
        if not body.startswith(stored) or not body.startswith(seen.body) and seen.status != 502:
            return bad("has bytes that never came")
        if row["state"] == COMPLETE:
            return None
        has_head = row["status"] != 502
        is_whole = False
    elif stored != (body if has_head else b""):
        return bad(f"has the body {stored}, not {body}")
    if is_whole:
        if row["state"] != COMPLETE or row["failure"] or row["status"] != case.status:
            return bad("is not complete")
        if seen.status != case.status or seen.body != body or seen.rest or seen.interims != case.interims:
            return bad("did not reach the client as it was")
        lacks = is_secure and case.ends_with_connection and ending == "fin"
        if bool(row["flags"] & WITHOUT_NOTIFY) != lacks:
            return bad("has a wrong flag about close_notify")
        if lacks == (seen.is_whole and seen.ended == "end"):
            return bad("does not tell its client the end as it was")
        return None
    if row["state"] != FAILED or row["failure"] != "reset":
        return bad("has not failed by a reset")
    if has_head:
        if seen.is_whole or seen.status not in (case.status, 0) or row["status"] != case.status:
            return bad("passes for whole with its client")
        if ending != "rst" and seen.body != body:
            bad("did not pass on all that came")
    elif seen.status != 502 or not seen.is_whole or case.method != "HEAD" and not seen.body.startswith(b"Sluice: "):
        return bad("does not explain itself to its client")
    check_words(bad, case, ending, position, body, has_head, row)


def check_words(bad, case, ending, position, body, has_head, row):
    words = row["failure_message"] or ""
    if ("reset" if ending == "rst" else "closed") not in words:
        bad("does not say how the server ended")
    if has_head:
        count = len(stored_body(row))
        place = f"{count} of {case.length} bytes" if case.length else f"{count} byte"
        if f"body, {place}" not in words:
            bad(f"does not say that {place} had come")
    elif ending != "rst":
        # An interim response does not count.
        skipped = 0 if not case.interims or position < FIRST_HEAD else FIRST_HEAD
        place = f"head, after {position - skipped} byte" if position > skipped else "without an answer"
        if place not in words:
            bad(f"does not say {place!r}")


def servers_end(proxy, servers):
    jobs = []
    for server in servers:
        for name, case in CASES.items():
            # Whatever ends without a body does so in the same way.
            endings = ["fin", "rst"] if case.has_body and name != "longer" or "all" in chosen else ["fin"]
            for ending in endings + ["notify"] * bool(server.context):
                # Heads are read alike with and without TLS; handshakes take their time.
                first = max(0, case.head - 2) if server.context and "all" not in chosen else 0
                jobs += [(server, name, case, ending, position) for position in range(first, len(case.answer) + 1)]

    def run(job):
        server, name, case, ending, position = job
        try:
            return proxy.ask(server, f"/{name}/{ending}/{position}", case.method)
        except OSError as error:
            seen = Seen()
            seen.ended = f"{error!r}"
            return seen

    results = each(run, jobs)
    passed(f"{len(jobs)} answers were cut")
    found = {(row["port"], row["path"]): row for row in proxy.settle(count=len(jobs))}
    for job, seen in zip(jobs, results):
        server, name, case, ending, position = job
        row = found.get((server.port, f"/{name}/{ending}/{position}"))
        title = f"{'https' if server.context else 'http'} /{name}/{ending}/{position}"
        judge(title, case, ending, position, seen, row, bool(server.context))


def servers_end_http2(proxy, server):
    whole = greeting(1) + b"".join(http2_frames(1))
    frames = http2_frames(1)
    head = len(greeting(1)) + len(frames[0])
    second = head + len(frames[1])
    client = HTTP2Client(proxy, server)
    siblings = [client.begin("/sibling/alone")]
    jobs = [(ending, position) for ending in ("fin", "rst") for position in range(len(whole) + 1)]
    jobs += [("notify", position) for position in range(0, len(whole) + 1, 1 if "all" in chosen else 10)]
    results = each(lambda job: client.ask(f"/bytes/{job[0]}/{job[1]}"), jobs, 4)
    siblings.append(client.begin("/sibling/shared"))
    codes = [(f"reset{code}", position) for code in (0, 2, 7, 8, 11) for position in range(5)]
    others = each(lambda job: client.ask(f"/frames/{job[0]}/{job[1]}"), codes, 1)
    # These end the server's connection, and so all of its streams.
    going = [("goaway", position) for position in range(5)] + [("unprocessed", 0)]
    codes += going
    single = HTTP2Client(proxy, server)
    others += [single.ask(f"/frames/{ending}/{position}") for ending, position in going]
    single.close()
    passed(f"{len(jobs) + len(codes)} answers over HTTP/2 were cut")
    server.released.set()
    for sibling in siblings:
        seen = client.end(sibling)
        if not seen.is_whole or seen.body != b"steady" * (len(seen.body) // 6):
            wrong(f"the sibling on the same connection was harmed: {seen}")
    server.released.clear()
    client.close()
    found = {row["path"]: row for row in proxy.settle(f"port = {server.port} AND path NOT LIKE '/sibling%'")}
    for (ending, position), seen in zip(jobs, results):
        row = found.get(f"/bytes/{ending}/{position}")
        name = f"h2 /bytes/{ending}/{position}"
        # What came of a frame is passed on before the rest of it.
        body = b"hel"[:max(0, position - head - 9)] + b"lo"[:max(0, position - second - 9)]
        judge_http2(name, ending, position >= head, position >= len(whole), body, seen, row)
    for (ending, position), seen in zip(codes, others):
        row = found.get(f"/frames/{ending}/{position}")
        name = f"h2 /frames/{ending}/{position}"
        body = [b"", b"", b"hel", b"hello", b"hello"][position]
        judge_http2(name, ending, position > 0, position == 4, body, seen, row)


def judge_http2(name, ending, has_head, is_whole, body, seen, row):
    def bad(text):
        wrong(f"{name}: {text}; the client saw {seen}; recorded: {row and (row['state'], row['status'], row['flags'], told(row))}")

    if row is None:
        return bad("is not recorded")
    # The page that explains a failure is recorded as what the client got.
    stored = b"" if row["flags"] & ANSWERED else stored_body(row)
    if ending == "rst":
        if row["state"] == COMPLETE and not (is_whole and seen.is_whole):
            return bad("passes for whole")
        if not body.startswith(stored):
            return bad("has bytes that never came")
        if row["state"] == COMPLETE:
            return None
        has_head, is_whole = row["status"] == 200, False
    elif stored != (body if has_head else b""):
        return bad(f"has the body {stored}, not {body}")
    if is_whole:
        if row["state"] != COMPLETE or row["failure"] or not seen.is_whole or seen.body != body:
            bad("is not complete")
        return None
    if row["state"] != FAILED or row["failure"] != "reset":
        return bad("has not failed by a reset")
    if has_head:
        if seen.is_whole or not seen.ended.startswith("RST_STREAM"):
            bad("passes for whole with its client")
    elif ending.startswith("reset") or ending == "unprocessed":
        if not seen.ended.startswith("RST_STREAM") or row["status"]:
            bad("does not pass on the reset")
    elif seen.status != 502 or not seen.body.startswith(b"Sluice: "):
        bad("does not explain itself to its client")


# Servers that are wrong, stall, or send without end


def gzip_bomb(size):
    packed = zlib.compressobj(9, wbits=31)
    return packed.compress(bytes(size)) + packed.flush()


def servers_are_wrong(proxy, servers):
    """Answers that are malformed in their length, and bodies that are huge when unpacked."""
    bomb = gzip_bomb(200 << 20)
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    RAW.update({
        "chunk-size": chunked + b"5\r\nhello\r\nzz\r\nmore\r\n0\r\n\r\n",
        "chunk-huge": chunked + b"ffffffffffffffffff\r\nhello",
        "chunk-end": chunked + b"5\r\nhelloXX0\r\n\r\n",
        "chunk-cut": chunked + b"5\r\nhello\r\n64\r\nabc",
        "lengths": OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "negative": OK + b"Content-Length: -5\r\n\r\nhello",
        "huge": OK + b"Content-Length: 99999999999999999999\r\n\r\nhello",
        "bomb": OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb,
        "nested": OK + b"Content-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n" % len(gzip_twice(bomb))
        + gzip_twice(bomb),
    })
    # What the client sees: a status and whether it is whole; the state and the failure that are recorded.
    expected = {
        "chunk-size": (200, False, FAILED, "bad-response"), "chunk-huge": (200, False, FAILED, "bad-response"),
        "chunk-end": (200, False, FAILED, "bad-response"), "chunk-cut": (200, False, FAILED, "reset"),
        "lengths": (502, True, FAILED, "bad-response"), "negative": (502, True, FAILED, "bad-response"),
        "huge": (502, True, FAILED, "bad-response"),
        "bomb": (200, True, COMPLETE, None), "nested": (200, True, COMPLETE, None),
    }
    for server in servers:
        for name in RAW:
            seen = proxy.ask(server, f"/raw/{name}/notify")
            row = next(iter(proxy.settle(f"port = {server.port} AND path = '/raw/{name}/notify'", 1)), None)
            got = row and (seen.status, seen.is_whole, row["state"], row["failure"])
            if got != expected[name]:
                wrong(f"/raw/{name}: {got}, not {expected[name]}; {row and told(row)}; the client saw {seen}")


def gzip_twice(packed):
    return gzip.compress(packed)


def servers_stall(proxy, servers):
    """With a short --idle-timeout: 504 before the head, cut after it, and the server is let go."""
    jobs = [
        (server, name, position) for server in servers for name, case in CASES.items()
        for position in (0, 9, case.head - 1, case.head, case.end - 1) if 0 <= position < case.end
    ]
    results = each(lambda job: proxy.ask(job[0], f"/{job[1]}/stall/{job[2]}", CASES[job[1]].method), jobs, 24)
    found = {(row["port"], row["path"]): row for row in proxy.settle(count=len(jobs))}
    for (server, name, position), seen in zip(jobs, results):
        row, case = found.get((server.port, f"/{name}/stall/{position}")), CASES[name]
        title = f"{'https' if server.context else 'http'} /{name}/stall/{position}: "
        words = "head was not complete" if 0 < position < case.head else "Nothing happened"
        if row is None or row["state"] != FAILED or row["failure"] != "timeout" or words not in told(row):
            wrong(f"{title}is recorded as {row and told(row)}")
        elif position < case.head and (seen.status != 504 or not seen.is_whole):
            wrong(f"{title}the client saw {seen}")
        elif position >= case.head and (seen.status != case.status or seen.is_whole or row["status"] != case.status):
            wrong(f"{title}the client saw {seen}")
        elif position > case.head and f"{len(case.body(position))} of" not in told(row) and case.length:
            wrong(f"{title}does not say how much had come: {told(row)}")
    for server in servers:
        eventually(lambda server=server: f"{server.open} connections are left to a server that stalled",
                   lambda server=server: server.open == 0)


def halves_close(proxy, servers):
    """A server, then a client, that ends its half and goes on reading."""
    for server in servers:
        for name, case in CASES.items():
            seen = proxy.ask(server, f"/{name}/half/{case.end}", case.method)
            lacks = bool(server.context) and case.ends_with_connection
            if seen.is_whole == lacks or seen.body != case.body(case.end):
                wrong(f"{name} of a server that ends its half: {seen}")
    server = servers[0]
    with proxy.connect() as connection:
        connection.sendall(proxy.request(server, "/length/fin/43"))
        connection.shutdown(socket.SHUT_WR)
        seen = read_answer(connection)
        if not seen.is_whole or seen.body != b"hello":
            wrong(f"a client that ended its half saw {seen}")
