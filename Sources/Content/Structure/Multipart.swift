package import HTTPModel
package import NIOCore

/// One part of a multipart body (RFC 2046 §5.1, RFC 7578).
package struct MultipartPart: Sendable {
    package var fields: FieldSection
    package var content: ByteBuffer

    package var name: String? { dispositionParameter("name") }
    /// The `filename`, from `Content-Disposition`; present for uploaded files.
    package var fileName: String? { dispositionParameter("filename") }
    package var mediaType: MediaType? { fields.value(of: .contentType).flatMap { MediaType($0) } }

    private func dispositionParameter(_ name: String) -> String? {
        guard let value = fields.value(of: "content-disposition") else { return nil }
        var scanner = ParameterScanner(value)
        _ = scanner.upToSemicolon()
        while let parameter = scanner.nextParameter() {
            if parameter.name == name { return parameter.value }
        }
        return nil
    }
}

package struct Multipart: Sendable {
    package var parts: [MultipartPart] = []
    /// Whether the closing delimiter was found, so that no part is missing.
    package var isComplete = false

    private static let longestBoundary = 256
    private static let longestHead = 64 * 1024

    /// Reads a multipart body, without content coding; `nil` if the media type has no usable `boundary`.
    package init?(_ body: ByteBuffer, mediaType: MediaType, limit: Int = 1000) {
        guard mediaType.type == "multipart", let boundary = mediaType.parameter("boundary"), !boundary.isEmpty,
            boundary.utf8.count <= Multipart.longestBoundary
        else { return nil }
        let delimiter = Array("--\(boundary)".utf8)
        let body = body.slice()
        let bytes = body.readableBytesView
        guard var line = Multipart.delimiterLine(delimiter, in: bytes, from: 0) else { return }
        while !line.isClosing {
            let start = line.end
            guard parts.count < limit else { return }
            guard let next = Multipart.delimiterLine(delimiter, in: bytes, from: start) else {
                append(body, from: start, to: bytes.endIndex)
                return
            }
            append(body, from: start, to: next.start)
            line = next
        }
        isComplete = true
    }

    private mutating func append(_ body: ByteBuffer, from start: Int, to end: Int) {
        let bytes = body.readableBytesView[start..<max(start, end)]
        var headEnd = start
        var contentStart = start
        var lineStart = start
        // The head ends at the first empty line.
        while lineStart < bytes.endIndex, lineStart - start < Multipart.longestHead {
            let lineFeed = bytes[lineStart...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let isEmpty = lineFeed == lineStart || (lineFeed == lineStart + 1 && bytes[lineStart] == 0x0D)
            headEnd = lineStart
            lineStart = min(lineFeed + 1, bytes.endIndex)
            contentStart = lineStart
            if isEmpty { break }
        }
        let head = body.getSlice(at: start, length: headEnd - start) ?? ByteBuffer()
        let content = body.getSlice(at: contentStart, length: bytes.endIndex - contentStart) ?? ByteBuffer()
        parts.append(MultipartPart(fields: StoredHead.fields(head), content: content))
    }

    private struct DelimiterLine {
        /// The offset of the line break before the delimiter; this line break is not part of the content.
        var start: Int
        var end: Int
        var isClosing: Bool
    }

    private static func delimiterLine(_ delimiter: [UInt8], in bytes: ByteBufferView, from: Int) -> DelimiterLine? {
        var lineStart = from
        while lineStart < bytes.endIndex {
            let lineFeed = bytes[lineStart...].firstIndex(of: 0x0A) ?? bytes.endIndex
            if bytes[lineStart..<lineFeed].starts(with: delimiter) {
                let rest = bytes[(lineStart + delimiter.count)..<lineFeed]
                let isClosing = rest.starts(with: "--".utf8)
                // Only white space may follow; otherwise this is a longer boundary or content.
                if (isClosing ? rest.dropFirst(2) : rest).allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
                    var start = lineStart
                    if start > from, bytes[start - 1] == 0x0A { start -= 1 }
                    if start > from, start < lineStart, bytes[start - 1] == 0x0D { start -= 1 }
                    return DelimiterLine(start: start, end: min(lineFeed + 1, bytes.endIndex), isClosing: isClosing)
                }
            }
            lineStart = lineFeed + 1
        }
        return nil
    }
}
