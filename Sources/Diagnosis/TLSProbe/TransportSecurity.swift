import HTTPModel
package import Wire

/// The demands of Apple's App Transport Security, and the exceptions from them that an app can state.
///
/// They are those that Apple documents at "Preventing Insecure Network Connections" and at the keys of
/// `NSAppTransportSecurity`: TLS 1.2, forward secrecy by ECDHE with AES, a certificate that the system trusts. What the
/// system asks of every server's certificate since iOS 13 and macOS 10.15 (support article HT210176) no key lifts.
package enum TransportSecurity {
    /// What one configuration of an app asks of a server.
    package struct Demands: Sendable, Hashable {
        /// The oldest version that is taken, where an exception names one.
        package var minimum: TLSVersion?
        package var needsForwardSecrecy = true
        /// Whether plain HTTP to this host is allowed, too.
        package var allowsInsecureHTTP = false
        /// Whether nothing is asked of any host.
        package var allowsArbitraryLoads = false

        package init(
            minimum: TLSVersion? = nil,
            needsForwardSecrecy: Bool = true,
            allowsInsecureHTTP: Bool = false,
            allowsArbitraryLoads: Bool = false
        ) {
            self.minimum = minimum
            self.needsForwardSecrecy = needsForwardSecrecy
            self.allowsInsecureHTTP = allowsInsecureHTTP
            self.allowsArbitraryLoads = allowsArbitraryLoads
        }

        /// What an app asks that states no exceptions.
        package static let usual = Demands()
    }

    /// What a handshake has to offer for some demands.
    package struct Shake: Sendable, Hashable {
        package var minimum: TLSVersion
        package var needsForwardSecrecy: Bool
        package var takesAnything: Bool
    }

    /// What came of some demands.
    package struct Row: Sendable, Hashable {
        package var demands: Demands
        package var passes: Bool
        /// Whether it passes by plain HTTP alone.
        package var isPlainHTTP: Bool
        /// The version and cipher suite that came about; `nil` where none did.
        package var version: TLSVersion?
        package var cipher: String?
        /// Why it fails, in phrases.
        package var reasons: [String]

        package init(
            _ demands: Demands,
            passes: Bool,
            isPlainHTTP: Bool = false,
            version: TLSVersion? = nil,
            cipher: String? = nil,
            reasons: [String] = []
        ) {
            self.demands = demands
            self.passes = passes
            self.isPlainHTTP = isPlainHTTP
            self.version = version
            self.cipher = cipher
            self.reasons = reasons
        }
    }

    /// All configurations, in the order in which `nscurl --ats-diagnostics` has them: the usual demands, arbitrary loads,
    /// then every combination of the exceptions for one host.
    package static let all: [Demands] = {
        var all = [Demands.usual, Demands(allowsArbitraryLoads: true)]
        let minimums: [TLSVersion?] = [.tls1_3, .tls1_2, .tls1_1, .tls1_0]
        all += minimums.map { Demands(minimum: $0) }
        all.append(Demands(needsForwardSecrecy: false))
        all += minimums.map { Demands(minimum: $0, needsForwardSecrecy: false) }
        all.append(Demands(allowsInsecureHTTP: true))
        all += minimums.map { Demands(minimum: $0, allowsInsecureHTTP: true) }
        all.append(Demands(needsForwardSecrecy: false, allowsInsecureHTTP: true))
        all += minimums.map { Demands(minimum: $0, needsForwardSecrecy: false, allowsInsecureHTTP: true) }
        return all
    }()

    /// The configurations from the least exception to the greatest, as advice takes them.
    static let byLooseness: [Demands] = {
        let versions: [TLSVersion?] = [nil, .tls1_1, .tls1_0]
        var order = versions.map { Demands(minimum: $0) }
        order.insert(Demands(needsForwardSecrecy: false), at: 1)
        order += [TLSVersion.tls1_1, .tls1_0].map { Demands(minimum: $0, needsForwardSecrecy: false) }
        return order + [Demands(allowsInsecureHTTP: true), Demands(allowsArbitraryLoads: true)]
    }()

    /// The cipher suites that are taken with forward secrecy.
    static let forwardSecret: Set<String> = {
        let exchanges = ["TLS_ECDHE_ECDSA_WITH_", "TLS_ECDHE_RSA_WITH_"]
        let ciphers = [
            "AES_256_GCM_SHA384", "AES_128_GCM_SHA256", "AES_256_CBC_SHA384", "AES_256_CBC_SHA",
            "AES_128_CBC_SHA256", "AES_128_CBC_SHA",
        ]
        let all = exchanges.flatMap { exchange in ciphers.map { exchange + $0 } }
        // Apple's list has this one with ECDSA alone.
        return Set(all).subtracting(["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"])
    }()

    /// The cipher suites that are taken besides where `NSExceptionRequiresForwardSecrecy` is false.
    static let withoutForwardSecrecy: Set<String> = [
        "TLS_RSA_WITH_AES_256_GCM_SHA384", "TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_CBC_SHA256",
        "TLS_RSA_WITH_AES_256_CBC_SHA", "TLS_RSA_WITH_AES_128_CBC_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA",
    ]

    /// The cipher suites of TLS 1.3, which all have forward secrecy.
    private static let newest: Set<String> = [
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
    ]

    /// The handshake that tells whether a server meets some demands.
    static func shake(for demands: Demands) -> Shake {
        guard !demands.allowsArbitraryLoads else {
            return Shake(minimum: .tls1_0, needsForwardSecrecy: false, takesAnything: true)
        }
        return Shake(
            minimum: demands.minimum ?? .tls1_2,
            needsForwardSecrecy: demands.needsForwardSecrecy,
            takesAnything: false
        )
    }

    /// All handshakes that ``all`` needs, none twice.
    static var shakes: [Shake] {
        all.map(shake(for:)).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// What a handshake offers, of the cipher suites that there are.
    static func offer(_ shake: Shake, from ciphers: [TLSCipher]) -> TLSProbeOffer {
        let offered = ciphers.filter { cipher in
            if shake.takesAnything { return !cipher.isBroken }
            if cipher.isTLS13 { return newest.contains(cipher.name) }
            return forwardSecret.contains(cipher.name)
                || !shake.needsForwardSecrecy && withoutForwardSecrecy.contains(cipher.name)
        }
        return TLSProbeOffer(
            shake.minimum...TLSVersion.tls1_3,
            ciphers: offered,
            applicationProtocols: ["h2", "http/1.1"]
        )
    }
}

// MARK: - The system's own demands

extension TransportSecurity {
    /// 2019-07-01, since when certificates are held to these rules.
    private static let rulesBegin: Int64 = 1_561_939_200
    private static let longestLife: Int64 = 825 * 86_400

    /// Why Apple's systems refuse the certificates that a handshake showed, whatever an app states, in phrases.
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
