import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import Recording
import Runner

enum RecordingSwitch: String, ExpressibleByArgument, CaseIterable {
    case on, off
}

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Switch recording on or off.",
        discussion: """
              sluice record off

            While it is off, traffic flows, rules and breakpoints still apply, and new exchanges are not recorded. Exchanges that \
            began before are recorded to their end.
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: "'on' or 'off'.") var state: RecordingSwitch

    func run() async throws {
        StandardStreams.out(try await options.target().setRecording(state == .on) + "\n")
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete exchanges of a session.",
        discussion: """
              sluice delete last id:12
              sluice delete last 'host:telemetry.example.com'

            They are removed from the file and overwritten at once; if a running Sluice records the session, they are hidden at once \
            and removed when it ends.

            \(FilterHelp.text)
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: .ownSession, completion: .ownSession) var session: String
    @Argument(help: .value("filter", "Which exchanges, for example id:3..5; '*' for all."), completion: .filter)
    var filter: [String]

    func validate() throws {
        // A bare word is looked for in URLs, where the digit of an address would fit as well.
        guard filter.count == 1, let number = filter.first, number.allSatisfy(\.isWholeNumber) else { return }
        throw ValidationError(
            "'\(number)' alone would delete each exchange that has it in its URL. For the exchange of that number: id:\(number)"
        )
    }

    func run() async throws {
        let query = try SessionQuery(session: session, filter: filter == ["*"] ? [] : filter)
        guard try !ArchiveFile.isArchive(query.path) else {
            throw StartError("\(query.path) is an archive, which is only read.", isUsage: true)
        }
        var numbers: [Int64] = []
        try query.forEachMatch { numbers.append($0.id.number) }
        guard !numbers.isEmpty else { throw StartError("No exchange of \(query.path) fits, so nothing was deleted.") }
        let result = try await options.edit(.delete(ExchangeNumbers(numbers)), of: query.path)
        var text = "\(result.changed) exchange\(result.changed == 1 ? " is" : "s are") deleted.\n"
        if result.inFlight > 0 { text += "\(result.inFlight) in flight stay.\n" }
        StandardStreams.out(text)
    }
}
