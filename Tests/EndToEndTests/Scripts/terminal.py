"""A command on a terminal of its own, for the other scripts."""

import os
import pty
import select


def start(command):
    """Starts a command; returns its process and the terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    return child, terminal


def pieces(terminal, seconds=60):
    """What the terminal shows, until the command has closed it. Raises TimeoutError where it is silent for too long."""
    while select.select([terminal], [], [], seconds)[0]:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            return
        if not data:
            return
        yield data
    raise TimeoutError(f"the terminal was silent for {seconds} s")
