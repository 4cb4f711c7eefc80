"""Makes a HAR of the traffic of a real Firefox, by the export of its own developer tools ("Save All As HAR").

usage: make_firefox_har.py FIREFOX OUT.har

Marionette, Firefox's own remote protocol, opens the network panel and asks it for the HAR; no package is needed. The page and
its requests are those of har_origin.py and a POST of a multipart form.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time

from har_origin import serve

firefox, output = sys.argv[1:3]
multipart = """const form = new FormData();
  form.append("note", "Käse");
  form.append("file", new Blob([new Uint8Array([0, 128, 255])], {type: "application/octet-stream"}), "a.bin");
  await fetch("/multipart", {method: "POST", body: form});"""
preferences = {
    "marionette.port": 0,
    "devtools.netmonitor.har.includeResponseBodies": True,
    "devtools.netmonitor.responseBodyLimit": 0,
    # Nothing goes out but what the page asks for.
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
# These run in Firefox itself, not in the page.
OPEN = """
  const [url, done] = arguments;
  (async () => {
    const {require} = ChromeUtils.importESModule("resource://devtools/shared/loader/Loader.sys.mjs");
    const {gDevTools} = require("devtools/client/framework/devtools");
    const tab = window.gBrowser.selectedTab;
    window.toolbox = await gDevTools.showToolboxForTab(tab, {toolId: "netmonitor"});
    const triggeringPrincipal = Services.scriptSecurityManager.getSystemPrincipal();
    tab.linkedBrowser.fixupAndLoadURIString(url, {triggeringPrincipal});
  })().then(() => done("open"), error => done("failed: " + error));
"""
EXPORT = """
  const [done] = arguments;
  window.toolbox.getHARFromNetMonitor().then(har => done(JSON.stringify(har)), error => done("failed: " + error));
"""


class Marionette:
    """Its frames are `LENGTH:[0, ID, NAME, PARAMETERS]` and `LENGTH:[1, ID, ERROR, RESULT]`."""

    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.file = self.connection.makefile("rb")
        self.number = 0
        self.read()

    def read(self):
        digits = b""
        while (sign := self.file.read(1)) != b":":
            digits += sign
        return json.loads(self.file.read(int(digits)))

    def __call__(self, name, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, name, parameters]).encode()
        self.connection.sendall(b"%d:" % len(message) + message)
        _, _, error, result = self.read()
        if error:
            sys.exit(f"{name}: {error}")
        return result.get("value") if isinstance(result, dict) else result

    def script(self, text, *arguments):
        value = self("WebDriver:ExecuteAsyncScript", script=text, args=list(arguments))
        if value.startswith("failed"):
            sys.exit(value)
        return value


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    with open(profile + "/user.js", "w") as file:
        for name, value in preferences.items():
            file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
    arguments = ["--marionette", "--headless", "-remote-allow-system-access", "--no-remote", "--profile", profile]
    process = subprocess.Popen(
        [firefox, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=profile)
    )
    try:
        for _ in range(300):
            try:
                with open(profile + "/MarionetteActivePort") as file:
                    marionette = Marionette(int(file.read()))
                    break
            except (OSError, ValueError):
                time.sleep(0.2)
        else:
            sys.exit("Firefox did not open its port")
        marionette("WebDriver:NewSession", capabilities={})
        marionette("WebDriver:SetTimeouts", script=60_000)
        marionette("Marionette:SetContext", value="chrome")
        marionette.script(OPEN, serve("firefox", multipart))
        for _ in range(300):
            title = marionette("WebDriver:ExecuteScript", script="return window.gBrowser.selectedTab.label", args=[])
            if title == "done":
                break
            time.sleep(0.2)
        else:
            sys.exit(f"the page did not end: {title}")
        # The panel hears of a request after the page does.
        known, answers = None, []
        while known != answers or answers[-1]["status"] != 101:
            time.sleep(0.5)
            log = json.loads(marionette.script(EXPORT))
            known, answers = answers, [entry["response"] for entry in log["entries"]]
        marionette("Marionette:Quit", flags=["eForceQuit"])
    finally:
        process.kill()
        process.wait()
with open(output, "w") as file:
    json.dump({"log": log}, file, indent=1, ensure_ascii=False)
