package struct PlaceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// In Unicode scalars.
    package let offset: Int
    package let message: String
    package let suggestion: String?

    package var description: String { message + (suggestion.map { "; \($0)" } ?? "") }
}

extension Place {
    /// With a `root` the text may begin with a part: `json.items[0].id`.
    package init(_ text: String, in root: Root? = nil) throws(PlaceError) {
        var reader = PlaceReader(Array(text.unicodeScalars))
        self = try reader.place(in: root)
        guard reader.isAtEnd else { throw reader.error("the place ends before this", "\(self) is one") }
    }
}

/// Reads a place up to the first character that is not part of it.
struct PlaceReader {
    private static let mostSteps = 256
    private static let roots: [(word: String, root: Place.Root)] = [
        ("req", .request), ("res", .response), ("graphql", .graphql), ("grpc", .grpc),
    ]

    private let characters: [Unicode.Scalar]
    private(set) var position: Int

    init(_ characters: [Unicode.Scalar], from position: Int = 0) {
        (self.characters, self.position) = (characters, position)
    }

    var isAtEnd: Bool { position == characters.count }

    static func isUnquoted(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || "0"..."9" ~= scalar || "_-$@".unicodeScalars.contains(scalar)
        }
        let category = scalar.properties.generalCategory
        return scalar.properties.isAlphabetic || category == .nonspacingMark || category == .spacingMark
            || category == .decimalNumber
    }

    func error(_ message: String, _ suggestion: String? = nil, at offset: Int? = nil) -> PlaceError {
        PlaceError(offset: offset ?? position, message: message, suggestion: suggestion)
    }

    mutating func place(in given: Place.Root? = nil) throws(PlaceError) -> Place {
        if let old = oldForm(in: given ?? .response) {
            throw error("a place begins with req, res, sent, message#, graphql or grpc", old)
        }
        let start = position
        let root: Place.Root
        if let read = try takeRoot() {
            root = read
        } else if let given {
            (root, position) = (given, start)
        } else {
            let word = String(String.UnicodeScalarView(characters[start...].prefix { PlaceReader.isUnquoted($0) }))
            let known = Place.Part(rawValue: word).map { $0 == .status ? "res.\(word)" : "req.\(word)" }
            throw error(
                "a place begins with req, res, sent, message#, graphql or grpc",
                known.map { "write \($0)" },
                at: start
            )
        }
        if root == .grpc { return Place(.grpc, .field, try steps(atLeast: 1)) }
        return try part(of: root)
    }

    private mutating func takeRoot() throws(PlaceError) -> Place.Root? {
        let start = position
        let word = takeWord()
        if word == "message", take("#") {
            let digits = characters[position...].prefix { "0"..."9" ~= $0 }
            guard let number = Int(String(String.UnicodeScalarView(digits))), number > 0 else {
                throw error("a message is named by its number, from 1 on", "for example message#3.json.type")
            }
            position += digits.count
            try dot(after: "message#\(number)")
            return .message(number)
        }
        if word == "sent", take(".") {
            let side = takeWord()
            guard side == "req" || side == "res" else { throw error("after 'sent.' comes req or res", at: start + 5) }
            try dot(after: "sent.\(side)")
            return side == "req" ? .sentRequest : .sentResponse
        }
        guard let root = PlaceReader.roots.first(where: { $0.word == word })?.root else { return nil }
        if root != .grpc { try dot(after: word) }
        return root
    }

    private mutating func dot(after word: String) throws(PlaceError) {
        guard take(".") else { throw error("'.' and a part are missing after '\(word)'", "for example \(word).body") }
    }

    private mutating func part(of root: Place.Root) throws(PlaceError) -> Place {
        let start = position
        let word = takeWord()
        let parts = Place.Part.allCases.filter { $0.isOf(root) }
        guard let part = parts.first(where: { $0.rawValue == word }) else {
            let nearest = Spelling.nearest(to: word, among: parts.map(\.rawValue)).map { "did you mean '\($0)'?" }
            let known = parts.map(\.rawValue).joined(separator: ", ")
            let message = word.isEmpty ? "a part is missing here" : "\(root) has no '\(word)'"
            throw error(message, nearest ?? "it has \(known)", at: start)
        }
        let before = position
        switch part.form {
        case .single: return Place(root, part)
        case .tree: return Place(root, part, try steps(atLeast: 0))
        case .named:
            let steps = try steps(atLeast: 0)
            guard case .member = steps.first else {
                let example = "for example \(root).\(word).\(part.example)"
                throw error("a name is missing after '\(word)'", example, at: before)
            }
            let rest = steps.dropFirst()
            let isWhich = rest.allSatisfy { if case .member = $0 { false } else { true } }
            guard rest.count < 2, isWhich else {
                let hint = "put a name with a dot between quotation marks"
                throw error("after a name comes at most [n]", hint, at: before)
            }
            return Place(root, part, steps)
        }
    }

    private mutating func steps(atLeast least: Int) throws(PlaceError) -> [Place.Step] {
        var steps: [Place.Step] = []
        while steps.count < PlaceReader.mostSteps {
            if take("[") {
                steps.append(try brackets())
            } else if take(".") {
                steps.append(.member(try name()))
            } else {
                guard steps.count >= least else { throw error("a name is missing here") }
                return steps
            }
        }
        throw error("a place has at most \(PlaceReader.mostSteps) steps")
    }

    private mutating func name() throws(PlaceError) -> String {
        if position < characters.count, characters[position] == "\"" { return try quoted() }
        let word = takeWord()
        guard !word.isEmpty else {
            throw error("a name is missing here", "put a name with other characters between quotation marks")
        }
        return word
    }

    private mutating func brackets() throws(PlaceError) -> Place.Step {
        let start = position - 1
        let step: Place.Step
        if position < characters.count, characters[position] == "\"" {
            step = .member(try quoted())
        } else {
            let inside = String(String.UnicodeScalarView(characters[position...].prefix { $0 != "]" }))
            if inside.isEmpty { throw error("the brackets are empty", "write [*] for any", at: start) }
            guard inside == "*" || Int(inside) != nil else {
                throw error("brackets have a number, * or a name between quotation marks", at: position)
            }
            step = Int(inside).map { .element($0) } ?? .any
            position += inside.unicodeScalars.count
        }
        guard take("]") else { throw error("the '[' has no ']'", at: start) }
        return step
    }

    /// A quoted name with the escapes of JSON.
    private mutating func quoted() throws(PlaceError) -> String {
        let start = position
        position += 1
        var units: [UInt16] = []
        while position < characters.count, characters[position] != "\"" {
            var scalar = characters[position]
            position += 1
            if scalar == "\\", position < characters.count {
                scalar = characters[position]
                position += 1
                switch scalar {
                case "n": scalar = "\n"
                case "t": scalar = "\t"
                case "r": scalar = "\r"
                case "u":
                    let digits = String(String.UnicodeScalarView(characters[position...].prefix(4)))
                    guard digits.unicodeScalars.count == 4, let unit = UInt16(digits, radix: 16) else {
                        throw error("\\u needs four hexadecimal digits")
                    }
                    position += 4
                    units.append(unit)
                    continue
                default: break
                }
            }
            units += String(scalar).utf16
        }
        guard take("\"") else { throw error("the quotation mark is not closed", at: start) }
        return String(decoding: units, as: UTF16.self)
    }

    private mutating func takeWord() -> String {
        let word = characters[position...].prefix { PlaceReader.isUnquoted($0) }
        position += word.count
        return String(String.UnicodeScalarView(word))
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < characters.count, characters[position] == character else { return false }
        position += 1
        return true
    }

    /// A suggestion if the text is a path of jq or JSONPath, or a JSON pointer; `nil` if not.
    private func oldForm(in root: Place.Root) -> String? {
        let rest = String(String.UnicodeScalarView(characters[position...]))
        let path: String
        switch rest.unicodeScalars.first {
        case "$": path = String(rest.dropFirst())
        case ".": path = rest
        case "/": path = rest.split(separator: "/").map { Int($0) == nil ? ".\($0)" : "[\($0)]" }.joined()
        default: return nil
        }
        let whole = "\(root).json" + path.replacing("[]", with: "[*]").replacing(".[", with: "[")
        return (try? Place(whole)).map { "for a path in JSON write \($0)" }
            ?? "a path in JSON begins with res.json or req.json"
    }
}

extension Place.Part {
    fileprivate var example: String {
        switch self {
        case .header: "accept"
        case .trailer: "grpc-status"
        case .cookie: "session"
        default: "name"
        }
    }
}
