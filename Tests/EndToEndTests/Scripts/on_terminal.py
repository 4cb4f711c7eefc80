"""Runs a command on a terminal of its own, with nobody at the keys, and prints what the terminal showed.

usage: on_terminal.py COMMAND [ARGUMENT...]

The exit code is the command's; one that waits for a key is ended after a minute, and fails.
"""

import os
import signal
import sys

from terminal import pieces, start

child, terminal = start(sys.argv[1:])
shown = b""
try:
    for data in pieces(terminal):
        shown += data
except TimeoutError:
    os.kill(child, signal.SIGKILL)
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
