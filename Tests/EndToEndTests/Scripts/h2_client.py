"""Sends requests over one HTTP/2 connection, each exactly as written.

usage: h2_client.py HOST:PORT [--proxy PORT] [--straight] [--ca FILE] < requests.json

Reads a list of requests: {"fields": [[name, value]...], "body": text, "trailers": [[name, value]...], "cancel": bool,
"stays": bool}. All of them go out at once; those to be cancelled are, when they have a response's head; those that stay
do not end their side. Pseudo-headers that are missing are added. Prints a line of JSON: the "answers", each with its
"status", "interim", "fields", "body", "trailers" and "reset"; how the connection "ended"; and the server's "settings".
"""

import sys

from h2_wire import *


def main():
    parser = Way.arguments(__doc__.split("\n")[0])
    options = parser.parse_args()
    requests = json.load(sys.stdin)
    connection = Connection(Way.of(options), {ENABLE_PUSH: 0, INITIAL_WINDOW_SIZE: 1 << 24}, timeout=20)
    connection.window(1 << 30)
    answers = {}
    for index, request in enumerate(requests):
        stream = 2 * index + 1
        answers[stream] = {
            "status": None, "interim": [], "fields": [], "body": "", "trailers": None, "reset": None,
        }
        given = [tuple(field) for field in request.get("fields", [])]
        fields = connection.fields() if ("CONNECT" not in [value for _, value in given]) else []
        names = {name for name, _ in given}
        pseudo = [field for field in given if field[0][0] == ":"] + [field for field in fields if field[0] not in names]
        fields = pseudo + [field for field in given if field[0][0] != ":"]
        body, trailers = request.get("body", "").encode("latin-1"), request.get("trailers")
        stays = request.get("stays", False)
        connection.frame(HEADERS, END_HEADERS | (0 if body or trailers or stays else END_STREAM), stream, block(fields))
        if body:
            connection.frame(DATA, 0 if trailers or stays else END_STREAM, stream, body)
        if trailers:
            connection.frame(HEADERS, END_HEADERS | END_STREAM, stream, block(trailers))
    left, ended = set(answers), None
    while left:
        got = connection.next()
        if got is None or got.kind == GOAWAY:
            ended = "closed" if got is None else f"GOAWAY {error_name(got.payload)}"
            if got is None or error_name(got.payload) != "NO_ERROR":
                break
        if got.kind == SETTINGS and not got.flags & ACK:
            connection.frame(SETTINGS, ACK)
        answer = answers.get(got.stream)
        if got.kind == HEADERS:
            fields = [[name, value] for name, value in connection.decode(got)]
            status = dict(fields).get(":status")
            if status is None:
                answer["trailers"] = fields
            elif status.startswith("1"):
                answer["interim"].append(status)
            else:
                answer["status"], answer["fields"] = status, fields[1:]
                if requests[got.stream // 2].get("cancel"):
                    connection.frame(RST_STREAM, 0, got.stream, b"\0\0\0\x08")
                    left.discard(got.stream)
        elif got.kind == DATA:
            answer["body"] += got.payload.decode("latin-1")
            connection.window(max(1, len(got.payload)))
        elif got.kind == RST_STREAM:
            answer["reset"] = error_name(got.payload)
        if got.kind == RST_STREAM or got.kind in (HEADERS, DATA) and got.flags & END_STREAM:
            left.discard(got.stream)
    # What was cancelled last is on its way when a later PING is answered.
    try:
        connection.frame(PING, 0, 0, b"all sent")
        while (got := connection.next()) and not (got.kind == PING and got.payload == b"all sent"):
            pass
    except OSError:
        pass
    connection.close()
    report(answers=list(answers.values()), ended=ended, settings=connection.peer)


main()
