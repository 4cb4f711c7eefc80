/// A value that says where a secret is put later: `${TOKEN}`, `{{ token }}`, `<your token>`, `YOUR_TOKEN`.
///
/// Only a whole value is one, of words alone: `${Tr0ub4dor}` and `P{x}9!aQ` are passwords.
enum ValueTemplate {
    /// What stands around a template.
    private struct Frame {
        let open: StaticString
        let close: StaticString
        /// What it may have inside beside letters and digits.
        let signs: StaticString

        init(_ open: StaticString, _ close: StaticString, _ signs: StaticString) {
            (self.open, self.close, self.signs) = (open, close, signs)
        }
    }

    private static let codeSigns: StaticString = " \t._-'\"()[]|,/:$@>=?;&+"
    /// The longer ones first.
    private static let frames = [
        Frame("${{", "}}", codeSigns), Frame("{{{", "}}}", codeSigns), Frame("{{", "}}", codeSigns),
        Frame("<%", "%>", codeSigns), Frame("<?", "?>", codeSigns), Frame("{%", "%}", codeSigns),
        Frame("[[", "]]", codeSigns), Frame("***", "***", " _-"), Frame("%env(", ")%", "_-:"),
        Frame("${", "}", " ._-?:/@"), Frame("$(", ")", " ._-/'\""), Frame("#{", "}", " ._-[]'\":"),
        Frame("@{", "}", " ._-"), Frame("%{", "}", " ._-"), Frame("%(", ")s", "_-"), Frame("{", "}", " ._-!:"),
        Frame("<", ">", " ._-:/|',()"), Frame("[", "]", " ._-:"), Frame("__", "__", "_"),
    ]
    /// What one name alone has around it, which a password may begin with.
    private static let weakFrames = [
        Frame("@@", "@@", "_-."), Frame("@", "@", "_-."), Frame("%", "%", "_"), Frame("$", "", "_"),
        Frame(":", "", "_-"),
        Frame("(", ")", " -"),
    ]
    private static let names = SecretNames()
    private static let longest = 160

    /// Whether a value is one as a whole.
    static func isOne(_ value: UnsafeRawBufferPointer) -> Bool {
        guard (2...longest).contains(value.count), let first = value.first else { return false }
        if ValueShape.isLetterOrDigit(first) { return isDocumentation(value) || isOfEnvironment(value) }
        return isFramed(value) || isShortVariable(value)
    }

    /// Whether a value is a variable of a shell with a short name: `$PW`, `$1`.
    private static func isShortVariable(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count <= 5 && value[0] == UInt8(ascii: "$")
            && value.dropFirst().allSatisfy { $0 &- 0x41 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "_") }
    }

    /// Whether a value is a template by the signs around it.
    static func isFramed(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, value.count <= longest else { return false }
        return "$%<[{#@_*:(".utf8.contains(first) && (end(in: value) == value.count || isComposed(value))
    }

    /// Whether a value is templates with signs between them: `<user>:<password>`, `%s:%s`, `{0}-{1}`.
    private static func isComposed(_ value: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place < value.count {
            let rest = UnsafeRawBufferPointer(rebasing: value[place...])
            if rest.count > 1, rest[0] == UInt8(ascii: "%"), "sdrfxu@".utf8.contains(rest[1]) {
                place += 2
            } else if rest[0] == UInt8(ascii: "{"), let close = rest.prefix(4).firstIndex(of: UInt8(ascii: "}")),
                rest[1..<close].allSatisfy({ $0 &- 0x30 < 10 })
            {
                place += close + 1
            } else if "{<$#[".utf8.contains(rest[0]), let end = end(in: rest) {
                place += end
            } else if place > 0, ":/-_.@ ".utf8.contains(rest[0]) {
                place += 1
            } else {
                return false
            }
        }
        return true
    }

    /// Whether a value names a variable of the environment: `env:API_KEY`.
    private static func isOfEnvironment(_ value: UnsafeRawBufferPointer) -> Bool {
        ["process.env.", "env:", "env."].contains { value.starts(with: $0.utf8) }
            && isWords(UnsafeRawBufferPointer(rebasing: value.drop { $0 &- 0x61 < 26 || ".:".utf8.contains($0) }), "_")
    }

    /// Where a template ends with which a text begins; `nil` where none does.
    static func end(in text: UnsafeRawBufferPointer) -> Int? {
        for frame in frames {
            guard let range = inner(of: frame, in: text) else { continue }
            let content = UnsafeRawBufferPointer(rebasing: text[range])
            return isWords(content, frame.signs) || content.allSatisfy({ $0 == 0x20 })
                ? range.upperBound + frame.close.utf8CodeUnitCount : nil
        }
        for frame in weakFrames {
            guard let range = inner(of: frame, in: text) else { continue }
            let content = UnsafeRawBufferPointer(rebasing: text[range])
            return isWords(content, frame.signs) && (ValueShape.isOrdinaryWord(content) || isName(content))
                ? range.upperBound + frame.close.utf8CodeUnitCount : nil
        }
        return nil
    }

    private static func inner(of frame: Frame, in text: UnsafeRawBufferPointer) -> Range<Int>? {
        let (open, close) = (buffer(frame.open), buffer(frame.close))
        guard text.starts(with: open) else { return nil }
        let start = open.count
        let limit = min(text.count, longest)
        guard !close.isEmpty else {
            let end = text[start..<limit].firstIndex { !isOfIdentifier($0) } ?? limit
            return end > start ? start..<end : nil
        }
        var place = start
        while place + close.count <= limit {
            if text[place..<place + close.count].elementsEqual(close) { return start..<place }
            place += 1
        }
        return nil
    }

    private static func buffer(_ text: StaticString) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    static func isOfIdentifier(_ byte: UInt8) -> Bool { ValueShape.isLetterOrDigit(byte) || byte == UInt8(ascii: "_") }

    /// Whether a name is that of a secret, or of a variable: `TOKEN`, `DB_HOST`.
    private static func isName(_ value: UnsafeRawBufferPointer) -> Bool {
        if names.kind(of: value) != nil { return true }
        return value.dropFirst().dropLast().contains(UInt8(ascii: "_"))
            && (value.allSatisfy { $0 &- 0x61 >= 26 } || value.allSatisfy { $0 &- 0x41 >= 26 })
    }

    /// Whether a text is words with signs between them: no word has digits within, or letters as chance mixes them.
    static func isWords(_ value: UnsafeRawBufferPointer, _ signs: StaticString) -> Bool {
        let signs = buffer(signs)
        var (place, hasWord) = (0, false)
        while place < value.count {
            guard ValueShape.isLetterOrDigit(value[place]) else {
                // Words may be in any language.
                guard signs.contains(value[place]) || value[place] >= 0x80 else { return false }
                place += 1
                continue
            }
            let start = place
            while place < value.count, ValueShape.isLetterOrDigit(value[place]) { place += 1 }
            let word = UnsafeRawBufferPointer(rebasing: value[start..<place])
            if word.allSatisfy({ $0 &- 0x30 < 10 }) {
                guard word.count <= 4 else { return false }
            } else {
                guard isWord(word) else { return false }
                hasWord = true
            }
        }
        return hasWord
    }

    /// Whether letters are a word or a few that are written as one; a number may follow capital letters.
    private static func isWord(_ word: UnsafeRawBufferPointer) -> Bool {
        let digits = word.reversed().prefix { $0 &- 0x30 < 10 }.count
        let letters = word.dropLast(digits)
        guard digits == 0 || digits <= 2 && letters.allSatisfy({ $0 &- 0x41 < 26 }) else { return false }
        return letters.allSatisfy { $0 &- 0x30 >= 10 }
            && (letters.count < 6 || !ValueShape.isInPieces(UnsafeRawBufferPointer(rebasing: letters)))
    }

    private static let beginnings: Set<String> = [
        "insert", "replace", "enter", "paste", "put", "add", "fill", "change", "set",
    ]
    private static let seconds: Set<String> = ["me", "this", "with", "your", "it", "in", "by", "api", "a", "the", "my"]
    private static let words: Set<String> = [
        "changeme", "replaceme", "changethis", "placeholder", "yourpassword", "yourtoken", "yourapikey", "yoursecret",
        "yourkey", "youraccesstoken", "yourclientsecret", "yoursecretkey", "yourapitoken",
    ]

    /// Whether a value is what a document has in place of a secret: `YOUR_API_KEY`, `your-token-here`, `changeme`.
    private static func isDocumentation(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= 60, value.count >= 8, isWords(value, "-_. ") else { return false }
        let text = String(decoding: value, as: UTF8.self).lowercased()
        let parts = text.split { "-_. ".contains($0) }
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return words.contains(text) }
        return first == "your" || parts.count > 2 && (last == "here" || parts.contains("your"))
            || beginnings.contains(String(first)) && seconds.contains(String(parts[1]))
            || beginnings.contains(String(first)) && last == "here"
    }
}
