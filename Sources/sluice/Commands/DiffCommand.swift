import ArgumentParser
import Description
import Files
import Foundation
import HTTPModel
import Jobs
import Recording

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two exchanges, or two sessions.",
        discussion: """
              sluice diff last 12 14                     two exchanges of a session
              sluice diff a.sluice:12 b.sluice:14        two exchanges of two sessions
              sluice diff a.sluice b.sluice              two sessions
              sluice diff a.sluice b.sluice host:api     parts of two sessions

            Exchanges of two sessions are paired by method, host and path. Times, identifiers and fields such as Date are ignored. \
            'sluice guide repeat-and-compare' explains it.

            \(FilterHelp.text)

            Exit codes: 0 they behave the same, 1 the behaviour changed (or the command failed), 2 wrong usage.
            """
    )

    @Argument(
        help: .value("file", "Two sessions and a filter, two of FILE:NUMBER, or a session and two numbers."),
        completion: .session
    )
    var words: [String]
    @Option(help: .former) var filter: String?
    @OptionGroup var comparison: ComparisonOptions
    @OptionGroup var output: JSONOptions

    func validate() throws {
        if words.count < 2 {
            throw ValidationError("Give two sessions, two of FILE:NUMBER, or a session and two numbers.")
        }
        if filter != nil, words.count > 2 { throw ValidationError("--filter needs two sessions.") }
    }

    private typealias Place = (session: String, id: Int64?)

    private static func place(_ text: String) -> Place {
        guard !FileManager.default.fileExists(atPath: text), let colon = text.lastIndex(of: ":"),
            let number = Int64(text[text.index(after: colon)...])
        else { return (text, nil) }
        return (String(text[..<colon]), number)
    }

    /// The two numbers after a single session.
    private var numbers: [Int64]? {
        let numbers = words.dropFirst().compactMap { Int64($0) }
        return words.count == 3 && numbers.count == 2 ? numbers : nil
    }

    /// Which exchanges of two sessions are compared; `nil` for all.
    private var chosen: String? {
        filter ?? (words.count > 2 && numbers == nil ? words.dropFirst(2).joined(separator: " ") : nil)
    }

    func run() throws {
        let places: [Place] = numbers?.map { (words[0], $0) } ?? words.prefix(2).map(Self.place)
        let isSame = try LongWork.run("comparing", .things("pair"), consequence: "The comparison is incomplete.") {
            work in
            let (text, isSame) = try compare(places, work)
            work.hide()
            try OutputFile(nil).write(text)
            return isSame
        }
        if !isSame { throw ExitCode(1) }
    }

    private func compare(_ places: [Place], _ work: LongWork) throws -> (text: String, isSame: Bool) {
        let old = try SessionQuery.open(places[0].session, work: work)
        let new = numbers != nil ? old : try SessionQuery.open(places[1].session, work: work)
        let names = (places[0].session, places[1].session)
        let settings = comparison.settings()
        let report = DifferenceReport(settings)
        switch (places[0].id, places[1].id) {
        case (let first?, let second?):
            if chosen != nil { throw StartError("A filter needs two sessions, not two exchanges.", isUsage: true) }
            let sides = (try side(names.0, first, old), try side(names.1, second, new))
            let mask = try output.isMasked ? SessionMask.rules(of: old) : nil
            return output.json
                ? try report.json(sides.0, sides.1, names: names, mask: mask)
                : try report.text(sides.0, sides.1, names: names.0 == names.1 ? nil : names)
        case (nil, nil):
            let filter = try SessionQuery.filter(chosen ?? "")
            let difference = try SessionDifference(old, new, matching: filter, settings, work: work)
            guard difference.old + difference.new > 0 else {
                throw StartError("There is nothing to compare: no exchange of either session matches.")
            }
            let mask = try output.isMasked ? ReportMask([old, new], SessionMask.rules(of: old)) : nil
            let text =
                output.json
                ? try report.json(difference, (names.0, old), (names.1, new), mask: mask)
                : report.text(difference, (names.0, old), (names.1, new))
            if let remark = mask?.remark { StandardStreams.error("sluice: \(remark)\n") }
            return (text, difference.isSame)
        default:
            throw StartError("Give an exchange of both sessions, as FILE:NUMBER, or of neither.", isUsage: true)
        }
    }

    private func side(_ session: String, _ id: Int64, _ reader: SessionReader) throws -> ExchangeDifference.Side {
        guard let exchange = try reader.exchange(ExchangeID(id)) else {
            throw StartError("\(session) has no exchange \(id).", hint: "To list them: sluice list \(session)")
        }
        return ExchangeDifference.Side(exchange, reader)
    }
}
