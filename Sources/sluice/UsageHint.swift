/// Hints for arguments that users often write, but that Sluice does not accept.
enum UsageHint {
    /// Adds the hint after the first line of a usage error.
    static func add(to text: String, _ arguments: [String]) -> String {
        guard let hint = hint(arguments, text) else { return text }
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        // Removes ArgumentParser's suggestion, which is the option with the most similar letters.
        let first = String(lines[0]).replacing(/\. Did you mean '[^']*'\?/, with: "")
        return ([first, hint] + lines.dropFirst().map(String.init)).joined(separator: "\n")
    }

    private static func hint(_ arguments: [String], _ error: String) -> String? {
        let own = arguments.prefix { $0 != "--" }
        if own.contains(where: { $0 == "--port" || $0.hasPrefix("--port=") }) {
            return "Did you mean --listen 8080, or -p 8080?"
        }
        guard own.count == arguments.count, let name = own.dropFirst().first, ["run", "replay"].contains(name),
            let unexpected = error.firstMatch(of: /nexpected arguments?: '([^']*)'/)?.1
        else { return nil }
        if name == "replay" { return "Put -- before the command: sluice replay SESSION [FILTER] -- COMMAND" }
        let command = own.dropFirst(2).firstIndex { $0 == unexpected } ?? own.endIndex
        let words = own[..<command].dropFirst() + ["--"] + own[command...]
        return "Put -- before the command: sluice \(words.prefix(8).joined(separator: " "))"
    }
}
