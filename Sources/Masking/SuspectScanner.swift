import HTTPModel
import Text

/// Finds random texts whose name does not say what they are.
struct SuspectScanner {
    let bytes: UnsafeRawBufferPointer
    let names: SecretNames

    private static let least = 20
    private static let most = 512

    private static let isOfRun: [Bool] = (0...255).map { number in
        let byte = UInt8(number)
        return byte.isLetterOrDigit || "-_.+/=~".utf8.contains(byte)
    }

    func scan(_ body: (Range<Int>, String?) -> Void) {
        SuspectScanner.isOfRun.withUnsafeBufferPointer { isOfRun in
            var place = 0
            while place < bytes.count {
                let start = place
                while place < bytes.count, isOfRun[Int(bytes[place])] { place += 1 }
                if place - start >= SuspectScanner.least { scan(start..<place, body) }
                place += 1
            }
        }
    }

    private func scan(_ run: Range<Int>, _ body: (Range<Int>, String?) -> Void) {
        let isPath =
            run.count <= 4_096 && bytes[run].contains(UInt8(ascii: "/"))
            && (bytes[run.lowerBound] == UInt8(ascii: "/")
                || run.lowerBound > 0 && bytes[run.lowerBound - 1] == UInt8(ascii: ":"))
        var before: Range<Int>?
        var start = run.lowerBound
        for place in run.lowerBound...run.upperBound {
            // Slashes divide only paths, because base64 contains them, too.
            guard
                place == run.upperBound || ".~=".utf8.contains(bytes[place])
                    || isPath && bytes[place] == UInt8(ascii: "/")
            else { continue }
            let word = start..<place
            start = place + 1
            defer { before = word }
            guard (SuspectScanner.least...SuspectScanner.most).contains(word.count) else { continue }
            let value = bytes.part(word)
            guard isSuspicious(value, isPath: isPath), !isIdentifier(value) else { continue }
            if isPath, isFile(word, run.upperBound) || before.map(isOfDigests) ?? false { continue }
            let name = self.name(before: word.lowerBound)
            if let name, SuspectScanner.isNameOfIdentifiers(name) || names.isExempt(name.utf8) { continue }
            body(word, name)
        }
    }

    private func isSuspicious(_ value: UnsafeRawBufferPointer, isPath: Bool) -> Bool {
        // Two hyphens begin a multipart boundary (RFC 2046 §5.1.1).
        guard !value.starts(with: "--".utf8), ValueShape.entropy(value) > (isPath ? 3 : 3.6) else { return false }
        if value.contains(UInt8(ascii: "/")) {
            return !value.contains(UInt8(ascii: "-")) && ValueShape.isMixed(value, least: 32)
        }
        if isPath {
            return ValueShape.isInPieces(value) && ValueShape.isMadeByChance(value, least: SuspectScanner.least)
                && value.count(where: \.isLetter) > 3
        }
        return ValueShape.isRandom(value, least: 24) || ValueShape.isMixed(value, least: SuspectScanner.least)
    }

    /// A UUID, digest, ULID, MongoDB identifier, or text in base64.
    private func isIdentifier(_ value: UnsafeRawBufferPointer) -> Bool {
        if PathShape.isUUID(value) { return true }
        let hexadecimal = value.count { $0.hexadecimalValue != nil || $0 == UInt8(ascii: "-") }
        if hexadecimal == value.count, [24, 32, 40, 56, 64, 96, 128].contains(value.count) { return true }
        if ["sha1-", "sha256-", "sha384-", "sha512-"].contains(where: { value.starts(with: $0.utf8) }) { return true }
        if value.count == 26, value[0] == UInt8(ascii: "0"), !value.contains(where: { $0.isSmall }) { return true }
        guard let plain = Base64Text.decode(value) else { return false }
        return plain.allSatisfy { $0 >= 0x20 && $0 < 0x7F || $0 == 0x0A }
    }

    private static let endingsOfIdentifiers = [
        "id", "ids", "digest", "etag", "checksum", "md5", "sha", "sha1", "sha256", "sha512", "crc32", "fingerprint",
        "integrity", "nonce", "revision", "version", "cursor", "correlation", "boundary",
    ]

    static func isNameOfIdentifiers(_ name: String) -> Bool {
        let plain = SecretNames.normalised(name.utf8)
        return endingsOfIdentifiers.contains { plain.hasSuffix($0) }
            || ["requestid", "xamzid2", "trace", "hash"].contains { plain.contains($0) }
    }

    /// Folders whose files are named by digests.
    private static let digests: Set<String> = [
        "commit", "commits", "tree", "blob", "blobs", "object", "objects", "static", "assets", "_next", "chunks",
        "images", "img", "media", "avatar", "avatars", "cache", "dist", "build", "immutable", "fonts", "compare", "raw",
    ]

    private func isOfDigests(_ segment: Range<Int>) -> Bool {
        segment.count <= 16
            && SuspectScanner.digests.contains(String(decoding: bytes[segment], as: UTF8.self).lowercased())
    }

    /// Whether a segment belongs to a file name: `main-8d3f2a1b.chunk.js`.
    private func isFile(_ word: Range<Int>, _ end: Int) -> Bool {
        let rest = bytes[word.upperBound..<end].prefix { $0 != UInt8(ascii: "/") }
        let start = bytes[..<word.lowerBound].lastIndex(of: UInt8(ascii: "/")) ?? 0
        return rest.first == UInt8(ascii: ".") && rest.count < 16
            || bytes[start..<word.lowerBound].contains(UInt8(ascii: "."))
    }

    /// The name before a colon or an equals sign, or of the element around the value.
    private func name(before value: Int) -> String? {
        let place = bytes.runStart(before: value, most: 8) { "\"'\\ \n".utf8.contains($0) }
        guard place > 0, ":=>".utf8.contains(bytes[place - 1]) else { return nil }
        if bytes[place - 1] == UInt8(ascii: ">") {
            guard let open = bytes[max(0, place - 200)..<place].lastIndex(of: UInt8(ascii: "<")) else { return nil }
            let tag = bytes[(open + 1)..<place].prefix { $0.isLetterOrDigit || "-_.:".utf8.contains($0) }
            return tag.isEmpty ? nil : String(decoding: tag, as: UTF8.self)
        }
        let end = bytes.runStart(before: place - 1, most: 7) { "\"'\\ ]".utf8.contains($0) }
        let start = bytes.runStart(before: end, most: 80) { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
        return start < end ? String(decoding: bytes[start..<end], as: UTF8.self) : nil
    }
}
