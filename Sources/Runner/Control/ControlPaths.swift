import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the control sockets of running Sluices are: one for each, named by its process.
package enum ControlPaths {
    /// The directories where sockets may be, the preferred one first: `$XDG_RUNTIME_DIR/sluice`, then
    /// `$XDG_STATE_HOME/sluice/run`.
    package static var directories: [String] {
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
        // The specification says to ignore relative paths.
        let first = runtime.flatMap { $0.hasPrefix("/") ? [$0 + "/sluice"] : nil } ?? []
        let sessions = StandardPaths.sessions
        return first + [sessions.prefix(upTo: sessions.lastIndex(of: "/") ?? sessions.endIndex) + "/run"]
    }

    /// The name of a process's socket in a directory.
    static func socket(of process: Int32, in directory: String) -> String {
        "\(directory)/\(process).sock"
    }

    /// The longest path that a socket's address takes, in bytes (`sun_path`, without the NUL that ends it).
    static var longestPath: Int {
        let address = sockaddr_un()
        return MemoryLayout.size(ofValue: address.sun_path) - 1
    }

    /// Chooses the path of our own socket, and makes the directory for it.
    ///
    /// - Throws: ``StartFailure`` where no directory will do.
    static func prepare(in directories: [String], process: Int32 = getpid()) throws -> String {
        var failure: (any Error)?
        for directory in directories {
            do {
                let path = socket(of: process, in: directory)
                try checkLength(path)
                try makePrivate(directory)
                removeStale(in: directory)
                return path
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? StartFailure("There is no directory for the control socket.")
    }

    /// Refuses a path that no socket's address can hold.
    static func checkLength(_ path: String) throws(StartFailure) {
        guard path.utf8.count > longestPath else { return }
        throw StartFailure(
            "The path of the control socket is longer than the \(longestPath) bytes that a socket can have: \(path).",
            hint: "Set XDG_RUNTIME_DIR to a shorter directory."
        )
    }

    /// Makes a directory that only its user can enter; one that is there already must be that.
    private static func makePrivate(_ directory: String) throws {
        try StandardPaths.makeDirectory(directory)
        var facts = stat()
        guard lstat(directory, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == geteuid() else {
            throw StartFailure(
                "\(directory) is no directory of yours, so that the control socket cannot be there.",
                hint: "Remove it, or set XDG_RUNTIME_DIR to a directory of your own."
            )
        }
        guard facts.st_mode & 0o077 != 0 else { return }
        guard chmod(directory, 0o700) == 0 else {
            throw StartFailure(
                "The directory \(directory) cannot be kept from others: \(String(cString: strerror(errno)))."
            )
        }
    }

    /// The sockets in a directory, with their processes.
    static func sockets(in directory: String) -> [(process: Int32, path: String)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { name in
            guard name.hasSuffix(".sock"), let process = Int32(name.dropLast(5)), process > 0 else { return nil }
            return (process, "\(directory)/\(name)")
        }.sorted { $0.process < $1.process }
    }

    /// Removes the sockets of processes that ended without a word.
    ///
    /// A process of another container may not be seen from here; so nobody must answer at the socket either.
    static func removeStale(in directory: String) {
        for (process, path) in sockets(in: directory) where kill(process, 0) != 0 && errno == ESRCH {
            let connection = try? ControlSocket(path: path, deadline: .now + .milliseconds(200))
            if connection == nil { unlink(path) }
        }
    }
}
