"""A headless Chromium, driven over its DevTools protocol (https://chromedevtools.github.io/devtools-protocol/).

Keeps every event, so that a story can ask afterwards what the page asked of the network, logged or opened.
"""

import base64
import json
import os
import re
import select
import shutil
import subprocess
import time

from websockets.sync.client import connect


class Browser:
    def __init__(self, directory):
        program = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
        if program is None:
            raise SystemExit("there is no chromium; apt-get install chromium")
        self.process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
                f"--user-data-dir={directory}/browser", "about:blank",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, HOME=directory),
        )
        self.socket, self.events, self.number, self.session = None, [], 0, None
        try:
            self.socket = connect(self.address(), max_size=None, proxy=None)
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
                self.call(domain + ".enable")
        except BaseException:
            self.close()
            raise

    def address(self, seconds=60):
        """The address that it prints once it listens."""
        end, said = time.monotonic() + seconds, b""
        while time.monotonic() < end and self.process.poll() is None:
            if select.select([self.process.stderr], [], [], 0.5)[0]:
                said += os.read(self.process.stderr.fileno(), 65536)
                if found := re.search(rb"DevTools listening on (ws://\S+)\n", said):
                    return found.group(1).decode()
        raise SystemExit(f"the browser does not start: {said.decode(errors='replace')[-2000:]}")

    def call(self, method, /, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("id") == number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)
                if answer["method"] == "Page.javascriptDialogOpening":
                    self.number += 1
                    self.socket.send(json.dumps({
                        "id": self.number, "method": "Page.handleJavaScriptDialog", "params": {"accept": False},
                        "sessionId": self.session,
                    }))

    def open(self, url):
        """Loads a page. Returns how long that took, in seconds."""
        begun, before = time.monotonic(), len(self.events)
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events[before:]):
            if time.monotonic() > begun + 60:
                raise SystemExit(f"{url} does not load")
            self.run("1")
        return time.monotonic() - begun

    def run(self, expression):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression[:200]}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "End": 35, "Home": 36, "PageDown": 34}

    def press(self, key, shift=False):
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        code = {"windowsVirtualKeyCode": self.CODES[key]} if key in self.CODES else {}
        event = dict(key=key, code=key if len(key) > 1 else "", modifiers=8 if shift else 0, **code)
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        for sign in text:
            self.press(sign)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.settle()

    def prefer(self, **features):
        """Sets media features, such as color_scheme='dark'."""
        listed = [{"name": "prefers-" + name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=listed)
        self.settle()

    def screenshot(self, path):
        self.settle()
        picture = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as file:
            file.write(picture)
        return picture

    def close(self):
        if self.socket:
            try:
                self.session = None
                self.call("Browser.close")
            except Exception:
                pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
