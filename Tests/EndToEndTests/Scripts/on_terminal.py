"""Runs a command on a terminal of its own, with nobody at the keys, and prints what the terminal showed.

usage: on_terminal.py COMMAND [ARGUMENT...]

The exit code is the command's; one that waits for a key is ended after a minute, and fails.
"""

import os
import pty
import select
import signal
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])

shown = b""
while True:
    if not select.select([terminal], [], [], 60)[0]:
        os.kill(child, signal.SIGKILL)
        break
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    shown += data
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
