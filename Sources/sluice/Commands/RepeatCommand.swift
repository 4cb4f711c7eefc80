import ArgumentParser
import Clients
import Description
import Files
import Foundation
import HTTPModel
import Jobs
import NIOCore
import Recording
import Runner

struct Repeat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repeat",
        abstract: "Send recorded requests again and compare the answers.",
        discussion: """
              sluice repeat last 12                              one exchange, by its number
              sluice repeat a.sluice 'host:api.example.com status:5xx'
              sluice repeat last 12 --times 100 --parallel 10 --delay 50
              sluice repeat a.har 3-7 --direct --session b.sluice

            Sends the recorded bytes in their recorded order, then prints counts, times and differences. The new exchanges are kept \
            only with --session or --control. Ctrl-C stops and prints the results so far. 'sluice guide repeat-and-compare' explains \
            more.

            \(FilterHelp.text)

            Exit codes: 0 all were answered, 1 one was not (or, with --expect-same, differs), 2 wrong usage, 130 stopped by Ctrl-C.
            """
    )

    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .value("filter", "Numbers such as 12 or 3-7,9, or a filter."), completion: .filter)
    var filter: [String]

    @Option(help: .value("n", "How often to send each.")) var times = 1
    @Option(help: .value("m", "How many at a time, up to 256; 2..10 grows.")) var parallel = "1"
    @Option(help: .value("ms", "The pause after an answer; 50..200 is random, 2s is seconds.")) var delay = "0"
    @Option(help: .value("seconds", "Limit for one request.")) var timeout = 60.0
    @Flag(name: .customLong("through-tools"), help: "Send what the clients sent, through the rules. (default)")
    var throughTools = false
    @Flag(help: "Send what was sent to the servers, without rules.") var direct = false
    @Option(help: .profile, completion: .profile) var profile: [String] = []
    @OptionGroup var variables: VariableOptions
    @Option(help: .value("pid|path", "Send through a running Sluice."), completion: .running) var control: String?
    @OptionGroup(title: "Servers") var upstream: UpstreamOptions
    @OptionGroup(title: "Servers") var authority: AuthorityOptions
    @Option(
        name: .customLong("session"),
        help: .value("file", "The session to record the new exchanges to."),
        completion: .newSession
    )
    var recording: String?
    @Option(help: "One row for each exchange or endpoint. (default: by their number)") var by: RepeatReport.Grouping?
    @OptionGroup var comparison: ComparisonOptions
    @Flag(help: "Exit with status 1 if an answer differs or was not compared.") var expectSame = false
    @Flag(help: "Only print what would be sent.") var dryRun = false
    @OptionGroup var output: JSONOptions

    private static let mostRequests = 1_000_000

    func validate() throws {
        if filter.isEmpty { throw ValidationError("Say which exchanges: numbers such as 12 or 3-7, or a filter.") }
        if throughTools, direct { throw ValidationError("--through-tools and --direct exclude each other.") }
        if direct, !profile.isEmpty || control != nil {
            throw ValidationError("--direct excludes --profile and --control.")
        }
        if control != nil, !profile.isEmpty || recording != nil {
            throw ValidationError("--control uses the rules and the session of the running Sluice.")
        }
        try UpstreamOptions.checkTimeout("timeout", timeout)
        _ = try plan()
    }

    private func plan() throws -> RepeatPlan {
        do {
            return try RepeatPlan(times: times, parallel: parallel, delay: delay)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        let plan = try plan()
        let chosen = try SessionQuery.exchanges(filter)
        let (code, interruption) = try await LongWork.run(
            "sending",
            .things("request"),
            consequence: "There is no report.",
            // A second signal ends it at once.
            patience: .seconds(86_400)
        ) { work in
            let query = try SessionQuery(session: session, filter: chosen, work: work)
            let selection = try RepeatSelection(query, asSent: direct, work: work)
            try announce(selection, plan)
            guard !dryRun else { return (Int32(0), work.interruption) }
            let code = try await send(selection, from: query.reader, plan, work)
            return (code, work.interruption)
        }
        if let interruption { throw ExitCode(interruption.exitCode) }
        if code != 0 { throw ExitCode(code) }
    }

    private static let shownRequests = 10

    private func announce(_ selection: RepeatSelection, _ plan: RepeatPlan) throws {
        let records = selection.records
        for one in selection.leftOut.prefix(Self.shownRequests * 2) {
            StandardStreams.error("sluice: skipped: \(Self.name(one.record)): \(one.reason)\n")
        }
        if selection.leftOut.count > Self.shownRequests * 2 {
            StandardStreams.error("sluice: skipped: \(selection.leftOut.count - Self.shownRequests * 2) more\n")
        }
        guard !records.isEmpty else {
            throw selection.leftOut.isEmpty
                ? .nothingFits(session) : StartError("None of these requests can be sent again.")
        }
        let total = records.count * plan.times
        guard total <= Self.mostRequests else {
            throw StartError(
                "\(total) requests are too many; the limit is \(Self.mostRequests).",
                hint: "Choose fewer exchanges, or lower --times.",
                isUsage: true
            )
        }
        var text = "sluice: \(dryRun ? "would send" : "sending") \(total) request\(total == 1 ? "" : "s")"
        if plan.times > 1 {
            let count = records.count == 1 ? "1 exchange, " : "\(records.count) exchanges, each "
            text += ": \(count)\(plan.times) times"
        }
        if plan.parallel.upperBound > 1 { text += ", \(parallel) at a time" }
        if plan.hasDelay {
            text += ", \(delay)\(Int(delay.suffix(1)) == nil ? "" : " ms") between them"
        }
        text += "; \(way)\n"
        for record in records.prefix(Self.shownRequests) { text += "  \(Self.name(record))\n" }
        if records.count > Self.shownRequests {
            let methods = Dictionary(grouping: records.dropFirst(Self.shownRequests), by: \.method).mapValues(\.count)
            let counts = methods.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            text += "  and \(records.count - Self.shownRequests) more: \(counts)\n"
        }
        if selection.changedCount > 0, !direct, profile.isEmpty, control == nil {
            text += "sluice: rules changed \(selection.changedCount) of them when they were recorded; "
            text += "--direct sends them as changed\n"
        }
        StandardStreams.error(text)
    }

    private var way: String {
        if direct { return "as sent to the servers, without rules" }
        let rules =
            control.map { "through Sluice \($0)" }
            ?? (profile.isEmpty ? "without rules" : "through the rules of \(profile.joined(separator: ", "))")
        return "as the clients sent them, \(rules)"
    }

    private static func name(_ record: ExchangeRecord) -> String {
        let size = record.sizes.requestBody > 0 ? " (\(Measures.size(record.sizes.requestBody)))" : ""
        let method = record.method.isEmpty ? "" : "\(record.method) "
        return "#\(record.id.number) \(method)\(record.url)\(size)"
    }

    /// Returns the exit code.
    private func send(
        _ selection: RepeatSelection,
        from reader: SessionReader,
        _ plan: RepeatPlan,
        _ work: LongWork
    ) async throws -> Int32 {
        let way = try await RepeatWay.open(settings(), control: control, limit: .milliseconds(Int64(timeout * 1_000)))
        do {
            let asSent = direct
            var results = try await way.recording {
                await RepeatResults.send(selection, asSent: asSent, from: reader, by: way.sender, plan, work: work)
            }
            await way.close()
            let made = try await way.find(&results)
            // With --direct no rules act, so answers are compared with the recorded responses as received.
            let settings = comparison.settings(isDirect: direct)
            let compared = try RepeatComparison(results, of: selection, from: reader, made, settings, work: work)
            let report = RepeatReport(results, of: selection, compared, by: by, settings, session: way.keptSession)
            let readers = [reader, made].compactMap(\.self)
            let mask = try output.isMasked ? ReportMask(readers, SessionMask.rules(of: reader)) : nil
            let text =
                output.json
                ? try report.json(mask, recorded: reader, made: made) : report.text(on: TerminalScreen.current)
            work.hide()
            try OutputFile(nil).write(text)
            if let remark = mask?.remark { StandardStreams.error("sluice: \(remark)\n") }
            for remark in way.remarks { StandardStreams.error("sluice: \(remark)\n") }
            way.remove()
            let all = compared.all
            let isSame = all.differences.different == 0 && all.notCompared == 0 && all.withoutRecorded == 0
            let isRecorded = recording == nil || !way.hasProblem
            return results.failures > 0 || !results.isWhole || !isRecorded || expectSame && !isSame ? 1 : 0
        } catch {
            await way.close()
            way.remove()
            throw error
        }
    }

    private func settings() throws -> RunSettings {
        var settings = try authority.settings()
        upstream.apply(to: &settings)
        settings.profiles = profile
        settings.session = recording
        return settings
    }
}

extension RepeatReport.Grouping: ExpressibleByArgument {}
