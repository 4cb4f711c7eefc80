import ArgumentParser
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
        abstract: "Switch the tools of a running Sluice on and off.",
        discussion:
            "A switch counts for exchanges that begin from then on, until Sluice ends. The profile stays as it is.",
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
}
