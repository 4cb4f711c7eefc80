import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import Recording
import Runner
import Text

enum Switch: String, ExpressibleByArgument, CaseIterable {
    case on, off
}

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Switch recording on or off.",
        discussion: """
              sluice record off

            While it is off, new exchanges are not recorded; rules and breakpoints still apply. Open exchanges are recorded to \
            their end.
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: "'on' or 'off'.") var state: Switch

    func run() async throws { StandardStreams.out(try await options.target().setRecording(state == .on) + "\n") }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete exchanges of a session.",
        discussion: """
              sluice delete last id:12
              sluice delete last 'host:telemetry.example.com'

            They are removed from the file and overwritten. If a running Sluice records the session, they are hidden at once and \
            removed when it ends.

            \(FilterHelp.text)
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: .ownSession, completion: .ownSession) var session: String
    @Argument(help: .value("filter", "Which exchanges, such as id:3..5; '*' is all."), completion: .filter)
    var filter: [String]

    func validate() throws {
        // A bare word is searched in URLs, which often contain digits.
        guard filter.count == 1, let number = filter.first, number.allSatisfy(\.isWholeNumber) else { return }
        throw ValidationError("'\(number)' matches URLs; for the exchange of that number, write id:\(number)")
    }

    func run() async throws {
        let path = try SessionQuery.changeable(session)
        let query = try SessionQuery(session: path, filter: filter == ["*"] ? [] : filter)
        var numbers: [Int64] = []
        try query.forEachMatch { numbers.append($0.id.number) }
        guard !numbers.isEmpty else { throw StartError("No exchange of \(path) matches; nothing was deleted.") }
        let result = try await options.edit(.delete(ExchangeNumbers(numbers)), of: path)
        let rest = result.inFlight > 0 ? "Not deleted, as in flight: \(result.inFlight).\n" : ""
        // Only sessions that were recorded with a store have a key.
        let stored = try query.reader.labelKey() == nil ? "" : "The store keeps what was sent to it.\n"
        StandardStreams.out("Deleted \(result.changed.of("exchange")).\n\(rest)\(stored)")
    }
}
