/// Segments of paths that look made by chance, as those of links have that are shared with whom one likes.
extension RunScanner {
    /// Words before a segment that is the digest of something.
    private static let digests: Set<String> = [
        "commit", "commits", "tree", "blob", "blobs", "object", "objects", "sha", "sha1", "sha256", "sha512", "hash",
        "hashes", "digest", "digests", "raw", "compare", "manifests", "layers", "revisions", "static", "assets",
        "_next",
        "chunks", "images", "image", "img", "media", "avatar", "avatars", "cache", "dist", "build", "immutable",
        "fonts",
    ]
    /// What a file has behind its point whose name has a digest in it.
    private static let longestEnding = 5
    private static let mostSuspectSegments = 3

    /// Suspects the segments of a path that look made by chance, but not files, digests and numbers of a well-known shape.
    func suspects(inPath path: Range<Int>) {
        var before: Slice<UnsafeRawBufferPointer> = bytes[path.lowerBound..<path.lowerBound]
        var (suspects, others): ([Range<Int>], Int) = ([], 0)
        for segment in bytes[path].split(separator: UInt8(ascii: "/")) {
            defer { before = segment }
            let value = UnsafeRawBufferPointer(rebasing: segment)
            guard value.count >= 8, ValueShape.isInPieces(value) else { continue }
            others += 1
            guard (RunScanner.least...512).contains(value.count), !isFile(segment), !isNumber(value),
                ValueShape.isMadeByChance(value, least: RunScanner.least), ValueShape.entropy(value) > 3,
                value.count(where: { ($0 | 0x20) &- 0x61 < 26 }) > 3,
                !RunScanner.digests.contains(String(decoding: before.prefix(16), as: UTF8.self).lowercased())
            else { continue }
            suspects.append(segment.startIndex..<segment.endIndex)
        }
        // Of more it is a text in base64 that begins with a slash.
        guard others <= RunScanner.mostSuspectSegments else { return }
        for range in suspects { suspect(range) }
    }

    /// Whether a segment is the name of a file: `main-8d3f2a1b.chunk.js`.
    private func isFile(_ segment: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let point = segment.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let ending = segment[(point + 1)...]
        return (1...RunScanner.longestEnding).contains(ending.count) && ending.allSatisfy(ValueShape.isLetterOrDigit)
    }

    /// Whether a segment is a UUID, an ObjectId of MongoDB, a ULID, a digest of SHA-1 or SHA-256, or digits alone.
    private func isNumber(_ value: UnsafeRawBufferPointer) -> Bool {
        if ValueShape.isUUID(value) || value.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }) { return true }
        if [24, 40, 64].contains(value.count), value.allSatisfy(ValueShape.isHexadecimal) { return true }
        guard value.count == 26, value[0] == UInt8(ascii: "0") else { return false }
        let isLarge = value.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x41 < 26 && !"ILOU".utf8.contains($0) }
        return isLarge || value.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 26 && !"ilou".utf8.contains($0) }
    }
}
