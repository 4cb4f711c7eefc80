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


class Secure:
    """TLS on a socket for two threads. OpenSSL's connections are for one at a time: with an SSLSocket that is read from
    in one thread and written to in another, the process sooner or later aborts."""

    def __init__(self, raw):
        self.raw = raw
        self.incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.lock = threading.Lock()
        self.sending = threading.Lock()

    def flush(self):
        with self.sending:
            with self.lock:
                data = self.outgoing.read()
            if data:
                self.raw.sendall(data)

    def attempt(self, step):
        """What a step gives, reading from the socket for as long as it needs that."""
        while True:
            try:
                with self.lock:
                    result = step()
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
            except ssl.SSLError:
                self.flush()
                raise
            data = self.raw.recv(65536)
            with self.lock:
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()

    def handshake(self):
        self.attempt(self.tls.do_handshake)

    def recv(self):
        try:
            return self.attempt(lambda: self.tls.read(65536))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    def sendall(self, data):
        with self.lock:
            self.tls.write(data)
        self.flush()

    def end(self):
        """Says close_notify, and sends no more."""
        try:
            with self.lock:
                self.tls.unwrap()
        except ssl.SSLError:
            pass
        self.flush()
        self.raw.shutdown(socket.SHUT_WR)


def pump_in(secure, plain):
    """From TLS to the origin."""
    try:
        while data := secure.recv():
            plain.sendall(data)
        plain.shutdown(socket.SHUT_WR)
    except OSError:
        plain.close()


def relay(connection):
    secure = Secure(connection)
    try:
        secure.handshake()
    except OSError as error:
        os.write(2, f"failed {error}\n".encode())
        connection.close()
        return
    name = getattr(secure.tls, "asked_name", None)
    resumed = "resumed" if secure.tls.session_reused else "full"
    os.write(2, f"{name} {resumed} {secure.tls.selected_alpn_protocol()}\n".encode())
    plain = socket.create_connection(("127.0.0.1", int(target)))
    reader = threading.Thread(target=pump_in, args=(secure, plain), daemon=True)
    reader.start()
    try:
        while data := plain.recv(65536):
            secure.sendall(data)
        secure.end()
        # What comes after its close_notify is read, else the kernel would reset the connection and lose the answer.
        reader.join(60)
    except OSError:
        pass
    connection.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
print(listener.getsockname()[1], flush=True)
while True:
    peer, _ = listener.accept()
    threading.Thread(target=relay, args=(peer,), daemon=True).start()
