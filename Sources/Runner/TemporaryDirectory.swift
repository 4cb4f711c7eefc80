import Files
import Foundation

/// A directory in the temporary folder that only the user can enter.
///
/// It is locked as long as the process lives; the next Sluice that starts removes one without a lock.
package final class TemporaryDirectory: Sendable {
    /// Absolute, since commands change their directory.
    package let path: String
    private let descriptor: CInt

    private static let kinds = [
        "archive", "har", "run", "demo", "view", "browser", "bundle", "raw", "repeat", "doctor",
    ]
    private static var parent: String { FileManager.default.temporaryDirectory.absoluteURL.path }

    /// Makes a directory of a kind that ``sweep()`` knows.
    package convenience init(_ kind: String) throws(StartError) {
        try self.init(kind, in: TemporaryDirectory.parent)
    }

    init(_ kind: String, in parent: String) throws(StartError) {
        TemporaryDirectory.sweep(parent)
        for _ in 0..<8 {
            var template = Array("\(parent)/sluice-\(kind).XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { break }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            // Another Sluice that starts may have removed it before it was locked.
            if access(path, F_OK) == 0 {
                TemporaryFiles.add(path)
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

    /// Writes a file in the directory and returns its path.
    func write(_ content: Data, to name: String) throws(StartError) -> String {
        let file = "\(path)/\(name)"
        do {
            try content.write(to: URL(fileURLWithPath: file))
        } catch {
            throw StartError("\(file) cannot be written: \(error.localizedDescription)")
        }
        return file
    }

    /// Removes the directory and everything in it.
    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
        TemporaryFiles.forget([path])
    }

    /// Removes the directories of Sluices that were killed.
    static func sweep() { sweep(parent) }

    static func sweep(_ parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where kinds.contains(where: { name.hasPrefix("sluice-\($0).") }) {
            let path = "\(parent)/\(name)"
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if FileFacts(descriptor: descriptor)?.owner == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                if name.hasPrefix("sluice-browser.") { OrphanedBrowser.end(usingProfileIn: path) }
                try? FileManager.default.removeItem(atPath: path)
            }
        }
    }
}
