/// Text to be found in bodies.
package struct BodyText: Sendable, Hashable {
    /// The longest text that is searched for, in bytes.
    package static let maximumLength = 4_096

    /// The text's bytes; in lower case where case does not count.
    let bytes: [UInt8]
    /// Whether the case of ASCII letters does not count.
    package let ignoresCase: Bool
    /// How far a search may go on after a byte that ends no match, by that byte.
    private let jumps: [Int]

    /// Prepares a search; `nil` for an empty text or one longer than ``maximumLength``.
    package init?(_ text: String, ignoringCase: Bool = true) {
        let bytes = text.utf8.map { ignoringCase ? Self.lower($0) : $0 }
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength else { return nil }
        self.bytes = bytes
        ignoresCase = ignoringCase
        var jumps = [Int](repeating: bytes.count, count: 256)
        for (index, byte) in bytes.dropLast().enumerated() {
            jumps[Int(byte)] = bytes.count - 1 - index
            if ignoringCase, byte &- 0x61 < 26 { jumps[Int(byte - 0x20)] = bytes.count - 1 - index }
        }
        self.jumps = jumps
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte + 0x20 : byte }

    /// Where the text is first found, from the beginning; `nil` where it is not.
    ///
    /// Looks at the byte under the text's last one and goes on by as much as that one allows (Horspool's search).
    func firstPlace(in text: UnsafeRawBufferPointer) -> Int? {
        let count = bytes.count
        guard text.count >= count else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            jumps.withUnsafeBufferPointer { jumps in
                var end = count - 1
                while end < text.count {
                    var back = 0
                    while back < count {
                        let byte = text[end - back]
                        if (ignoresCase ? Self.lower(byte) : byte) != bytes[count - 1 - back] { break }
                        back += 1
                    }
                    if back == count { return end - count + 1 }
                    end += jumps[Int(text[end])]
                }
                return nil
            }
        }
    }
}

/// Searches a body that comes in pieces; a match may lie across them.
struct BodySearch {
    private let text: BodyText
    /// What came last, one byte less than a match has.
    private var tail: [UInt8] = []
    /// Bytes that came so far.
    private var position: Int64 = 0

    init(_ text: BodyText) {
        self.text = text
    }

    /// Takes the next piece; returns where the first match begins, counted from the body's beginning.
    mutating func feed(_ piece: UnsafeRawBufferPointer) -> Int64? {
        let overlap = text.bytes.count - 1
        if !tail.isEmpty {
            let seam = tail + piece.prefix(overlap)
            if let place = seam.withUnsafeBytes({ text.firstPlace(in: $0) }) {
                return position - Int64(tail.count) + Int64(place)
            }
        }
        if let place = text.firstPlace(in: piece) { return position + Int64(place) }
        position += Int64(piece.count)
        tail = piece.count >= overlap ? Array(piece.suffix(overlap)) : Array((tail + piece).suffix(overlap))
        return nil
    }
}
