/// What an answer about revocation says that a server stapled to its certificate (OCSP, RFC 6960; RFC 6066 section 8).
package struct StapledStatus: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        case good, revoked
        /// The authority does not know the certificate.
        case unknown
        /// The answer proves nothing: malformed, out of date, of another certificate, or signed by nobody trusted.
        case unusable
    }

    package var state: State
    /// Why the certificate was revoked, as its authority names it, or why the answer is of no use; `nil` where
    /// neither is.
    package var reason: String?
    /// When the certificate was revoked, seconds since 1970.
    package var revokedAt: Int64?
    /// From when the answer is valid, seconds since 1970; `nil` if it could not be read.
    package var validFrom: Int64?
    /// Until when the answer is valid, seconds since 1970; `nil` if it does not say.
    package var validUntil: Int64?

    package init(
        _ state: State,
        reason: String? = nil,
        revokedAt: Int64? = nil,
        validFrom: Int64? = nil,
        validUntil: Int64? = nil
    ) {
        (self.state, self.reason, self.revokedAt) = (state, reason, revokedAt)
        (self.validFrom, self.validUntil) = (validFrom, validUntil)
    }
}
