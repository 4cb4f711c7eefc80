import Content

protocol JSONArchiveReader: ArchiveReader {
    var json: JSONTokenReader { get set }
    var losses: ArchiveLosses { get }
}

extension JSONArchiveReader {
    /// Calls `body` with each member's name and its value's first token; `body` must read the rest of the value.
    mutating func members(_ body: (inout Self, String, JSONToken) throws -> Void) throws {
        while let token = try json.next(), token.kind == .name {
            let name = json.string(token)
            if let first = try json.next() { try body(&self, name, first) }
        }
    }

    /// The members of an object that have one of these names and a string as value.
    mutating func texts(_ names: String...) throws -> [String: String] {
        var texts: [String: String] = [:]
        try members { reader, name, first in
            guard names.contains(name), first.kind == .string else { return try reader.json.skip(first) }
            texts[name] = reader.json.string(first)
        }
        return texts
    }

    /// Calls `body` at each object of an array; other values are skipped and counted.
    mutating func elements(_ body: (inout Self) throws -> Void) throws {
        while let token = try json.next(), token.kind != .arrayEnd {
            if token.kind == .objectBegin {
                try body(&self)
            } else {
                losses.add(.value)
                try json.skip(token)
            }
        }
    }
}
