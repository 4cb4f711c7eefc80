import Foundation
import Testing

/// A directory of a test's own, removed with it.
final class TestFolder {
    let path: String

    init(_ files: [String: String] = [:], location: SourceLocation = #_sourceLocation) {
        path = FileManager.default.temporaryDirectory.appending(path: "sluice-test-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, text) in files { try write(name, Data(text.utf8)) }
        } catch {
            Issue.record("the folder cannot be made: \(error)", sourceLocation: location)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ name: String, _ data: Data) throws {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Every file in it, by its path, in order.
    var files: [String] {
        let found = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return found.filter { name in
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
            return !isDirectory.boolValue
        }.sorted()
    }
}
