"""A gRPC server whose messages are plain bytes, so that no compiled definitions are needed.

usage: grpc_server.py --certificate FILE --key FILE

Prints two ports, for TLS and without it. Methods of /test.Echo:

    Unary, ClientStream, ServerStream, BidiStream   echo; the stream's number of messages is what the request says
    Fail                                            status 14 with a message that is not ASCII
    Never                                           no answer, until the deadline
    Held                                            one message, and then no more until the client cancels
    Compressed                                      an echo, compressed with gzip
"""

import argparse
import threading
from concurrent import futures

import grpc


def unary(request, context):
    context.set_trailing_metadata((("x-trailer", "kept"), ("x-data-bin", b"\x00\xff")))
    return b"echo " + request


def client_stream(requests, context):
    return b"+".join(requests)


def server_stream(request, context):
    for index in range(int(request)):
        yield b"item %d" % index


def bidi_stream(requests, context):
    for request in requests:
        yield b"echo " + request


def fail(request, context):
    context.abort(grpc.StatusCode.UNAVAILABLE, "try again, s\u2019il vous pla\u00eet: 100%")


def held(request, context):
    yield b"one"
    never(request, context)


def never(request, context):
    ended = threading.Event()
    context.add_callback(ended.set)
    ended.wait(30)
    return b""


def compressed(request, context):
    context.set_compression(grpc.Compression.Gzip)
    return request


METHODS = {
    "Unary": grpc.unary_unary_rpc_method_handler(unary),
    "ClientStream": grpc.stream_unary_rpc_method_handler(client_stream),
    "ServerStream": grpc.unary_stream_rpc_method_handler(server_stream),
    "BidiStream": grpc.stream_stream_rpc_method_handler(bidi_stream),
    "Fail": grpc.unary_unary_rpc_method_handler(fail),
    "Never": grpc.unary_unary_rpc_method_handler(never),
    "Held": grpc.unary_stream_rpc_method_handler(held),
    "Compressed": grpc.unary_unary_rpc_method_handler(compressed),
}

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--certificate", required=True)
parser.add_argument("--key", required=True)
options = parser.parse_args()
server = grpc.server(futures.ThreadPoolExecutor(16))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("test.Echo", METHODS)])
with open(options.certificate, "rb") as certificate, open(options.key, "rb") as key:
    credentials = grpc.ssl_server_credentials([(key.read(), certificate.read())])
secure = server.add_secure_port("127.0.0.1:0", credentials)
plain = server.add_insecure_port("127.0.0.1:0")
server.start()
print(secure, plain, flush=True)
server.wait_for_termination()
