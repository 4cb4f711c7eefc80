import Foundation

package struct ChildCommand: Sendable, Equatable {
    package let executable: String
    let words: [String]

    /// Finds a command in `PATH` like a shell; throws with exit code 127 if it is missing, 126 if it cannot be
    /// executed. Call it before anything is started.
    package init(_ words: [String], environment: [String: String]) throws(ChildError) {
        guard let name = words.first, !name.isEmpty else {
            throw ChildError("There is no command after --.", hint: "Write sluice run -- COMMAND ARGS…", exitCode: 127)
        }
        self.words = words
        var refusal: ChildError?
        let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        // An empty entry means the current directory (POSIX, 8.3).
        let folders = path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? "." : $0 }
        for candidate in name.contains("/") ? [name] : folders.map({ "\($0)/\(name)" }) {
            guard let problem = Self.problem(of: candidate) else {
                executable = candidate
                return
            }
            // A file that cannot be executed is reported only if no executable file is found.
            if problem.exitCode == 126 || name.contains("/"), refusal == nil { refusal = problem }
        }
        let hint = Self.quotesHint(name) ?? "Check its name, or use its path."
        throw refusal ?? ChildError("\(name): command not found.", hint: hint, exitCode: 127)
    }

    private static func quotesHint(_ name: String) -> String? {
        name.contains(" ") ? "Quotes make it one name: write it without them, or use sh -c '…'." : nil
    }

    private static func problem(of path: String) -> ChildError? {
        var information = stat()
        guard stat(path, &information) == 0 else {
            if errno == EACCES { return .notExecutable(path, "you may not look there") }
            return ChildError("\(path): no such file.", hint: quotesHint(path) ?? "Check its path.", exitCode: 127)
        }
        if information.st_mode & S_IFMT == S_IFDIR { return .notExecutable(path, "it is a directory") }
        if access(path, X_OK) == 0 { return nil }
        return .notExecutable(path, String(cString: strerror(errno)), hint: "If it is a program: chmod +x '\(path)'")
    }
}

package struct ChildError: Error, CustomStringConvertible {
    package let message: String
    package let hint: String
    /// The exit code of shells: 127 for a command that does not exist, 126 for one that cannot be executed.
    package let exitCode: Int32

    init(_ message: String, hint: String = "", exitCode: Int32) {
        (self.message, self.hint, self.exitCode) = (message, hint, exitCode)
    }

    static func notExecutable(_ path: String, _ reason: String, hint: String = "") -> ChildError {
        ChildError("\(path) cannot be executed: \(reason).", hint: hint, exitCode: 126)
    }

    package var description: String { hint.isEmpty ? message : "\(message)\n\(hint)" }
}
