"""Bodies that are thousands of times as large when unpacked: on their way through a rule, and in what is read from the
session afterwards; for faults.py.
"""

import base64
import zlib

from fault_proxy import *

SIZE = 200 << 20
# What each process may have at the most: much less than a body unpacked.
MOST_KIB = 176 << 10

# What a client of HTTP/2 takes that never opens its window.
WINDOW = 16 << 10

# As many zeros as a brotli of the system's library packs.
BROTLI = base64.b64decode(
    "y///PwAkAOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRhAeje//H//w8A"
    "CYA4LADd+z/+//8BIAEQhwWge//H//8/ACQA4rAAdO//+P//B4AEQBwWgO79H////wCQAIjDAtC9/+P//x8AEgBxWAC693/8//8DQAIgDgtA"
    "9/6P//9/AEgAxGEB6N7/8f//DwAJgDgsAN37P/7//wEgARCHBaB7/8f//z8AJADisAB07//4//8HgARAHBaA7v0f////AJAAiMMC0L3/4///"
    "HwASAHFYALr3f/z//wNAAiAOC0D3/o///38ASADEYQHo3v/x//8PAAmAOCwA3fs//v//ASABEIcFoHv/l///fwAkAOKwAHTv/wA="
)

REWRITE = """version: 1
rewrite:
  - name: bombs
    at: "*/raw/*"
    rules:
      - { modify: body, on: response, match: "x", to: "y" }
"""


def zstandard(size):
    """A frame of blocks that repeat one byte, with a window of 8 MiB (RFC 8878 §3.1.1)."""
    block, frame = 128 << 10, b"\x28\xb5\x2f\xfd\x00\x68"
    for place in range(0, size, block):
        is_last = place + block >= size
        frame += (min(block, size - place) << 3 | 1 << 1 | is_last).to_bytes(3, "little") + b"\0"
    return frame


def deflate(size):
    packed = zlib.compressobj(9)
    return packed.compress(bytes(size)) + packed.flush()


def bodies():
    """By name: the content coding, and a body."""
    once, gzip = deflate(SIZE), zlib.compressobj(9, wbits=31)
    return {
        "br": ("br", BROTLI), "zstd": ("zstd", zstandard(SIZE)), "deflate": ("deflate", once),
        "gzip": ("gzip", gzip.compress(bytes(SIZE)) + gzip.flush()), "nested": ("deflate, deflate", zlib.compress(once, 9)),
    }


def bombs(proxy, servers):
    """Answers that are small as they come: the client gets them as they are, and reading them takes little memory."""
    packed = bodies()
    for name, (coding, body) in packed.items():
        RAW[name] = OK + b"Content-Type: text/plain\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (
            coding.encode(), len(body)
        ) + body
    for server in servers:
        client = HTTP2Client(proxy, server) if server.protocol == "h2" else None
        for name, (coding, body) in packed.items():
            path = f"/raw/{name}/notify"
            if client and len(body) > WINDOW:
                continue
            seen = client.ask(path) if client else proxy.ask(server, path)
            row = next(iter(proxy.settle(f"port = {server.port} AND path = '{path}'", 1)), None)
            title = f"{server.protocol} {path}"
            if row is None or row["state"] != COMPLETE or row["failure"]:
                wrong(f"{title}: is recorded as {row and (row['state'], told(row))}")
            elif seen.status != 200 or not seen.is_whole or seen.body != body:
                wrong(f"{title}: the client saw {len(seen.body)} of {len(body)} bytes: {seen}")
            elif stored_body(row) != body:
                wrong(f"{title}: {len(stored_body(row))} of {len(body)} bytes are recorded")
            elif "stopped at the limit" not in (row["trace"] or "") or "passed unmodified" not in row["trace"]:
                wrong(f"{title}: the trace does not say why the rule did nothing: {row['trace']}")
        if client:
            client.close()
    if proxy.memory("VmHWM") > MOST_KIB:
        wrong(f"the proxy had {proxy.memory('VmHWM')} KiB for bodies that expand")
    read(proxy)


def read(proxy):
    """Everything that unpacks recorded bodies."""
    numbers = [str(row["id"]) for row in proxy.rows("path LIKE '/raw/%'")]
    for number in numbers[:5]:
        _, text = tool("show", proxy.session, number)
        if "Only the first 65.5 KB of the body are shown" not in text:
            wrong(f"show does not say that there is more: {text}")
        size, _ = tool("show", proxy.session, number, "--body", "response")
        if size != SIZE:
            wrong(f"show --body prints {size} of {SIZE} bytes")
    for words in ('body:"xyz"', "body:/x+y/"):
        tool("list", proxy.session, words)
    # HAR and JSON would have gigabytes of it.
    tool("export", proxy.session, "--secrets", "--format", "html", "-o", f"{directory}/bombs.html")


def tool(*arguments):
    """Runs a command within the memory that it may have; how much it printed, and the beginning of that."""
    process = subprocess.Popen(
        [sluice, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    count, first = 0, b""
    while piece := process.stdout.read(1 << 20):
        count, first = count + len(piece), first or piece
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # Linux counts KiB, macOS bytes.
    memory = usage.ru_maxrss if sys.platform == "linux" else usage.ru_maxrss >> 10
    passed(f"{' '.join(arguments[:2])} {arguments[-1]}: {process.returncode}, {count} bytes, {memory} KiB, {usage.ru_utime:.1f} s")
    if process.returncode or memory > MOST_KIB:
        wrong(f"sluice {' '.join(arguments)} had {memory} KiB and ended with {process.returncode}: {first[-200:]}")
    return count, first.decode(errors="replace")
