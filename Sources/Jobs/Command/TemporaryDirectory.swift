import Files
package import Foundation

/// A directory that only the user can enter. The process locks it; the next Sluice removes directories without a lock.
package final class TemporaryDirectory: Sendable {
    /// Absolute, because commands may change their working directory.
    package let path: String
    private let descriptor: CInt

    /// What it is for, a part of its name.
    package enum Kind: String, CaseIterable, Sendable {
        case agent, archive, browser, bundle, demo, doctor, raw, `repeat`, run, store, view
        /// Of earlier versions.
        case har
    }

    /// A file by which ``sweep()`` recognises our directories.
    private static let mark = ".sluice-temporary"
    private static let markText = "a temporary directory of sluice, process "
    private static var parent: String { FileManager.default.temporaryDirectory.absoluteURL.path }

    package convenience init(_ kind: Kind) throws(StartError) { try self.init(kind, in: TemporaryDirectory.parent) }

    init(_ kind: Kind, in parent: String) throws(StartError) {
        TemporaryDirectory.sweep(parent)
        for _ in 0..<8 {
            var template = Array("\(parent)/sluice-\(kind.rawValue).XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { break }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            // Another Sluice may have removed it before it was locked.
            if access(path, F_OK) == 0 {
                TemporaryFiles.add(path)
                let text = "\(TemporaryDirectory.markText)\(getpid())\n"
                TemporaryDirectory.write(Data(text.utf8), "\(path)/\(TemporaryDirectory.mark)")
                (self.path, self.descriptor) = (path, descriptor)
                return
            }
            close(descriptor)
        }
        throw StartError(
            "No directory can be made in \(parent): \(String(cString: strerror(errno))).",
            hint: "Set TMPDIR to a directory that can be written to."
        )
    }

    deinit { close(descriptor) }

    /// Writes a file that only the user can read; returns its path.
    package func write(_ content: Data, to name: String) throws(StartError) -> String {
        let file = "\(path)/\(name)"
        guard TemporaryDirectory.write(content, file) else {
            throw StartError("\(file) cannot be written: \(String(cString: strerror(errno)))")
        }
        return file
    }

    @discardableResult
    private static func write(_ content: Data, _ file: String) -> Bool {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        return (try? handle.write(contentsOf: content)) != nil
    }

    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
        TemporaryFiles.forget([path])
    }

    /// Removes directories of killed processes.
    package static func sweep() { sweep(parent) }

    static func sweep(_ parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where isOurs(name) {
            let path = "\(parent)/\(name)"
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if FileFacts(descriptor: descriptor)?.owner == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0,
                hasMark(path)
            {
                if name.hasPrefix("sluice-browser.") { OrphanedBrowser.end(usingProfileIn: path) }
                try? FileManager.default.removeItem(atPath: path)
            }
        }
    }

    /// Whether `mkdtemp` made the name, with six random characters at the end.
    private static func isOurs(_ name: String) -> Bool {
        name.hasPrefix("sluice-")
            && Kind.allCases.contains { kind in
                let start = "sluice-\(kind.rawValue)."
                return name.hasPrefix(start) && name.utf8.count == start.utf8.count + 6
            }
    }

    private static func hasMark(_ path: String) -> Bool {
        let text = (try? InputFile.contents(of: "\(path)/\(mark)", atMost: 200)) ?? []
        return text.starts(with: markText.utf8)
    }
}
