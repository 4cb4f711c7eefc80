import HTTPModel

/// What rules and Sluice itself did to an exchange, one line for each entry of its trace.
struct TraceLines {
    private let trace: [TraceEntry]

    init(_ trace: [TraceEntry]) { self.trace = trace }

    func write(into writer: inout DetailWriter) {
        for entry in trace {
            let (sign, role) = TraceLines.sign(entry.outcome)
            let rule = entry.rule.map { " \($0)" } ?? ""
            writer.add([
                Span(writer.sign(sign.unicode, sign.plain) + " ", role),
                Span(entry.stage + rule, .key),
                Span(": ", .faint),
                Span(entry.text),
            ])
        }
    }

    private static func sign(_ outcome: TraceEntry.Outcome) -> ((unicode: String, plain: String), Role) {
        switch outcome {
        case .fired: (("●", "*"), .changed)
        case .note: (("·", "-"), .faint)
        }
    }
}
