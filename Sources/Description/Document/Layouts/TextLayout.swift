import HTTPModel
import Text

/// Text as it came, line by line.
enum TextLayout {
    /// Adds the lines of a text; what cannot be seen is made visible, a carriage return at a line's end too where asked.
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
    /// Some of the bytes as UTF-8.
    func text(_ range: Range<Int>) -> String {
        withUnsafeBufferPointer { String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }
}
