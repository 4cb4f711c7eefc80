import ExchangeCore
import HTTPModel
import Rules
import Support
import Testing
import Tools

@Suite("Bytes that no edit touches")
struct UntouchedBytesTests {
    /// A text of Latin-1 characters in Latin-1.
    private func latin1(_ text: String) -> [UInt8] { text.unicodeScalars.compactMap { UInt8(exactly: $0.value) } }

    /// The head that goes to the server where a client's target and field are in Latin-1.
    private func sent(_ profile: String, _ target: String, field: String = "") throws -> RequestHead {
        let dialogue = dialogue(try RuleProfile("version: 1\n\(profile)", file: "p.yaml"), "http://a.example\(target)")
        var head = RequestHead(method: "GET", target: "", fields: [("Host", "a.example")])
        head.setTarget(latin1(target))
        head.fields.append("X-V", bytes: latin1(field))
        dialogue.tell { $0.requestHeadReceived(head, framing: .none, now: $1) }
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.leaveOpen()
        return try #require(dialogue.requestHead)
    }

    @Test(
        "Map remote leaves the path's remainder, what stars stand for, and the query as they came, UTF-8 or not",
        arguments: [
            ("{ from: 'a.example/v1/*', to: /v2/ }", "/v1/café?q=è", "/v2/café?q=è"),
            ("{ from: 'a.example/v1/*', to: '/v2/$1' }", "/v1/café?q=è", "/v2/café?q=è"),
            ("{ from: 'a.example/v1/*', to: /v2/, keep-prefix: true }", "/v1/é", "/v2/v1/é"),
            ("{ from: '/v1\\/(.*)\\?/', to: '/v2/$1?x=$1' }", "/v1/é?q=è", "/v2/é?x=é"),
            ("{ from: a.example, to: '?x=1' }", "/é?q=è", "/é?x=1"),
            ("{ from: a.example, to: b.example }", "/é?q=è", "/é?q=è"),
        ]
    )
    func mapRemote(rule: String, before: String, after: String) throws {
        #expect(Array(try sent("map-remote: \(rule)", before).targetBytes) == latin1(after))
    }

    @Test(
        "A header that is edited keeps the bytes around the edit",
        arguments: [
            ("match: a, to: b", "aéa", Array("b".utf8) + [0xE9] + Array("b".utf8)),
            ("match: a, to: ☕", "aé", Array("☕".utf8) + [0xE9]),
            ("match: '/(.)é/', to: '$1è'", "éé", [0xE9, 0xE8]), ("match: É, to: x", "é", Array("x".utf8)),
        ]
    )
    func header(rule: String, before: String, after: [UInt8]) throws {
        let profile = rewriting("{ modify: header, on: request, name: X-V, \(rule) }")
        let head = try sent(profile, "/", field: before)
        #expect(head.fields.firstIndex(of: "x-v").map { Array(head.fields[$0].valueBytes) } == after)
    }

    @Test("What a header is made of by groups keeps its bytes; so does a query parameter")
    func groups() throws {
        let profile = rewriting(
            "{ add: header, on: request, name: X-W, to: $1, if: { name: X-V, match: '/=(.*)/' } }"
        )
        let head = try sent(profile, "/", field: "a=é")
        #expect(head.fields.firstIndex(of: "x-w").map { Array(head.fields[$0].valueBytes) } == [0xE9])
        let exchange = try RewrittenExchange(
            rewriting("{ modify: query, name: q, match: a, to: ☕ }"),
            url: "http://example.com/?q=a%E9a"
        )
        #expect(exchange.requestLine == "> GET /?q=%E2%98%95%E9%E2%98%95 (none)")
    }
}
