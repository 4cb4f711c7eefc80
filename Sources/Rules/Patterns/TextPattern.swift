import Content
import HTTPModel

/// What a rule looks for in a text: plain, or a regular expression written `/…/`.
package struct TextPattern: Sendable {
    /// The pattern as written.
    package let text: String
    private let expression: RegularExpression
    /// How many groups a replacement can refer to; `nil` for plain text, whose replacements are plain too.
    package let groupCount: Int?

    /// Reads a pattern.
    ///
    /// `/…/` is a regular expression; a plain text that begins and ends so begins with `\`.
    ///
    /// - Parameters:
    ///   - text: the pattern as written.
    ///   - isCaseSensitive: whether the case of letters counts.
    ///   - isWhole: whether the whole text must match, not just a part of it.
    /// - Throws: ``RegularExpression/SyntaxError`` with the offset in `text`.
    package init(_ text: String, isCaseSensitive: Bool, isWhole: Bool) throws(RegularExpression.SyntaxError) {
        let isExpression = text.utf8.count > 2 && text.hasPrefix("/") && text.hasSuffix("/")
        if isExpression {
            let inner = String(text.dropFirst().dropLast())
            do {
                try self.init(expression: inner, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
            } catch {
                throw RegularExpression.SyntaxError(offset: error.offset + 1, message: error.message)
            }
        } else {
            let plain = text.hasPrefix("\\/") ? String(text.dropFirst()) : text
            let literal = try RegularExpression(
                plain,
                isCaseSensitive: isCaseSensitive,
                isWhole: isWhole,
                isLiteral: true
            )
            self.init(text, literal, groupCount: nil)
        }
    }

    private init(_ text: String, _ expression: RegularExpression, groupCount: Int?) {
        self.text = text
        self.expression = expression
        self.groupCount = groupCount
    }

    /// Compiles a regular expression that is written without slashes.
    package init(
        expression pattern: String,
        isCaseSensitive: Bool,
        isWhole: Bool
    ) throws(RegularExpression.SyntaxError) {
        let expression = try RegularExpression(pattern, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        self.init("/\(pattern)/", expression, groupCount: expression.groupCount)
    }

    /// How messages show it: an expression with its slashes, a text in quotes; a long one is cut.
    package var description: String {
        let short = text.clipped(to: 60)
        return groupCount == nil ? "'\(short)'" : short
    }

    // MARK: - Texts

    /// Whether the pattern is found.
    package func matches(_ text: String) throws(RegularExpression.Runaway) -> Bool {
        var isFound = false
        try forEachMatch(in: text) { _, _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// The text with each match replaced, or only the first; `nil` where there is none.
    package func replacing(
        in text: String,
        with replacement: Replacement,
        onlyFirst: Bool
    ) throws(RegularExpression.Runaway) -> String? {
        try replacing(in: Array(text.utf8), with: replacement, onlyFirst: onlyFirst)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text with each match replaced, or only the first, in the encoding that it came in; `nil` where there is none.
    package func replacing(
        in bytes: [UInt8],
        with replacement: Replacement,
        onlyFirst: Bool
    ) throws(RegularExpression.Runaway) -> [UInt8]? {
        let encoding = FieldEncoding(bytes)
        let text = String(fieldBytes: bytes)
        var result: [UInt8] = []
        var end = 0
        var isFound = false
        try forEachMatch(in: text) { match, subject in
            let whole = match.whole
            guard whole.lowerBound >= end else { return true }
            isFound = true
            encoding.append(subject[end..<whole.lowerBound], to: &result)
            replacement.append(to: &result, match, subject, encoding)
            end = whole.upperBound
            return !onlyFirst
        }
        guard isFound else { return nil }
        encoding.append(text.utf8.dropFirst(end), to: &result)
        return result
    }

    /// What the first match would be replaced by; `nil` where there is none.
    package func expansion(
        of replacement: Replacement,
        in text: String
    ) throws(RegularExpression.Runaway) -> String? {
        try expansion(of: replacement, in: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What the first match would be replaced by, in the encoding of the text; `nil` where there is none.
    package func expansion(
        of replacement: Replacement,
        in bytes: [UInt8]
    ) throws(RegularExpression.Runaway) -> [UInt8]? {
        var result: [UInt8]?
        try forEachMatch(in: String(fieldBytes: bytes)) { match, subject in
            var expansion: [UInt8] = []
            replacement.append(to: &expansion, match, subject, FieldEncoding(bytes))
            result = expansion
            return false
        }
        return result
    }

    private func forEachMatch(
        in text: String,
        _ body: (TextMatch, UnsafeRawBufferPointer) -> Bool
    ) throws(RegularExpression.Runaway) {
        var text = text
        var failure: RegularExpression.Runaway?
        text.withUTF8 { bytes in
            let subject = UnsafeRawBufferPointer(bytes)
            do throws(RegularExpression.Runaway) {
                try expression.forEachMatch(in: subject) { body($0, subject) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    // MARK: - Bytes

    /// Calls `body` with each match in order; going on ends when it returns `false`.
    ///
    /// - Parameters:
    ///   - subject: valid UTF-8.
    ///   - body: must not keep the match.
    /// - Throws: ``RegularExpression/Runaway`` where the limits were passed.
    package func forEachMatch(
        in subject: UnsafeRawBufferPointer,
        _ body: (TextMatch) -> Bool
    ) throws(RegularExpression.Runaway) {
        try expression.forEachMatch(in: subject, body)
    }
}

/// What a match is replaced by.
///
/// In the text `$1` to `$9` are groups, `$0` the whole match and `$$` a dollar sign. For a plain pattern it is the text
/// as written.
package struct Replacement: Sendable {
    private enum Piece: Sendable {
        case text([UInt8])
        case group(Int)
    }

    private let pieces: [Piece]
    /// The highest group referred to.
    package let highestGroup: Int

    package init(_ text: String, hasGroups: Bool) {
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

    /// Whether nothing would be left.
    package var isEmpty: Bool {
        pieces.allSatisfy {
            if case .text(let bytes) = $0 { bytes.isEmpty } else { false }
        }
    }

    /// The text, for where there is no match whose groups it could refer to.
    package var plain: String {
        var bytes: [UInt8] = []
        for case .text(let text) in pieces { bytes += text }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends what a match becomes, given by its ranges in `subject`: the whole, then each group.
    package func append(to result: inout [UInt8], groups: [Range<Int>?], of subject: [UInt8]) {
        for piece in pieces {
            switch piece {
            case .text(let bytes): result += bytes
            case .group(let number):
                if number < groups.count, let range = groups[number] { result += subject[range] }
            }
        }
    }

    /// Appends what a match in `subject`, which is UTF-8, becomes in an encoding.
    package func append(
        to result: inout [UInt8],
        _ match: TextMatch,
        _ subject: UnsafeRawBufferPointer,
        _ encoding: FieldEncoding = .utf8
    ) {
        for piece in pieces {
            switch piece {
            case .text(let bytes): encoding.append(bytes, to: &result)
            case .group(let number):
                if let range = match.group(number) { encoding.append(subject[range], to: &result) }
            }
        }
    }
}

/// How the text of a field or a request target is encoded: UTF-8 where it is valid, else Latin-1 (RFC 9110 §5.5).
package enum FieldEncoding: Sendable {
    case utf8
    case latin1

    package init(_ bytes: some Sequence<UInt8>) {
        self = UTF8Check.isValid(bytes) ? .utf8 : .latin1
    }

    /// Appends UTF-8 in this encoding; it stays UTF-8 where it has characters that are not in Latin-1.
    package func append(_ utf8: some Collection<UInt8>, to bytes: inout [UInt8]) {
        guard self == .latin1 else {
            bytes.append(contentsOf: utf8)
            return
        }
        let scalars = String(decoding: utf8, as: UTF8.self).unicodeScalars
        let latin1 = scalars.compactMap { UInt8(exactly: $0.value) }
        bytes.append(contentsOf: latin1.count == scalars.count ? latin1 : Array(utf8))
    }
}
