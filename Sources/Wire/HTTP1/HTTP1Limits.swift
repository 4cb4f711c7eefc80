/// Limits of framing, in bytes; bodies have none.
package struct HTTP1Limits: Sendable, Hashable {
    /// With its CRLF; a longer request line is a 414.
    package var startLine = 64 * 1024
    /// For a whole head, and for a trailer section; more is a 431.
    package var head = 256 * 1024
    /// Lines of a head or of a trailer section; more is a 431.
    package var fieldCount: Int
    /// For a chunk-size line with its extensions.
    package var chunkLine = 4 * 1024

    package static let request = HTTP1Limits(fieldCount: 256)
    package static let response = HTTP1Limits(fieldCount: 1000)
}

/// The bytes of one message on the wire.
package struct HTTP1WireSize: Sendable, Hashable {
    package internal(set) var head = 0
    /// As received: data, chunk framing, and the trailer section.
    package internal(set) var body: Int64 = 0
}

/// Unambiguous faults that a parser accepted: in requests `leadingEmptyLine` and `paddedRequestLine`, in responses all.
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
    /// The reason and the space before it are missing (RFC 9112 §4).
    package static let missingReason = HTTP1Tolerances(rawValue: 1 << 5)
    /// RFC 9112 §7.1.
    package static let paddedChunkSize = HTTP1Tolerances(rawValue: 1 << 6)
    /// RFC 9112 §3.
    package static let paddedRequestLine = HTTP1Tolerances(rawValue: 1 << 7)
    /// RFC 9110 §5.5.
    package static let controlInValue = HTTP1Tolerances(rawValue: 1 << 8)
    /// A name that is not a token (RFC 9110 §5.1).
    package static let oddFieldName = HTTP1Tolerances(rawValue: 1 << 9)

    /// A sentence for each fault, for the trace.
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

    var isTolerant: Bool { self == .response }
}
