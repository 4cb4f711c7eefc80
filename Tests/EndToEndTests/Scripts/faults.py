"""Faults of servers and clients, one at each byte: what each exchange shows, and that no other one is harmed.

usage: faults.py SLUICE DIRECTORY CERTIFICATE KEY ROOT [servers | clients | bombs] [all]

`all` cuts answers over TLS in their heads, too.
Prints a line for each thing that is wrong; nothing where all is right.
"""

import time

from fault_bombs import REWRITE, bombs
from fault_clients import clients_go, clients_go_http2, clients_go_in_handshakes, clients_go_while
from fault_proxy import Proxy, Server, Siblings, check_descriptors, chosen, passed, server_context
from fault_servers import halves_close, servers_are_wrong, servers_end, servers_end_http2, servers_stall
from sluice_story import end

HOLDS = """version: 1
breakpoints:
  - { at: "*/length/held/*", on: request }
  - { at: "*/length/heldanswer/*", on: response }
throttle: { only: [ "*/length/slow/*" ], latency: 20000 }
"""


def run(part, steps, siblings, *options, profile=None):
    """Runs the steps of a part, each with its servers, beside exchanges that must not notice."""
    proxy = Proxy(part, *options, profile=profile)
    plain, secure = steps[0][1][:2]
    for server in (plain, secure):
        proxy.ask(server, "/ok")
    siblings = Siblings(proxy, siblings)
    time.sleep(0.5)
    before, memory = proxy.descriptors(), proxy.memory()
    for step, servers in steps:
        step(proxy, servers)
        name = step.__name__.replace("_", " ")
        check_descriptors(proxy, before, name)
        passed(name)
    siblings.end(part)
    check_descriptors(proxy, before, part)
    passed(f"memory {memory} KiB before, {proxy.memory()} KiB now")
    proxy.stop()


def main():
    plain, secure = Server(), Server(server_context("http/1.1"))
    victim = Server(server_context("h2"), "h2")
    both, siblings = [plain, secure], [Server(), Server(server_context("http/1.1")), Server(server_context("h2"), "h2")]
    parts = {
        "servers": ([
            (servers_end, both), (halves_close, both), (servers_end_http2, victim), (servers_are_wrong, both),
        ], siblings),
        "clients": ([
            (servers_stall, both), (clients_go, plain), (clients_go_while, both), (clients_go_in_handshakes, secure),
            (clients_go_http2, victim),
        ], siblings, "--idle-timeout", "2"),
        "bombs": ([(bombs, [plain, secure, victim])], siblings),
    }
    profiles = {"clients": HOLDS, "bombs": REWRITE}
    for part, (steps, *rest) in parts.items():
        if part in chosen or not parts.keys() & chosen:
            run(part, steps, *rest, profile=profiles.get(part))


main()
end()
