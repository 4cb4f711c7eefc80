import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing
import Wire

@testable import ProxyServer

@Suite("Where requests inside a tunnel go", .timeLimit(.minutes(1)))
struct TunnelTargetTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func authentication() throws -> ProxyAuthentication {
        var users = ProxyUsers()
        users.set(try PasswordHash(of: "right".utf8), for: "ana")
        return ProxyAuthentication(users)
    }

    @Test(
        "A tunnel to sluice.proxy, which needs no credentials, leads to its pages and nowhere else",
        arguments: ["sluice.proxy:80", "SLUICE.PROXY.:443", "sluice.proxy:PORT"]
    )
    func ownPages(target: String) async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer }
        let server = "127.0.0.1:\(origin.port)"
        let target = target.replacing("PORT", with: "\(origin.port)")
        let requests = [
            "GET http://\(server)/x HTTP/1.1\r\nHost: \(server)\r\n\r\n",
            "POST http://\(server)/x HTTP/1.1\r\nHost: \(server)\r\nContent-Length: 0\r\n\r\n",
            "GET https://\(server)/x HTTP/1.1\r\nHost: \(server)\r\n\r\n",
            "GET http://\(server)/ HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: \(server)\r\n\r\n", "GET / HTTP/1.1\r\nHost: \(server)\r\n\r\n",
            "GET /nothing HTTP/1.1\r\nHost: sluice.proxy\r\n\r\n",
            "CONNECT \(server) HTTP/1.1\r\nHost: \(server)\r\n\r\n", "\u{1}\u{2}no HTTP\r\n\r\n",
        ]
        try await LoopbackProxy.run(authentication: try Self.authentication()) { proxy in
            for isSecure in [false, true] {
                for request in requests {
                    let client = try await EndingClient(port: proxy.port)
                    try await client.send("CONNECT \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                    try await client.receives("HTTP/1.1 200 ")
                    if isSecure { try await client.beginTLS(["http/1.1"], host: "sluice.proxy") }
                    try await client.send(request)
                    try await client.receives("HTTP/1.1 400 ")
                }
                let client = try await EndingClient(port: proxy.port)
                try await client.send("CONNECT \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                try await client.receives("\r\n\r\n")
                if isSecure { try await client.beginTLS(["http/1.1"], host: "sluice.proxy") }
                try await client.send("GET /ca.pem HTTP/1.1\r\nHost: sluice.proxy\r\n\r\n")
                try await client.receives("-----BEGIN CERTIFICATE-----")
            }
            #expect(origin.heads.isEmpty)
        }
    }

    @Test("A client that is silent in a tunnel to sluice.proxy is not connected to anything")
    func silentInOwnPages() async throws {
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.serverFirst = .milliseconds(1)
        let names = Names(addresses: ["sluice.proxy": "127.0.0.1"])
        let origin = try await LoopbackOrigin { _ in Self.answer }
        try await LoopbackProxy.run(timeouts: timeouts, authentication: try Self.authentication()) {
            $0.lookUp = names.lookUp
        } _: { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.send("CONNECT sluice.proxy:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("\r\n\r\n")
            // A tunnel that was opened later, and found silent likewise, has a server by now.
            let other = try await EndingClient(port: proxy.port)
            try await other.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n")
            try await other.send("Proxy-Authorization: Basic YW5hOnJpZ2h0\r\n\r\n")
            try await eventually("the other one has a server") { origin.connections == 1 }
            try await client.send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("HTTP/1.1 400 ")
            #expect(origin.connections == 1 && names.asked.isEmpty)
        }
    }

    @Test("The absolute form for another server is refused inside a tunnel, and reaches neither")
    func misdirected() async throws {
        let (first, second) = (
            try await LoopbackOrigin { _ in Self.answer }, try await LoopbackOrigin { _ in Self.answer }
        )
        try await LoopbackProxy.run { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: first.port)
            let server = "127.0.0.1:\(second.port)"
            try await client.send("GET http://\(server)/private HTTP/1.1\r\nHost: \(server)\r\nCookie: a=b\r\n\r\n")
            try await client.receives("HTTP/1.1 421 Misdirected Request\r\n")
            try await client.receives("This tunnel leads to 127.0.0.1:\(first.port), and the request is for \(server)")
            #expect(first.heads.isEmpty && second.heads.isEmpty)
        }
    }

    // MARK: - The client's word

    /// Refuses what is for `a.test`, unless that is verified.
    private static let rules = ProxyRules(
        chain: StageChain([
            ScriptedStage.on(.allowList) { handler in
                handler.needsVerifiedName = true
                handler.onRequestHead = { _, exchange in
                    let text = exchange.isNameVerified ? "verified" : "unverified"
                    return .respond(LocalAnswer(status: 200, contentType: "text/plain", text: text))
                }
            }
        ])
    )

    @Test(
        "A name in Host is verified by a look-up, whatever port is with it",
        arguments: [
            ("a.test", "127.0.0.1", "verified"), ("a.test:81", "::1 127.0.0.1", "verified"),
            ("a.test", "127.0.0.2", "unverified"), ("a.test", nil, "unverified"),
        ]
    )
    func lookedUp(host: String, addresses: String?, expected: String) async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer }
        let names = Names(addresses: addresses.map { ["a.test": $0] } ?? [:])
        try await LoopbackProxy.run(rules: Self.rules) {
            $0.lookUp = names.lookUp
        } _: { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: origin.port)
            try await client.send("GET /x HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            try await client.receives("\r\n\r\n\(expected)")
            #expect(names.asked.allSatisfy { $0 == "a.test" } && !names.asked.isEmpty)
        }
    }

    @Test(
        "A name that the client's tunnel was asked for, or the address itself, needs no look-up",
        arguments: ["127.0.0.1", "localhost"]
    )
    func nothingClaimed(host: String) async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer }
        let names = Names(addresses: [:])
        var timeouts = ProxyConfiguration.Timeouts()
        // A silent tunnel would be connected, and a name looked up for that.
        timeouts.serverFirst = .seconds(30)
        try await LoopbackProxy.run(rules: Self.rules, timeouts: timeouts) {
            $0.lookUp = names.lookUp
        } _: { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.send("CONNECT \(host):\(origin.port) HTTP/1.1\r\n\r\n")
            try await client.receives("\r\n\r\n")
            try await client.send("GET /x HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            try await client.receives("\r\n\r\nverified")
            #expect(names.asked.isEmpty)
        }
    }

    @Test("A name in TLS needs no look-up where the server's certificate is verified for it")
    func secure() async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer }
        for (serverName, host, skips, isAsked) in [
            ("a.test", "a.test", false, false), ("a.test", "b.test", false, false), ("a.test", "a.test", true, true),
            ("0x7f.2", "0x7f.2", false, false), ("0x7f.2", "0x7f.2", true, true),
        ] {
            let names = Names(addresses: [:])
            try await LoopbackProxy.run(rules: Self.rules) {
                ($0.lookUp, $0.skipsVerification) = (names.lookUp, false)
                if skips { $0.insecureHosts = ["a.test", "127.0.0.2"] }
            } _: { proxy in
                let client = try await EndingClient(port: proxy.port)
                try await client.tunnel(to: origin.port)
                try await client.beginTLS(["http/1.1"], host: serverName)
                try await client.send("GET /x HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                try await client.receives("\r\n\r\n\(isAsked ? "unverified" : "verified")")
                #expect(names.asked.isEmpty != isAsked)
            }
        }
    }

    @Test("A host is not verified from the next request on, and is verified again")
    func verificationIsSwitched() async throws {
        let authority = try CertificateAuthority.generate(label: "origin")
        let origin = try await EndingOrigin(answer: Self.answer, end: .clean, authority: authority)
        try await LoopbackProxy.run {
            $0.skipsVerification = false
        } _: { proxy in
            for (isVerified, status) in [(nil, 502), (false, 200), (true, 502)] as [(Bool?, Int)] {
                if let isVerified { #expect(proxy.server.setVerified("A.test", isVerified) == isVerified) }
                let client = try await EndingClient(port: proxy.port)
                try await client.tunnel(to: origin.port)
                try await client.beginTLS(["http/1.1"], host: "a.test")
                try await client.send("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
                try await client.receives("HTTP/1.1 \(status) ")
            }
            // Without a value it is turned.
            #expect(proxy.server.setVerified("a.test", nil) == false)
            #expect(proxy.server.setVerified("a.test", nil) == true)
            try await eventually("all are recorded") { proxy.recorder.finished.count >= 3 }
            let failures = proxy.recorder.finished.compactMap(\.record.failure?.unverifiedHost)
            #expect(failures == ["a.test", "a.test"])
        }
    }

    @Test(
        "Without verification a client certificate needs a look-up of the name that the client has",
        arguments: [true, false]
    )
    func clientCertificate(isNamed: Bool) async throws {
        let scratch = try Scratch()
        _ = try CertificateAuthority.open(directory: scratch.path)
        let identity = try TLSClientIdentity.load(name: "mine", file: scratch.path(CertificateAuthority.fileName))
        let authority = try CertificateAuthority.generate(label: "origin")
        let origin = try await EndingOrigin(answer: Self.answer, end: .clean, authority: authority)
        var rules = ProxyRules()
        rules.identity = { host, _ in host == "a.test" ? identity : nil }
        let names = Names(addresses: ["a.test": isNamed ? "127.0.0.1" : "127.0.0.2"])
        try await LoopbackProxy.run(rules: rules) {
            $0.lookUp = names.lookUp
        } _: { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: origin.port)
            try await client.beginTLS(["http/1.1"], host: "a.test")
            try await client.send("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
            try await client.receives("ok")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let trace = proxy.recorder.finished.flatMap { $0.messages.trace.map(\.text) }
            #expect(trace.contains { $0.contains("was not offered") } == !isNamed, "\(trace)")
        }
    }
}

/// Names with these addresses, and what was asked for.
private final class Names: Sendable {
    private let addresses: [String: String]
    private let questions = Mutex<[String]>([])

    init(addresses: [String: String]) { self.addresses = addresses }

    var asked: [String] { questions.withLock { $0 } }

    @Sendable
    func lookUp(_ host: String, _ family: AddressFamily) throws -> [SocketAddress] {
        questions.withLock { $0.append(host) }
        let found = try (addresses[host] ?? "").split(separator: " ").map {
            try SocketAddress(ipAddress: String($0), port: 0)
        }
        let isV6 = family == .v6
        let fitting = found.filter { family == .any || ($0.protocol == .inet6) == isV6 }
        guard !fitting.isEmpty else { throw ExchangeFailure(.dns, "There is no \(host).") }
        return fitting
    }
}
