#!/usr/bin/env python3
"""How fast the console is, seen from outside: on a raw pseudo-terminal, with a real session.

    swift run -c release --package-path Tests/Benchmarks session-maker million.sluice
    pip install pyte
    Tests/Benchmarks/console.py million.sluice --sluice .build/release/sluice --maker PATH/session-maker

What it measures, each with its limit:

    start     from exec to the end of the first frame (100 ms), and to the newest row on the screen (300 ms)
    keys      from the write of a key to the last byte of the frame, 95 of 100 (16 ms), while `session-maker` adds 5,000
              exchanges a second; and what the screen's thread takes of a core meanwhile (15 %)
    filters   from Enter to the first page (60 ms) and to the end of a pass without a match (300 ms; 1.5 s where it
              looks at heads or addresses)
    memory    resident, at the highest (150 MiB)

Give it a copy of a session that matters, as `keys` adds to it. Absolute times depend on the machine and on what else it
does: look at the load first.
"""

import argparse
import fcntl
import os
import pty
import random
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

FRAME_END = b"\x1b[?2026l"


class Console:
    """A console on a pseudo-terminal, with what it shows."""

    def __init__(self, command, width=120, height=40):
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.home = tempfile.mkdtemp(prefix="sluice-console-")
        self.begun = time.perf_counter()
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            environment = dict(
                os.environ, TERM="xterm-256color", LANG="C.UTF-8",
                XDG_CONFIG_HOME=self.home + "/c", XDG_STATE_HOME=self.home + "/s",
            )
            # The size is set by the parent at once; the child waits for it.
            while struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))[0] == 0:
                pass
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        os.set_blocking(self.master, False)
        self.tail = b""

    def read(self, timeout):
        """What the console wrote next, and when it was read; empty for nothing."""
        ready, _, _ = select.select([self.master], [], [], max(0, timeout))
        if not ready:
            return b"", time.perf_counter()
        try:
            data = os.read(self.master, 1 << 16)
        except BlockingIOError:
            data = b""
        return data, time.perf_counter()

    def until(self, is_there, limit, what):
        """When the screen first shows something: the arrival of the bytes that completed it."""
        end = time.perf_counter() + limit
        while time.perf_counter() < end:
            data, now = self.read(end - time.perf_counter())
            if not data:
                continue
            self.stream.feed(data)
            if is_there(self.screen):
                return now
        sys.exit(f"waited {limit} s in vain for {what}:\n" + "\n".join(self.screen.display))

    def frame(self, limit=5):
        """When the next frame ended whose beginning had not been read yet."""
        end = time.perf_counter() + limit
        seen = b""
        while time.perf_counter() < end:
            data, now = self.read(end - time.perf_counter())
            seen += data
            if FRAME_END in seen:
                self.stream.feed(seen)
                return now
        sys.exit("no frame")

    def settle(self, seconds):
        """Reads whatever comes for some time."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            data, _ = self.read(end - time.perf_counter())
            if data:
                self.stream.feed(data)

    def press(self, keys):
        os.write(self.master, keys if isinstance(keys, bytes) else keys.encode())
        return time.perf_counter()

    def text(self):
        return "\n".join(self.screen.display)

    def thread_seconds(self):
        """Processor time of the screen's thread, and of all threads."""
        own = all_of_them = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            try:
                fields = open(f"/proc/{self.pid}/task/{task}/stat").read()
                name = fields[fields.index("(") + 1:fields.rindex(")")]
                numbers = fields[fields.rindex(")") + 2:].split()
            except FileNotFoundError:
                continue
            ticks = int(numbers[11]) + int(numbers[12])
            all_of_them += ticks
            if name == "sluice.console":
                own += ticks
        rate = os.sysconf("SC_CLK_TCK")
        return own / rate, all_of_them / rate

    def memory(self):
        """Highest and present resident memory, MiB; and how much of the latter is no file."""
        facts = dict(line.split(":", 1) for line in open(f"/proc/{self.pid}/status") if ":" in line)
        return [int(facts[name].split()[0]) / 1024 for name in ("VmHWM", "VmRSS", "RssAnon")]

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        end = time.perf_counter() + 5
        while time.perf_counter() < end:
            try:
                self.read(0.05)
            except OSError:
                pass
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
        else:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        shutil.rmtree(self.home, ignore_errors=True)


def judge(what, value, limit, unit):
    print(f"{'ok ' if value <= limit else 'OFF'} {what}: {value:.1f} {unit} (limit {limit} {unit})", flush=True)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def start(options):
    for what, command in [("console", [options.sluice, "--listen", "127.0.0.1:0"]), ("million", [options.sluice, "open", options.file])]:
        firsts, rows = [], []
        for _ in range(options.runs):
            console = Console(command)
            firsts.append((console.frame() - console.begun) * 1000)
            if what == "million":
                shown = console.until(lambda s: any(re.search(r"\b\d{6,}\b.*(GET|POST)", line) for line in s.display), 10, "rows")
                rows.append((shown - console.begun) * 1000)
            console.close()
        judge(f"start, {what}: first frame (median of {len(firsts)}, worst {max(firsts):.0f})", statistics.median(firsts), 100, "ms")
        if rows:
            judge(f"start, {what}: rows on the screen (worst {max(rows):.0f})", statistics.median(rows), 300, "ms")


def state(screen):
    """What a key changes and traffic does not: tabs, the selected row, the filter line, the pages, what was said."""
    selected = [
        (y, row[0].bg, "".join(row[x].data for x in range(60)))
        for y, row in ((y, screen.buffer[y]) for y in range(screen.lines))
        if row[2].bg not in ("default", screen.buffer[0][0].bg)
    ] + [y for y in range(screen.lines) if screen.buffer[y][screen.columns - 5].bg not in ("default", screen.buffer[0][0].bg)]
    lines = screen.display
    tabs = [line[line.index("overview") - 4:] for line in lines[:4] if "overview" in line]
    return lines[0][:40], selected, tabs, [line for line in lines[-4:] if "filter:" in line], screen.cursor.x, "follow" in lines[-2]


def keys(options):
    random.seed(1)
    console = Console([options.sluice, "open", options.file], options.width, options.height)
    console.settle(2)
    maker = subprocess.Popen(
        [options.maker, "--count", "100000000", "--rate", str(options.rate), options.file], stdout=subprocess.DEVNULL
    ) if options.rate else None
    try:
        console.settle(3)
        console.press("k")
        console.settle(1)
        # `None` is for keys whose effect is not waited for, as that of Escape, which might begin a sequence; an empty one for
        # a moment in which what was asked for comes, without which the next key would have nothing to act on.
        for name, sequence in [
            ("moves", ["k", "j", "k", "k", "\x1b[5~", "\x1b[6~"]),
            ("filter line", ["/", *"path:/v1", *"\x7f" * 8, None, "\x1b"]),
            ("detail", ["\r", "", "\x1b[C", "", "j", "j", "\x1b[C", "\x1b[D", None, "\x1b", None, "\x1b", "k"]),
            ("structure", ["\t", "", "j", "j", "k", "\t", "\t"]),
        ]:
            took, missed, silent = [], 0, False
            before = console.thread_seconds()
            begun = time.perf_counter()
            # Whole sequences, so that each begins where the one before did.
            for key in sequence * -(-options.presses // len(sequence)):
                if key == "":
                    console.settle(0.5)
                    continue
                if key is None:
                    silent = True
                    continue
                console.settle(random.uniform(0.02, 0.07))
                was = state(console.screen)
                written = console.press(key)
                if silent:
                    silent = False
                    console.settle(0.2)
                    continue
                end = written + 1
                pending = b""
                while time.perf_counter() < end:
                    data, now = console.read(end - time.perf_counter())
                    pending += data
                    # Whole frames only: looking at a part would take time in which the rest is not read.
                    if FRAME_END in pending[-60:]:
                        console.stream.feed(pending)
                        pending = b""
                        if state(console.screen) != was:
                            took.append((now - written) * 1000)
                            break
                else:
                    missed += 1
            seconds = time.perf_counter() - begun
            own, whole = (now - then for now, then in zip(console.thread_seconds(), before))
            judge(
                f"keys, {name}: 95 of {len(took)}{f', {missed} changed nothing' if missed else ''}"
                f" (median {statistics.median(took):.1f}, worst {max(took):.1f})", percentile(took, 0.95), 16, "ms",
            )
            judge(f"  screen's thread (all threads {whole / seconds * 100:.0f} %)", own / seconds * 100, 15, "% of a core")
        console.press("F")
        console.settle(1)
        before = console.thread_seconds()
        begun = time.perf_counter()
        console.settle(5)
        seconds = time.perf_counter() - begun
        own, whole = (now - then for now, then in zip(console.thread_seconds(), before))
        judge(f"following alone: screen's thread (all threads {whole / seconds * 100:.0f} %)", own / seconds * 100, 15, "% of a core")
        print("    " + "\n    ".join(console.screen.display[:4] + console.screen.display[-4:]))
        high, now, anonymous = console.memory()
        judge(f"memory, at the highest (now {now:.0f}, {anonymous:.0f} of it no file)", high, 150, "MiB")
    finally:
        if maker:
            maker.send_signal(signal.SIGKILL)
            maker.wait()
        console.close()


FILTERS = [
    ("status:500", True), ("host:api.example.com", True), ("method:POST path:/v1/*", True), ("users", True), ("status:>=400", True),
    ("host:nowhere.example", False), ("method:DELETE status:999", False), ("path:/never/there", False),
    ("method:POST path:/never", False), ("never-there", False), ("status:999", False), ("time:>3600000", False),
    ("type:application/x-never", False), ("size:>9000000000", False), ("resheader:x-never", False),
    ('header:"server: apache"', False), ("ip:192.0.2.1", False),
]


def filters(options):
    console = Console([options.sluice, "open", options.file])
    console.settle(2)
    for text, matches in FILTERS:
        if options.filter and options.filter not in text:
            continue
        console.press("\\")
        console.settle(0.5)
        console.press("/")
        console.settle(0.2)
        # Pasted, so that no other filter is asked on the way.
        written = console.press(b"\x1b[200~" + text.encode() + b"\x1b[201~")
        def counted(screen):
            for line in screen.display:
                found = re.search(r"(\d+) of (\d{6,})", line)
                if found:
                    return int(found.group(1))
            return None
        if matches:
            console.press("\r")
            shown = console.until(lambda s: (counted(s) or 0) >= 50 and counted(s) < 900_000, 60, text)
            judge(f"filter {text}: first page", (shown - written) * 1000, 60, "ms")
            console.press("\x07")
        else:
            console.press("\r")
            shown = console.until(lambda s: "excludes" in console.text() or "No exchange" in console.text(), 300, text)
            limit = 1500 if ":" in text and text.split(":")[0] in ("header", "reqheader", "resheader", "ip", "client") else 300
            judge(f"filter {text}: a pass without a match", (shown - written) * 1000, limit, "ms")
    high, now, anonymous = console.memory()
    judge(f"memory, at the highest (now {now:.0f}, {anonymous:.0f} of it no file)", high, 150, "MiB")
    console.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="a session, for example of a million exchanges")
    parser.add_argument("--sluice", default=".build/release/sluice")
    parser.add_argument("--maker", default="Tests/Benchmarks/.build/release/session-maker")
    parser.add_argument("--only", choices=["start", "keys", "filters"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--presses", type=int, default=120)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--filter", help="only filters with this text")
    parser.add_argument("--width", type=int, default=120)
    parser.add_argument("--height", type=int, default=40)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    # From the disk for the first time, everything is as slow as the disk.
    with open(options.file, "rb") as file:
        while file.read(1 << 24):
            pass
    for name, measure in [("start", start), ("filters", filters), ("keys", keys)]:
        if options.only in (None, name):
            measure(options)


if __name__ == "__main__":
    main()
