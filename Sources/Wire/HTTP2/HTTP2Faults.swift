internal import CNGHTTP2
import HTTPModel

/// Sentences for the error numbers of nghttp2.
extension HTTP2Error {
    init(fatalResult: Int) {
        switch nghttp2_error(rawValue: Int32(truncatingIfNeeded: fatalResult)) {
        case NGHTTP2_ERR_BAD_CLIENT_MAGIC: self.init(.protocolError, "The client did not send the preface of HTTP/2.")
        case NGHTTP2_ERR_FLOODED:
            self.init(.enhanceYourCalm, "The peer sent SETTINGS or PING faster than it reads the answers.")
        case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
            self.init(.enhanceYourCalm, "The peer sent too many CONTINUATION frames.")
        case NGHTTP2_ERR_NOMEM: self.init(.internalError, "There is no memory for the HTTP/2 connection.")
        default: self.init(.internalError, "HTTP/2 cannot continue: \(HTTP2Error.text(of: fatalResult)).")
        }
    }

    /// Explains a GOAWAY of nghttp2, with its reason.
    init(code: HTTP2ErrorCode, reason: String, role: HTTP2Session.Role) {
        let peer = role == .server ? "client" : "server"
        let rule =
            switch code {
            case .frameSizeError: "sent a frame with a wrong size"
            case .compressionError: "sent a compressed head that cannot be decoded"
            case .flowControlError: "sent more than flow control allows, or widened a window beyond its limit"
            case .streamClosed: "continued a stream that it had ended"
            case .enhanceYourCalm: "sent too many expensive frames"
            default: "broke the rules of HTTP/2"
            }
        self.init(code, "The \(peer) \(rule)" + (reason.isEmpty ? "." : " (\(reason))."))
    }

    static func text(of result: Int) -> String {
        nghttp2_strerror(Int32(truncatingIfNeeded: result)).map { String(cString: $0) } ?? "error \(result)"
    }

    init(result: Int32, field: String?) {
        switch nghttp2_error(rawValue: result) {
        case NGHTTP2_ERR_HTTP_HEADER:
            let name = field.map { "The field “\($0)”" } ?? "A field"
            self.init(.protocolError, "\(name) is not allowed in HTTP/2, or has an invalid value.")
        case NGHTTP2_ERR_HTTP_MESSAGING:
            let text = "The head lacks pseudo-headers, has contradictory ones, or does not match the body."
            self.init(.protocolError, text)
        case NGHTTP2_ERR_FLOW_CONTROL: self.init(.flowControlError, "The stream's window was widened beyond its limit.")
        default: self.init(.internalError, "A frame on the stream was wrong: \(HTTP2Error.text(of: Int(result))).")
        }
    }

    init(code: HTTP2ErrorCode, on stream: HTTP2Stream) {
        let explanation =
            switch code {
            case .protocolError:
                stream.announcedLength.map { "The body does not have the \($0) bytes that its head announced." }
                    ?? "The stream broke the rules of HTTP/2."
            case .flowControlError:
                "More was sent on the stream than its window allowed, or its window was widened beyond its limit."
            default: "The stream was closed with \(code)."
            }
        self.init(code, explanation)
    }
}
