import Foundation

/// Writes the table, a section at a time.
struct Report {
    /// The subjects that have columns.
    let subjects: [Subject]
    /// The build that the figures are compared with; nil if only one is measured.
    let before: Subject?
    private var failures: [String] = []

    /// The column for Sluice is after those of the peers, and after that of the build before.
    init(subjects: [Subject]) {
        let sluices = subjects.filter { $0.kind == .sluice }
        self.subjects = subjects.filter { $0.kind != .sluice && $0.kind != .curl } + sluices.reversed()
        before = sluices.dropFirst().first
    }

    func printHeader(bench: Bench, rounds: Int) {
        let seconds = String(format: "%g", bench.seconds)
        line("medians of \(rounds) round\(rounds == 1 ? "" : "s") of \(seconds) s, bodies of 1 KiB")
        line("keep-alive over \(bench.connections) connections; CPU of all processes of the subject, user and system")
        line("nginx terminates TLS without CONNECT; commands are compared with curl --version\n")
        let comparisons = ["vs nginx"] + (before.map { ["vs \($0.name)"] } ?? [])
        line(columns("", subjects.map(\.name) + comparisons, "must reach (aim)"))
    }

    mutating func printSection(_ section: Section, _ results: Runner.Results) {
        for row in section.rows { printRow(row, section, results) }
        for (subject, error) in results.failures.sorted(by: { $0.key < $1.key }) {
            failures.append("\(subject), \(section.rows[0].name): \(error)")
        }
    }

    var hasFailures: Bool { !failures.isEmpty }

    /// Writes why figures are missing.
    func printFailures() {
        guard hasFailures else { return }
        line("\nfailed:")
        for failure in failures { line("  " + failure) }
    }

    /// Writes how many cores other programs used during the run.
    func printLoad(ofOthers cores: Double) {
        let all = ProcessInfo.processInfo.activeProcessorCount
        line("\nother programs used \(number(cores, 2)) of \(all) cores; the figures are reliable only near 0")
    }

    private func printRow(_ row: Row, _ section: Section, _ results: Runner.Results) {
        let sluice = subjects.last.flatMap { results.figures[$0.name]?[row.figure] }
        let baseline = results.figures[section.baseline]?[row.figure]
        let old = before.flatMap { results.figures[$0.name]?[row.figure] }
        var cells = subjects.map { subject in
            if results.failures[subject.name] != nil { return "failed" }
            return results.figures[subject.name]?[row.figure].map { number($0, row.digits) } ?? "–"
        }
        cells.append(comparison(row, sluice, baseline))
        if before != nil { cells.append(ratio(sluice, old)) }
        line(columns(row.name, cells, limits(row, sluice, baseline)))
    }

    /// Sluice's figure relative to the baseline's: the ratio, or the difference if the row limits that.
    private func comparison(_ row: Row, _ sluice: Double?, _ baseline: Double?) -> String {
        guard case .difference = row.must else { return ratio(sluice, baseline) }
        guard let sluice, let baseline else { return "–" }
        return String(format: "%+.\(row.digits)f", sluice - baseline)
    }

    private func ratio(_ figure: Double?, _ other: Double?) -> String {
        guard let figure, let other, other > 0 else { return "–" }
        return number(figure / other, 2) + "×"
    }

    private func limits(_ row: Row, _ sluice: Double?, _ baseline: Double?) -> String {
        guard let must = row.must else { return "" }
        let text = "\(must.sign) \(must.value)" + (row.aim.map { " (\($0.value))" } ?? "")
        let isReached = { (limit: Limit) in sluice.flatMap { limit.isReached(by: $0, baseline: baseline) } }
        guard let mustIsReached = isReached(must) else { return text }
        let state = row.aim.flatMap(isReached) == true ? "aim reached" : mustIsReached ? "reached" : "missed"
        return text.padding(toLength: 18, withPad: " ", startingAt: 0) + state
    }

    /// Writes without a buffer: each line is visible as soon as it is measured, in a pipe too.
    private func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private func columns(_ first: String, _ cells: [String], _ last: String) -> String {
        let cells = cells.map { String(repeating: " ", count: max(1, 11 - $0.count)) + $0 }.joined()
        return first.padding(toLength: 38, withPad: " ", startingAt: 0) + cells + (last.isEmpty ? "" : "   " + last)
    }

    private func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}
