import HTTPModel
import Text

enum TextLayout {
    /// Writes a text with its hidden characters made visible; carriage returns at line ends only if `showsReturns`.
    static func write(_ text: String, showsReturns: Bool = false, role: Role = .text, into writer: inout DetailWriter) {
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            while start < bytes.count, writer.takesMore() {
                var end = start
                while end < bytes.count, bytes[end] != 0x0A { end += 1 }
                let hasReturn = end > start && bytes[end - 1] == 0x0D
                let lineEnd = hasReturn && !showsReturns ? end - 1 : end
                let line = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<lineEnd]), as: UTF8.self)
                writer.add(line.utf8.contains(0x09) ? VisibleText.expandingTabs(line) : line, role)
                start = end + 1
            }
        }
    }
}

extension [UInt8] {
    func text(_ range: Range<Int>) -> String {
        withUnsafeBufferPointer { String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }

    /// The words of a text with one space between them.
    func words(_ range: Range<Int>) -> String {
        guard let start = self[range].firstIndex(where: { $0 > 0x20 }),
            let last = self[range].lastIndex(where: { $0 > 0x20 })
        else { return "" }
        let isRegular = (start...last).allSatisfy { self[$0] > 0x20 || self[$0] == 0x20 && self[$0 - 1] != 0x20 }
        if isRegular { return text(start..<last + 1) }
        return self[range].split { $0 <= 0x20 }.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// The lines of a text, without their line breaks, with tabs expanded.
    func lines(_ range: Range<Int>) -> [String] {
        self[range].split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            VisibleText.expandingTabs(String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self))
        }
    }

    /// The position after the next occurrence of a text; the end if there is none.
    func end(of text: String, from start: Int) -> Int {
        let wanted = Array(text.utf8)
        var index = start
        while index + wanted.count <= count {
            if self[index] == wanted[0], self[index..<index + wanted.count].elementsEqual(wanted) {
                return index + wanted.count
            }
            index += 1
        }
        return count
    }

    /// The position after the string that begins at `start`; only strings in backquotes may contain line breaks.
    func endOfString(at start: Int) -> Int {
        var index = start + 1
        while index < count {
            if self[index] == self[start] { return index + 1 }
            if self[index] == 0x0A, self[start] != UInt8(ascii: "`") { return index }
            index += self[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return count
    }
}
