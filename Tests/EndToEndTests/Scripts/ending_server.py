"""Answers each request with a body that ends with the connection, and ends that as the path says.

usage: ending_server.py [--certificate FILE --key FILE]

/end says close_notify where there is TLS, /no-notify just closes, /reset resets. Prints its port.
"""
import argparse
import socket
import ssl
import struct
import threading

parser = argparse.ArgumentParser()
parser.add_argument("--certificate")
parser.add_argument("--key")
options = parser.parse_args()
context = None
if options.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)


def serve(connection):
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        head = b""
        while b"\r\n\r\n" not in head:
            data = connection.recv(65536)
            if not data:
                return
            head += data
        end = head.split(b" ")[1]
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"body" * 25_000)
        if end == b"/reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif end == b"/end" and context:
            connection = connection.unwrap()
    except OSError:
        pass
    finally:
        connection.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
print(listener.getsockname()[1], flush=True)
while True:
    peer, _ = listener.accept()
    threading.Thread(target=serve, args=(peer,), daemon=True).start()
