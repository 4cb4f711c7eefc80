/// Finds the empty line that ends a head or a trailer section, over any number of reads.
///
/// It remembers how far it got, so every byte is read once however the section is cut.
struct SectionScanner {
    private(set) var seen = 0
    /// Where the line after the first one begins; zero until the first line has ended.
    private(set) var firstLineEnd = 0
    private var lineLength = 0
    private var lineBeginsWithReturn = false

    /// Reads further bytes; returns how many of them belong to the section, when it ends within them.
    mutating func scan(_ bytes: Span<UInt8>) -> Int? {
        var index = 0
        while let lineFeed = bytes.firstLineFeed(from: index) {
            if lineLength == 0, index < lineFeed { lineBeginsWithReturn = bytes[index] == .carriageReturn }
            lineLength += lineFeed - index
            let isEmpty = lineLength == 0 || lineLength == 1 && lineBeginsWithReturn
            index = lineFeed + 1
            if firstLineEnd == 0 { firstLineEnd = seen + index }
            if isEmpty {
                seen += index
                return index
            }
            lineLength = 0
        }
        if index < bytes.count {
            if lineLength == 0 { lineBeginsWithReturn = bytes[index] == .carriageReturn }
            lineLength += bytes.count - index
        }
        seen += bytes.count
        return nil
    }
}
