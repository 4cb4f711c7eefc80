extension UInt8 {
    var isDigit: Bool { self &- 0x30 < 10 }
    var isCapital: Bool { self &- 0x41 < 26 }
    var isSmall: Bool { self &- 0x61 < 26 }
    var isLetter: Bool { (self | 0x20).isSmall }
    var isLetterOrDigit: Bool { isDigit || isLetter }
    /// White space of JSON (RFC 8259 §2).
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension UnsafeRawBufferPointer {
    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }

    /// Where the longest run of such bytes before `end` begins, not before `lowest` and of at most `most` bytes.
    @inline(__always)
    func runStart(before end: Int, from lowest: Int = 0, most: Int = .max, _ belongs: (UInt8) -> Bool) -> Int {
        var start = end
        while start > lowest, end - start < most, belongs(self[start - 1]) { start -= 1 }
        return start
    }

    /// Where the longest run of such bytes from `start` ends, of at most `most` bytes.
    @inline(__always)
    func runEnd(from start: Int, most: Int = .max, _ belongs: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, end - start < most, belongs(self[end]) { end += 1 }
        return end
    }

    /// The range without such bytes at its ends.
    func trimmed(_ range: Range<Int>, _ isAround: (UInt8) -> Bool = { $0.isSpace }) -> Range<Int> {
        let start = self[range].firstIndex { !isAround($0) } ?? range.upperBound
        return start..<runStart(before: range.upperBound, from: start, isAround)
    }
}

extension Range<Int> {
    func moved(by distance: Int) -> Range<Int> { lowerBound + distance..<upperBound + distance }
}
