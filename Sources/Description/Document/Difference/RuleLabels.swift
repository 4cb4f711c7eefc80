package import HTTPModel

/// Finds the rule that made a change, by the texts of the trace.
package struct RuleLabels {
    private struct Deed {
        var label: String
        /// What the rule changes although the text does not name it.
        var change: TraceEntry.Change?
        var text: String
        /// The direction that the text begins with; `nil` if it begins with neither.
        var isRequest: Bool?
    }

    /// Fields that a proxy removes (RFC 9110 §7.6.1).
    private static let hopByHop: Set = ["proxy-connection", "keep-alive", "te", "upgrade", "proxy-authorization"]
    private static let framing: Set<String> = ["content-length", "transfer-encoding", "connection"]

    private let deeds: [Deed]

    package init(_ trace: [TraceEntry], change: (_ stage: String) -> TraceEntry.Change?) {
        deeds = trace.sorted { $0.outcome == .fired && $1.outcome != .fired }.map { entry in
            let text = entry.text.lowercased()
            let isRequest = text.hasPrefix("request") ? true : text.hasPrefix("response") ? false : nil
            let label = entry.stage + (entry.rule.map { " \($0)" } ?? "")
            return Deed(label: label, change: change(entry.stage), text: text, isRequest: isRequest)
        }
    }

    /// The rule that changed a header field, or Sluice itself for fields of the connection and of the framing.
    package func header(_ name: String, isRequest: Bool) -> String? {
        let name = name.lowercased()
        if let deed = first(isRequest, where: { $0.text.contains(name) }) { return deed.label }
        if name == "host" { return url() }
        if RuleLabels.hopByHop.contains(name) { return "sluice, as it is meant for one connection" }
        return RuleLabels.framing.contains(name) ? "sluice, which frames the message" : nil
    }

    package func url() -> String? {
        (deeds.first { $0.change == .url }
            ?? first(true) { deed in ["url", "path", "query", "host", "target"].contains { deed.text.contains($0) } })?
            .label
    }

    package func startLine(_ word: String, isRequest: Bool) -> String? {
        first(isRequest) { $0.text.contains(word) }?.label
    }

    package func body(isRequest: Bool) -> String? {
        first(isRequest) { $0.text.contains("body") }?.label
            ?? deeds.first { $0.change == .response && !isRequest }?.label
    }

    private func first(_ isRequest: Bool, where matches: (Deed) -> Bool) -> Deed? {
        deeds.first { ($0.isRequest ?? isRequest) == isRequest && matches($0) }
    }
}
