import Files
import Foundation

/// Browsers whose Sluice was killed, and whose proxy is gone.
enum OrphanedBrowser {
    /// Time to end, in steps of 50 ms.
    private static let patience = 60

    /// Ends the browsers that use the profile in a directory, and waits for them (Linux).
    static func end(usingProfileIn directory: String) {
        guard ProcessFiles.exist else { return }
        var left = ProcessFiles.all().filter { isBrowser($0, directory) }
        for signal in [SIGTERM, SIGKILL] where !left.isEmpty {
            for pid in left { kill(pid, signal) }
            for _ in 0..<patience where !left.isEmpty {
                usleep(50_000)
                left.removeAll { !isBrowser($0, directory) }
            }
        }
    }

    private static func isBrowser(_ pid: pid_t, _ directory: String) -> Bool {
        guard FileFacts(path: "/proc/\(pid)")?.owner == geteuid(),
            let content = ProcessFiles.content("/proc/\(pid)/cmdline")
        else { return false }
        let arguments = content.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return arguments.contains("--user-data-dir=\(directory)/profile")
            || zip(arguments, arguments.dropFirst()).contains { $0 == "--profile" && $1 == directory }
    }
}
