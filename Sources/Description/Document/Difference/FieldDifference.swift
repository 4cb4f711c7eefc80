import HTTPModel

/// How one list of named values became another, whatever their order.
enum FieldDifference {
    enum Change: Equatable {
        case same(String)
        case added(String)
        case removed(String)
        case changed(String, to: String)
    }

    struct Entry: Equatable {
        var name: String
        var change: Change
    }

    private struct Pair: Hashable {
        var name: String
        var value: String
    }

    /// The entries: those of the first list in its order, then what was added; names may be the same in any case.
    static func entries(
        _ before: [(name: String, value: String)],
        _ after: [(name: String, value: String)],
        ignoringCase: Bool = true
    ) -> [Entry] {
        if let entries = inOrder(before, after) { return entries }
        func key(_ name: String) -> String { ignoringCase ? name.lowercased() : name }
        var unmatched: [Pair: [Int]] = [:]
        for (index, pair) in after.enumerated().reversed() {
            unmatched[Pair(name: key(pair.name), value: pair.value), default: []].append(index)
        }
        var isTaken = [Bool](repeating: false, count: after.count)
        var isSame = [Bool](repeating: false, count: before.count)
        for (index, pair) in before.enumerated() {
            if let match = unmatched[Pair(name: key(pair.name), value: pair.value)]?.popLast() {
                isTaken[match] = true
                isSame[index] = true
            }
        }
        // What is left over is paired by name, in order.
        var left: [String: [Int]] = [:]
        for index in after.indices.reversed() where !isTaken[index] {
            left[key(after[index].name), default: []].append(index)
        }
        var entries: [Entry] = []
        for (index, pair) in before.enumerated() {
            if isSame[index] {
                entries.append(Entry(name: pair.name, change: .same(pair.value)))
            } else if let match = left[key(pair.name)]?.popLast() {
                isTaken[match] = true
                entries.append(Entry(name: pair.name, change: .changed(pair.value, to: after[match].value)))
            } else {
                entries.append(Entry(name: pair.name, change: .removed(pair.value)))
            }
        }
        for (index, pair) in after.enumerated() where !isTaken[index] {
            entries.append(Entry(name: pair.name, change: .added(pair.value)))
        }
        return entries
    }

    /// The entries where both lists have the same names in the same order, each once, as it is most often; else `nil`.
    private static func inOrder(
        _ before: [(name: String, value: String)],
        _ after: [(name: String, value: String)]
    ) -> [Entry]? {
        guard before.count == after.count, before.count <= mostInOrder,
            zip(before, after).allSatisfy({ $0.name == $1.name })
        else { return nil }
        for (index, pair) in before.enumerated() {
            let isThere = before[..<index].contains { other in
                other.name.utf8.count == pair.name.utf8.count
                    && other.name.utf8.elementsEqual(pair.name.utf8) { $0 | 0x20 == $1 | 0x20 }
            }
            if isThere { return nil }
        }
        return zip(before, after).map { old, new in
            Entry(
                name: old.name,
                change: old.value == new.value ? .same(old.value) : .changed(old.value, to: new.value)
            )
        }
    }

    /// Longer lists are not looked through for names that stand twice.
    private static let mostInOrder = 40

    static func entries(_ before: FieldSection, _ after: FieldSection) -> [Entry] {
        entries(before.map { ($0.name, $0.value) }, after.map { ($0.name, $0.value) })
    }
}

extension DetailWriter {
    /// Adds entries as a table, each with the sign of what happened to it (a column that is there where `marked`) and,
    /// where it did not stay the same, what `label` says of it; `role` is that of the names of the others.
    mutating func changes(
        _ entries: [FieldDifference.Entry],
        marked: Bool,
        role: (String) -> Role = { _ in .key },
        label: (String) -> String? = { _ in nil }
    ) {
        var marks: [Span] = []
        let rows = entries.map { entry -> (name: Span, value: [Span]) in
            let by = label(entry.name).map { [Span("  (\($0))", .faint)] } ?? []
            switch entry.change {
            case .same(let value):
                marks.append(Span("  "))
                let isFaint = role(entry.name) == .faint
                return (Span(entry.name, role(entry.name)), [Span(value, isFaint ? .faint : .text)])
            case .added(let value):
                marks.append(Span("+ ", .added))
                return (Span(entry.name, .added), [Span(value, .added)] + by)
            case .removed(let value):
                marks.append(Span(minus + " ", .removed))
                return (Span(entry.name, .removed), [Span(value, .removed)] + by)
            case .changed(let old, let new):
                marks.append(Span("~ ", role(entry.name) == .faint ? .faint : .changed))
                let change = [Span(old, .removed), Span(" \(arrow) ", .punctuation), Span(new, .added)]
                return (Span(entry.name, role(entry.name) == .faint ? .faint : .changed), change + by)
            }
        }
        table(rows, marks: marked ? marks : nil)
    }
}
