"""Calls grpc_server.py with a message that has names, in a file of which it writes the descriptor set.

usage: grpc_named.py HOST:PORT --descriptor FILE [--proxy PORT] [--ca FILE]

Prints one line of JSON: what the answer says.
"""

import json
import os
import tempfile

import grpc
import grpc_tools
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from grpc_tools import protoc

from h2_wire import Way

PROTO = """
syntax = "proto3";
package test;
import "google/protobuf/timestamp.proto";
message Named {
  enum Kind { UNKNOWN = 0; LOUD = 1; }
  string book_title = 1;
  repeated int32 page_counts = 2;
  Kind kind = 3;
  google.protobuf.Timestamp printed_at = 4;
}
service Echo { rpc Compressed(Named) returns (Named); }
"""

parser = Way.arguments(__doc__.split("\n")[0])
parser.add_argument("--descriptor", required=True)
options = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "named.proto"), "w") as file:
        file.write(PROTO)
    known = os.path.join(os.path.dirname(grpc_tools.__file__), "_proto")
    status = protoc.main(
        ["protoc", f"-I{folder}", f"-I{known}", "--include_imports", f"--descriptor_set_out={options.descriptor}",
         "named.proto"]
    )
    assert status == 0, "protoc failed"
with open(options.descriptor, "rb") as file:
    files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
pool = descriptor_pool.DescriptorPool()
for one in files.file:
    pool.Add(one)
Named = message_factory.GetMessageClass(pool.FindMessageTypeByName("test.Named"))
settings = [("grpc.http_proxy", f"http://127.0.0.1:{options.proxy}")] if options.proxy else []
with open(options.ca, "rb") as authority:
    credentials = grpc.ssl_channel_credentials(authority.read())
channel = grpc.secure_channel(options.target, credentials, settings)
call = channel.unary_unary(
    "/test.Echo/Compressed", request_serializer=Named.SerializeToString, response_deserializer=Named.FromString
)
sent = Named(book_title="Caf\u00e9 Müller", page_counts=[7, 300], kind=1)
sent.printed_at.FromJsonString("2026-01-02T03:04:05Z")
print(json.dumps(json_format.MessageToDict(call(sent, timeout=20, wait_for_ready=False))))
