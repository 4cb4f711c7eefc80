import Content
import HTTPModel
import Support
import Telemetry
import Testing

@Suite("Spans")
struct ExchangeSpanTests {
    @Test("The wire format is that of the specification's examples, and of protoc")
    func wire() {
        var writer = ProtobufWriter()
        writer.varint(1, 150)
        writer.string(2, "testing")
        writer.message(3) { $0.varint(1, 150) }
        writer.fixed32(4, 0x0102_0304)
        writer.fixed64(5, 1)
        writer.varint(16, .max)
        let expected: [UInt8] = [
            0x08, 0x96, 0x01, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6E, 0x67, 0x1A, 0x03, 0x08, 0x96, 0x01,
            0x25, 4, 3, 2, 1, 0x29, 1, 0, 0, 0, 0, 0, 0, 0,
            0x80, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01,
        ]
        #expect(writer.bytes == expected)
    }

    @Test("A span in a trace has the bytes that Python's opentelemetry-proto reads as such")
    func bytes() throws {
        var record = Self.record()
        record.startedAt = 1_700_000_000_000_001
        record.timings.total = 2
        let parent = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8)
        var random = SplitMix(1)
        var writer = ProtobufWriter()
        ExchangeSpan(record, parent: parent, session: nil, random: &random).write(into: &writer)
        var cursor = WireCursor(writer.bytes, 0..<writer.bytes.count)
        var fields: [Int: [WireField.Value]] = [:]
        while let field = try cursor.next() { fields[field.number, default: []].append(field.value) }
        func bytes(_ number: Int) -> [UInt8] {
            guard case .bytes(let range)? = fields[number]?.first else { return [] }
            return Array(writer.bytes[range])
        }
        #expect(
            bytes(1) == [
                0x4B, 0xF9, 0x2F, 0x35, 0x77, 0xB3, 0x4D, 0xA6, 0xA3, 0xCE, 0x92, 0x9D, 0x0E, 0x0E, 0x47, 0x36,
            ]
        )
        #expect(bytes(2).count == 8 && !bytes(2).contains(0))
        #expect(bytes(4) == [0x00, 0xF0, 0x67, 0xAA, 0x0B, 0xA9, 0x02, 0xB7])
        #expect(bytes(5) == Array("GET".utf8))
        #expect(fields[3] == nil && fields[15] == nil)
        #expect(fields[6] == [.varint(3)])
        #expect(
            fields[7] == [.fixed64(1_700_000_000_000_001_000)] && fields[8] == [.fixed64(1_700_000_000_000_003_000)]
        )
        #expect(fields[16] == [.fixed32(0x301)])
        #expect(
            bytes(9) == [0x0A, 0x13] + Array("http.request.method".utf8) + [0x12, 0x05, 0x0A, 0x03] + Array("GET".utf8)
        )
    }

    @Test("Attributes follow the conventions")
    func attributes() throws {
        var record = Self.record()
        #expect(
            try Self.attributes(record) == [
                "http.request.method": "GET", "server.address": "a.example", "server.port": "8443",
                "url.full": "https://a.example:8443/x?y=1", "http.response.status_code": "200",
                "network.protocol.version": "2", "network.peer.address": "::1", "network.peer.port": "8443",
                "sluice.exchange": "7", "sluice.session": "s",
            ]
        )
        record.method = "BREW"
        record.status = 404
        (record.upstreamVersion, record.clientVersion, record.serverAddress) = (nil, .http10, nil)
        let other = try Self.attributes(record)
        #expect(other["http.request.method"] == "_OTHER" && other["http.request.method_original"] == "BREW")
        #expect(other["error.type"] == "404" && other["network.protocol.version"] == "1.0")
        #expect(other["network.peer.address"] == nil)
        record.failure = ExchangeFailure(.dns, "The name was not found.")
        record.status = 0
        let failed = try Self.attributes(record)
        #expect(failed["error.type"] == "dns" && failed["http.response.status_code"] == nil)
        record.url = RequestURL(scheme: "tunnel", host: "a.example", port: 443, path: "")
        #expect(try Self.attributes(record)["url.full"] == nil)
    }

    @Test("Only a request is a span", arguments: ExchangeRecord.Kind.allCases)
    func kinds(kind: ExchangeRecord.Kind) {
        var record = Self.record()
        record.kind = kind
        #expect(ExchangeSpan.isSpan(record) == ![.failedHandshake, .malformed].contains(kind))
        record.method = ""
        #expect(!ExchangeSpan.isSpan(record))
    }

    static func record() -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(7),
            kind: .http,
            startedAt: 1,
            method: "GET",
            url: RequestURL(scheme: "https", host: "a.example", port: 8443, path: "/x", query: "y=1"),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        record.status = 200
        record.upstreamVersion = .http2
        record.serverAddress = "[::1]:8443"
        return record
    }

    private static func attributes(_ record: ExchangeRecord) throws -> [String: String] {
        var random = SplitMix(1)
        var writer = ProtobufWriter()
        ExchangeSpan(record, parent: nil, session: "s", random: &random).write(into: &writer)
        func parts(_ range: Range<Int>) throws -> [Int: [WireField.Value]] {
            var cursor = WireCursor(writer.bytes, range)
            var parts: [Int: [WireField.Value]] = [:]
            while let field = try cursor.next() { parts[field.number, default: []].append(field.value) }
            return parts
        }
        func text(_ value: WireField.Value?) throws -> String {
            guard case .bytes(let range)? = value else { throw ProbeError(description: "\(String(describing: value))") }
            return String(decoding: writer.bytes[range], as: UTF8.self)
        }
        var attributes: [String: String] = [:]
        for case .bytes(let range) in try parts(0..<writer.bytes.count)[9] ?? [] {
            let pair = try parts(range)
            guard case .bytes(let inner)? = pair[2]?.first else { throw ProbeError(description: "no value") }
            let value = try parts(inner)
            if case .varint(let number)? = value[3]?.first {
                attributes[try text(pair[1]?.first)] = String(Int64(bitPattern: number))
            } else {
                attributes[try text(pair[1]?.first)] = try text(value[1]?.first)
            }
        }
        return attributes
    }
}
