import ArgumentParser
import Console
import Jobs

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Print the console's keys, or check a key file.",
        discussion: """
              sluice keys > keys.yaml
              sluice keys check keys.yaml

            The console reads keys.yaml in $XDG_CONFIG_HOME/sluice. Keys that it does not name keep their standard command; null \
            removes a key.
            """,
        subcommands: [KeysShow.self, KeysCheck.self],
        defaultSubcommand: KeysShow.self
    )
}

struct KeysShow: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Print the keys in force.")

    func run() throws {
        let file = KeyFile()
        for issue in file.issues { StandardStreams.error("\(issue)\n") }
        if !file.issues.isEmpty { StandardStreams.error("sluice: the standard keys are used\n") }
        StandardStreams.out(KeyFile.text(file.keymap))
    }
}

struct KeysCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a key file; errors are file:line:column: message.",
        discussion: "Exit codes: 0 nothing is wrong, 1 something is, 2 wrong usage."
    )

    @Argument(help: "The key file. (default: the console's)", completion: .profile) var file: String?

    func run() throws {
        let issues = (file.map { KeyFile(file: $0) } ?? KeyFile()).issues
        for issue in issues { StandardStreams.out("\(issue)\n") }
        if !issues.isEmpty { throw ExitCode(1) }
    }
}
