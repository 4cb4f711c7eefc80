import ArgumentParser
import Jobs
import Runner

struct ToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tool",
        abstract: "List tools, switch them on or off, reset counts.",
        discussion: """
              sluice tool list
              sluice tool off throttle
              sluice tool reset map-local

            It applies to exchanges that begin later, until Sluice ends. The profile's file is not changed.
            """,
        subcommands: [List.self, On.self, Off.self, Reset.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the tools in the order in which they act."
        )

        @OptionGroup var options: ControlOptions
        @Flag(help: "Print one JSON object for each tool.") var json = false

        func run() async throws {
            let tools = try await options.target().tools()
            StandardStreams.out(json ? try ControlListing.jsonLines(tools) : ControlListing.table(tools))
        }
    }

    struct On: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "on", abstract: "Switch tools on.")

        @OptionGroup var tools: NamedTools

        func run() async throws { try await tools.set(isOn: true) }
    }

    struct Off: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "off", abstract: "Switch tools off.")

        @OptionGroup var tools: NamedTools

        func run() async throws { try await tools.set(isOn: false) }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "Start the counts of tools again: answers come from the first, shares are drawn as at the start."
        )

        @OptionGroup var tools: NamedTools

        func run() async throws { try await tools.reset() }
    }
}

struct NamedTools: ParsableArguments {
    @OptionGroup var options: ControlOptions
    @Argument(help: "The tools, or 'all'.", completion: .tools) var names: [String]

    func set(isOn: Bool) async throws {
        show(try await options.target().setTools(names, isOn: isOn))
    }

    func reset() async throws { show(try await options.target().resetTools(names)) }

    private func show(_ tools: [ToolState]) {
        StandardStreams.out(ControlListing.table(tools.filter { names.contains("all") || names.contains($0.name) }))
    }
}
