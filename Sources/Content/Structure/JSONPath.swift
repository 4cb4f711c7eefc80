import Text

/// Why a path cannot be read.
package struct JSONPathError: Error, Equatable, CustomStringConvertible {
    package var description: String
    /// How many Unicode scalars stand before the place.
    package var offset: Int
}

/// A path to values of a JSON text, as jq has them: `.a.b[0]`, `.items[].id`, `.*`, `..id` for a name at any depth,
/// `.["odd name"]`, `[-1]` from the end.
package struct JSONPath: Sendable, Equatable {
    private enum Step: Equatable {
        case member(String)
        case element(Int)
        /// All members or elements.
        case all
        /// The value itself and all below it.
        case below
    }

    private var steps: [(step: Step, end: Int)] = []
    /// The path as it was written.
    package let text: String

    package static func == (left: JSONPath, right: JSONPath) -> Bool { left.text == right.text }

    /// Reads a path. Throws `JSONPathError` with the place where it is none.
    package init(_ text: String) throws(JSONPathError) {
        self.text = text
        // Not by characters: a combining mark is a part of what stands before it, as is a dot or a quote.
        let characters = Array(text.unicodeScalars)
        guard characters.first == "." else {
            throw JSONPathError(description: "a path begins with '.', for example .items[].id", offset: 0)
        }
        var place = 0
        while place < characters.count {
            switch characters[place] {
            case ".":
                place += 1
                if place < characters.count, characters[place] == "." {
                    place += 1
                    steps.append((.below, place))
                    guard place < characters.count else {
                        throw JSONPathError(description: "'..' must be followed by a name or '['", offset: place)
                    }
                    if characters[place] == "." {
                        throw JSONPathError(description: "at most two '.' can be adjacent", offset: place)
                    }
                }
                guard place < characters.count, characters[place] != "[" else { continue }
                try readName(characters, &place)
            case "[": try readBrackets(characters, &place)
            default: throw JSONPathError(description: "'.' or '[' is missing here", offset: place)
            }
        }
    }

    private mutating func readName(_ characters: [Unicode.Scalar], _ place: inout Int) throws(JSONPathError) {
        if characters[place] == "\"" {
            let name = try JSONPath.quoted(characters, &place)
            return steps.append((.member(name), place))
        }
        let name = characters[place...].prefix { !".[]\"".unicodeScalars.contains($0) }
        guard !name.isEmpty else { throw JSONPathError(description: "a name is missing here", offset: place) }
        place += name.count
        steps.append((name == ["*"] ? .all : .member(JSONPath.text(name)), place))
    }

    private mutating func readBrackets(_ characters: [Unicode.Scalar], _ place: inout Int) throws(JSONPathError) {
        let start = place
        place += 1
        if place < characters.count, characters[place] == "\"" {
            let name = try JSONPath.quoted(characters, &place)
            guard place < characters.count, characters[place] == "]" else {
                throw JSONPathError(description: "']' is missing here", offset: place)
            }
            place += 1
            return steps.append((.member(name), place))
        }
        guard let end = characters[place...].firstIndex(of: "]") else {
            throw JSONPathError(description: "the '[' has no ']'", offset: start)
        }
        let inside = JSONPath.text(characters[place..<end])
        let step: Step
        if inside.isEmpty || inside == "*" {
            step = .all
        } else if let index = Int(inside) {
            step = .element(index)
        } else {
            let reason = "brackets contain a number, a name in double quotes, or nothing for all"
            throw JSONPathError(description: reason, offset: place)
        }
        place = end + 1
        steps.append((step, place))
    }

    private static func quoted(_ characters: [Unicode.Scalar], _ place: inout Int) throws(JSONPathError) -> String {
        var end = place + 1
        while end < characters.count, characters[end] != "\"" { end += characters[end] == "\\" ? 2 : 1 }
        guard end < characters.count else {
            throw JSONPathError(description: "the quote is not closed", offset: place)
        }
        let text = Array(JSONPath.text(characters[place...end]).utf8)
        place = end + 1
        return JSONTree.unescaped(text[...])
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    // MARK: Matching

    /// The nodes that it leads to, in order; if there are none, how far it leads.
    package func matches(in tree: JSONTree) -> [Int] { reach(in: tree).nodes }

    /// Why nothing fits, for example `.items[] has 3 values, and none of them has 'idd'`.
    package func misses(in tree: JSONTree) -> String {
        let (_, count, step) = reach(in: tree)
        let before = step > 0 ? JSONPath.text(text.unicodeScalars.prefix(steps[step - 1].end)) : "the whole"
        let missing =
            switch steps.indices.contains(step) ? steps[step].step : .all {
            case .member(let name): "member '\(VisibleText.of(String(name.prefix(60))))'"
            case .element(let index): "element \(index)"
            case .all, .below: "members or elements"
            }
        return count == 1
            ? "\(before) has no \(missing)" : "of the \(count.grouped) values of \(before) none has \(missing)"
    }

    /// The nodes reached; with none, how many were reached before the step that leads nowhere.
    private func reach(in tree: JSONTree) -> (nodes: [Int], before: Int, step: Int) {
        guard !tree.nodes.isEmpty else { return ([], 0, 0) }
        var reached = [0]
        for (number, (step, _)) in steps.enumerated() {
            let next = JSONPath.follow(step, from: reached, in: tree)
            if next.isEmpty { return ([], reached.count, number) }
            reached = next
        }
        return (reached, reached.count, steps.count)
    }

    private static func follow(_ step: Step, from nodes: [Int], in tree: JSONTree) -> [Int] {
        switch step {
        case .member(let name):
            return nodes.flatMap { node in
                tree.nodes[node].kind == .objectBegin
                    ? tree.nodes[node].children.filter { tree.name(of: $0) == name } : []
            }
        case .element(let index):
            return nodes.compactMap { node in
                guard tree.nodes[node].kind == .arrayBegin else { return nil }
                let children = tree.nodes[node].children
                let place = index < 0 ? children.count + index : index
                return children.indices.contains(place) ? children[place] : nil
            }
        case .all: return nodes.flatMap { tree.nodes[$0].children }
        case .below:
            // A node comes after the one that holds it, so one pass finds all.
            var isReached = [Bool](repeating: false, count: tree.nodes.count)
            for node in nodes { isReached[node] = true }
            for node in tree.nodes.indices where isReached[node] {
                for child in tree.nodes[node].children { isReached[child] = true }
            }
            return isReached.indices.filter { isReached[$0] }
        }
    }
}

extension JSONTree {
    /// The path to a node, as ``JSONPath`` reads it.
    package func path(to node: Int) -> String { paths(to: [node]).first ?? "." }

    /// The paths to several nodes.
    package func paths(to wanted: [Int]) -> [String] {
        var parents = [(parent: Int, place: Int)](repeating: (-1, 0), count: nodes.count)
        for (index, node) in nodes.enumerated() {
            for (place, child) in node.children.enumerated() { parents[child] = (index, place) }
        }
        return wanted.map { node in
            var pieces: [String] = []
            var node = node
            while nodes.indices.contains(node), parents[node].parent >= 0 {
                pieces.append(name(of: node).map { JSONTree.step($0) } ?? "[\(parents[node].place)]")
                node = parents[node].parent
            }
            let path = pieces.reversed().joined()
            return path.first == "." ? path : ".\(path)"
        }
    }

    /// The node whose value begins at a place of the text.
    package func node(at offset: Int) -> Int? { nodes.firstIndex { $0.range.lowerBound == offset } }

    private static func step(_ name: String) -> String {
        let isPlain =
            !name.isEmpty && name != "*"
            && !name.unicodeScalars.contains {
                ".[]\"".unicodeScalars.contains($0) || $0.properties.isWhitespace || VisibleText.isHidden($0)
            }
        return isPlain ? ".\(name)" : ".[\(JSONWriter.quoted(name))]"
    }
}
