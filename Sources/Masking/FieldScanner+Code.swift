/// Code, in which an expression stands where a text has a value: `token = getToken(req)`, `password: this.form.password`,
/// `token: string`.
///
/// A body does not say that it is code: it may be a page of a manual, a string of JSON or a source. So the line around a value is
/// looked at. A word alone is an expression only where the line declares something or ends as a statement does.
extension FieldScanner {
    /// So much of a line is looked at, on both sides of a name.
    private static let longestLine = 240

    private static let roots: Set<String> = [
        "this", "self", "process", "req", "request", "res", "response", "config", "os", "env", "props", "state", "form",
        "ctx", "context", "params", "options", "opts", "window", "document", "event", "module", "settings", "rails",
        "import", "cls", "super", "args", "localstorage", "sessionstorage", "values",
    ]
    private static let operators: Set<String> = [
        "||", "??", "&&", "?", "+", "as", "or", "and", "if", "//", "#", "|", "=", "/*", "else", "in", "is", "not", ":",
        "->", "=>", "==", "!=", "===", "!==", "-", "*", "{", "?:", "..", "<<", ".",
    ]
    private static let literals: Set<String> = ["null", "none", "nil", "undefined", "true", "false", "void", "nan"]
    /// Calls whose last text is what they give where nothing is set.
    static let readers: Set<String> = [
        "get", "getenv", "env", "environ", "fetch", "config", "getproperty", "getstring", "getordefault", "lookupenv",
        "getvalue", "optional", "getenvordefault", "getpassword",
    ]

    enum Expression {
        /// The value is no code.
        case none
        /// It is code, and in it may be a text that is the value where there is no other: `process.env.SECRET || "cat"`.
        case code(fallback: Value?)
    }

    /// What an unquoted value is that begins at a place.
    mutating func expression(at start: Int, after name: Range<Int>, isColon: Bool) -> Expression {
        guard start < bytes.count, !isParameter(name) else { return .none }
        let line = start..<lineEnd(of: start)
        guard let first = bytes[line].first else { return .none }
        let text = UnsafeRawBufferPointer(rebasing: bytes[line])
        if first == UInt8(ascii: "`") {
            return text.contains(UInt8(ascii: "$")) && text.dropFirst().contains(UInt8(ascii: "`"))
                ? .code(fallback: nil) : .none
        }
        if isColon, isOfYAML(text) || isObject(text) { return .code(fallback: nil) }
        if first == UInt8(ascii: "$"), text.count > 3, text[1] == UInt8(ascii: "("), text[2] | 0x20 &- 0x61 < 26 {
            // What a shell puts there: $(cat …
            return text[2...].prefix(while: ValueTemplate.isOfIdentifier).count < text.count - 3
                && ValueTemplate.isWords(
                    UnsafeRawBufferPointer(rebasing: text[2...].prefix { $0 > 0x20 && $0 != 0x29 }),
                    "_-./"
                )
                ? .code(fallback: nil) : .none
        }
        if first == UInt8(ascii: "!") || first == UInt8(ascii: "("), text.count > 2, text[1] | 0x20 &- 0x61 < 26 {
            // (await x).y
            let word = word(in: text.dropFirst())
            if ["await", "new", "typeof", "yield"].contains(word) { return .code(fallback: nil) }
        }
        if isNumber(text), !isColon, isSpaced(name) { return .code(fallback: nil) }
        if first == UInt8(ascii: "(") || first == UInt8(ascii: "["), !isColon,
            isSpaced(name) || first == UInt8(ascii: "(")
        {
            // (user, token), [each.token for …
            let inside = UnsafeRawBufferPointer(rebasing: text.dropFirst())
            guard let path = path(in: inside), path.end < inside.count else { return .none }
            return ",.+( ]".utf8.contains(inside[path.end]) ? .code(fallback: nil) : .none
        }
        return code(text, at: start, after: name, isColon: isColon)
    }

    /// Whether a value is a number of one or two digits, as one of a list of constants.
    private func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        let digits = text.prefix { $0 &- 0x30 < 10 }
        return (1...2).contains(digits.count) && endsExpression(text[digits.endIndex...])
    }

    private mutating func code(
        _ text: UnsafeRawBufferPointer,
        at start: Int,
        after name: Range<Int>,
        isColon: Bool
    ) -> Expression {
        let first = word(in: text[...])
        let rest = text.dropFirst(first.utf8.count)
        if FieldScanner.literals.contains(first), endsExpression(rest) {
            return .code(fallback: fallback(in: rest, start))
        }
        if ["await", "async", "typeof", "yield", "lambda", "function"].contains(first),
            let next = rest.first, next == 0x20 || first == "function" && next == UInt8(ascii: "(")
        {
            return .code(fallback: nil)
        }
        if first == "new", rest.first == 0x20, rest.prefix(60).contains(UInt8(ascii: "(")) {
            return .code(fallback: nil)
        }
        if isType(text) { return .code(fallback: nil) }
        guard let path = path(in: text) else { return .none }
        var after = text[path.end...]
        // infoDictionary?["key"]
        if after.starts(with: "?[".utf8) { after = after.dropFirst() }
        switch after.first {
        case UInt8(ascii: "("): return call(path, text, start, isSpaced: !isColon && isSpaced(name))
        case UInt8(ascii: "["):
            // config[, and the index on the next line
            if after.dropFirst().allSatisfy({ $0 <= 0x20 }) { return .code(fallback: nil) }
            guard after.count > 2, let close = closingBracket(after), close > after.startIndex + 1 else { return .none }
            let index = after[after.startIndex + 1]
            let isWord =
                path.count > 1 || path.hasSigil || isSpaced(name) && !isColon
                || isStatement(name, text, isColon: isColon)
            let rest = text[(close + 1)...]
            guard "\"':\\&".utf8.contains(index) || isWord,
                endsExpression(rest) || rest.first.map({ "[(".utf8.contains($0) }) ?? true
            else { return .none }
            return .code(fallback: fallback(in: text[(close + 1)...], start))
        default: break
        }
        guard endsExpression(after) else { return .none }
        let last = text[path.last]
        let isKnown =
            path.hasArrow || (path.count > 1 || path.hasSigil) && FieldScanner.roots.contains(path.root)
            || path.root.hasPrefix("_")
            || path.count > 1 && names.kind(of: last) != nil
            || path.count > (kind(name) == .password ? 2 : 1) && text[..<path.end].contains { $0 &- 0x41 < 26 }
            || path.hasSigil && names.kind(of: last) != nil
            || !isColon && isSpaced(name) && kind(name) != .password
                && (path.count > 1 || last.contains(UInt8(ascii: "_")) && names.kind(of: last) != nil)
        guard
            isKnown || isStatement(name, text, isColon: isColon) || isArgument(last, after, name)
                || !isColon && isSpaced(name) && isSource
        else { return .none }
        return .code(fallback: fallback(in: after, start))
    }

    // MARK: Parts

    private struct Path {
        var end: Int
        var count = 0
        var root = ""
        var last: Range<Int>
        var hasArrow = false
        /// Whether it begins as a variable of PHP does.
        var hasSigil = false
    }

    /// Names with points or arrows between them, of words alone: `req.body.token`, `$request->token`.
    private func path(in text: UnsafeRawBufferPointer) -> Path? {
        var path = Path(end: 0, last: 0..<0)
        var place = 0
        while place < text.count, "$@*&".utf8.contains(text[place]), place < 2 { place += 1 }
        path.hasSigil = place > 0
        while true {
            let start = place
            while place < text.count, ValueTemplate.isOfIdentifier(text[place]) || text[place] == UInt8(ascii: "$") {
                place += 1
            }
            guard place > start, place - start <= 60, text[start] &- 0x30 >= 10 else { return nil }
            let word = UnsafeRawBufferPointer(rebasing: text[start..<place])
            let isFollowed =
                place + 1 < text.count
                ? "(.".utf8.contains(text[place]) && text[place + 1] > 0x20
                : place < text.count && text[place] == UInt8(ascii: "(")
            guard isIdentifier(word, isFollowed: isFollowed, isFirst: path.count == 0) else { return nil }
            path.count += 1
            if path.count == 1 { path.root = String(decoding: word, as: UTF8.self).lowercased() }
            (path.end, path.last) = (place, start..<place)
            let separators: [StaticString] = ["?.", "->", "::", "!.", "."]
            let rest = text[place...]
            guard
                let separator = separators.first(where: { sign in
                    rest.starts(with: UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount))
                }), place + separator.utf8CodeUnitCount < text.count
            else { return path }
            let next = text[place + separator.utf8CodeUnitCount]
            guard ValueTemplate.isOfIdentifier(next) || next == UInt8(ascii: "$") else { return path }
            if separator.utf8CodeUnitCount > 1 { path.hasArrow = true }
            place += separator.utf8CodeUnitCount
        }
    }

    /// Whether a name is words; of a call it may have a number, as `sha256`, `b64encode` and `bin2hex` do.
    private func isIdentifier(_ word: UnsafeRawBufferPointer, isFollowed: Bool, isFirst: Bool) -> Bool {
        let digits = word.count { $0 &- 0x30 < 10 }
        if digits > 0 {
            let isAtEnd = word.reversed().prefix { $0 &- 0x30 < 10 }.count == digits
            let isConstant = word.contains(UInt8(ascii: "_")) && word.allSatisfy { $0 &- 0x61 >= 26 }
            guard digits <= 3, isFollowed || isConstant,
                isAtEnd || isConstant || !isFirst || word.contains(UInt8(ascii: "_")) || digits < 3 && isFollowed,
                digits * 3 <= word.count || isAtEnd
            else { return false }
        }
        return word.split(separator: UInt8(ascii: "_")).allSatisfy { part in
            part.count < 6 || digits > 0 || !ValueShape.isInPieces(UnsafeRawBufferPointer(rebasing: part), tenths: 4)
        }
    }

    /// Where the bracket closes that a text begins with.
    private func closingBracket(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
        var depth = 0
        return text.indices.first { place in
            if text[place] == UInt8(ascii: "[") { depth += 1 }
            if text[place] == UInt8(ascii: "]") { depth -= 1 }
            return depth == 0
        }
    }

    func word(in text: Slice<UnsafeRawBufferPointer>) -> String {
        let word = text.prefix(16).prefix { $0 | 0x20 &- 0x61 < 26 }
        return String(decoding: word, as: UTF8.self).lowercased()
    }

    func lineEnd(of start: Int) -> Int {
        let limit = min(bytes.count, start + FieldScanner.longestLine)
        var place = start
        while place < limit, !isLineEnd(place) {
            // The end of a line in a string.
            if bytes[place] == UInt8(ascii: "\\"), place + 1 < limit, "nr".utf8.contains(bytes[place + 1]) {
                return place
            }
            place += 1
        }
        return place
    }

    /// Whether an expression can end before a text.
    private func endsExpression(_ rest: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let next = rest.first else { return true }
        if ";,)}]<\\\"'".utf8.contains(next) { return true }
        guard next == 0x20 || next == 0x09 else {
            return next == UInt8(ascii: ".") || rest.starts(with: "->".utf8)
                || next == UInt8(ascii: "?") && rest.count > 1 && rest[rest.startIndex + 1] <= 0x20
        }
        let word = rest.drop { $0 <= 0x20 }.prefix(8).prefix { $0 > 0x20 && !"\"'`$(;,)".utf8.contains($0) }
        return word.isEmpty || FieldScanner.operators.contains(String(decoding: word, as: UTF8.self))
    }

    /// A call ends on its line, or its arguments follow on the next ones.
    private func call(_ path: Path, _ text: UnsafeRawBufferPointer, _ start: Int, isSpaced: Bool) -> Expression {
        let arguments = text[(path.end + 1)...]
        let last = arguments.last { $0 > 0x20 }
        guard let close = arguments.lastIndex(of: UInt8(ascii: ")")) else {
            let isOpen =
                arguments.first.map { "\"'\\&".utf8.contains($0) } ?? true
                || last.map { "({[,%+|&".utf8.contains($0) } ?? true
            return isOpen ? .code(fallback: nil) : .none
        }
        let isPlain = path.count == 1 && !path.hasSigil
        let inside = UnsafeRawBufferPointer(rebasing: text[(path.end + 1)..<close])
        // hunter(22)! is a password.
        guard !isPlain || endsExpression(text[(close + 1)...]) else { return .none }
        guard
            inside.isEmpty || !isPlain || isSpaced || inside.contains(where: { "\"'.,(_ =$[{:\\&".utf8.contains($0) })
                || inside.allSatisfy({ $0 | 0x20 &- 0x61 < 26 })
        else { return .none }
        let name = String(decoding: text[path.last], as: UTF8.self).lowercased()
        if FieldScanner.readers.contains(name), let value = lastString(in: path.end + 1..<close, text, start) {
            return .code(fallback: value)
        }
        return .code(fallback: fallback(in: text[(close + 1)...], start))
    }

    /// The second text among the arguments of a call.
    private func lastString(in arguments: Range<Int>, _ text: UnsafeRawBufferPointer, _ start: Int) -> Value? {
        guard let comma = text[arguments].firstIndex(of: UInt8(ascii: ",")),
            let open = text[comma..<arguments.upperBound].firstIndex(where: { "\"'".utf8.contains($0) })
        else { return nil }
        return string(at: start + open - backslashes(before: open, in: text))
    }

    private func backslashes(before place: Int, in text: UnsafeRawBufferPointer) -> Int {
        text[..<place].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
    }

    private func string(at place: Int) -> Value? {
        guard let (content, quote) = openingQuote(at: place) else { return nil }
        return Value(range: content..<end(of: quote, from: content), quote: quote)
    }

    /// The text behind `||`, `??` or `or`, which is the value where the expression has none.
    private func fallback(in rest: Slice<UnsafeRawBufferPointer>, _ start: Int) -> Value? {
        let trimmed = rest.drop { $0 <= 0x20 }
        guard let sign = ["||", "??", "?:", "or "].first(where: { trimmed.starts(with: $0.utf8) }) else { return nil }
        let value = trimmed.dropFirst(sign.utf8.count).drop { $0 <= 0x20 }
        return value.isEmpty ? nil : string(at: start + value.startIndex)
    }
}
