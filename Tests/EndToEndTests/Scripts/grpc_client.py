"""Calls every kind of method of grpc_server.py.

usage: grpc_client.py HOST:PORT [--proxy PORT] [--ca FILE]

Prints one line of JSON: what each call came to.
"""

import json

import grpc

from h2_wire import Way

parser = Way.arguments(__doc__.split("\n")[0])
options = parser.parse_args()
settings = [("grpc.enable_http_proxy", 0)]
if options.proxy:
    settings = [("grpc.http_proxy", f"http://127.0.0.1:{options.proxy}")]
if options.ca:
    with open(options.ca, "rb") as authority:
        credentials = grpc.ssl_channel_credentials(authority.read())
    channel = grpc.secure_channel(options.target, credentials, settings)
else:
    channel = grpc.insecure_channel(options.target, settings)
PATIENCE = 20  # seconds


def failure(call):
    """The status of a call that must fail."""
    try:
        call()
    except grpc.RpcError as error:
        return [error.code().value[0], error.details()]
    return None


result = {}
answer, call = channel.unary_unary("/test.Echo/Unary").with_call(
    b"hello", metadata=(("x-request", "sent"), ("x-bytes-bin", b"\x01\x02")), timeout=PATIENCE, wait_for_ready=False
)
trailers = {key: value if isinstance(value, str) else value.hex() for key, value in call.trailing_metadata()}
result["unary"] = [answer.decode(), trailers]
joined = channel.stream_unary("/test.Echo/ClientStream")(iter([b"a", b"b", b"c"]), timeout=PATIENCE)
result["clientStream"] = joined.decode()
items = channel.unary_stream("/test.Echo/ServerStream")(b"5", timeout=PATIENCE)
result["serverStream"] = [item.decode() for item in items]
echoes = channel.stream_stream("/test.Echo/BidiStream")(iter([b"x", b"y"]), timeout=PATIENCE)
result["bidiStream"] = [item.decode() for item in echoes]
result["fail"] = failure(lambda: channel.unary_unary("/test.Echo/Fail")(b"", timeout=PATIENCE))
result["missing"] = failure(lambda: channel.unary_unary("/test.Echo/Missing")(b"", timeout=PATIENCE))[0]
result["never"] = failure(lambda: channel.unary_unary("/test.Echo/Never")(b"", timeout=0.3))[0]
held = channel.unary_stream("/test.Echo/Held")(b"", timeout=PATIENCE)
next(held)
held.cancel()
result["cancelled"] = held.code().value[0]
text = b"all work and no play makes Jack a dull boy " * 100
result["compressed"] = (
    channel.unary_unary("/test.Echo/Compressed")(text, timeout=PATIENCE, compression=grpc.Compression.Gzip) == text
)
large = bytes(1 << 20)
result["large"] = channel.unary_unary("/test.Echo/Unary")(large, timeout=PATIENCE) == b"echo " + large
calls = [channel.unary_unary("/test.Echo/Unary").future(b"%d" % index, timeout=PATIENCE) for index in range(50)]
result["parallel"] = sum(call.result() == b"echo %d" % index for index, call in enumerate(calls))
print(json.dumps(result))
