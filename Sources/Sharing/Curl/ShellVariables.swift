import Masking

/// Puts variables of the shell in the place of masked secrets, or of the environment for a program, so that a command runs
/// once they are set.
struct ShellVariables {
    /// A part of a text that has secrets.
    enum Piece {
        case text([UInt8])
        /// The name of a variable.
        case variable(String)

        var isVariable: Bool { if case .variable = self { true } else { false } }
        /// Of a text; empty for a variable.
        var bytes: [UInt8] { if case .text(let bytes) = self { bytes } else { [] } }
        /// Of a variable; empty for a text.
        var name: String { if case .variable(let name) = self { name } else { "" } }
    }

    /// More variables side by side are in several lines.
    private static let mostInLine = 40

    private let book: SecretBook
    /// The placeholders that stood in what was written.
    var used: [Placeholder] { needed.inOrder }
    private var needed = NeededPlaceholders()

    /// `nil` where nothing is masked.
    init?(_ source: MaskedSource?) {
        guard let source else { return nil }
        book = source.mask.book
    }

    /// What a shell reads between double quotes as the length of a text in bytes, once the variables are set.
    func length(of bytes: [UInt8]) -> String {
        let found = book.placeholders(in: bytes)
        guard !found.isEmpty else { return "\(bytes.count)" }
        let plain = found.reduce(bytes.count) { $0 - $1.range.count }
        // `${#…}` would count characters in some shells.
        let names = found.map { "$\($0.placeholder.variable)" }
        let lines = stride(from: 0, to: names.count, by: ShellVariables.mostInLine).map { place in
            "\"" + names[place..<min(names.count, place + ShellVariables.mostInLine)].joined() + "\""
        }
        return "$((\(plain) + $(printf %s \(lines.joined(separator: "\\\n")) | wc -c)))"
    }

    /// Bytes with the placeholders that have no variable there as anyone reads them.
    func unmarked(_ bytes: [UInt8]) -> [UInt8] { book.unmarked(bytes) }

    /// Whether bytes begin with a placeholder.
    func startsWithOne(_ bytes: [UInt8]) -> Bool { book.placeholders(in: bytes).first?.range.lowerBound == 0 }

    /// Whether there is a placeholder in these bytes.
    func areNeeded(in bytes: [UInt8]) -> Bool { !book.placeholders(in: bytes).isEmpty }

    /// The parts of a text between which a program puts the variables; always one at least.
    mutating func pieces(of bytes: [UInt8]) -> [Piece] {
        var pieces: [Piece] = []
        var place = 0
        for (range, placeholder) in book.placeholders(in: bytes) {
            if range.lowerBound > place { pieces.append(.text(Array(bytes[place..<range.lowerBound]))) }
            pieces.append(.variable(placeholder.variable))
            place = range.upperBound
            needed.add(placeholder)
        }
        if place < bytes.count || pieces.isEmpty { pieces.append(.text(Array(bytes[place...]))) }
        return pieces
    }

    /// The variables that were needed, each with what to set it to.
    var meanings: [(name: String, meaning: String)] { ShellVariables.meanings(used, book) }

    static func meanings(_ placeholders: [Placeholder], _ book: SecretBook) -> [(name: String, meaning: String)] {
        placeholders.map { ($0.variable, meaning(of: $0, book)) }
    }

    /// The lines of a script that end it where a variable is not set, and say what it is.
    static func guards(_ placeholders: [Placeholder], _ book: SecretBook) -> [UInt8] {
        placeholders.flatMap { Array(": \"${\($0.variable):?set the \(meaning(of: $0, book))}\"\n".utf8) }
    }

    /// For example `token of Authorization for api.example.com`, or `cookie theme for api.example.com`.
    private static func meaning(of placeholder: Placeholder, _ book: SecretBook) -> String {
        let kind = placeholder.kind.rawValue
        guard let entry = book.entry(of: placeholder) else { return kind }
        let name = plain(entry.name)
        return (name.lowercased().hasPrefix(kind) ? name : "\(kind) of \(name)")
            + (entry.host.isEmpty ? "" : " for \(plain(entry.host))")
            + (placeholder.encoding > 0 ? ", encoded as its place needs it" : "")
    }

    /// A text without what a shell reads between double quotes and braces.
    private static func plain(_ text: String) -> String {
        String(
            text.unicodeScalars.map {
                0x20..<0x7F ~= $0.value && !"\"\\$`}{'!".unicodeScalars.contains($0) ? Character($0) : "_"
            }
        )
    }
}

extension ShellVariables? {
    /// As ``ShellVariables/pieces(of:)``; one piece where nothing is masked.
    mutating func pieces(of bytes: [UInt8]) -> [ShellVariables.Piece] { self?.pieces(of: bytes) ?? [.text(bytes)] }

    /// Bytes with the placeholders that have no variable there as anyone reads them.
    func unmarked(_ bytes: [UInt8]) -> [UInt8] { self?.unmarked(bytes) ?? bytes }
}
