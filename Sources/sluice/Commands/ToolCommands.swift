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

    func client() throws -> ControlClient {
        try ControlClient(control)
    }
}

struct ToolCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tool",
        abstract: "Switch the tools of a running Sluice on and off.",
        discussion: """
            A switch counts for exchanges that begin from then on, until Sluice ends. The profile stays as it is.
            """,
        subcommands: [List.self, On.self, Off.self]
    )

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the tools in the order in which they act.")

        @OptionGroup var options: ControlOptions

        @Flag(help: "Print one JSON object for each tool.")
        var json = false

        func run() throws {
            let tools = try options.client().ask(ControlRequest(.toolList)).tools ?? []
            if json {
                for tool in tools { StandardStreams.out(try ControlListing.json(tool)) }
            } else {
                StandardStreams.out(ControlListing.table(tools))
            }
        }
    }

    struct On: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Switch tools on.")

        @OptionGroup var options: ControlOptions

        @Argument(help: "The tools, or 'all'.")
        var names: [String]

        func run() throws {
            try ToolCommand.set(names, isOn: true, options)
        }
    }

    struct Off: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Switch tools off.")

        @OptionGroup var options: ControlOptions

        @Argument(help: "The tools, or 'all'.")
        var names: [String]

        func run() throws {
            try ToolCommand.set(names, isOn: false, options)
        }
    }

    private static func set(_ names: [String], isOn: Bool, _ options: ControlOptions) throws {
        let reply = try options.client().ask(ControlRequest(.toolSet, tools: names, isOn: isOn))
        let switched = (reply.tools ?? []).filter { names.contains("all") || names.contains($0.name) }
        StandardStreams.out(ControlListing.table(switched))
    }
}
