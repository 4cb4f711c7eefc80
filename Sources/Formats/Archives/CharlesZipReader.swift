import Content
package import Files
import NIOCore

/// Reads a session that Charles saved as a zip (since version 4): `N-meta.json`, and bodies, `N-req.…` and `N-res.…`.
package struct CharlesZipReader: ArchiveReader {
    private static let longestMeta = 4 << 20

    private let zip: ZipReader
    private let losses: ArchiveLosses
    private let textLimit: Int

    package static func isSession(_ zip: ZipReader) -> Bool {
        zip.entries.contains { number(of: $0, "-meta.json") != nil }
    }

    package init(_ zip: ZipReader, textLimit: Int = 64 << 20, losses: ArchiveLosses) {
        (self.zip, self.textLimit, self.losses) = (zip, textLimit, losses)
    }

    private static func number(of entry: ZipReader.Entry, _ suffix: String) -> Int? {
        guard entry.name.hasSuffix(suffix) else { return nil }
        return Int(entry.name.dropLast(suffix.utf8.count))
    }

    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        var metas: [(number: Int, entry: ZipReader.Entry)] = []
        var bodies: [String: ZipReader.Entry] = [:]
        for entry in zip.entries {
            if let number = CharlesZipReader.number(of: entry, "-meta.json") {
                metas.append((number, entry))
            } else {
                bodies[String(entry.name.prefix { $0 != "." })] = entry
            }
        }
        var hasFound = false
        for (number, entry) in metas.sorted(by: { $0.number < $1.number }) {
            guard var transaction = try transaction(entry) else {
                losses.add(.init("{entry that is no transaction|entries that are no transactions}"))
                continue
            }
            hasFound = true
            // Uses each body once: `01-meta.json` is also number 1, and a short zip could become a huge session.
            transaction.request.bytes = try bytes(of: bodies.removeValue(forKey: "\(number)-req"))
            transaction.response.bytes = try bytes(of: bodies.removeValue(forKey: "\(number)-res"))
            try transaction.pass(to: body, losses)
        }
        if !hasFound, !metas.isEmpty { throw ArchiveError("there are no transactions of Charles in it") }
    }

    /// Reads the description of an exchange; `nil` for other files.
    private func transaction(_ entry: ZipReader.Entry) throws -> CharlesTransaction? {
        guard let bytes = try zip.contents(of: entry, atMost: CharlesZipReader.longestMeta) else { return nil }
        var reader = CharlesJSONReader(json: JSONTokenReader(bytes), losses: losses, textLimit: textLimit)
        do {
            return try reader.json.next()?.kind == .objectBegin ? reader.transaction() : nil
        } catch is JSONSyntaxError {
            return nil
        }
    }

    private func bytes(of entry: ZipReader.Entry?) throws -> ByteBuffer? {
        guard let entry else { return nil }
        if let bytes = try zip.contents(of: entry, atMost: textLimit) { return ByteBuffer(bytes: bytes) }
        losses.add(.init("{body|bodies} longer than 64 MiB"))
        return nil
    }
}
