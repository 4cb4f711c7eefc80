import HTTPModel

/// What rules and Sluice itself did to an exchange, one line for each entry of its trace.
struct TraceLines {
    private let trace: [TraceEntry]

    init(_ trace: [TraceEntry]) {
        self.trace = trace
    }

    func write(into writer: inout DetailWriter) {
        for entry in trace {
            let (sign, words, role) = TraceLines.outcome(entry.outcome)
            let rule = entry.rule.map { " \($0)" } ?? ""
            writer.add([
                Span(writer.sign(sign.unicode, sign.plain) + " ", role),
                Span(entry.stage + rule, .key),
                Span(words.isEmpty ? ": " : " \(words): ", .faint),
                Span(entry.text),
            ])
        }
    }

    private static func outcome(
        _ outcome: TraceEntry.Outcome
    ) -> (sign: (unicode: String, plain: String), words: String, role: Role) {
        switch outcome {
        case .fired: (("●", "*"), "", .changed)
        case .notMatched: (("○", "o"), "did not match", .faint)
        case .note: (("·", "-"), "", .faint)
        }
    }
}
