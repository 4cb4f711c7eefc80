package import HTTPModel
import NIOCore

/// Makes a head's framing fields say how its body is going to be sent on an HTTP/1 leg (RFC 9112 §6).
///
/// A field that already says the right thing stays where and as it is, so an untouched message keeps its bytes. Content
/// codings are not framing and stay. A `Transfer-Encoding` other than `chunked` never gets here from HTTP/1, as the
/// parsers refuse it; in a composed head it is replaced, because bodies are passed on without any transfer coding.
package enum SentFraming {
    /// Makes a request's fields agree with `framing` and returns the framing to send the body in.
    ///
    /// `untilClose` cannot frame a request and is sent as chunked.
    @discardableResult
    package static func settle(_ head: inout RequestHead, as framing: BodyFraming) -> BodyFraming {
        let framing = framing == .untilClose ? .chunked : framing
        settle(&head.fields, as: framing, announcesEmptyBody: false)
        return framing
    }

    /// Makes a response's fields agree with `framing` and returns the framing to send the body in.
    ///
    /// A response that has no body by its nature may say what the body would be: with HEAD and 304 both fields are kept
    /// (never together). From 1xx, 204 and a 2xx to CONNECT, Transfer-Encoding and a Content-Length other than zero are
    /// removed, as RFC 9110 §8.6 and RFC 9112 §6.1 forbid them there.
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
        case .none where announcesEmptyBody:
            settle(&fields, as: .length(0), announcesEmptyBody: true)
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

    /// Leaves the one line of a field alone where it already says the right thing; else sets it, or appends it.
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
