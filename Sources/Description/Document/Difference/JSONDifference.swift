import Content
import HTTPModel

/// Compares two JSON texts by meaning: the order of members and white space do not count, the order of elements does.
struct JSONDifference {
    static let mostChanges = 2000

    struct Change {
        var steps: [Place.Step]
        var old: Value?
        var new: Value?
    }

    struct Value {
        private static let longest = 200

        let tree: JSONTree
        let node: Int

        /// The value as written, on one line, shortened if long.
        var text: String {
            let range = tree.nodes[node].range
            let text = String(decoding: tree.bytes[range].prefix(Value.longest), as: UTF8.self)
            let words = text.contains("\n") ? text.split { $0.isWhitespace }.joined(separator: " ") : text
            return words + (range.count > Value.longest ? "…" : "")
        }

        /// A string without quotes and escapes; other values as written.
        var plain: String { tree.string(of: node) ?? tree.text(of: node) }

        /// Whether both are numbers, both strings and so on; `true`, `false` and `null` each have their own type.
        func isOfType(of other: Value) -> Bool {
            let kind = tree.nodes[node].kind
            return kind == other.tree.nodes[other.node].kind && kind != .literal
        }
    }

    private let old: JSONTree
    private let new: JSONTree
    private var changes: [Change] = []

    /// The places where two texts differ; stops soon after ``mostChanges``. `nil` stands for no text.
    static func changes(_ old: JSONTree?, _ new: JSONTree?) -> [Change] {
        guard let old, let new else {
            let (before, after) = (old.map { Value(tree: $0, node: 0) }, new.map { Value(tree: $0, node: 0) })
            return old == nil && new == nil ? [] : [Change(steps: [], old: before, new: after)]
        }
        var difference = JSONDifference(old: old, new: new)
        difference.compare(0, 0, [])
        return difference.changes
    }

    private mutating func add(_ steps: [Place.Step], _ before: Int?, _ after: Int?) {
        let (left, right) = (before.map { Value(tree: old, node: $0) }, after.map { Value(tree: new, node: $0) })
        changes.append(Change(steps: steps, old: left, new: right))
    }

    /// Compares two values; the reader's limit on nesting bounds the recursion.
    private mutating func compare(_ before: Int, _ after: Int, _ steps: [Place.Step]) {
        guard changes.count <= JSONDifference.mostChanges else { return }
        let (left, right) = (old.nodes[before], new.nodes[after])
        if left.kind == right.kind, left.hash == right.hash { return }
        switch (left.kind, right.kind) {
        case (.objectBegin, .objectBegin): compareMembers(left.children, right.children, steps)
        case (.arrayBegin, .arrayBegin): compareElements(left.children, right.children, steps)
        default: add(steps, before, after)
        }
    }

    /// Pairs members by name: the first of a name with the first, the second with the second, and so on.
    private mutating func compareMembers(_ left: [Int], _ right: [Int], _ steps: [Place.Step]) {
        func name(_ tree: JSONTree, _ node: Int) -> String { tree.name(of: node) ?? "" }
        // Most often both have the same names in the same order.
        if left.count == right.count, zip(left, right).allSatisfy({ isOfSameName($0, $1) }) {
            for (child, other) in zip(left, right) where old.nodes[child].hash != new.nodes[other].hash {
                compare(child, other, steps + [.member(name(old, child))])
            }
            return
        }
        // Names are compared by their bytes.
        var waiting: [[UInt8]: [Int]] = [:]
        for child in right.reversed() { waiting[Array(name(new, child).utf8), default: []].append(child) }
        for child in left {
            let name = name(old, child)
            if let match = waiting[Array(name.utf8)]?.popLast() {
                compare(child, match, steps + [.member(name)])
            } else {
                add(steps + [.member(name)], child, nil)
            }
        }
        let rest = Set(waiting.values.joined())
        for child in right where rest.contains(child) { add(steps + [.member(name(new, child))], nil, child) }
    }

    private func isOfSameName(_ before: Int, _ after: Int) -> Bool {
        guard let left = old.nodes[before].name, let right = new.nodes[after].name else { return false }
        return left.count == right.count && old.bytes[left].elementsEqual(new.bytes[right])
    }

    /// Pairs equal elements; the elements between them are compared in order, the first with the first, and so on.
    private mutating func compareElements(_ left: [Int], _ right: [Int], _ steps: [Place.Step]) {
        let isWhole = !left.contains { old.nodes[$0].isIgnored } && !right.contains { new.nodes[$0].isIgnored }
        let hunks = isWhole ? EditScript.hunks(left.map { old.nodes[$0].hash }, right.map { new.nodes[$0].hash }) : nil
        for hunk in hunks ?? [EditScript.Hunk(old: left.indices, new: right.indices)] {
            for offset in 0..<max(hunk.old.count, hunk.new.count) {
                let (before, after) = (hunk.old.lowerBound + offset, hunk.new.lowerBound + offset)
                // An ignored element counts as missing.
                let child = before < hunk.old.upperBound && !old.nodes[left[before]].isIgnored ? left[before] : nil
                let other = after < hunk.new.upperBound && !new.nodes[right[after]].isIgnored ? right[after] : nil
                let place = steps + [.element(other == nil ? before : after)]
                if let child, let other {
                    compare(child, other, place)
                } else if child != nil || other != nil {
                    add(place, child, other)
                }
            }
            if changes.count > JSONDifference.mostChanges { return }
        }
    }
}
