package import Foundation
import Synchronization

/// A folder that lasts as long as somebody holds it.
package final class Scratch: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.path + "/sluice-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// Removes the folder before its end, or keeps it until here.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static let lasting = Mutex<[Scratch]>([])

    /// Keeps the folder until the tests end, and no longer.
    package func removeAtExit() {
        let isFirst = Scratch.lasting.withLock { lasting in
            lasting.append(self)
            return lasting.count == 1
        }
        if isFirst { atexit { for scratch in Scratch.lasting.withLock({ $0 }) { scratch.remove() } } }
    }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    // MARK: - What is in it

    package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// The bytes of a file; none where there is no such file.
    package func bytes(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: path(name)).map { Array($0) } ?? []
    }

    /// The text of a file; empty where there is no such file.
    package func text(_ name: String) -> String { String(decoding: bytes(name), as: UTF8.self) }

    /// The permissions of a file, or of the folder itself; -1 where there is no such file.
    package func mode(_ name: String = "") -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    package func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }

    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o644) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        return path(name)
    }

    @discardableResult
    package func write(_ name: String, _ text: String, mode: Int = 0o644) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    package func newFile(_ name: String) throws -> FileHandle {
        try write(name, "")
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
    }
}
