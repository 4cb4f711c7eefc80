import ArgumentParser
import Jobs
import Runner

/// Which running Sluice a command is for.
struct ControlOptions: ParsableArguments {
    @Option(
        help: .value(
            "pid|path",
            "The running Sluice: its process or its control socket; needed where there are several."
        ),
        completion: .running
    )
    var control: String?

    func target() throws -> any ControlTarget { try ControlClient(control) }
}

struct ToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tool",
        abstract: "List tools, and switch them on and off.",
        discussion: """
              sluice tool list
              sluice tool off throttle

            It applies to exchanges that begin later, until Sluice ends. The profile's file is not changed.
            """,
        subcommands: [List.self, On.self, Off.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the tools in the order in which they act.")

        @OptionGroup var options: ControlOptions
        @Flag(help: "Print one JSON object for each tool.") var json = false

        func run() async throws {
            let tools = try await options.target().tools()
            if json {
                for tool in tools { StandardStreams.out(try ControlListing.json(tool)) }
            } else {
                StandardStreams.out(ControlListing.table(tools))
            }
        }
    }

    struct On: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Switch tools on.")

        @OptionGroup var tools: NamedTools

        func run() async throws { try await tools.set(isOn: true) }
    }

    struct Off: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Switch tools off.")

        @OptionGroup var tools: NamedTools

        func run() async throws { try await tools.set(isOn: false) }
    }
}

struct NamedTools: ParsableArguments {
    @OptionGroup var options: ControlOptions
    @Argument(help: "The tools, or 'all'.", completion: .tools) var names: [String]

    func set(isOn: Bool) async throws {
        let tools = try await options.target().setTools(names, isOn: isOn)
        StandardStreams.out(ControlListing.table(tools.filter { names.contains("all") || names.contains($0.name) }))
    }
}

extension ArgumentHelp {
    /// Help for an argument whose value has a name.
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }

    /// Help for an option that few people need: `--help-hidden` has it, and so have the guide and the manual pages.
    static func rare(_ name: String? = nil, _ text: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name, visibility: Completion.isScript ? .default : .hidden)
    }

    /// Help for a session that is read.
    static let session = ArgumentHelp.value("file", "The session: a file, 'last' for the last run's, or an archive.")

    /// Help for a session that is changed.
    static let ownSession = ArgumentHelp.value("file", "The session: a file, or 'last' for the last run's.")

    /// Help for the number of an exchange.
    static let number = ArgumentHelp.value("number", "The exchange's number.")

    /// The former name of an option or argument, which still works.
    static let former = ArgumentHelp(visibility: .private)
}
