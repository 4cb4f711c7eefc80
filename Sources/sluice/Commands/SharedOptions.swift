import ArgumentParser
import Description
import Files
import HTTPModel
import Jobs
import NIOCore
import Recording
import Rules
import Runner

extension ArgumentHelp {
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }

    /// Help for an option that few people need: `--help-hidden`, the guide and the manual pages have it.
    static func rare(_ name: String? = nil, _ text: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name, visibility: Completion.isScript ? .default : .hidden)
    }

    /// A session to read.
    static let session = ArgumentHelp.value("file", "A session or an archive; 'last' is the last run's.")
    /// A session to change.
    static let ownSession = ArgumentHelp.value("file", "A session; 'last' is the last run's.")
    static let newSession = ArgumentHelp.value("file", "The session to record to. (default: a new one)")
    static let number = ArgumentHelp.value("number", "The exchange's number.")
    static let profile = ArgumentHelp.value("file", "A rule profile (YAML); repeatable.")
    static let command = ArgumentHelp.value("command", "After '--': a command to run behind the proxy.")
    /// The former name of an option or argument, which still works.
    static let former = ArgumentHelp(visibility: .private)
}

struct ControlOptions: ParsableArguments {
    @Option(help: .value("pid|path", "The running Sluice, if there are several."), completion: .running)
    var control: String?

    func target() throws -> any ControlTarget { try ControlClient(control) }
}

/// Variables for all profiles that the command reads.
struct VariableOptions: ParsableArguments {
    @Option(name: .customLong("var"), help: .value("name=value", "A variable of profiles ('vars'); repeatable."))
    var variables: [String] = []

    func validate() throws {
        var inputs = VariableInputs()
        for text in variables where !inputs.add(text) {
            throw ValidationError("'\(text.prefix { $0 != "=" })' is not a variable; --var takes NAME=VALUE.")
        }
        VariableInputs.ofProcess = inputs
    }
}

struct JUnitOptions: ParsableArguments {
    @Option(help: .value("file", "Write the results of tests or assertions as JUnit XML."), completion: .file())
    var junit: String?

    func validate() throws {
        if junit == "-" { throw ValidationError("--junit takes a file, not standard output.") }
    }

    /// Throws `FileError` if the file cannot be written.
    func check() throws { if let junit { _ = try OutputFile(junit, waits: false) } }

    func write(_ report: JUnitReport, suite: String, isSecret: Bool = false) throws {
        guard let junit else { return }
        try OutputFile(junit, isSecret: isSecret, waits: false).writeAll(.init(string: report.text(suite: suite)))
    }
}

struct JSONOptions: ParsableArguments {
    @Flag(help: "Print JSON, with secrets masked.") var json = false
    @Flag(help: "With --json: do not mask secrets.") var secrets = false

    var isMasked: Bool { json && !secrets }

    func validate() throws {
        if secrets, !json { throw ValidationError("--secrets needs --json; text for people is never masked.") }
    }
}

struct ComparisonOptions: ParsableArguments {
    @Option(
        help: .value("name|place", "A name, or a place such as res.json.items[*].id, to ignore; repeatable."),
        transform: { try IgnoreRule($0) }
    )
    var ignore: [IgnoreRule] = []
    @Flag(help: "Compare everything but what --ignore names.") var exact = false
    @Flag(help: "Compare responses as received from servers, not as sent to clients.") var received = false

    /// With `isDirect`, responses are compared as received from the server.
    func settings(isDirect: Bool = false) -> ComparisonSettings {
        ComparisonSettings(ignoring: ignore, isExact: exact, responses: received || isDirect ? .received : .sent)
    }
}

extension SessionQuery {
    /// The path of a session to change. Throws ``StartError`` for an archive.
    static func changeable(_ session: String) throws -> String {
        let path = try path(session)
        guard try !ArchiveFile.isArchive(path) else {
            throw StartError("\(path) is an archive, which is read-only.", isUsage: true)
        }
        return path
    }
}

enum FilterHelp {
    static let text = """
        FILTER is terms that must all hold; a bare word is looked for in the URL. 'sluice guide filters' lists the terms:
          host:*.example.com status:>=400
          method:POST not path:/health
          time:>500ms or size:>1mb
          res.json.error.code:42 req.header.x-tenant:acme
        """
}
