package import HTTPModel

/// Makes framing fields agree with the framing on an HTTP/1 leg (RFC 9112 §6); correct fields stay unchanged. Only a
/// composed head can have a `Transfer-Encoding` other than `chunked`, which is replaced.
package enum SentFraming {
    /// Returns the framing for the request's body: chunked instead of `untilClose`.
    @discardableResult
    package static func settle(_ head: inout RequestHead, as framing: BodyFraming) -> BodyFraming {
        let framing = framing == .untilClose ? .chunked : framing
        settle(&head.fields, as: framing, announcesEmptyBody: false)
        return framing
    }

    /// In a 304 or a response to HEAD, one of the two fields may describe the missing body. From 1xx, 204 and a 2xx to
    /// CONNECT, Transfer-Encoding and a Content-Length other than zero are removed (RFC 9110 §8.6, RFC 9112 §6.1).
    @discardableResult
    package static func settle(
        _ head: inout ResponseHead,
        as framing: BodyFraming,
        requestMethod: String
    ) -> BodyFraming {
        let isTunnel = requestMethod == "CONNECT" && (200..<300).contains(head.status)
        if isTunnel || head.isInformational || head.status == 204 {
            settle(&head.fields, as: .none, announcesEmptyBody: false)
            return .none
        }
        if requestMethod == "HEAD" || head.status == 304 {
            if head.fields.contains(.transferEncoding) { head.fields.removeAll(.contentLength) }
            return .none
        }
        settle(&head.fields, as: framing, announcesEmptyBody: true)
        return framing
    }

    private static func settle(_ fields: inout FieldSection, as framing: BodyFraming, announcesEmptyBody: Bool) {
        switch framing {
        case .chunked:
            fields.removeAll(.contentLength)
            setSingle("Transfer-Encoding", .transferEncoding, "chunked", in: &fields) { $0.isChunked }
        case .length(let length):
            fields.removeAll(.transferEncoding)
            setSingle("Content-Length", .contentLength, String(length), in: &fields) { $0.decimalLength == length }
        case .none where announcesEmptyBody: settle(&fields, as: .length(0), announcesEmptyBody: true)
        case .none:
            fields.removeAll(.transferEncoding)
            if fields.withValue(of: .contentLength, { $0.decimalLength == 0 }) == true {
                settle(&fields, as: .length(0), announcesEmptyBody: false)
            } else {
                fields.removeAll(.contentLength)
            }
        case .untilClose:
            fields.removeAll(.transferEncoding)
            fields.removeAll(.contentLength)
        }
    }

    /// Keeps a single correct line, corrects a single wrong line, and sets exactly one if there are several or none.
    private static func setSingle(
        _ spelling: String,
        _ name: FieldName,
        _ value: String,
        in fields: inout FieldSection,
        isRight: (UnsafeRawBufferPointer) -> Bool
    ) {
        if let index = fields.firstIndex(of: name), fields.firstIndex(of: name, from: index + 1) == nil {
            if !fields.withValue(at: index, isRight) { fields.setValue(value, at: index) }
        } else {
            fields.set(spelling, value)
        }
    }
}
