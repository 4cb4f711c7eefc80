import HTTPModel
import Recording
import Sharing
import Text

extension EffectRunner {
    func showStatistics(_ filter: Filter, _ numbers: [Int64]?, _ title: String) {
        onReader(passes) { [inbox] reader in
            var statistics = SessionStatistics()
            if let numbers {
                try reader.add(.numbers(numbers), matching: filter, to: &statistics)
            } else {
                statistics = try reader.statistics(matching: filter)
            }
            let document = StatisticsDocument.make(statistics)
            inbox.send(.report(title: title, document, topic: "sessions"))
        }
    }
}

/// What hosts amount to, as a table.
enum StatisticsDocument {
    private static let columns: [(TimelineState.Column, Int)] = [
        (.count, 8), (.errors, 8), (.bytes, 10), (.p50, 10), (.p95, 10), (.slowest, 18),
    ]
    private static let longestName = 40

    static func make(_ statistics: SessionStatistics) -> DetailDocument {
        let rows = statistics.rows.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        let all = StatisticsRow("all", statistics.all)
        let name = min(longestName, ([all] + rows).map { TextWidth.columns(VisibleText.of($0.name)) }.max() ?? 0)
        func line(_ label: String, _ text: (TimelineState.Column) -> String) -> String {
            let cut = TextWidth.cutMiddle(label, to: max(4, name))
            let padding = String(repeating: " ", count: max(0, max(4, name) - TextWidth.columns(cut)))
            return cut + padding + columns.map { TextWidth.paddedLeft(text($0.0), to: $0.1) }.joined()
        }
        var lines = [DetailLine([Span(line("HOST") { $0.rawValue.uppercased() }, .label)])]
        for row in [all] + rows {
            let text = line(VisibleText.of(row.name)) { column in
                let text = TimelineView.text(column, row)
                return text.isEmpty ? (column == .errors ? "0" : "-") : text
            }
            lines.append(DetailLine([Span(text)]))
        }
        lines.append(
            DetailLine([Span("p50 and p95 are at most 3.2 % off; bytes are those of bodies, as received.", .faint)])
        )
        return DetailDocument(lines: lines)
    }
}
