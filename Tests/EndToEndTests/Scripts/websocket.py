"""WebSocket peers by the `websockets` package.

usage: websocket.py serve [--certificate FILE --key FILE]
       websocket.py STORY URL [--proxy PORT] [--ca FILE] [--count N]

The server sends back what it gets, or for /close/CODE closes with that code. Prints its port, then a line of JSON for
each connection: the extensions and the subprotocol agreed. A story prints one line of JSON.
"""

import argparse
import asyncio
import json
import signal
import ssl

import websockets
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory, ServerPerMessageDeflateFactory


async def run_server(options):
    async def handle(socket):
        extensions = [repr(extension) for extension in socket.protocol.extensions]
        print(json.dumps({"path": socket.request.path, "extensions": extensions}), flush=True)
        if socket.request.path.startswith("/close/"):
            return await socket.close(int(socket.request.path.rsplit("/", 1)[1]), "as asked")
        try:
            async for message in socket:
                await socket.send(message)
        except websockets.ConnectionClosed:
            pass

    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
        # A server of WebSockets that speaks HTTP/1.1 only, and says so.
        context.set_alpn_protocols(["http/1.1"])
    async with serve(
        handle, "127.0.0.1", 0, ssl=context, max_size=None, compression=None,
        select_subprotocol=lambda _, offered: offered[0] if offered else None,
        extensions=[ServerPerMessageDeflateFactory()],
    ) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.wait_closed()


def client(options, **settings):
    context = ssl.create_default_context(cafile=options.ca) if options.ca else None
    return connect(
        options.url, ssl=context, proxy=f"http://127.0.0.1:{options.proxy}" if options.proxy else None, max_size=None,
        **{"compression": None, **settings},
    )


async def kinds(options):
    """Text, binary, fragments, a ping with its pong, and the end."""
    async with client(options, subprotocols=["echo"]) as socket:
        await socket.send("text: \u00e4\u20ac")
        text = await socket.recv()
        await socket.send(bytes(range(256)))
        binary = await socket.recv()
        await socket.send(["frag", "men", "ted"])
        fragmented = await socket.recv()
        await (await socket.ping(b"are you there"))
        await socket.send("")
        empty = await socket.recv()
        await socket.send(b"\x07" * 200_000)
        large = len(await socket.recv())
        await socket.close(4001, "enough")
    return {
        "text": text, "binary": binary == bytes(range(256)), "fragmented": fragmented, "empty": empty, "large": large,
        "code": socket.close_code, "subprotocol": socket.subprotocol,
    }


async def closed(options):
    """A close that comes from the server."""
    async with client(options) as socket:
        await socket.wait_closed()
    return {"code": socket.close_code, "reason": socket.close_reason}


async def deflate(options, **takeover):
    factory = ClientPerMessageDeflateFactory(**takeover)
    async with client(options, extensions=[factory]) as socket:
        same = True
        for index in range(20):
            text = f"message {index} " + "all work and no play makes Jack a dull boy " * 20
            await socket.send(text)
            same = same and await socket.recv() == text
        extensions = [repr(extension) for extension in socket.protocol.extensions]
    return {"same": same, "extensions": extensions}


async def typed(options):
    """A message, and one more with each SIGUSR1."""
    more = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, more.set)
    async with client(options) as socket:
        number = 0
        while True:
            number += 1
            await socket.send(json.dumps({"number": number, "list": [1, 2, 3]}))
            await socket.recv()
            await more.wait()
            more.clear()


async def takeover(options):
    """Compressed, with the context kept from message to message."""
    return await deflate(options)


async def fresh(options):
    """Compressed, each message for itself."""
    return await deflate(options, server_no_context_takeover=True, client_no_context_takeover=True)


async def many(options):
    """As many messages as asked for, of all of which the echo is checked."""
    async with client(options) as socket:
        async def send():
            for index in range(options.count):
                await socket.send(f"message {index}")

        sending = asyncio.ensure_future(send())
        right = 0
        for index in range(options.count):
            right += await socket.recv() == f"message {index}"
        await sending
    return {"right": right}


async def parallel(options):
    """Many connections at once."""
    async def one(index):
        async with client(options) as socket:
            await socket.send(f"socket {index}")
            return await socket.recv() == f"socket {index}"

    return {"right": sum(await asyncio.gather(*(one(index) for index in range(options.count))))}


STORIES = {story.__name__: story for story in (kinds, closed, typed, takeover, fresh, many, parallel)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("story", choices=["serve", *STORIES])
    parser.add_argument("url", nargs="?")
    parser.add_argument("--proxy", type=int)
    parser.add_argument("--ca")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    options = parser.parse_args()
    if options.story == "serve":
        asyncio.run(run_server(options))
    else:
        print(json.dumps(asyncio.run(STORIES[options.story](options))))
