import HTTPModel

/// Reads the framing of a chunked body (RFC 9112 §7.1) byte by byte. States: size → (padding | extension)* → sizeEnd →
/// data → dataReturn → dataEnd → size … until a size of zero.
struct ChunkDecoder {
    enum Progress {
        case needMore
        /// This many bytes of data may follow; report them with `dataPassed`.
        case data(Int64)
        case lastChunk
    }

    private enum State {
        case size, padding, sizeEnd, data, dataReturn, dataEnd
        case extensions(ExtensionSyntax)
    }

    let side: MessageSide
    let lineLimit: Int
    private(set) var tolerances: HTTP1Tolerances = []
    private var state = State.size
    private var hasDigit = false
    private(set) var remaining: Int64 = 0
    private var lineLength = 0

    init(side: MessageSide, lineLimit: Int) {
        self.side = side
        self.lineLimit = lineLimit
    }

    /// Reads framing from `position`, up to data, the trailer section, or the end of `bytes`.
    mutating func advance(_ bytes: Span<UInt8>, from position: inout Int) throws(HTTP1ParseError.Code) -> Progress {
        while true {
            if case .data = state { return .data(remaining) }
            guard position < bytes.count else { return .needMore }
            let progress = try step(bytes[position])
            position += 1
            if let progress { return progress }
        }
    }

    mutating func dataPassed(_ count: Int) {
        remaining -= Int64(count)
        if remaining == 0 { state = .dataReturn }
    }

    private mutating func step(_ byte: UInt8) throws(HTTP1ParseError.Code) -> Progress? {
        switch state {
        case .size:
            if let digit = byte.hexadecimalValue {
                guard remaining <= Int64.max >> 4 else { throw .malformedChunkSize }
                remaining = remaining << 4 | Int64(digit)
                hasDigit = true
            } else {
                guard hasDigit else { throw .malformedChunkSize }
                try endSize(byte)
            }
            try countLineByte()
        case .padding:
            if !byte.isOptionalWhitespace { try endSize(byte) }
            try countLineByte()
        case .extensions(var syntax):
            if byte == .carriageReturn {
                guard syntax.mayEnd else { throw .malformedChunkExtension }
                state = .sizeEnd
            } else {
                guard syntax.accepts(byte) else { throw .malformedChunkExtension }
                state = .extensions(syntax)
            }
            try countLineByte()
        case .sizeEnd:
            guard byte == .lineFeed else { throw .bareCarriageReturn }
            lineLength = 0
            hasDigit = false
            guard remaining > 0 else { return .lastChunk }
            state = .data
        case .data: return .data(remaining)
        case .dataReturn:
            guard byte == .carriageReturn else { throw .malformedChunkEnd }
            state = .dataEnd
        case .dataEnd:
            guard byte == .lineFeed else { throw .malformedChunkEnd }
            state = .size
        }
        return nil
    }

    private mutating func endSize(_ byte: UInt8) throws(HTTP1ParseError.Code) {
        switch byte {
        case .carriageReturn: state = .sizeEnd
        case UInt8(ascii: ";"): state = .extensions(ExtensionSyntax())
        case .space, .tab:
            guard side.isTolerant else { throw .malformedChunkSize }
            tolerances.insert(.paddedChunkSize)
            state = .padding
        case .lineFeed: throw .bareLineFeed
        default: throw .malformedChunkSize
        }
    }

    private mutating func countLineByte() throws(HTTP1ParseError.Code) {
        lineLength += 1
        guard lineLength <= lineLimit else { throw .chunkLineTooLong }
    }
}

/// The grammar of chunk extensions (RFC 9112 §7.1.1), which are checked and dropped.
private struct ExtensionSyntax {
    private enum Place {
        case beforeName, name, beforeValue, token, quoted, escaped
        case after(mayHaveValue: Bool)
    }

    private var place = Place.beforeName

    var mayEnd: Bool {
        switch place {
        case .name, .token, .after: true
        case .beforeName, .beforeValue, .quoted, .escaped: false
        }
    }

    mutating func accepts(_ byte: UInt8) -> Bool {
        switch place {
        case .beforeName:
            if byte.isOptionalWhitespace { return true }
            place = .name
            return byte.isTokenCharacter
        case .name: return byte.isTokenCharacter || endsPart(byte, mayHaveValue: true)
        case .beforeValue:
            if byte.isOptionalWhitespace { return true }
            place = byte == UInt8(ascii: "\"") ? .quoted : .token
            return byte == UInt8(ascii: "\"") || byte.isTokenCharacter
        case .token: return byte.isTokenCharacter || endsPart(byte, mayHaveValue: false)
        case .quoted:
            if byte == UInt8(ascii: "\"") { place = .after(mayHaveValue: false) }
            if byte == UInt8(ascii: "\\") { place = .escaped }
            return !byte.isControl || byte == .tab
        case .escaped:
            place = .quoted
            return !byte.isControl || byte == .tab
        case .after(let mayHaveValue): return endsPart(byte, mayHaveValue: mayHaveValue)
        }
    }

    private mutating func endsPart(_ byte: UInt8, mayHaveValue: Bool) -> Bool {
        switch byte {
        case .space, .tab: place = .after(mayHaveValue: mayHaveValue)
        case UInt8(ascii: ";"): place = .beforeName
        case UInt8(ascii: "=") where mayHaveValue: place = .beforeValue
        default: return false
        }
        return true
    }
}
