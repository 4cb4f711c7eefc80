"""What stories begin with that run the binary themselves.

Their arguments are SLUICE DIRECTORY …; they print a line for each thing that is wrong, and nothing where all is right.
"""

import os
import socket
import sys
import threading

sluice, directory, *further = sys.argv[1:]
temporary = directory + "/tmp"
os.mkdir(temporary)
# A user without settings and sessions.
environment = dict(
    os.environ, HOME=directory, XDG_CONFIG_HOME=directory + "/config", XDG_STATE_HOME=directory + "/state",
    XDG_RUNTIME_DIR=directory + "/run", TMPDIR=temporary,
)
problems = []


def wrong(text):
    problems.append(text)
    print(text, flush=True)


def end():
    sys.exit(1 if problems else 0)


def read_head(stream):
    """The bytes of a message up to its empty line; None at the end of the connection."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return None
        head += line
    return head


def listen(serve):
    """Calls `serve` with each connection to a port, on a thread of its own, and returns the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept_all():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept_all, daemon=True).start()
    return listener.getsockname()[1]
