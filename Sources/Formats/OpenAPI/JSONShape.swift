import Content
import HTTPModel

/// What many values of JSON have in common, as a schema (JSON Schema 2020-12, which OpenAPI 3.1 has): their types, the
/// members of objects and which of them every object has, the elements of arrays.
///
/// It keeps no value, so none gets into a description.
final class JSONShape {
    /// Deeper values are not described.
    private static let deepest = 32
    /// An object of more members is described as a map.
    private static let mostMembers = 256
    /// A longer name is the entry of a map, in bytes.
    private static let longestName = 128
    private static let int32 = -2_147_483_648...2_147_483_647

    private var count = 0
    private var nulls = 0
    private var booleans = 0
    private var integers = 0
    private var numbers = 0
    private var hasLongIntegers = false
    private var texts = ValueText()
    private var arrays = 0
    private var elements: JSONShape?
    private var objects = 0
    private var members: [Member] = []
    private var places: [String: Int] = [:]
    /// What the values of a map have in common.
    private var values: JSONShape?
    private let depth: Int

    private struct Member {
        let name: String
        let shape: JSONShape
        /// In how many objects it is.
        var count: Int
    }

    init(depth: Int = 0) { self.depth = depth }

    func add(_ tree: JSONTree, _ index: Int = 0) {
        guard tree.nodes.indices.contains(index) else { return }
        count += 1
        let node = tree.nodes[index]
        switch node.kind {
        case .string: texts.add(tree.string(of: index) ?? "")
        case .number: add(number: tree.text(of: index))
        case .literal: if tree.text(of: index) == "null" { nulls += 1 } else { booleans += 1 }
        case .arrayBegin:
            arrays += 1
            guard depth < JSONShape.deepest else { return }
            for child in node.children {
                let shape = elements ?? JSONShape(depth: depth + 1)
                elements = shape
                shape.add(tree, child)
            }
        case .objectBegin:
            objects += 1
            guard depth < JSONShape.deepest else { return }
            addMembers(tree, node)
        case .name, .objectEnd, .arrayEnd: break
        }
    }

    private func add(number: String) {
        let isInteger = !number.utf8.contains {
            [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains($0)
        }
        guard isInteger else {
            numbers += 1
            return
        }
        integers += 1
        if let value = Int(number), JSONShape.int32.contains(value) { return }
        hasLongIntegers = true
    }

    private func addMembers(_ tree: JSONTree, _ node: JSONTree.Node) {
        var seen: Set<Int> = []
        for child in node.children {
            guard let name = tree.name(of: child) else { continue }
            if let place = places[name] {
                members[place].shape.add(tree, child)
                // A name may stand twice.
                if seen.insert(place).inserted { members[place].count += 1 }
            } else if values != nil || JSONShape.isKey(name) || members.count >= JSONShape.mostMembers {
                // Members whose names are identifiers or texts are the entries of a map.
                let shape = values ?? JSONShape(depth: depth + 1)
                values = shape
                shape.add(tree, child)
            } else {
                places[name] = members.count
                seen.insert(members.count)
                members.append(Member(name: name, shape: JSONShape(depth: depth + 1), count: 1))
                members[members.count - 1].shape.add(tree, child)
            }
        }
    }

    private static func isKey(_ name: String) -> Bool {
        name.utf8.count > longestName || PathShape.isIdentifier(name) || name.contains { $0.isNewline }
    }

    // MARK: - Writing

    /// Writes the schema's members into an open object.
    func write(into writer: inout JSONWriter) throws {
        var types: [String] = []
        if objects > 0 { types.append("object") }
        if arrays > 0 { types.append("array") }
        if texts.count > 0 { types.append("string") }
        if numbers > 0 { types.append("number") } else if integers > 0 { types.append("integer") }
        if booleans > 0 { types.append("boolean") }
        if nulls > 0 { types.append("null") }
        if types.count == 1 {
            writer.member("type", types[0])
        } else if !types.isEmpty {
            try writer.strings("type", types)
        }
        if texts.count > 0, integers + numbers == 0, let format = texts.format {
            writer.member("format", format.rawValue)
        } else if texts.count == 0, numbers == 0, integers > 0 {
            writer.member("format", hasLongIntegers ? "int64" : "int32")
        }
        if objects > 0 { try writeMembers(into: &writer) }
        if arrays > 0 { try writer.object("items") { try elements?.write(into: &$0) } }
    }

    private func writeMembers(into writer: inout JSONWriter) throws {
        if !members.isEmpty {
            try writer.object("properties") { writer in
                for member in members { try writer.object(member.name) { try member.shape.write(into: &$0) } }
            }
            let required = members.filter { $0.count == objects }.map(\.name)
            if !required.isEmpty { try writer.strings("required", required) }
        }
        if let values { try writer.object("additionalProperties") { try values.write(into: &$0) } }
    }
}
