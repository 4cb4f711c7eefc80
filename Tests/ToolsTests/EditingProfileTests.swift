import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Profiles that edit, hold and refuse")
struct EditingProfileTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Profiles")

    private func text(_ name: String) throws -> String {
        try String(contentsOf: EditingProfileTests.folder.appending(path: name), encoding: .utf8)
    }

    private func load(_ name: String) throws -> RuleProfile {
        try RuleProfile(try text(name), file: name)
    }

    @Test("no-cache.yaml has every request answered in full, but for fonts")
    func noCache() throws {
        let profile = try text("no-cache.yaml")
        let exchange = try RewrittenExchange(
            profile,
            request: "If-None-Match: 1",
            response: "ETag: 1\nExpires: tomorrow"
        )
        #expect(exchange.requestFields == "Host: example.com\nPragma: no-cache\nCache-Control: no-cache")
        #expect(exchange.responseFields == "Expires: 0\nCache-Control: no-cache")
        #expect(try RewrittenExchange(profile, url: "https://www.gstatic.com/x", response: "ETag: 1").trace.isEmpty)
    }

    @Test("strip-cookies.yaml takes out all by which a visitor is known, but not at the login")
    func stripCookies() throws {
        let profile = try text("strip-cookies.yaml")
        let fields = "Cookie: a=1\nAuthorization: Bearer x\nX-Session-Id: 1\nX-Other: 2"
        let exchange = try RewrittenExchange(
            profile,
            url: "https://shop.example.com/?utm_source=a&id=1&gclid=2&my_utm_x=3",
            request: fields,
            response: "Set-Cookie: a=1"
        )
        #expect(exchange.requestFields == "Host: shop.example.com\nX-Other: 2")
        #expect(exchange.requestLine == "> GET /?id=1&my_utm_x=3 (none)")
        #expect(exchange.responseFields.isEmpty)
        let login = try RewrittenExchange(profile, url: "https://login.example.com/?utm_source=a", request: fields)
        #expect(login.requestFields == "Host: login.example.com\n\(fields)")
        #expect(login.requestLine == "> GET /?utm_source=a (none)")
    }

    @Test("rewrite-response.yaml changes the plan, the size of pages and the host of orders")
    func rewriteResponse() throws {
        let profile = try text("rewrite-response.yaml")
        let plan = try RewrittenExchange(
            profile,
            url: "https://api.example.com/v1/me",
            response: "Content-Type: application/json",
            responseBody: ByteBuffer(string: #"{"plan": "free","trial":true,"x":{"trial":true}}"#)
        )
        #expect(
            String(buffer: plan.responseBody) == #"{"plan":"pro","was":"free","trial":false,"x":{"trial":true}}"#
        )
        #expect(plan.responseFields == "Content-Type: application/json\nX-Sluice: plan changed")
        let items = try RewrittenExchange(profile, url: "https://api.example.com/v1/items?page=2&per_page=100")
        #expect(items.requestLine == "> GET /v1/items?page=2&per_page=10 (none)")
        let orders = try RewrittenExchange(profile, url: "https://api.example.com/v1/orders/7?x")
        #expect(orders.connect == "https://staging.example.com:443")
        #expect(orders.requestLine == "> GET /v2/orders/7?x (none)")
        #expect(orders.requestFields == "Host: staging.example.com")
        #expect(try RewrittenExchange(profile, url: "https://api.example.com/v1/pay").trace.isEmpty)
        let failing = profile.replacing("enabled: false", with: "enabled: true ")
        let pay = try RewrittenExchange(
            failing,
            url: "https://api.example.com/v1/pay",
            response: "Content-Type: application/json"
        )
        #expect(pay.status == "402 Payment Required")
        #expect(String(buffer: pay.responseBody) == #"{"error":"card declined"}"#)
    }

    @Test("hold-login.yaml holds a login twice, and what deletes once")
    func holdLogin() throws {
        let profile = try load("hold-login.yaml")
        let login = dialogue(profile, "https://api.example.com/login", method: "POST")
        login.request()
        #expect(login.takePending().first == "hold 1.1 request ''")
        login.decide(.execute(nil))
        #expect(login.takePending() == ["connect https://api.example.com:443"])
        login.ready()
        _ = login.takePending()
        login.responseHead(200, .length(0))
        login.responseEnd()
        #expect(login.takePending().first == "hold 1.2 response ''")
        login.advance(.seconds(45))
        login.elapsed(.response, 2)
        login.expect("release 1.2", "< 200 (0)", "< end", "finished")
        login.finish()
        let deletion = dialogue(profile, "https://api.example.com/users/1", method: "DELETE")
        deletion.request()
        #expect(deletion.takePending().first == "hold 1.1 request ''")
        deletion.advance(.minutes(10))
        deletion.elapsed(.request, 1)
        deletion.expect("release 1.1", "abort", "finished")
        deletion.finish()
        #expect(outcome(profile, "https://api.example.com/login") == "passed")
    }

    @Test("fail-one-in-five.yaml fails the same calls in every run")
    func failOneInFive() throws {
        func run() throws -> [Bool] {
            let profile = try load("fail-one-in-five.yaml")
            return (0..<500).map { outcome(profile, "https://api.example.com/v1/users?page=\($0 % 50)") == "503" }
        }
        let failed = try run()
        #expect(try run() == failed)
        // Five standard deviations are 45.
        #expect((55...145).contains(failed.count { $0 }))
        #expect(outcome(try load("fail-one-in-five.yaml"), "https://other.example.com/") == "passed")
    }

    @Test("allow-only-mine.yaml lets nothing else pass")
    func allowOnlyMine() throws {
        let profile = try load("allow-only-mine.yaml")
        #expect(outcome(profile, "http://localhost:3000/") == "passed")
        #expect(outcome(profile, "https://api.example.com/v1") == "passed")
        #expect(outcome(profile, "https://api.example.com/collect?x") == "404")
        #expect(outcome(profile, "https://tracker.example.org/") == "403")
        #expect(outcome(profile, "tracker.example.org:443", kind: .tunnel) == "403")
    }
}
