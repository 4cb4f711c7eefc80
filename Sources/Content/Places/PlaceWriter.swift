package import HTTPModel

/// Why a value cannot be written: one sentence without a full stop.
package struct PlaceWriteError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Sets, adds and removes header fields, cookies, query parameters, form fields and JSON values at places; other bytes
/// stay.
package struct PlaceWriter {
    package enum Action: Sendable {
        /// Leaves one of several values of a name, where the first was; with `[*]` sets each.
        case set(String)
        /// Puts a value after the others of its name. In JSON appends to arrays, or makes a missing member.
        case add(String)
        case remove

        fileprivate var value: String? {
            switch self {
            case .set(let value), .add(let value): value
            case .remove: nil
            }
        }
    }

    /// An action at a place; a single one is refused if it would set several values.
    private struct Edit {
        let action: Action
        let place: Place
        var isSingle = false

        var value: String? { action.value }
        var name: String { place.name ?? "" }
    }

    /// In bytes, after an edit.
    package static let longestBody = 64 << 20

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
        let isText = place.part == .json && value.map { (try? JSONTree(Array($0.utf8))) == nil } ?? false
        let action = value.map { Action.set(isText ? JSONWriter.quoted($0) : $0) } ?? .remove
        _ = try write(Edit(action: action, place: place, isSingle: true))
    }

    /// Edits all values at a place; a value for JSON must be JSON. Returns how many changed: 0 if the place already has
    /// the value. Throws why there is nothing to edit.
    package mutating func apply(_ action: Action, at place: Place) throws(PlaceWriteError) -> Int {
        try write(Edit(action: action, place: place))
    }

    private mutating func write(_ edit: Edit) throws(PlaceWriteError) -> Int {
        switch edit.place.part {
        case .header: return try writeField(edit)
        case .cookie: return try isRequest ? writeCookie(edit) : writeSetCookie(edit)
        case .query:
            let (pairs, changed) = try pairs(query ?? [], edit)
            query = pairs.isEmpty ? nil : pairs
            return changed
        case .form: return try writeForm(edit)
        case .json: return try writeJSON(edit)
        default: throw PlaceWriteError("\(edit.place) cannot be edited; header, cookie, query, form and json can be")
        }
    }

    /// The values to edit, among all with the name: those to set and those to remove. Both are empty if a value is to
    /// be added.
    private func picked<Position>(
        _ all: [Position],
        _ edit: Edit
    ) throws(PlaceWriteError) -> (set: ArraySlice<Position>, removed: ArraySlice<Position>) {
        if case .add = edit.action { return ([], []) }
        var (set, removed) = (all.prefix(1), all.dropFirst())
        switch edit.place.steps.dropFirst().first {
        case .element(let number)?:
            if let index = all.index(counted: number) {
                (set, removed) = (all[index...index], [])
            } else {
                guard edit.value != nil, number == all.count else { throw missing(edit.place) }
                return ([], [])
            }
        case .any? where edit.value != nil && edit.isSingle:
            if all.count > 1 { throw several(all.count, edit.place) }
        case .any?:
            if all.isEmpty { throw missing(edit.place) }
            (set, removed) = (all[...], [])
        default: break
        }
        guard let value = edit.value else {
            if set.isEmpty { throw missing(edit.place) }
            return ([], set + removed)
        }
        if set.count > 1, value.utf8.count > PlaceWriter.longestBody / set.count { throw PlaceWriter.tooLong }
        return (set, removed)
    }

    private static let tooLong = PlaceWriteError("it would grow beyond \(longestBody >> 20) MiB")

    private func missing(_ place: Place) -> PlaceWriteError { PlaceWriteError("there is no \(place)") }

    private func several(_ count: Int, _ place: Place) -> PlaceWriteError {
        PlaceWriteError("\(place) names \(count) values; name one of them by its number")
    }

    // MARK: - Heads

    private mutating func writeField(_ edit: Edit) throws(PlaceWriteError) -> Int {
        let positions = fields.indices.filter { fields[$0].name.lowercased() == edit.name }
        let (set, removed) = try picked(positions, edit)
        let value = Array((edit.value ?? "").utf8)
        return write(edit.name, set.map { ($0, value) }, value, removed)
    }

    /// Sets and removes fields; without any of them, appends one. Returns the number of changes.
    private mutating func write(
        _ name: String,
        _ set: [(position: Int, value: [UInt8])],
        _ added: [UInt8],
        _ removed: ArraySlice<Int>
    ) -> Int {
        if set.isEmpty, removed.isEmpty {
            fields.append(name, bytes: added)
            return 1
        }
        let changed = set.filter { !fields[$0.position].valueBytes.elementsEqual($0.value) }
        for (position, value) in changed { fields.setValue(value, at: position) }
        for position in removed.reversed() { fields.remove(at: position) }
        return changed.count + removed.count
    }

    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")

    /// Whether a cookie pair has this name: the text before its `=`.
    private static func isNamed(_ name: String, _ piece: ArraySlice<UInt8>) -> Bool {
        guard let end = piece.firstIndex(of: equals) else { return false }
        return piece[..<end].trimmingASCIIWhitespace.elementsEqual(name.utf8)
    }

    private func checkCookie(_ edit: Edit) throws(PlaceWriteError) {
        guard let value = edit.value, "\(edit.name)\(value)".utf8.contains(PlaceWriter.semicolon) else { return }
        throw PlaceWriteError("the name and the value of a cookie cannot have a ';'")
    }

    private mutating func writeCookie(_ edit: Edit) throws(PlaceWriteError) -> Int {
        try checkCookie(edit)
        let positions = fields.indices.filter { FieldName(fields[$0].name) == .cookie }
        // A removed cookie becomes `nil`.
        var lists: [[ArraySlice<UInt8>?]] = positions.map { position in
            Array(fields[position].valueBytes).split(separator: PlaceWriter.semicolon, omittingEmptySubsequences: false)
        }
        let all = lists.indices.flatMap { list in
            lists[list].indices.filter { PlaceWriter.isNamed(edit.name, lists[list][$0] ?? []) }.map { (list, $0) }
        }
        let (set, removed) = try picked(all, edit)
        let pair = Array("\(edit.name)=\(edit.value ?? "")".utf8)
        if set.isEmpty, removed.isEmpty {
            if let last = positions.last {
                fields.setValue(Array(fields[last].valueBytes) + Array("; ".utf8) + pair, at: last)
            } else {
                fields.append("Cookie", bytes: pair)
            }
            return 1
        }
        var changed = removed.map(\.0)
        for (list, index) in set {
            let old = lists[list][index] ?? []
            let new = (old.prefix { $0 == 0x20 } + pair)[...]
            if new != old { changed.append(list) }
            lists[list][index] = new
        }
        for (list, index) in removed { lists[list][index] = nil }
        for list in Set(changed).sorted().reversed() {
            let kept = lists[list].compactMap(\.self)
            if kept.isEmpty {
                fields.remove(at: positions[list])
            } else {
                let joined = Array(kept.joined(separator: [PlaceWriter.semicolon]))
                fields.setValue(joined.drop { $0 == 0x20 }, at: positions[list])
            }
        }
        return changed.count
    }

    private mutating func writeSetCookie(_ edit: Edit) throws(PlaceWriteError) -> Int {
        try checkCookie(edit)
        let positions = fields.indices.filter { position in
            FieldName(fields[position].name) == .setCookie
                && PlaceWriter.isNamed(
                    edit.name,
                    Array(fields[position].valueBytes).prefix { $0 != PlaceWriter.semicolon }
                )
        }
        let (set, removed) = try picked(positions, edit)
        let pair = Array("\(edit.name)=\(edit.value ?? "")".utf8)
        let changed = set.map { position in
            (position, pair + Array(fields[position].valueBytes).drop { $0 != PlaceWriter.semicolon })
        }
        return write("Set-Cookie", changed, pair, removed)
    }

    // MARK: - Queries and bodies

    private mutating func writeForm(_ edit: Edit) throws(PlaceWriteError) -> Int {
        let form = "application/x-www-form-urlencoded"
        let type = fields.value(of: .contentType)
        guard type.map({ MediaType($0)?.essence == form }) ?? body.isEmpty else {
            throw PlaceWriteError("the body is \(type.map { "of type \($0)" } ?? "of no stated type"), not a form")
        }
        let changed: Int
        (body, changed) = try pairs(body, edit)
        if type == nil { fields.append("Content-Type", form) }
        return changed
    }

    /// The pairs of a query or form after an edit, and the number of changes.
    private func pairs(_ bytes: [UInt8], _ edit: Edit) throws(PlaceWriteError) -> ([UInt8], Int) {
        let separator = UInt8(ascii: "&")
        var all: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: separator) ?? bytes.count
            if FormFields.decode(bytes[start..<end].prefix { $0 != PlaceWriter.equals }) == edit.name {
                all.append(start..<end)
            }
            start = end + 1
        }
        let (set, removed) = try picked(all, edit)
        let pair = Array("\(FormFields.encoded(edit.name))=\(FormFields.encoded(edit.value ?? ""))".utf8)
        if set.isEmpty, removed.isEmpty { return (bytes + (bytes.isEmpty ? [] : [separator]) + pair, 1) }
        var (result, copied, changed) = ([UInt8](), 0, removed.count)
        for range in set {
            result += bytes[copied..<range.lowerBound] + pair
            copied = range.upperBound
            changed += bytes[range].elementsEqual(pair) ? 0 : 1
        }
        for range in removed {
            result += bytes[copied..<range.lowerBound]
            copied = min(range.upperBound + 1, bytes.count)
        }
        result += bytes[copied...]
        // The separator before the last pair is removed with it.
        if removed.last?.upperBound == bytes.count, result.last == separator { result.removeLast() }
        return (result, changed)
    }

    private mutating func writeJSON(_ edit: Edit) throws(PlaceWriteError) -> Int {
        let (steps, value) = (edit.place.steps, Array((edit.value ?? "").utf8))
        let action: JSONEditor.Action =
            switch edit.action {
            case .set: .set(value, makesMissing: !edit.isSingle)
            case .add: .add(value)
            case .remove: .remove
            }
        var editor = try editor(at: steps, action)
        let count = editor.reached.last ?? 0
        if edit.isSingle {
            if count > 1 { throw several(count, edit.place) }
            if count == 0, edit.value != nil {
                let made = try self.editor(at: steps, .set(value, makesMissing: true))
                if made.reached.last == 1 { editor = made }
            }
        }
        if let step = editor.reached.firstIndex(of: 0) {
            let names = edit.isSingle ? members(at: steps.prefix(step - 1)) : ""
            throw PlaceWriteError(JSONTree.misses(edit.place, at: step - 1, of: editor.reached[step - 1]) + names)
        }
        if case .remove = edit.action, steps.isEmpty { throw PlaceWriteError("\(edit.place) is the whole body") }
        if case .add = edit.action, editor.changed == 0 {
            throw PlaceWriteError("\(edit.place) is not an array; 'set' replaces a value")
        }
        if editor.isTooLong { throw PlaceWriter.tooLong }
        body = editor.output
        return editor.changed
    }

    private func editor(
        at steps: [Place.Step],
        _ action: JSONEditor.Action
    ) throws(PlaceWriteError) -> JSONEditor {
        do throws(JSONSyntaxError) {
            return try JSONEditor(body, at: steps, action)
        } catch {
            throw PlaceWriteError("the body is not JSON: \(error)")
        }
    }

    private func members(at steps: some Collection<Place.Step>) -> String {
        guard let tree = try? JSONTree(body) else { return "" }
        let names = tree.nodes(at: steps).flatMap { tree.nodes[$0].children }.lazy.compactMap { tree.name(of: $0) }
        return names.isEmpty ? "" : "; it has \(names.prefix(8).joined(separator: ", "))"
    }
}
