import HTTPModel
import NIOCore

/// The grammar of field lines (RFC 9112 §5), for heads and trailer sections.
struct FieldLines {
    let side: MessageSide
    /// Whether unambiguous faults are accepted; never in trailer sections.
    let isTolerant: Bool
    let maximumCount: Int
    /// The section's position in the message, for errors.
    let offset: Int64
    var tolerances: HTTP1Tolerances = []

    /// Adds the lines from `start` on to `section`. A byte follows every line, because the section's end was found
    /// before.
    mutating func read(_ bytes: Span<UInt8>, from start: Int, into section: inout FieldSection) throws(HTTP1ParseError)
    {
        var index = start
        while true {
            let lineStart = index
            switch bytes[index] {
            case .carriageReturn:
                guard bytes[index + 1] == .lineFeed else { throw error(.bareCarriageReturn, at: index) }
                return
            case .lineFeed:
                try tolerate(.bareLineFeed, .bareLineFeed, at: index)
                return section.requireRewriting()
            case .space, .tab:
                // White space here would continue the start line.
                throw error(.obsoleteFolding, at: index)
            default: break
            }
            guard section.count < maximumCount else { throw error(.tooManyFields, at: index) }
            var isVerbatim = true
            while bytes[index].isTokenCharacter { index &+= 1 }
            var name = lineStart..<index
            if bytes[index] != .colon || name.isEmpty {
                (name, index) = try readOddName(bytes, name, &section)
                isVerbatim = false
            }
            index &+= 1
            while bytes[index].isOptionalWhitespace { index &+= 1 }
            var valueStart = index
            var valueEnd = endOfValue(bytes, from: index, &section)
            index = try endLine(bytes, at: valueEnd, &isVerbatim)
            var isFolded = false
            while bytes[index].isOptionalWhitespace {
                try tolerate(.obsoleteFolding, .obsoleteFolding, at: index)
                isFolded = true
                valueEnd = endOfValue(bytes, from: index, &section)
                index = try endLine(bytes, at: valueEnd, &isVerbatim)
            }
            while valueEnd > valueStart, bytes[valueEnd &- 1].isTrimmedFromValue { valueEnd &-= 1 }
            if isFolded {
                while valueStart < valueEnd, bytes[valueStart].isTrimmedFromValue { valueStart &+= 1 }
                section.appendReceived(name: name, unfolding: valueStart..<valueEnd)
            } else {
                let line = isVerbatim ? lineStart..<index : nil
                section.appendReceived(name: name, value: valueStart..<valueEnd, line: line)
            }
        }
    }

    /// The first control character at or after `start` that ends a value.
    @inline(__always)
    private mutating func endOfValue(_ bytes: Span<UInt8>, from start: Int, _ section: inout FieldSection) -> Int {
        var end = bytes.firstControl(from: start)
        while bytes[end] != .carriageReturn, bytes[end] != .lineFeed, bytes[end] != 0, isTolerant {
            tolerances.insert(.controlInValue)
            section.noteOddities()
            end = bytes.firstControl(from: end + 1)
        }
        return end
    }

    /// Checks the end of a line; returns where the next one begins.
    @inline(__always)
    private mutating func endLine(
        _ bytes: Span<UInt8>,
        at control: Int,
        _ isVerbatim: inout Bool
    ) throws(HTTP1ParseError) -> Int {
        switch bytes[control] {
        case .carriageReturn:
            guard bytes[control + 1] == .lineFeed else { throw error(.bareCarriageReturn, at: control) }
            return control + 2
        case .lineFeed:
            try tolerate(.bareLineFeed, .bareLineFeed, at: control)
            isVerbatim = false
            return control + 1
        default: throw error(.invalidFieldValue, at: control)
        }
    }

    /// Reads an empty or invalid name up to its colon; refuses names like Content-Length and Transfer-Encoding.
    private mutating func readOddName(
        _ bytes: Span<UInt8>,
        _ token: Range<Int>,
        _ section: inout FieldSection
    ) throws(HTTP1ParseError) -> (name: Range<Int>, colon: Int) {
        let start = token.upperBound
        var index = start
        while bytes[index].isOptionalWhitespace { index += 1 }
        if bytes[index] == .colon, !token.isEmpty {
            try tolerate(.whitespaceBeforeColon, .whitespaceBeforeColon, at: start)
            return (token, index)
        }
        while bytes[index] != .colon, !bytes[index].isControl || bytes[index] == .tab { index += 1 }
        guard bytes[index] == .colon, !bytes.hasFramingName(in: token.lowerBound..<index) else {
            throw error(.malformedFieldLine, at: start)
        }
        try tolerate(.oddFieldName, .malformedFieldLine, at: start)
        section.noteOddities()
        var end = index
        while end > token.lowerBound, bytes[end - 1].isOptionalWhitespace { end -= 1 }
        return (token.lowerBound..<end, index)
    }

    private mutating func tolerate(
        _ tolerance: HTTP1Tolerances,
        _ code: HTTP1ParseError.Code,
        at index: Int
    ) throws(HTTP1ParseError) {
        guard isTolerant else { throw error(code, at: index) }
        tolerances.insert(tolerance)
    }

    private func error(_ code: HTTP1ParseError.Code, at index: Int) -> HTTP1ParseError {
        HTTP1ParseError(code, at: offset + Int64(index), in: side)
    }
}

extension Span<UInt8> {
    fileprivate func hasFramingName(in range: Range<Int>) -> Bool {
        let text = String(decoding: range.map { self[$0].lowercased }, as: UTF8.self)
        return text.contains("content-length") || text.contains("transfer-encoding")
    }
}

extension UInt8 {
    /// White space around a value, line breaks of a fold included.
    @inline(__always)
    fileprivate var isTrimmedFromValue: Bool { isOptionalWhitespace || self == .carriageReturn || self == .lineFeed }
}
