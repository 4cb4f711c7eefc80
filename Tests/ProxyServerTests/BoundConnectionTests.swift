import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing
import Wire

@Suite("Connections that a server authenticates", .timeLimit(.minutes(2)))
struct BoundConnectionTests {
    /// How a client reaches a server.
    enum Way: CaseIterable, Sendable {
        case plain, secure, http2, reverse
        /// Through an upstream proxy that reads the requests of plain HTTP.
        case forwarding
    }

    private static func response(_ status: Int, _ fields: String, _ body: String) -> ConnectionOrigin.Reply {
        .answer("HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// A server that authenticates a connection by two requests on it, as with NTLM, or by Basic.
    private func makeServer(_ authority: CertificateAuthority? = nil) async throws -> ConnectionOrigin {
        try await ConnectionOrigin(authority: authority) {
            var isChallenged = false
            var user: String?
            return { head in
                if head.contains("/slow ") { return .silence }
                if head.contains("NTLM TYPE1") {
                    isChallenged = true
                    return Self.response(401, "WWW-Authenticate: NTLM CHALLENGE\r\n", "type2!")
                }
                if head.contains("NTLM TYPE3"), isChallenged { user = "alice" }
                if head.contains("Basic Ym9i") { user = "bob" }
                if head.contains("Negotiate TICKET") { user = "carol" }
                guard let user else {
                    return Self.response(
                        401,
                        "WWW-Authenticate: Basic realm=x, Negotiate\r\nWWW-Authenticate: NTLM\r\n",
                        "none!"
                    )
                }
                return Self.response(200, "", "\(user)!")
            }
        }
    }

    /// Runs a test with a server, and clients that reach it in one way.
    private func run(
        _ way: Way,
        _ body: (ConnectionOrigin, LoopbackProxy, () async throws -> AskingClient) async throws -> Void
    ) async throws {
        let server = try await makeServer(way == .secure ? CertificateAuthority.generate(label: "origin") : nil)
        var rules = ProxyRules()
        var mode = ListenerMode.regular
        if way == .forwarding {
            let proxy = UpstreamProxy(kind: .http, host: "127.0.0.1", port: server.port)
            rules.route = { _ in .through(proxy, reason: "test") }
        }
        if way == .reverse { mode = .reverse(ReverseTarget(.http, host: "127.0.0.1", port: server.port)) }
        let host = way == .forwarding ? "server.example" : "127.0.0.1:\(server.port)"
        try await LoopbackProxy.run(rules: rules, mode: mode, loops: 1) { proxy in
            try await body(server, proxy) {
                if way == .http2 { return AskingClient(try await EndingStream(port: proxy.port), host: host) }
                let client = try await EndingClient(port: proxy.port)
                if way == .secure { try await client.tunnel(to: server.port, protocols: ["http/1.1"]) }
                return AskingClient(
                    client,
                    prefix: way == .secure || way == .reverse ? "" : "http://\(host)",
                    host: host
                )
            }
        }
    }

    @Test(
        "Such a connection is one client's, during the handshake and after it, and is closed with it",
        arguments: Way.allCases
    )
    func bound(way: Way) async throws {
        try await run(way) { server, proxy, connect in
            var alice: AskingClient? = try await connect()
            let others = [try await connect(), try await connect(), try await connect()]
            #expect(try await alice?.ask("GET", "/", [("Authorization", "NTLM TYPE1")]).hasSuffix("type2!") == true)
            for other in others { try await other.send("GET", "/slow") }
            try await eventually("the others wait for the server") { server.heads.count == 4 }
            #expect(try await alice?.ask("GET", "/", [("Authorization", "NTLM TYPE3")]).hasSuffix("alice!") == true)
            #expect(try await alice?.ask().hasSuffix("alice!") == true)
            #expect(try await alice?.ask("POST", "/", body: "x").hasSuffix("alice!") == true)
            let open = server.open
            let newcomer = try await connect()
            #expect(try await newcomer.ask().hasSuffix("none!"))
            #expect(server.open == open + 1)
            alice = nil
            try await eventually("its connection is closed with the client's") { server.open == open }
            #expect(try await connect().ask().hasSuffix("none!"))
            try await eventually("three connections were bound") {
                let notes = proxy.recorder.finished.flatMap(\.messages.trace).map(\.text)
                return notes.count { $0.contains("(NTLM, Negotiate)") } == 3
            }
        }
    }

    @Test(
        "Credentials that need no challenge, and those of other schemes where a server offers such a one, bind it too"
    )
    func withoutChallenge() async throws {
        for credentials in ["Negotiate TICKET", "Basic Ym9i"] {
            try await run(.plain) { server, _, connect in
                // That a server offers them is known from any client.
                if credentials.hasPrefix("Basic") { #expect(try await connect().ask().hasSuffix("none!")) }
                let client = try await connect()
                #expect(try await client.ask("GET", "/", [("Authorization", credentials)]).contains("200 X"))
                #expect(try await connect().ask().hasSuffix("none!"))
                #expect(try await client.ask().contains("200 X"))
            }
        }
    }

    @Test("A server that speaks HTTP/2 too is asked in HTTP/1.1 by a client of HTTP/1.1 that uses such a scheme")
    func notHTTP2() async throws {
        let authority = try CertificateAuthority.generate(label: "origin")
        let server = try await ConnectionOrigin(authority: authority, protocols: ["h2", "http/1.1"]) {
            { _ in Self.response(401, "WWW-Authenticate: NTLM CHALLENGE\r\n", "type2!") }
        }
        try await LoopbackProxy.run(loops: 1) { proxy in
            let client = AskingClient(
                try await EndingClient(port: proxy.port),
                prefix: "https://127.0.0.1:\(server.port)",
                host: "x"
            )
            #expect(try await client.ask("GET", "/", [("Authorization", "NTLM TYPE1")]).hasSuffix("type2!"))
        }
    }

    @Test("Where no server offers such a scheme, credentials leave a connection to all")
    func ordinary() async throws {
        let server = try await ConnectionOrigin { { _ in Self.response(200, "", "ok!") } }
        try await LoopbackProxy.run(loops: 1) { proxy in
            for credentials in ["Basic Ym9i", "Bearer NTLM", "Digest username=\"Negotiate\""] {
                let client = AskingClient(
                    try await EndingClient(port: proxy.port),
                    prefix: "http://127.0.0.1:\(server.port)",
                    host: "x"
                )
                #expect(try await client.ask("GET", "/", [("Authorization", credentials)]).hasSuffix("ok!"))
            }
        }
        #expect(server.made == 1)
    }
}
