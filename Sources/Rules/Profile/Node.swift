import HTTPModel
import Yams

/// A node of a YAML document (YAML 1.1 §3.2): read from a file, with its place there, or made to be written.
package struct Node: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case scalar(Scalar)
        case list([Node])
        /// In the order of the file.
        case mapping([Member])
    }

    /// A text, whatever type it has in YAML.
    package struct Scalar: Sendable, Hashable {
        package enum Style: Sendable { case plain, quoted, block }

        package var string: String
        package var style: Style
    }

    package struct Member: Sendable, Hashable {
        package var key: Node
        package var value: Node

        package init(_ key: String, _ value: Node) { self.init(.text(key), value) }

        fileprivate init(_ key: Node, _ value: Node) { (self.key, self.value) = (key, value) }

        /// On one line.
        package var flow: String {
            // A key of profiles needs no quotes, even if YAML 1.1 would read it as a flag: `on`, `off`.
            let word = key.scalar?.string ?? ""
            let isWord = !word.isEmpty && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
            return "\(isWord ? word : key.flow): \(value.flow)"
        }
    }

    package var content: Content
    /// From 1.
    package var line = 1
    /// In characters, from 1.
    package var column = 1

    init(_ node: Yams.Node) {
        line = node.mark?.line ?? 1
        column = node.mark?.column ?? 1
        switch node {
        case .mapping(let mapping): content = .mapping(mapping.map { Member(Node($0.key), Node($0.value)) })
        case .sequence(let list): content = .list(list.map { Node($0) })
        case .scalar(let scalar):
            let style: Scalar.Style =
                switch scalar.style {
                case .singleQuoted, .doubleQuoted: .quoted
                case .literal, .folded: .block
                case .any, .plain: .plain
                }
            content = .scalar(Scalar(string: scalar.string, style: style))
        // The parser finds no alias, because ``ProfileText`` rejects anchors.
        case .alias: content = .scalar(Scalar(string: "", style: .plain))
        }
    }

    /// Reads a text, with the limits for profiles; `nil` if it is empty.
    package static func read(_ text: String, file: String) throws(ProfileError) -> Node? {
        try ProfileText.tree(text, file: file)
    }

    /// Reads a file, with the limits for profiles; `nil` if it is empty.
    package static func read(file: String) throws(ProfileError) -> Node? {
        try read(ProfileText.read(file), file: file)
    }

    package var scalar: Scalar? { if case .scalar(let scalar) = content { scalar } else { nil } }
    package var sequence: [Node]? { if case .list(let list) = content { list } else { nil } }
    package var mapping: [Member]? { if case .mapping(let members) = content { members } else { nil } }

    /// The value of a key; `nil` if the key is missing, or the node is not a mapping.
    package subscript(key: String) -> Node? { mapping?[key] }

    /// The members of a list; any other node counts as the only member of a list.
    package var members: [Node] { sequence ?? [self] }

    /// Whether the value is missing, or `~` or `null`.
    package var isNothing: Bool { scalar.map { $0.style == .plain && ["", "~", "null"].contains($0.string) } ?? false }

    /// The text of a scalar, empty if the value is missing; `nil` for a list or mapping.
    package var string: String? { isNothing ? "" : scalar?.string }

    package var kind: String {
        switch content {
        case .scalar: "a text"
        case .mapping: "a mapping"
        case .list: "a list"
        }
    }

    /// The characters before the text: 1 for a quote.
    package var quoteWidth: Int { scalar?.style == .quoted ? 1 : 0 }

    /// The content as text for comparisons, at most `depth` levels of it, without one key at the top level.
    package func text(without key: String? = nil, depth: Int = 16) -> String {
        guard depth > 0 else { return "" }
        switch content {
        case .scalar(let scalar): return "\"\(scalar.string)\""
        case .list(let list): return "[\(list.map { $0.text(depth: depth - 1) }.joined(separator: ","))]"
        case .mapping(let members):
            let pairs = members.filter { key == nil || $0.key.scalar?.string != key }
                .map { "\($0.key.text(depth: depth - 1)):\($0.value.text(depth: depth - 1))" }
            return "{\(pairs.sorted().joined(separator: ","))}"
        }
    }

    package func issue(_ message: String, in file: String) -> ProfileIssue {
        ProfileIssue(severity: .error, file: file, line: line, column: column, message: message)
    }
}

extension [Node.Member] {
    /// A new key is appended.
    package subscript(key: String) -> Node? {
        get { first { $0.key.scalar?.string == key }?.value }
        set {
            let index = firstIndex { $0.key.scalar?.string == key }
            if let index {
                if let newValue { self[index].value = newValue } else { remove(at: index) }
            } else if let newValue {
                append(Node.Member(key, newValue))
            }
        }
    }
}

extension Node {
    package init(_ content: Content) { self.content = content }

    /// A text with quotes if it needs them.
    package static func text(_ text: String) -> Node { Node(.scalar(Scalar(string: text, style: .quoted))) }

    /// A number or a flag without quotes.
    package static func word(_ word: String) -> Node { Node(.scalar(Scalar(string: word, style: .plain))) }

    /// Without a fraction if it is zero.
    package static func number(_ number: Double) -> Node { .word(GrammarValue.text(number)) }

    package static func list(_ members: [Node]) -> Node { Node(.list(members)) }
    package static func mapping(_ members: [Member]) -> Node { Node(.mapping(members)) }

    package static func some(_ members: [Node]) -> Node { members.count == 1 ? members[0] : .list(members) }
    package static func texts(_ texts: [String]) -> Node { .some(texts.map { .text($0) }) }

    package var flow: String {
        switch content {
        case .scalar(let scalar): scalar.flow
        case .list(let members): members.isEmpty ? "[]" : "[\(members.map(\.flow).joined(separator: ", "))]"
        case .mapping(let members): members.isEmpty ? "{}" : "{ \(members.map(\.flow).joined(separator: ", ")) }"
        }
    }
}

extension Node: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = .text(text) }
}

extension Node.Scalar {
    fileprivate var flow: String {
        let isWord = !string.isEmpty && string.utf8.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 }
        return style == .plain && (isWord || string == "~" || Double(string) != nil) ? string : YAMLText.quoted(string)
    }
}
