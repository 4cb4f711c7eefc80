import Files
import Foundation
package import NIOCore

/// Where the bodies go that no command line can carry.
package protocol BodyFiles {
    /// Writes a file; returns the path by which the command is to read it. The name proposed has letters, digits, `-`
    /// and `.` only; `contents` calls its argument with each piece in order.
    func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String
}

/// Why a body file could not be written.
package struct BodyFileError: Error, CustomStringConvertible {
    /// What happened, with the path and the system's reason.
    package var description: String
}

/// Body files in one directory, which is made when the first is written. Only the user can read them.
package struct BodyDirectory: BodyFiles {
    private let path: String
    private let name: String

    /// Prepares a directory; `name` is what commands call it, for example relative to the script beside it.
    package init(path: String, referredToAs name: String? = nil) {
        self.path = path
        self.name = name ?? path
    }

    /// Writes a file, over an older one of that name.
    package func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String {
        if mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else {
                let reason = String(cString: strerror(errno))
                throw BodyFileError(description: "cannot make the directory \(path): \(reason)")
            }
            var facts = stat()
            guard stat(path, &facts) == 0, facts.st_uid == geteuid() else {
                throw BodyFileError(description: "\(path) is there already and belongs to another user")
            }
        }
        let file = try OutputFile("\(path)/\(name)", isSecret: true)
        try contents(file.write)
        try file.finish()
        return "\(self.name)/\(name)"
    }
}

/// Writes no body files: for an export whose text alone is looked at.
package struct NamedBodies: BodyFiles {
    package init() {}

    package func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String { name }
}
