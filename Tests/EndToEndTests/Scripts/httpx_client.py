"""What Python programs do with httpx over HTTP/2: requests at once, uploads and downloads in pieces.

usage: httpx_client.py HOST:PORT [--proxy PORT] [--ca FILE]

The server is h2_server.py. Prints one line of JSON.
"""

import asyncio
import hashlib
import json
import random
import ssl

import httpx

from h2_wire import Way

options = Way.arguments(__doc__.split("\n")[0]).parse_args()
base = f"{'https' if options.ca else 'http'}://{options.target}"


async def main():
    context = ssl.create_default_context(cafile=options.ca)
    proxy = f"http://127.0.0.1:{options.proxy}" if options.proxy else None
    result = {}
    async with httpx.AsyncClient(http2=True, verify=context, proxy=proxy, timeout=30, trust_env=False) as client:
        first = await client.get(f"{base}/hello")
        result["hello"] = [first.http_version, first.text]
        answers = await asyncio.gather(*(client.post(f"{base}/echo", content=f"body {index}") for index in range(64)))
        result["parallel"] = sum(answer.text == f"body {index}" for index, answer in enumerate(answers))

        async def pieces():
            for index in range(64):
                yield bytes([index]) * 16_384

        echoed = await client.post(f"{base}/echo", content=pieces())
        result["upload"] = echoed.content == b"".join(bytes([index]) * 16_384 for index in range(64))
        digest = hashlib.sha256()
        async with client.stream("GET", f"{base}/bytes/3000000") as answer:
            async for piece in answer.aiter_bytes():
                digest.update(piece)
        result["download"] = digest.hexdigest() == hashlib.sha256(random.Random(1).randbytes(3_000_000)).hexdigest()
        events = 0
        async with client.stream("GET", f"{base}/events/10/1") as answer:
            async for line in answer.aiter_lines():
                events += line.startswith("data:")
        result["events"] = events
        # A download that the client gives up: the connection goes on.
        async with client.stream("GET", f"{base}/bytes/30000000") as answer:
            async for piece in answer.aiter_bytes():
                break
        result["after"] = (await client.get(f"{base}/hello")).text
    print(json.dumps(result))


asyncio.run(main())
