"""Speaks TLS with a server through a proxy's tunnel.

usage: tls_client.py PROXY-PORT HOST:PORT AUTHORITY PROTOCOL,... TEXT

Sends the text, reads as many bytes back, and prints the application protocol and those bytes.
"""

import socket
import ssl
import sys

proxy, target, authority, protocols, text = sys.argv[1:6]
connection = socket.create_connection(("127.0.0.1", int(proxy)), timeout=15)
connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
answer = b""
while not answer.endswith(b"\r\n\r\n"):
    byte = connection.recv(1)
    assert byte, answer
    answer += byte
assert b" 200 " in answer, answer
context = ssl.create_default_context(cafile=authority)
if protocols:
    context.set_alpn_protocols(protocols.split(","))
secure = context.wrap_socket(connection, server_hostname=target.rsplit(":", 1)[0])
secure.sendall(text.encode())
received = b""
while len(received) < len(text.encode()):
    data = secure.recv(65536)
    assert data, received
    received += data
sys.stdout.write(f"{secure.selected_alpn_protocol()} {received.decode()}")
secure.unwrap()
