import Content
import HTTPModel

/// The differences between two lists of named values; the order of the lists does not matter.
enum FieldDifference {
    struct Entry: Equatable {
        var name: String
        /// The index among values of the same name, in the newer list if possible; `nil` if the name is unique.
        var index: Int?
        var old: String?
        var new: String?
        var isSame = false

        func place(_ root: Place.Root, _ part: Place.Part) -> Place {
            Place(root, part, [.member(name)] + (index.map { [.element($0)] } ?? []))
        }
    }

    /// In the first list's order, added values last. If strict, each byte and the order of values of one name count.
    static func entries(
        _ before: [FormField],
        _ after: [FormField],
        ignoringCase: Bool = true,
        isStrict: Bool = false
    ) -> [Entry] {
        func isSame(_ left: String, _ right: String) -> Bool {
            left == right && (!isStrict || left.utf8.elementsEqual(right.utf8))
        }
        func entry(_ old: FormField?, _ new: FormField?, _ index: Int? = nil) -> Entry {
            let isSame = if let old, let new { isSame(old.value, new.value) } else { false }
            return Entry(name: (old ?? new)?.name ?? "", index: index, old: old?.value, new: new?.value, isSame: isSame)
        }
        if before.count == after.count, zip(before, after).allSatisfy({ isSame($0.name, $1.name) }), isSet(before) {
            return zip(before, after).map { entry($0, $1) }
        }
        var names: [[UInt8]: (old: [Int], new: [Int])] = [:]
        func key(_ field: FormField) -> [UInt8] { Array((ignoringCase ? field.name.lowercased() : field.name).utf8) }
        for (place, field) in before.enumerated() { names[key(field), default: ([], [])].old.append(place) }
        for (place, field) in after.enumerated() { names[key(field), default: ([], [])].new.append(place) }
        var entries: [(place: Int, entry: Entry)] = []
        for (old, new) in names.values {
            func add(_ left: Int?, _ right: Int?) {
                let number = right.flatMap { new.firstIndex(of: $0) } ?? left.flatMap { old.firstIndex(of: $0) }
                let index = max(old.count, new.count) > 1 ? number : nil
                let place = left ?? before.count + (right ?? 0)
                entries.append((place, entry(left.map { before[$0] }, right.map { after[$0] }, index)))
            }
            var (left, right) = (old, new)
            if !isStrict {
                var waiting = Dictionary(grouping: new.reversed()) { after[$0].value }
                left.removeAll { place in
                    guard let match = waiting[before[place].value]?.popLast() else { return false }
                    add(place, match)
                    return true
                }
                right = waiting.values.joined().sorted()
            }
            // The remaining values are paired in order.
            for offset in 0..<max(left.count, right.count) {
                add(offset < left.count ? left[offset] : nil, offset < right.count ? right[offset] : nil)
            }
        }
        return entries.sorted { $0.place < $1.place }.map(\.entry)
    }

    /// Longer lists are not searched for duplicate names.
    private static let mostInOrder = 40

    /// Whether each name occurs only once, ignoring case; usually true.
    private static func isSet(_ fields: [FormField]) -> Bool {
        fields.count <= mostInOrder
            && fields.indices.allSatisfy { index in
                let name = fields[index].name.utf8
                return !fields[..<index].contains { other in
                    other.name.utf8.count == name.count
                        && other.name.utf8.elementsEqual(name) { $0 | 0x20 == $1 | 0x20 }
                }
            }
    }

    static func fields(_ section: FieldSection) -> [FormField] {
        section.map { FormField(name: $0.name, value: $0.value) }
    }
}

extension DetailWriter {
    /// Adds entries with a mark for added, removed or changed, and `label`'s text. `role` is for unchanged names.
    mutating func changes(
        _ entries: [FieldDifference.Entry],
        of part: Place? = nil,
        named: (FieldDifference.Entry) -> String = { $0.name },
        explains: Bool = true,
        role: (String) -> Role = { _ in .key },
        label: (String) -> String? = { _ in nil }
    ) {
        var marks: [Span] = []
        let rows = entries.map { entry -> (name: Span, value: [Span]) in
            let usual = role(entry.name)
            if entry.isSame {
                marks.append(Span("  "))
                return (Span(named(entry), usual), [Span(entry.new ?? "", usual == .faint ? .faint : .text)])
            }
            let isBoth = entry.old != nil && entry.new != nil
            let sign = isBoth ? "~" : entry.old == nil ? "+" : minus
            let role: Role = isBoth ? usual == .faint ? .faint : .changed : entry.old == nil ? .added : .removed
            marks.append(Span(sign + " ", role))
            let values = [
                entry.old.map { Span($0, .removed) }, isBoth ? Span(" \(arrow) ", .punctuation) : nil,
                entry.new.map { Span($0, .added) }, label(entry.name).map { Span("  (\($0))", .faint) },
            ]
            return (Span(named(entry), role), values.compactMap(\.self))
        }
        table(rows, of: part, marks: marks, names: entries.map(\.name), explains: explains)
    }
}
