import Files
import Foundation

/// Browsers whose Sluice was killed: they go on running, behind a proxy that is not there any more.
enum OrphanedBrowser {
    /// How long a browser that is asked to end may take, in steps of 50 ms.
    private static let patience = 60

    /// Ends those that run with the profile in a directory, and waits for them, as they write into it; Linux only.
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

    /// Whether a process is one of this user that was started with that profile, as ``BrowserProfile`` starts it.
    private static func isBrowser(_ pid: pid_t, _ directory: String) -> Bool {
        guard FileFacts(path: "/proc/\(pid)")?.owner == geteuid(),
            let content = ProcessFiles.content("/proc/\(pid)/cmdline")
        else { return false }
        let arguments = content.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return arguments.contains("--user-data-dir=\(directory)/profile")
            || zip(arguments, arguments.dropFirst()).contains { $0 == "--profile" && $1 == directory }
    }
}
