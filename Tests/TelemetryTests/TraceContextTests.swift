import HTTPModel
import Telemetry
import Testing

@Suite("Trace contexts")
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(
        "A traceparent is read as W3C Trace Context says",
        arguments: [
            ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-03", true),
            ("00-\(trace)-\(span)-ff", true), ("00-\(trace)-\(span)-02", false),
            // Later versions may have more.
            ("01-\(trace)-\(span)-01", true), ("cc-\(trace)-\(span)-01-what-comes", true),
            ("fe-\(trace)-\(span)-00-", false),
        ]
    )
    func valid(text: String, isSampled: Bool) throws {
        let context = try #require(TraceContext(traceparent: text.utf8))
        #expect(context.traceID.map { hex($0) }.joined() == Self.trace)
        #expect(context.parentID.map { hex($0) }.joined() == Self.span)
        #expect(context.isSampled == isSampled)
        #expect(context.flags == (text.hasPrefix("00") ? UInt8(text.suffix(2), radix: 16) : context.flags & 1))
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-011",
            "00-\(trace)-\(span)-01-x", "00-\(trace)-\(span)-01-", "ff-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01.x",
            "0-\(trace)-\(span)-01", "0g-\(trace)-\(span)-01", "00-\(trace.uppercased())-\(span)-01",
            "00-\(trace)-\(span.uppercased())-01", "00-\(trace)-\(span)-0A", "00_\(trace)_\(span)_01",
            "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace.dropLast())-\(span)-01", "00-\(trace)0-\(span)-01", "00-\(trace)-\(span)-0é",
        ]
    )
    func invalid(text: String) { #expect(TraceContext(traceparent: text.utf8) == nil) }

    @Test("Two traceparents are none, and the members of tracestate are joined")
    func fields() throws {
        let parent = "00-\(Self.trace)-\(Self.span)-01"
        func context(_ fields: [(String, String)]) -> TraceContext? {
            TraceContext(RequestHead(method: "GET", target: "/", fields: fields).fields)
        }
        #expect(context([]) == nil)
        #expect(context([("TraceParent", parent), ("traceparent", parent)]) == nil)
        #expect(context([("TraceParent", parent)])?.state == "")
        let both = context([("traceparent", parent), ("tracestate", "a=1"), ("x", "y"), ("Tracestate", "b=2,c=3")])
        #expect(both?.state == "a=1, b=2,c=3")
        let most = String(repeating: "a", count: TraceContext.longestState)
        #expect(context([("traceparent", parent), ("tracestate", most)])?.state == most)
        for state in [most + "a", "a=\u{1B}[31m", "a=é"] {
            #expect(context([("traceparent", parent), ("tracestate", state)])?.state == "", "\(state)")
        }
        #expect(context([("tracestate", "a=1")]) == nil)
    }

    private func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
