import Content

/// A value of a profile as JSON, with the types of YAML 1.2, whose texts may have values in them.
package struct JSONTemplate: Sendable {
    package static let deepest = 100

    private enum Piece: Sendable {
        /// JSON, or a part of it.
        case json(String)
        /// With the type that it has in JSON.
        case value(ValueSource, shown: String)
        case inString(ValueSource, shown: String)
    }

    private var pieces: [Piece] = []

    /// `what` is for errors.
    package init?(_ node: Node, _ what: String, _ reader: inout ProfileReader) {
        let before = reader.issues.count
        add(node, what, 0, &reader)
        if reader.issues[before...].contains(where: { $0.severity == .error }) { return nil }
    }

    /// The JSON; `nil` if it has values.
    package var constant: String? {
        guard case .json(let text)? = pieces.first, pieces.count == 1 else { return nil }
        return text
    }

    /// As JSON.
    package func filled(_ context: ValueContext) throws(ValueError) -> FilledText {
        var filling = FilledText.Filling()
        for piece in pieces {
            switch piece {
            case .json(let text): try filling.add(text)
            case .value(let source, let name):
                let value = try context.value(source, name)
                try filling.add(value.json, as: value.isSecret ? name : nil)
            case .inString(let source, let name):
                let value = try context.value(source, name)
                try filling.add(JSONTemplate.inside(value.text), as: value.isSecret ? name : nil)
            }
        }
        return filling.text
    }

    /// A text inside the quotation marks of a JSON string.
    private static func inside(_ text: String) -> String { String(JSONWriter.quoted(text).dropFirst().dropLast()) }

    private mutating func add(_ json: String) {
        if case .json(let before)? = pieces.last {
            pieces[pieces.count - 1] = .json(before + json)
        } else {
            pieces.append(.json(json))
        }
    }

    private mutating func add(_ node: Node, _ what: String, _ depth: Int, _ reader: inout ProfileReader) {
        guard depth < JSONTemplate.deepest else {
            return reader.error("\(what) is nested deeper than \(JSONTemplate.deepest) levels", at: node)
        }
        switch node.content {
        case .scalar(let scalar): add(scalar, node, what, &reader)
        case .list(let list):
            add("[")
            for (number, member) in list.enumerated() {
                if number > 0 { add(",") }
                add(member, what, depth + 1, &reader)
            }
            add("]")
        case .mapping(let members):
            var names: Set<String> = []
            add("{")
            for member in members {
                guard let name = reader.literal(member.key, "a key", "a key cannot have values") else { continue }
                if !names.insert(name).inserted {
                    reader.error("the key '\(name.clipped(to: 40))' appears twice in the same mapping", at: member.key)
                }
                add("\(names.count > 1 ? "," : "")\(JSONWriter.quoted(name)):")
                add(member.value, what, depth + 1, &reader)
            }
            add("}")
        }
    }

    private mutating func add(_ scalar: Node.Scalar, _ node: Node, _ what: String, _ reader: inout ProfileReader) {
        if scalar.style == .plain, let typed = CoreScalar(scalar.string) {
            guard let json = typed.json else {
                return reader.error("\(what): JSON has no number '\(scalar.string.clipped(to: 40))'", at: node)
            }
            return add(json)
        }
        guard let pieces = reader.pieces(scalar.string, node) else { return }
        if case .value(let source, let shown)? = pieces.first, pieces.count == 1 {
            return self.pieces.append(.value(source, shown: shown))
        }
        add("\"")
        for piece in pieces {
            switch piece {
            case .text(let text): add(JSONTemplate.inside(text))
            case .value(let source, let shown): self.pieces.append(.inString(source, shown: shown))
            }
        }
        add("\"")
    }
}

/// A plain scalar that is not a text in the core schema (YAML 1.2.2 §10.3.2).
struct CoreScalar {
    /// `nil` if JSON has no such number.
    let json: String?

    /// `nil` for a text.
    init?(_ text: String) {
        switch text {
        case "", "~", "null", "Null", "NULL": json = "null"
        case "true", "True", "TRUE": json = "true"
        case "false", "False", "FALSE": json = "false"
        case ".nan", ".NaN", ".NAN": json = nil
        default:
            let digits = text.first.map { "+-".contains($0) } == true ? text.dropFirst() : text[...]
            if [".inf", ".Inf", ".INF"].contains(digits) {
                json = nil
            } else if text.hasPrefix("0x") || text.hasPrefix("0o") {
                let isHex = text.hasPrefix("0x")
                let number = text.dropFirst(2)
                guard !number.isEmpty, number.utf8.allSatisfy({ isHex ? $0.isHexadecimal : $0 &- 0x30 < 8 }) else {
                    return nil
                }
                json = UInt64(number, radix: isHex ? 16 : 8).map { String($0) }
            } else {
                guard let number = CoreScalar.decimal(digits) else { return nil }
                json = (text.hasPrefix("-") ? "-" : "") + number
            }
        }
    }

    /// A decimal number without its sign as JSON, with its digits: JSON has no zeros at the beginning, and has digits on
    /// both sides of a point.
    private static func decimal(_ text: Substring) -> String? {
        func takeDigits(_ rest: inout Substring.UTF8View) -> String {
            let digits = rest.prefix { $0 &- 0x30 < 10 }
            rest = rest.dropFirst(digits.count)
            return String(Substring(digits))
        }
        var rest = text.utf8
        let whole = takeDigits(&rest)
        var fraction = ""
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = takeDigits(&rest)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = ""
        if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
            exponent = String(Substring(rest))
            rest = rest.dropFirst()
            if let sign = rest.first, "+-".utf8.contains(sign) { rest = rest.dropFirst() }
            guard !takeDigits(&rest).isEmpty else { return nil }
        }
        guard rest.isEmpty else { return nil }
        let kept = whole.drop { $0 == "0" }
        return (kept.isEmpty ? "0" : String(kept)) + (fraction.isEmpty ? "" : ".\(fraction)") + exponent
    }
}

extension UInt8 {
    fileprivate var isHexadecimal: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 6 }
}
