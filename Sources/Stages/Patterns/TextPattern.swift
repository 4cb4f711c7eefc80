/// What a rule looks for in a text: plain, or a regular expression written `/…/`.
struct TextPattern: Sendable {
    private enum Kind: Sendable {
        case plain([UInt8])
        case expression(RegularExpression)
    }

    private let kind: Kind
    private let isCaseSensitive: Bool
    private let isWhole: Bool

    /// Reads a pattern.
    ///
    /// `/…/` is a regular expression; a plain text that begins and ends so begins with `\`.
    ///
    /// - Parameters:
    ///   - text: the pattern as written.
    ///   - isCaseSensitive: whether the case of letters counts.
    ///   - isWhole: whether the whole text must match, not just a part of it.
    /// - Throws: ``RegularExpression/SyntaxError`` with the offset in `text`.
    init(_ text: String, isCaseSensitive: Bool, isWhole: Bool) throws(RegularExpression.SyntaxError) {
        self.isCaseSensitive = isCaseSensitive
        self.isWhole = isWhole
        if text.utf8.count > 2, text.hasPrefix("/"), text.hasSuffix("/") {
            let inner = String(text.dropFirst().dropLast())
            let source = isWhole ? "\\A(?:\(inner))\\z" : inner
            do {
                kind = .expression(try RegularExpression(source, isCaseSensitive: isCaseSensitive))
            } catch {
                let shift = isWhole ? "\\A(?:".utf8.count : 0
                throw RegularExpression.SyntaxError(
                    offset: max(0, min(error.offset - shift, inner.utf8.count)) + 1,
                    message: error.message
                )
            }
        } else {
            let plain = text.hasPrefix("\\/") ? text.dropFirst() : text[...]
            kind = .plain(Array(plain.utf8))
        }
    }

    /// How many groups a replacement can refer to; `nil` for plain text, whose replacements are plain too.
    var groupCount: Int? {
        if case .expression(let expression) = kind { expression.groupCount } else { nil }
    }

    /// Whether the pattern is found.
    func matches(_ text: String) throws(RegularExpression.Runaway) -> Bool {
        var isFound = false
        try forEachMatch(in: Array(text.utf8)) { _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// The text with each match replaced, or only the first; `nil` where there is none.
    func replacing(
        in text: String,
        with replacement: Replacement,
        onlyFirst: Bool
    ) throws(RegularExpression.Runaway) -> String? {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var end = 0
        var isFound = false
        try forEachMatch(in: bytes) { groups in
            guard let whole = groups[0], whole.lowerBound >= end else { return true }
            isFound = true
            result += bytes[end..<whole.lowerBound]
            replacement.append(to: &result, groups: groups, of: bytes)
            end = whole.upperBound
            return !onlyFirst
        }
        guard isFound else { return nil }
        result += bytes[end...]
        return String(decoding: result, as: UTF8.self)
    }

    private func forEachMatch(
        in bytes: [UInt8],
        _ body: ([Range<Int>?]) -> Bool
    ) throws(RegularExpression.Runaway) {
        switch kind {
        case .expression(let expression): try expression.forEachMatch(in: bytes, body)
        case .plain(let needle):
            if isWhole {
                if bytes.count == needle.count, isEqual(bytes[...], needle) { _ = body([0..<bytes.count]) }
                return
            }
            var start = 0
            while start + needle.count <= bytes.count, !needle.isEmpty {
                if isEqual(bytes[start..<(start + needle.count)], needle) {
                    guard body([start..<(start + needle.count)]) else { return }
                    start += needle.count
                } else {
                    start += 1
                }
            }
        }
    }

    /// Compares bytes; only the case of ASCII letters can be left out of account.
    private func isEqual(_ bytes: ArraySlice<UInt8>, _ needle: [UInt8]) -> Bool {
        if isCaseSensitive { return bytes.elementsEqual(needle) }
        func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
        return zip(bytes, needle).allSatisfy { lower($0) == lower($1) }
    }
}

/// What a match is replaced by.
///
/// In the text `$1` to `$9` are groups, `$0` the whole match and `$$` a dollar sign. For a plain pattern it is the text
/// as written.
struct Replacement: Sendable {
    private enum Piece: Sendable {
        case text([UInt8])
        case group(Int)
    }

    private let pieces: [Piece]
    /// The highest group referred to.
    let highestGroup: Int

    init(_ text: String, hasGroups: Bool) {
        guard hasGroups else {
            pieces = [.text(Array(text.utf8))]
            highestGroup = 0
            return
        }
        var pieces: [Piece] = []
        var literal: [UInt8] = []
        var highest = 0
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "$"), let next = rest.first else {
                literal.append(byte)
                continue
            }
            if next == UInt8(ascii: "$") {
                rest.removeFirst()
                literal.append(byte)
            } else if (0x30...0x39).contains(next) {
                rest.removeFirst()
                pieces.append(.text(literal))
                literal = []
                pieces.append(.group(Int(next) - 0x30))
                highest = max(highest, Int(next) - 0x30)
            } else {
                literal.append(byte)
            }
        }
        pieces.append(.text(literal))
        self.pieces = pieces
        highestGroup = highest
    }

    func append(to result: inout [UInt8], groups: [Range<Int>?], of subject: [UInt8]) {
        for piece in pieces {
            switch piece {
            case .text(let bytes): result += bytes
            case .group(let number):
                if number < groups.count, let range = groups[number] { result += subject[range] }
            }
        }
    }
}
