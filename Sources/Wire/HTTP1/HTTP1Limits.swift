/// How much of a message's framing the HTTP/1 parsers accept; bodies have no limit here.
package struct HTTP1Limits: Sendable, Hashable {
    /// The most bytes of a start line, its CRLF included; a longer request line is a 414.
    package var startLine = 64 * 1024
    /// The most bytes of a whole head, and again of a trailer section; more is a 431.
    package var head = 256 * 1024
    /// The most field lines of a head, and again of a trailer section; more is a 431.
    package var fieldCount: Int
    /// The most bytes of a chunk-size line, extensions included.
    package var chunkLine = 4 * 1024

    package init(fieldCount: Int) { self.fieldCount = fieldCount }

    package static let request = HTTP1Limits(fieldCount: 256)
    package static let response = HTTP1Limits(fieldCount: 1000)
}

/// The bytes of one message on the wire.
package struct HTTP1WireSize: Sendable, Hashable {
    /// The bytes of the head as received, an empty line before it included.
    package internal(set) var head = 0
    /// The bytes of the body as received: data, chunk framing, and the trailer section.
    package internal(set) var body: Int64 = 0
}

/// Faults of a message that a parser accepted because its meaning is not in doubt.
///
/// Requests get only `leadingEmptyLine` and `paddedRequestLine`; everything else is for responses.
package struct HTTP1Tolerances: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// RFC 9112 §2.2, as is `bareLineFeed`.
    package static let leadingEmptyLine = HTTP1Tolerances(rawValue: 1 << 0)
    package static let bareLineFeed = HTTP1Tolerances(rawValue: 1 << 1)
    /// RFC 9112 §5.2.
    package static let obsoleteFolding = HTTP1Tolerances(rawValue: 1 << 2)
    /// RFC 9112 §5.1.
    package static let whitespaceBeforeColon = HTTP1Tolerances(rawValue: 1 << 3)
    /// RFC 9110 §8.6.
    package static let repeatedContentLength = HTTP1Tolerances(rawValue: 1 << 4)
    /// The space that comes before a reason is missing too (RFC 9112 §4).
    package static let missingReason = HTTP1Tolerances(rawValue: 1 << 5)
    /// RFC 9112 §7.1.
    package static let paddedChunkSize = HTTP1Tolerances(rawValue: 1 << 6)
    /// RFC 9112 §3.
    package static let paddedRequestLine = HTTP1Tolerances(rawValue: 1 << 7)
    /// RFC 9110 §5.5.
    package static let controlInValue = HTTP1Tolerances(rawValue: 1 << 8)
    /// A name that is not a token (RFC 9110 §5.1).
    package static let oddFieldName = HTTP1Tolerances(rawValue: 1 << 9)

    /// One plain sentence for each fault, for the trace.
    package var explanations: [String] {
        isEmpty ? [] : HTTP1Tolerances.sentences.compactMap { contains($0.0) ? $0.1 : nil }
    }

    private static let sentences: [(HTTP1Tolerances, String)] = [
        (.leadingEmptyLine, "An empty line or white space came before the start line."),
        (.bareLineFeed, "A line of the head ended with LF alone instead of CRLF."),
        (.obsoleteFolding, "A field value was folded over several lines."),
        (.whitespaceBeforeColon, "There was white space between a field name and its colon."),
        (.repeatedContentLength, "Content-Length was repeated with the same value."),
        (.missingReason, "The status line ended right after the status code."),
        (.paddedChunkSize, "There was white space after a chunk size."),
        (.paddedRequestLine, "The request line had white space other than two single spaces."),
        (.controlInValue, "A field value had a control character in it."),
        (.oddFieldName, "A field name was empty or had a character that no field name may have."),
    ]
}

enum MessageSide: Sendable {
    case request, response

    /// Whether faults that leave no doubt about a message's meaning and length are accepted.
    var isTolerant: Bool { self == .response }
}
