"""Ends TLS on a free port of this machine and passes the bytes on to another port.

usage: tls_relay.py CERTIFICATE KEY PORT PROTOCOL,...

Prints its port on standard output, and on standard error one line for each handshake:
server name, "resumed" or "full", application protocol.
"""

import os
import socket
import ssl
import sys
import threading

certificate, key, target, protocols = sys.argv[1:5]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
if protocols:
    context.set_alpn_protocols(protocols.split(","))


def note_name(connection, name, _context):
    connection.asked_name = name


context.sni_callback = note_name


def pump_in(secure, plain):
    """From TLS to the origin."""
    try:
        while data := secure.recv(65536):
            plain.sendall(data)
        plain.shutdown(socket.SHUT_WR)
    except OSError:
        plain.close()


def relay(connection):
    try:
        secure = context.wrap_socket(connection, server_side=True)
    except OSError as error:
        os.write(2, f"failed {error}\n".encode())
        return
    name = getattr(secure, "asked_name", None)
    resumed = "resumed" if secure.session_reused else "full"
    os.write(2, f"{name} {resumed} {secure.selected_alpn_protocol()}\n".encode())
    plain = socket.create_connection(("127.0.0.1", int(target)))
    threading.Thread(target=pump_in, args=(secure, plain), daemon=True).start()
    try:
        while data := plain.recv(65536):
            secure.sendall(data)
        secure.unwrap()
    except OSError:
        pass
    secure.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
print(listener.getsockname()[1], flush=True)
while True:
    peer, _ = listener.accept()
    threading.Thread(target=relay, args=(peer,), daemon=True).start()
