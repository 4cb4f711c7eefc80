package import NIOCore

/// Reads heads back from the bytes that a session keeps, without the strictness that traffic needs.
///
/// What a session holds was accepted once; here every line that has a colon is a field, whatever else it is.
package enum StoredHead {
    /// Reads a request head; `nil` where the bytes have no request line.
    package static func request(_ bytes: ByteBuffer) -> RequestHead? {
        guard let (section, startLine) = section(bytes) else { return nil }
        let view = bytes.slice().readableBytesView
        let line = view[startLine]
        guard let methodEnd = line.firstIndex(of: 0x20) else { return nil }
        let targetStart = line.index(after: methodEnd)
        let targetEnd = line[targetStart...].lastIndex(of: 0x20) ?? line.endIndex
        let version = version(line[targetEnd...])
        let method = startLine.lowerBound..<methodEnd
        return RequestHead(received: section, method: method, target: targetStart..<targetEnd, version: version)
    }

    /// Reads a response head; `nil` where the bytes have no status line.
    package static func response(_ bytes: ByteBuffer) -> ResponseHead? {
        guard let (section, startLine) = section(bytes) else { return nil }
        let line = bytes.slice().readableBytesView[startLine]
        guard let codeStart = line.firstIndex(of: 0x20).map({ $0 + 1 }) else { return nil }
        let codeEnd = line[codeStart...].firstIndex(of: 0x20) ?? line.endIndex
        guard let status = Int(String(decoding: line[codeStart..<codeEnd], as: UTF8.self)) else { return nil }
        let reason = min(codeEnd + 1, line.endIndex)..<line.endIndex
        return ResponseHead(received: section, status: status, reason: reason, version: version(line[..<codeStart]))
    }

    /// Reads a section of field lines without a start line, for example stored trailers.
    package static func fields(_ bytes: ByteBuffer) -> FieldSection {
        var section = FieldSection(received: bytes)
        addLines(of: section.buffer, from: 0, to: &section)
        return section
    }

    private static func section(_ bytes: ByteBuffer) -> (FieldSection, Range<Int>)? {
        var section = FieldSection(received: bytes)
        let view = section.buffer.readableBytesView
        guard !view.isEmpty else { return nil }
        let lineFeed = view.firstIndex(of: 0x0A) ?? view.endIndex
        var end = lineFeed
        if end > 0, view[end - 1] == 0x0D { end -= 1 }
        addLines(of: section.buffer, from: min(lineFeed + 1, view.endIndex), to: &section)
        return (section, 0..<end)
    }

    private static func addLines(of buffer: ByteBuffer, from start: Int, to section: inout FieldSection) {
        let view = buffer.readableBytesView
        var start = start
        while start < view.endIndex {
            var lineFeed = view[start...].firstIndex(of: 0x0A) ?? view.endIndex
            var next = min(lineFeed + 1, view.endIndex)
            let firstLineEnd = lineFeed
            var isFolded = false
            while next < view.endIndex, view[next] == 0x20 || view[next] == 0x09 {
                isFolded = true
                lineFeed = view[next...].firstIndex(of: 0x0A) ?? view.endIndex
                next = min(lineFeed + 1, view.endIndex)
            }
            var end = lineFeed
            let hasReturn = end > start && view[end - 1] == 0x0D
            if hasReturn { end -= 1 }
            // An HTTP/2 pseudo-header begins with a colon, so the name ends at the second one.
            let nameFrom = end > start && view[start] == 0x3A ? start + 1 : start
            if nameFrom < end, let colon = view[nameFrom..<min(firstLineEnd, end)].firstIndex(of: 0x3A) {
                var valueStart = colon + 1
                var valueEnd = end
                while valueStart < valueEnd, view[valueStart] == 0x20 || view[valueStart] == 0x09 { valueStart += 1 }
                while valueEnd > valueStart, view[valueEnd - 1] == 0x20 || view[valueEnd - 1] == 0x09 { valueEnd -= 1 }
                if isFolded {
                    section.appendReceived(name: start..<colon, unfolding: valueStart..<valueEnd)
                } else {
                    let isVerbatim = hasReturn && lineFeed < view.endIndex
                    let line = isVerbatim ? start..<next : nil
                    section.appendReceived(name: start..<colon, value: valueStart..<valueEnd, line: line)
                }
            }
            start = next
        }
    }

    private static func version(_ bytes: some Collection<UInt8>) -> HTTPVersion {
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("HTTP/2") { return .http2 }
        return text.contains("HTTP/1.0") ? .http10 : .http11
    }
}
