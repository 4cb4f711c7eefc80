import Content

/// What of a line can be copied by itself.
package enum Copyable: Sendable, Hashable {
    case field(name: String, value: String)
    case json(JSONPlace)
    /// A command that the line, or several lines together, show.
    case command(String)
}

/// A value of a JSON text that a line shows.
package struct JSONPlace: Sendable, Hashable {
    /// The whole text, which all its lines share.
    private let bytes: [UInt8]
    private let offset: Int

    init(_ bytes: [UInt8], _ offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    package static func == (left: JSONPlace, right: JSONPlace) -> Bool { left.offset == right.offset }
    package func hash(into hasher: inout Hasher) { hasher.combine(offset) }

    /// The path, as ``JSONPath`` reads it; `nil` where the text is not JSON to its end.
    package var path: String? {
        guard let tree = try? JSONTree(bytes) else { return nil }
        return tree.node(at: offset).map { tree.path(to: $0) }
    }

    /// The value: a string's text, anything else as it stands in the text.
    package var value: String? {
        guard let tree = try? JSONTree(bytes) else { return nil }
        return tree.node(at: offset).map { tree.string(of: $0) ?? tree.text(of: $0) }
    }
}
