import ArgumentParser
import Files
import Foundation
import HTTPModel
import Jobs
import Recording
import Sharing

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare two exchanges, or two sessions.",
        discussion: """
              sluice diff last 12 14                     two exchanges of a session
              sluice diff a.sluice:12 b.sluice:14        two exchanges of two sessions
              sluice diff a.sluice b.sluice              two sessions
              sluice diff a.sluice b.sluice host:api     parts of two sessions

            Exchanges of two sessions are paired by method, host and path. Times, identifiers and fields such as Date, which differ \
            each time, are ignored; --ignore NAME ignores more. 'sluice guide repeat-and-compare' explains it.

            \(FilterHelp.text)

            Exit codes: 0 they behave the same, 1 the behaviour changed (or the command failed), 2 wrong usage.
            """
    )

    @Argument(
        help: .value("file", "Two sessions and a filter, two of FILE:NUMBER, or one session and two numbers."),
        completion: .session
    )
    var words: [String]
    @Option(help: .former) var filter: String?
    @Option(help: .value("name|path", "A field, parameter, JSON member or place in JSON to ignore; repeatable."))
    var ignore: [String] = []
    @Flag(help: "Compare everything but what --ignore names.") var exact = false
    @Flag(help: "Compare responses as received from the servers, not as sent to the clients.") var received = false
    @Flag(help: "Print one JSON object, with secrets masked.") var json = false
    @Flag(help: "With --json: keep secrets as they were recorded.") var secrets = false

    func validate() throws {
        if secrets, !json { throw ValidationError("--secrets goes with --json; text for people is never masked.") }
        if words.count < 2 {
            throw ValidationError("Give two sessions, two of FILE:NUMBER, or a session and two numbers.")
        }
        if filter != nil, words.count > 2 { throw ValidationError("--filter goes with two sessions.") }
        for place in ignore {
            guard let problem = ComparisonRules.problem(with: place) else { continue }
            throw ValidationError("--ignore \(problem).")
        }
    }

    private struct Place {
        var session: String
        var id: Int64?

        init(_ text: String) {
            (session, id) = (text, nil)
            guard !FileManager.default.fileExists(atPath: text), let colon = text.lastIndex(of: ":"),
                let number = Int64(text[text.index(after: colon)...])
            else { return }
            (session, id) = (String(text[..<colon]), number)
        }

        init(_ session: String, _ id: Int64?) { (self.session, self.id) = (session, id) }
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
        let places = numbers?.map { Place(words[0], $0) } ?? words.prefix(2).map { Place($0) }
        let rules = ComparisonRules(ignoring: ignore, isExact: exact)
        let isSame = try LongWork.run("comparing", .things("pair"), consequence: "Not everything was compared.") {
            work in
            let (text, isSame) = try compare(places, rules, work)
            work.hide()
            try OutputFile(nil).write(text)
            return isSame
        }
        if !isSame { throw ExitCode(1) }
    }

    private func compare(
        _ places: [Place],
        _ rules: ComparisonRules,
        _ work: LongWork
    ) throws -> (text: String, isSame: Bool) {
        let version: MessageVersion = received ? .received : .sent
        let old = try SessionQuery.open(places[0].session, work: work)
        let new = numbers != nil ? old : try SessionQuery.open(places[1].session, work: work)
        switch (places[0].id, places[1].id) {
        case (let first?, let second?):
            if chosen != nil {
                throw StartError("A filter goes with two sessions, not with two exchanges.", isUsage: true)
            }
            let sides = [try side(places[0].session, first, old), try side(places[1].session, second, new)]
            return json
                ? try DifferenceReport.json(
                    sides[0],
                    sides[1],
                    names: (places[0].session, places[1].session),
                    rules,
                    named: ignore,
                    responses: version,
                    mask: secrets ? nil : SessionMask.rules(of: old)
                )
                : try DifferenceReport.text(
                    sides[0],
                    sides[1],
                    names: places[0].session == places[1].session ? nil : (places[0].session, places[1].session),
                    rules,
                    named: ignore,
                    responses: version
                )
        case (nil, nil):
            let difference = try SessionDifference(
                old,
                new,
                matching: try SessionQuery.filter(chosen ?? ""),
                rules: rules,
                responses: version,
                work: work
            )
            guard difference.old + difference.new > 0 else {
                throw StartError("There is nothing to compare: no exchange of either session fits.")
            }
            let names = (
                DifferenceReport.Named(places[0].session, old), DifferenceReport.Named(places[1].session, new)
            )
            let mask = try json && !secrets ? ReportMask([old, new], SessionMask.rules(of: old)) : nil
            let text =
                json
                ? try DifferenceReport.json(
                    difference,
                    names.0,
                    names.1,
                    rules,
                    named: ignore,
                    responses: version,
                    mask: mask
                ) : DifferenceReport.text(difference, names.0, names.1, rules, named: ignore)
            if let remark = mask?.remark { StandardStreams.error("sluice: \(remark)\n") }
            return (text, difference.isSame)
        default:
            throw StartError("Give an exchange of both sessions, as FILE:NUMBER, or of neither.", isUsage: true)
        }
    }

    private func side(_ session: String, _ id: Int64, _ reader: SessionReader) throws -> ExchangeDifference.Side {
        guard let exchange = try reader.exchange(ExchangeID(id)) else {
            throw StartError(
                "\(session) has no exchange \(id).",
                hint: "sluice list \(session) prints the numbers there are."
            )
        }
        return ExchangeDifference.Side(exchange, reader)
    }
}
