/// Finds the empty line that ends a head or a trailer section; reads every byte once, however the section is cut.
struct SectionScanner {
    private(set) var seen = 0
    /// Zero until the first line has ended.
    private(set) var firstLineEnd = 0
    private var lineLength = 0
    private var lineBeginsWithReturn = false

    /// Returns how many bytes belong to the section if it ends within them.
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
