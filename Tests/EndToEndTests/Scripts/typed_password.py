"""Runs a command on a terminal of its own, types a password whenever it asks for one, and stops it once it listens.

usage: typed_password.py PASSWORD COMMAND [ARGUMENT...]

Prints what the terminal showed; the exit code is 0 where the command listened.
"""

import os
import pty
import select
import signal
import sys

password, command = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)

shown = b""
typed = 0
listened = False
while select.select([terminal], [], [], 60)[0]:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    shown += data
    if shown.count(b"Password of ") > typed and shown.endswith(b": "):
        typed += 1
        # A key that was wrong is taken back.
        os.write(terminal, b"x\x7f" + password.encode() + b"\r")
    if not listened and b"listening on" in shown:
        listened = True
        os.kill(child, signal.SIGTERM)
os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
sys.exit(0 if listened else 1)
