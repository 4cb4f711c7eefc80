/// What the line around a value, and the text, say about it: that it is a type, a statement, of a source.
extension FieldScanner {
    private static let types: Set<String> = [
        "string", "str", "number", "int", "integer", "bool", "boolean", "any", "unknown", "object", "optional",
        "option",
        "char", "bytes", "bytearray", "varchar", "array", "list", "map", "dict", "record", "id", "uuid", "guid", "date",
        "float", "double", "void", "never", "arc", "box", "rc", "vec", "secretstr", "secretstring", "securestring",
        "union", "literal", "promise", "readonly", "nonnull", "nullable", "text", "mapped", "final", "partial", "keyof",
        "required", "int32", "int64", "uint32", "uint64", "nsstring", "stringvalue", "byte", "long",
    ]
    private static let declarations: Set<String> = [
        "const", "let", "var", "val", "final", "static", "public", "private", "protected", "readonly", "export", "def",
        "fun", "func", "function", "lateinit", "override", "fn",
    ]

    /// Words that begin lines of sources.
    private static let signsOfSource: [StaticString] = [
        "\nimport ", "\ndef ", "\n    return ", "\nclass ", "\nfrom ", "\n#include ", "\nfunction ", "\nconst ",
        "\nfunc ",
        "\npackage ", "\nuse ", "\nexport ", "\nlet ", "\n    if ", "\n  if ", "\n  return ", "\n    def ",
        "\n    self.",
        "\n  const ", "\n    let ", "\n    for ", "\n  for ",
    ]

    /// Whether a text is the source of a program, by the words that begin its lines.
    static func isSource(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let beginning = UnsafeRawBufferPointer(rebasing: bytes.prefix(32 << 10))
        var count = 0
        for sign in signsOfSource {
            let sign = UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount)
            var place = 0
            while let first = beginning[place...].firstIndex(of: sign[0]) {
                if beginning[first...].starts(with: sign) {
                    count += 1
                    break
                }
                place = first + 1
            }
            if count >= 3 { return true }
        }
        return false
    }

    /// `string`, `String!`, `[String!]!`, `Option<String>`, `&'a str`, `string | null`.
    func isType(_ text: UnsafeRawBufferPointer) -> Bool {
        let text = text.drop { "[&*?".utf8.contains($0) }
        let name = text.prefix(20).prefix { ValueShape.isLetterOrDigit($0) }
        var (word, rest) = (name, text.dropFirst(name.count))
        if text.first == UInt8(ascii: "'"), let space = text.prefix(12).firstIndex(of: 0x20) {
            word = text[(space + 1)...].prefix(20).prefix { ValueShape.isLetterOrDigit($0) }
            rest = text[(space + 1)...].dropFirst(word.count)
        }
        guard FieldScanner.types.contains(String(decoding: word, as: UTF8.self).lowercased()) else { return false }
        guard let next = rest.first else { return true }
        // Optional. What it is for …
        if next == UInt8(ascii: "."), rest.count > 1, rest[rest.startIndex + 1] == 0x20 { return true }
        if "[<".utf8.contains(next) { return rest.dropFirst().prefix(60).contains { "]>".utf8.contains($0) } }
        let end = rest.drop { "!?]".utf8.contains($0) }
        guard let sign = end.first else { return true }
        if ",;)".utf8.contains(sign) { return true }
        return sign <= 0x20
            && (end.drop { $0 <= 0x20 }.first.map { "|=#/{@".utf8.contains($0) } ?? true)
    }

    /// A comment, a tag or another value of YAML: `# none`, `!Ref Password`, `*password`.
    func isOfYAML(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, text.count > 2 else { return false }
        switch first {
        case UInt8(ascii: "#"): return text[1] <= 0x20
        case UInt8(ascii: ":"):
            // :class:`Credentials` of reStructuredText
            return text.dropFirst().prefix(20).firstIndex(of: UInt8(ascii: "`")).map { text[$0 - 1] == first } ?? false
        case UInt8(ascii: "!"):
            let tag = text.dropFirst().prefix { $0 | 0x20 &- 0x61 < 26 }
            let rest = text[tag.endIndex...]
            return tag.count > 1 && rest.first == 0x20
                && ValueTemplate.isWords(UnsafeRawBufferPointer(rebasing: rest), " _-.|>${}:/'\"")
                || tag.count > 1 && rest.first == 0x20 && rest.dropFirst().allSatisfy { "|>-".utf8.contains($0) }
        case UInt8(ascii: "*"):
            let alias = UnsafeRawBufferPointer(rebasing: text.dropFirst().prefix { $0 > 0x20 })
            return alias.count == text.count - 1 && ValueTemplate.isWords(alias, "_-")
                && (names.kind(of: alias) != nil || alias.contains { $0 == UInt8(ascii: "_") })
        default: return false
        }
    }

    /// Whether what stands in braces is an object of words: `{ type: String, required: true },`.
    func isObject(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "["), text.contains(UInt8(ascii: ":"))
        else {
            return false
        }
        return ValueTemplate.isWords(text, " :,{}[]'\"_().;")
    }

    /// Whether the line of a value declares something, or ends as a statement or a member does.
    func isStatement(_ name: Range<Int>, _ text: UnsafeRawBufferPointer, isColon: Bool) -> Bool {
        let label = bytes[name]
        if label.first == UInt8(ascii: "$") || ["this.", "self."].contains(where: { label.starts(with: $0.utf8) }) {
            return true
        }
        var start = name.lowerBound
        while start > 0, name.lowerBound - start < 80, !isLineEnd(start - 1), !has("\\n", endingAt: start) {
            start -= 1
        }
        let before = UnsafeRawBufferPointer(rebasing: bytes[start..<name.lowerBound].drop { $0 <= 0x20 })
        let end = text.last { $0 > 0x20 }
        // export PASSWORD=… of a shell has a text.
        if FieldScanner.declarations.contains(word(in: before[...])),
            isColon || isSpaced(name) || end == UInt8(ascii: ";")
        {
            return true
        }
        let next = text.drop { $0 > 0x20 }.drop { $0 <= 0x20 }.prefix(3).prefix { $0 > 0x20 }
        let isJoined = FieldScanner.joins.contains(String(decoding: next, as: UTF8.self))
        guard !isColon else {
            return end == UInt8(ascii: ",") || end == UInt8(ascii: ";") || isJoined && text[0] &- 0x41 < 26
        }
        // An argument on a line of its own; a line of settings ends in no comma.
        guard isSpaced(name) else { return end == UInt8(ascii: ",") && before.isEmpty && !text.contains(0x20) }
        // styles[token] = style
        if label.last == UInt8(ascii: "]") { return true }
        // username, password = credentials
        if end == UInt8(ascii: ";") || before.last(where: { $0 > 0x20 }) == UInt8(ascii: ",") { return true }
        return isJoined
    }

    /// What stands between two operands.
    private static let joins: Set<String> = [
        "+", "||", "??", "&&", "if", "or", "and", "?", "%", "==", "!=", "*", "<<", "|",
    ]

    /// Whether a space stands between a name and its sign, as in code more often than in settings.
    func isSpaced(_ name: Range<Int>) -> Bool {
        name.upperBound < bytes.count && bytes[name.upperBound] == 0x20
    }

    /// Whether a value may be a variable that is given to a call: `start(task_token=callback_id, …)`. It stands in other places, too.
    func isVariable(_ value: Range<Int>) -> Bool {
        guard syntax == .text, value.upperBound < bytes.count, ",)".utf8.contains(bytes[value.upperBound]) else {
            return false
        }
        return bytes[value].contains(UInt8(ascii: "_"))
            && bytes[value].allSatisfy { $0 &- 0x61 < 26 || $0 == UInt8(ascii: "_") }
    }

    /// Whether a word is an argument of the name that it is given to: `login(token=api_token)`.
    func isArgument(
        _ word: Slice<UnsafeRawBufferPointer>,
        _ after: Slice<UnsafeRawBufferPointer>,
        _ name: Range<Int>
    )
        -> Bool
    {
        guard let next = after.first, next == UInt8(ascii: ")") || next == UInt8(ascii: ",") else { return false }
        let label = String(decoding: bytes[innermost(name)], as: UTF8.self).lowercased()
        let value = String(decoding: word, as: UTF8.self).lowercased()
        let isConstant = word.contains(UInt8(ascii: "_")) && word.allSatisfy { $0 &- 0x61 >= 26 }
        return value == label || value.hasSuffix("_" + label) || isConstant
    }
}
