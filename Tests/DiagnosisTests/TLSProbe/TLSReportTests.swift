import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Diagnosis
@testable import Jobs
@testable import Wire

@Suite("The report of a probe") struct TLSReportTests {
    private func facts(
        _ name: String = "leaf",
        issuer: String = "Root",
        keyType: String = "RSA",
        keyBits: Int = 2_048,
        digest: String? = "SHA256",
        from start: Int64 = 1_700_000_000,
        days: Int64 = 90,
        isSelfIssued: Bool = false,
        namesServerUsage: Bool = true
    ) -> CertificateFacts {
        CertificateFacts(
            summary: CertificateSummary(
                subject: "CN=\(name)",
                issuer: "CN=\(issuer)",
                alternativeNames: ["DNS:a.example"],
                notBefore: start,
                notAfter: start + days * 86_400,
                fingerprint: "00"
            ),
            name: name,
            issuerName: issuer,
            keyType: keyType,
            keyBits: keyBits,
            signatureAlgorithm: "sha256WithRSAEncryption",
            signatureDigest: digest,
            isSelfIssued: isSelfIssued,
            namesServerUsage: namesServerUsage
        )
    }

    private func problems(_ found: [ChainProblem], _ chain: [CertificateFacts]? = nil) -> [TLSReport.Problem] {
        CertificateProblems.all(in: TLSProbeFindings(certificates: chain ?? [facts()], problems: found))
    }

    @Test("Each reason has a code and words that name it")
    func reasons() {
        let cases: [(TLSError.CertificateProblem, TLSReport.Code, String)] = [
            (.expired(1_700_000_000), .expired, "2023-11-14"),
            (.notYetValid(1_700_000_000), .notYetValid, "2023-11-14"),
            (.selfSigned, .selfSigned, "--upstream-ca FILE"), (.unknownIssuer("Root"), .missingIssuer, "'Root'"),
            (.missingIssuer("Root", url: "http://x/r.crt"), .missingIssuer, "http://x/r.crt"),
            (.nameMismatch(["DNS:b.example"]), .wrongName, "DNS:b.example"),
            (.noHostName(commonName: "b", addresses: []), .wrongName, "'b'"),
            (.tooWeak("ee key too small"), .weakKey, "ee key too small"),
            (.compromisedAuthority("Middle"), .compromisedAuthority, "'Middle'"),
            (.revoked(1_700_000_000, reason: nil), .revoked, "2023-11-14"), (.other("odd"), .other, "odd"),
        ]
        for (problem, code, words) in cases {
            let found = problems([ChainProblem(depth: 0, problem: problem)])
            #expect(found.map(\.code) == [code])
            #expect(found.first?.text.contains(words) == true, "\(found)")
            #expect(found.first?.depth == 0)
        }
    }

    @Test("What is found twice is said once, and in our words where there are such")
    func once() {
        let short = facts(keyBits: 1_024)
        let found = [
            ChainProblem(depth: 0, problem: .tooWeak("ee key too small")),
            ChainProblem(depth: 0, problem: .missingIssuer("Root", url: "u")),
            ChainProblem(depth: 0, problem: .unknownIssuer("Root")),
        ]
        let all = problems(found, [short])
        #expect(all.map(\.code) == [.missingIssuer, .weakKey])
        #expect(all.last?.text.contains("1024 bits") == true)
    }

    @Test("A key is weak below 2048 bits of RSA or DSA, and below 224 of a curve, anywhere in the chain")
    func keys() {
        let cases: [(String, Int, Bool)] = [
            ("RSA", 2_047, true), ("RSA", 2_048, false), ("DSA", 1_024, true), ("EC", 192, true), ("EC", 223, true),
            ("EC", 224, false), ("EC", 256, false), ("ED25519", 253, false),
        ]
        for (type, bits, isWeak) in cases {
            let found = problems([], [facts(), facts("Middle", keyType: type, keyBits: bits)])
            #expect(found.map(\.code) == (isWeak ? [.weakKey] : []), "\(type) \(bits)")
            #expect(found.allSatisfy { $0.depth == 1 && $0.text.contains("\(type) \(bits) bits") }, "\(found)")
        }
    }

    @Test("An authority's own signature is not looked at, an intermediate's is")
    func signatures() {
        let root = facts("Root", digest: "SHA1", isSelfIssued: true)
        #expect(problems([], [facts(), root]).isEmpty)
        let middle = facts("Middle", digest: "SHA1")
        #expect(problems([], [facts(), middle]).map(\.depth) == [1])
    }

    @Test("Apple's rules for certificates issued since July 2019")
    func appleRules() {
        func refusals(_ facts: CertificateFacts) -> Int {
            TransportSecurity.refusals(of: TLSProbeFindings(certificates: [facts])).count
        }
        #expect(refusals(facts()) == 0)
        #expect(refusals(facts(days: 825)) == 0)
        #expect(refusals(facts(days: 826)) == 1)
        #expect(refusals(facts(from: 1_561_939_199, days: 5_000, namesServerUsage: false)) == 0)
        #expect(refusals(facts(namesServerUsage: false)) == 1)
        #expect(refusals(facts(keyType: "EC", keyBits: 224)) == 1)
        #expect(refusals(facts(keyType: "EC", keyBits: 256)) == 0)
        #expect(refusals(facts(keyBits: 1_024)) == 1)
    }

    @Test("Every combination is there once, as nscurl has them")
    func combinations() {
        #expect(TransportSecurity.all.count == 21)
        #expect(Set(TransportSecurity.all).count == 21)
        #expect(TransportSecurity.all.first == .usual)
        #expect(TransportSecurity.byLooseness.allSatisfy(TransportSecurity.all.contains))
        // Four minimums, each with and without forward secrecy, and one handshake that takes anything.
        #expect(TransportSecurity.shakes.count == 9)
    }

    @Test("Apple's cipher suites: eleven with forward secrecy, six without")
    func suites() {
        #expect(TransportSecurity.forwardSecret.count == 11)
        #expect(TransportSecurity.withoutForwardSecrecy.count == 6)
        #expect(!TransportSecurity.forwardSecret.contains("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"))
        #expect(TransportSecurity.forwardSecret.contains("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"))
    }

    @Test("The property list is one that can be pasted and read")
    func propertyList() throws {
        let demands = TransportSecurity.Demands(
            minimum: .tls1_1,
            needsForwardSecrecy: false,
            allowsInsecureHTTP: true
        )
        let part = demands.plist(host: "API.Example.com")
        let whole = "<plist version=\"1.0\"><dict>\(part)</dict></plist>"
        let read = try PropertyListSerialization.propertyList(from: Data(whole.utf8), format: nil)
        let security = try #require((read as? [String: Any])?["NSAppTransportSecurity"] as? [String: Any])
        let domains = try #require(security["NSExceptionDomains"] as? [String: [String: Any]])
        let host = try #require(domains["api.example.com"])
        #expect(host["NSExceptionMinimumTLSVersion"] as? String == "TLSv1.1")
        #expect(host["NSExceptionRequiresForwardSecrecy"] as? Bool == false)
        #expect(host["NSExceptionAllowsInsecureHTTPLoads"] as? Bool == true)
        #expect(host["NSIncludesSubdomains"] as? Bool == false)
        #expect(host.count == 4)
        let arbitrary = TransportSecurity.Demands(allowsArbitraryLoads: true).plist(host: "a")
        #expect(arbitrary.contains("NSAllowsArbitraryLoads") && !arbitrary.contains("NSExceptionDomains"))
        #expect(TransportSecurity.Demands.usual.plist(host: "a").isEmpty)
    }

    private func report() -> TLSReport {
        var report = TLSReport(target: ProbeTarget(host: "a.example"), moment: 1_700_100_000, library: "OpenSSL 3")
        report.findings = TLSProbeFindings(
            certificates: [facts("\u{1B}[31mred\u{202E}")],
            problems: [ChainProblem(depth: 0, problem: .missingIssuer("\u{1B}]0;x\u{7}", url: "http://x/\u{9B}"))]
        )
        report.problems = CertificateProblems.all(in: report.findings)
        let reasons = TransportSecurity.refusals(of: report.findings)
        report.transportSecurity = TransportSecurity.all.map { .init(demands: $0, passes: false, reasons: reasons) }
        var version = TLSReport.Version(version: .tls1_2, state: .refused("\u{1B}c"))
        version.incompleteness = nil
        report.versions = [version]
        return report
    }

    @Test("Control characters of certificates are made visible")
    func control() throws {
        let text = report().text
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x9B) })
        #expect(text.contains("^[[31mred<U+202E>"))
        #expect(!text.contains("\u{202E}"))
        let json = String(buffer: try report().json())
        #expect(!json.contains("\u{1B}") && !json.contains("\u{202E}"))
    }

    @Test("The JSON has what the text has")
    func json() throws {
        let bytes = try report().json()
        let read = try JSONSerialization.jsonObject(with: Data(bytes.readableBytesView)) as? [String: Any]
        let object = try #require(read)
        #expect(object["acceptable"] as? Bool == false)
        #expect(object["host"] as? String == "a.example")
        let problems = try #require(object["problems"] as? [[String: Any]])
        #expect(problems.first?["code"] as? String == "missing-issuer")
        #expect((object["transportSecurity"] as? [Any])?.count == 21)
        #expect((object["certificates"] as? [[String: Any]])?.first?["keyBits"] as? Int == 2_048)
        #expect(object["daysLeft"] as? Int == 88)
        let versions = try #require(object["versions"] as? [[String: Any]])
        #expect(versions.first?["offered"] as? Bool == false)
    }

    @Test(
        "The JSON leaves out what is not known of a server that says nothing, and has it of one that speaks plain HTTP"
    )
    func unknown() throws {
        func object(_ edit: (inout TLSReport) -> Void) throws -> [String: Any] {
            var report = TLSReport(target: ProbeTarget(host: "a.example"), moment: 0, library: "OpenSSL 3")
            edit(&report)
            let read = try JSONSerialization.jsonObject(with: Data(try report.json().readableBytesView))
            return try #require(read as? [String: Any])
        }
        for code in [TLSReport.Code.unreachable, .silent] {
            let silent = try object { $0.problems = [.init(code, "No.")] }
            #expect(silent["plainHTTP"] == nil && silent["clientCertificate"] == nil, "\(silent)")
        }
        let plain = try object {
            $0.problems = [.init(.plainHTTP, "It does.")]
            $0.speaksPlainHTTP = true
        }
        #expect(plain["plainHTTP"] as? Bool == true && plain["clientCertificate"] == nil, "\(plain)")
        let known = try object { $0.usual = TLSProbeFindings() }
        #expect(known["plainHTTP"] as? Bool == false && known["clientCertificate"] as? String == "no", "\(known)")
    }

    @Test("Days are whole ones, and count below zero once the time is over")
    func days() {
        #expect(TLSReport.days(from: 0, to: 86_399) == 0)
        #expect(TLSReport.days(from: 0, to: 86_400) == 1)
        #expect(TLSReport.days(from: 1, to: 0) == -1)
        #expect(TLSReport.days(from: 86_400, to: 0) == -1)
    }

    @Test("A certificate that expired a day ago is told so")
    func expired() {
        for (seconds, words) in [
            (1, "expired less than a day ago"), (86_401, "expired 1 day ago"), (200_000, "expired 2 days ago"),
        ] {
            var report = report()
            let end = report.findings.certificates.first?.summary.notAfter ?? 0
            report = TLSReport(
                target: ProbeTarget(host: "a.example"),
                moment: end + Int64(seconds),
                library: "OpenSSL 3"
            )
            report.findings = self.report().findings
            #expect(report.text.contains(words), "\(report.text)")
        }
    }

    @Test(
        "Servers as people name them",
        arguments: [
            ("example.com", "example.com", 443), ("Example.com:8443", "example.com", 8_443), ("[::1]:443", "::1", 443),
            ("::1", "::1", 443), ("https://example.com/path?q", "example.com", 443),
            ("https://[::1]:8443/", "::1", 8_443), ("127.0.0.1:1", "127.0.0.1", 1),
        ]
    )
    func targets(text: String, host: String, port: Int) throws {
        let target = try ProbeTarget(text)
        #expect(target.host == host && target.port == port && target.serverName == host)
    }

    @Test(
        "What is no server is wrong usage",
        arguments: ["", "a:0", "a:65536", "http://a", "a b", "[::1", ":443", "a:b"]
    )
    func misuse(text: String) {
        #expect { try ProbeTarget(text) } throws: { ($0 as? StartError)?.isUsage == true }
    }
}
