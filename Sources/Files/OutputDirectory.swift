import Foundation
package import NIOCore

/// A directory that appears complete or not at all. It is written under a random name, accessible only to the user.
package final class OutputDirectory {
    private let name: String
    private let target: String
    private let temporary: String
    private let isForced: Bool
    private var isFinished = false

    /// If forced, the directory may have files, and keeps those that are not overwritten.
    package init(_ path: String, isForced: Bool = false) throws(FileError) {
        (name, self.isForced) = (path, isForced)
        var target = path
        while target.count > 1, target.hasSuffix("/") { target.removeLast() }
        if let resolved = realpath(target, nil) {
            target = String(cString: resolved)
            free(resolved)
        }
        self.target = target
        temporary = OutputFile.temporaryName(beside: target)
        switch OutputDirectory.state(of: target) {
        case .other: throw FileError(path, "cannot be written: it is not a directory", .noFile)
        case .filled where !isForced: throw FileError(path, "cannot be written: there are files in it already", .noFile)
        case .filled, .free: break
        }
        guard mkdir(temporary, 0o700) == 0 else { throw FileError(path, "cannot be written", errno: errno) }
        TemporaryFiles.add(temporary)
    }

    deinit {
        if !isFinished { try? FileManager.default.removeItem(atPath: temporary) }
        TemporaryFiles.forget([temporary])
    }

    /// Whether there is a directory with files, or something that is not a directory.
    package static func isThere(_ path: String) -> Bool { state(of: path) != .free }

    private enum State {
        case free
        case filled
        case other
    }

    private static func state(of path: String) -> State {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return .free }
        guard FileKind(facts) == .directory else { return .other }
        return (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty == true ? .free : .filled
    }

    package final class File {
        private let name: String
        private let descriptor: CInt

        fileprivate init(_ path: String, name: String) throws(FileError) {
            self.name = name
            descriptor = OutputFile.create(path, mode: 0o600)
            guard descriptor >= 0 else { throw FileError(name, "cannot be written", errno: errno) }
        }

        deinit { close(descriptor) }

        package func write(_ bytes: ByteBuffer) throws(FileError) { try writeAll(bytes, to: descriptor, name) }
    }

    /// `name` must be safe and without a slash.
    package func file(_ name: String) throws(FileError) -> File {
        try File("\(temporary)/\(name)", name: "\(self.name)/\(name)")
    }

    package func finish() throws(FileError) {
        if TemporaryFiles.settle(temporary, { rename(temporary, target) == 0 }) {
            isFinished = true
            return
        }
        guard isForced, [ENOTEMPTY, EEXIST].contains(errno) else {
            throw FileError(name, "cannot be written", errno: errno)
        }
        for file in ((try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? []).sorted() {
            guard rename("\(temporary)/\(file)", "\(target)/\(file)") == 0 else {
                throw FileError("\(name)/\(file)", "cannot be written", errno: errno)
            }
        }
        isFinished = rmdir(temporary) == 0
    }
}
