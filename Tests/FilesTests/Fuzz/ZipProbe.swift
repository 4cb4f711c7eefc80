import Files
import Foundation
import Support

/// Reads arbitrary bytes as a zip: what is refused is refused by an error of ours, and no entry leads out, or gives more
/// than it may.
enum ZipProbe {
    /// As many bytes are looked at of all entries together.
    private static let mostBytes = 4 << 20

    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        let path = "\(NSTemporaryDirectory())/sluice-zip-probe-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = read(path)
        try demand(first == read(path), "the second time another thing is read")
        guard let first else { return }
        for (name, content) in first {
            let parts = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
            try demand(!parts.contains("..") && !name.hasPrefix("/") && !name.isEmpty, "'\(name)' leads out")
            let limit = max(ZipReader.freeBytes, bytes.count * ZipReader.mostRatio)
            try demand((content?.count ?? 0) <= limit, "'\(name)' gives \(content?.count ?? 0) bytes")
        }
    }

    /// The entries, without content where it is damaged or long; `nil` where the zip is refused.
    private static func read(_ path: String) -> [String: [UInt8]?]? {
        guard let zip = try? ZipReader(path) else { return nil }
        var (entries, rest): ([String: [UInt8]?], Int) = ([:], mostBytes)
        for entry in zip.entries.prefix(100) {
            let content = try? zip.contents(of: entry, atMost: rest)
            rest -= content?.count ?? 0
            entries[entry.name] = .some(content)
        }
        return entries
    }

    /// Zips that we write: with an empty file, a short and a long one, stored and packed.
    static var seeds: [[UInt8]] {
        let folder = "\(NSTemporaryDirectory())/sluice-zip-seeds-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let contents = [[], Array("text".utf8), [UInt8](repeating: 0x61, count: 2_000)]
        for (index, content) in contents.enumerated() {
            try? Data(content).write(to: URL(filePath: "\(folder)/\(index)"))
        }
        let zips: [[ZipWriter.Member]] = [
            [], [ZipWriter.Member("a", file: "\(folder)/1", isStored: true)],
            [ZipWriter.Member("a/b.txt", file: "\(folder)/0"), ZipWriter.Member("c", file: "\(folder)/2")],
        ]
        return zips.enumerated().compactMap { index, members in
            let path = "\(folder)/\(index).zip"
            guard (try? ZipWriter.write(members, to: path)) != nil else { return nil }
            return (try? Data(contentsOf: URL(filePath: path))).map { Array($0) }
        }
    }
}
