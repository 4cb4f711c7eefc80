import HTTPModel
import Rules

extension ResponseHead {
    static let resetContentLint =
        "a response with status 205 has no body (RFC 9110 §15.3.6); a client may take one for the next response"
}

struct StatusEdit: Sendable {
    /// What the status must match, as `404` or `404 Not Found`; `nil` for any.
    let match: TextPattern?
    /// The new status, as `404` or `404 Not Found`.
    let replacement: Replacement

    /// Edits a head and returns the change for the trace; `nil` if nothing changed. Throws
    /// ``RegularExpression/MatchLimitError``, or ``UnusableEditError`` if the result is not a status.
    func apply(to head: inout ResponseHead) throws -> String? {
        let before = StatusEdit.text(head.status, head.reason)
        var text: String?
        if let match {
            text = try match.expansion(of: replacement, in: String(head.status))
            if text == nil { text = try match.expansion(of: replacement, in: before) }
        } else {
            text = replacement.plain
        }
        guard let text else { return nil }
        guard let (status, reason) = StatusEdit.parse(text) else {
            throw UnusableEditError(reason: "'\(text.clipped(to: 40))' is not a status; use 200 to 999")
        }
        guard status != head.status || reason.map({ $0 != head.reason }) == true else { return nil }
        head.status = status
        head.reason = reason ?? ResponseHead.standardReason(status)
        return "changed status: \(before) to \(StatusEdit.text(status, head.reason))"
    }

    /// Reads `404` or `404 Not Found`; an interim status cannot replace a final one (RFC 9110 §15).
    static func parse(_ text: String) -> (status: Int, reason: String?)? {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let code = parts.first, code.utf8.count == 3, let status = Int(code), (200...999).contains(status) else {
            return nil
        }
        let reason = parts.dropFirst().first.map(String.init)
        let isClean = reason?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ?? true
        return isClean ? (status, reason) : nil
    }

    private static func text(_ status: Int, _ reason: String) -> String {
        reason.isEmpty ? String(status) : "\(status) \(reason)"
    }
}
