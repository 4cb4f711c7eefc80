package import NIOCore

/// Decides from the first bytes of a connection whether its client speaks HTTP/1.
package enum HTTP1Sniffer {
    package enum Verdict: Sendable, Hashable {
        /// An HTTP/1 request, well formed or not.
        case yes
        case no, needMore
        /// The preface of an HTTP/2 client (RFC 9113 §3.4).
        case http2Preface
    }

    static let longestMethod = 256
    /// At most this many bytes of a request line are read, and at most this many before it are skipped.
    static let farEnough = 1024

    /// The first bytes without those that servers skip before a request line: line breaks (RFC 9112 §2.2), spaces and tabs.
    package static func content(of prefix: ByteBuffer) -> ByteBuffer {
        var content = prefix
        content.moveReaderIndex(forwardBy: skipped(of: prefix.readableBytesUInt8Span, atMost: farEnough))
        return content
    }

    static func skipped(of bytes: Span<UInt8>, atMost most: Int) -> Int {
        var count = 0
        while count < min(bytes.count, most), bytes[count].isSkippedBeforeRequest { count += 1 }
        return count
    }

    /// A request is: skipped bytes, a token of at most 256 bytes, white space, and ` HTTP/` before the line ends. More
    /// bytes never change a `yes` to a `no`, or a `no` to a `yes`.
    package static func looksLikeHTTP(_ prefix: ByteBuffer) -> Verdict {
        let content = content(of: prefix)
        let bytes = content.readableBytesUInt8Span
        // Compares more than the preface's first line, because a request may have the method PRI.
        switch verdict(on: bytes, preface) {
        case .yes: return .http2Preface
        case .needMore: return .needMore
        default: return requestVerdict(bytes)
        }
    }

    /// Whether the bytes begin with an identification line of SSH (RFC 4253 §4.2).
    package static func isSSH(_ prefix: ByteBuffer) -> Bool {
        let line = prefix.readableBytesUInt8Span.extracting(first: min(255, prefix.readableBytes))
        return line.hasBytes("SSH-", at: 0) && line.firstLineFeed(from: 0) != nil
    }

    private static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    /// Whether the bytes can only be the beginning of an HTTP/2 preface, not of a different request.
    package static func beginsHTTP2(_ prefix: ByteBuffer) -> Bool {
        let bytes = prefix.readableBytesUInt8Span
        return bytes.count > "PRI *".utf8.count && verdict(on: bytes, preface) == .needMore
    }

    /// Whether the bytes begin with `text`, or may do so when more arrive.
    private static func verdict(on bytes: Span<UInt8>, _ text: StaticString) -> Verdict {
        if bytes.hasBytes(text, at: 0) { return .yes }
        let isPrefix = text.withUTF8Buffer { text in
            bytes.count < text.count && (0..<bytes.count).allSatisfy { bytes[$0] == text[$0] }
        }
        return isPrefix ? .needMore : .no
    }

    static func requestVerdict(_ bytes: Span<UInt8>) -> Verdict {
        var index = 0
        while index < bytes.count, bytes[index].isTokenCharacter {
            index += 1
            guard index <= longestMethod else { return .no }
        }
        guard index < bytes.count else { return .needMore }
        guard index > 0, bytes[index].isOptionalWhitespace else { return .no }
        let end = min(bytes.count, farEnough)
        while index < end {
            let isSpace = bytes[index].isOptionalWhitespace
            if isSpace, bytes.hasBytes("HTTP/", at: index + 1) { return .yes }
            if bytes[index].isControl, !isSpace { return .no }
            index += 1
        }
        return end == farEnough ? .yes : .needMore
    }

    static func statusVerdict(_ bytes: Span<UInt8>) -> Verdict { verdict(on: bytes, "HTTP/") }
}
