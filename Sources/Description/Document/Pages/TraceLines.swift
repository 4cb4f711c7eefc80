import HTTPModel

extension DetailWriter {
    /// Adds what rules and Sluice itself did to an exchange, one line for each entry of its trace.
    mutating func trace(_ trace: [TraceEntry]) {
        for entry in trace {
            let isFired = entry.outcome == .fired
            let mark = Span((isFired ? sign("●", "*") : sign("·", "-")) + " ", isFired ? .changed : .faint)
            let rule = entry.rule.map { " \($0)" } ?? ""
            add([mark, Span(entry.stage + rule, .key), Span(": ", .faint), Span(entry.text)])
        }
    }
}
