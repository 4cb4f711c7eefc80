package struct HTTP1ParseError: Error, Hashable, CustomStringConvertible {
    package enum Code: String, Error, Hashable, CaseIterable {
        case notHTTP = "The first bytes are not HTTP/1."
        case malformedStartLine = "The start line does not have the form that HTTP/1.1 prescribes."
        case unsupportedVersion = "The start line names a version of HTTP other than 1.0 and 1.1."
        case startLineTooLong = "The start line is longer than allowed."
        case headTooLarge = "The header or trailer section has more bytes than allowed."
        case tooManyFields = "The message has more fields than allowed."
        case malformedFieldLine = "A field line does not have the form name, colon, value."
        case whitespaceBeforeColon = "There is white space between a field name and its colon."
        case obsoleteFolding = "A field line begins with white space."
        case bareLineFeed = "A line ends with LF alone instead of CRLF."
        case bareCarriageReturn = "There is a CR that is not followed by LF."
        case invalidFieldValue = "A field value has a control character in it."
        case missingHost = "An HTTP/1.1 request must have a Host field."
        case repeatedHost = "A request must not have more than one Host field."
        case invalidHost = "The Host field is not a host with an optional port."
        case malformedContentLength = "Content-Length is not a decimal number that fits in 63 bits."
        case repeatedContentLength = "Content-Length is given more than once."
        case contentLengthWithTransferEncoding =
            "Content-Length and Transfer-Encoding are both given, so the body's end is ambiguous."
        case malformedTransferEncoding = "Transfer-Encoding does not end in one chunked; the body's end is ambiguous."
        case unsupportedTransferCoding = "Transfer-Encoding names a coding other than chunked."
        case transferEncodingInHTTP10 = "Transfer-Encoding is given in an HTTP/1.0 message."
        case contentInConnect = "A CONNECT request must not have a body."
        case malformedChunkSize = "A chunk size is not a hexadecimal number that fits in 63 bits."
        case malformedChunkExtension = "A chunk extension does not have the form that HTTP/1.1 prescribes."
        case chunkLineTooLong = "A chunk's size line is longer than allowed."
        case malformedChunkEnd = "A chunk's data is not followed by CRLF."
        case unexpectedResponse = "The server sent bytes without a request."
        case truncated = "The connection was closed in the middle of the message."
    }

    package let code: Code
    /// The position of the fault, in bytes from the start of the message on the wire.
    package let offset: Int64
    /// The status for the client: a 4xx or 5xx for its own request, 502 for a fault of the server.
    package let status: Int
    /// At least so many bytes of a truncated message are missing; `nil` if unknown.
    package let missing: Int64?

    init(_ code: Code, at offset: some BinaryInteger, in side: MessageSide, missing: Int64? = nil) {
        self.code = code
        self.offset = Int64(offset)
        self.missing = missing
        status =
            switch code {
            case _ where side == .response: 502
            case .startLineTooLong: 414
            case .headTooLarge, .tooManyFields: 431
            case .unsupportedTransferCoding: 501
            case .unsupportedVersion: 505
            default: 400
            }
    }

    package var explanation: String {
        guard let missing else { return code.rawValue }
        return "The connection was closed with at least \(missing) more bytes to come."
    }

    package var description: String { "\(code) at byte \(offset): \(explanation)" }
}
