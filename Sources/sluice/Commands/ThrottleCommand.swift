import ArgumentParser
import Runner
import Stages

struct ThrottleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "throttle",
        abstract: "The throttle's presets.",
        subcommands: [List.self]
    )

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the presets: their numbers, and where these come from."
        )

        func run() {
            let names = ThrottlePreset.all.map { preset in
                preset.name + (preset.charlesName.map { $0.lowercased() == preset.name ? "" : " (\($0))" } ?? "")
            }
            let width = names.map(\.count).max() ?? 0
            for (name, preset) in zip(names, ThrottlePreset.all) {
                let padding = String(repeating: " ", count: width - name.count + 2)
                StandardStreams.out("\(name)\(padding)\(preset.conditions.text)\n")
                StandardStreams.out(String(repeating: " ", count: width + 2) + preset.source + "\n")
            }
        }
    }
}
