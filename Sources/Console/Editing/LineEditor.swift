import HTTPModel
package import Terminal
import Text

/// One line of text input, with the editing keys of readline.
package struct LineEditor: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable { case ignored, moved, changed }

    /// The maximum length of the text, in characters.
    package static let longest = 10_000

    package private(set) var characters: [Character]
    /// The position at which text is inserted: 0 is before the first character.
    package private(set) var cursor: Int

    /// Whether the text is a suggestion: typing replaces it, any other key keeps it.
    package private(set) var isSuggestion = false

    package init(_ text: String = "", isSuggestion: Bool = false) {
        characters = text.prefix(Self.longest).map { $0.isNewline ? " " : $0 }
        cursor = characters.count
        self.isSuggestion = isSuggestion && !characters.isEmpty
    }

    package var text: String { String(characters) }

    package mutating func take(_ key: Key) -> Outcome {
        let outcome = edit(key)
        if outcome != .ignored { isSuggestion = false }
        return outcome
    }

    private mutating func edit(_ key: Key) -> Outcome {
        switch (key.code, key.modifiers) {
        case (.character(let character), []), (.character(let character), .shift): return insert(String(character))
        case (.left, []), (.character("b"), .control): return move(to: cursor - 1)
        case (.right, []), (.character("f"), .control): return move(to: cursor + 1)
        case (.left, .control), (.left, .alt), (.character("b"), .alt): return move(to: wordStart)
        case (.right, .control), (.right, .alt), (.character("f"), .alt): return move(to: wordEnd)
        case (.home, _), (.character("a"), .control): return move(to: 0)
        case (.end, _), (.character("e"), .control): return move(to: characters.count)
        case (.backspace, []), (.backspace, .shift), (.character("h"), .control): return remove(cursor - 1..<cursor)
        case (.delete, []), (.character("d"), .control): return remove(cursor..<cursor + 1)
        case (.backspace, .control), (.backspace, .alt), (.character("w"), .control): return remove(wordStart..<cursor)
        case (.character("d"), .alt), (.delete, .control): return remove(cursor..<wordEnd)
        case (.character("u"), .control): return remove(0..<cursor)
        case (.character("k"), .control): return remove(cursor..<characters.count)
        default: return .ignored
        }
    }

    /// Inserts text at the cursor; line breaks become spaces.
    @discardableResult
    package mutating func insert(_ text: String) -> Outcome {
        let room = Self.longest - characters.count
        let new = text.prefix(max(0, room)).map { $0.isNewline ? Character(" ") : $0 }
        guard !new.isEmpty else { return .moved }
        if isSuggestion { (isSuggestion, characters, cursor) = (false, [], 0) }
        characters.insert(contentsOf: new, at: cursor)
        cursor += new.count
        return .changed
    }

    package mutating func replace(from start: Int, with text: String) {
        isSuggestion = false
        guard !text.isEmpty, start <= cursor else { return }
        characters.removeSubrange(start..<cursor)
        cursor = start
        insert(text)
    }

    @discardableResult
    package mutating func move(to position: Int) -> Outcome {
        cursor = min(max(0, position), characters.count)
        return .moved
    }

    @discardableResult
    private mutating func remove(_ range: Range<Int>) -> Outcome {
        let range = range.clamped(to: 0..<characters.count)
        guard !range.isEmpty else { return .moved }
        characters.removeSubrange(range)
        cursor = range.lowerBound
        return .changed
    }

    private var wordStart: Int {
        var position = cursor
        while position > 0, !characters[position - 1].isWordPart { position -= 1 }
        while position > 0, characters[position - 1].isWordPart { position -= 1 }
        return position
    }

    private var wordEnd: Int {
        var position = cursor
        while position < characters.count, !characters[position].isWordPart { position += 1 }
        while position < characters.count, characters[position].isWordPart { position += 1 }
        return position
    }
}

extension Character {
    fileprivate var isWordPart: Bool { isLetter || isNumber || self == "_" }
}

enum FieldView {
    static func draw(_ line: LineEditor, _ theme: Theme, in rect: Rect, on screen: inout CellBuffer) {
        guard rect.width > 0 else { return }
        let start = start(line, rect.width)
        let text = String(line.characters[start...])
        screen.write(text, x: rect.x, y: rect.y, limit: rect.width, ellipsis: false)
        let column = TextWidth.columns(String(line.characters[start..<line.cursor]))
        screen.cursor = CursorPosition(x: min(rect.x + column, rect.maxX - 1), y: rect.y)
    }

    /// The first visible character: if the line is too long, the part before the cursor is shown.
    static func start(_ line: LineEditor, _ width: Int) -> Int {
        var start = line.cursor
        var columns = 0
        while start > 0 {
            columns += TextWidth.columns(line.characters[start - 1])
            guard columns < width else { break }
            start -= 1
        }
        return start
    }

    static func shift(_ line: LineEditor, _ width: Int) -> Int {
        TextWidth.columns(String(line.characters[..<start(line, width)]))
    }
}
