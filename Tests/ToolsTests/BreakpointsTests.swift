import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Breakpoints")
struct BreakpointsTests {
    private func profile(_ rule: String) throws -> RuleProfile {
        try RuleProfile("version: 1\nbreakpoints: \(rule)", file: "p.yaml")
    }

    @Test("Both sides are held whole, each for itself, and the trace names the rule")
    func both() throws {
        let dialogue = dialogue(
            try profile("{ name: login, at: '*/login', method: POST, on: [request, response] }"),
            "http://example.com/login",
            method: "POST"
        )
        dialogue.requestHead(.length(3))
        dialogue.expect()
        dialogue.requestPart("abc")
        dialogue.expect()
        dialogue.requestEnd()
        dialogue.expect("hold 1.1 request 'abc'", "stop client")
        dialogue.decide(.execute(nil))
        dialogue.expect("connect http://example.com:80")
        dialogue.ready()
        dialogue.expect("> POST /login (3)", "> part 'abc'", "> end", "read client")
        dialogue.responseHead(200, .chunked, [("Content-Encoding", "gzip")])
        dialogue.responsePart("not gzip")
        dialogue.responseEnd()
        dialogue.expect("hold 1.2 response 'not gzip'")
        dialogue.decide(.cancel, ordinal: 2)
        dialogue.expect("< 200 (chunked)", "< part 'not gzip'", "< end", "finished")
        dialogue.finish()
        #expect(
            dialogue.trace == [
                "breakpoints(login): held the request", "breakpoints: sent unedited",
                "breakpoints(login): held the response", "breakpoints: sent unedited",
            ]
        )
    }

    @Test("A rule is for one direction, or each direction has a rule of its own")
    func directions() throws {
        let request = dialogue(try profile("{ at: '*', on: request }"), "http://example.com/")
        request.request()
        request.expect("hold 1.1 request ''", "stop client")
        request.decide(.abort)
        request.expect("abort", "finished")
        request.finish()
        #expect(request.record.failure?.code == .aborted)

        let rules = "[{ name: a, at: '*', on: response }, { name: b, at: '*', on: [request, response] }]"
        let both = dialogue(try profile(rules), "http://example.com/")
        both.request()
        both.expect("hold 1.1 request ''", "stop client")
        both.decide(.cancel)
        both.expect("connect http://example.com:80")
        both.ready()
        _ = both.takePending()
        both.responseHead(204)
        both.responseEnd()
        both.expect("hold 1.2 response ''")
        abandon(both)
        #expect(
            both.trace.filter { $0.contains("held") } == [
                "breakpoints(b): held the request", "breakpoints(a): held the response",
            ]
        )
    }

    @Test("Other methods and places are not held, nor are tunnels")
    func scope() throws {
        let rules = try profile("{ at: 'example.com', method: POST, on: request }")
        #expect(outcome(rules, "http://example.com/") == "passed")
        #expect(outcome(rules, "http://other.com/") == "passed")
        #expect(
            outcome(try profile("{ at: '*', on: [request, response] }"), "example.com:443", kind: .tunnel) == "passed"
        )
    }

    @Test("A limit decides where nobody does", arguments: ["execute", "cancel", "abort"])
    func limit(word: String) throws {
        let dialogue = dialogue(
            try profile("{ at: '*', on: request, after: 1500ms, then: \(word) }"),
            "http://example.com/"
        )
        dialogue.request()
        dialogue.expect("hold 1.1 request ''", "wake request 1", "stop client")
        dialogue.advance(.milliseconds(1_500))
        dialogue.elapsed(.request, 1)
        if word == "abort" {
            dialogue.expect("release 1.1", "abort", "finished")
            dialogue.finish()
        } else {
            dialogue.expect("release 1.1", "connect http://example.com:80")
            abandon(dialogue)
        }
        #expect(dialogue.trace.first == "breakpoints(rule 1): held the request")
        #expect(dialogue.trace.dropFirst().first?.contains("no decision within 1500 ms") == true)
    }

    @Test(
        "Of a stream, of another protocol and of a large body only the head is held",
        arguments: [
            (200, "text/event-stream", "the head of the response, since its body is a stream (text/event-stream)"),
            (
                200, "application/x-ndjson",
                "the head of the response, since its body is a stream (application/x-ndjson)"
            ),
            (200, "application/grpc", "the head of the response, since its body is a stream (application/grpc)"),
            (
                200, "multipart/x-mixed-replace; boundary=a",
                "the head of the response, since its body is a stream (multipart/x-mixed-replace)"
            ),
            (200, "text/large", "the head of the response, since its body is over 8 MiB"),
        ]
    )
    func headsOnly(status: Int, type: String, trace: String) throws {
        let dialogue = dialogue(try profile("{ at: '*', on: response }"), "http://example.com/")
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.responseHead(status, type == "text/large" ? .length(9 << 20) : .chunked, [("Content-Type", type)])
        dialogue.expect("hold 1.1 response", "stop upstream")
        dialogue.decide(.execute(nil))
        #expect(dialogue.takePending().first?.hasPrefix("< 200") == true)
        dialogue.responsePart("live")
        dialogue.expect("< part 'live'")
        abandon(dialogue)
        #expect(dialogue.trace == ["breakpoints(rule 1): held \(trace)", "breakpoints: sent unedited"])
    }

    @Test("Of a request for another protocol, and of a call, only the head is held")
    func requestHeads() throws {
        let rules = try profile("{ at: '*', on: [request, response] }")
        let upgrade = dialogue(rules, "http://example.com/")
        upgrade.request([("Connection", "upgrade"), ("Upgrade", "websocket")])
        upgrade.expect("hold 1.1 request", "stop client")
        upgrade.decide(.execute(nil))
        upgrade.expect("connect http://example.com:80")
        upgrade.ready()
        _ = upgrade.takePending()
        upgrade.responseHead(101, .none, [("Upgrade", "websocket"), ("Connection", "upgrade")])
        upgrade.expect("hold 1.2 response", "stop upstream")
        abandon(upgrade)
        #expect(
            upgrade.trace.first
                == "breakpoints(rule 1): held the head of the request, since it asks for a different protocol"
        )
        #expect(
            upgrade.trace.last
                == "breakpoints(rule 1): held the head of the response, since a different protocol follows"
        )
        let call = dialogue(rules, "http://example.com/", method: "POST")
        call.requestHead(.chunked, [("Content-Type", "application/grpc+proto")])
        call.expect("hold 1.1 request", "stop client")
        abandon(call)
    }

    @Test("A body that turns out too large streams on after its head was held")
    func growing() throws {
        let dialogue = dialogue(try profile("{ at: '*', on: request }"), "http://example.com/", method: "POST")
        dialogue.requestHead(.chunked)
        let mebibyte = String(repeating: "x", count: 1 << 20)
        for _ in 0..<8 { dialogue.requestPart(mebibyte) }
        dialogue.expect()
        dialogue.requestPart("y")
        dialogue.expect("hold 1.1 request", "stop client")
        dialogue.decide(.cancel)
        dialogue.expect("connect http://example.com:80")
        dialogue.ready()
        dialogue.expect("> POST / (chunked)", "> part \((8 << 20) + 1) bytes", "read client")
        abandon(dialogue)
        #expect(
            dialogue.trace.first
                == "breakpoints(rule 1): held the head of the request, since its body is over 8 MiB"
        )
    }

    @Test(
        "What is wrong with a rule is said where it stands",
        arguments: [
            ("{ at: '*' }", "2:14 a breakpoint needs 'on'"), ("{ on: request }", "2:14 a breakpoint needs 'at'"),
            ("{ at: '*', on: both }", "2:29 on must be request or response, not 'both'"),
            ("{ at: '*', on: [] }", "2:29 'on' is empty, so nothing would be held: request, response or both"),
            ("{ at: '*', on: request, after: 30s }", "2:45 'after' needs 'then': execute, cancel or abort"),
            ("{ at: '*', on: request, then: abort }", "2:44 'then' needs 'after', a time such as 30s"),
            (
                "{ at: '*', on: request, after: soon, then: abort }",
                "2:45 after must be a time, as 500ms, 30s or 2m, not 'soon'"
            ),
            ("{ at: '*', on: request, after: 0s, then: abort }", "2:45 'after' must be longer than 0"),
            ("{ at: '*', on: request, after: 1s, then: go }", "2:55 then must be execute or cancel or abort, not 'go'"),
        ]
    )
    func mistakes(rule: String, issue: String) {
        #expect(issues("version: 1\nbreakpoints: \(rule)") == [issue])
    }

    @Test("A rule says in words what it does")
    func words() throws {
        let rules = try profile(
            "[{ at: '*', on: [response, request], after: 30s, then: abort }, { at: '*', on: request }]"
        )
        #expect(
            rules.tools.first?.rules.map(\.action) == [
                "hold the request and the response; after 30s abort", "hold the request",
            ]
        )
    }
}
