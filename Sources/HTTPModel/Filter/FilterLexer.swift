struct FilterText: Sendable, Hashable {
    private(set) var plain = ""
    /// Only `*` and `?` outside quotes are wildcards.
    private(set) var pattern = ""
    /// The column of each scalar of `plain`, and the one after the last.
    private(set) var columns: [Int] = []
    private(set) var endColumn = 0
    private(set) var wildcards: Set<Int> = []

    var column: Int { columns.first ?? endColumn }
    var isEmpty: Bool { plain.isEmpty }
    var hasWildcard: Bool { !wildcards.isEmpty }
    private(set) var hasStar = false
    private(set) var hasLiterals = false
    /// The index in `plain` of the slash that begins a regular expression, which extends to the end.
    private(set) var expressionStart: Int?

    init(at column: Int) { endColumn = column }

    mutating func beginExpression() { expressionStart = columns.count }

    mutating func beginLiteral() { hasLiterals = true }

    mutating func append(_ character: Unicode.Scalar, isLiteral: Bool, at column: Int) {
        plain.unicodeScalars.append(character)
        let isWildcard = !isLiteral && (character == "*" || character == "?")
        if isWildcard { wildcards.insert(columns.count) }
        if isWildcard, character == "*" { hasStar = true }
        let written = isWildcard ? String(character) : Glob.escaping(String(character))
        pattern.unicodeScalars.append(contentsOf: written.unicodeScalars)
        columns.append(column)
        endColumn = column + 1
    }
}

extension FilterText {
    func part(_ range: Range<Int>) -> FilterText {
        var part = FilterText(at: range.lowerBound < columns.count ? columns[range.lowerBound] : endColumn)
        for (offset, character) in plain.unicodeScalars.enumerated() where range.contains(offset) {
            if offset == expressionStart { part.beginExpression() }
            part.append(character, isLiteral: !wildcards.contains(offset), at: columns[offset])
        }
        return part
    }
}

struct FilterToken: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case open, close, and, or, not
        /// `isBare` if nothing was quoted or escaped.
        case word(FilterText, isBare: Bool)
        case term(key: String, alternatives: [FilterText])
        case place(Place, alternatives: [FilterText])
        case end
    }

    var kind: Kind
    var column: Int
}

/// Splits an expression into tokens. It reads scalars, so that a combining mark cannot hide a quotation mark or a
/// parenthesis.
struct FilterLexer {
    private let expression: String
    private let characters: [Unicode.Scalar]
    /// The column (in characters from 1) of each scalar, and of the end.
    private let columns: [Int]
    private var position = 0

    init(_ expression: String) {
        self.expression = expression
        characters = Array(expression.unicodeScalars)
        var columns: [Int] = []
        var column = 1
        for character in expression {
            columns += character.unicodeScalars.map { _ in column }
            column += 1
        }
        self.columns = columns + [column]
    }

    mutating func next() throws(FilterError) -> FilterToken {
        while position < characters.count, characters[position].properties.isWhitespace { position += 1 }
        let column = columns[position]
        guard position < characters.count else { return FilterToken(kind: .end, column: column) }
        let kind: FilterToken.Kind
        switch characters[position] {
        case "(": kind = .open
        case ")": kind = .close
        case "!", "-": kind = .not
        default: return FilterToken(kind: try wordOrTerm(), column: column)
        }
        position += 1
        return FilterToken(kind: kind, column: column)
    }

    private func error(at position: Int, _ message: String, _ suggestion: String? = nil) -> FilterError {
        FilterError(expression: expression, column: columns[position], message: message, suggestion: suggestion)
    }

    private mutating func wordOrTerm() throws(FilterError) -> FilterToken.Kind {
        if let place = try takePlace() {
            return .place(place, alternatives: try alternatives(place.part.expressionForm))
        }
        if let key = takeKey() {
            return .term(key: key, alternatives: try alternatives(Filter.key(key.lowercased())?.expressionForm))
        }
        let start = position
        let word = try text(endsAtComma: false)
        let isBare = word.plain.unicodeScalars.elementsEqual(characters[start..<position])
        guard isBare else { return .word(word, isBare: false) }
        return switch word.plain {
        case "and", "AND": .and
        case "or", "OR": .or
        case "not", "NOT": .not
        default: .word(word, isBare: true)
        }
    }

    private mutating func alternatives(_ form: FilterKey.ExpressionForm?) throws(FilterError) -> [FilterText] {
        var alternatives = [try text(endsAtComma: true, form)]
        while position < characters.count, characters[position] == "," {
            position += 1
            alternatives.append(try text(endsAtComma: true, form))
        }
        return alternatives
    }

    private mutating func takePlace() throws(FilterError) -> Place? {
        let beginnings = ["req.", "res.", "sent.", "message#", "graphql.", "grpc."]
        guard beginnings.contains(where: { characters[position...].starts(with: $0.unicodeScalars) }) else {
            return nil
        }
        var reader = PlaceReader(characters, from: position)
        do throws(PlaceError) {
            let place = try reader.place()
            if reader.isAtEnd { return nil }
            guard characters[reader.position] == ":" else {
                guard hasColon(from: reader.position) else { return nil }
                throw reader.error("the place ends before this", "\(place): is followed by a value")
            }
            position = reader.position + 1
            return place
        } catch {
            guard hasColon(from: min(error.offset, characters.count)) else { return nil }
            let quoting = "quote the word to search the URL for it"
            throw self.error(at: error.offset, error.message, error.suggestion.map { "\($0) (\(quoting))" } ?? quoting)
        }
    }

    private func hasColon(from position: Int) -> Bool {
        characters[position...].prefix { !$0.properties.isWhitespace && $0 != "(" && $0 != ")" }.contains(":")
    }

    /// Letters and hyphens before a colon, unless `//` follows, as after a URL's scheme.
    private mutating func takeKey() -> String? {
        var index = position
        while index < characters.count, isKeyScalar(characters[index]) { index += 1 }
        guard index > position, index < characters.count, characters[index] == ":" else { return nil }
        if index + 2 < characters.count, characters[index + 1] == "/", characters[index + 2] == "/" { return nil }
        let key = characters[position..<index].map(String.init).joined()
        position = index + 1
        return key
    }

    private func isKeyScalar(_ scalar: Unicode.Scalar) -> Bool {
        "a"..."z" ~= scalar || "A"..."Z" ~= scalar || scalar == "-"
    }

    private mutating func text(
        endsAtComma: Bool,
        _ form: FilterKey.ExpressionForm? = nil
    ) throws(FilterError) -> FilterText {
        var text = FilterText(at: columns[position])
        if let form, takeExpression(into: &text, form) { return text }
        while position < characters.count {
            let character = characters[position]
            let isEnd = character.properties.isWhitespace || character == "(" || character == ")"
            if isEnd || endsAtComma && character == "," { break }
            switch character {
            case "\"": try quoted(into: &text)
            case "\\":
                guard position + 1 < characters.count else {
                    throw error(at: position, "'\\' ends the expression", "write \\\\ for a backslash")
                }
                text.beginLiteral()
                text.append(characters[position + 1], isLiteral: true, at: columns[position])
                position += 2
            default:
                let endsName = form == .field && character == ":" && !text.isEmpty
                let isFirst = endsName && !text.plain.unicodeScalars.dropFirst().contains(":")
                text.append(character, isLiteral: false, at: columns[position])
                position += 1
                if isFirst, takeExpression(into: &text, .field) { return text }
            }
        }
        return text
    }

    private mutating func takeExpression(into text: inout FilterText, _ form: FilterKey.ExpressionForm) -> Bool {
        guard let end = form.end(from: position, in: characters) else { return false }
        text.beginExpression()
        for index in position...end { text.append(characters[index], isLiteral: true, at: columns[index]) }
        position = end + 1
        return true
    }

    private mutating func quoted(into text: inout FilterText) throws(FilterError) {
        let open = position
        position += 1
        text.beginLiteral()
        while position < characters.count, characters[position] != "\"" {
            let column = columns[position]
            var character = characters[position]
            if character == "\\", position + 1 < characters.count {
                position += 1
                switch characters[position] {
                case "n": character = "\n"
                case "r": character = "\r"
                case "t": character = "\t"
                default: character = characters[position]
                }
            }
            text.append(character, isLiteral: true, at: column)
            position += 1
        }
        guard position < characters.count else { throw error(at: open, "the quotation mark is not closed") }
        position += 1
    }
}
