package import HTTPModel

/// Why a value cannot be written: one sentence without a full stop.
package struct PlaceWriteError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Sets and removes header fields, cookies, query parameters, form fields and JSON values at places; other bytes stay.
package struct PlaceWriter {
    package private(set) var fields: FieldSection
    /// Without its `?`; `nil` if there is no query, and in responses.
    package private(set) var query: [UInt8]?
    /// Without content coding.
    package var body: [UInt8] = []
    private let isRequest: Bool

    package init(isRequest: Bool, fields: FieldSection, query: [UInt8]? = nil) {
        (self.isRequest, self.fields, self.query) = (isRequest, fields, query)
    }

    /// Sets or adds the value at a place; `nil` removes it. Without a number, the value replaces all values of its
    /// name. In JSON, a value that is not JSON becomes a string; the number after the last element appends one.
    package mutating func set(_ value: String?, at place: Place) throws(PlaceWriteError) {
        switch place.part {
        case .header: try writeField(value, place)
        case .cookie: try isRequest ? writeCookie(value, place) : writeSetCookie(value, place)
        case .query:
            let rest = try pairs(query ?? [], value, place)
            query = rest.isEmpty ? nil : rest
        case .form: try writeForm(value, place)
        case .json: body = try json(value, place)
        default: throw PlaceWriteError("\(place) cannot be edited; header, cookie, query, form and json can be")
        }
    }

    /// The values to edit, among all with the name; empty if `value` is to be added.
    private func picked<Position>(
        _ all: [Position],
        _ value: String?,
        _ place: Place
    ) throws(PlaceWriteError) -> [Position] {
        switch place.steps.dropFirst().first {
        case .element(let number)?:
            if let index = all.index(counted: number) { return [all[index]] }
            guard value != nil, number == all.count else { throw PlaceWriteError("there is no \(place)") }
            return []
        case .any? where value != nil && all.count > 1: throw several(all.count, place)
        default:
            guard value != nil || !all.isEmpty else { throw PlaceWriteError("there is no \(place)") }
            return all
        }
    }

    private func several(_ count: Int, _ place: Place) -> PlaceWriteError {
        PlaceWriteError("\(place) names \(count) values; name one of them by its number")
    }

    private mutating func writeField(_ value: String?, _ place: Place) throws(PlaceWriteError) {
        let name = place.name ?? ""
        let positions = fields.indices.filter { fields[$0].name.lowercased() == name }
        try write(value.map { Array($0.utf8) }, named: name, to: picked(positions, value, place))
    }

    /// Sets the first of the edited fields, or appends a field if `edited` is empty; removes the others.
    private mutating func write(_ value: [UInt8]?, named name: String, to edited: [Int]) {
        if let value, let first = edited.first {
            fields.setValue(value, at: first)
        } else if let value {
            fields.append(name, bytes: value)
        }
        for position in edited.dropFirst(value == nil ? 0 : 1).reversed() { fields.remove(at: position) }
    }

    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")

    /// Whether a cookie pair has this name: the text before its `=`.
    private static func isNamed(_ name: String, _ piece: ArraySlice<UInt8>) -> Bool {
        guard let end = piece.firstIndex(of: equals) else { return false }
        return piece[..<end].trimmingASCIIWhitespace.elementsEqual(name.utf8)
    }

    private func checkCookie(_ value: String?, _ place: Place) throws(PlaceWriteError) {
        guard let value, "\(place.name ?? "")\(value)".utf8.contains(PlaceWriter.semicolon) else { return }
        throw PlaceWriteError("the name and the value of a cookie cannot have a ';'")
    }

    private mutating func writeCookie(_ value: String?, _ place: Place) throws(PlaceWriteError) {
        try checkCookie(value, place)
        let name = place.name ?? ""
        let positions = fields.indices.filter { FieldName(fields[$0].name) == .cookie }
        var lists = positions.map { position in
            Array(fields[position].valueBytes).split(separator: PlaceWriter.semicolon, omittingEmptySubsequences: false)
        }
        let all = lists.indices.flatMap { list in
            lists[list].indices.filter { PlaceWriter.isNamed(name, lists[list][$0]) }.map { (list, $0) }
        }
        let edited = try picked(all, value, place)
        if let value {
            let piece = Array("\(name)=\(value)".utf8)
            guard let (list, index) = edited.first else {
                guard let last = positions.last else { return fields.append("Cookie", bytes: piece) }
                return fields.setValue(Array(fields[last].valueBytes) + Array("; ".utf8) + piece, at: last)
            }
            lists[list][index] = lists[list][index].prefix { $0 == 0x20 } + piece
        }
        for (list, index) in edited.dropFirst(value == nil ? 0 : 1).reversed() { lists[list].remove(at: index) }
        for list in Set(edited.map(\.0)).sorted().reversed() {
            if lists[list].isEmpty {
                fields.remove(at: positions[list])
            } else {
                let joined = Array(lists[list].joined(separator: [PlaceWriter.semicolon]))
                fields.setValue(joined.drop { $0 == 0x20 }, at: positions[list])
            }
        }
    }

    private mutating func writeSetCookie(_ value: String?, _ place: Place) throws(PlaceWriteError) {
        try checkCookie(value, place)
        let name = place.name ?? ""
        let positions = fields.indices.filter { position in
            FieldName(fields[position].name) == .setCookie
                && PlaceWriter.isNamed(name, Array(fields[position].valueBytes).prefix { $0 != PlaceWriter.semicolon })
        }
        let edited = try picked(positions, value, place)
        let attributes = edited.first.map { Array(fields[$0].valueBytes).drop { $0 != PlaceWriter.semicolon } } ?? []
        write(value.map { Array("\(name)=\($0)".utf8) + attributes }, named: "Set-Cookie", to: edited)
    }

    private mutating func writeForm(_ value: String?, _ place: Place) throws(PlaceWriteError) {
        let form = "application/x-www-form-urlencoded"
        let type = fields.value(of: .contentType)
        guard type.map({ MediaType($0)?.essence == form }) ?? body.isEmpty else {
            throw PlaceWriteError("the body is \(type.map { "of type \($0)" } ?? "of no stated type"), not a form")
        }
        body = try pairs(body, value, place)
        if type == nil { fields.append("Content-Type", form) }
    }

    /// The pairs of a query or form after one pair is set or removed.
    private func pairs(_ bytes: [UInt8], _ value: String?, _ place: Place) throws(PlaceWriteError) -> [UInt8] {
        let name = place.name ?? ""
        let separator = UInt8(ascii: "&")
        var pairs = bytes.isEmpty ? [] : bytes.split(separator: separator, omittingEmptySubsequences: false)
        let all = pairs.indices.filter { FormFields.decode(pairs[$0].prefix { $0 != PlaceWriter.equals }) == name }
        let edited = try picked(all, value, place)
        if let value {
            let pair = Array("\(FormFields.encoded(name))=\(FormFields.encoded(value))".utf8)[...]
            if let first = edited.first { pairs[first] = pair } else { pairs.append(pair) }
        }
        for index in edited.dropFirst(value == nil ? 0 : 1).reversed() { pairs.remove(at: index) }
        return Array(pairs.joined(separator: [separator]))
    }

    private func json(_ value: String?, _ place: Place) throws(PlaceWriteError) -> [UInt8] {
        let tree: JSONTree
        do throws(JSONSyntaxError) {
            tree = try JSONTree(body)
        } catch {
            throw PlaceWriteError("the body is not JSON: \(error)")
        }
        let nodes = tree.nodes(at: place.steps)
        guard nodes.count < 2 else { throw several(nodes.count, place) }
        guard let value else {
            guard let node = nodes.first else { throw missing(place, tree) }
            return try removed(node, of: tree, place)
        }
        let isJSON = (try? JSONTree(Array(value.utf8))) != nil
        let new = isJSON ? value : JSONWriter.quoted(value)
        if let range = nodes.first.map({ tree.nodes[$0].range }) {
            return body[..<range.lowerBound] + Array(new.utf8) + body[range.upperBound...]
        }
        let parents = tree.nodes(at: place.steps.dropLast())
        guard let parent = parents.first, parents.count == 1 else { throw missing(place, tree) }
        switch (tree.nodes[parent].kind, place.steps.last) {
        case (.objectBegin, .member(let name)?): return added("\(JSONWriter.quoted(name)):\(new)", to: parent, of: tree)
        case (.arrayBegin, .element(tree.nodes[parent].children.count)?): return added(new, to: parent, of: tree)
        default: throw missing(place, tree)
        }
    }

    private func missing(_ place: Place, _ tree: JSONTree) -> PlaceWriteError {
        let known = place.steps.indices.lazy.map { tree.nodes(at: place.steps[..<$0]) }.last { !$0.isEmpty } ?? []
        let names = known.flatMap { tree.nodes[$0].children }.lazy.compactMap { tree.name(of: $0) }.prefix(8)
        return PlaceWriteError(tree.misses(place) + (names.isEmpty ? "" : "; it has \(names.joined(separator: ", "))"))
    }

    private func added(_ text: String, to node: Int, of tree: JSONTree) -> [UInt8] {
        let last = tree.nodes[node].children.last
        let end = last.map { tree.nodes[$0].range.upperBound } ?? tree.nodes[node].range.lowerBound + 1
        return body[..<end] + Array((last == nil ? text : "," + text).utf8) + body[end...]
    }

    /// The body without a member or an element, and without the comma after it or before the last one.
    private func removed(_ node: Int, of tree: JSONTree, _ place: Place) throws(PlaceWriteError) -> [UInt8] {
        guard let parent = tree.nodes.first(where: { $0.children.contains(node) }),
            let index = parent.children.firstIndex(of: node)
        else { throw PlaceWriteError("\(place) is the whole body") }
        func start(_ node: Int) -> Int { tree.nodes[node].name?.lowerBound ?? tree.nodes[node].range.lowerBound }
        let children = parent.children
        if index + 1 < children.count { return Array(body[..<start(node)] + body[start(children[index + 1])...]) }
        let before = index > 0 ? tree.nodes[children[index - 1]].range.upperBound : start(node)
        return Array(body[..<before] + body[tree.nodes[node].range.upperBound...])
    }
}
