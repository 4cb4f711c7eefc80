"""Fetches a URL through a proxy with urllib, and posts to it with http.client.

usage: client.py PROXY-PORT URL
"""

import http.client
import sys
import urllib.parse
import urllib.request

proxy, url = sys.argv[1:3]
address = f"http://127.0.0.1:{proxy}"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": address, "https": address}))
with opener.open(url + "/from?python", timeout=15) as response:
    fetched = response.read().decode()

parts = urllib.parse.urlsplit(url)
if parts.scheme == "https":
    connection = http.client.HTTPSConnection("127.0.0.1", int(proxy), timeout=15)
    connection.set_tunnel(parts.hostname, parts.port)
    target = "/from"
else:
    connection = http.client.HTTPConnection("127.0.0.1", int(proxy), timeout=15)
    target = url + "/from"
# An iterator has no length, so the body is sent in chunks.
connection.request("POST", target, body=iter([b"he", b"llo"]), encode_chunked=True)
posted = connection.getresponse().read().decode()
sys.stdout.write(f"{fetched} {posted}")
