/// Reads scalars, so that a combining mark cannot hide a wildcard.
struct GlobParser {
    private let characters: [Unicode.Scalar]
    private let ignoresCase: Bool
    private var position = 0

    init(_ characters: [Unicode.Scalar], ignoresCase: Bool) {
        self.characters = characters
        self.ignoresCase = ignoresCase
    }

    mutating func parse() throws(GlobError) -> [Glob.Element] {
        var elements: [Glob.Element] = []
        while position < characters.count {
            let start = position
            let character = characters[position]
            position += 1
            switch character {
            case "*": elements.append(.many)
            case "?": elements.append(.one)
            case "[": elements.append(try parseSet(from: start))
            case "\\":
                guard position < characters.count else {
                    throw GlobError(offset: start, message: "'\\' ends the pattern", hint: "write \\\\ for a backslash")
                }
                append(characters[position], to: &elements)
                position += 1
            default: append(character, to: &elements)
            }
        }
        return elements
    }

    private func append(_ character: Unicode.Scalar, to elements: inout [Glob.Element]) {
        for byte in UTF8.encode(character) ?? .init() { elements.append(.byte(folded(byte))) }
    }

    private func folded(_ byte: UInt8) -> UInt8 { ignoresCase ? FieldName.lower(byte) : byte }

    private mutating func parseSet(from start: Int) throws(GlobError) -> Glob.Element {
        var set = Glob.CharacterSet()
        let open = GlobError(offset: start, message: "'[' has no ']'", hint: "write \\[ for a bracket")
        if position < characters.count, characters[position] == "!" || characters[position] == "^" {
            set.isNegated = true
            position += 1
        }
        while true {
            guard position < characters.count else { throw open }
            if characters[position] == "]" { break }
            let first = try parseMember(of: open)
            var last = first
            if position + 1 < characters.count, characters[position] == "-", characters[position + 1] != "]" {
                let dash = position
                position += 1
                last = try parseMember(of: open)
                guard first <= last else {
                    throw GlobError(offset: dash, message: "the range in the set runs backwards")
                }
            }
            for byte in first...last { set.insert(folded(byte)) }
        }
        position += 1
        guard !set.isEmpty else {
            throw GlobError(offset: start, message: "the set is empty", hint: "write \\[ for a bracket")
        }
        return set.single.map { .byte($0) } ?? .set(set)
    }

    private mutating func parseMember(of open: GlobError) throws(GlobError) -> UInt8 {
        if characters[position] == "\\" { position += 1 }
        guard position < characters.count else { throw open }
        let scalar = characters[position]
        guard scalar.isASCII, let byte = UInt8(exactly: scalar.value) else {
            throw GlobError(offset: position, message: "a set can only have ASCII characters")
        }
        position += 1
        return byte
    }
}
