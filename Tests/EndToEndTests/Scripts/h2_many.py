"""Downloads over many streams of one HTTP/2 connection at once, as slow readers do.

usage: h2_many.py HOST:PORT [--proxy PORT] [--ca FILE] --path PATH --sha256 HEX [--streams N] [--window N]

Each stream has a small window, which is given back bit by bit, in an order that a seed decides. Prints one line of
JSON: how many streams had the right bytes, what was wrong with others, and the seconds that it took.
"""

import hashlib
import time

from h2_wire import *


def main():
    parser = Way.arguments(__doc__.split("\n")[0])
    parser.add_argument("--path", required=True)
    parser.add_argument("--sha256", required=True)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--window", type=int, default=16_384)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    start = time.monotonic()
    connection = Connection(Way.of(options), {INITIAL_WINDOW_SIZE: options.window, ENABLE_PUSH: 0}, timeout=120)
    connection.window((1 << 31) - 1 - 65_535)
    while MAX_CONCURRENT_STREAMS not in connection.peer:
        if connection.next() is None:
            raise SystemExit("the connection ended before SETTINGS")
    waiting = [2 * index + 1 for index in range(options.streams)]
    allowed = connection.peer[MAX_CONCURRENT_STREAMS]
    hashes, owed, wrong, right, most = {}, {}, [], 0, 0
    total = 0

    def begin():
        nonlocal most
        while waiting and len(hashes) < allowed:
            stream = waiting.pop(0)
            connection.head(stream, path=options.path)
            hashes[stream] = hashlib.sha256()
        most = max(most, len(hashes))

    begin()
    while hashes:
        got = connection.next()
        if got is None:
            wrong.append(f"the connection ended with {len(hashes)} streams open")
            break
        if got.kind == GOAWAY:
            wrong.append(f"GOAWAY {error_name(got.payload)}, {len(waiting)} streams not begun")
            waiting.clear()
        if got.kind == SETTINGS and not got.flags & ACK:
            connection.frame(SETTINGS, ACK)
            allowed = connection.peer[MAX_CONCURRENT_STREAMS]
        if got.stream not in hashes:
            continue
        if got.kind == HEADERS:
            status = dict(connection.decode(got))[":status"]
            if status != "200":
                wrong.append(f"stream {got.stream}: {status}")
        if got.kind == DATA:
            hashes[got.stream].update(got.payload)
            total += len(got.payload)
            owed[got.stream] = owed.get(got.stream, 0) + len(got.payload)
        if got.kind == RST_STREAM:
            wrong.append(f"stream {got.stream}: {error_name(got.payload)}")
        if got.kind == RST_STREAM or got.flags & END_STREAM and got.kind in (HEADERS, DATA):
            if hashes.pop(got.stream).hexdigest() == options.sha256:
                right += 1
            elif got.kind != RST_STREAM:
                wrong.append(f"stream {got.stream}: other bytes")
            owed.pop(got.stream, None)
            begin()
        # Only when half of all windows is used up do some readers, not in order, take what has come.
        if sum(owed.values()) * 2 >= len(hashes) * options.window:
            readers = chance.sample(sorted(owed), (len(owed) + 1) // 2)
            updates = (frame(WINDOW_UPDATE, 0, each, struct.pack("!L", owed.pop(each))) for each in readers)
            connection.raw(b"".join(updates))
            connection.window(total)
            total = 0
    connection.close()
    report(right=right, wrong=wrong[:5], atOnce=most, seconds=round(time.monotonic() - start, 2))


main()
