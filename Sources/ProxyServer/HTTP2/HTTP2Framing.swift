import HTTPModel

/// What HTTP/2 does differently about where a message's body ends: END_STREAM ends it, fields only announce.
enum HTTP2Framing {
    /// With this many bytes waiting in a stream its sender has to stop, until the session's event `drained`.
    static let highMark = 64 << 10

    /// What a received head had that is not sent on, for the trace.
    static func notes(on fields: FieldSection) -> [String] {
        fields.needsRewriting ? ["There was white space at an end of a field value, which is not sent on."] : []
    }

    /// Makes `Content-Length`, where there is one, agree with how the body is going to be sent (RFC 9113 §8.1.1).
    static func settle(_ fields: inout FieldSection, as framing: BodyFraming) {
        switch framing {
        case .chunked, .untilClose: if fields.contains(.contentLength) { fields.removeAll(.contentLength) }
        case .length(let length):
            guard fields.contains(.contentLength) else { return }
            let text = String(length)
            if fields.values(of: .contentLength) != [text] { fields.set("content-length", text) }
        // What HEAD and 304 announce is the length of a body that is not sent.
        case .none: break
        }
    }
}
