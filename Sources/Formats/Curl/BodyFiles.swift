import Files
import Foundation
package import NIOCore

/// Stores bodies in files if no command line can contain them.
package protocol BodyFiles {
    /// Returns the path for the command. `contents` passes the pieces; the name has only letters, digits, `-` and `.`.
    func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String
    /// Moves the files to their place; before this call, the files may be missing.
    func finish() throws
}

extension BodyFiles {
    package func finish() {}
}

package struct BodyFileError: Error, CustomStringConvertible {
    package var description: String
}

/// Body files in a directory, made for the first file; ``finish()`` moves them there. Only the user can read them.
package final class BodyDirectory: BodyFiles {
    private let path: String
    private let name: String
    /// Set while files are not in their place yet.
    private var output: OutputDirectory?
    /// Whether the directory was made for the files, so that it is removed if the files are not finished.
    private var isNew = false

    /// Prepares a directory; commands call it `name`, for example relative to the script beside it.
    package init(path: String, referredToAs name: String? = nil) {
        self.path = path
        self.name = name ?? path
    }

    deinit {
        guard isNew else { return }
        rmdir(path)
        TemporaryFiles.forget([path])
    }

    package func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String {
        let output = try begun()
        let file = try output.file(name)
        try contents { try file.write($0) }
        return "\(self.name)/\(name)"
    }

    package func finish() throws {
        try output?.finish()
        output = nil
        guard isNew else { return }
        isNew = false
        TemporaryFiles.forget([path])
    }

    private func begun() throws -> OutputDirectory {
        if let output { return output }
        // Made before any file, so that no other user can make the directory.
        if mkdir(path, 0o700) == 0 {
            isNew = true
            TemporaryFiles.add(path)
        } else {
            guard errno == EEXIST else {
                let reason = String(cString: strerror(errno))
                throw BodyFileError(description: "cannot make the directory \(path): \(reason)")
            }
            guard FileFacts(path: path)?.owner == geteuid() else {
                throw BodyFileError(description: "\(path) is there already and belongs to another user")
            }
        }
        let begun = try OutputDirectory(path, isForced: true)
        output = begun
        return begun
    }
}

/// Writes no body files, for an export that only shows its text.
package struct NamedBodies: BodyFiles {
    package init() {}

    package func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String { name }
}
