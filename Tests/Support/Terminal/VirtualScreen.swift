package import Terminal
import Text

/// A small terminal: it obeys what it is sent and shows what a user would see.
///
/// It does not wrap lines, as a terminal that was told so.
package struct VirtualScreen: Sendable {
    /// What stands in one column of one row.
    package struct Spot: Equatable, Sendable {
        /// The character, with what combines with it.
        package var text = " "
        /// Its colours and attributes.
        package var style = Style.plain
        /// The second column of a wide character.
        package var isContinuation = false
        /// Whether it takes two columns.
        package var isWide = false
    }

    /// Columns and rows.
    package private(set) var size: Size
    /// What stands where, row after row.
    package private(set) var spots: [Spot]
    /// The cursor's column, from 0.
    package private(set) var x = 0
    /// The cursor's row, from 0.
    package private(set) var y = 0
    /// Whether the cursor is shown.
    package private(set) var isCursorVisible = true
    /// What it was sent and did not understand.
    package private(set) var unknown: [String] = []
    /// How often the last row was left downwards.
    package private(set) var scrolls = 0
    /// How many more synchronized updates were begun than ended.
    package private(set) var synchronized = 0
    /// The private modes that are on and change nothing here, such as 1049, the alternate screen.
    package private(set) var modes: Set<Int> = []
    /// What the operating system was told (OSC), such as what goes into the clipboard.
    package private(set) var commands: [String] = []
    /// Whether it draws clusters in the width of their first scalar, as old terminals do.
    package var isOld = false
    /// Whether it draws each scalar of a cluster by itself, each in its own columns, as tmux does with skin tones.
    package var isSplitting = false
    private var pen = Style.plain
    /// The beginning of a sequence or a character whose end has not come.
    private var pending: [UInt8] = []

    /// A screen of which nothing is drawn yet: every spot has a `#`.
    package init(_ size: Size) {
        self.size = size
        spots = Array(repeating: Spot(text: "#"), count: size.width * size.height)
    }

    /// Changes the size; nothing of the new screen is drawn.
    package mutating func resize(_ size: Size) {
        self.size = size
        spots = Array(repeating: Spot(text: "#"), count: size.width * size.height)
        x = min(x, size.width - 1)
        y = min(y, size.height - 1)
    }

    /// What stands in a column of a row.
    package subscript(x: Int, y: Int) -> Spot { spots[y * size.width + x] }

    /// A row's text.
    package func row(_ y: Int) -> String {
        (0..<size.width).map { self[$0, y].isContinuation ? "" : self[$0, y].text }.joined()
    }

    /// All rows, without the spaces at their ends.
    package var text: String {
        (0..<size.height).map { row($0).replacing(/\s+$/, with: "") }.joined(separator: "\n")
    }

    /// Takes bytes; what is cut off at their end waits for the rest.
    package mutating func feed(_ bytes: [UInt8]) {
        let all = pending + bytes
        let whole = all.count - VirtualScreen.unfinished(all)
        pending = Array(all[whole...])
        var rest = all[..<whole]
        while let byte = rest.first {
            switch byte {
            case 0x1B: rest = obey(rest.dropFirst())
            case 0x0D:
                x = 0
                rest.removeFirst()
            case 0x0A:
                if y == size.height - 1 { scrolls += 1 } else { y += 1 }
                rest.removeFirst()
            case 0x08:
                x = max(x - 1, 0)
                rest.removeFirst()
            default:
                let text = rest.prefix { $0 >= 0x20 && $0 != 0x7F }
                if text.isEmpty {
                    unknown.append("byte \(byte)")
                    rest.removeFirst()
                    continue
                }
                for character in String(decoding: text, as: UTF8.self) {
                    for part in isSplitting ? character.unicodeScalars.map(Character.init) : [character] { show(part) }
                }
                rest = rest[text.endIndex...]
            }
        }
    }

    /// How many bytes at the end begin something that is not complete.
    private static func unfinished(_ bytes: [UInt8]) -> Int {
        if let escape = bytes.lastIndex(of: 0x1B) {
            let sequence = bytes[(escape + 1)...]
            let body = sequence.dropFirst()
            let isComplete =
                switch sequence.first {
                case nil: false
                case 0x5B: body.contains { (0x40...0x7E).contains($0) }
                case 0x5D: body.contains(0x07)
                case 0x28: !body.isEmpty
                default: true
                }
            if !isComplete { return bytes.count - escape }
        }
        let tail = bytes.suffix(3)
        guard let lead = tail.lastIndex(where: { $0 & 0xC0 != 0x80 }), tail[lead] >= 0xC0 else { return 0 }
        let length = tail[lead] >= 0xF0 ? 4 : tail[lead] >= 0xE0 ? 3 : 2
        return bytes.count - lead < length ? bytes.count - lead : 0
    }

    private mutating func show(_ character: Character) {
        let base = isOld ? Character(character.unicodeScalars.first ?? " ") : character
        let columns = TextWidth.columns(base)
        let start = columns == 2 ? min(x, size.width - 2) : x
        erase(start, y)
        if columns == 2 { erase(start + 1, y) }
        spots[y * size.width + start] = Spot(text: String(character), style: pen, isWide: columns == 2)
        if columns == 2 { spots[y * size.width + start + 1] = Spot(text: "", style: pen, isContinuation: true) }
        x = min(start + columns, size.width - 1)
    }

    /// Overwriting one half of a wide character takes the other half away.
    private mutating func erase(_ x: Int, _ y: Int) {
        let index = y * size.width + x
        if spots[index].isContinuation { spots[index - 1] = Spot(text: " ", style: spots[index - 1].style) }
        if spots[index].isWide { spots[index + 1] = Spot(text: " ", style: spots[index].style) }
        spots[index] = Spot(style: Style(on: pen.background))
    }

    private mutating func obey(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if bytes.first == 0x5D, let end = bytes.firstIndex(of: 0x07) {
            commands.append(String(decoding: bytes[(bytes.startIndex + 1)..<end], as: UTF8.self))
            return bytes[(end + 1)...]
        }
        if bytes.first == 0x28 { return bytes.dropFirst(2) }
        guard bytes.first == 0x5B, let end = bytes.dropFirst().firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            unknown.append("escape")
            return bytes.dropFirst()
        }
        let parameters = String(decoding: bytes[(bytes.startIndex + 1)..<end], as: UTF8.self)
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let count = max(numbers.first ?? 1, 1)
        switch (bytes[end], parameters) {
        case (0x48, _):
            y = min(count, size.height) - 1
            x = min(max(numbers.count > 1 ? numbers[1] : 1, 1), size.width) - 1
        case (0x43, _): x = min(x + count, size.width - 1)
        case (0x44, _): x = max(x - count, 0)
        case (0x4B, ""): for column in x..<size.width { erase(column, y) }
        case (0x4A, "2"): spots = Array(repeating: Spot(style: Style(on: pen.background)), count: spots.count)
        case (0x6D, _): select(parameters.isEmpty ? [0] : numbers)
        case (0x68, "?25"): isCursorVisible = true
        case (0x6C, "?25"): isCursorVisible = false
        case (0x68, "?2026"): synchronized += 1
        case (0x6C, "?2026"): synchronized -= 1
        case (0x68, _) where parameters.first == "?": modes.formUnion(VirtualScreen.modes(parameters))
        case (0x6C, _) where parameters.first == "?": modes.subtract(VirtualScreen.modes(parameters))
        default: unknown.append(String(decoding: bytes[...end], as: UTF8.self))
        }
        return bytes[(end + 1)...]
    }

    private static func modes(_ parameters: String) -> [Int] {
        parameters.dropFirst().split(separator: ";").compactMap { Int($0) }
    }

    private mutating func select(_ numbers: [Int]) {
        let attributes: [Int: Style.Attributes] = [
            1: .bold, 2: .dim, 4: .underline, 7: .reverse,
        ]
        var rest = numbers[...]
        while let number = rest.popFirst() {
            switch number {
            case 0: pen = .plain
            case 30...37: pen.foreground = .ansi(UInt8(number - 30))
            case 39: pen.foreground = .standard
            case 40...47: pen.background = .ansi(UInt8(number - 40))
            case 49: pen.background = .standard
            case 90...97: pen.foreground = .ansi(UInt8(number - 82))
            case 100...107: pen.background = .ansi(UInt8(number - 92))
            case 38 where rest.first == 5, 48 where rest.first == 5:
                rest.removeFirst()
                let color = Color.palette(UInt8(clamping: rest.popFirst() ?? 0))
                if number == 38 { pen.foreground = color } else { pen.background = color }
            default:
                if let attribute = attributes[number] {
                    pen.attributes.insert(attribute)
                } else {
                    unknown.append("style \(number)")
                }
            }
        }
    }
}
