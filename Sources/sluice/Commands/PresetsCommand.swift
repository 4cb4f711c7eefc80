import ArgumentParser
import Jobs
import Rules
import Tools

struct PresetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ToolRegistry.standard.withPresets?.key,
        abstract: "The \(ToolRegistry.standard.withPresets?.key ?? "network")'s presets.",
        subcommands: [List.self]
    )

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the presets: their numbers, and where these come from."
        )

        func run() {
            let presets = ToolRegistry.standard.withPresets?.presets?.presets ?? []
            let names = presets.map { preset in
                preset.name + (preset.alias.map { $0.lowercased() == preset.name ? "" : " (\($0))" } ?? "")
            }
            let width = names.map(\.count).max() ?? 0
            for (name, preset) in zip(names, presets) {
                let padding = String(repeating: " ", count: width - name.count + 2)
                StandardStreams.out("\(name)\(padding)\(preset.text)\n")
                StandardStreams.out(String(repeating: " ", count: width + 2) + preset.source + "\n")
            }
        }
    }
}
