import Content
package import Expressions
import HTTPModel

/// What a rule searches for in a text: plain text, or a regular expression written `/…/`.
package struct TextPattern: Sendable {
    package typealias MatchLimitError = RegularExpression.MatchLimitError
    package typealias SyntaxError = RegularExpression.SyntaxError

    package let text: String
    private let expression: RegularExpression
    /// How many groups a replacement can refer to; `nil` for plain text, whose replacements are also plain.
    package let groupCount: Int?
    let isCaseSensitive: Bool
    let isWhole: Bool

    /// Reads a pattern, which must match a whole text if `isWhole`, and otherwise a part of it. Throws
    /// ``RegularExpression/SyntaxError`` with the offset in `text`.
    package init(_ text: String, isCaseSensitive: Bool, isWhole: Bool) throws(SyntaxError) {
        (self.text, self.isCaseSensitive, self.isWhole) = (text, isCaseSensitive, isWhole)
        guard let inner = TextPattern.expression(in: text) else {
            let (plain, isSensitive) = (TextPattern.plain(text), isCaseSensitive)
            expression = try .init(plain, isCaseSensitive: isSensitive, isWhole: isWhole, isLiteral: true)
            groupCount = nil
            return
        }
        do throws(SyntaxError) {
            expression = try RegularExpression(inner, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        } catch {
            throw SyntaxError(offset: error.offset + 1, message: error.message)
        }
        groupCount = expression.groupCount
    }

    /// The regular expression that is written `/…/`; `nil` for plain text.
    package static func expression(in text: String) -> String? {
        text.utf8.count > 2 && text.hasPrefix("/") && text.hasSuffix("/") ? String(text.dropFirst().dropLast()) : nil
    }

    /// A plain text without the backslash that keeps it from being read as a regular expression.
    package static func plain(_ text: String) -> String { text.hasPrefix("\\/") ? String(text.dropFirst()) : text }

    /// For messages: a regular expression with its slashes, a plain text in quotes; a long pattern is cut.
    package var description: String {
        let short = text.clipped(to: 60)
        return groupCount == nil ? "'\(short)'" : short
    }

    package func matches(_ text: String) throws(MatchLimitError) -> Bool {
        var isFound = false
        try expression.forEachMatch(in: text) { _, _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// The text with each match replaced, or only the first; `nil` if nothing matches.
    package func replacing(
        in text: String,
        with replacement: Replacement,
        onlyFirst: Bool
    ) throws(MatchLimitError) -> String? {
        try replacing(in: Array(text.utf8), with: replacement, onlyFirst: onlyFirst)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Like the function above, but for bytes, and in their encoding.
    package func replacing(
        in bytes: [UInt8],
        with replacement: Replacement,
        onlyFirst: Bool
    ) throws(MatchLimitError) -> [UInt8]? {
        let encoding = FieldEncoding(bytes)
        let text = String(fieldBytes: bytes)
        var result: [UInt8] = []
        var end = 0
        var isFound = false
        try expression.forEachMatch(in: text) { match, subject in
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

    /// The replacement of the first match; `nil` if nothing matches.
    package func expansion(of replacement: Replacement, in text: String) throws(MatchLimitError) -> String? {
        try expansion(of: replacement, in: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Like the function above, but for bytes, and in their encoding.
    package func expansion(of replacement: Replacement, in bytes: [UInt8]) throws(MatchLimitError) -> [UInt8]? {
        var result: [UInt8]?
        try expression.forEachMatch(in: String(fieldBytes: bytes)) { match, subject in
            var expansion: [UInt8] = []
            replacement.append(to: &expansion, match, subject, FieldEncoding(bytes))
            result = expansion
            return false
        }
        return result
    }

    /// Calls `body` with each match in `subject`, valid UTF-8, until `body` returns `false`; `body` must not keep the
    /// match. Throws ``RegularExpression/MatchLimitError`` if the limits are exceeded.
    package func forEachMatch(in subject: UnsafeRawBufferPointer, _ body: (TextMatch) -> Bool) throws(MatchLimitError) {
        try expression.forEachMatch(in: subject, body)
    }
}

/// The replacement of a match. `$1` to `$9` are groups, `$0` is the whole match, and `$$` a dollar sign; any other `$`
/// is also a dollar sign, as in `/$metadata`. For a plain pattern the replacement is the text as written.
package struct Replacement: Sendable {
    private enum Piece: Sendable {
        case text([UInt8])
        case group(Int)
        /// The n-th of the values, from 0.
        case value(Int)
    }

    private var pieces: [Piece] = []
    /// The highest group in the replacement; 0 if it has no groups.
    package private(set) var highestGroup = 0
    /// Whether the replacement uses a group or the whole match.
    package private(set) var hasGroups = false

    package init(_ text: String, hasGroups: Bool) {
        var literal: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if hasGroups, byte == UInt8(ascii: "$"), let next = rest.first, (0x30...0x39).contains(next) {
                rest.removeFirst()
                pieces += [.text(literal), .group(Int(next) - 0x30)]
                literal = []
                highestGroup = max(highestGroup, Int(next) - 0x30)
                self.hasGroups = true
            } else {
                if hasGroups, byte == UInt8(ascii: "$"), rest.first == byte { rest.removeFirst() }
                literal.append(byte)
            }
        }
        pieces.append(.text(literal))
    }

    /// A replacement with groups and values; values are not searched for groups.
    package init(_ template: ValueTemplate) {
        var count = 0
        for piece in template.pieces {
            switch piece {
            case .text(let text):
                let part = Replacement(text, hasGroups: true)
                pieces += part.pieces
                highestGroup = max(highestGroup, part.highestGroup)
                hasGroups = hasGroups || part.hasGroups
            case .value:
                pieces.append(.value(count))
                count += 1
            }
        }
    }

    package var isEmpty: Bool { !hasGroups && plain.isEmpty }

    /// The text if there is no match; groups are left out.
    package var plain: String { filled([]) }

    /// The text with captures in place of `$1` and so on; a group without a capture, such as `$0`, is left out.
    package func filled(_ captures: [String], values: [String] = []) -> String {
        let bytes = pieces.flatMap { piece in
            switch piece {
            case .text(let bytes): bytes
            case .group(let number): captures.indices.contains(number - 1) ? Array(captures[number - 1].utf8) : []
            case .value(let index): values.indices.contains(index) ? Array(values[index].utf8) : []
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the replacement of a match in `subject`, which is UTF-8, in an encoding.
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
            case .value: break
            }
        }
    }
}

/// The encoding of a field or a request target: UTF-8 if it is valid, otherwise Latin-1 (RFC 9110 §5.5).
package enum FieldEncoding: Sendable {
    case utf8
    case latin1

    package init(_ bytes: some Sequence<UInt8>) {
        self = UTF8Check.isValid(bytes) ? .utf8 : .latin1
    }

    /// Appends UTF-8 in this encoding; text with characters that are not in Latin-1 stays UTF-8.
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
