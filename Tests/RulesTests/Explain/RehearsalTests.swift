import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Testing
import Tools

@Suite("Rehearsals")
struct RehearsalTests {
    private func play(
        _ rules: String,
        _ request: String,
        _ response: RehearsedResponse = .init()
    ) throws -> RehearsedExchange {
        var rehearsal = Rehearsal(try RuleProfile("version: 1\n" + rules, file: "p.yaml"))
        return rehearsal.play(try #require(RehearsedRequest(request)), response)
    }

    @Test("Without rules a request goes out as it came, and the response comes back")
    func untouched() throws {
        let body = ByteBuffer(string: String(repeating: "x", count: 200_000))
        let response = RehearsedResponse(status: 201, fields: [("X-A", "1"), ("X-A", "2")], body: body)
        let exchange = try play("name: x", "PUT http://a.example:81/p?q", response)
        #expect(exchange.sentURL?.description == "http://a.example:81/p?q")
        #expect(exchange.sent?.head.fields.description == "Host: a.example:81")
        #expect(exchange.answered?.head.status == 201)
        #expect(exchange.answered?.head.fields.values(of: FieldName("x-a")) == ["1", "2"])
        #expect(exchange.answered?.body == body)
        #expect(exchange.trace.isEmpty)
        #expect(exchange.failure == nil)
        #expect(exchange.record.state == .complete)
    }

    @Test(
        "Requests are read as METHOD URL",
        arguments: [
            ("GET http://a.example/", "GET http://a.example/"), ("http://a.example", "GET http://a.example/"),
            ("CONNECT a.example:443", "CONNECT a.example:443"),
            ("POST  https://A.example/x", "POST https://a.example/x"),
        ]
    )
    func requests(text: String, read: String) throws {
        let request = try #require(RehearsedRequest(text))
        #expect("\(request.method) \(request.url)" == read)
    }

    @Test(
        "What is no request is none",
        arguments: [
            "", "GET", "GET a.example", "CONNECT http://a.example/", "CONNECT a.example", "A B C",
            "G@T http://a.example/", "GET ftp://a.example/",
        ]
    )
    func noRequests(text: String) {
        #expect(RehearsedRequest(text) == nil)
    }

    @Test("Several requests of a rehearsal follow one another")
    func several() throws {
        var rehearsal = Rehearsal(try RuleProfile("version: 1\nblock: { at: b.example }", file: "p.yaml"))
        let first = rehearsal.play(try #require(RehearsedRequest("http://a.example/")))
        let second = rehearsal.play(try #require(RehearsedRequest("http://b.example/")))
        #expect(first.record.id != second.record.id)
        #expect(!first.isBlocked && second.isBlocked)
        #expect(second.answered?.head.status == 403)
        #expect(!second.isCutOff)
    }

    @Test("Tools that are switched off do not act")
    func off() throws {
        let profile = try RuleProfile("version: 1\noff: block\nblock: { at: \"*\" }", file: "p.yaml")
        let request = try #require(RehearsedRequest("http://a.example/"))
        var asIs = Rehearsal(profile)
        #expect(!asIs.play(request).isBlocked)
        var allOn = Rehearsal(profile, without: [])
        #expect(allOn.play(request).isBlocked)
    }

    @Test("A request body is seen by the tools and goes out")
    func body() throws {
        var request = try #require(RehearsedRequest("POST http://a.example/"))
        request.body = ByteBuffer(string: "hello")
        var rehearsal = Rehearsal(try RuleProfile("version: 1", file: "p.yaml"))
        let exchange = rehearsal.play(request)
        #expect(exchange.sent.map { String(buffer: $0.body) } == "hello")
        #expect(exchange.sent?.head.fields.value(of: .contentLength) == "5")
    }
}
