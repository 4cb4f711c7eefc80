import ArgumentParser
import Description
import Files
import Foundation
import HTTPModel
import Jobs
import Masking
import Recording
import Runner

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the exchanges of a session.",
        discussion: """
              sluice list last
              sluice list last 'status:>=400'
              sluice list traffic-1.sluice traffic-2.sluice 'host:api.example.com' --json

            \(FilterHelp.text)
            """
    )

    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .value("filter", "Which exchanges; may begin with more .sluice files."), completion: .filter)
    var filter: [String] = []
    @OptionGroup var output: JSONOptions

    func run() throws {
        let (sessions, filter) = SessionQuery.split(session, filter)
        for session in sessions {
            if sessions.count > 1, !output.json { StandardStreams.out("\(session):\n") }
            try list(session, filter)
        }
    }

    private func list(_ session: String, _ filter: [String]) throws {
        guard output.isMasked else { return try list(session, filter, nil) }
        let (consequence, isShown) = ("The list is incomplete.", isatty(STDOUT_FILENO) == 0)
        try LongWork.run("finding secrets", .things("exchange"), consequence: consequence, isShown: isShown) { work in
            try list(session, filter, work)
        }
    }

    /// Lists the exchanges; with work to report on, without their secrets.
    private func list(_ session: String, _ filter: [String], _ work: LongWork?) throws {
        let query = try SessionQuery(session: session, filter: filter, work: work)
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
}
