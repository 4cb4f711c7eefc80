import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

/// The examples of the guide's page "Rules by example", with wishes from public trackers and from our own trials.
@Suite("Rules by example")
struct RulesByExampleTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let heading: String
        /// The entries of `expect`.
        let expectations: String
        /// How long each request waits, in ms; may be empty.
        let waits: [ClosedRange<Int64>]

        init(_ heading: String, _ expectations: String, waits: [ClosedRange<Int64>] = []) {
            (self.heading, self.expectations, self.waits) = (heading, expectations, waits)
        }

        var testDescription: String { heading }
    }

    static let examples: [Example] = [
        // Own trial; ProxymanApp/Proxyman#840, #412; mswjs/msw#510
        Example(
            "Answer one GraphQL operation",
            #"""
            - request:
                method: POST
                url: https://api.example.com/graphql
                headers: { Content-Type: application/json }
                body: '{"operationName":"GetCart","query":"query GetCart { cart { items { id } } }"}'
              answers: { status: 200, body: '{"data":{"cart":{"items":[]}}}' }
              sends: nothing
            - request:
                method: POST
                url: https://api.example.com/graphql
                headers: { Content-Type: application/json }
                body: '{"operationName":"GetUser","query":"query GetUser { user { id } }"}'
              sends: https://api.example.com/graphql
            """#
        ),
        // ProxymanApp/Proxyman#1301, #1533, #1000, #780; httptoolkit/httptoolkit#96; dotnet/dev-proxy#115
        Example(
            "Different answers from one URL, by a value in the request's body",
            #"""
            - request: { method: POST, url: https://api.example.com/search, body: '{}' }
              answers: { body: '{"items":[1,2],"next":"abc"}' }
            - request: { method: POST, url: https://api.example.com/search, body: '{"cursor":"abc"}' }
              answers: { body: '{"items":[3,4],"next":null}' }
            """#
        ),
        // requestly/requestly#286, #206; mitmproxy/mitmproxy#7723
        Example(
            "Refuse requests that have a certain header",
            #"""
            - request: { url: https://api.example.com/, headers: { X-Client: legacy-2 } }
              answers: 426
              blocked: true
            - { request: { url: https://api.example.com/, headers: { X-Client: new } }, blocked: false }
            - { request: GET https://api.example.com/, blocked: false }
            """#
        ),
        // Own trial; mitmproxy/mitmproxy#7231. A dry run has no program; `program()` has one.
        Example(
            "Slow down only one program",
            "- { request: GET https://api.example.com/items, fires: [] }",
            waits: [0...0]
        ),
        // Kong/kong#3165; wiremock/wiremock#1426
        Example(
            "Send only one customer's requests to my machine",
            #"""
            - request: { url: https://api.example.com/v1/items, headers: { X-Tenant: acme } }
              sends: http://localhost:3000/v1/items
            - request: { url: https://api.example.com/v1/items, headers: { X-Tenant: other } }
              sends: https://api.example.com/v1/items
            """#
        ),
        // httptoolkit/httptoolkit#852
        Example(
            "Stop only at responses with an error",
            #"""
            - { request: GET https://api.example.com/, response: { status: 503 }, held: response }
            - { request: GET https://api.example.com/, held: false }
            """#
        ),
        // Own trial; imposter-project/imposter#526; dotnet/dev-proxy#3, #103
        Example(
            "One in five requests fails, with our JSON and Retry-After",
            #"""
            - request: GET https://api.example.com/items
              answers:
                status: 503
                headers: { Retry-After: "5", Content-Type: application/json }
                body: '{"error":"busy"}'
              sends: nothing
            - { request: GET https://api.example.com/items, answers: 200, sends: https://api.example.com/items }
            - { request: GET https://api.example.com/items, answers: 200, sends: https://api.example.com/items }
            - { request: GET https://api.example.com/items, answers: 200, sends: https://api.example.com/items }
            - { request: GET https://api.example.com/items, answers: 200, sends: https://api.example.com/items }
            """#
        ),
        // Own trial; InterNations/http-mock#61; wiremock/wiremock#176
        Example(
            "The first request gets 503, the next ones 200",
            #"""
            - { request: GET https://api.example.com/health, answers: 503, sends: nothing }
            - { request: GET https://api.example.com/health, answers: { status: 200, body: '{"ready":true}' } }
            - { request: GET https://api.example.com/health, answers: { status: 200, body: '{"ready":true}' } }
            """#
        ),
        // nock/nock#883; LukeMathWalker/wiremock-rs#87; mock-server/mockserver-monorepo#143
        Example(
            "One 401, to test that the client refreshes its token",
            #"""
            - { request: GET https://api.example.com/token, sends: https://api.example.com/token }
            - { request: GET https://api.example.com/me, answers: { status: 401, body: '{"error":"token expired"}' } }
            - { request: GET https://api.example.com/me, answers: 200, sends: https://api.example.com/me }
            - { request: GET https://api.example.com/me, answers: 200, sends: https://api.example.com/me }
            """#
        ),
        // ProxymanApp/proxyman-windows-linux#541; dotnet/dev-proxy#350; postmanlabs/httpbin#413
        Example(
            "429 after three requests of a client",
            #"""
            - { request: GET https://api.example.com/a, answers: 200 }
            - { request: GET https://api.example.com/b, answers: 200 }
            - { request: GET https://api.example.com/a, answers: 200 }
            - { request: GET https://api.example.com/a, answers: { status: 429, headers: { Retry-After: "30" } } }
            - { request: GET https://api.example.com/b, answers: 429, sends: nothing }
            """#
        ),
        // httptoolkit/httptoolkit#160; bblimke/webmock#16
        Example(
            "A request that never gets an answer",
            "- { request: GET https://api.example.com/slow, sends: nothing, fails: true }"
        ),
        // wiremock/WireMock.Net#480; httpmock/httpmock#199; LukeMathWalker/wiremock-rs#149
        Example(
            "A download that breaks off half way",
            #"""
            - request: GET https://api.example.com/export
              answers: { status: 200, body: '{"rows":[' }
              fails: true
            """#
        ),
        // mock-server/mockserver-monorepo#776, #1663; mockoon/mockoon#965; wiremock/wiremock#2011;
        // httptoolkit/httptoolkit#55
        Example(
            "A different delay for each request",
            #"""
            - { request: GET https://api.example.com/report, answers: { status: 200, body: '{"done":true}' } }
            - { request: GET https://api.example.com/search, fires: throttle/search, answers: 200 }
            """#,
            waits: [500...800, 1...8_000]
        ),
        // mockoon/mockoon#459; dotnet/dev-proxy#330
        Example(
            "A status that changes with each call",
            #"""
            - { request: GET https://api.example.com/device, answers: { body: '{"status":"preparing"}' } }
            - { request: GET https://api.example.com/device, answers: { body: '{"status":"ready"}' } }
            - { request: GET https://api.example.com/device, answers: { body: '{"status":"paired"}' } }
            - { request: GET https://api.example.com/device, answers: { body: '{"status":"preparing"}' } }
            """#
        ),
        // Own trial; wiremock/wiremock#405; mock-server/mockserver-monorepo#806; postmanlabs/postman-app-support#8504
        Example(
            "A value from the request in the answer",
            #"""
            - request:
                method: PUT
                url: https://api.example.com/items/17
                headers: { Content-Type: application/json }
                body: '{"quantity": 3}'
              answers: { status: 200, body: '{"id":"17","quantity":3}' }
            """#
        ),
        // mockoon/mockoon#96; dreamhead/moco#222; microcks/microcks#1097, #94
        Example(
            "A new id, and an expiry in five minutes",
            #"""
            - request: { method: POST, url: https://api.example.com/sessions }
              answers: { status: 201, body: '/^\{"id":"[0-9a-f-]{36}","expires":"\d{4}-\d\d-\d\dT[^"]+"\}$/' }
            """#
        ),
        // Own trial; ProxymanApp/Proxyman#1532, #2210; mockoon/mockoon#1705; Unleash/unleash#1619
        Example(
            "One field of the JSON changed",
            #"""
            - request: GET https://api.example.com/flags
              response:
                headers: { Content-Type: application/json }
                body: '{ "flags": { "new-checkout": false, "beta": 1.10 } }'
              answers: { body: '{ "flags": { "new-checkout": true, "beta": 1.10 } }' }
            """#
        ),
        // wiremock/wiremock#1919
        Example(
            "The same field in every element of a list",
            #"""
            - request: GET https://api.example.com/search
              response:
                headers: { Content-Type: application/json }
                body: '{"results":[{"id":1,"hasAccess":false},{"id":2,"hasAccess":false}]}'
              answers: { body: '{"results":[{"id":1,"hasAccess":true},{"id":2,"hasAccess":true}]}' }
            """#
        ),
        // ProxymanApp/Proxyman#1532
        Example(
            "An empty list, and one field less",
            #"""
            - request: GET https://api.example.com/items
              response:
                headers: { Content-Type: application/json }
                body: '{"items":[1,2],"debug":{"ms":3},"total":2}'
              answers: { body: '{"items":[],"total":2}' }
            """#
        ),
        // http-party/node-http-proxy#442; apache/apisix#4565
        Example(
            "A field in the request's JSON, before the server gets it",
            #"""
            - request:
                method: POST
                url: https://api.example.com/orders
                headers: { Content-Type: application/json }
                body: '{"item":5,"currency":"USD"}'
              sends: { body: '{"item":5,"currency":"EUR"}' }
            - request:
                method: POST
                url: https://api.example.com/orders
                headers: { Content-Type: application/json }
                body: '{"item":5}'
              sends: { body: '{"item":5,"currency":"EUR"}' }
            """#
        ),
        // requestly/requestly#622; ProxymanApp/Proxyman#2237
        Example(
            "CORS headers for the page that asks",
            #"""
            - request: { url: https://api.example.com/, headers: { Origin: "http://localhost:5173" } }
              response: { headers: { Access-Control-Allow-Origin: "*" } }
              answers:
                headers:
                  Access-Control-Allow-Origin: "http://localhost:5173"
                  Access-Control-Allow-Credentials: "true"
            - { request: GET https://api.example.com/, answers: { headers: { Access-Control-Allow-Origin: ~ } } }
            """#
        ),
        // mitmproxy/mitmproxy#1557; codegl/tracegl#7
        Example(
            "No Content-Security-Policy",
            #"""
            - request: GET https://www.example.com/
              response: { headers: { Content-Security-Policy: "default-src 'self'", Server: a } }
              answers: { headers: { Content-Security-Policy: ~, Server: a } }
            """#
        ),
        // mockoon/mockoon#245; react/create-react-app#4455; chimurai/http-proxy-middleware#477
        Example(
            "The server's cookies on localhost",
            #"""
            - request: GET https://api.example.com/login
              response: { headers: { Set-Cookie: "sid=7; Domain=example.com; Path=/; Secure" } }
              answers: { headers: { Set-Cookie: "sid=7; Path=/" } }
            """#
        ),
        // wiremock/wiremock#1154; mattolson/agent-sandbox#80
        Example(
            "A token from the environment on every request",
            #"""
            - request: GET https://api.example.com/me
              sends: { headers: { Authorization: Bearer t0k3n } }
            """#
        ),
        // ProxymanApp/Proxyman#938, #1361, #2191
        Example(
            "All subdomains on one local server, with the name in the query",
            #"""
            - request: GET https://acme.shop.example.com/products/7
              sends: http://localhost:3000/products/7?shop=acme
            """#
        ),
    ]

    /// The profiles of the page by their headings.
    private static func blocks() throws -> [String: String] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        let file = sources.appending(path: "Tools/Tools.docc/Guide/rules-by-example.md")
        let entries = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n### ").dropFirst()
        var blocks: [String: String] = [:]
        for entry in entries {
            let parts = entry.components(separatedBy: "```")
            try #require(parts.count == 3 && parts[1].hasPrefix("yaml\n"), "\(entry)")
            blocks[String(entry.prefix { $0 != "\n" })] = String(parts[1].dropFirst("yaml\n".count))
        }
        return blocks
    }

    private static func profile(_ heading: String, _ expectations: String? = nil) throws -> RuleProfile {
        let block = try #require(try blocks()[heading], "the page has no such heading")
        var inputs = VariableInputs()
        inputs.overrides["token"] = "t0k3n"
        let source = ProfileSource(file: "p.yaml", text: block + (expectations.map { "expect:\n\($0)" } ?? ""))
        return try RuleProfile(sources: [source], tools: .standard, variables: inputs)
    }

    @Test("Each example of the page has a test")
    func whole() throws {
        let headings = try Self.blocks().keys.sorted()
        #expect(headings == Self.examples.map(\.heading).sorted())
    }

    @Test("An example does what its heading says", arguments: examples)
    func example(example: Example) throws {
        let profile = try Self.profile(example.heading, example.expectations)
        #expect(profile.lints.isEmpty, "\(profile.lints)")
        let results = profile.dryRun()
        for result in results {
            #expect(result.passes, "\(result.expectation.name): \(result.differences) \(result.exchange.trace)")
        }
        for (result, wait) in zip(results, example.waits) {
            #expect(wait.contains(result.exchange.delay.nanoseconds / 1_000_000), "\(result.exchange.delay)")
        }
    }

    @Test("The example for one program slows that program", arguments: [("curl", true), ("node", false)])
    func program(name: String, isSlow: Bool) throws {
        let profile = try Self.profile("Slow down only one program")
        let dialogue = dialogue(profile, "https://api.example.com/items")
        dialogue.tell { machine, _ in machine.clientIdentified(ClientProcess(id: 7, name: name)) }
        dialogue.request()
        _ = dialogue.takePending()
        #expect((dialogue.wakeTime != nil) == isSlow)
        dialogue.leaveOpen()
    }
}
