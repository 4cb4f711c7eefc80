import Text

extension FilterNode: CustomStringConvertible {
    package var description: String {
        switch self {
        case .everything: ""
        case .term(let term): term.description
        case .not(let operand): "!" + operand.descriptionAsOperand
        case .and(let operands): operands.map(\.descriptionAsOperand).joined(separator: " ")
        case .or(let operands): operands.map(\.descriptionAsAlternative).joined(separator: " or ")
        }
    }

    private var descriptionAsOperand: String {
        switch self {
        case .and, .or: "(\(description))"
        default: description
        }
    }

    private var descriptionAsAlternative: String {
        if case .or = self { "(\(description))" } else { description }
    }
}

extension FilterTerm: CustomStringConvertible {
    package var description: String {
        // A host's ASCII form is implied, so it is not written.
        let tests = self.tests.enumerated().filter { index, test in
            !self.tests[..<index].contains { $0.otherForm == test }
        }.map(\.element)
        var values = tests.map { $0.value(ofKey: key) }
        if let form = tests.first?.place?.part.expressionForm ?? Filter.key(key)?.expressionForm {
            for index in values.indices where values[index].hasPrefix("/") && !tests[index].isExpression {
                let rest = Array(values[index...].joined(separator: ",").unicodeScalars)
                // The backslash keeps the slash from beginning a regular expression.
                if form == .text || form.end(from: 0, in: rest) != nil { values[index] = "\\" + values[index] }
            }
        }
        return (key.isEmpty ? "" : key + ":") + values.joined(separator: ",")
    }
}

extension FilterTest {
    fileprivate func value(ofKey key: String) -> String {
        switch self {
        case .matches(.field(_, let name), .any): FilterTest.written(name)
        case .matches(.field, .glob(let value)) where key == "trace-id":
            String(value.description.dropFirst(3).dropLast(2))
        case .matches(.field(_, let name), .glob(let value)):
            FilterTest.written(name) + ":" + FilterTest.afterColon(FilterTest.written(value, isFoundAnywhere: true))
        case .matches(.field(_, let name), .expression(let expression)):
            FilterTest.written(name) + ":/\(expression.pattern)/"
        case .matches(_, .expression(let expression)): "/\(expression.pattern)/"
        case .matches(.url, .glob(let glob)) where key.isEmpty: FilterTest.writtenWord(glob)
        case .matches(.text(.query), .glob(let glob)), .matches(.text(.comment), .glob(let glob)),
            .matches(.url, .glob(let glob)):
            FilterTest.written(glob, isFoundAnywhere: true)
        case .matches(.text, .glob(let glob)), .address(_, let glob): FilterTest.written(glob)
        case .matches(.body, .glob(let glob)): FilterTest.quoted(glob.infix ?? "")
        case .matches(_, .any): "*"
        case .mediaTypePart(let part): FilterTest.quoted(part)
        case .number(let field, let range): FilterTest.written(range, field)
        case .version(let range):
            switch (range.lowerBound, range.upperBound) {
            case (.http10, .http11): "h1"
            case (.http10, _): "1.0"
            case (.http11, _): "1.1"
            case (.http2, _): "h2"
            case (.http3, _): "h3"
            }
        case .property(let property): property.name
        case .recording(.identifier(let beginning)): beginning
        case .recording(.label(let name, let value)): FilterTest.quoted("\(name)=\(value)")
        case .place(let test):
            switch test.condition {
            case .text(let glob, _): FilterTest.written(placeValue: glob)
            case .number(let range): range.description
            case .expression(let expression): "/\(expression.pattern)/"
            }
        }
    }

    fileprivate var isExpression: Bool {
        switch self {
        case .matches(_, .expression): true
        case .place(let test): if case .expression = test.condition { true } else { false }
        default: false
        }
    }

    fileprivate var place: Place? { if case .place(let test) = self { test.place } else { nil } }

    /// Quoted if it is empty or looks like a range of numbers.
    private static func written(placeValue glob: Glob) -> String {
        guard let literal = glob.literal else { return escaped(glob.description) }
        let isOther = literal.isEmpty || literal.hasPrefix("<") || literal.hasPrefix(">") || literal.contains("..")
        return isOther ? forcedQuotes(literal) : quoted(literal)
    }

    /// A slash at the beginning would make it a regular expression.
    private static func afterColon(_ value: String) -> String { value.hasPrefix("/") ? "\\" + value : value }

    private static func written(_ range: ClosedRange<Int64>, _ field: NumberField) -> String {
        let quantity: Quantity =
            switch field {
            case .size: .size
            case .time: .time
            case .id, .port, .status, .startedAt, .messages, .grpc, .process: .count
            }
        if field == .startedAt {
            return FilterClock.write(range.lowerBound == .min ? range.upperBound + 1 : range.lowerBound)
        }
        if field == .grpc, range == FilterValueReader.anyCode { return "*" }
        let lower = quantity.write(range.lowerBound)
        let upper = quantity.write(range.upperBound)
        if range.upperBound == .max { return ">=" + lower }
        if range.lowerBound == (field == .status ? 1 : 0), field == .time || range.count > 1 { return "<=" + upper }
        return range.lowerBound == range.upperBound && field != .time ? lower : "\(lower)..\(upper)"
    }

    private static func written(_ glob: Glob, isFoundAnywhere: Bool = false) -> String {
        if isFoundAnywhere {
            // Text without a star is found anywhere.
            if let infix = glob.infix, !infix.isEmpty { return quoted(infix) }
        } else if let literal = glob.literal {
            return quoted(literal)
        }
        return escaped(glob.description)
    }

    private static func writtenWord(_ glob: Glob) -> String {
        if let infix = glob.infix, !infix.isEmpty {
            // Quotes keep the word from being read as an operator, a key or a negation.
            return isPlainWord(infix) && !["and", "or", "not", "error"].contains(infix)
                ? quoted(infix) : forcedQuotes(infix)
        }
        let inner = escaped(glob.innerDescription)
        return isPlainWord(inner) ? inner : "*" + inner
    }

    private static func isPlainWord(_ word: String) -> Bool {
        guard let first = word.unicodeScalars.first, first != "!", first != "-" else { return false }
        return !word.unicodeScalars.contains(":") && Filter.comparison(in: word) == nil
    }

    private static func quoted(_ text: String) -> String {
        text.unicodeScalars.contains { isSyntax($0) || "*?[\\".unicodeScalars.contains($0) } ? forcedQuotes(text) : text
    }

    private static func forcedQuotes(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
        return "\"" + text.replacing(escapes) + "\""
    }

    private static func escaped(_ pattern: String) -> String {
        var written = ""
        for character in pattern.unicodeScalars {
            if isSyntax(character) { written.unicodeScalars.append("\\") }
            written.unicodeScalars.append(character)
        }
        return written
    }

    private static func isSyntax(_ character: Unicode.Scalar) -> Bool {
        character.properties.isWhitespace || "(),\"".unicodeScalars.contains(character)
    }
}
