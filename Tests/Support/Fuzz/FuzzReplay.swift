import Foundation

/// An input that a probe is run on again: one that a fuzzer begins with, or one on which the probe once failed.
package struct FuzzReplay: Sendable, CustomStringConvertible {
    package let bytes: [UInt8]
    /// The seed's place, or the name of the file, which says what was wrong.
    package let description: String

    /// The seeds of a fuzzer, and all files of its folder in `Tests/Fuzzing/Finds`, by name.
    package static func all(_ fuzzer: String, seeds: [[UInt8]] = []) throws -> [FuzzReplay] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let folder = tests.appending(path: "Fuzzing/Finds").appending(path: fuzzer)
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return seeds.enumerated().map { FuzzReplay(bytes: $1, description: "seed \($0)") }
            + (try (files ?? []).sorted { $0.lastPathComponent < $1.lastPathComponent }.map { file in
                FuzzReplay(bytes: Array(try Data(contentsOf: file)), description: file.lastPathComponent)
            })
    }
}
