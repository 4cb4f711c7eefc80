"""Opens a tunnel, begins TLS only when it is sent SIGUSR1, and says when, and whether, that was agreed.

usage: late_hello.py HOST:PORT --proxy PORT --ca FILE [--asks PATH]

With --asks it begins TLS at once, without ALPN, and asks for the path when it is sent the signal.
"""

import signal
import ssl

from h2_wire import Way

parser = Way.arguments(__doc__.split("\n")[0])
parser.add_argument("--asks", help="the path to ask for")
options = parser.parse_args()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
connection = Way(options.target, options.proxy).dial()
context = ssl.create_default_context(cafile=options.ca)
if options.asks:
    secure = context.wrap_socket(connection, server_hostname="localhost")
    signal.sigwait([signal.SIGUSR1])
    secure.sendall(f"GET {options.asks} HTTP/1.1\r\nHost: {options.target}\r\n\r\n".encode())
    print(secure.recv(65536).decode("latin-1"), flush=True)
    raise SystemExit
signal.sigwait([signal.SIGUSR1])
context.set_alpn_protocols(["h2", "http/1.1"])
secure = context.wrap_socket(connection, server_hostname="localhost")
print("agreed", secure.selected_alpn_protocol(), flush=True)
