extension SecretBook {
    /// Bytes with marked placeholders as anyone reads them: `sluice-token-1`.
    package func unmarked(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var place = 0
        bytes.withUnsafeBytes { bytes in
            PlaceholderReading.forEach(in: bytes) { reading in
                guard reading.isMarked else { return true }
                output += bytes[place..<reading.range.lowerBound] + Array(reading.placeholder.text.utf8)
                place = reading.range.upperBound
                return true
            }
        }
        return place == 0 ? bytes : output + bytes[place...]
    }

    /// The same for a text.
    package func unmarked(_ text: String) -> String { String(decoding: unmarked(Array(text.utf8)), as: UTF8.self) }
}

/// Pieces of bytes that follow each other, with marked placeholders as anyone reads them.
package struct UnmarkedPieces {
    private static let beginning = Array("\(Placeholder.prefix)\(Placeholder.mark)-".utf8)

    private let book: SecretBook
    /// What may be the beginning of a placeholder.
    private var kept: [UInt8] = []

    package init(_ book: SecretBook) { self.book = book }

    /// Takes the next piece; returns what is known by now.
    package mutating func add(_ piece: some Sequence<UInt8>) -> [UInt8] {
        let bytes = book.unmarked(kept + piece)
        let tail = bytes[max(0, bytes.count - Placeholder.longestMarked)...]
        let start = tail.indices.first { place in
            let rest = bytes[place...]
            return rest.starts(with: UnmarkedPieces.beginning.prefix(rest.count))
        }
        kept = Array(bytes[(start ?? bytes.count)...])
        return Array(bytes[..<(start ?? bytes.count)])
    }

    /// Returns the rest.
    package mutating func end() -> [UInt8] {
        defer { kept = [] }
        return kept
    }
}
