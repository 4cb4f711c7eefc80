"""Runs a command on a terminal of its own, types a password whenever it asks for one, and stops it once it listens.

usage: typed_password.py PASSWORD COMMAND [ARGUMENT...]

Prints what the terminal showed; the exit code is 0 where the command listened.
"""

import os
import signal
import sys

from terminal import pieces, start

password, command = sys.argv[1], sys.argv[2:]
child, terminal = start(command)
shown = b""
typed = 0
listened = False
try:
    for data in pieces(terminal):
        shown += data
        if shown.count(b"Password of ") > typed and shown.endswith(b": "):
            typed += 1
            # A key that was wrong is taken back.
            os.write(terminal, b"x\x7f" + password.encode() + b"\r")
        if not listened and b"listening on" in shown:
            listened = True
            os.kill(child, signal.SIGTERM)
except TimeoutError:
    pass
os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
sys.exit(0 if listened else 1)
