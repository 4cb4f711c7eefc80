import Content
package import HTTPModel

/// The part of a line that can be copied by itself.
package enum Copyable: Sendable, Hashable {
    /// `place` is the value's place in the message as received; `nil` if it has none.
    case field(name: String, value: String, place: Place?)
    case json(JSONPlace)
    /// A command that the line, or several lines together, show.
    case command(String)
}

/// A value of a JSON text that a line shows.
package struct JSONPlace: Sendable, Hashable {
    /// The whole text, which all its lines share.
    private let bytes: [UInt8]
    private let offset: Int
    /// The place of the whole text; `nil` if it has none.
    private let whole: Place?

    init(_ bytes: [UInt8], _ offset: Int, in whole: Place?) {
        (self.bytes, self.offset, self.whole) = (bytes, offset, whole)
    }

    package static func == (left: JSONPlace, right: JSONPlace) -> Bool { left.offset == right.offset }
    package func hash(into hasher: inout Hasher) { hasher.combine(offset) }

    /// The value's place; `nil` if it has none or the text is not JSON to its end.
    package var place: Place? {
        guard let whole, let tree = try? JSONTree(bytes), let node = tree.node(at: offset) else { return nil }
        return tree.places(of: [node], in: whole).first
    }

    /// The value as it is written.
    package var json: String? {
        guard let tree = try? JSONTree(bytes) else { return nil }
        return tree.node(at: offset).map { tree.text(of: $0) }
    }

    /// The value: a string's text, other values as written.
    package var value: String? {
        guard let tree = try? JSONTree(bytes) else { return nil }
        return tree.node(at: offset).map { tree.string(of: $0) ?? tree.text(of: $0) }
    }
}

extension Place {
    /// The JSON of a recorded body.
    init(json side: BodySide) {
        self.init(Root(side), .json)
    }

    /// The value of this name.
    func member(_ name: String) -> Place { Place(root, part, steps + [.member(name)]) }

    /// The same place in the message as received.
    package var asReceived: Place {
        switch root {
        case .sentRequest: Place(.request, part, steps)
        case .sentResponse: Place(.response, part, steps)
        default: self
        }
    }

    /// The same place in a line (from 1) of a body whose lines are messages; `nil` for a body as sent.
    func line(_ number: Int) -> Place? {
        root == .request || root == .response ? Place(.message(number), part, steps) : nil
    }
}
