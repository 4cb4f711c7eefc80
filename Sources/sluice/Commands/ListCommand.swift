import ArgumentParser
import Content
import Description
import Files
import Foundation
import HTTPModel
import Jobs
import Masking
import Recording
import Runner
import Text

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the exchanges of a session.",
        discussion: """
              sluice list last
              sluice list last 'status:>=400'
              sluice list traffic-1.sluice traffic-2.sluice 'host:api.example.com' --json
              sluice list last --columns id,method,path,res.json.error.code

            Columns are aligned on a terminal and separated by tabs in a pipe or file, where sizes are bytes and times \
            milliseconds. 'sluice guide places' has the grammar of places.

            \(FilterHelp.text)
            """
    )

    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .value("filter", "Which exchanges; may begin with more .sluice files."), completion: .filter)
    var filter: [String] = []
    @Option(help: .value("names", "Columns and places, with commas."))
    var columns: String?
    @OptionGroup var output: JSONOptions
    @OptionGroup var reading: StoreReading

    func validate() throws {
        _ = try reading.fetch(session)
        guard let columns else { return }
        if output.json { throw ValidationError("--columns and --json exclude each other.") }
        do {
            _ = try ListedColumn.columns(columns)
        } catch {
            throw ValidationError("--columns: \(error).")
        }
    }

    func run() throws {
        let (sessions, filter) = SessionQuery.split(session, filter)
        for session in sessions {
            if sessions.count > 1, !output.json { StandardStreams.out("\(session):\n") }
            try list(session, filter)
        }
    }

    private func list(_ session: String, _ filter: [String]) throws {
        if let columns { return try list(session, filter, try ListedColumn.columns(columns)) }
        guard output.isMasked else { return try list(session, filter, nil) }
        let (consequence, isShown) = ("The list is incomplete.", isatty(STDOUT_FILENO) == 0)
        try LongWork.run("finding secrets", .things("exchange"), consequence: consequence, isShown: isShown) { work in
            try list(session, filter, work)
        }
    }

    private func query(_ session: String, _ filter: [String], bodies: Bool, _ work: LongWork?) throws -> SessionQuery {
        guard let fetch = try reading.fetch(session, bodies: bodies) else {
            return try SessionQuery(session: session, filter: filter, work: work)
        }
        return try SessionQuery(fetch, filter: filter, work: work)
    }

    /// Lists the exchanges; with `work`, secrets are masked and `work` shows the progress.
    private func list(_ session: String, _ filter: [String], _ work: LongWork?) throws {
        let query = try query(session, filter, bodies: false, work)
        let (json, file) = (output.json, try OutputFile(nil))
        let mask = try work.map { work in
            let pipeline = try ExportPipeline(query, work) { "finding secrets" }
            return RecordMask(try SessionMask.source(pipeline, SessionMask.rules(of: query.reader)).mask)
        }
        var (places, exchanges) = (0, 0)
        func line(_ record: ExchangeRecord) -> String {
            guard json else { return ExchangeLine.human(record) }
            let masked = mask?.masked(record) ?? record
            let count = masked.extras.masked.count - record.extras.masked.count
            if count > 0 { (places, exchanges) = (places + count, exchanges + 1) }
            return ExchangeLine.json(masked)
        }
        var text = json ? "" : ExchangeLine.header + "\n"
        try query.forEachMatch { record in
            text += line(record) + "\n"
            if text.utf8.count > 1 << 16 {
                try file.write(text)
                text = ""
            }
        }
        try file.write(text)
        if let summary = RunSummary.masked(places: places, exchanges: exchanges) { StandardStreams.error(summary) }
        if let remark = query.remark { StandardStreams.error("sluice: \(remark)\n") }
    }

    /// Lists chosen columns: on a terminal aligned by the first rows, otherwise divided by tabs and without titles.
    private func list(_ session: String, _ filter: [String], _ columns: [ListedColumn]) throws {
        let readsMessages = columns.contains { if case .place = $0 { true } else { false } }
        let query = try query(session, filter, bodies: readsMessages, nil)
        let (source, file) = (ContentSource(query.reader), try OutputFile(nil))
        let isTerminal = isatty(STDOUT_FILENO) == 1
        var widths: [Int] = []
        try query.forEachNumbers { numbers in
            var rows = widths.isEmpty && isTerminal ? [columns.map(\.title)] : []
            for case let record? in try query.reader.records(numbers) {
                let side = readsMessages ? try source.read(record.id.number) : nil
                let places = side.map { ExchangePlaces($0.exchange, source: $0.source) }
                rows.append(
                    try columns.map { column in
                        let text = try column.text(record, places)
                        return isTerminal ? VisibleText.of(text) : text.tabSeparatedEscape
                    }
                )
            }
            if isTerminal, widths.isEmpty {
                widths = columns.indices.map { index in rows.map { TextWidth.columns($0[index]) }.max() ?? 0 }
            }
            let lines = rows.map { row in
                guard isTerminal else { return row.joined(separator: "\t") }
                let cells = row.enumerated().map { index, cell in
                    index == row.count - 1 ? cell : cell.filled(to: min(widths[index], Self.widestColumn))
                }
                return cells.joined(separator: "  ")
            }
            try file.write(lines.map { $0 + "\n" }.joined())
        }
        if let remark = query.remark { StandardStreams.error("sluice: \(remark)\n") }
    }

    private static let widestColumn = 60
}

extension String {
    /// Backslash, tab and line ends as `\\`, `\t`, `\n` and `\r`.
    fileprivate var tabSeparatedEscape: String { replacing(["\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"]) }
}
