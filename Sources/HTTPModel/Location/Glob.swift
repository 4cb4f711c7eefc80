/// A wildcard pattern over UTF-8 text, anchored at both ends. `*` stands for any number of characters, including `/`;
/// `?` for one character; `[a-z]` for one of a set; `[!a-z]` or `[^a-z]` for one that is not in the set; `\` escapes.
/// Matching allocates nothing and takes at most pattern length × text length steps.
package struct Glob: Sendable, Hashable {
    /// In bytes; bounds the cost of a match.
    package static let maximumLength = 2_000

    package enum Element: Sendable, Hashable {
        case byte(UInt8)
        case one
        case many
        case set(CharacterSet)
    }

    package enum Shape: Sendable, Hashable {
        case everything, literal, prefix, suffix, infix, general
    }

    package let elements: [Element]
    package let shape: Shape
    /// The run of literal bytes; empty for `everything` and `general`.
    package let literalBytes: [UInt8]
    package let ignoresCase: Bool

    /// Throws ``GlobError`` for a malformed or too long pattern.
    package init(_ pattern: some StringProtocol, ignoringCase: Bool = false) throws(GlobError) {
        guard pattern.utf8.count <= Glob.maximumLength else {
            throw GlobError(offset: 0, message: "the pattern is longer than \(Glob.maximumLength) bytes")
        }
        let scalars = Array(pattern.unicodeScalars)
        var parser = GlobParser(scalars, ignoresCase: ignoringCase)
        do {
            self.init(elements: try parser.parse(), ignoringCase: ignoringCase)
        } catch {
            var before = String.UnicodeScalarView()
            before.append(contentsOf: scalars[..<error.offset])
            throw GlobError(offset: String(before).count, message: error.message, hint: error.hint)
        }
    }

    package init(literal text: some StringProtocol, ignoringCase: Bool = false) {
        self.init(elements: Glob.literalElements(text, ignoringCase), ignoringCase: ignoringCase)
    }

    package init(containing text: some StringProtocol, ignoringCase: Bool = false) {
        self.init(elements: [.many] + Glob.literalElements(text, ignoringCase) + [.many], ignoringCase: ignoringCase)
    }

    package init(beginning text: some StringProtocol) {
        self.init(elements: Glob.literalElements(text, false) + [.many], ignoringCase: false)
    }

    package var unanchored: Glob { Glob(elements: [.many] + elements + [.many], ignoringCase: ignoresCase) }

    private init(elements: [Element], ignoringCase: Bool) {
        var merged: [Element] = []
        merged.reserveCapacity(elements.count)
        for element in elements where !(element == .many && merged.last == .many) { merged.append(element) }
        self.elements = merged
        self.ignoresCase = ignoringCase
        (shape, literalBytes) = Glob.shape(of: merged)
    }

    private static func literalElements(_ text: some StringProtocol, _ ignoringCase: Bool) -> [Element] {
        text.utf8.map { .byte(ignoringCase ? FieldName.lower($0) : $0) }
    }

    private static func shape(of elements: [Element]) -> (Shape, [UInt8]) {
        let opens = elements.first == .many
        let closes = elements.last == .many
        if opens, elements.count == 1 { return (.everything, []) }
        var bytes: [UInt8] = []
        for element in elements.dropFirst(opens ? 1 : 0).dropLast(closes ? 1 : 0) {
            guard case .byte(let byte) = element else { return (.general, []) }
            bytes.append(byte)
        }
        return switch (opens, closes) {
        case (false, false): (.literal, bytes)
        case (false, true): (.prefix, bytes)
        case (true, false): (.suffix, bytes)
        case (true, true): (.infix, bytes)
        }
    }
}

package struct GlobError: Error, Sendable, Hashable {
    package var offset: Int
    package var message: String
    package var hint = ""
}

extension Glob {
    package var matchesEverything: Bool { shape == .everything }

    /// The only matching text, in lower case if case is ignored.
    package var literal: String? { shape == .literal ? String(decoding: literalBytes, as: UTF8.self) : nil }

    package var infix: String? { shape == .infix ? String(decoding: literalBytes, as: UTF8.self) : nil }

    /// The literal end of every match.
    package var literalSuffix: String {
        var tail: [UInt8] = []
        for case .byte(let byte) in elements.reversed().prefix(while: { if case .byte = $0 { true } else { false } }) {
            tail.append(byte)
        }
        return String(decoding: tail.reversed(), as: UTF8.self)
    }
}

extension Glob: CustomStringConvertible {
    package var description: String { text(of: elements[...]) }

    var innerDescription: String {
        let opens = elements.first == .many
        let inner = elements.dropFirst(opens ? 1 : 0).dropLast(elements.last == .many && elements.count > 1 ? 1 : 0)
        return text(of: inner)
    }

    private func text(of elements: ArraySlice<Element>) -> String {
        var bytes: [UInt8] = []
        for element in elements {
            switch element {
            case .byte(let byte):
                if Glob.isSpecial(byte) { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            case .one: bytes.append(UInt8(ascii: "?"))
            case .many: bytes.append(UInt8(ascii: "*"))
            case .set(let set): bytes.append(contentsOf: set.description.utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func isSpecial(_ byte: UInt8) -> Bool { "*?[\\".utf8.contains(byte) }

    package static func escaping(_ text: some StringProtocol) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.isASCII, isSpecial(UInt8(truncatingIfNeeded: scalar.value)) { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}

extension Glob {
    /// ASCII characters, or all other characters.
    package struct CharacterSet: Sendable, Hashable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0
        var isNegated = false

        var isEmpty: Bool { low == 0 && high == 0 }

        mutating func insert(_ byte: UInt8) {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
        }

        func contains(_ byte: UInt8) -> Bool {
            guard byte < 0x80 else { return isNegated }
            let bits = byte < 64 ? low : high
            return (bits >> UInt64(byte & 63) & 1 == 1) != isNegated
        }

        var single: UInt8? {
            guard !isNegated, low.nonzeroBitCount + high.nonzeroBitCount == 1 else { return nil }
            return UInt8(low != 0 ? low.trailingZeroBitCount : 64 + high.trailingZeroBitCount)
        }

        var description: String {
            var text = isNegated ? "[!" : "["
            var byte: UInt8 = 0
            while byte < 0x80 {
                var last = byte
                while last < 0x7F, contains(last + 1) != isNegated { last += 1 }
                if contains(byte) == isNegated {
                    byte += 1
                } else {
                    text += CharacterSet.escaped(byte)
                    if last > byte + 1 { text += "-" }
                    if last > byte { text += CharacterSet.escaped(last) }
                    byte = last + 1
                }
            }
            return text + "]"
        }

        private static func escaped(_ byte: UInt8) -> String {
            let character = String(Unicode.Scalar(byte))
            return "]-\\!^".contains(character) ? "\\" + character : character
        }
    }
}
