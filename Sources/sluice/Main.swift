import ArgumentParser
import Files
import Foundation
import Jobs
import Recording
import Rules

/// Reads the arguments, runs the command, and turns its end into an exit code: 0 success, 1 failure, 2 wrong usage.
@main
enum Main {
    static func main() async {
        if Completion.writeScript(CommandLine.arguments) { return }
        // A closed pipe, as after `| head`, is an error like others, so that temporary files are removed.
        signal(SIGPIPE, SIG_IGN)
        // The parser would make the options of all commands first, which takes longer than all the rest.
        if CommandLine.arguments.dropFirst() == ["--version"] { return StandardStreams.out(SluiceVersion.text + "\n") }
        if let unknown = UnknownCommand(CommandLine.arguments) {
            StandardStreams.error(unknown.text)
            Sluice.exit(withError: ExitCode(2))
        }
        var parsed: (any ParsableCommand.Type)?
        do {
            var command = try parse(CommandLine.arguments)
            parsed = type(of: command)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            finish(with: error, of: parsed)
        }
    }

    /// Parses the arguments of a named command by themselves, which is faster by 2 ms. If they are wrong, or ask for help,
    /// the whole command line is parsed, because messages name all of its commands.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let named = arguments.dropFirst().first
        let command = Sluice.configuration.subcommands.first { $0._commandName == named }
        if let command, command.configuration.subcommands.isEmpty,
            let parsed = try? command.parseAsRoot(Array(arguments.dropFirst(2))), type(of: parsed) == command
        {
            return parsed
        }
        return try Sluice.parseAsRoot()
    }

    private static func finish(with error: any Error, of command: (any ParsableCommand.Type)?) -> Never {
        // Nothing may be printed into the command line of a shell that requests completions.
        let isCompletion = CommandLine.arguments.dropFirst().first == "---completion"
        if isCompletion, Sluice.exitCode(for: error) != .success { Sluice.exit(withError: ExitCode(1)) }
        if let exit = error as? ExitCode { Sluice.exit(withError: exit) }
        if Sluice.exitCode(for: error) == .success {
            StandardStreams.out(plain(help: Sluice.fullMessage(for: error)) + "\n")
            Sluice.exit(withError: ExitCode.success)
        }
        // ArgumentParser has BSD's code 64 for wrong usage; ours is 2, as in most tools.
        if Sluice.exitCode(for: error) == .validationFailure {
            let message = command.map { wrongUsage(of: $0, Sluice.message(for: error)) }
            let text = message ?? Sluice.fullMessage(for: error)
            StandardStreams.error(ErrorLine.text(UsageHint.add(to: text, CommandLine.arguments)))
            Sluice.exit(withError: ExitCode(2))
        }
        if let interrupted = error as? Interrupted {
            StandardStreams.error(ErrorLine.text("\(interrupted)"))
            Sluice.exit(withError: ExitCode(interrupted.exitCode))
        }
        // It is not an error that a reader closes the pipe early; the exit code is that of SIGPIPE.
        if let error = error as? FileError, error.cause == .unread, error.path == OutputFile.standardOutput {
            Sluice.exit(withError: ExitCode(128 + SIGPIPE))
        }
        let failure = error as? StartError
        // Errors of profiles have the form that editors jump to.
        let isPositioned = failure?.isPositioned == true || error is ProfileError
        StandardStreams.error(isPositioned ? "\(error)\n" : ErrorLine.text("\(error)"))
        Sluice.exit(withError: ExitCode(failure?.isUsage == true ? 2 : 1))
    }

    /// For errors thrown by a command, because ArgumentParser would print the usage of the root command.
    private static func wrongUsage(of command: any ParsableCommand.Type, _ message: String) -> String {
        let usage = Sluice.helpMessage(for: command).split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !$0.hasPrefix("USAGE: ") }.prefix { !$0.isEmpty }
            .joined(separator: "\n").dropFirst("USAGE: ".count)
        let name = path(to: command, from: Sluice.self) ?? ["sluice"]
        return """
            \(message)
            Usage: \(usage)
              See '\(name.joined(separator: " ")) --help' for more information.
            """
    }

    /// Help without the words that ArgumentParser adds to an overview and to names of groups.
    private static func plain(help: String) -> String {
        let text = help.hasPrefix("OVERVIEW: ") ? String(help.dropFirst("OVERVIEW: ".count)) : help
        return text.replacing(" SUBCOMMANDS:\n", with: ":\n")
    }

    /// The words that name a command.
    private static func path(to command: any ParsableCommand.Type, from root: any ParsableCommand.Type) -> [String]? {
        if root == command { return [root._commandName] }
        for child in root.configuration.subcommands {
            if let path = path(to: command, from: child) { return [root._commandName] + path }
        }
        return nil
    }
}

struct Sluice: AsyncParsableCommand {
    /// ``ErrorLine`` adds the prefix.
    static let _errorPrefix = ""

    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "An HTTP debugging proxy for the terminal.",
        discussion: """
              sluice                                   the console, a proxy on port 8080
              sluice run -- curl https://example.com/  one command behind the proxy
              sluice show last 1                       its request and response
              sluice guide                             everything explained, by topic

            Exit codes: 0 success, 1 the check or command failed, 2 wrong usage.
            """,
        version: SluiceVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Start a proxy",
                subcommands: [ConsoleCommand.self, Run.self, BrowserCommand.self, ReplayCommand.self, DemoCommand.self]
            ),
            CommandGroup(
                name: "Read a session",
                subcommands: [List.self, Show.self, Why.self, Stats.self, Diff.self, Open.self, MCP.self]
            ),
            CommandGroup(
                name: "Use a session",
                subcommands: [
                    Export.self, Import.self, StoreCommand.self, Repeat.self, Trim.self, DeleteCommand.self,
                    CommentCommand.self,
                ]
            ),
            CommandGroup(
                name: "Steer a running Sluice",
                subcommands: [
                    Attach.self, StatusCommand.self, StopCommand.self, RecordCommand.self, ToolCommand.self,
                    HoldCommand.self, DecryptCommand.self, PassCommand.self,
                ]
            ),
            CommandGroup(name: "Rules", subcommands: [ProfileCommand.self, PresetsCommand.self]),
            CommandGroup(
                name: "Set up and look up",
                subcommands: [
                    GuideCommand.self, DoctorCommand.self, CA.self, TLS.self, KeysCommand.self, ProxyAuthCommand.self,
                    TransparentCommand.self,
                ]
            ),
        ],
        defaultSubcommand: ConsoleCommand.self
    )
}
