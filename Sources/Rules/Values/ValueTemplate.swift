import HTTPModel

/// A text of a rule with values in it: `${NAME}`. Texts in place of values are not searched for values again.
package struct ValueTemplate: Sendable {
    enum Piece: Sendable, Hashable {
        case text(String)
        /// `shown` is how the rule names it: `${NAME}`.
        case value(ValueSource, shown: String)
    }

    let pieces: [Piece]

    /// Reads the text of a scalar; `what` is for errors.
    package init?(_ node: Node, _ what: String, _ reader: inout ProfileReader) {
        guard let text = reader.text(node, what), let pieces = reader.pieces(text, node) else { return nil }
        self.pieces = pieces
    }

    init(pieces: [Piece]) { self.pieces = pieces }

    /// The whole text; `nil` if it has values.
    package var constant: String? {
        if case .text(let text) = pieces.first, pieces.count == 1 { return text }
        return pieces.isEmpty ? "" : nil
    }

    /// The text with the names of its values, for messages; or with `name` in place of each value.
    package func named(_ name: String? = nil) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .value(_, let shown): name ?? shown
            }
        }.joined()
    }

    package var valueNames: [String] { pieces.compactMap { if case .value(_, let name) = $0 { name } else { nil } } }

    /// The text before the first value; `nil` if there are no values.
    package var beginning: String? {
        if constant != nil { return nil }
        if case .text(let text)? = pieces.first { return text }
        return ""
    }

    /// The text with its values.
    package func filled(_ context: ValueContext) throws(ValueError) -> FilledText {
        var filling = FilledText.Filling()
        for piece in pieces {
            switch piece {
            case .text(let text): try filling.add(text)
            case .value(let source, let name):
                let value = try context.value(source, name)
                try filling.add(value.text, as: value.isSecret ? name : nil)
            }
        }
        return filling.text
    }

    /// The values alone, in order.
    package func values(_ context: ValueContext) throws(ValueError) -> [FilledText] {
        var values: [FilledText] = []
        for piece in pieces {
            guard case .value = piece else { continue }
            values.append(try ValueTemplate(pieces: [piece]).filled(context))
        }
        return values
    }

    /// A text as a template without values.
    package static func escaped(_ text: String) -> String { text.replacing("${", with: "$${") }
}

/// A text of a rule after its values were put in.
package struct FilledText: Sendable {
    /// In bytes.
    package static let limit = 16 << 20

    package let text: String
    /// For traces and messages: secret values stand as `${NAME}`.
    package let shown: String

    /// Whether it can be in a head: without CR, LF and NUL.
    package var fitsHead: Bool { text.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 } }

    struct Filling {
        private var plain = ""
        private var shown = ""

        mutating func add(_ text: String, as shown: String? = nil) throws(ValueError) {
            guard plain.utf8.count + text.utf8.count <= FilledText.limit else {
                throw ValueError("a text with its values is longer than \(FilledText.limit >> 20) MiB")
            }
            plain += text
            self.shown += shown ?? text
        }

        var text: FilledText { FilledText(text: plain, shown: shown) }
    }
}

/// Why a rule's text cannot be made: a sentence without a full stop.
package struct ValueError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension ProfileReader {
    /// Divides a text at its values; `nil` if one of them is wrong.
    mutating func pieces(_ text: String, _ node: Node) -> [ValueTemplate.Piece]? {
        if let refusesValues { return literal(node, "", refusesValues).map { $0.isEmpty ? [] : [.text($0)] } }
        var pieces: [ValueTemplate.Piece] = []
        var isValid = true
        forEachPart(of: text, node) { reader, part in
            switch part {
            case .text(let text): pieces.append(.text(text))
            case .name(let name, let offset):
                do throws(ValueSyntaxError) {
                    let source = try ValueSource(name, reader.definitions[Variable.key] ?? [:])
                    pieces.append(.value(source, shown: "${\(name)}"))
                    reader.valueUses.append(ValueUse(source: source, node: node, offset: offset + 2))
                } catch {
                    reader.error(error.message, at: node, offset: offset + 2 + error.offset)
                    isValid = false
                }
            case .open: isValid = false
            }
        }
        return isValid ? pieces : nil
    }

    /// The text of a scalar that cannot have values; `$${` is a literal `${`. `why` is for the error.
    package mutating func literal(
        _ node: Node,
        _ what: String,
        _ why: String = "values act in 'set', 'add: PLACE', answers, and the path and query of map-remote"
    ) -> String? {
        guard let text = text(node, what) else { return nil }
        guard text.contains("${") else { return text }
        var literal = ""
        forEachPart(of: text, node, refusing: "\(why); write $${ for a literal '${'") { _, part in
            if case .text(let text) = part { literal += text }
        }
        return literal
    }

    private enum TextPart {
        case text(String)
        case name(String, offset: Int)
        case open
    }

    private mutating func forEachPart(
        of text: String,
        _ node: Node,
        refusing refusal: String? = nil,
        _ body: (inout ProfileReader, TextPart) -> Void
    ) {
        var rest = text[...]
        var offset = 0
        func skip(_ count: Int) -> Substring {
            defer { (rest, offset) = (rest.dropFirst(count), offset + count) }
            return rest.prefix(count)
        }
        var literal = ""
        while let dollar = rest.firstIndex(of: "$") {
            literal += skip(rest.distance(from: rest.startIndex, to: dollar))
            if rest.hasPrefix("$${") {
                literal += skip(3).dropFirst()
                continue
            }
            guard rest.hasPrefix("${") else {
                literal += skip(1)
                continue
            }
            let column = node.quoteWidth + offset
            if let refusal {
                error(refusal, at: node, offset: column)
                literal += skip(2)
                continue
            }
            guard let length = ProfileReader.nameLength(rest.dropFirst(2)) else {
                error("the '${' has no '}'; write $${ for a literal '${'", at: node, offset: column)
                return body(&self, .open)
            }
            if !literal.isEmpty { body(&self, .text(literal)) }
            literal = ""
            body(&self, .name(String(skip(length + 3).dropFirst(2).dropLast()), offset: column))
        }
        if !literal.isEmpty || !rest.isEmpty { body(&self, .text(literal + rest)) }
    }

    /// The characters before the `}`, which may be in quotes, as in `${req.json."a}b"}`.
    private static func nameLength(_ text: Substring) -> Int? {
        var isQuoted = false
        var isEscaped = false
        for (length, character) in text.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = isQuoted
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == "}", !isQuoted {
                return length
            }
        }
        return nil
    }
}
