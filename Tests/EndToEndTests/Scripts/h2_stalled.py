"""Measures whether a stream whose reader has stopped holds up the others of its HTTP/2 connection.

usage: h2_stalled.py HOST:PORT [--proxy PORT] [--ca FILE] --path PATH [--streams N] [--rounds N | --ended]

In turns, some streams download alone, and beside one more that takes nothing after its first window. Prints one line
of JSON: the medians of both in milliseconds, and their ratio. With --ended one stream takes nothing more until it is
reset, and another follows it: prints the code of the reset, and whether the other got its answer.
"""

import statistics
import time

from h2_wire import *

WINDOW = 65_535


def first(connection, stream, path, takes):
    """Downloads over one stream: all of it, or only what its first window allows."""
    connection.head(stream, path=path)
    come = 0
    while takes or come < WINDOW:
        got = connection.next()
        if got is None:
            raise SystemExit("the connection ended")
        if got.stream != stream or got.kind not in (HEADERS, DATA):
            continue
        if got.kind == DATA:
            come += len(got.payload)
        if got.flags & END_STREAM:
            return
        if takes and got.kind == DATA and got.payload:
            connection.window(len(got.payload), stream)


def seconds(way, path, streams, stalled):
    """How long the streams take on a connection of their own."""
    connection = Connection(way, {INITIAL_WINDOW_SIZE: WINDOW, ENABLE_PUSH: 0}, timeout=60)
    connection.window((1 << 31) - 1 - 65_535)
    # One stream goes before, so that all connections stand; then one stops after its first window.
    first(connection, 1, path, takes=True)
    if stalled:
        first(connection, 3, path, takes=False)
    left = {2 * index + 5 for index in range(streams)}
    owed = dict.fromkeys(left, 0)
    start = time.perf_counter()
    connection.raw(b"".join(frame(HEADERS, 5, each, block(connection.fields(path=path))) for each in sorted(left)))
    while left:
        got = connection.next()
        if got is None or got.kind in (RST_STREAM, GOAWAY):
            raise SystemExit(f"the download failed: {got and error_name(got.payload)}")
        if got.kind == SETTINGS and not got.flags & ACK:
            connection.frame(SETTINGS, ACK)
        if got.stream not in left:
            continue
        if got.kind == DATA:
            owed[got.stream] += len(got.payload)
            if owed[got.stream] >= WINDOW // 2:
                connection.window(owed[got.stream], got.stream)
                owed[got.stream] = 0
        if got.kind in (HEADERS, DATA) and got.flags & END_STREAM:
            left.discard(got.stream)
    taken = time.perf_counter() - start
    connection.close()
    return taken


def ended(way, path):
    """How a stream ends that takes nothing more; one after it shows that the connection goes on."""
    connection = Connection(way, {INITIAL_WINDOW_SIZE: WINDOW, ENABLE_PUSH: 0}, timeout=60)
    connection.window((1 << 31) - 1 - 65_535)
    first(connection, 1, path, takes=False)
    while (got := connection.next()) is not None and (got.stream, got.kind) != (1, RST_STREAM):
        if got.kind == SETTINGS and not got.flags & ACK:
            connection.frame(SETTINGS, ACK)
    if got is None:
        return report(reset=None, goesOn=False)
    first(connection, 3, path, takes=True)
    connection.close()
    report(reset=error_name(got.payload), goesOn=True)


def main():
    parser = Way.arguments(__doc__.split("\n")[0])
    parser.add_argument("--path", required=True)
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--ended", action="store_true")
    options = parser.parse_args()
    way = Way.of(options)
    if options.ended:
        return ended(way, options.path)
    seconds(way, options.path, options.streams, False)
    times = {False: [], True: []}
    for index in range(options.rounds):
        # Who goes first changes from round to round.
        for stalled in (index % 2 == 0, index % 2 == 1):
            times[stalled].append(seconds(way, options.path, options.streams, stalled))
    alone, beside = (statistics.median(times[stalled]) * 1e3 for stalled in (False, True))
    report(alone=round(alone, 2), besideStalled=round(beside, 2), ratio=round(beside / alone, 3))


main()
