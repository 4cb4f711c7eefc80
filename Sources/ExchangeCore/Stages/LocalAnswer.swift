package import HTTPModel
package import NIOCore
import Text

/// How a rule ends an answer on purpose before it is complete.
package struct AnswerEnd: Sendable, Hashable {
    /// How many bytes of the body the client gets; `nil` if it does not even get the head.
    package var after: Int64?
    /// How long the client then gets nothing, before its connection is cut.
    package var silence: TimeAmount
    package var failure: ExchangeFailure

    package init(after: Int64?, silence: TimeAmount = .zero, _ failure: ExchangeFailure) {
        self.after = after
        self.silence = silence
        self.failure = failure
    }
}

/// A response from Sluice or a rule instead of a server.
package struct LocalAnswer: Sendable {
    /// The engine sets `Content-Length`.
    package var head: ResponseHead
    package var body: ByteBuffer
    /// A file instead of the body, read as fast as the client reads.
    package var file: AnswerFile?
    /// Ends the answer before it is complete.
    package var end: AnswerEnd?

    package init(head: ResponseHead, body: ByteBuffer = ByteBuffer()) {
        self.head = head
        self.body = body
    }

    package init(head: ResponseHead, file: AnswerFile) {
        self.init(head: head)
        self.file = file
    }

    package init(status: Int, contentType: String, text: String, fields: [(String, String)] = []) {
        let body = ByteBuffer(string: text)
        var head = ResponseHead(status: status, fields: [("Content-Type", contentType)] + fields)
        head.fields.append("Content-Length", String(body.readableBytes))
        self.init(head: head, body: body)
    }

    /// A page that explains why Sluice answers; `text` says what happened, to whom, and what to try.
    package static func explanation(
        status: Int,
        title: String,
        text: String,
        html: Bool = false,
        fields: [(String, String)] = []
    ) -> LocalAnswer {
        guard html else {
            let page = "Sluice: \(title)\n\n\(text)\n"
            return LocalAnswer(status: status, contentType: "text/plain; charset=utf-8", text: page, fields: fields)
        }
        let page = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Sluice: \(title.markupEscaped)</title>
            <style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1rem}\
            h1{font-size:1.3rem}small{color:#666}</style></head>
            <body><h1>\(title.markupEscaped)</h1><p>\(text.markupEscaped)</p><small>This answer comes from the Sluice proxy, \
            not from the server.</small></body></html>

            """
        return LocalAnswer(status: status, contentType: "text/html; charset=utf-8", text: page, fields: fields)
    }

    /// The status if a replay has no answer; servers do not use it.
    package static let notRecordedStatus = 599

    /// The field with the failure's code, in the answer to a failed exchange.
    private static let failureField = "X-Sluice-Failure"
    /// The field of the answer to a request that is not recorded.
    private static let replayField = "X-Sluice-Replay"

    /// The field that distinguishes answers of this process from equal ones of a server or of a different Sluice.
    private static let markField = "X-Sluice-Mark"

    /// This process's value of `X-Sluice-Mark`: random, so that no server has it.
    package static let mark = String(UInt64.random(in: .min ... .max), radix: 36)

    /// Why this Sluice answered instead of the server; `nil` if the answer is not a failure of this Sluice.
    package static func failureCode(in head: ResponseHead, mark: String?) -> ExchangeFailure.Code? {
        guard let mark, head.fields.value(of: FieldName(markField.lowercased())) == mark else { return nil }
        if let code = head.fields.value(of: FieldName(failureField.lowercased())) {
            return ExchangeFailure.Code(rawValue: code)
        }
        let isMiss = head.status == notRecordedStatus && head.fields.contains(FieldName(replayField.lowercased()))
        return isMiss ? .notRecorded : nil
    }

    /// The page for a failed exchange, with a status for its kind (RFC 9110 §15.6); 599 for a replay without an answer.
    package static func failure(_ failure: ExchangeFailure, html: Bool) -> LocalAnswer {
        let (status, title) =
            switch failure.code {
            case .timeout: (504, "The server took too long")
            case .clientTimeout: (408, "The request took too long")
            case .dns: (502, "The server's name could not be resolved")
            case .connect: (502, "The server could not be reached")
            case .tls: (502, "No secure connection to the server")
            case .badResponse: (502, "The server's answer is invalid")
            case .badRequest: (400, "The request was not understood")
            case .loop: (508, "The request leads back to this proxy")
            case .stopped: (503, "Sluice is stopping")
            case .reset, .clientTLS, .clientGone, .aborted: (502, "The server gave no answer")
            case .notRecorded: (notRecordedStatus, "Not in the recording")
            case .overload: (503, "Sluice has no room for this request")
            case .upstreamProxy: (502, "The upstream proxy refused the request")
            }
        // Programs and tests read the answer to a request that is not recorded, so it is plain text.
        let isMiss = failure.code == .notRecorded
        let fields = [isMiss ? (replayField, "miss") : (failureField, failure.code.rawValue), (markField, mark)]
        let text = text(of: failure)
        return explanation(status: status, title: title, text: text, html: html && !isMiss, fields: fields)
    }

    private static func text(of failure: ExchangeFailure) -> String {
        failure.hint.isEmpty ? failure.message : "\(failure.message) \(failure.hint)"
    }

    /// The answer to a failed gRPC call: a status alone, which its client shows (gRPC over HTTP/2, "Trailers-Only").
    package static func callFailure(_ failure: ExchangeFailure, contentType: String) -> LocalAnswer {
        // INTERNAL for malformed messages, UNIMPLEMENTED if no retry can help, UNAVAILABLE if it can.
        let status =
            switch failure.code {
            case .badRequest, .badResponse: "13"
            case .notRecorded: "12"
            default: "14"
            }
        let message = "Sluice: \(text(of: failure))".utf8.reduce(into: "") { encoded, byte in
            let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "%")
            encoded += isPlain ? String(Unicode.Scalar(byte)) : "%" + byte.padded(to: 2, radix: 16)
        }
        let fields = [
            ("Content-Type", contentType), ("grpc-status", status), ("grpc-message", message),
            (failureField, failure.code.rawValue), (markField, mark),
        ]
        return LocalAnswer(head: ResponseHead(status: 200, fields: fields))
    }
}
