"""Opens a tunnel, begins TLS only when it is sent SIGUSR1, and says when, and whether, that was agreed.

usage: late_hello.py HOST:PORT --proxy PORT --ca FILE
"""

import signal
import ssl

from h2_wire import Way

options = Way.arguments(__doc__.split("\n")[0]).parse_args()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
connection = Way(options.target, options.proxy).dial()
signal.sigwait([signal.SIGUSR1])
context = ssl.create_default_context(cafile=options.ca)
context.set_alpn_protocols(["h2", "http/1.1"])
secure = context.wrap_socket(connection, server_hostname="localhost")
print("agreed", secure.selected_alpn_protocol(), flush=True)
