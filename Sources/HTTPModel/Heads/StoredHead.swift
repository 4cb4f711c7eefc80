package import NIOCore

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Reads recorded heads tolerantly: every line with a colon is a field.
package enum StoredHead {
    package static func request(_ bytes: ByteBuffer) -> RequestHead? {
        guard let (section, startLine) = section(bytes) else { return nil }
        let line = bytes.slice().readableBytesView[startLine]
        guard let methodEnd = line.firstIndex(of: 0x20) else { return nil }
        let targetStart = line.index(after: methodEnd)
        let targetEnd = line[targetStart...].lastIndex(of: 0x20) ?? line.endIndex
        let version = version(line[targetEnd...])
        let method = startLine.lowerBound..<methodEnd
        return RequestHead(received: section, method: method, target: targetStart..<targetEnd, version: version)
    }

    package static func response(_ bytes: ByteBuffer) -> ResponseHead? {
        guard let (section, startLine) = section(bytes) else { return nil }
        let line = bytes.slice().readableBytesView[startLine]
        guard let codeStart = line.firstIndex(of: 0x20).map({ $0 + 1 }) else { return nil }
        let codeEnd = line[codeStart...].firstIndex(of: 0x20) ?? line.endIndex
        guard let status = Int(String(decoding: line[codeStart..<codeEnd], as: UTF8.self)) else { return nil }
        let reason = min(codeEnd + 1, line.endIndex)..<line.endIndex
        return ResponseHead(received: section, status: status, reason: reason, version: version(line[..<codeStart]))
    }

    /// Without a start line, for example trailers.
    package static func fields(_ bytes: ByteBuffer) -> FieldSection {
        var section = FieldSection(received: bytes)
        addLines(of: section.buffer, from: 0, to: &section)
        return section
    }

    package static func fieldsAfterStartLine(_ bytes: ByteBuffer) -> FieldSection {
        let start = bytes.withUnsafeReadableBytes { min(lineFeed(in: $0, from: 0) + 1, $0.count) }
        let rest = bytes.getSlice(at: bytes.readerIndex + start, length: bytes.readableBytes - start)
        return fields(rest ?? ByteBuffer())
    }

    private static func section(_ bytes: ByteBuffer) -> (FieldSection, Range<Int>)? {
        var section = FieldSection(received: bytes)
        let place = section.buffer.withUnsafeReadableBytes { bytes -> (start: Int, end: Int)? in
            guard !bytes.isEmpty else { return nil }
            let lineFeed = lineFeed(in: bytes, from: 0)
            let end = lineFeed > 0 && bytes[lineFeed - 1] == 0x0D ? lineFeed - 1 : lineFeed
            return (min(lineFeed + 1, bytes.count), end)
        }
        guard let place else { return nil }
        addLines(of: section.buffer, from: place.start, to: &section)
        return (section, 0..<place.end)
    }

    /// The line feed, or the end.
    static func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, 0x0A, bytes.count - start)
        else { return bytes.count }
        return UnsafeRawPointer(found) - base
    }

    private static func addLines(of buffer: ByteBuffer, from start: Int, to section: inout FieldSection) {
        buffer.withUnsafeReadableBytes { bytes in
            var start = start
            while start < bytes.count {
                var lineEnd = lineFeed(in: bytes, from: start)
                var next = min(lineEnd + 1, bytes.count)
                let firstLineEnd = lineEnd
                var isFolded = false
                while next < bytes.count, isSpace(bytes[next]) {
                    isFolded = true
                    lineEnd = lineFeed(in: bytes, from: next)
                    next = min(lineEnd + 1, bytes.count)
                }
                var end = lineEnd
                let hasReturn = end > start && bytes[end - 1] == 0x0D
                if hasReturn { end -= 1 }
                // A pseudo-header of HTTP/2 begins with a colon.
                let nameFrom = end > start && bytes[start] == 0x3A ? start + 1 : start
                let nameTo = min(firstLineEnd, end)
                if nameFrom < nameTo, let colon = bytes[nameFrom..<nameTo].firstIndex(of: 0x3A) {
                    var value = colon + 1..<end
                    while !value.isEmpty, isSpace(bytes[value.lowerBound]) { value.removeFirst() }
                    while !value.isEmpty, isSpace(bytes[value.upperBound - 1]) { value.removeLast() }
                    if isFolded {
                        section.appendReceived(name: start..<colon, unfolding: value)
                    } else {
                        let isVerbatim = hasReturn && lineEnd < bytes.count
                        section.appendReceived(name: start..<colon, value: value, line: isVerbatim ? start..<next : nil)
                    }
                }
                start = next
            }
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func version(_ bytes: some Collection<UInt8>) -> HTTPVersion {
        if bytes.elementsEqual("HTTP/1.1 ".utf8) || bytes.elementsEqual(" HTTP/1.1".utf8) { return .http11 }
        let text = bytes.filter { $0 != 0x20 }
        if text.starts(with: "HTTP/2".utf8) { return .http2 }
        if text.starts(with: "HTTP/3".utf8) { return .http3 }
        return text.starts(with: "HTTP/1.0".utf8) ? .http10 : .http11
    }
}
