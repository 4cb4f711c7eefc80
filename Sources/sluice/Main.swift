import ArgumentParser
import Recording
import Rules
import Runner

/// Reads the arguments, runs the command, and turns its end into an exit code: 0 success, 1 failure, 2 wrong usage.
@main
enum Main {
    static func main() async {
        do {
            var command = try Sluice.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            finish(with: error)
        }
    }

    private static func finish(with error: any Error) -> Never {
        if let exit = error as? ExitCode { Sluice.exit(withError: exit) }
        if Sluice.exitCode(for: error) == .success {
            StandardStreams.out(Sluice.fullMessage(for: error) + "\n")
            Sluice.exit(withError: ExitCode.success)
        }
        // ArgumentParser has BSD's code 64 for wrong usage; ours is 2, as in most tools.
        if Sluice.exitCode(for: error) == .validationFailure {
            StandardStreams.error(Sluice.fullMessage(for: error) + "\n")
            Sluice.exit(withError: ExitCode(2))
        }
        if let interrupted = error as? Interrupted {
            StandardStreams.error("sluice: \(interrupted)\n")
            Sluice.exit(withError: ExitCode(interrupted.exitCode))
        }
        let failure = error as? StartError
        // Errors of profiles have the form that editors jump to.
        let isPositioned = failure?.isPositioned == true || error is ProfileError
        StandardStreams.error(isPositioned ? "\(error)\n" : "sluice: \(error)\n")
        Sluice.exit(withError: ExitCode(failure?.isUsage == true ? 2 : 1))
    }
}

struct Sluice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "An HTTP debugging proxy for the terminal.",
        discussion: "Exit codes: 0 all went well, 1 the check or command failed, 2 wrong usage.",
        version: "sluice \(SluiceVersion.current)",
        subcommands: [
            ConsoleCommand.self, Run.self, ReplayCommand.self, DemoCommand.self, BrowserCommand.self, Open.self,
            Attach.self, List.self, Show.self, Why.self, Stats.self, Diff.self, TLS.self, Repeat.self, Trim.self,
            Export.self, ProfileCommand.self,
            ToolCommand.self, PresetsCommand.self,
            HoldCommand.self, DecryptCommand.self, PassCommand.self, RecordCommand.self, DeleteCommand.self,
            KeysCommand.self, Import.self, CA.self, ProxyAuthCommand.self, TransparentCommand.self,
        ],
        defaultSubcommand: ConsoleCommand.self
    )
}
