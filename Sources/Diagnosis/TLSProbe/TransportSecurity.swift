import HTTPModel
import Wire

/// Apple's App Transport Security, and the exceptions that an app can declare.
///
/// The rules are those that Apple documents at "Preventing Insecure Network Connections" and at the keys of
/// `NSAppTransportSecurity`: TLS 1.2, forward secrecy by ECDHE with AES, a certificate that the system trusts. No key
/// changes what the system requires of every certificate since iOS 13 and macOS 10.15 (support article HT210176).
enum TransportSecurity {
    /// What one configuration of an app requires of a server.
    struct Demands: Sendable, Hashable {
        /// The oldest accepted version, if an exception names one.
        var minimum: TLSVersion?
        var needsForwardSecrecy = true
        /// Plain HTTP to this host.
        var allowsInsecureHTTP = false
        /// Anything, for any host.
        var allowsArbitraryLoads = false

        /// The demands of an app without exceptions.
        static let usual = Demands()
    }

    /// A handshake that tests some demands.
    struct Shake: Hashable {
        var minimum: TLSVersion
        var needsForwardSecrecy: Bool
        var takesAnything: Bool
    }

    struct Row {
        var demands: Demands
        var passes: Bool
        /// Whether it passes only by plain HTTP.
        var isPlainHTTP = false
        /// The negotiated version and cipher suite.
        var version: TLSVersion?
        var cipher: String?
        /// In phrases.
        var reasons: [String]
    }

    /// In the order of `nscurl --ats-diagnostics`: the default demands, arbitrary loads, then all combinations of the
    /// exceptions for one host.
    static let all: [Demands] = {
        let minimums: [TLSVersion?] = [nil, .tls1_3, .tls1_2, .tls1_1, .tls1_0]
        let hosts = [(true, false), (false, false), (true, true), (false, true)].flatMap { isSecret, isHTTP in
            minimums.map { Demands(minimum: $0, needsForwardSecrecy: isSecret, allowsInsecureHTTP: isHTTP) }
        }
        return [.usual, Demands(allowsArbitraryLoads: true)] + hosts.dropFirst()
    }()

    /// From the least exception to the greatest.
    static let byLooseness = [
        .usual, Demands(needsForwardSecrecy: false), Demands(minimum: .tls1_1), Demands(minimum: .tls1_0),
        Demands(minimum: .tls1_1, needsForwardSecrecy: false), Demands(minimum: .tls1_0, needsForwardSecrecy: false),
        Demands(allowsInsecureHTTP: true), Demands(allowsArbitraryLoads: true),
    ]

    static let forwardSecret: Set<String> = {
        let exchanges = ["TLS_ECDHE_ECDSA_WITH_", "TLS_ECDHE_RSA_WITH_"]
        let ciphers = [
            "AES_256_GCM_SHA384", "AES_128_GCM_SHA256", "AES_256_CBC_SHA384", "AES_256_CBC_SHA",
            "AES_128_CBC_SHA256", "AES_128_CBC_SHA",
        ]
        let all = exchanges.flatMap { exchange in ciphers.map { exchange + $0 } }
        // Apple's list has this one only with ECDSA.
        return Set(all).subtracting(["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"])
    }()

    /// Further accepted cipher suites if `NSExceptionRequiresForwardSecrecy` is false.
    static let withoutForwardSecrecy: Set<String> = [
        "TLS_RSA_WITH_AES_256_GCM_SHA384", "TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_CBC_SHA256",
        "TLS_RSA_WITH_AES_256_CBC_SHA", "TLS_RSA_WITH_AES_128_CBC_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA",
    ]

    /// The accepted cipher suites of TLS 1.3, all with forward secrecy.
    private static let newest: Set<String> = [
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
    ]

    static func shake(for demands: Demands) -> Shake {
        if demands.allowsArbitraryLoads {
            return Shake(minimum: .tls1_0, needsForwardSecrecy: false, takesAnything: true)
        }
        let minimum = demands.minimum ?? .tls1_2
        return Shake(minimum: minimum, needsForwardSecrecy: demands.needsForwardSecrecy, takesAnything: false)
    }

    /// The handshakes for ``all``, without duplicates.
    static var shakes: [Shake] {
        all.map(shake(for:)).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    static func offer(_ shake: Shake, from ciphers: [TLSCipher]) -> TLSProbeOffer {
        let offered = ciphers.filter { cipher in
            if shake.takesAnything { return !cipher.isBroken }
            if cipher.isTLS13 { return newest.contains(cipher.name) }
            return forwardSecret.contains(cipher.name)
                || !shake.needsForwardSecrecy && withoutForwardSecrecy.contains(cipher.name)
        }
        return TLSProbeOffer(shake.minimum ... .tls1_3, ciphers: offered, applicationProtocols: ["h2", "http/1.1"])
    }
}

extension TransportSecurity {
    /// 2019-07-01: the rules apply to certificates issued from this date on.
    private static let rulesBegin: Int64 = 1_561_939_200
    private static let longestLife: Int64 = 825 * 86_400

    /// Why Apple's systems refuse the certificates, whatever an app declares, in phrases.
    static func refusals(of findings: TLSProbeFindings) -> [String] {
        var refusals = CertificateProblems.all(in: findings).map { $0.text }
        guard let leaf = findings.certificates.first else { return refusals }
        if leaf.keyType == "EC", leaf.keyBits >= 224, leaf.keyBits < 256 {
            refusals.append("The server's certificate has a key of \(leaf.keyBits) bits; EC keys need 256.")
        }
        guard leaf.summary.notBefore >= rulesBegin else { return refusals }
        if !leaf.namesServerUsage {
            refusals.append("The server's certificate does not name servers in its extendedKeyUsage (serverAuth).")
        }
        let life = leaf.summary.notAfter.subtractingReportingOverflow(leaf.summary.notBefore).partialValue
        if life > longestLife {
            refusals.append("The server's certificate is valid for \(life / 86_400) days; 825 are the most.")
        }
        return refusals
    }
}
