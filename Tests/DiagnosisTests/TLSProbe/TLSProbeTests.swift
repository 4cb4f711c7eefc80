import Foundation
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing
import Wire

@testable import Diagnosis

@Suite("A probe of a server's TLS") struct TLSProbeTests {
    private func codes(_ report: TLSReport) -> [TLSReport.Code] { report.problems.map(\.code) }

    private func passes(_ report: TLSReport, _ demands: TransportSecurity.Demands) -> Bool? {
        report.transportSecurity.first { $0.demands == demands }?.passes
    }

    private func version(_ report: TLSReport, _ version: TLSVersion) throws -> TLSReport.Version {
        try #require(report.versions.first { $0.version == version })
    }

    @Test("A good server: versions, ciphers and their order, ALPN, resumption, and no exception is needed")
    func good() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate()
        let report = try await server.report([
            "-alpn", "h2,http/1.1", "-serverpref", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA",
            "-ciphersuites", "TLS_AES_128_GCM_SHA256", "-min_protocol", "TLSv1.2",
        ])
        #expect(report.isAcceptable, "\(report.problems)")
        #expect(report.usual?.version == .tls1_3)
        #expect(report.usual?.cipher == "TLS_AES_128_GCM_SHA256")
        #expect(report.usual?.applicationProtocol == "h2")
        #expect(report.applicationProtocols == ["h2", "http/1.1"])
        #expect(report.resumption == .resumed)
        #expect(report.daysLeft == 29 || report.daysLeft == 30)
        #expect(report.address == "127.0.0.1")
        #expect(report.versions.map(\.version) == [.tls1_3, .tls1_2, .tls1_1, .tls1_0])
        #expect(try version(report, .tls1_3).ciphers.map(\.name) == ["TLS_AES_128_GCM_SHA256"])
        let newer = try version(report, .tls1_2)
        #expect(newer.ciphers.map(\.name) == ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_CBC_SHA"])
        #expect(newer.ciphers.map(\.hasForwardSecrecy) == [true, false])
        #expect(newer.prefersOwnOrder == true)
        for old in [TLSVersion.tls1_1, .tls1_0] {
            guard case .refused = try version(report, old).state else {
                Issue.record("\(old) is offered")
                continue
            }
        }
        #expect(report.transportSecurity.count == 21)
        #expect(report.transportSecurity.allSatisfy { $0.passes })
        #expect(report.leastExceptions == nil)
        let leaf = try #require(report.findings.certificates.first)
        #expect((leaf.keyType, leaf.keyBits) == ("RSA", 2_048))
        #expect(leaf.signatureDigest == "SHA256")
        #expect(!report.findings.isCertificateRequested)
    }

    @Test("The client's order decides where the server has none")
    func clientsOrder() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate(key: "ec:" + (try await curve(server)))
        let report = try await server.report(["-tls1_3"])
        #expect(try version(report, .tls1_3).prefersOwnOrder == false)
        #expect(report.findings.certificates.first?.curve == "prime256v1")
        #expect(report.applicationProtocols.isEmpty)
    }

    private func curve(_ server: OpenSSLServer) async throws -> String {
        let file = server.scratch.path("curve.pem")
        try await Program.require("openssl", ["ecparam", "-name", "prime256v1", "-out", file])
        return file
    }

    @Test("Expired, for another name, self-signed, of an unknown authority")
    func certificates() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate("expired", days: -1)
        let expired = try await server.report(certificate: "expired")
        #expect(codes(expired) == [.expired])
        #expect((expired.daysLeft ?? 0) < 0)
        #expect(expired.usual != nil && !expired.isAcceptable)
        #expect(expired.transportSecurity.allSatisfy { !$0.passes })
        #expect(expired.leastExceptions == nil)

        try await server.certificate(
            "other",
            extensions: "subjectAltName=DNS:other.example\nextendedKeyUsage=serverAuth"
        )
        let other = try await server.report(certificate: "other")
        #expect(codes(other) == [.wrongName])
        #expect(other.problems.first?.text.contains("DNS:other.example") == true)

        let selfSigned = try await server.report(
            certificate: "root",
            trust: TLSTrust(includesSystem: false)
        )
        #expect(codes(selfSigned).contains(.selfSigned))
        #expect(codes(selfSigned).contains(.wrongName))
    }

    @Test("A missing intermediate certificate is named, and where it can be had, and nothing is downloaded")
    func missingIntermediate() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate(
            "middle",
            extensions: "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign,cRLSign\n"
        )
        let names = "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"
        try await server.certificate(
            issuer: "middle",
            extensions: names + "authorityInfoAccess=caIssuers;URI:http://127.0.0.1:9/middle.crt\n"
        )
        let missing = try await server.report()
        #expect(codes(missing) == [.missingIssuer])
        let words = missing.problems.first?.text ?? ""
        #expect(words.contains("'middle'") && words.contains("http://127.0.0.1:9/middle.crt"), "\(words)")
        // An unknown authority at the end of a whole chain is another matter.
        let chain = ["-cert_chain", server.scratch.path("middle.pem")]
        #expect(try await server.report(chain).isAcceptable)
        let root = server.scratch.text("middle.pem") + server.scratch.text("root.pem")
        let whole = ["-cert_chain", try server.scratch.write("whole.pem", root)]
        let unknown = try await server.report(whole, trust: TLSTrust(includesSystem: false))
        #expect(codes(unknown) == [.unknownIssuer])
        #expect(unknown.problems.first?.text.contains("'Probe root'") == true)
    }

    @Test("TLS 1.0 alone: no client of today connects, and two exceptions together would let an app in")
    func oldest() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate()
        let report = try await server.report(["-tls1", "-cipher", "AES128-SHA:@SECLEVEL=0"])
        #expect(codes(report) == [.tls])
        #expect(report.usual == nil)
        #expect(try version(report, .tls1_0).ciphers.map(\.name) == ["TLS_RSA_WITH_AES_128_CBC_SHA"])
        #expect(!report.findings.certificates.isEmpty)
        #expect(passes(report, .usual) == false)
        #expect(passes(report, .init(minimum: .tls1_0)) == false)
        #expect(passes(report, .init(minimum: .tls1_1, needsForwardSecrecy: false)) == false)
        #expect(passes(report, .init(minimum: .tls1_0, needsForwardSecrecy: false)) == true)
        #expect(passes(report, .init(allowsArbitraryLoads: true)) == true)
        let least = try #require(report.leastExceptions)
        #expect(least.demands == .init(minimum: .tls1_0, needsForwardSecrecy: false))
    }

    @Test("TLS 1.2 without forward secrecy, and TLS 1.3 alone")
    func single() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate()
        let plain = try await server.report(["-tls1_2", "-cipher", "kRSA+AESGCM"])
        #expect(plain.isAcceptable)
        #expect(plain.usual?.version == .tls1_2)
        #expect(passes(plain, .usual) == false)
        #expect(passes(plain, .init(needsForwardSecrecy: false)) == true)
        #expect(passes(plain, .init(minimum: .tls1_0)) == false)
        #expect(passes(plain, .init(minimum: .tls1_3, needsForwardSecrecy: false)) == false)
        #expect(plain.leastExceptions?.demands == .init(needsForwardSecrecy: false))
        let newest = try await server.report(["-tls1_3"])
        #expect(newest.isAcceptable)
        #expect(passes(newest, .init(minimum: .tls1_3)) == true)
        guard case .refused = try version(newest, .tls1_2).state else {
            Issue.record("TLS 1.2 is offered")
            return
        }
    }

    @Test("A weak key and a signature with SHA-1 are named, whatever this OpenSSL takes")
    func weak() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate("short", key: "rsa:1024")
        let short = try await server.report(["-cipher", "ALL:@SECLEVEL=0"], certificate: "short")
        #expect(codes(short) == [.weakKey])
        #expect(short.problems.first?.text.contains("1024") == true)
        #expect(short.transportSecurity.allSatisfy { !$0.passes })
        try await server.certificate("old", digest: "-sha1")
        let old = try await server.report(["-cipher", "ALL:@SECLEVEL=0"], certificate: "old")
        #expect(codes(old) == [.weakSignature])
        #expect(old.problems.first?.text.contains("sha1WithRSAEncryption") == true)
    }

    @Test("Staples: none, good, revoked, and of a signer that is no authority")
    func staples() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate()
        #expect(try await server.report().findings.staple == nil)
        let good = try await server.report(["-status_file", try await server.staple(isRevoked: false)])
        #expect(good.findings.staple?.state == .good)
        #expect(good.findings.staple?.validUntil != nil)
        #expect(good.isAcceptable)
        let revoked = try await server.report(["-status_file", try await server.staple(isRevoked: true)])
        #expect(revoked.findings.staple?.state == .revoked)
        #expect(revoked.findings.staple?.reason == "keyCompromise")
        #expect(revoked.findings.staple?.revokedAt == 1_790_856_000)
        #expect(codes(revoked) == [.revoked])
        #expect(passes(revoked, .usual) == false)
        try await server.certificate("stranger", extensions: "subjectAltName=IP:127.0.0.1\n")
        let forged = try await server.staple(isRevoked: true, signer: "stranger")
        let report = try await server.report(["-status_file", forged])
        #expect(report.findings.staple?.state == .unusable)
        #expect(report.isAcceptable)
    }

    @Test(
        "A certificate of the client that is demanded keeps clients away, one that is asked for does not",
        arguments: ["-tls1_2", "-tls1_3"]
    )
    func clientCertificate(version: String) async throws {
        let server = try await OpenSSLServer()
        try await server.certificate()
        let demanded = try await server.report([version, "-Verify", "1", "-verify_quiet"])
        #expect(codes(demanded) == [.clientCertificate])
        #expect(demanded.demandsClientCertificate)
        #expect(passes(demanded, .usual) == false)
        let asked = try await server.report([version, "-verify", "1", "-verify_quiet"])
        #expect(asked.isAcceptable, "\(asked.problems)")
        #expect(asked.findings.isCertificateRequested)
        #expect(passes(asked, .usual) == true)
    }

    // MARK: - Servers without TLS

    private func probe(
        _ port: Int,
        connectTimeout: Duration = .seconds(60),
        timeLimit: Duration = .seconds(120)
    ) throws -> TLSProbe {
        try TLSProbe(
            ProbeTarget(host: "127.0.0.1", port: port),
            trust: TLSTrust(includesSystem: false),
            connectTimeout: connectTimeout,
            timeLimit: timeLimit
        )
    }

    @Test("A server that speaks plain HTTP is known, and only insecure loads get through")
    func plainHTTP() async throws {
        let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
        let report = try await BluntServer.withPort(.says(answer)) { try await probe($0).report() }
        #expect(codes(report) == [.plainHTTP])
        #expect(report.speaksPlainHTTP)
        #expect(passes(report, .usual) == false)
        #expect(passes(report, .init(allowsInsecureHTTP: true)) == true)
        #expect(report.leastExceptions?.demands == .init(allowsInsecureHTTP: true))
    }

    @Test("One that answers a TLS hello with a page and no status line is known by a request")
    func oldHTTP() async throws {
        let report = try await BluntServer.withPort(.isOldHTTP) { try await probe($0).report() }
        #expect(codes(report) == [.plainHTTP])
        #expect(report.speaksPlainHTTP)
    }

    @Test("A server that closes says so and is asked no more than needed")
    func closing() async throws {
        let report = try await BluntServer.withPort(.closes) { try await probe($0).report() }
        #expect(codes(report) == [.closed])
        #expect(report.transportSecurity.allSatisfy { !$0.passes })
        #expect(report.versions.allSatisfy { $0.ciphers.isEmpty })
    }

    /// A route that notes how long its connections may take.
    private final class NotingRoute: ProbeRoute {
        let proxy: UpstreamProxy? = nil
        private let inner: DirectRoute
        private let noted = Mutex<[Duration]>([])
        var limits: [Duration] { noted.withLock(\.self) }

        init(_ inner: DirectRoute) { self.inner = inner }

        func connect(within limit: Duration) async throws -> ProbeStream {
            noted.withLock { $0.append(limit) }
            return try await inner.connect(within: limit)
        }
    }

    @Test(
        "A server that says nothing takes one timeout and no more: a plain request has the second half of it",
        arguments: [(Duration.milliseconds(300), Duration.seconds(60)), (.seconds(60), .milliseconds(300))]
    )
    func silent(connectTimeout: Duration, timeLimit: Duration) async throws {
        let (report, limits) = try await BluntServer.withPort(.hangs) { port in
            let target = ProbeTarget(host: "127.0.0.1", port: port)
            let route = NotingRoute(DirectRoute(to: target))
            let report = try await TLSProbe(
                target,
                route: route,
                trust: TLSTrust(includesSystem: false),
                connectTimeout: connectTimeout,
                timeLimit: timeLimit
            ).report()
            return (report, route.limits)
        }
        #expect(codes(report) == [.silent])
        #expect(report.versions.isEmpty)
        #expect(report.problems.first?.text.contains("within 0.3 seconds") == true, "\(report.problems)")
        // A machine that is slow may leave no time for the second.
        #expect((1...2).contains(limits.count), "\(limits)")
        #expect(limits.dropFirst().allSatisfy { $0 <= .milliseconds(150) }, "\(limits)")
    }

    @Test("A server that is silent at a hello and answers a request speaks plain HTTP")
    func waitingForRequest() async throws {
        let report = try await BluntServer.withPort(.waitsForRequest) {
            try await probe($0, connectTimeout: .seconds(2)).report()
        }
        #expect(codes(report) == [.plainHTTP])
        #expect(report.speaksPlainHTTP)
    }

    @Test("Nobody listens")
    func unreachable() async throws {
        // A port that was just free may be another test's by now; nobody has this one (tcpmux).
        let report = try await probe(1).report()
        #expect(codes(report) == [.unreachable])
        #expect(report.problems.first?.text.contains("refused the connection") == true, "\(report.problems)")
        #expect(report.address == nil)
    }

    @Test("Once the time is over, what is not known is left open")
    func outOfTime() async throws {
        let server = try await OpenSSLServer()
        try await server.certificate()
        let running = try await server.start()
        defer { running.program.signal(SIGKILL) }
        let probe = try TLSProbe(
            ProbeTarget(host: "127.0.0.1", port: running.port),
            trust: server.trust,
            connectTimeout: .seconds(60),
            timeLimit: .zero
        )
        let report = try await probe.report()
        #expect(codes(report) == [.silent])
        #expect(!report.isAcceptable)
    }

    @Test("A probe that is stopped ends with the error of who stopped it")
    func stopped() async throws {
        struct Stop: Error {}
        let server = try await OpenSSLServer()
        try await server.certificate()
        let running = try await server.start()
        defer { running.program.signal(SIGKILL) }
        let probe = try TLSProbe(
            ProbeTarget(host: "127.0.0.1", port: running.port),
            trust: server.trust,
            connectTimeout: .seconds(60),
            timeLimit: .seconds(120)
        ) { throw Stop() }
        await #expect(throws: Stop.self) { try await probe.report() }
    }

    @Test("A probe goes by the route that it is given")
    func route() async throws {
        struct Elsewhere: ProbeRoute {
            let inner: DirectRoute
            let proxy: UpstreamProxy? = nil
            func connect(within limit: Duration) async throws -> ProbeStream { try await inner.connect(within: limit) }
        }
        let server = try await OpenSSLServer()
        try await server.certificate()
        let running = try await server.start(["-tls1_3"])
        defer { running.program.signal(SIGKILL) }
        let report = try await TLSProbe(
            ProbeTarget(host: "nowhere.invalid", port: 443, serverName: "localhost"),
            route: Elsewhere(inner: DirectRoute(to: ProbeTarget(host: "127.0.0.1", port: running.port))),
            trust: server.trust,
            connectTimeout: .seconds(60),
            timeLimit: .seconds(120)
        ).report()
        #expect(report.isAcceptable, "\(report.problems)")
    }
}
