import Content
import Text

/// Two JSON texts compared by what they mean: the order of members and white space do not count, that of elements does.
struct JSONDifference {
    private static let mostChanges = 2000
    private static let longestValue = 200

    private let old: JSONTree
    private let new: JSONTree
    private var changes: [Change] = []

    private struct Change {
        var path: String
        var old: Int?
        var new: Int?
    }

    init(_ old: JSONTree, _ new: JSONTree) {
        self.old = old
        self.new = new
    }

    mutating func write(into writer: inout DetailWriter) {
        compare(0, 0, "$")
        if changes.isEmpty { return writer.add("The JSON means the same.", .faint) }
        for change in changes.prefix(JSONDifference.mostChanges) {
            let before = change.old.map { Span(text(old, $0), .removed) }
            let after = change.new.map { Span(text(new, $0), .added) }
            let isBoth = before != nil && after != nil
            let mark =
                isBoth ? Span("~ ", .changed) : after == nil ? Span(writer.minus + " ", .removed) : Span("+ ", .added)
            let arrow = isBoth ? Span(" \(writer.arrow) ", .punctuation) : nil
            writer.add(
                [mark, Span(change.path, .key), Span(": ", .punctuation)] + [before, arrow, after].compactMap { $0 }
            )
        }
        if changes.count > JSONDifference.mostChanges {
            writer.leaveOut("Only the first \(JSONDifference.mostChanges.grouped) differences are shown.")
        }
    }

    /// A place where the two differ.
    struct Place {
        /// For example `$.items[2].name`.
        var path: String
        /// The name of the member that the place is, or that holds it as an element; `nil` at the top.
        var member: String?
        var old: Value?
        var new: Value?
    }

    struct Value {
        /// As it stands there, cut where it is long.
        var text: String
        /// What a string says, without quotes and escapes; another value as it stands there.
        var plain: String
        var kind: JSONToken.Kind

        /// Whether one is a number and the other is, too, and so on; `true`, `false` and `null` are each of a type of their own.
        func isOfType(of other: Value) -> Bool { kind == other.kind && kind != .literal }
    }

    /// The places where the two differ, at most ``mostChanges`` and one.
    func places() -> [Place] {
        var compared = self
        compared.compare(0, 0, "$")
        func value(_ tree: JSONTree, _ node: Int) -> Value {
            Value(
                text: text(tree, node),
                plain: tree.string(of: node) ?? tree.text(of: node),
                kind: tree.nodes[node].kind
            )
        }
        return compared.changes.map { change in
            let name = change.old.flatMap { old.name(of: $0) } ?? change.new.flatMap { new.name(of: $0) }
            return Place(
                path: change.path,
                member: name,
                old: change.old.map { value(old, $0) },
                new: change.new.map { value(new, $0) }
            )
        }
    }

    /// Compares two values; the reader's limit on nesting bounds the recursion.
    private mutating func compare(_ before: Int, _ after: Int, _ path: String) {
        guard changes.count <= JSONDifference.mostChanges else { return }
        let (left, right) = (old.nodes[before], new.nodes[after])
        if left.kind == right.kind, left.hash == right.hash { return }
        switch (left.kind, right.kind) {
        case (.objectBegin, .objectBegin): compareMembers(before, after, path)
        case (.arrayBegin, .arrayBegin): compareElements(before, after, path)
        default: changes.append(Change(path: path, old: before, new: after))
        }
    }

    /// Pairs members by name; the second one of a name with the second one, and so on.
    private mutating func compareMembers(_ before: Int, _ after: Int, _ path: String) {
        let (left, right) = (old.nodes[before].children, new.nodes[after].children)
        // Most often both have the same names in the same order.
        if left.count == right.count, zip(left, right).allSatisfy({ isOfSameName($0, $1) }) {
            for (child, other) in zip(left, right) where old.nodes[child].hash != new.nodes[other].hash {
                compare(child, other, path + JSONDifference.step(old.name(of: child) ?? ""))
            }
            return
        }
        var waiting: [String: [Int]] = [:]
        for child in new.nodes[after].children.reversed() {
            waiting[new.name(of: child) ?? "", default: []].append(child)
        }
        for child in old.nodes[before].children {
            let name = old.name(of: child) ?? ""
            let place = path + JSONDifference.step(name)
            if let match = waiting[name]?.popLast() {
                compare(child, match, place)
            } else {
                changes.append(Change(path: place, old: child, new: nil))
            }
        }
        for child in new.nodes[after].children {
            let name = new.name(of: child) ?? ""
            guard waiting[name]?.last == child else { continue }
            waiting[name]?.removeLast()
            changes.append(Change(path: path + JSONDifference.step(name), old: nil, new: child))
        }
    }

    private func isOfSameName(_ before: Int, _ after: Int) -> Bool {
        guard let left = old.nodes[before].name, let right = new.nodes[after].name else { return false }
        return left.count == right.count && old.bytes[left].elementsEqual(new.bytes[right])
    }

    /// Lets equal elements stay; of what is between them, the first is compared with the first, and so on.
    private mutating func compareElements(_ before: Int, _ after: Int, _ path: String) {
        let left = old.nodes[before].children
        let right = new.nodes[after].children
        let hunks =
            EditScript.hunks(left.map { old.nodes[$0].hash }, right.map { new.nodes[$0].hash })
            ?? [EditScript.Hunk(old: left.indices, new: right.indices)]
        for hunk in hunks {
            let paired = min(hunk.old.count, hunk.new.count)
            for offset in 0..<paired {
                let index = hunk.new.lowerBound + offset
                compare(left[hunk.old.lowerBound + offset], right[index], "\(path)[\(index)]")
            }
            for index in hunk.old.dropFirst(paired) {
                changes.append(Change(path: "\(path)[\(index)]", old: left[index], new: nil))
            }
            for index in hunk.new.dropFirst(paired) {
                changes.append(Change(path: "\(path)[\(index)]", old: nil, new: right[index]))
            }
            if changes.count > JSONDifference.mostChanges { return }
        }
    }

    /// A member's name as a step of a path: `.name`, or `["a b"]`.
    private static func step(_ name: String) -> String {
        let isPlain =
            !name.isEmpty
            && name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "_") }
        return isPlain ? ".\(name)" : "[\"\(name.shortened(to: 100))\"]"
    }

    /// A value on one line, cut where it is long.
    private func text(_ tree: JSONTree, _ node: Int) -> String {
        let range = tree.nodes[node].range
        let isLong = range.count > JSONDifference.longestValue
        let bytes = tree.bytes[range].prefix(JSONDifference.longestValue)
        let text = String(decoding: bytes, as: UTF8.self)
        let words = text.contains("\n") ? text.split { $0.isWhitespace }.joined(separator: " ") : text
        return words + (isLong ? "…" : "")
    }
}
