import Foundation

/// A string literal of the sources: what it says, without what is interpolated, and where it stands.
package struct SourceText: Sendable, CustomStringConvertible {
    /// Stands for what is interpolated.
    fileprivate static let hole: Character = "\u{FFFC}"

    package let text: String
    package let file: String
    package let line: Int
    /// The lines of the source around its beginning, the two before it too.
    package let around: String

    package var description: String { "\(file):\(line): \(text)" }

    /// The literals of all Swift files of a folder of `Sources`.
    package static func all(in folder: String = "") throws -> [SourceText] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        let root = sources.appending(path: folder).path
        let names = try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(".swift") }.sorted()
        return try names.flatMap { name in
            let source = try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
            return read(source, file: folder.isEmpty ? name : "\(folder)/\(name)")
        }
    }

    /// The literals of a source.
    private static func read(_ source: String, file: String) -> [SourceText] {
        var reader = SourceTextReader(Array(source), file)
        reader.readAll()
        return reader.found
    }
}

/// Finds the literals; knows comments and interpolations, and no more of Swift.
private struct SourceTextReader {
    private let characters: [Character]
    private let lines: [Substring]
    private let file: String
    private var place = 0
    private var line = 0
    var found: [SourceText] = []

    init(_ characters: [Character], _ file: String) {
        (self.characters, self.file) = (characters, file)
        lines = String(characters).split(separator: "\n", omittingEmptySubsequences: false)
    }

    private func has(_ text: String) -> Bool { characters[place...].starts(with: text) }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where place < characters.count {
            if characters[place] == "\n" { line += 1 }
            place += 1
        }
    }

    mutating func readAll() { readCode(to: nil) }

    /// Reads code, up to the parenthesis that closes an interpolation.
    private mutating func readCode(to end: Character?) {
        var depth = 0
        while place < characters.count {
            if has("//") {
                while place < characters.count, characters[place] != "\n" { advance() }
            } else if has("\"") {
                readLiteral()
            } else {
                let character = characters[place]
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                advance()
                if end != nil, depth < 0 { return }
            }
        }
    }

    private mutating func readLiteral() {
        let hashes = characters[..<place].reversed().prefix { $0 == "#" }.count
        let quotes = has("\"\"\"") ? "\"\"\"" : "\""
        let end = quotes + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        let start = line
        advance(quotes.count)
        var text = ""
        while place < characters.count, !has(end) {
            if has(escape + "(") {
                advance(escape.count + 1)
                text.append(SourceText.hole)
                readCode(to: ")")
            } else if has(escape) {
                advance(escape.count)
                if place < characters.count, characters[place] != "\n" { text.append(characters[place]) }
                advance()
            } else {
                // A regular expression may hold a single quotation mark.
                if quotes.count == 1, characters[place] == "\n" { return }
                text.append(characters[place])
                advance()
            }
        }
        advance(end.count)
        let around = lines[max(0, start - 2)...min(start, lines.count - 1)].joined(separator: "\n")
        found.append(SourceText(text: text, file: file, line: start + 1, around: around))
    }
}
