/// A stapled answer about a certificate's revocation (OCSP, RFC 6960; RFC 6066 section 8).
package struct StapledStatus: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        case good, revoked
        case unknown
        /// Malformed, outdated, for another certificate, or not signed by a trusted authority.
        case unusable
    }

    package var state: State
    /// Why it was revoked, or why the answer is unusable.
    package var reason: String?
    /// Seconds since 1970.
    package var revokedAt: Int64?
    /// Seconds since 1970.
    package var validFrom: Int64?
    /// Seconds since 1970.
    package var validUntil: Int64?

    package init(
        _ state: State,
        reason: String? = nil,
        revokedAt: Int64? = nil,
        validFrom: Int64? = nil,
        validUntil: Int64? = nil
    ) {
        self.state = state
        self.reason = reason
        self.revokedAt = revokedAt
        self.validFrom = validFrom
        self.validUntil = validUntil
    }
}
