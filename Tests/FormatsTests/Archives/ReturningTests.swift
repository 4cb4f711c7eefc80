import HTTPModel
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("What is counted of an exchange comes back from our own HAR")
struct ReturningTests {
    private let source = MemorySource()

    private func again() throws -> ArchiveFixture {
        var text: [UInt8] = []
        var export = HARExport(source: source, options: EntryOptions()) { text += $0.readableBytesView }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        let fixture = ArchiveFixture(bytes: text)
        #expect(fixture.error == nil && fixture.losses.isEmpty && fixture.records.count == source.exchanges.count)
        return fixture
    }

    private func call(_ type: String, _ trailers: String?, fields: String = "", _ body: [UInt8]) throws {
        let message: [UInt8] = [0, 0, 0, 0, 1, 7]
        try source.add(
            "https://a.example/a.B/C",
            request: "POST /a.B/C HTTP/2\r\nhost: a.example\r\ncontent-type: \(type)\r\n\r\n",
            requestBody: message,
            response: "HTTP/2 200\r\ncontent-type: \(type)\r\n\(fields)\r\n",
            responseBody: body
        ) {
            $0.messages.responseTrailers = trailers.map { ByteBuffer(string: $0 + "\r\n") }
            $0.record.mediaType = type
        }
    }

    @Test("The outcome of a gRPC call, wherever it was said, and its messages")
    func grpc() throws {
        let message: [UInt8] = [0, 0, 0, 0, 1, 7]
        try call("application/grpc", "grpc-status: 0\r\n", message + message)
        try call("application/grpc+proto", nil, fields: "grpc-status: 5\r\ngrpc-message: no%20such\r\n", [])
        let last = Array("grpc-status: 14\r\n".utf8)
        try call("application/grpc-web", nil, message + [0x80, 0, 0, 0, UInt8(last.count)] + last)
        let records = try again().records.map(\.record)
        let outcomes = [
            GRPCOutcome(status: 0), GRPCOutcome(status: 5, message: "no such"), GRPCOutcome(status: 14),
        ]
        #expect(records.map(\.grpc) == outcomes)
        #expect(records.allSatisfy { $0.flags.contains(.grpc) && $0.tally.fromClient == 1 })
        #expect(records.map(\.tally.fromServer) == [2, 0, 1])
    }

    @Test("Trailers of both messages")
    func trailers() throws {
        try source.add(
            "http://a.example/",
            request: "POST / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n"
        ) {
            $0.messages.requestTrailers = ByteBuffer(string: "X-Sum: 1\r\n\r\n")
            $0.messages.responseTrailers = ByteBuffer(string: "X-Sum: 2\r\n\r\n")
        }
        let messages = try #require(try again().records.first?.messages)
        #expect(messages.requestTrailers == ByteBuffer(string: "X-Sum: 1\r\n\r\n"))
        #expect(messages.responseTrailers == ByteBuffer(string: "X-Sum: 2\r\n\r\n"))
    }

    @Test("A tunnel is one again, to a host and a port and no path", arguments: [80, 443, 4_321])
    func tunnel(port: Int) throws {
        try source.add("http://a.example/", request: "CONNECT a.example:\(port) HTTP/1.1\r\n\r\n") {
            $0.record.kind = .tunnel
            $0.record.method = "CONNECT"
            $0.record.url = RequestURL(scheme: "tunnel", host: "a.example", port: port, path: "")
        }
        let record = try #require(try again().records.first?.record)
        #expect(record.kind == .tunnel && record.method == "CONNECT" && record.state == .complete)
        #expect(record.url.description == "a.example:\(port)")
    }
}
