import Content
import Description
import HTTPModel
package import Masking
import NIOCore
package import Recording
import Text

/// Counts, times and sizes of exchanges by host and by endpoint, as tables for people and as JSON.
package struct StatisticsReport {
    package enum Grouping: String, CaseIterable, Sendable, Hashable { case host, endpoint }

    package struct Screen: Sendable, Hashable {
        /// In columns.
        package var width: Int
        package var isUnicode: Bool
        package var ellipsis: String { isUnicode ? "…" : "..." }

        package init(width: Int, isUnicode: Bool) { (self.width, self.isUnicode) = (width, isUnicode) }
    }

    /// Rows of each table if both tables are shown.
    private static let shownOfEach = 20
    private static let titles = ["COUNT", "ERRORS", "P50", "P95", "SENT", "RECEIVED"]
    private static let widths = [8, 7, 9, 9, 9, 10]
    /// The columns by importance, for narrow screens.
    private static let ranks = [0, 1, 3, 5, 2, 4]
    private static let bars = 6...30
    private static let shortestName = 18
    /// In front of a name that has its own line.
    private static let indent = 4
    private static let longestLine = 110

    private let statistics: SessionStatistics
    /// `nil` shows both groupings.
    private let grouping: Grouping?

    package init(_ statistics: SessionStatistics, by grouping: Grouping? = nil) {
        (self.statistics, self.grouping) = (statistics, grouping)
    }

    private struct Row {
        var name: String
        var totals: SessionStatistics.Totals
        var endpoint: SessionStatistics.Endpoint?

        var shown: String { endpoint?.title ?? VisibleText.of(HostForms.text(of: name)) }

        /// The name in at most `columns` columns. The host of an endpoint is shortened first, then its path.
        func name(in columns: Int, _ ellipsis: String) -> String {
            let name = shown
            guard let endpoint, TextWidth.columns(name) > columns else {
                return TextWidth.cutMiddle(name, to: columns, ellipsis: ellipsis)
            }
            let (host, path) = (VisibleText.of(HostForms.text(of: endpoint.host)), VisibleText.of(endpoint.path))
            let method = VisibleText.of(endpoint.shownMethod) + " "
            let room = columns - TextWidth.columns(method) - TextWidth.columns(path)
            guard room >= TextWidth.columns(ellipsis) else {
                return method + ellipsis
                    + TextWidth.cutMiddle(path, to: columns - TextWidth.columns(method + ellipsis), ellipsis: ellipsis)
            }
            return method + TextWidth.cutMiddle(host, to: room, ellipsis: ellipsis) + path
        }
    }

    private func rows(_ grouping: Grouping) -> [Row] {
        var rows: [Row]
        switch grouping {
        case .host: rows = statistics.hosts.map { Row(name: $0.key.isEmpty ? "(no host)" : $0.key, totals: $0.value) }
        case .endpoint:
            rows = statistics.endpoints.map { endpoint, totals in
                Row(name: "\(endpoint.method) \(endpoint.host)\(endpoint.path)", totals: totals, endpoint: endpoint)
            }
        }
        rows.sort { ($1.totals.count, $0.name) < ($0.totals.count, $1.name) }
        return rows
    }

    private func further(_ grouping: Grouping) -> Row? {
        let totals = grouping == .host ? statistics.others : statistics.otherEndpoints
        return totals.count > 0 ? Row(name: "(further \(grouping.rawValue)s)", totals: totals) : nil
    }

    /// Tables; the rows with the most exchanges come first. On a screen, rows have bars, and long names their own line.
    package func text(on screen: Screen? = nil) -> String {
        guard statistics.all.count > 0 else { return "There are no exchanges.\n" }
        let width = screen?.width ?? .max
        var text = StatisticsReport.broken(heading, in: width)
        for grouping in Grouping.allCases where self.grouping ?? grouping == grouping {
            text += "\n" + table(grouping, screen)
        }
        return text + "\n"
            + StatisticsReport.broken(StatisticsReport.closing, in: min(width, StatisticsReport.longestLine))
    }

    private static let closing = """
        An error is an incomplete answer or a status of 400 or more. p50 and p95 are at most 3.2\u{A0}% off. Sent and \
        received are the bodies of requests and responses, as received by Sluice.
        """

    /// Breaks lines between words, but not between a number and its unit.
    private static func broken(_ text: String, in columns: Int) -> String {
        var (lines, line) = ("", "")
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > columns {
                lines += line + "\n"
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word.replacing("\u{A0}", with: " ")
        }
        return lines + line + "\n"
    }

    private var heading: String {
        let all = statistics.all
        let errors = all.errors > 0 ? "\(all.errors.of("error")) (\(percent(all)))" : "no errors"
        let ends = statistics.timeline.span.map { [$0.lowerBound, $0.upperBound].map(Timestamp.readable) } ?? []
        return "\(all.count.of("exchange")), \(errors), from \(ends.joined(separator: " to "))"
    }

    private func table(_ grouping: Grouping, _ screen: Screen?) -> String {
        let all = rows(grouping)
        guard let most = all.first?.totals.count else { return "" }
        let shown = self.grouping == nil ? Array(all.prefix(StatisticsReport.shownOfEach)) : all
        let columns = StatisticsReport.columns(in: screen?.width ?? .max)
        let widths = columns.map { StatisticsReport.widths[$0] }
        let numbers = widths.reduce(2, +)
        let longest = shown.map { TextWidth.columns($0.shown) }.max() ?? 0
        let bar = screen.map { StatisticsReport.barWidth($0.width - numbers - 2, longest) } ?? 0
        let room = screen.map { $0.width - numbers - (bar > 0 ? bar + 2 : 0) }
        func line(_ cells: [String], _ chart: String, _ row: Row) -> String {
            let numbers = zip(columns, widths).map { cells[$0].aligned(to: $1) }.joined()
            let name = row.shown
            guard let screen, let room, TextWidth.columns(name) > room else {
                return numbers + "  " + (bar > 0 ? chart.filled(to: bar) + "  " : "") + name + "\n"
            }
            // Two shortened names could look the same, so a long name gets its own line.
            let width = max(1, screen.width - StatisticsReport.indent)
            return String(repeating: " ", count: StatisticsReport.indent) + row.name(in: width, screen.ellipsis) + "\n"
                + numbers + (chart.isEmpty ? "" : "  " + chart) + "\n"
        }
        var text = line(StatisticsReport.titles, "", Row(name: grouping.rawValue.uppercased(), totals: statistics.all))
        text += line(cells(statistics.all), "", Row(name: "all", totals: statistics.all))
        for row in shown + [further(grouping)].compactMap(\.self) {
            text += line(cells(row.totals), chart(row.totals, most, bar, screen), row)
        }
        if shown.count < all.count {
            text += "and \((all.count - shown.count).grouped) more; --by \(grouping.rawValue) shows all\n"
        }
        return text
    }

    private static func columns(in width: Int) -> [Int] {
        var rest = width
        return ranks.prefix { column in
            rest -= widths[column]
            return rest >= 0 || column == ranks[0]
        }.sorted()
    }

    /// The width of bars beside names; 0 if there is no room for bars.
    private static func barWidth(_ room: Int, _ longestName: Int) -> Int {
        let name = min(longestName, max(0, room - bars.lowerBound))
        guard name >= min(longestName, shortestName), room - name >= bars.lowerBound else { return 0 }
        return min(bars.upperBound, room - name)
    }

    private func cells(_ totals: SessionStatistics.Totals) -> [String] {
        [
            String(totals.count), totals.errors > 0 ? percent(totals) : "-",
            Measures.duration(totals.percentile(0.5)), Measures.duration(totals.percentile(0.95)),
            Measures.size(totals.requestBytes), Measures.size(totals.responseBytes),
        ]
    }

    /// To a tenth of a percent; 0 only without errors.
    private func percent(_ totals: SessionStatistics.Totals) -> String {
        guard totals.count > 0, totals.errors > 0 else { return "0 %" }
        let tenths = max(1, Int64((Double(totals.errors) / Double(totals.count) * 1_000).rounded()))
        return tenths >= 1_000 ? "100 %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// A bar of the row's exchanges, relative to the row with most; errors are its lighter end.
    private func chart(_ totals: SessionStatistics.Totals, _ most: Int64, _ columns: Int, _ screen: Screen?) -> String {
        guard columns > 0, most > 0, totals.count > 0 else { return "" }
        func part(_ count: Int64, of whole: Int64, in columns: Int) -> Int {
            min(columns, Int((Double(count) / Double(whole) * Double(columns)).rounded()))
        }
        let length = max(1, part(totals.count, of: most, in: columns))
        var bad = part(totals.errors, of: totals.count, in: length)
        if totals.errors > 0 { bad = max(1, bad) }
        let isUnicode = screen?.isUnicode ?? false
        return String(repeating: isUnicode ? "█" : "=", count: length - bad)
            + String(repeating: isUnicode ? "▒" : "x", count: bad)
    }

    /// One JSON object and a line feed, masked if there is a mask. The page `json` of the guide describes the members.
    package func json(_ mask: RecordMask? = nil) throws -> String {
        var writer = JSONWriter()
        try writer.object { json in
            json.members(of: statistics.all)
            if let span = statistics.timeline.span {
                json.member("from", Timestamp.iso8601(span.lowerBound))
                json.member("to", Timestamp.iso8601(span.upperBound))
            }
            for grouping in Grouping.allCases where self.grouping ?? grouping == grouping {
                try json.objects("\(grouping.rawValue)s", rows(grouping)) { json, row in
                    if let endpoint = row.endpoint {
                        json.members(of: endpoint, mask)
                    } else {
                        json.member("host", row.name)
                    }
                    json.members(of: row.totals)
                }
                if let further = further(grouping) {
                    try json.object("further\(grouping == .host ? "Hosts" : "Endpoints")") {
                        $0.members(of: further.totals)
                    }
                }
            }
        }
        return String(buffer: writer.buffer) + "\n"
    }
}

extension JSONWriter {
    fileprivate mutating func members(of totals: SessionStatistics.Totals) {
        member("exchanges", totals.count)
        member("errors", totals.errors)
        member("requestBytes", totals.requestBytes)
        member("responseBytes", totals.responseBytes)
        optionalMilliseconds("p50", totals.percentile(0.5))
        optionalMilliseconds("p95", totals.percentile(0.95))
        if let slowest = totals.slowest {
            optionalMilliseconds("slowest", slowest.time)
            member("slowestExchange", slowest.id.number)
        }
    }
}
