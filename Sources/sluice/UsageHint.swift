import Foundation

/// What to try in place of arguments that are often written and that no command accepts.
enum UsageHint {
    /// The text of a usage error, with the hint behind its first line.
    static func add(to text: String, _ arguments: [String]) -> String {
        guard let hint = hint(arguments) else { return text }
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        // ArgumentParser suggests the option whose letters are nearest.
        let first = String(lines[0]).replacing(/\. Did you mean '[^']*'\?/, with: "")
        return ([first, hint] + lines.dropFirst().map(String.init)).joined(separator: "\n")
    }

    private static func hint(_ arguments: [String]) -> String? {
        let own = arguments.prefix { $0 != "--" }
        if own.contains(where: { $0 == "--port" || $0.hasPrefix("--port=") }) {
            return "Did you mean --listen 8080, or -p 8080?"
        }
        guard ["run", "replay"].contains(own.dropFirst().first), own.count == arguments.count,
            let command = own.dropFirst(2).firstIndex(where: isCommand)
        else { return nil }
        let words = own[..<command].dropFirst() + ["--"] + own[command...]
        return "Put -- before the command: sluice \(words.prefix(8).joined(separator: " "))"
    }

    /// Whether a shell would find the word as a program by its name.
    private static func isCommand(_ word: String) -> Bool {
        guard !word.hasPrefix("-"), !word.contains("/") else { return false }
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(word)") }
    }
}
