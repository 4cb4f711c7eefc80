import Terminal

/// A small terminal: it obeys what it is sent and shows what a user would see.
///
/// It does not wrap lines, as a terminal that was told so.
struct VirtualScreen {
    struct Spot: Equatable {
        var text = " "
        var style = Style.plain
        /// The second column of a wide character.
        var isContinuation = false
        var isWide = false
    }

    private(set) var size: Size
    private(set) var spots: [Spot]
    private(set) var x = 0
    private(set) var y = 0
    private(set) var isCursorVisible = true
    /// What it was sent and did not understand.
    private(set) var unknown: [String] = []
    private(set) var scrolls = 0
    private(set) var synchronized = 0
    /// Whether it draws clusters in the width of their first scalar, as old terminals do.
    var isOld = false
    private var pen = Style.plain

    init(_ size: Size) {
        self.size = size
        spots = Array(repeating: Spot(text: "#"), count: size.width * size.height)
    }

    mutating func resize(_ size: Size) {
        self.size = size
        spots = Array(repeating: Spot(text: "#"), count: size.width * size.height)
        x = min(x, size.width - 1)
        y = min(y, size.height - 1)
    }

    subscript(x: Int, y: Int) -> Spot { spots[y * size.width + x] }

    func row(_ y: Int) -> String {
        (0..<size.width).map { self[$0, y].isContinuation ? "" : self[$0, y].text }.joined()
    }

    mutating func feed(_ bytes: [UInt8]) {
        var rest = bytes[...]
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
                for character in String(decoding: text, as: UTF8.self) { show(character) }
                rest = rest[text.endIndex...]
            }
        }
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
        default: unknown.append(String(decoding: bytes[...end], as: UTF8.self))
        }
        return bytes[(end + 1)...]
    }

    private mutating func select(_ numbers: [Int]) {
        let attributes: [Int: Style.Attributes] = [
            1: .bold, 2: .dim, 3: .italic, 4: .underline, 7: .reverse, 9: .strikethrough,
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
