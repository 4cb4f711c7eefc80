package import HTTPModel

/// Finds the values at places of a JSON text in one pass, without a tree of the text.
package struct JSONPlaces {
    private var reader: JSONTokenReader
    private let steps: [Place.Step]
    private var found: [PlaceValue] = []

    /// The values at the end of the steps, in the order of the text; duplicate names all count. Reads the text to its
    /// end. Throws `JSONSyntaxError` if it is not JSON in UTF-8, or is nested deeper than 256 levels.
    package static func values(of bytes: [UInt8], at steps: [Place.Step]) throws(JSONSyntaxError) -> [PlaceValue] {
        var places = JSONPlaces(reader: JSONTokenReader(bytes), steps: steps)
        guard let first = try places.reader.next() else { return [] }
        try places.visit(first, 0)
        // Text after the value is an error.
        _ = try places.reader.next()
        if !UTF8Check.isValid(bytes) { throw places.reader.error("it is not UTF-8") }
        return places.found
    }

    /// Reads a value whose first token was just read; `depth` steps led to it. The reader's limit bounds the recursion.
    private mutating func visit(_ first: JSONToken, _ depth: Int) throws(JSONSyntaxError) {
        guard depth < steps.count else { return try add(first) }
        switch (first.kind, steps[depth]) {
        case (.objectBegin, .member), (.objectBegin, .any):
            while let name = try reader.next(), name.kind == .name, let value = try reader.next() {
                try isNamed(name, steps[depth]) ? visit(value, depth + 1) : skip(value)
            }
        case (.arrayBegin, .element(let wanted)):
            let index = wanted < 0 ? try count() + wanted : wanted
            var position = 0
            while let value = try reader.next(), value.kind != .arrayEnd {
                try position == index ? visit(value, depth + 1) : skip(value)
                position += 1
            }
        case (.arrayBegin, .any):
            while let value = try reader.next(), value.kind != .arrayEnd { try visit(value, depth + 1) }
        default: try skip(first)
        }
    }

    private func isNamed(_ token: JSONToken, _ step: Place.Step) -> Bool {
        guard case .member(let name) = step else { return true }
        return JSONTree.isName(reader.bytes[token.range], name)
    }

    /// The number of elements in the array whose first token was just read. Does not move the reader.
    private func count() throws(JSONSyntaxError) -> Int {
        var ahead = self
        var count = 0
        while let value = try ahead.reader.next(), value.kind != .arrayEnd {
            try ahead.skip(value)
            count += 1
        }
        return count
    }

    private mutating func skip(_ first: JSONToken) throws(JSONSyntaxError) {
        guard first.kind == .objectBegin || first.kind == .arrayBegin else { return }
        let outside = reader.depth - 1
        while reader.depth > outside { _ = try reader.next() }
    }

    private mutating func add(_ first: JSONToken) throws(JSONSyntaxError) {
        switch first.kind {
        case .string: found.append(PlaceValue(reader.string(first), .jsonString))
        case .objectBegin, .arrayBegin:
            try skip(first)
            found.append(PlaceValue(reader.bytes[first.range.lowerBound..<reader.position], .jsonContainer))
        default: found.append(PlaceValue(reader.bytes[first.range], .jsonScalar))
        }
    }
}
