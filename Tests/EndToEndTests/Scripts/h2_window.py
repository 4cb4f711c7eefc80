"""Downloads over several streams at once, and opens the connection's window only when all wait for it.

usage: h2_window.py HOST:PORT [--proxy PORT] [--ca FILE] [--straight] --path PATH --size N [--streams N]

Prints one line of JSON: the bytes that came before the window was opened, and those that came in all.
"""

from h2_wire import *

WINDOW = 65_535


def main():
    parser = Way.arguments(__doc__.split("\n")[0])
    parser.add_argument("--path", required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--streams", type=int, default=10)
    options = parser.parse_args()
    connection = Connection(Way.of(options), {INITIAL_WINDOW_SIZE: 1 << 20, ENABLE_PUSH: 0}, timeout=20)
    for index in range(options.streams):
        connection.head(2 * index + 1, path=options.path)
    come, heads = 0, 0

    def take():
        nonlocal come, heads
        got = connection.next()
        if got is None or got.kind in (RST_STREAM, GOAWAY):
            raise SystemExit(f"the download failed: {got and error_name(got.payload)}")
        if got.kind == SETTINGS and not got.flags & ACK:
            connection.frame(SETTINGS, ACK)
        come += len(got.payload) if got.kind == DATA else 0
        heads += got.kind == HEADERS
        return got

    while come < WINDOW or heads < options.streams:
        take()
    # Each answer gives the proxy time to take in what the server still sends.
    for number in range(300):
        connection.frame(PING, 0, 0, number.to_bytes(8, "big"))
        while take().kind != PING:
            pass
    before = come
    connection.window(1 << 30)
    while come < options.size * options.streams:
        take()
    report(before=before, come=come)


main()
