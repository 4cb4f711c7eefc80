import HTTPModel
import NIOCore

extension HeldMessage {
    /// What an edit changed, for the trace: `path /a to /b; added X-Debug: 1; body 14 → 16 bytes`; empty if nothing.
    func changes(in edited: HeldMessage) -> String {
        var changes: [String] = []
        switch (self, edited) {
        case (.request(let head, let body, _), .request(let newHead, let newBody, _)):
            if head.method != newHead.method { changes.append("method \(head.method) to \(newHead.method)") }
            if head.target != newHead.target { changes.append("target \(head.target) to \(newHead.target)") }
            changes += HeldMessage.changes(in: head.fields, newHead.fields)
            changes += HeldMessage.changes(in: body, newBody)
        case (.response(let head, let body), .response(let newHead, let newBody)):
            if head.status != newHead.status || head.reason != newHead.reason {
                // HTTP/2 has no reason phrases.
                changes.append("status \(status(head)) to \(status(newHead))")
            }
            changes += HeldMessage.changes(in: head.fields, newHead.fields)
            changes += HeldMessage.changes(in: body, newBody)
        case (.request, .response), (.response, .request): break
        }
        return changes.joined(separator: "; ")
    }

    private func status(_ head: ResponseHead) -> String {
        head.reason.isEmpty ? String(head.status) : "\(head.status) \(head.reason)"
    }

    /// Fields that were changed, removed or added, whatever their order.
    private static func changes(in before: FieldSection, _ after: FieldSection) -> [String] {
        var added = after.map { ($0.name, $0.value) }
        var removed: [(String, String)] = []
        for field in before {
            if let place = added.firstIndex(where: { $0 == (field.name, field.value) }) {
                added.remove(at: place)
            } else {
                removed.append((field.name, field.value))
            }
        }
        return removed.map { name, value in
            guard let place = added.firstIndex(where: { FieldName($0.0) == FieldName(name) }) else {
                return "removed \(name): \(value)"
            }
            return "changed \(name): \(value) to \(added.remove(at: place).1)"
        } + added.map { "added \($0): \($1)" }
    }

    private static func changes(in before: ByteBuffer?, _ after: ByteBuffer?) -> [String] {
        guard let before, let after, before != after else { return [] }
        return ["body \(before.readableBytes) → \(after.readableBytes) bytes"]
    }
}
