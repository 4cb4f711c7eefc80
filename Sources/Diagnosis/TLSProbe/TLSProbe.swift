import Foundation
import HTTPModel
package import Wire

/// Probes a server's TLS by handshakes, each on its own connection, without a request.
package struct TLSProbe: Sendable {
    private let target: ProbeTarget
    private let handshakes: ProbeHandshakes
    /// OpenSSL's cipher suites, the best first.
    private let ciphers: [TLSCipher]
    private let trust: TLSTrust

    /// Connections at a time.
    private static let width = 4

    /// - Parameters:
    ///   - connectTimeout: for one handshake, including its connection.
    ///   - timeLimit: for all handshakes.
    ///   - counted: called after each handshake; ends the probe by throwing.
    /// - Throws: `CertificateError` for unreadable authorities, `TLSError` for a host that cannot be named.
    package init(
        _ target: ProbeTarget,
        route: (any ProbeRoute)? = nil,
        trust: TLSTrust,
        connectTimeout: Duration,
        timeLimit: Duration,
        counted: @escaping @Sendable () throws -> Void = {}
    ) throws {
        self.target = target
        self.trust = trust
        try trust.load()
        let context = try TLSProbeContext(trust: trust)
        _ = try context.makeSession(host: target.serverName, offer: TLSProbeOffer(.tls1_2 ... .tls1_3))
        ciphers = context.ciphers()
        handshakes = ProbeHandshakes(
            target: target,
            route: route ?? DirectRoute(to: target),
            trust: trust,
            limit: connectTimeout,
            timeLimit: timeLimit,
            end: .now + timeLimit,
            counted: counted
        )
    }

    package func report() async throws -> TLSReport {
        let now = Int64(Date().timeIntervalSince1970)
        var report = TLSReport(target: target, moment: now, library: TLSProbeContext.libraryName)
        let context = try TLSProbeContext(trust: trust)
        let usualOffer = TLSProbeOffer(.tls1_2 ... .tls1_3, applicationProtocols: ["h2", "http/1.1"], isLenient: false)
        let (first, answersWhileSilent) = try await handshakes.runFirst(usualOffer, in: context)
        report.address = first.address
        report.proxy = handshakes.route.proxy?.description
        report.findings = first.findings
        if let failure = first.failure, failure.isFinal || failure.mayBePlainHTTP {
            report.speaksPlainHTTP = failure == .plainHTTP || answersWhileSilent
            if !report.speaksPlainHTTP, failure.mayBePlainHTTP {
                report.speaksPlainHTTP = try await handshakes.answersPlainHTTP()
            }
            if report.speaksPlainHTTP {
                report.problems = [problem(.plainHTTP)]
                report.transportSecurity = TransportSecurity.rows([:], speaksPlainHTTP: true)
                return report
            }
            if failure.isFinal {
                report.problems = [problem(failure)]
                return report
            }
        }
        try await judge(first, &report)
        if first.failure == nil {
            try await resume(after: first, usualOffer, context, &report)
            try await protocols(after: first, &report)
        }
        report.versions = try await versions()
        report.transportSecurity = TransportSecurity.rows(try await transportSecurity(), speaksPlainHTTP: false)
        return report
    }

    /// Whether an ordinary client connects, or why not.
    private func judge(_ first: ProbeOutcome, _ report: inout TLSReport) async throws {
        report.demandsClientCertificate = first.findings.isCertificateRequested && first.failure != nil
        if first.failure == nil {
            report.usual = first.findings
        } else {
            if report.demandsClientCertificate {
                report.problems.append(.init(.clientCertificate, "The server requires a client certificate."))
            } else if let failure = first.failure {
                report.problems.append(problem(failure))
            }
            // A lenient handshake, which accepts everything, gets the certificates.
            if first.findings.certificates.isEmpty {
                let lenient = try await handshakes.run(TLSProbeOffer(.tls1_0 ... .tls1_3))
                if !lenient.findings.certificates.isEmpty { report.findings = lenient.findings }
            }
        }
        report.problems += CertificateProblems.all(in: report.findings)
    }

    private func problem(_ failure: ProbeFailure) -> TLSReport.Problem {
        let authority = target.authority
        switch failure {
        case .unreachable(let reason): return .init(.unreachable, reason)
        case .silent(let seconds):
            let text =
                "\(authority) took the connection and said nothing within \(String(format: "%g", seconds)) seconds."
            return .init(.silent, text + " Does the port speak TLS?")
        case .closed:
            return .init(.closed, "\(authority) closed the connection during the handshake. Does the port speak TLS?")
        case .plainHTTP:
            return .init(.plainHTTP, "\(authority) speaks HTTP without TLS. Try another port, or turn TLS on.")
        case .alert(let name):
            let text = "\(authority) refused the handshake of a client that offers TLS 1.2 and 1.3 (alert \(name))."
            return .init(.tls, text)
        case .refused(let reason):
            return .init(.tls, "A client of today refuses the handshake with \(authority): \(reason).")
        case .outOfTime: return .init(.silent, "\(authority) was not asked: the time is over.")
        }
    }

    private func resume(
        after first: ProbeOutcome,
        _ offer: TLSProbeOffer,
        _ context: TLSProbeContext,
        _ report: inout TLSReport
    ) async throws {
        report.resumption = .noTicket
        guard first.findings.hasTicket else { return }
        let second = try await handshakes.run(offer, in: context, resumes: true)
        report.resumption = second.failure != nil ? .unknown : second.findings.isResumed ? .resumed : .refused
    }

    /// The ALPN protocol that the server chose, and the other one if the server accepts it alone.
    private func protocols(after first: ProbeOutcome, _ report: inout TLSReport) async throws {
        guard let chosen = first.findings.applicationProtocol else { return }
        let other = chosen == "h2" ? "http/1.1" : "h2"
        let offer = TLSProbeOffer(.tls1_2 ... .tls1_3, applicationProtocols: [other], isLenient: false)
        let second = try await handshakes.run(offer)
        let isTaken = second.failure == nil && second.findings.applicationProtocol == other
        report.applicationProtocols = isTaken ? ["h2", "http/1.1"] : [chosen]
    }

    private func versions() async throws -> [TLSReport.Version] {
        try await withThrowingTaskGroup(of: TLSReport.Version.self) { group in
            for version in TLSVersion.allCases { group.addTask { try await ask(version) } }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.version > $1.version }
        }
    }

    /// Offers one version with fewer and fewer ciphers, until the server accepts no cipher.
    private func ask(_ version: TLSVersion) async throws -> TLSReport.Version {
        var left = ciphers.filter { $0.isTLS13 == (version == .tls1_3) }
        var answer = TLSReport.Version(version: version, state: .refused(""))
        while !left.isEmpty {
            let outcome = try await handshakes.run(TLSProbeOffer(version...version, ciphers: left))
            let chosen = left.firstIndex { $0.name == outcome.findings.cipher }
            guard let chosen, outcome.findings.version == version else {
                guard let failure = outcome.failure else { break }
                if !answer.ciphers.isEmpty {
                    if failure.isFinal { answer.incompleteness = words(failure) }
                } else {
                    answer.state = failure.isFinal ? .unknown(words(failure)) : .refused(words(failure))
                }
                break
            }
            answer.state = .offered
            answer.ciphers.append(left.remove(at: chosen))
        }
        if answer.ciphers.count > 1, answer.incompleteness == nil {
            let (one, two) = (answer.ciphers[0], answer.ciphers[1])
            let turned = try await handshakes.run(TLSProbeOffer(version...version, ciphers: [two, one]))
            if let cipher = turned.findings.cipher { answer.prefersOwnOrder = cipher == one.name }
        }
        return answer
    }

    private func words(_ failure: ProbeFailure) -> String {
        switch failure {
        case .unreachable(let reason), .refused(let reason): reason
        case .silent: "no answer in time"
        case .closed: "the server closes the connection"
        case .plainHTTP: "the server speaks plain HTTP"
        case .alert(let name): "alert \(name)"
        case .outOfTime: "the time was over"
        }
    }

    private func transportSecurity() async throws -> [TransportSecurity.Shake: ProbeOutcome] {
        try await withThrowingTaskGroup(of: (TransportSecurity.Shake, ProbeOutcome).self) { group in
            var waiting = TransportSecurity.shakes[...]
            var outcomes: [TransportSecurity.Shake: ProbeOutcome] = [:]
            func begin() {
                guard let shake = waiting.popFirst() else { return }
                let offer = TransportSecurity.offer(shake, from: ciphers)
                group.addTask { (shake, try await handshakes.run(offer)) }
            }
            for _ in 0..<TLSProbe.width { begin() }
            while let (shake, outcome) = try await group.next() {
                outcomes[shake] = outcome
                begin()
            }
            return outcomes
        }
    }
}

extension TransportSecurity {
    static func rows(_ outcomes: [Shake: ProbeOutcome], speaksPlainHTTP: Bool) -> [Row] {
        all.map { demands in
            let allowsHTTP = demands.allowsInsecureHTTP || demands.allowsArbitraryLoads
            if speaksPlainHTTP {
                let reasons = allowsHTTP ? [] : ["the server speaks HTTP without TLS"]
                return Row(demands: demands, passes: allowsHTTP, isPlainHTTP: allowsHTTP, reasons: reasons)
            }
            guard let outcome = outcomes[shake(for: demands)] else {
                return Row(demands: demands, passes: false, reasons: ["it was not asked"])
            }
            var reasons = refusals(of: outcome.findings)
            if let failure = outcome.failure { reasons.insert(words(failure, outcome, demands), at: 0) }
            let (version, cipher) = (outcome.findings.version, outcome.findings.cipher)
            return Row(demands: demands, passes: reasons.isEmpty, version: version, cipher: cipher, reasons: reasons)
        }
    }

    private static func words(_ failure: ProbeFailure, _ outcome: ProbeOutcome, _ demands: Demands) -> String {
        if outcome.findings.isCertificateRequested { return "The server demands a certificate of the client." }
        switch failure {
        case .alert(let name): return "The server accepts none of the versions and ciphers (alert \(name))."
        case .closed: return "The server closed the connection."
        case .silent, .outOfTime: return "There was no answer in time."
        case .plainHTTP: return "The server speaks HTTP without TLS."
        case .unreachable(let reason): return reason
        case .refused(let reason): return "The handshake failed (\(reason))."
        }
    }
}
