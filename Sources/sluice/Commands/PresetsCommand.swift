import ArgumentParser
import Jobs
import Rules
import Text
import Tools

struct PresetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ToolRegistry.standard.withPresets?.key,
        abstract: "The \(ToolRegistry.standard.withPresets?.key ?? "network")'s presets.",
        subcommands: [List.self]
    )

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the presets with the sources of their numbers."
        )

        func run() {
            let presets = ToolRegistry.standard.withPresets?.presets?.presets ?? []
            let rows = presets.flatMap { preset in
                let alias = preset.alias.map { $0.lowercased() == preset.name ? "" : " (\($0))" } ?? ""
                return [[preset.name + alias, preset.text], ["", preset.source]]
            }
            StandardStreams.out(TextTable.text(rows))
        }
    }
}
