/// Paths as servers read them (RFC 3986 §6.2.2): without needless percent-encoding, repeated slashes and dot segments.
package enum NormalisedPath {
    /// `nil` if the path is already normal, which is usual.
    package static func of(_ path: String) -> String? {
        guard path.utf8.first == UInt8(ascii: "/"), needsWork(path) else { return nil }
        let normalised = removingDotSegments(decoded(path))
        return normalised == path ? nil : normalised
    }

    /// The path for servers that know only slashes, and for servers that read a backslash as a slash (WHATWG URL).
    package static func all(of path: String) -> [String] {
        let slashed = path.replacing("\\", with: "/").replacing("%5C", with: "/").replacing("%5c", with: "/")
        return [of(path), slashed == path ? nil : of(slashed) ?? slashed].compactMap(\.self)
    }

    /// A pattern's path for normalised paths; dot segments stay, because a star may match several segments.
    static func ofPattern(_ pattern: String) -> String { decoded(pattern) }

    /// A percent sign, two slashes in a row, or a dot at the beginning of a segment.
    private static func needsWork(_ path: String) -> Bool {
        var previous: UInt8 = 0
        for byte in path.utf8 {
            if byte == UInt8(ascii: "%") { return true }
            if previous == slash, byte == slash || byte == UInt8(ascii: ".") { return true }
            previous = byte
        }
        return false
    }

    private static let slash = UInt8(ascii: "/")

    /// Decodes printable ASCII except characters with a meaning in URLs or patterns, and joins slashes.
    private static func decoded(_ path: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            var next = [byte]
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = rest[rest.startIndex].hexadecimalValue,
                let low = rest[rest.startIndex + 1].hexadecimalValue
            {
                let value = high << 4 | low
                let digits = rest.prefix(2).map { $0 &- 0x61 < 6 ? $0 - 0x20 : $0 }
                rest = rest.dropFirst(2)
                next = (0x20..<0x7F).contains(value) && !kept.contains(value) ? [value] : [byte] + digits
            }
            if next == [slash], bytes.last == slash { continue }
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let kept = Array("%?#*[]\\".utf8)

    /// RFC 3986 §5.2.4.
    package static func removingDotSegments(_ path: String) -> String {
        var kept: [Substring.UTF8View] = []
        let segments = path.utf8.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            let isUp = segment.elementsEqual("..".utf8)
            guard isUp || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isUp { _ = kept.popLast() }
            if isLast { kept.append("".dropFirst().utf8) }
        }
        return "/" + kept.map { String(Substring($0)) }.joined(separator: "/")
    }
}

extension Location {
    /// The location itself if its path is normal.
    package var withNormalisedPath: Location {
        var pattern = pattern
        pattern.path = NormalisedPath.ofPattern(pattern.path)
        return pattern.path == self.pattern.path ? self : (try? Location(pattern)) ?? self
    }
}
