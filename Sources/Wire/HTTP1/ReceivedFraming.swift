import HTTPModel

/// The length of a received body (RFC 9112 §6.3). Content-Length together with Transfer-Encoding is refused on both
/// sides, because recipients that choose differently allow smuggling.
enum ReceivedFraming {
    static func request(_ head: RequestHead, isConnect: Bool) throws(HTTP1ParseError) -> BodyFraming {
        var tolerances: HTTP1Tolerances = []
        let framing = try declared(in: head.fields, version: head.version, side: .request, &tolerances) ?? .none
        guard isConnect else { return framing }
        guard framing == .none || framing == .length(0) else {
            throw HTTP1ParseError(.contentInConnect, at: 0, in: .request)
        }
        return .none
    }

    static func response(
        _ head: ResponseHead,
        _ tolerances: inout HTTP1Tolerances
    ) throws(HTTP1ParseError) -> BodyFraming {
        try declared(in: head.fields, version: head.version, side: .response, &tolerances) ?? .untilClose
    }

    private static func declared(
        in fields: FieldSection,
        version: HTTPVersion,
        side: MessageSide,
        _ tolerances: inout HTTP1Tolerances
    ) throws(HTTP1ParseError) -> BodyFraming? {
        let lengthIndex = fields.firstIndex(of: .contentLength)
        if let codingIndex = fields.firstIndex(of: .transferEncoding) {
            func error(_ code: HTTP1ParseError.Code) -> HTTP1ParseError {
                HTTP1ParseError(code, at: fields.valueRange(at: codingIndex).lowerBound, in: side)
            }
            guard lengthIndex == nil else { throw error(.contentLengthWithTransferEncoding) }
            guard version != .http10 else { throw error(.transferEncodingInHTTP10) }
            let isRepeated = fields.firstIndex(of: .transferEncoding, from: codingIndex + 1) != nil
            if !isRepeated, fields.withValue(at: codingIndex, { $0.isChunked }) { return .chunked }
            throw error(isChunkedOnceAndLast(fields) ? .unsupportedTransferCoding : .malformedTransferEncoding)
        }
        guard let lengthIndex else { return nil }
        return .length(try length(in: fields, from: lengthIndex, side: side, &tolerances))
    }

    private static func length(
        in fields: FieldSection,
        from index: Int,
        side: MessageSide,
        _ tolerances: inout HTTP1Tolerances
    ) throws(HTTP1ParseError) -> Int64 {
        var length: Int64?
        var next: Int? = index
        while let index = next {
            func error(_ code: HTTP1ParseError.Code) -> HTTP1ParseError {
                HTTP1ParseError(code, at: fields.valueRange(at: index).lowerBound, in: side)
            }
            guard let found = fields.withValue(at: index, { $0.contentLength(orList: side.isTolerant) }) else {
                throw error(.malformedContentLength)
            }
            if length != nil || found.isRepeated {
                guard side.isTolerant, length ?? found.value == found.value else { throw error(.repeatedContentLength) }
                tolerances.insert(.repeatedContentLength)
            }
            length = found.value
            next = fields.firstIndex(of: .contentLength, from: index + 1)
        }
        return length ?? 0
    }

    /// Whether `chunked` is the last coding and listed once: then the body's end is clear, but a coding is unsupported.
    private static func isChunkedOnceAndLast(_ fields: FieldSection) -> Bool {
        let codings = fields.values(of: .transferEncoding)
            .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { String($0.filter { $0 != " " && $0 != "\t" }).lowercased() }
        return codings.count > 1 && codings.firstIndex(of: "chunked") == codings.count - 1 && !codings.contains("")
    }
}

extension UnsafeRawBufferPointer {
    var isChunked: Bool { isOption("chunked") }

    /// Compares without regard to case; `word` has only lower-case letters and dashes.
    func isOption(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in
            count == word.count && word.indices.allSatisfy { self[$0] | 0x20 == word[$0] }
        }
    }

    var decimalLength: Int64? {
        guard !isEmpty else { return nil }
        var value: Int64 = 0
        for byte in self {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tens, overflowsTens) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsSum) = tens.addingReportingOverflow(Int64(digit))
            guard !overflowsTens, !overflowsSum else { return nil }
            value = sum
        }
        return value
    }

    /// Reads a Content-Length, with `orList` also one number repeated (RFC 9110 §8.6).
    fileprivate func contentLength(orList: Bool) -> (value: Int64, isRepeated: Bool)? {
        if let value = decimalLength { return (value, false) }
        guard orList, contains(UInt8(ascii: ",")) else { return nil }
        var value: Int64?
        for member in split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let text = UnsafeRawBufferPointer(rebasing: member).withoutOptionalWhitespace
            guard let found = text.decimalLength, value ?? found == found else { return nil }
            value = found
        }
        return value.map { ($0, true) }
    }
}
