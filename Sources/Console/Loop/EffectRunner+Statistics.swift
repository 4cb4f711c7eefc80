import HTTPModel
import Recording
import Sharing
import Text

extension EffectRunner {
    func showStatistics(_ filter: Filter, _ numbers: [Int64]?, _ title: String, width: Int) {
        onReader(passes) { [self] reader in
            var statistics = SessionStatistics()
            if let numbers {
                try reader.add(.numbers(numbers), matching: filter, to: &statistics)
            } else {
                statistics = try reader.statistics(matching: filter)
            }
            let document = StatisticsDocument.make(statistics, width: width)
            report(title, document, topic: "sessions")
        }
    }
}

/// What hosts amount to, as a table.
enum StatisticsDocument {
    private static let columns: [TimelineState.Column] = [.count, .errors, .bytes, .p50, .p95, .slowest]
    private static let longestName = 40
    /// More columns of a screen than this the table never needs.
    static let widest = 120

    static func make(_ statistics: SessionStatistics, width: Int) -> DetailDocument {
        let rows = statistics.rows.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        let all = StatisticsRow("all", statistics.all)
        let titles = ["HOST"] + columns.map { $0.rawValue.uppercased() }
        let table = ([all] + rows).map { row in
            [VisibleText.of(row.name)]
                + columns.map { column in
                    let text = TimelineView.text(column, row)
                    return text.isEmpty ? (column == .errors ? "0" : "-") : text
                }
        }
        var widths = titles.indices.map { column in
            ([titles] + table).map { TextWidth.columns($0[column]) + 2 }.max() ?? 0
        }
        // The numbers stay whole.
        widths[0] = min(longestName, widths[0] - 2, max(12, width - widths.dropFirst().reduce(0, +)))
        let lines = ([titles] + table).enumerated().map { index, cells in
            let cut = TextWidth.cutMiddle(cells[0], to: widths[0])
            let padding = String(repeating: " ", count: max(0, widths[0] - TextWidth.columns(cut)))
            let numbers = zip(cells, widths).dropFirst().map { TextWidth.paddedLeft($0, to: $1) }.joined()
            return DetailLine([Span(cut + padding + numbers, index == 0 ? .label : .text)])
        }
        let note = "p50 and p95 are at most 3.2 % off; bytes are those of bodies, as received."
        return DetailDocument(lines: lines + [DetailLine([Span(note, .faint)])])
    }
}
