import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Testing
import Tools

@Suite("Dry runs")
struct DryRunTests {
    private func play(
        _ rules: String,
        _ request: String,
        _ response: DryRunResponse = .init()
    ) throws -> DryRunExchange {
        var dryRun = DryRun(try RuleProfile("version: 1\n" + rules, file: "p.yaml"))
        return dryRun.play(try #require(DryRunRequest(request)), response)
    }

    @Test("Without rules a request goes out as it came, and the response comes back")
    func untouched() throws {
        let body = ByteBuffer(string: String(repeating: "x", count: 200_000))
        let response = DryRunResponse(status: 201, fields: [("X-A", "1"), ("X-A", "2")], body: body)
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
        let request = try #require(DryRunRequest(text))
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
        #expect(DryRunRequest(text) == nil)
    }

    @Test("Several requests of a dry run follow one another")
    func several() throws {
        var dryRun = DryRun(try RuleProfile("version: 1\nblock: { at: b.example }", file: "p.yaml"))
        let first = dryRun.play(try #require(DryRunRequest("http://a.example/")))
        let second = dryRun.play(try #require(DryRunRequest("http://b.example/")))
        #expect(first.record.id != second.record.id)
        #expect(!first.isBlocked && second.isBlocked)
        #expect(second.answered?.head.status == 403)
        #expect(!second.isCutOff)
    }

    @Test("Tools that are switched off do not act")
    func off() throws {
        let profile = try RuleProfile("version: 1\noff: block\nblock: { at: \"*\" }", file: "p.yaml")
        let request = try #require(DryRunRequest("http://a.example/"))
        var asIs = DryRun(profile)
        #expect(!asIs.play(request).isBlocked)
        var allOn = DryRun(profile, without: [])
        #expect(allOn.play(request).isBlocked)
    }

    @Test("A request body is seen by the tools and goes out")
    func body() throws {
        var request = try #require(DryRunRequest("POST http://a.example/"))
        request.body = ByteBuffer(string: "hello")
        var dryRun = DryRun(try RuleProfile("version: 1", file: "p.yaml"))
        let exchange = dryRun.play(request)
        #expect(exchange.sent.map { String(buffer: $0.body) } == "hello")
        #expect(exchange.sent?.head.fields.value(of: .contentLength) == "5")
    }
}
