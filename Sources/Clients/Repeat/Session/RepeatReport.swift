import Description
import HTTPModel
package import Jobs
import Recording
import Text

/// The results of repeated requests by exchange or endpoint: counts, statuses, times, and differences of the answers.
package struct RepeatReport: Sendable {
    package enum Grouping: String, CaseIterable, Sendable, Hashable { case exchange, endpoint }

    struct Row: Sendable {
        /// The first exchange of the row; `nil` in the row for all exchanges.
        var record: ExchangeRecord?
        var numbers: [Int64] = []
        var count = 0
        var statuses: [Int: Int] = [:]
        /// Requests without a whole answer, by reason. After `maximumReasons`, further reasons are only counted.
        var failures: [String: Int] = [:]
        var failed = 0
        var times = RepeatTimes()
        var recorded = RepeatTimes()
        var comparison = RepeatComparison.Counts()

        private static let maximumReasons = 20

        mutating func add(_ outcome: SendOutcome) {
            count += 1
            if let status = outcome.status { statuses[status, default: 0] += 1 }
            guard let failure = outcome.failure else { return times.add(outcome.duration) }
            failed += 1
            if failures[failure] != nil || failures.count < Self.maximumReasons { failures[failure, default: 0] += 1 }
        }

        mutating func add(_ other: Row) {
            numbers += other.numbers
            count += other.count
            failed += other.failed
            statuses.merge(other.statuses, uniquingKeysWith: +)
            for (reason, count) in other.failures
            where failures[reason] != nil || failures.count < Self.maximumReasons {
                failures[reason, default: 0] += count
            }
            times.add(other.times)
            recorded.add(other.recorded)
            comparison.add(other.comparison)
        }
    }

    /// If there are more exchanges, the report is by endpoint, unless the user chooses.
    private static let maximumExchanges = 20

    let rows: [Row]
    let all: Row
    let grouping: Grouping
    let results: RepeatResults
    let settings: ComparisonSettings
    /// The session with the new exchanges, if it is kept.
    let session: String?

    package init(
        _ results: RepeatResults,
        of selection: RepeatSelection,
        _ comparison: RepeatComparison,
        by grouping: Grouping? = nil,
        _ settings: ComparisonSettings,
        session: String?
    ) {
        var bySource: [Int: Row] = [:]
        for one in results.sent {
            var row = bySource[one.source] ?? Row(selection.records[one.source], comparison.counts[one.source])
            row.add(one.outcome)
            bySource[one.source] = row
        }
        let exchanges = bySource.sorted { $0.key < $1.key }.map(\.value)
        self.grouping = grouping ?? (selection.records.count > Self.maximumExchanges ? .endpoint : .exchange)
        rows = self.grouping == .exchange ? exchanges : Self.joined(exchanges)
        all = exchanges.reduce(into: Row()) { $0.add($1) }
        (self.results, self.settings, self.session) = (results, settings, session)
    }

    /// Joins rows of the same endpoint, in the order of their first exchanges.
    private static func joined(_ rows: [Row]) -> [Row] {
        let groups = Dictionary(grouping: rows.indices) { rows[$0].record.map { SessionStatistics.Endpoint($0) } }
        return groups.values.sorted { $0[0] < $1[0] }.map { group in
            group.dropFirst().reduce(into: rows[group[0]]) { $0.add(rows[$1]) }
        }
    }

    private static let titles = ["COUNT", "FAILED", "/S", "MIN", "P50", "P95", "P99", "MAX"]
    private static let widths = [7, 8, 8, 9, 9, 9, 9, 9]
    /// The width in columns if there is no terminal.
    private static let usualWidth = 80
    private static let shortestName = 30
    private static let shownPlaces = 8
    private static let shownRows = 40

    /// A table, a histogram and the comparison; names are not shortened without a screen.
    package func text(on screen: StatisticsReport.Screen? = nil) -> String {
        guard results.sent.count > 0 else { return "Nothing was sent.\n" }
        let parts = [heading + "\n", table(screen), failures, histogram(screen), compared(screen)]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var heading: String {
        let seconds = Measures.duration(Int64(results.seconds * 1_000_000))
        let isStopped = results.isWhole ? "" : ", then stopped (\(results.total.grouped) were planned)"
        let failed = all.failed == 0 ? "all answered" : "\(all.failed.grouped) not answered"
        return "\(all.count.of("request")) sent in \(seconds), \(rate(all)) a second, \(failed)\(isStopped)."
    }

    private func rate(_ row: Row) -> String {
        guard results.seconds > 0 else { return "-" }
        let tenths = Int((Double(row.count) / results.seconds * 10).rounded())
        return tenths >= 1_000 ? (tenths / 10).grouped : "\(tenths / 10).\(tenths % 10)"
    }

    private func name(_ row: Row) -> String {
        guard let record = row.record else { return "all" }
        return grouping == .endpoint
            ? SessionStatistics.Endpoint(record).title
            : VisibleText.of("#\(record.id.number) \(record.method) \(record.url)")
    }

    private func table(_ screen: StatisticsReport.Screen?) -> String {
        let numbers = Self.widths.reduce(2, +)
        let shown = Array(rows.prefix(Self.shownRows))
        let statusWidth = max(6, (shown + [all]).map { statuses($0).columns }.max() ?? 0)
        let nameRoom = screen.map { $0.width - numbers - statusWidth - 2 }
        let ellipsis = screen?.ellipsis ?? "…"
        // On a narrow terminal each name has a line of its own.
        let isWide = nameRoom.map { $0 >= Self.shortestName } ?? true
        func figures(_ cells: [String], _ statuses: String) -> String {
            zip(cells, Self.widths).map { $0.aligned(to: $1) }.joined() + "  " + statuses
        }
        func lines(_ row: Row) -> String {
            let (cells, statuses) = (cells(row), statuses(row))
            let room = isWide ? nameRoom : screen?.width
            let whole = name(row)
            let title = room.map { TextWidth.cutMiddle(whole, to: $0, ellipsis: ellipsis) } ?? whole
            if isWide { return figures(cells, statuses.filled(to: statusWidth)) + "  \(title)\n" }
            let cut = TextWidth.cut(statuses, to: max(6, (screen?.width ?? 0) - numbers), ellipsis: ellipsis)
            return "\(title)\n\(figures(cells, cut))\n"
        }
        var text = figures(Self.titles, isWide ? "STATUS".filled(to: statusWidth) + "  REQUEST" : "STATUS") + "\n"
        text += shown.map(lines).joined()
        if rows.count > shown.count {
            text += "and \((rows.count - shown.count).of("more row")); --json has all\n"
        }
        return text + (rows.count > 1 ? lines(all) : "")
    }

    private func cells(_ row: Row) -> [String] {
        let summary = row.times.summary
        let times = [summary?.least, summary?.p50, summary?.p95, summary?.p99, summary?.most]
        return [row.count.grouped, row.failed > 0 ? row.failed.grouped : "-", rate(row)] + times.map(Measures.duration)
    }

    /// `200`, or `200 x 98, 500 x 2`.
    private func statuses(_ row: Row) -> String {
        let sorted = row.statuses.sorted { $0.key < $1.key }
        if sorted.count == 1, let only = sorted.first, only.value == row.count { return "\(only.key)" }
        return sorted.isEmpty ? "-" : sorted.map { "\($0.key) x \($0.value.grouped)" }.joined(separator: ", ")
    }

    private var failures: String {
        all.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.shownPlaces).map { reason, count in
            "failed \(count.grouped) x: \(VisibleText.of(reason))\n"
        }.joined()
    }

    private func histogram(_ screen: StatisticsReport.Screen?) -> String {
        let buckets = all.times.buckets()
        guard all.times.count > 1, let most = buckets.map(\.count).max(), most > 0 else { return "" }
        let isUnicode = screen?.isUnicode ?? false
        let width = min(screen?.width ?? Self.usualWidth, Self.usualWidth)
        let step = buckets[0].to - buckets[0].from
        let isOpen = buckets.count > 1 && buckets.last.map { $0.to - $0.from > step } ?? false
        let bounds = Measures.durations(buckets.map(\.from) + (isOpen ? [] : buckets.suffix(1).map(\.to)))
        let labels = zip(bounds, bounds.dropFirst() + (isOpen ? ["more"] : [])).map { "\($0) - \($1)" }
        let label = labels.map(\.count).max() ?? 0
        let room = max(8, width - label - 18)
        var text = "Times of \(all.times.count.of("whole answer")):\n"
        for (bucket, name) in zip(buckets, labels) {
            let part = Double(bucket.count) / Double(most)
            let length = bucket.count > 0 ? max(1, Int((part * Double(room)).rounded())) : 0
            let bar = String(repeating: isUnicode ? "█" : "#", count: length).filled(to: room)
            let share = Double(bucket.count) / Double(all.times.count) * 100
            text += "  \(name.aligned(to: label))  \(bar) \(bucket.count.grouped.aligned(to: 7)) "
            text += "\(bucket.count > 0 ? max(1, Int(share.rounded())) : 0)".aligned(to: 4) + "%\n"
        }
        return text
    }

    private func compared(_ screen: StatisticsReport.Screen?) -> String {
        let counts = all.comparison.differences
        var lines: [String] = []
        if counts.compared > 0 {
            let parts = ExchangeDifference.Part.allCases.compactMap { part in
                counts.parts[part].map { "\(part.rawValue) of \($0.grouped)" }
            }
            let list = parts.joined(separator: ", ")
            let different = counts.different > 0 ? ", \(counts.different.grouped) different (\(list))" : ""
            let same = "\(counts.same.grouped) of \(counts.compared.grouped) the same"
            lines.append("Compared with the recorded answers: \(same)\(different).")
        }
        for (count, reason) in [
            (all.comparison.withoutRecorded, "no whole answer was recorded"),
            (all.comparison.notCompared, "the new answer is not in a session"),
        ] where count > 0 {
            lines.append("Not compared, since \(reason): \(count.grouped).")
        }
        if let old = all.recorded.summary, let new = all.times.summary {
            func words(_ times: RepeatTimes.Summary) -> String {
                "p50 \(Measures.duration(times.p50)), p95 \(Measures.duration(times.p95))"
            }
            lines.append("Recorded times: \(words(old)); now: \(words(new)).")
        }
        if counts.compared > 0 { lines.append(settings.ignored(counts.leftOut)) }
        for row in rows.filter({ $0.comparison.differences.different > 0 }).prefix(Self.shownRows) {
            let name = name(row)
            lines += ["", screen.map { TextWidth.cutMiddle(name, to: $0.width, ellipsis: $0.ellipsis) } ?? name]
            lines += row.comparison.differences.lines(Self.shownPlaces, separator: session == nil ? " ~ new " : " ~ ")
        }
        return lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
    }
}

extension RepeatReport.Row {
    init(_ record: ExchangeRecord, _ comparison: RepeatComparison.Counts?) {
        self.record = record
        numbers = [record.id.number]
        if let total = record.timings.total { recorded = RepeatTimes([total]) }
        self.comparison = comparison ?? RepeatComparison.Counts()
    }
}
