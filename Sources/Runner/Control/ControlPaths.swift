import Files
import Foundation
import Jobs

/// The control sockets of running Sluices, named after their process numbers.
package enum ControlPaths {
    /// The preferred one first: `$XDG_RUNTIME_DIR/sluice`, then `$XDG_STATE_HOME/sluice/run`.
    package static var directories: [String] {
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
        // The XDG specification says to ignore relative paths.
        let first = runtime.flatMap { $0.hasPrefix("/") ? [$0 + "/sluice"] : nil } ?? []
        let sessions = StandardPaths.sessions
        return first + [sessions.prefix(upTo: sessions.lastIndex(of: "/") ?? sessions.endIndex) + "/run"]
    }

    static func socket(of process: Int32, in directory: String) -> String { "\(directory)/\(process).sock" }

    /// In bytes (`sun_path`, without the NUL that ends it).
    static var longestPath: Int { MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1 }

    /// The path of a process's socket; creates its directory. Throws if no directory can be used.
    static func prepare(in directories: [String], process: Int32) throws -> String {
        var failure: (any Error)?
        for directory in directories {
            do {
                let path = socket(of: process, in: directory)
                guard path.utf8.count <= longestPath else {
                    throw StartError(
                        "The path of the control socket is longer than the \(longestPath) bytes "
                            + "that a socket can have: \(path).",
                        hint: "Set XDG_RUNTIME_DIR to a shorter directory."
                    )
                }
                try makePrivate(directory)
                removeStale(in: directory)
                return path
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? StartError("There is no directory for the control socket.")
    }

    /// Creates a directory that only its user can enter, or checks an existing one.
    private static func makePrivate(_ directory: String) throws {
        try StandardPaths.makeDirectory(directory)
        guard let facts = FileFacts(link: directory), facts.isDirectory, facts.owner == geteuid() else {
            throw StartError(
                "\(directory) is not a directory of yours, so the control socket cannot be there.",
                hint: "Remove it, or set XDG_RUNTIME_DIR to a directory of your own."
            )
        }
        if facts.isOpenToOthers, chmod(directory, 0o700) != 0 {
            throw StartError("The mode of \(directory) cannot be changed: \(String(cString: strerror(errno))).")
        }
    }

    static func sockets(in directories: [String]) -> [(process: Int32, path: String)] {
        var seen: Set<String> = []
        return directories.filter { seen.insert($0).inserted }.flatMap { sockets(in: $0) }
    }

    static func sockets(in directory: String) -> [(process: Int32, path: String)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { name in
            guard name.hasSuffix(".sock"), let process = Int32(name.dropLast(5)), process > 0 else { return nil }
            return (process, "\(directory)/\(name)")
        }.sorted { $0.process < $1.process }
    }

    /// Removes sockets whose process is not found and that do not answer: one in another container would answer.
    static func removeStale(in directory: String) {
        for (process, path) in sockets(in: directory) where kill(process, 0) != 0 && errno == ESRCH {
            let connection = try? ControlSocket(path: path, deadline: .now + .milliseconds(200))
            if connection == nil { unlink(path) }
        }
    }
}
