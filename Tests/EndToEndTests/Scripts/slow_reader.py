"""Asks for a URL through a proxy and does not read a byte of the body before a file appears.

usage: slow_reader.py PROXY-PORT URL AUTHORITY FILE

Prints how many bytes the body had.
"""

import http.client
import os
import socket
import ssl
import sys
import time
import urllib.parse

proxy, url, authority, permission = sys.argv[1:5]
parts = urllib.parse.urlsplit(url)
if parts.scheme == "https":
    context = ssl.create_default_context(cafile=authority)
    connection = http.client.HTTPSConnection("127.0.0.1", int(proxy), timeout=30, context=context)
    connection.set_tunnel(parts.hostname, parts.port)
    target = parts.path
else:
    connection = http.client.HTTPConnection("127.0.0.1", int(proxy), timeout=30)
    target = url
connection.connect()
connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
connection.request("GET", target)
response = connection.getresponse()
deadline = time.monotonic() + 60
while not os.path.exists(permission):
    assert time.monotonic() < deadline, "nobody permitted reading"
    time.sleep(0.01)
count = 0
while data := response.read(1 << 20):
    count += len(data)
sys.stdout.write(str(count))
