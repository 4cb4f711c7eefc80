import HTTPModel

/// The values at places of an XML document: elements by name (a name without a prefix matches any prefix), attributes
/// as `@name`. The first step names the root. An element's value is all text in it, trimmed.
struct XMLPlaces {
    private struct Element {
        let name: String
        let attributes: [String: String]
        var children: [Int] = []
        /// The range of its text in the document's text.
        var text: Range<Int>
    }

    private var elements: [Element] = []
    private var text: [UInt8] = []

    /// The values at the end of the steps, in the document's order. Throws if the document is not well-formed.
    static func values(of bytes: [UInt8], at steps: [Place.Step]) throws(XMLSyntaxError) -> [PlaceValue] {
        let document = try XMLPlaces(bytes)
        guard !document.elements.isEmpty else { return [] }
        return document.values(among: [[0]], steps[...])
    }

    private init(_ bytes: [UInt8]) throws(XMLSyntaxError) {
        var pieces = [bytes]
        var reader = XMLTokenReader { pieces.popLast() ?? [] }
        var open: [Int] = []
        while let token = try reader.next() {
            switch token {
            case .start(let name, let attributes):
                if let parent = open.last { elements[parent].children.append(elements.count) }
                open.append(elements.count)
                elements.append(Element(name: name, attributes: attributes, text: text.count..<text.count))
            case .text(let piece): text += piece.utf8
            case .end:
                guard let element = open.popLast() else { continue }
                elements[element].text = elements[element].text.lowerBound..<text.count
            }
        }
    }

    /// Follows the steps from elements that are grouped by their parents, because an index counts within a parent.
    private func values(among groups: [[Int]], _ steps: ArraySlice<Place.Step>) -> [PlaceValue] {
        guard let step = steps.first else {
            return groups.joined().map { PlaceValue(text[elements[$0].text].trimmingASCIIWhitespace, .xml) }
        }
        var rest = steps.dropFirst()
        var named = groups
        if case .member(let name) = step {
            if name.first == "@", rest.isEmpty { return [] }
            named = groups.map { $0.filter { isNamed(elements[$0].name, name) } }
        }
        switch rest.first {
        case .element(let wanted):
            rest = rest.dropFirst()
            named = named.map { group in group.index(counted: wanted).map { [group[$0]] } ?? [] }
        case .any: rest = rest.dropFirst()
        default: break
        }
        let reached = named.flatMap(\.self)
        if rest.count == 1, case .member(let name)? = rest.first, name.first == "@" {
            return reached.flatMap { element in
                elements[element].attributes.sorted { $0.key < $1.key }
                    .filter { isNamed($0.key, String(name.dropFirst())) }.map { PlaceValue($0.value, .xml) }
            }
        }
        return rest.isEmpty ? values(among: [reached], []) : values(among: reached.map { elements[$0].children }, rest)
    }

    private func isNamed(_ name: String, _ wanted: String) -> Bool {
        name == wanted || !wanted.contains(":") && name.hasSuffix(":" + wanted)
    }
}
