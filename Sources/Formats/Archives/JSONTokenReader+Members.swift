import Content

extension JSONTokenReader {
    /// Calls `body` with each member's name and the first token of its value, of which it must read the rest.
    mutating func members(_ body: (inout JSONTokenReader, String, JSONToken) throws -> Void) throws {
        while let token = try next(), token.kind == .name {
            let name = string(token)
            if let first = try next() { try body(&self, name, first) }
        }
    }

    /// Calls `body` at each object of an array; what is not an object is passed over, and counted.
    mutating func elements(_ losses: ArchiveLosses, _ body: (inout JSONTokenReader) throws -> Void) throws {
        while let token = try next(), token.kind != .arrayEnd {
            if token.kind == .objectBegin {
                try body(&self)
            } else {
                losses.add(.value)
                try skip(token)
            }
        }
    }

    /// The parts of an exchange that were masked when it was written, from the beginning of their array on; at most sixteen.
    mutating func maskedParts() throws -> [String] {
        var parts: [String] = []
        while let token = try next(), token.kind != .arrayEnd {
            guard token.kind == .string else {
                try skip(token)
                continue
            }
            let part = string(token)
            if parts.count < 16, part.utf8.count <= 64 { parts.append(part) }
        }
        return parts
    }

    /// A number that is not negative and not too large to be recorded; `nil` for another one.
    func amount(_ token: JSONToken) -> Double? {
        guard token.kind == .number, let number = Double(text(token)), number >= 0, number <= 9e12 else { return nil }
        return number
    }
}
