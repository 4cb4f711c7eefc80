package import HTTPModel

/// The remainder of a path after the literal part of a location, and the texts that the location's stars match.
extension Location {
    /// The literal part of the path, as in Charles: up to the last slash before the first wildcard, if it has one.
    private var literalPath: (text: String, isWhole: Bool) {
        var bytes: [UInt8] = []
        var scan = PatternScan(pattern.path)
        while let element = scan.next() {
            switch element {
            case .literal(let byte): bytes.append(byte)
            case .star, .other:
                let end = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
                return (String(decoding: bytes[..<end], as: UTF8.self), false)
            }
        }
        return (String(decoding: bytes, as: UTF8.self), !bytes.isEmpty)
    }

    /// Whether the path is not empty and has no wildcard, so that the remainder is always empty.
    package var namesWholePath: Bool { literalPath.isWhole }

    /// The remainder of the path of a matching URL, without the slash before it.
    ///
    /// | location's path | request | remainder |
    /// | --- | --- | --- |
    /// | blank, or `*` | `/a/b.php` | `a/b.php` |
    /// | `/a/*` | `/a/b.php` | `b.php` |
    /// | `/*.php` | `/a/b.php` | `a/b.php` |
    /// | `/a/*.php` | `/a/b.php` | `b.php` |
    /// | `/a/b.php` | `/a/b.php` | empty |
    package func remainder(of path: String) -> String {
        let (literal, isWhole) = literalPath
        if isWhole { return "" }
        let rest = path.utf8.starts(with: literal.utf8) ? path.utf8.dropFirst(literal.utf8.count) : path.utf8[...]
        return String(Substring(rest.first == UInt8(ascii: "/") && literal.isEmpty ? rest.dropFirst() : rest))
    }

    /// Adjacent stars count as one.
    package var starCount: Int {
        Field.allCases.reduce(0) { count, field in
            var scan = PatternScan(pattern[field])
            var stars = 0
            var before: PatternScan.Element?
            while let element = scan.next() {
                if element == .star, before != .star { stars += 1 }
                before = element
            }
            return count + stars
        }
    }

    /// What each star matches in a URL, in the order protocol, host, port, path, query.
    package func stars(of url: RequestURL) -> [String] {
        guard let captures = captures(url) else { return [] }
        return Field.allCases.flatMap { field in
            // A field that has only stars is not compiled, so it has no captures.
            let isStar = !pattern[field].isEmpty && pattern[field].utf8.allSatisfy { $0 == UInt8(ascii: "*") }
            return isStar ? [url[field]] : captures[field] ?? []
        }
    }
}

/// Reads the elements of a wildcard pattern.
private struct PatternScan {
    enum Element: Equatable {
        case literal(UInt8)
        case star
        /// A wildcard for one character.
        case other
    }

    private var rest: ArraySlice<UInt8>

    init(_ pattern: String) { rest = Array(pattern.utf8)[...] }

    mutating func next() -> Element? {
        guard let byte = rest.popFirst() else { return nil }
        switch byte {
        case UInt8(ascii: "*"): return .star
        case UInt8(ascii: "?"): return .other
        case UInt8(ascii: "["):
            while let member = rest.popFirst(), member != UInt8(ascii: "]") {
                if member == UInt8(ascii: "\\") { _ = rest.popFirst() }
            }
            return .other
        case UInt8(ascii: "\\"): return .literal(rest.popFirst() ?? byte)
        default: return .literal(byte)
        }
    }
}
