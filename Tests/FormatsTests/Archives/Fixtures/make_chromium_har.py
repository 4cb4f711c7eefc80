"""Makes a HAR of the traffic of a real Chromium, as Playwright records it over the DevTools protocol.

usage: make_chromium_har.py CHROMIUM OUT.har     (with the package playwright; its own browsers are not needed)

The page and its requests are those of har_origin.py.
"""

import sys

from har_origin import serve
from playwright.sync_api import sync_playwright

chromium, output = sys.argv[1:3]
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    context = browser.new_context(record_har_path=output)
    tab = context.new_page()
    tab.goto(serve("chromium"))
    tab.wait_for_function("document.title == 'done'")
    context.close()
    browser.close()
