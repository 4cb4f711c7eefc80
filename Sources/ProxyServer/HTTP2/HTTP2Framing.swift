import HTTPModel

/// In HTTP/2, END_STREAM ends a body, and fields only announce its length.
enum HTTP2Framing {
    /// At this many waiting bytes the sender of a stream must stop, until the session's event `drained`.
    static let highMark = 64 << 10

    /// Notes for the trace about parts of a received head that are not sent on.
    static func notes(on fields: FieldSection) -> [String] {
        fields.needsRewriting ? ["White space at an end of a field value was removed."] : []
    }

    /// Makes `Content-Length` agree with how the body will be sent (RFC 9113 §8.1.1).
    static func settle(_ fields: inout FieldSection, as framing: BodyFraming) {
        switch framing {
        case .chunked, .untilClose: if fields.contains(.contentLength) { fields.removeAll(.contentLength) }
        case .length(let length):
            guard fields.contains(.contentLength) else { return }
            let text = String(length)
            if fields.values(of: .contentLength) != [text] { fields.set("content-length", text) }
        // HEAD and 304 announce the length of a body that is not sent.
        case .none: break
        }
    }
}
