import ArgumentParser
import Files
import Foundation
import HTTPModel
import Jobs
import Masking
import Recording
import Terminal

struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count exchanges by host and endpoint.",
        discussion: """
              sluice stats last
              sluice stats last 'host:api.example.com' --by endpoint --json

            An endpoint is a method, a host and a path with identifiers replaced, as in /users/{id}. An error is an exchange \
            without a whole answer, or with a status of 400 or more.

            \(FilterHelp.text)
            """
    )

    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .value("filter", "Which exchanges; may begin with more .sluice files."), completion: .filter)
    var filter: [String] = []
    @Option(help: "Only this table, with all of its rows.") var by: StatisticsReport.Grouping?
    @OptionGroup var output: JSONOptions
    @OptionGroup var reading: StoreReading

    func run() throws {
        let consequence = "There is no count."
        let (query, statistics) = try LongWork.run("counting", .things("exchange"), consequence: consequence) { work in
            let (sessions, filter) = SessionQuery.split(session, filter)
            let query =
                try reading.fetch(session, bodies: false).map { try SessionQuery($0, filter: filter, work: work) }
                ?? SessionQuery(sessions: sessions, filter: filter, work: work)
            work.begin("counting", .things("exchange"))
            return (query, try query.statistics(countsEndpoints: by != .host, work: work))
        }
        let report = StatisticsReport(statistics, by: by)
        if let remark = query.remark { StandardStreams.error("sluice: \(remark)\n") }
        if output.isMasked { try query.requireOneMask() }
        let mask = try output.isMasked ? ReportMask([query.reader], SessionMask.rules(of: query.reader)) : nil
        if let remark = mask?.remark { StandardStreams.error("sluice: \(remark)\n") }
        try OutputFile(nil).write(output.json ? report.json(mask?.record) : report.text(on: TerminalScreen.current))
    }
}

extension StatisticsReport.Grouping: ExpressibleByArgument {}

enum TerminalScreen {
    /// `nil` if standard output is not a terminal.
    static var current: StatisticsReport.Screen? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        let environment = ProcessInfo.processInfo.environment
        let terminal = SystemTerminal(input: STDIN_FILENO, output: STDOUT_FILENO, environment: environment)
        return StatisticsReport.Screen(width: terminal.size.width, isUnicode: terminal.capabilities.isUnicode)
    }
}
