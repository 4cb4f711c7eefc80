package import HTTPModel
import Text

extension JSONTree {
    /// The values that the steps lead to from the whole text, each once, in order; duplicate keys all count.
    package func nodes(at steps: some Collection<Place.Step>) -> [Int] { reached(by: steps).nodes }

    /// Why a place in this text has no value, for example `of the 3 values of res.json.items[*] none has member 'idd'`.
    package func misses(_ place: Place) -> String {
        let (_, count, step) = reached(by: place.steps)
        return JSONTree.misses(place, at: step, of: count)
    }

    /// Why the step of a place leads nowhere from the `count` values before it.
    static func misses(_ place: Place, at step: Int, of count: Int) -> String {
        let before = Place(place.root, place.part, Array(place.steps.prefix(step)))
        let missing =
            switch place.steps.indices.contains(step) ? place.steps[step] : .any {
            case .member(let name): "member '\(VisibleText.of(String(name.prefix(60))))'"
            case .element(let index): "element \(index)"
            case .any: "members or elements"
            }
        return count == 1
            ? "\(before) has no \(missing)" : "of the \(count.grouped) values of \(before) none has \(missing)"
    }

    /// The places of values of this text; `whole` is the text's own place.
    package func places(of wanted: [Int], in whole: Place) -> [Place] {
        steps(to: wanted).map { Place(whole.root, whole.part, whole.steps + $0) }
    }

    /// The node whose value begins at `offset` in the text.
    package func node(at offset: Int) -> Int? { nodes.firstIndex { $0.range.lowerBound == offset } }

    /// The steps from the whole text to each value.
    package func steps(to wanted: [Int]) -> [[Place.Step]] {
        var parents = [(parent: Int, place: Int)](repeating: (-1, 0), count: nodes.count)
        for (index, node) in nodes.enumerated() {
            for (place, child) in node.children.enumerated() { parents[child] = (index, place) }
        }
        return wanted.map { node in
            var steps: [Place.Step] = []
            var node = node
            while nodes.indices.contains(node), parents[node].parent >= 0 {
                steps.append(name(of: node).map { .member($0) } ?? .element(parents[node].place))
                node = parents[node].parent
            }
            return steps.reversed()
        }
    }

    /// The values at the end of the steps. If a step leads nowhere: its index, and how many values were reached before.
    private func reached(by steps: some Collection<Place.Step>) -> (nodes: [Int], before: Int, step: Int) {
        guard !nodes.isEmpty else { return ([], 1, 0) }
        var reached = [0]
        for (number, step) in steps.enumerated() {
            let next = reached.flatMap { children(of: $0, at: step) }
            if next.isEmpty { return ([], reached.count, number) }
            reached = next
        }
        return (reached, reached.count, steps.count)
    }

    private func children(of node: Int, at step: Place.Step) -> [Int] {
        let children = nodes[node].children
        switch step {
        case .any: return children
        case .member(let name):
            guard nodes[node].kind == .objectBegin else { return [] }
            return children.filter { nodes[$0].name.map { JSONTree.isName(bytes[$0], name) } ?? false }
        case .element(let index):
            guard nodes[node].kind == .arrayBegin else { return [] }
            return children.index(counted: index).map { [children[$0]] } ?? []
        }
    }

    /// Whether a name in quotes, with its escapes decoded, equals `name` byte for byte.
    static func isName(_ quoted: ArraySlice<UInt8>, _ name: String) -> Bool {
        let written = quoted.dropFirst().dropLast()
        return written.contains(UInt8(ascii: "\\"))
            ? JSONTree.unescaped(quoted).utf8.elementsEqual(name.utf8) : written.elementsEqual(name.utf8)
    }
}
