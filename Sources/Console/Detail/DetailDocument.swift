/// What the detail pane shows of an exchange: lines, some of which open blocks that can be folded.
public struct DetailDocument: Sendable {
    /// The lines, all of them, whatever is folded.
    public var lines: [DetailLine]
    /// Whether nothing was left out; where something was, the document says so.
    public var isWhole: Bool

    /// Creates a document.
    public init(lines: [DetailLine] = [], isWhole: Bool = true) {
        self.lines = lines
        self.isWhole = isWhole
    }

    /// The indexes of the lines that have a text in them, by growing index; case does not count.
    public func matches(of text: String) -> [Int] {
        guard !text.isEmpty else { return [] }
        let wanted = Array(text.lowercased().utf8)
        let isASCII = wanted.allSatisfy { $0 < 0x80 }
        return lines.indices.filter { index in
            let plain = lines[index].spans.map(\.text).joined()
            return isASCII
                ? DetailDocument.contains(plain.utf8, wanted) : DetailDocument.contains(plain.lowercased().utf8, wanted)
        }
    }

    /// The lines whose blocks are folded until somebody unfolds them.
    public var initialFolds: Set<Int> {
        Set(lines.indices.filter { lines[$0].fold?.startsFolded == true })
    }

    /// The indexes of the lines to show where the blocks opened by these lines are folded.
    public func folded(_ folds: Set<Int>) -> [Int] {
        var visible: [Int] = []
        visible.reserveCapacity(lines.count)
        var index = 0
        while index < lines.count {
            visible.append(index)
            if let end = lines[index].fold?.end, folds.contains(index), end > index {
                index = end
            } else {
                index += 1
            }
        }
        return visible
    }

    /// The lines whose blocks hold a line, outermost first: what has to be unfolded to see it.
    public func enclosing(_ line: Int) -> [Int] {
        lines.indices.prefix(max(0, line)).filter { (lines[$0].fold?.end ?? 0) > line }
    }

    private static func contains(_ text: String.UTF8View, _ wanted: [UInt8]) -> Bool {
        let bytes = Array(text)
        guard bytes.count >= wanted.count else { return false }
        for start in 0...(bytes.count - wanted.count) {
            var length = 0
            while length < wanted.count, lowered(bytes[start + length]) == wanted[length] { length += 1 }
            if length == wanted.count { return true }
        }
        return false
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }
}
