import Foundation

/// An input on which a probe once failed: a file of `Tests/Fuzzing/Finds`, named for what was wrong.
struct FuzzFind: Sendable, CustomStringConvertible {
    private let file: URL

    var description: String { file.lastPathComponent }

    /// All finds of a fuzzer, by name.
    static func all(_ fuzzer: String) throws -> [FuzzFind] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let folder = tests.appending(path: "Fuzzing/Finds").appending(path: fuzzer)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }.map(FuzzFind.init)
    }

    func bytes() throws -> [UInt8] {
        Array(try Data(contentsOf: file))
    }
}
