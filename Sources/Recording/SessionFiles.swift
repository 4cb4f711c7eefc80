import Files
import Foundation

/// Compares files by identity, not by path.
package enum SessionFiles {
    /// For standard output, `path` is `nil` or `-`.
    package static func isSame(_ path: String?, as other: String) -> Bool {
        let isOutput = path == nil || path == "-"
        guard let facts = isOutput ? FileFacts(descriptor: STDOUT_FILENO) : path.flatMap({ FileFacts(path: $0) }),
            facts.isRegular
        else { return false }
        return facts.identity == FileFacts(path: other)?.identity
    }

    /// The files that SQLite keeps beside a session; they need not exist.
    package static func isCompanion(_ path: String?, of session: String) -> Bool {
        let companions = SessionPath.companions(of: session)
        return path.map { companions.contains(whole($0)) } == true || companions.contains { isSame(path, as: $0) }
    }

    package static func isSession(_ path: String) -> Bool {
        guard FileFacts(path: path)?.isRegular == true, let file = FileHandle(forReadingAtPath: path),
            let start = try? file.read(upToCount: 72), start.count == 72
        else { return false }
        let mark = start[68..<72].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return start.starts(with: "SQLite format 3".utf8) && mark == Schema.applicationID
    }

    private static func whole(_ path: String) -> String {
        let slash = path.lastIndex(of: "/")
        let folder = SessionPath.resolved(slash.map { String(path[...$0]) } ?? ".")
        return (folder == "/" ? "" : folder) + "/" + (slash.map { path[path.index(after: $0)...] } ?? path[...])
    }
}
