import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Throttle: server-sent events")
struct EventGapTests {
    private func stream(_ profile: RuleProfile, _ fields: [(String, String)]) -> ThrottledFlow {
        let flow = ThrottledFlow(profile)
        flow.request()
        flow.tell { $0.responseHead(200, .chunked, fields) }
        return flow
    }

    @Test("Events keep their distance, whether they come together or in pieces")
    func gap() throws {
        let profile = try throttle("{ event-gap: 200ms }")
        let text = "data: 1\n\ndata: 2\r\n\r\n: sign of life\n\nid: 3\rdata: 3\r\rdata: 4\n\n"
        for size in [1, 3, 7, 100] {
            let flow = stream(profile, [("Content-Type", "text/event-stream; charset=utf-8")])
            var rest = Substring(text)
            while !rest.isEmpty {
                let piece = String(rest.prefix(size))
                rest = rest.dropFirst(size)
                flow.tell { $0.responsePart(piece) }
            }
            flow.tell { $0.responseEnd() }
            flow.finish()
            #expect(String(buffer: flow.dialogue.responseBody) == text)
            flow.dialogue.finish()
            #expect(flow.time >= .milliseconds(600), "pieces of \(size)")
            #expect(flow.time <= .milliseconds(601), "pieces of \(size)")
        }
    }

    @Test("An event that comes later than the gap anyway is not held, and other streams are not either")
    func unhurried() throws {
        let profile = try throttle("{ event-gap: 200ms }")
        let flow = stream(profile, [("Content-Type", "text/event-stream")])
        for number in 1...3 {
            flow.tell { $0.responsePart("data: \(number)\n\n") }
            #expect(flow.next == nil)
            flow.dialogue.advance(.milliseconds(300))
        }
        flow.dialogue.leaveOpen()
        for fields in [
            [("Content-Type", "text/plain")], [("Content-Type", "text/event-stream"), ("Content-Encoding", "gzip")],
        ] {
            let flow = stream(profile, fields)
            for _ in 1...3 { flow.tell { $0.responsePart("data: 1\n\ndata: 2\n\n") } }
            #expect(flow.time == .zero && flow.next == nil)
            flow.dialogue.leaveOpen()
        }
    }

    @Test("Ends of events are found wherever the stream is cut")
    func boundaries() {
        let cases: [(String, [String])] = [
            ("data: a\n\ndata: b\n\n", ["data: a\n\n", "data: b\n\n"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", ["data: a\r\n\r\n", "data: b\r\n\r\n"]),
            ("data: a\r\rdata: b\r\r", ["data: a\r\r", "data: b\r\r"]),
            (":\n\n\n\ndata\n\n\n\n", [":\n\n\n\ndata\n\n"]),
            ("retry: 5\n: c\n\nx", ["retry: 5\n: c\n\n"]),
            ("data: a\n", []), ("", []),
        ]
        for (text, expected) in cases {
            var boundary = EventBoundary()
            var events: [String] = []
            var rest = ByteBuffer(string: text)
            while let count = boundary.advance(over: rest.readableBytesView) {
                events.append(rest.readString(length: count) ?? "")
            }
            #expect(events == expected, "\(text.debugDescription)")
            // Byte by byte the LF of a CRLF may come after the end, but no event is found twice or missed.
            var single = EventBoundary()
            let found = text.utf8.count { single.advance(over: ByteBuffer(bytes: [$0]).readableBytesView) != nil }
            #expect(found == expected.count, "\(text.debugDescription)")
        }
    }
}
