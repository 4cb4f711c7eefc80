import ArgumentParser
import Files
import Foundation
import HTTPModel
import Recording
import Runner
import Sharing

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what differs between two exchanges, or between two sessions.",
        discussion: """
            sluice diff SESSION 12 14                  two exchanges of a session
            sluice diff a.sluice:12 b.sluice:14        two exchanges of two sessions
            sluice diff a.sluice b.sluice              two sessions

            Exchanges of two sessions are paired by method, host and path, where numbers, UUIDs and other identifiers of a path \
            are one, in their order; how many could be, and how surely, is said. JSON is compared by what it means. Left out \
            are moments, identifiers and fields such as Date, which differ each time; --ignore NAME leaves out a field, a \
            parameter, a JSON member of any place, or 'port', 'scheme', 'status', --ignore '.items[].price' a place in JSON.

            Requests are compared as received from the clients, responses as sent to them, after the tools: status, fields and \
            body. With --received responses are compared as received from the servers, before the tools.

            Exit codes: 0 they behave the same, 1 the behaviour changed (or the command failed), 2 wrong usage.

            \(FilterHelp.text)
            """
    )

    @Argument(
        help: .value("session", "Two sessions or HARs, two of SESSION:ID, or one session and two numbers."),
        completion: .session
    )
    var sessions: [String]
    @Option(help: .value("filter", "Of two sessions: only the exchanges that fit, as one argument.")) var filter:
        String?
    @Option(help: .value("name|path", "A field, parameter, JSON member or place in JSON to leave out. Repeatable."))
    var ignore: [String] = []
    @Flag(help: "Leave out nothing but what --ignore names.") var exact = false
    @Flag(help: "Compare responses as received from the servers, not as sent to the clients.") var received = false
    @Flag(help: "Print one JSON object, with secrets masked.") var json = false
    @Flag(help: "With --json: keep secrets as they were recorded.") var secrets = false

    func validate() throws {
        if secrets, !json { throw ValidationError("--secrets goes with --json; text for people is never masked.") }
        if sessions.count == 3 {
            guard sessions[1...].allSatisfy({ Int64($0) != nil }) else {
                throw ValidationError("Three arguments are a session and two numbers of exchanges.")
            }
        } else if sessions.count != 2 {
            throw ValidationError("Give two sessions, two of SESSION:ID, or a session and two numbers.")
        }
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

    func run() throws {
        let places =
            sessions.count == 3
            ? [Place(sessions[0], Int64(sessions[1])), Place(sessions[0], Int64(sessions[2]))]
            : sessions.map { Place($0) }
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
        let new = sessions.count == 3 ? old : try SessionQuery.open(places[1].session, work: work)
        switch (places[0].id, places[1].id) {
        case (let first?, let second?):
            if filter != nil { throw StartError("--filter is for two sessions.", isUsage: true) }
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
                ) : try DifferenceReport.text(sides[0], sides[1], rules, named: ignore, responses: version)
        case (nil, nil):
            let difference = try SessionDifference(
                old,
                new,
                matching: try SessionQuery.filter(filter ?? ""),
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
            throw StartError("Give an exchange of both sessions, as SESSION:ID, or of neither.", isUsage: true)
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
