"""An OTLP receiver: prints its port, and a line of JSON for each request, with the spans that it decoded.

usage: otlp_receiver.py [--port PORT] [--certificate FILE --key FILE] [--answers ANSWER …]

An answer is for one request, the last one for all further ones: STATUS, STATUS:SECONDS with Retry-After, or
reject:NUMBER for a partial success.
"""

import argparse
import gzip
import http.server
import json
import ssl
import threading
import time

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--answers", nargs="*", default=["200"])
options = parser.parse_args()
lock = threading.Lock()
answers = list(options.answers)
connections = []


def value(any_value):
    kind = any_value.WhichOneof("value")
    return getattr(any_value, kind) if kind else None


def attributes(pairs):
    keys = [pair.key for pair in pairs]
    assert len(keys) == len(set(keys)), f"a key is there twice: {keys}"
    return {pair.key: value(pair.value) for pair in pairs}


def described(span):
    return {
        "trace": span.trace_id.hex(), "span": span.span_id.hex(), "parent": span.parent_span_id.hex(),
        "state": span.trace_state, "name": span.name, "kind": trace_pb2.Span.SpanKind.Name(span.kind),
        "start": span.start_time_unix_nano, "end": span.end_time_unix_nano, "flags": span.flags,
        "status": trace_pb2.Status.StatusCode.Name(span.status.code), "message": span.status.message,
        "attributes": {key: str(one) for key, one in attributes(span.attributes).items()},
        "numbers": [key for key, one in attributes(span.attributes).items() if isinstance(one, int)],
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        with lock:
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            if self.connection not in connections:
                connections.append(self.connection)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        note = {
            "path": self.path, "answer": answer, "connection": connections.index(self.connection), "time": time.monotonic(),
            "headers": {name.lower(): one for name, one in self.headers.items()},
        }
        try:
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            request = trace_service_pb2.ExportTraceServiceRequest()
            request.ParseFromString(body)
            again = trace_service_pb2.ExportTraceServiceRequest()
            again.ParseFromString(request.SerializeToString())
            assert again == request and len(request.SerializeToString()) == len(body), "not what the library writes"
            (resource,) = request.resource_spans
            (scope,) = resource.scope_spans
            note["resource"] = attributes(resource.resource.attributes)
            note["scope"] = scope.scope.name
            note["spans"] = [described(span) for span in scope.spans]
        except Exception as error:  # noqa: BLE001
            note["error"] = repr(error)
        with lock:
            print(json.dumps(note), flush=True)
        self.respond(answer)

    def respond(self, answer):
        response = trace_service_pb2.ExportTraceServiceResponse()
        status, after = 200, None
        if answer.startswith("reject:"):
            response.partial_success.rejected_spans = int(answer[7:])
            response.partial_success.error_message = "too old\x1b[31m"
        else:
            status, _, after = answer.partition(":")
            status = int(status)
        body = response.SerializeToString()
        if status >= 400:
            body = b"\x08\x0e\x12\x07not now"  # google.rpc.Status
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(body)))
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", options.port), Handler)
if options.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
