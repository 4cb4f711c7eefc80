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
    }

    private let book: SecretBook
    /// The placeholders that stood in what was written.
    var used: [Placeholder] { needed.inOrder }
    private var needed = NeededPlaceholders()

    /// `nil` where nothing is masked.
    init?(_ source: MaskedSource?) {
        guard let source else { return nil }
        book = source.mask.book
    }

    /// A word as ``ShellWord/quoted(_:keepsTabs:)`` writes it: a placeholder stands between single quotes there.
    mutating func inWord(_ word: [UInt8]) -> [UInt8] {
        replaced(in: word) { Array("'\"$\($0.variable)\"'".utf8) }.bytes
    }

    /// A command as ``ShellWord/printing(_:)`` writes it: its format takes the variables as arguments.
    mutating func inPrinting(_ command: [UInt8]) -> [UInt8] {
        let (bytes, placeholders) = replaced(in: command) { _ in Array("%s".utf8) }
        return bytes + placeholders.flatMap { Array(" \"$\($0.variable)\"".utf8) }
    }

    /// What a shell reads between double quotes as the length of a text in bytes, once the variables are set.
    func length(of bytes: [UInt8]) -> String {
        let found = book.placeholders(in: bytes)
        guard !found.isEmpty else { return "\(bytes.count)" }
        let plain = found.reduce(bytes.count) { $0 - $1.range.count }
        // `${#…}` would count characters in some shells.
        let values = found.map { "$\($0.placeholder.variable)" }.joined()
        return "$((\(plain) + $(printf %s \"\(values)\" | wc -c)))"
    }

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

    private mutating func replaced(
        in bytes: [UInt8],
        by text: (Placeholder) -> [UInt8]
    ) -> (bytes: [UInt8], placeholders: [Placeholder]) {
        var output: [UInt8] = []
        var place = 0
        let found = book.placeholders(in: bytes)
        for (range, placeholder) in found {
            output += bytes[place..<range.lowerBound] + text(placeholder)
            place = range.upperBound
            needed.add(placeholder)
        }
        return (output + bytes[place...], found.map(\.placeholder))
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
