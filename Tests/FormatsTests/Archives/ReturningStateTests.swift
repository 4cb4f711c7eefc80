import Content
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("What only Sluice says of an exchange comes back from our own archives")
struct ReturningStateTests {
    private let source = MemorySource()

    private func har(_ source: MemorySource) throws -> [UInt8] {
        var text: [UInt8] = []
        var export = HARExport(source: source, options: EntryOptions()) { text += $0.readableBytesView }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        return text
    }

    private func again() throws -> ArchiveFixture {
        let fixture = ArchiveFixture(bytes: try har(source))
        #expect(fixture.error == nil && fixture.losses.isEmpty, "\(fixture.losses)")
        return fixture
    }

    private func entries(_ har: [UInt8]) throws -> [[String: Any]] {
        let tree = try JSONSerialization.jsonObject(with: Data(har)) as? [String: Any]
        return try #require((tree?["log"] as? [String: Any])?["entries"] as? [[String: Any]])
    }

    @Test func `states`() throws {
        let states: [(state: ExchangeRecord.State, response: String?)] = [
            (.blocked, "HTTP/1.1 403 Forbidden\r\n\r\n"), (.blocked, nil), (.interrupted, nil),
            (.interrupted, "HTTP/1.1 200 OK\r\n\r\n"), (.complete, "HTTP/1.1 200 OK\r\n\r\n"),
        ]
        for (state, response) in states {
            try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", response: response) {
                $0.record.state = state
            }
        }
        let records = try again().records.map(\.record)
        #expect(records.map(\.state) == states.map(\.state))
        #expect(records.allSatisfy { $0.failure == nil })
    }

    @Test func `what was no request has no method, and no head`() throws {
        try source.add("http://h/", request: "", requestBody: Array("no request".utf8)) {
            $0.record.kind = .malformed
            $0.record.method = ""
            $0.messages.requestHead = nil
            $0.record.state = .failed
            $0.record.failure = ExchangeFailure(.badRequest, "no request")
        }
        let fixture = try again()
        let record = try #require(fixture.records.first)
        #expect(record.record.kind == .malformed && record.record.method.isEmpty)
        #expect(record.messages.requestHead == nil && fixture.body(0, .requestReceived) == "no request")
    }

    @Test func `a tunnel of TLS stays one`() throws {
        for isTLS in [true, false] {
            try source.add("http://a.example/", request: "CONNECT a.example:8443 HTTP/1.1\r\n\r\n") {
                $0.record.kind = .tunnel
                $0.record.method = "CONNECT"
                $0.record.url = RequestURL(scheme: "tunnel", host: "a.example", port: 8_443, path: "")
                if isTLS { $0.record.flags.insert(.tunnelledTLS) }
            }
        }
        let records = try again().records.map(\.record)
        #expect(records.map { $0.flags.contains(.tunnelledTLS) } == [true, false])
        #expect(records.map { HARURL.text($0, nil) } == ["https://a.example:8443/", "http://a.example:8443/"])
    }

    @Test func `events come when they came, in a HAR of a HAR too`() throws {
        let events = ["data: 1\n\n", ": sign\n\ndata: 2\ndata: 3\r\n\r\n", "id: 4\ndata: 4\n\n"]
        let exchange = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        ) { $0.record.mediaType = "text/event-stream" }
        let pieces = zip([1_000_000, 2_500_000, 9_000_000] as [Int64], events.map { Array($0.utf8) })
        source.setStream(exchange, .responseReceived, pieces.map { (after: $0, bytes: $1) })
        let first = try har(source)
        func times(_ har: [UInt8]) throws -> [Double?] {
            let messages = try #require(try entries(har).first?["_eventSourceMessages"] as? [[String: Any]])
            return messages.map { $0["time"] as? Double }
        }
        let start = 1_790_000_000.123456
        #expect(try times(first) == [start + 1, start + 2.5, start + 9])

        var offsets: [Int64] = []
        var recording = ArchiveRecording()
        let read = ArchiveFixture(bytes: first)
        for event in recording.events(try #require(read.entries.first)) {
            if case .arrival(_, .responseReceived, let offset, let at) = event {
                offsets.append(offset)
                #expect(try times(first).contains(Double(at) / 1_000_000))
            }
        }
        #expect(
            offsets.count == 3 && offsets.first == 0
                && offsets.last == Int64(events[0].utf8.count + events[1].utf8.count)
        )

        // Where nobody knows when they came, no time is made up.
        let unknown = MemorySource()
        try unknown.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
            responseBody: events.joined().utf8
        )
        #expect(try times(har(unknown)) == [nil, nil, nil])
        // As many times as events, or none.
        var other = try #require(read.entries.first)
        other.eventTimes.removeLast()
        let arrivals = recording.events(other).filter { if case .arrival = $0 { true } else { false } }
        #expect(arrivals.isEmpty)
    }

    @Test func `a target that is not ASCII stays, and its URL is ASCII`() throws {
        try source.add("http://h/caf\u{E9}?\u{65E5}", request: "GET /caf\u{E9}?\u{65E5} HTTP/1.1\r\nHost: h\r\n\r\n")
        let har = try har(source)
        let request = try entries(har).first?["request"] as? [String: Any]
        #expect(request?["url"] as? String == "http://h/caf%C3%A9?%E6%97%A5")
        let record = try #require(ArchiveFixture(bytes: har).records.first)
        #expect(record.record.url.description == "http://h/caf\u{E9}?\u{65E5}")
    }

    @Test(
        "Only an address is one of a server",
        arguments: [
            ("203.0.113.1", "203.0.113.1:80"), ("[2001:db8::1]", "[2001:db8::1]:80"), ("::1", "[::1]:80"), ("", nil),
            ("garbage \u{7}", nil), ("203.0.113.999", nil), ("host.example", nil),
        ] as [(String, String?)]
    )
    func address(_ text: String, _ expected: String?) throws {
        let value = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let har = #"""
            {"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00Z","serverIPAddress":\#(value),"request":
            {"method":"GET","url":"http://h/","headers":[]},"response":{"status":200,"headers":[]}}]}}
            """#
        let fixture = ArchiveFixture(bytes: Array(har.utf8))
        #expect(fixture.records.first?.record.serverAddress == expected)
        #expect(fixture.losses.isEmpty == (expected != nil || text.isEmpty), "\(fixture.losses)")
    }

    @Test func `a name is no address of a server in HAR`() throws {
        for peer in ["h.example:80", "203.0.113.1:80"] {
            try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
                let (id, leg) = (ConnectionID(9), ConnectionRecord.Leg.upstream)
                $0.upstream = ConnectionRecord(id: id, leg: leg, openedAt: 0, localAddress: "", peerAddress: peer)
            }
        }
        #expect(try entries(har(source)).map { $0["serverIPAddress"] as? String } == [nil, "203.0.113.1"])
    }

    @Test func `exchanges at one address have the TLS that each had`() throws {
        var recording = ArchiveRecording()
        var connections: [ConnectionRecord] = []
        var ids: [ConnectionID?] = []
        let tls = ["TLSv1.2", "TLSv1.3"].map { TLSDetails(protocolVersion: $0, cipherSuite: "X") }
        for details in [tls[0], tls[1], nil, tls[0]] {
            var entry = ArchiveEntry()
            (entry.method, entry.url, entry.status) = ("GET", "https://h/", 200)
            (entry.serverAddress, entry.serverPort, entry.tls) = ("203.0.113.1", "443", details)
            for event in recording.events(entry) {
                switch event {
                case .connection(let connection): connections.append(connection)
                case .finished(let record, _): ids.append(record.upstreamConnection)
                default: break
                }
            }
        }
        let found = ids.map { id in connections.first { $0.id == id }?.tls }
        #expect(found == [tls[0], tls[1], nil, tls[0]] && connections.count == 3)
    }

    @Test(
        "Code that a browser copies and nobody reads has a name",
        arguments: [
            ("\nfetch(\"https://h/\", {});", "calls of fetch"), ("await fetch('x')", "calls of fetch"),
            (
                "$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession\nInvoke-WebRequest -Uri x",
                "commands of PowerShell"
            ),
            ("Invoke-WebRequest -UseBasicParsing -Uri \"https://h\"", "commands of PowerShell"), ("fetching", nil),
            ("$session = 1", nil), ("", nil),
        ] as [(String, String?)]
    )
    func code(_ text: String, _ title: String?) {
        #expect(ArchiveFormat.copiedCode(Array(text.utf8)) == title)
    }
}
