import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import Recording
import Runner
import Text

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show listeners, session and tools of a running Sluice."
    )

    @OptionGroup var options: ControlOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() async throws {
        let status = try await options.target().status()
        StandardStreams.out(try json ? ControlListing.json(status) : ControlListing.text(status))
    }
}

struct StopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop a running Sluice and wait until it has ended.",
        discussion:
            "Like Ctrl-C: exchanges may finish, and all is written. A command behind the proxy gets the signal, too."
    )

    /// The pause between two checks whether the Sluice still runs, and the limit for all checks.
    private static let (pause, longest) = (Duration.milliseconds(20), Duration.seconds(60))

    @OptionGroup var options: ControlOptions

    func run() async throws {
        let target = try options.target()
        _ = try await target.stop()
        let end = ContinuousClock.now + Self.longest
        while ContinuousClock.now < end {
            do {
                _ = try await target.status()
            } catch let error as StartError where error.isGone {
                return StandardStreams.out("Sluice has stopped.\n")
            }
            try await Task.sleep(for: Self.pause)
        }
        throw StartError("Sluice still runs a minute after it was told to stop.")
    }
}

struct CommentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "comment",
        abstract: "Comment on exchanges of a session.",
        discussion: """
              sluice comment last 3 'fails since Monday'
              sluice comment last 1-5,9 ''

            The console, list, show and exports show the comment. It replaces an earlier one; an empty one removes it.
            """
    )

    @OptionGroup var options: ControlOptions
    @Argument(help: .ownSession, completion: .ownSession) var session: String
    @Argument(help: .value("numbers", "Numbers and ranges, such as 3 or 1-5,9.")) var numbers: String
    @Argument(help: "The comment; an empty one removes it.") var text: String

    func validate() throws {
        if ExchangeNumbers(numbers) == nil {
            throw ValidationError("'\(numbers)' is not a list of exchanges; write numbers and ranges, such as 1-5,9.")
        }
    }

    func run() async throws {
        guard let numbers = ExchangeNumbers(numbers) else { return }
        let path = try SessionQuery.changeable(session)
        let result = try await options.edit(.annotate(numbers, ExchangeNote(comment: text)), of: path)
        guard result.changed > 0 else { throw StartError("\(path) has none of these exchanges.") }
        StandardStreams.out("Commented on \(result.changed.of("exchange")).\n")
    }
}

extension ControlOptions {
    /// Edits a session through the running Sluice that records it, or in its file if no Sluice does.
    func edit(_ edit: SessionEdit, of path: String) async throws -> SessionEditResult {
        if let target = try await recorder(of: path) { return try await target.edit(edit) }
        let edits = RecordedSessionEdits(path: path)
        do {
            let result = try await edits.edit(edit)
            try await edits.close()
            return result
        } catch {
            try? await edits.close()
            throw error
        }
    }

    /// The running Sluice that records the session; `nil` if no Sluice does.
    private func recorder(of path: String) async throws -> (any ControlTarget)? {
        if control != nil { return try target() }
        guard let target = try? target(), let recorded = try await target.status().session else { return nil }
        func file(_ path: String) -> URL { URL(fileURLWithPath: path).resolvingSymlinksInPath() }
        return file(recorded) == file(path) ? target : nil
    }
}
