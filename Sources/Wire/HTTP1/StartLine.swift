import HTTPModel

protocol StartLine {
    var tolerances: HTTP1Tolerances { get }
    /// Whether the line has a newer minor version, which must not be sent on (RFC 9110 §2.5), or a fault.
    var needsRewriting: Bool { get }
    /// Reads a whole line with its line break.
    init(_ line: Span<UInt8>) throws(StartLineError)
}

/// The positions of a request line's parts in the head (RFC 9112 §3).
struct RequestLine: StartLine {
    let method: Range<Int>
    let target: Range<Int>
    let version: HTTPVersion
    let isConnect: Bool
    let needsRewriting: Bool
    let tolerances: HTTP1Tolerances

    /// The target may have any bytes but control characters and spaces; any number of spaces and tabs may be between
    /// the parts, and at the end (RFC 9112 §3).
    init(_ line: Span<UInt8>) throws(StartLineError) {
        var index = 0
        while line[index].isTokenCharacter { index &+= 1 }
        guard (1...HTTP1Sniffer.longestMethod).contains(index), line[index].isOptionalWhitespace else {
            throw StartLineError(.malformedStartLine, index)
        }
        method = 0..<index
        isConnect = index == 7 && line.hasBytes("CONNECT", at: 0)
        while line[index].isOptionalWhitespace { index &+= 1 }
        let targetStart = index
        while line[index] > .space, line[index] != 0x7F { index &+= 1 }
        guard index > targetStart, line[index].isOptionalWhitespace else {
            throw StartLineError(.malformedStartLine, index)
        }
        target = targetStart..<index
        while line[index].isOptionalWhitespace { index &+= 1 }
        let named = try NamedVersion(line, at: index)
        version = named.version
        index &+= NamedVersion.length
        let usualEnd = method.count &+ target.count &+ 2 &+ NamedVersion.length
        while line[index].isOptionalWhitespace { index &+= 1 }
        let isUsual = index == usualEnd && line[method.upperBound] == .space && line[target.upperBound] == .space
        tolerances = isUsual ? [] : .paddedRequestLine
        needsRewriting = named.isNewer || !isUsual
        guard line[index] != .lineFeed else { throw StartLineError(.bareLineFeed, index) }
        guard index + 2 == line.count, line[index] == .carriageReturn else {
            throw StartLineError(line[index] == .carriageReturn ? .bareCarriageReturn : .malformedStartLine, index)
        }
    }
}

/// The positions of a status line's parts in the head (RFC 9112 §4).
struct StatusLine: StartLine {
    let status: Int
    let reason: Range<Int>
    let version: HTTPVersion
    let needsRewriting: Bool
    let tolerances: HTTP1Tolerances

    init(_ line: Span<UInt8>) throws(StartLineError) {
        let named = try NamedVersion(line, at: 0)
        version = named.version
        var index = NamedVersion.length
        guard line[index] == .space else { throw StartLineError(.malformedStartLine, index) }
        index += 1
        var status = 0
        for _ in 0..<3 {
            let digit = line[index] &- UInt8(ascii: "0")
            guard digit < 10 else { throw StartLineError(.malformedStartLine, index) }
            status = status * 10 + Int(digit)
            index += 1
        }
        guard status >= 100 else { throw StartLineError(.malformedStartLine, index - 3) }
        self.status = status
        var tolerances: HTTP1Tolerances = []
        if line[index] == .space {
            index += 1
        } else if line[index] == .carriageReturn || line[index] == .lineFeed {
            tolerances.insert(.missingReason)
        } else {
            throw StartLineError(.malformedStartLine, index)
        }
        let end = line.firstControl(from: index)
        reason = index..<end
        if line[end] == .lineFeed {
            tolerances.insert(.bareLineFeed)
        } else if line[end] != .carriageReturn {
            throw StartLineError(.malformedStartLine, end)
        } else if line[end + 1] != .lineFeed {
            throw StartLineError(.bareCarriageReturn, end)
        }
        self.tolerances = tolerances
        needsRewriting = named.isNewer || !tolerances.isEmpty
    }
}

struct StartLineError: Error {
    let code: HTTP1ParseError.Code
    let offset: Int

    init(_ code: HTTP1ParseError.Code, _ offset: Int) {
        self.code = code
        self.offset = offset
    }
}

/// The version as a start line names it (RFC 9112 §2.3).
private struct NamedVersion {
    static let length = 8
    let version: HTTPVersion
    /// For a 1.x above 1.1, which is read as 1.1 (RFC 9110 §2.5).
    let isNewer: Bool

    /// Reads a version at `start` in a line that ends with LF.
    init(_ line: Span<UInt8>, at start: Int) throws(StartLineError) {
        guard line.hasBytes("HTTP/", at: start), start + NamedVersion.length < line.count else {
            throw StartLineError(.malformedStartLine, start)
        }
        let major = line[start + 5] &- UInt8(ascii: "0")
        let minor = line[start + 7] &- UInt8(ascii: "0")
        guard major < 10, minor < 10, line[start + 6] == UInt8(ascii: ".") else {
            throw StartLineError(.malformedStartLine, start + 5)
        }
        guard major == 1 else { throw StartLineError(.unsupportedVersion, start + 5) }
        version = minor == 0 ? .http10 : .http11
        isNewer = minor > 1
    }
}
