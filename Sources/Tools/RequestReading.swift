import ExchangeCore
import HTTPModel
import Rules

/// A reading of a request that differs from the URL as sent, for lists that refuse requests. Servers read `/%73ecret`,
/// `//secret` and `/a/../secret` as `/secret`, some also `/a/..\secret`. A tunnel leads to its address, whatever host
/// name the client uses in it.
struct RequestReading {
    private(set) var opening: ExchangeOpening
    let isNormalised: Bool
    /// Whether the host is the tunnel's address.
    let isAddress: Bool

    /// All other readings; most requests have none.
    static func others(of opening: ExchangeOpening) -> [RequestReading] {
        let sent = opening.url
        let normalised = NormalisedPath.all(of: sent.path)
        guard !normalised.isEmpty || opening.claim != nil else { return [] }
        var readings: [RequestReading] = []
        for host in [sent.host, opening.claim?.address].compactMap(\.self) {
            for path in [sent.path] + normalised where host != sent.host || path != sent.path {
                readings.append(RequestReading(opening, host: host, path: path))
            }
        }
        return readings
    }

    private init(_ opening: ExchangeOpening, host: String, path: String) {
        self.opening = opening
        (isAddress, isNormalised) = (host != opening.url.host, path != opening.url.path)
        self.opening.url.host = host
        self.opening.url.path = path
    }

    /// The difference from the request as sent.
    var text: String {
        let parts = [
            isAddress ? "the address \(opening.url.host), where the tunnel leads" : nil,
            isNormalised ? "the normalised path \(opening.url.path)" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: " and ")
    }
}

/// The rules of a list that refuses requests; every reading of a request is checked against them.
struct ReadRules<Rule: ToolRule>: Sendable {
    let asSent: RuleList<Rule>
    private let normalised: RuleList<Rule>

    init(_ rules: RuleList<Rule>) { (asSent, normalised) = (rules, rules.withNormalisedPaths) }

    /// The first rule that matches a reading, and the first reading that it matches; `nil` for the request as sent.
    func first(_ opening: ExchangeOpening) -> (match: RuleMatch<Rule>, reading: RequestReading?)? {
        let readings = RequestReading.others(of: opening)
        return readings.isEmpty ? asSent.first(opening).map { ($0, nil) } : matches(opening, readings).first
    }

    func hasRule(for reading: RequestReading) -> Bool {
        (reading.isNormalised ? normalised : asSent).first(reading.opening) != nil
    }

    /// All rules that match a reading, in order, with the first such reading; `nil` for the request as sent.
    func matches(_ opening: ExchangeOpening) -> [(match: RuleMatch<Rule>, reading: RequestReading?)] {
        matches(opening, RequestReading.others(of: opening))
    }

    private func matches(
        _ opening: ExchangeOpening,
        _ readings: [RequestReading]
    ) -> [(match: RuleMatch<Rule>, reading: RequestReading?)] {
        var found: [(match: RuleMatch<Rule>, reading: RequestReading?)] = asSent.matches(opening).map { ($0, nil) }
        for reading in readings {
            for match in (reading.isNormalised ? normalised : asSent).matches(reading.opening)
            where !found.contains(where: { $0.match.position == match.position }) {
                found.append((match, reading))
            }
        }
        return found.sorted { $0.match.position < $1.match.position }
    }
}
