"""The exported page in a real browser: hostile traffic recorded with nginx and curl, exported, and looked at.

usage: page.py SLUICE DIRECTORY

Prints a line for each thing that is wrong; nothing where all is right. Screenshots stay in the directory.
"""

import asyncio
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import zlib

from websockets.asyncio.client import connect as connect_socket
from websockets.asyncio.server import serve as serve_sockets

from browser import Browser

from sluice_story import directory, end, environment, sluice, wrong

session = directory + "/hostile.sluice"


def expect(what, found, wanted):
    if found != wanted:
        wrong(f"{what}: {found!r}, not {wanted!r}")


def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def write(name, content):
    path = f"{directory}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def png(width, height):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    row = b"\0" + b"".join(bytes((x * 255 // width, 90, 200)) for x in range(width))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(
        b"IDAT", zlib.compress(row * height)
    ) + chunk(b"IEND", b"")


# What a page that runs any of it would show: a dialog, a request, a global, or more elements than it should have.
attack = "window.hacked=1;alert(1);fetch('http://127.0.0.1:1/leak')"
hostile = (
    f"</script><script>{attack}</script><img src=x onerror=\"{attack}\"><!--<script>]]>'\"`${{{attack}}}"
    f"<svg onload=\"{attack}\"></svg><iframe src=\"javascript:{attack}\"></iframe></style></textarea></title>&lt;b&gt;&#60;"
    "\u2028\u2029\u202eesrever\u202c\u200b\ufeff\x01\x08\x1b[31m\x7f\x9b"
)
write("www/hostile.html", f"<!DOCTYPE html><title>{hostile}</title>{hostile}")
write("www/hostile.json", json.dumps({hostile: [hostile, 0.5, None, True], "nested": {"empty": {}, "list": []}}, ensure_ascii=False).replace("0.5", "12345678901234567890.50"))
write("www/invalid.txt", b"caf\xe9 \xff\xfe\xc3( \xed\xa0\x80 \xf4\x90\x80\x80 </script><script>" + attack.encode() + b"</script>")
write("www/binary.bin", bytes(range(256)) * 40)
write("www/picture.png", png(96, 48))
write("www/lying.png", f"<svg xmlns='http://www.w3.org/2000/svg' onload=\"{attack}\"><script>{attack}</script></svg>")
write("www/vector.svg", f"<svg xmlns='http://www.w3.org/2000/svg' onload=\"{attack}\"><script>{attack}</script></svg>")
write("www/huge.png", b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0) + b"\0" * 100)
write("www/long.txt", "A line of text that is long enough to be cut somewhere.\n" * 4000)
write("www/events.txt", "".join(f"id: {n}\nevent: tick\ndata: {{\"n\":{n},\"text\":\"</script><b>\"}}\n\n" for n in range(300)))
write("www/orders.json", json.dumps({"orders": [{"id": n, "total": n * 9.5, "state": "open"} for n in range(40)]}))
write("www/local.json", '{"from":"a file"}')

port, socket_port = unused_port(), None
write("nginx.conf", f"""
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {directory}/t1; proxy_temp_path {directory}/t2; fastcgi_temp_path {directory}/t3;
  uwsgi_temp_path {directory}/t4; scgi_temp_path {directory}/t5; charset utf-8; charset_types text/plain;
  types {{ text/html html; application/json json; text/plain txt; image/png png; image/svg+xml svg; }}
  default_type application/octet-stream; gzip on; gzip_types application/json;
  server {{
    listen 127.0.0.1:{port}; root {directory}/www;
    location = /hostile.html {{ add_header X-Hostile "</script><img src=x onerror=alert(1)>"; add_header Set-Cookie "sid=</script>; Path=/; HttpOnly"; }}
    location = /events.txt {{ default_type text/event-stream; types {{ }} }}
    location = /broken {{ return 500 "broken\\n"; }}
    location = /moved {{ return 302 /orders.json; }}
    location = /orders {{ return 201 "made\\n"; }}
  }}
}}
""")
profile = write("profile.yaml", f"""version: 1
# </script><script>{attack}</script>
rewrite:
  - name: "stamp </script><b>"
    at: [ "http://localhost:{port}/orders.json" ]
    rules:
      - {{ add: header, on: response, name: X-Stamp, to: "<img src=x onerror=alert(1)>" }}
      - {{ modify: body, on: response, match: "open", to: "closed" }}
      - {{ add: header, on: request, name: X-Asked, to: "yes" }}
map-local: [ {{ from: "http://localhost:{port}/local", to: "{directory}/www/local.json" }} ]
block: [ {{ at: "http://tracker.example/*", action: 403 }} ]
""")

nginx = subprocess.Popen(["nginx", "-c", directory + "/nginx.conf", "-e", directory + "/error.log"], stderr=subprocess.DEVNULL)
proxy = subprocess.Popen(
    [sluice, "run", "--listen", "127.0.0.1:0", "--session", session, "--profile", profile, "--quiet"], env=environment,
    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
)
browser = None


def run(*arguments, status=0):
    done = subprocess.run([sluice, *arguments], env=environment, capture_output=True)
    if done.returncode != status:
        wrong(f"{arguments} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return done


def record():
    while not (found := re.search(rb"listening on 127\.0\.0\.1:(\d+)", line := proxy.stderr.readline())):
        if not line:
            sys.exit("the proxy does not start")
    proxy_port = int(found.group(1))
    threading.Thread(target=proxy.stderr.read, daemon=True).start()
    for _ in range(200):
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
    else:
        sys.exit("nginx does not start")

    def curl(path, *more, base=f"http://localhost:{port}"):
        subprocess.run(
            ["curl", "-sS", "-g", "--path-as-is", "--max-time", "20", "--noproxy", "", "--proxy", f"http://127.0.0.1:{proxy_port}", "-o",
             "/dev/null", base + path, *more], stderr=subprocess.DEVNULL, env=environment,
        )

    curl("/orders.json", "-H", "Accept: application/json", "-H", "Authorization: Bearer a1B2c3D4e5F6g7H8i9J0", "-H", "Accept-Encoding: gzip")
    curl("/hostile.html?q=<script>alert(1)</script>&x=%3Cimg%20src=x%20onerror=alert(1)%3E&y=%e2%80%ae", "-H", "Cookie: a=1; b=<i>; theme=dark")
    curl("/hostile.json", "-H", "X-Note: </script><script>alert(1)</script>")
    curl("/invalid.txt")
    curl("/binary.bin")
    curl("/picture.png", "-H", "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    curl("/lying.png")
    curl("/vector.svg")
    curl("/huge.png")
    curl("/long.txt")
    curl("/events.txt")
    curl("/orders", "-d", "name=Ada&note=%3Cb%3E&password=topsecretword", "-H", "User-Agent: \u202egnitset")
    curl("/orders", "-F", "title=hello", "-F", f"file=@{directory}/www/picture.png;type=image/png")
    curl("/broken")
    curl("/moved")
    curl("/missing<script>.html")
    curl("/local")
    curl("/pixel.gif?a=1", base="http://tracker.example")
    curl("/", base="http://127.0.0.1:1")

    async def sockets():
        async def echo(peer):
            async for message in peer:
                await peer.send(message)

        async with serve_sockets(echo, "127.0.0.1", 0) as server:
            address = f"ws://localhost:{server.sockets[0].getsockname()[1]}/chat"
            async with connect_socket(address, proxy=f"http://127.0.0.1:{proxy_port}") as peer:
                for text in ('{"say":"</script><script>alert(1)</script>"}', "\u202ehello", b"\x00\x01\xff"):
                    await peer.send(text)
                    await peer.recv()

    asyncio.run(asyncio.wait_for(sockets(), 30))

    # Bytes of no protocol that Sluice reads.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            with listener.accept()[0] as peer:
                while data := peer.recv(1000):
                    peer.sendall(data)

        threading.Thread(target=answer, daemon=True).start()
        with socket.create_connection(("127.0.0.1", proxy_port), 20) as peer, peer.makefile("rb") as answers:
            peer.sendall(f"CONNECT localhost:{listener.getsockname()[1]} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            while answers.readline() not in (b"\r\n", b""):
                pass
            peer.sendall(b"\x00\x01\x02 no HTTP")
            answers.read(3)
    proxy.send_signal(signal.SIGINT)
    proxy.wait(30)


# What the page is asked, in the page.

SNAPSHOT = """({
  rows: document.querySelectorAll('#rows .row').length,
  count: document.getElementById('count').textContent,
  hacked: typeof window.hacked,
  scripts: Array.from(document.scripts).filter((script) => script.type !== 'application/json').length,
  frames: document.querySelectorAll('iframe, svg, object, embed, link, base, meta[http-equiv=refresh]').length,
  images: Array.from(document.images, (image) => image.src.slice(0, 22)),
  focus: document.activeElement.id || document.activeElement.textContent.slice(0, 20)
})"""

CONTRAST = """(() => {
  // Computed colours may be in any space; a canvas tells what is drawn.
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
    .getContext('2d', { willReadFrequently: true });
  const seen = new Map();
  const parse = (text) => {
    if (!seen.has(text)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = text;
      context.fillRect(0, 0, 1, 1);
      const data = context.getImageData(0, 0, 1, 1).data;
      seen.set(text, [data[0], data[1], data[2], data[3] / 255]);
    }
    return seen.get(text);
  };
  const light = (colour) => colour.slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const back = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return [255, 255, 255, 1];
  };
  const poor = [];
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('.vh, script, option')) continue;
    const style = getComputedStyle(element);
    const [front, behind] = [light(parse(style.color)), light(back(element))];
    const ratio = (Math.max(front, behind) + 0.05) / (Math.min(front, behind) + 0.05);
    count += 1;
    if (ratio < 4.5) poor.push(ratio.toFixed(2) + ' ' + element.className + ': ' + walker.currentNode.data.slice(0, 30));
  }
  return { count, poor: Array.from(new Set(poor)).slice(0, 10) };
})()"""

HEADINGS = "Array.from(document.querySelectorAll('h1, h2, h3, h4')).filter((h) => h.checkVisibility()).map((h) => Number(h.tagName[1]))"


def look_through(state, url):
    """That nothing ran, nothing was asked for, and nothing went wrong."""
    if state["hacked"] != "undefined" or state["scripts"] != 1 or state["frames"]:
        wrong(f"something of the data became part of the page: {state}")
    for image in state["images"]:
        if not image.startswith("data:image/png;base64"):
            wrong(f"the page shows {image}")
    for event in browser.events:
        name, what = event["method"], event.get("params", {})
        if name == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("data:image/png", url)):
            wrong(f"the page asked for {what['request']['url'][:200]}")
        if name in ("Page.javascriptDialogOpening", "Runtime.exceptionThrown", "Page.windowOpen"):
            wrong(f"{name}: {json.dumps(what)[:500]}")
        if name == "Log.entryAdded" or name == "Runtime.consoleAPICalled":
            wrong(f"the console says: {json.dumps(what)[:500]}")
    browser.events.clear()


def contrast(name):
    found = browser.run(CONTRAST)
    if found["poor"] or found["count"] < 20:
        wrong(f"{name}: contrast of {found['count']} texts, too low: {found['poor']}")


def nodes():
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [
        (node["role"]["value"], node.get("name", {}).get("value", ""), {p["name"]: p["value"].get("value") for p in node.get("properties", [])})
        for node in tree if not node.get("ignored") and "role" in node
    ]


def accessible(name):
    for role, label, _ in nodes():
        if role in ("button", "textbox", "searchbox", "checkbox", "combobox", "grid", "region", "dialog", "image", "link", "row", "table") and not label.strip():
            # Rows of tables are named by their cells.
            if role not in ("row", "table"):
                wrong(f"{name}: a {role} has no name")
    levels = browser.run(HEADINGS)
    if levels[:1] != [1] or any(after > before + 1 for before, after in zip(levels, levels[1:])):
        wrong(f"{name}: the headings are {levels}")


def stories():
    page = directory + "/page.html"
    url = "file://" + page
    done = run("export", session, "--format", "html", "-o", page, "--title", "Orders fail", "--note", "Since Monday.\n</script><b>")
    for text in ("masked", "2 bodies are shortened", "100 messages of streams are left out"):
        if text not in done.stderr.decode():
            wrong(f"the summary does not say {text!r}: {done.stderr.decode()}")
    expect("mode", oct(os.stat(page).st_mode & 0o777), "0o600")
    written = open(page, encoding="utf-8", newline="").read()
    if "topsecretword" in written or "a1B2c3D4e5F6g7H8i9J0" in written:
        wrong("a secret is in the page")
    if [sign for sign in "\u2028\u2029\u202e\x1b\x01\x9b" if sign in written]:
        wrong("a character that hides or ends lines is in the page as it is")
    kept = run("export", session, "--format", "html", "--secrets").stdout.decode()
    if "topsecretword" not in kept:
        wrong("--secrets does not keep them")

    browser.size(1280, 800)
    browser.prefer(color_scheme="light")
    browser.open(url)
    browser.settle()
    state = browser.run(SNAPSHOT)
    expect("count", state["count"], "21 exchanges, 4 errors")
    expect("rows", state["rows"], 21)
    expect("red rows", browser.run("document.querySelectorAll('#rows .row.wrong').length"), 4)
    for name, first in (("status", "19"), ("largest", "10"), ("recorded", "1")):
        browser.run(f"(() => {{ const order = document.getElementById('order'); order.value = '{name}'; order.dispatchEvent(new Event('change')); }})()")
        browser.settle()
        expect(f"first by {name}", browser.run("document.querySelector('#rows .c-id').textContent"), first)
    look_through(state, url)
    accessible("list")
    contrast("list, light")
    browser.screenshot(directory + "/list-light.png")
    expect("title and note", browser.run("[document.querySelector('h1').textContent, document.getElementById('note').textContent]"), ["Orders fail", "Since Monday.\n</script><b>"])
    # The first error is open beside the list, and what the server said is in sight.
    expect("opened", browser.run("document.getElementById('detail-title').textContent").split(" ")[0], "#14")
    expect("the body is in sight", browser.run("document.querySelector('#part-response pre').getBoundingClientRect().bottom < innerHeight"), True)
    failed = browser.run("Array.from(document.querySelectorAll('#failed-list li'), (line) => line.textContent)")
    if len(failed) != 4 or "by the server" not in failed[0] or "and 1 more" not in failed[3]:
        wrong(f"what failed: {failed}")
    browser.run("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } }); 1")
    browser.run("Array.from(document.querySelectorAll('.detail-head button')).find((button) => button.textContent === 'Copy as cURL').click()")
    expect("copied", browser.run("window.copied"), run("export", session, "id:14", "--format", "curl").stdout.decode().rstrip("\n"))

    # Focus goes from above to below, and the list is one stop.
    order = []
    for _ in range(9):
        browser.press("Tab")
        order.append(browser.run("document.activeElement.id || document.activeElement.className"))
    expect("focus order", order[:8], ["skip", "about-button", "keys-button", "theme", "filter", "errors", "order", "failed-title"])

    # The filter, from the keyboard.
    for words, wanted in (
        ("status:5xx", "2 of 21 exchanges, 2 errors"), ("method:POST", "2 of 21 exchanges, 0 errors"), ("host:tracker*", "1 of 21 exchanges, 1 error"),
        ("type:json -hostile", "2 of 21 exchanges, 0 errors"), ("is:websocket", "1 of 21 exchanges, 0 errors"), ("is:tunnel", "1 of 21 exchanges, 0 errors"), ("hostile", "2 of 21 exchanges, 0 errors"),
        ("is:changed -status:4xx orders.json", "1 of 21 exchanges, 0 errors"), ("status:>=400", "4 of 21 exchanges, 4 errors"), ("nothing-has-this", "0 of 21 exchanges, 0 errors"),
    ):
        browser.run("document.getElementById('list').focus()")
        browser.press("/")
        browser.type(words)
        expect(f"filter {words}", browser.run("document.getElementById('count').textContent"), wanted)
        browser.press("Escape")
    # The page finds what the product finds.
    for words in (
        "status:404,500..599", "status:0", "not status:200", "(status:500 or path:/orders) method:POST", "!host:localhost", "host:TRACKER*",
        "path:/orders", "path:/*.json", "path:/^\\/orders$/", "query:q=", "url:http://localhost:*", "scheme:ws", "method:get,post method:/^P/",
        "type:json", "type:text/*", "type:js", "size:>10kb", "size:0", "size:1..2kb", "size:<=7", "size:<7", "size:>=7", "time:>0ms", "time:<1us", "time:0..5m", "messages:>2", "id:3..5,20",
        "ip:127.0.0.1", "client:127.*", "process:curl", "process:/^cu/", "mode:regular", "version:h1", "version:h2", "since:2020-01-01", "before:2020-01-01T00:00:00Z",
        "header:x-stamp", "resheader:\"content-type: json\"", "header:server:/nginx/", "reqheader:user-agent:curl*", "header:host:local*",
        "body:broken", "body:\"12345678901234567890\"", "reqbody:ada", "resbody:/stat.s?/", "not body:state", "orders", "\"orders.json\"", "error", "!error",
        "comment:a", "colour:red", "is:local", "is:blocked", "is:changed", "is:failed", "is:connect", "is:tunnel or is:websocket", "is:imported", "is:grpc", "grpc:*", "port:80", "trace-id:4bf92f35", "trace-id:*", "trace-id:5",
    ):
        browser.run(f"(() => {{ const input = document.getElementById('filter'); input.value = {json.dumps(words)}; input.dispatchEvent(new Event('input')); }})()")
        browser.settle()
        wanted = run("list", session, words, "--json").stdout.count(b"\n")
        shown = browser.run("[document.getElementById('count').textContent, document.getElementById('problem').textContent]")
        found = int(shown[0].split(" ")[0])
        if found != wanted or shown[1].startswith("Not understood"):
            wrong(f"filter {words}: {shown}, list has {wanted}")
    for words, problem in (("since:10m", "a page knows no time of day"), ("nonsense:x", "'nonsense:' is not a filter word"), ("graphql:Add", "a page cannot know graphql:"), ("(a", "parenthesis"), ("is:nothing", "is: cannot be nothing"), ("time>1s", "a colon is missing after time")):
        browser.run(f"(() => {{ const input = document.getElementById('filter'); input.value = {json.dumps(words)}; input.dispatchEvent(new Event('input')); }})()")
        browser.settle()
        if problem not in browser.run("document.getElementById('problem').textContent"):
            wrong(f"filter {words} is not refused with {problem!r}")
    browser.run("document.getElementById('filter').focus()")
    browser.press("Escape")
    browser.press("Escape")
    browser.press("Escape")
    browser.press("e")
    expect("errors only", browser.run("document.getElementById('count').textContent"), "4 of 21 exchanges, 4 errors")
    browser.press("e")
    expect("all again", browser.run("document.getElementById('count').textContent"), "21 exchanges, 4 errors")

    # The list, from the keyboard: selection, opening, closing, help.
    browser.run("document.getElementById('list').focus()")
    browser.press("Home")
    browser.press("ArrowDown")
    browser.press("j")
    browser.press("k")
    expect("selected", browser.run("document.getElementById('list').getAttribute('aria-activedescendant')"), "row-2")
    selected = [label for role, label, more in nodes() if role == "row" and more.get("selected")]
    if len(selected) != 1 or "hostile.html" not in selected[0]:
        wrong(f"selected for a screen reader is {selected}")
    browser.press("Enter")
    expect("focus after opening", browser.run("document.activeElement.id"), "detail-title")
    expect("link", browser.run("location.hash"), "#2")
    accessible("details")
    contrast("details, light")
    browser.screenshot(directory + "/details-light.png")
    browser.press("Escape")
    expect("focus after closing", browser.run("document.activeElement.id"), "list")
    browser.press("?")
    expect("help", browser.run("document.getElementById('keys').open"), True)
    accessible("keys")
    contrast("keys")
    browser.press("Escape")
    browser.press("i")
    accessible("about")
    about = browser.run("document.getElementById('about-content').textContent")
    for text in ("Sluice 0.2.0", "hostile.sluice", "stamp </script><b>", "sluice-token-1", "profile.yaml"):
        if text not in about:
            wrong(f"the environment does not say {text}")
    contrast("about")
    browser.screenshot(directory + "/about-light.png")
    browser.press("Escape")

    # Every exchange, opened: all reads, and nothing runs.
    wanted = {
        1: ["res.header.x-stamp", "<img src=x onerror=alert(1)>", "closed", "stamp </script><b>", "Response, as received and as sent", "sluice-token-1", "Waiting for the answer", ", made for this exchange"],
        2: ["</script><script>", "<script>alert(1)</script>", "U+202E", "U+2028", "U+001B", "theme", "HttpOnly"],
        3: ["12345678901234567890.50", "nested"], 5: ["000000  00 01 02"], 7: ["<svg"], 8: ["<svg"], 9: ["PNG"],
        10: ["Cut: the page has the first 65.5 KB"], 11: ["100 more messages left out", "tick", "</script><b>"],
        12: ["name", "Ada", "sluice-password-1", "U+202E"], 13: ["file picture.png, image/png"], 14: ["500", "broken"],
        17: ["a file", "map-local"], 18: ["403", "blocked by a rule", "block"], 19: ["connect", "What to try"], 20: ["WebSocket", "client", "00 01 ff", "U+202E"],
        21: ["tunnel: the bytes passed through unread", "CONNECT", "Connections"],
    }
    for number in range(1, 22):
        browser.run(f"location.hash = '#{number}'; 1")
        browser.settle()
        shown = browser.run("document.getElementById('details').textContent")
        for text in wanted.get(number, []):
            if text not in shown:
                wrong(f"exchange {number} does not show {text!r}")
        state = browser.run(SNAPSHOT)
        expect(f"images of {number}", len(state["images"]), 1 if number == 6 else 0)
        look_through(state, url)
        if number in (1, 6, 11, 19, 20, 21):
            accessible(f"exchange {number}")
            contrast(f"exchange {number}, light")
            browser.screenshot(f"{directory}/exchange-{number}.png")
    browser.run("location.hash = '#6'; 1")
    browser.settle()
    expect("the picture", browser.run("document.images[0].decode().then(() => document.images[0].naturalWidth)"), 96)

    # Dark, by the system's preference and by the switch; narrow; without motion.
    for name, width in (("dark", 1280), ("narrow", 600), ("phone", 390)):
        browser.size(width, 800)
        browser.prefer(color_scheme="dark" if name == "dark" else "light", reduced_motion="reduce")
        browser.run("location.hash = '#1'; 1")
        browser.settle()
        contrast(f"details, {name}")
        browser.screenshot(f"{directory}/details-{name}.png")
        expect(f"{name}: wider than the screen", browser.run("document.documentElement.scrollWidth"), width)
        browser.run("document.getElementById('detail-title').focus(); 1")
        browser.press("Escape")
        contrast(f"list, {name}")
        browser.screenshot(f"{directory}/list-{name}.png")
    expect("the path on a phone", browser.run("document.querySelector('#rows .c-path').getBoundingClientRect().width") > 330, True)
    expect("motion", browser.run("getComputedStyle(document.getElementById('details')).scrollBehavior"), "auto")
    browser.size(1280, 800)
    before = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.run("document.getElementById('theme').click()")
    expect("the switch", browser.run("document.getElementById('theme').getAttribute('aria-pressed')"), "true")
    if browser.run("getComputedStyle(document.body).backgroundColor") == before:
        wrong("the switch changes nothing")
    contrast("dark by the switch")

    # A link to an exchange, and a page of ten thousand.
    browser.open("about:blank")
    browser.events.clear()
    browser.open(url + "#14")
    expect("linked", browser.run("document.getElementById('detail-title').textContent").split(" ")[0], "#14")
    elements = re.findall(r'(<script type="application/json" class="x">\{"id":)\d+(.*?</script>\n)', written, re.S)
    small = [element for element in elements if len(element[1]) < 20000]
    many = "".join(f"{small[n % len(small)][0]}{n + 1}{small[n % len(small)][1]}" for n in range(10_000))
    first = written.index('<script type="application/json" class="x">')
    last = written.index('<script type="application/json" id="totals">')
    large = write("large.html", written[:first] + many + written[last:])
    browser.open("about:blank")
    browser.events.clear()
    took = browser.open("file://" + large)
    if took > 15:
        wrong(f"a page of 10,000 exchanges opens in {took:.1f} s")
    expect("rows of 10,000 that exist", browser.run("document.querySelectorAll('#rows .row').length") < 80, True)
    frames = browser.run("""(async () => {
      const list = document.getElementById('list');
      let slowest = 0;
      for (let step = 0; step < 60; step += 1) {
        const begun = performance.now();
        list.scrollTop = step * 4000;
        await new Promise((done) => requestAnimationFrame(done));
        slowest = Math.max(slowest, performance.now() - begun);
      }
      return [slowest, document.querySelectorAll('#rows .row').length];
    })()""")
    if frames[0] > 1000 or frames[1] > 80:
        wrong(f"scrolling 10,000 exchanges takes {frames[0]:.0f} ms for a frame, with {frames[1]} rows")
    begun = browser.run("performance.now()")
    browser.press("/")
    browser.type("orders")
    filtering = browser.run("performance.now()") - begun
    if filtering > 5000:
        wrong(f"filtering 10,000 exchanges takes {filtering:.0f} ms")
    print(f"10,000 exchanges, {len(many) / 1e6:.0f} MB: opened in {took:.2f} s, slowest frame {frames[0]:.0f} ms, six letters filtered in {filtering:.0f} ms", file=sys.stderr)
    look_through(browser.run(SNAPSHOT), "file://" + large)


try:
    record()
    browser = Browser(directory)
    stories()
finally:
    if browser:
        browser.close()
    for process in (proxy, nginx):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
end()
