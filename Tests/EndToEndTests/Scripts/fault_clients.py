"""Clients that go at each byte of what they send, and while something is on its way to them; for faults.py."""

from fault_proxy import *


def leave(connection, way):
    if way == "rst":
        # TLS' own object would send its goodbye.
        return reset(connection)
    connection.close()


def clients_go(proxy, server):
    """Clients that leave at each byte of what they send, in plain HTTP."""
    body = b"0123456789"
    request = proxy.request(server, "/client/", "POST", f"Content-Length: {len(body)}\r\n", body)
    head = len(request) - len(body)
    jobs = [(way, position) for way in ("fin", "rst") for position in range(len(request))]

    def run(job):
        way, position = job
        path = f"/client/{way}/{position}".encode()
        with proxy.connect() as connection:
            connection.sendall(request.replace(b"/client/", path)[:position + len(path) - len(b"/client/")])
            if position >= head:
                # The head is to be read before the end comes, so that there is an exchange.
                eventually(f"{path} is not recorded", lambda: proxy.rows(f"path = '{path.decode()}'"))
            leave(connection, way)

    each(run, jobs)
    rows = proxy.settle()
    found = {row["path"]: row for row in rows}
    for way, position in jobs:
        row = found.get(f"/client/{way}/{position}")
        if position < head:
            # Half a head is no exchange of that path, whatever else is said of it.
            if row and row["kind"] != 5:
                wrong(f"/client/{way}/{position}: is recorded as {told(row)}")
        elif row is None or row["state"] != FAILED or row["failure"] != "client-gone":
            wrong(f"/client/{way}/{position}: is recorded as {row and told(row)}")
        elif f"{position - head} of {len(body)} bytes" not in told(row):
            wrong(f"/client/{way}/{position}: does not say how much had come: {told(row)}")
    for row in rows:
        if row["kind"] == 5 and "in the middle of a request head" not in told(row):
            wrong(f"half a head is recorded as {told(row)}")
    eventually(lambda: f"{server.open} connections to the server are left", lambda: server.open == 0)


def clients_go_while(proxy, servers):
    """Clients that reset while the server is silent, while it sends, while a rule holds or slows their messages."""
    places = [f"/{case}/stall/{position}" for case, position in
              (("length", 0), ("length", 10), ("length", 40), ("chunked", 62), ("ending", 27))]
    places += ["/length/held/43", "/length/heldanswer/43", "/length/slow/43"]
    for server in servers:
        for path in places:
            seen = server.seen
            with proxy.connect(server) as connection:
                connection.sendall(proxy.request(server, path + "?gone"))
                condition = f"path = '{path}' AND query = 'gone' AND port = {server.port}"
                eventually(f"{path} does not begin", lambda: proxy.rows(condition))
                if "stall" in path or "heldanswer" in path:
                    eventually(f"{path} does not reach the server", lambda: server.seen > seen)
                leave(connection, "rst")
            rows = proxy.settle(condition, 1)
            if not rows or rows[0]["state"] != FAILED or rows[0]["failure"] != "client-gone":
                wrong(f"{path} of a client that is gone: {[(row['state'], told(row)) for row in rows]}")
            eventually(lambda: f"{path}: {server.open} connections to the server are left", lambda: server.open == 0)


def clients_go_in_handshakes(proxy, server):
    """Clients that leave in CONNECT, in the ClientHello, and in what follows."""
    connect = f"CONNECT localhost:{server.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    handshake = client_context(proxy.authority).wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        handshake.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outgoing.read()
    sent = connect + hello
    jobs = [(way, position) for way in ("fin", "rst") for position in [*range(len(connect)), *range(len(connect), len(sent) + 1, 9)]]

    def run(job):
        way, position = job
        with proxy.connect() as connection:
            connection.sendall(sent[:position])
            if position >= len(connect):
                connection.recv(len(OK) + 60)
            if position == len(sent):
                connection.recv(100)
            leave(connection, way)

    each(run, jobs)
    for row in proxy.settle(f"port = {server.port}"):
        if row["state"] not in (FAILED, COMPLETE):
            wrong(f"a handshake that was given up is recorded as {row['state']} {told(row)}")
    eventually(lambda: f"{server.open} connections to the server are left", lambda: server.open == 0)


def clients_go_http2(proxy, server):
    """Connections of HTTP/2 that end at each byte of a request's frames."""
    way = Way(f"localhost:{server.port}", proxy.port, proxy.authority)
    fields = block([(":method", "POST"), (":scheme", "https"), (":path", "/sibling/cut"), (":authority", way.target)])
    sent = PREFACE + frame(SETTINGS) + frame(HEADERS, END_HEADERS, 1, fields) + frame(DATA, 0, 1, b"12345")
    sent += frame(DATA, END_STREAM, 1, b"67890")
    jobs = [(ending, position) for ending in ("fin", "rst") for position in range(len(sent) + 1)]

    def run(job):
        ending, position = job
        connection = way.dial()
        connection.sendall(sent[:position])
        leave(connection, ending)

    each(run, jobs)
    for row in proxy.settle("path = '/sibling/cut'"):
        if row["state"] != FAILED or row["failure"] != "client-gone":
            wrong(f"a request over HTTP/2 that was cut is recorded as {row['state']} {told(row)}")
