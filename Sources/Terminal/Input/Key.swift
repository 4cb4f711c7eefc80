package struct Key: Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// A key that writes a character; together with control, the lower-case letter.
        case character(Character)
        case enter, escape, tab, backspace, delete, insert, up, down, left, right, home, end, pageUp, pageDown
        case function(Int)
    }

    package struct Modifiers: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Not set for characters except space: `A` is the character `A` without shift.
        package static let shift = Modifiers(rawValue: 1)
        /// Alt, or Meta, or Option.
        package static let alt = Modifiers(rawValue: 2)
        package static let control = Modifiers(rawValue: 4)
    }

    package var code: Code
    package var modifiers: Modifiers

    package init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }
}

extension Key {
    private static let names: [(code: Code, name: String)] = [
        (.character(" "), "space"), (.enter, "enter"), (.escape, "esc"), (.tab, "tab"), (.backspace, "backspace"),
        (.delete, "delete"), (.insert, "insert"), (.up, "up"), (.down, "down"), (.left, "left"), (.right, "right"),
        (.home, "home"), (.end, "end"), (.pageUp, "pgup"), (.pageDown, "pgdn"),
    ]

    /// Other names of the same keys, which are read but not written.
    private static let otherNames: [String: Code] = [
        "return": .enter, "escape": .escape, "del": .delete, "ins": .insert, "pageup": .pageUp, "pagedown": .pageDown,
        "pgdown": .pageDown, "minus": .character("-"),
    ]

    private static let prefixes: [(modifier: Modifiers, name: String)] = [
        (.control, "ctrl-"), (.alt, "alt-"), (.shift, "shift-"),
    ]

    /// The key in the form of ``init(spelling:)``: `a`, `A`, `ctrl-x`, `alt-enter`, `shift-tab`, `space`, `f5`, `?`.
    package var spelling: String {
        let prefix = Key.prefixes.filter { modifiers.contains($0.modifier) }.map(\.name).joined()
        let name = Key.names.first { $0.code == code }?.name
        return switch code {
        case .character(let character): prefix + (name ?? String(character))
        case .function(let number): prefix + "f\(number)"
        default: prefix + (name ?? "")
        }
    }

    /// Ignores the case of names and modifiers. Reads `ctrl-X` as `ctrl-x` and `shift-a` as `A`, like terminals.
    package init?(spelling: String) {
        var modifiers: Modifiers = []
        var rest = spelling[...]
        func isFirst(_ name: String) -> Bool { rest.lowercased().hasPrefix(name) && rest.count > name.count }
        while let prefix = Key.prefixes.first(where: { isFirst($0.name) }) {
            guard !modifiers.contains(prefix.modifier) else { return nil }
            modifiers.insert(prefix.modifier)
            rest = rest.dropFirst(prefix.name.count)
        }
        guard var code = Key.code(of: rest) else { return nil }
        if case .character(let character) = code {
            if modifiers.contains(.shift), character != " " {
                let capital = character.uppercased()
                guard capital.count == 1, let first = capital.first, first != character else { return nil }
                code = .character(first)
                modifiers.remove(.shift)
            }
            if modifiers.contains(.control) { code = .character(Key.lowered(character)) }
        }
        self.init(code, modifiers)
    }

    private static func code(of word: Substring) -> Code? {
        if word.count == 1, let character = word.first {
            return character.isNewline || character == "\t" || character.unicodeScalars.contains { $0.value < 0x20 }
                ? nil : .character(character)
        }
        let name = word.lowercased()
        if let code = names.first(where: { $0.name == name })?.code ?? otherNames[name] { return code }
        return (1...24).first { name == "f\($0)" }.map { .function($0) }
    }

    static func lowered(_ character: Character) -> Character {
        let lower = character.lowercased()
        return lower.count == 1 ? lower.first ?? character : character
    }
}
