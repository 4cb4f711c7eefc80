import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@Suite("Cookies that came in crumbs")
struct CookieTests {
    private final class Seen: Sendable {
        let cookies = Mutex<[String]>([])
    }

    /// What a stage sees of two crumbs, and what goes to the server.
    private func play(
        _ version: HTTPVersion = .http2,
        _ edit: @escaping @Sendable (inout FieldSection) -> Void = { _ in }
    ) throws -> (seen: [String], sent: [String], isChanged: Bool, received: String) {
        let seen = Seen()
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.onRequestHead = { head, _ in
                seen.cookies.withLock { $0 = head.fields.values(of: .cookie) }
                edit(&head.fields)
                return .forward
            }
        }
        let dialogue = Dialogue([stage])
        dialogue.requestHead(.none, [("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")], version: version)
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.leaveOpen()
        return (
            seen.cookies.withLock { $0 }, try #require(dialogue.requestHead).fields.values(of: .cookie),
            dialogue.record.flags.contains(.requestChanged),
            dialogue.messages.requestHead.map { String(buffer: $0) } ?? ""
        )
    }

    @Test("Stages see one line of them, as of HTTP/1; what no stage changed goes out in the crumbs that came in")
    func joined() throws {
        let untouched = try play()
        #expect(untouched.seen == ["a=1; b=2"])
        #expect(untouched.sent == ["a=1", "b=2"])
        #expect(!untouched.isChanged)
        #expect(untouched.received.contains("cookie: a=1\r\nx: y\r\ncookie: b=2\r\n"))
        let other = try play { $0.set("x", "z") }
        #expect(other.sent == ["a=1", "b=2"])
        #expect(other.isChanged)
        let edited = try play { $0.set("cookie", "a=1; b=3") }
        #expect(edited.sent == ["a=1; b=3"])
        #expect(edited.isChanged)
        #expect(try play { $0.removeAll(.cookie) }.sent == [])
    }

    @Test("Two lines of HTTP/1.1, which are no crumbs, are seen as they came")
    func twoLines() throws {
        let result = try play(.http11)
        #expect(result.seen == ["a=1", "b=2"])
        #expect(result.sent == ["a=1", "b=2"])
    }
}
