import ArgumentParser
import Runner

/// Which running Sluice a command is for.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The running Sluice: its process or its control socket; needed where there are several.",
            valueName: "pid|path"
        )
    )
    var control: String?

    func target() throws -> any ControlTarget { try ControlClient(control) }
}

struct ToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tool",
        abstract: "Switch the tools of a running Sluice on and off.",
        discussion: """
            A switch counts for exchanges that begin from then on, until Sluice ends. The profile stays as it is.
            """,
        subcommands: [List.self, On.self, Off.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the tools in the order in which they act.")

        @OptionGroup var options: ControlOptions

        @Flag(help: "Print one JSON object for each tool.")
        var json = false

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

        @OptionGroup var options: ControlOptions

        @Argument(help: "The tools, or 'all'.")
        var names: [String]

        func run() async throws { try await ToolCommand.set(names, isOn: true, options) }
    }

    struct Off: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Switch tools off.")

        @OptionGroup var options: ControlOptions

        @Argument(help: "The tools, or 'all'.")
        var names: [String]

        func run() async throws { try await ToolCommand.set(names, isOn: false, options) }
    }

    private static func set(_ names: [String], isOn: Bool, _ options: ControlOptions) async throws {
        let tools = try await options.target().setTools(names, isOn: isOn)
        let switched = tools.filter { names.contains("all") || names.contains($0.name) }
        StandardStreams.out(ControlListing.table(switched))
    }
}
