package import Content
package import HTTPModel

package enum StapleWords {
    /// A phrase, for example `good, from 2026-11-20 10:00:00.000 UTC to 2026-11-27 10:00:00.000 UTC`.
    package static func sentence(_ staple: StapledStatus) -> String {
        let moment = { (seconds: Int64) in Timestamp.readable(seconds &* 1_000_000) }
        let start = staple.validFrom.map { ", from \(moment($0))" } ?? ""
        let validity = start + (staple.validUntil.map { " to \(moment($0))" } ?? "")
        switch staple.state {
        case .good: return "good" + validity
        case .revoked:
            let since = staple.revokedAt.map { " since \(moment($0))" } ?? ""
            return "revoked\(since)\(staple.reason.map { " (\($0))" } ?? "")"
        case .unknown: return "unknown to its authority" + validity
        case .unusable: return "of no use: \(staple.reason ?? "it cannot be checked")\(validity)"
        }
    }
}

extension JSONWriter {
    /// Writes a stapled revocation status: `state`, `reason`, `revokedAt`, `validFrom`, `validUntil`.
    package mutating func members(of staple: StapledStatus) {
        member("state", staple.state.rawValue)
        optionalMember("reason", staple.reason)
        let moment = { (seconds: Int64) in Timestamp.iso8601(seconds &* 1_000_000) }
        optionalMember("revokedAt", staple.revokedAt.map(moment))
        optionalMember("validFrom", staple.validFrom.map(moment))
        optionalMember("validUntil", staple.validUntil.map(moment))
    }
}
