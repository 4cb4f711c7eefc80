import Content
import HTTPModel
import NIOCore

/// Runs a whole-body hook: removes the content coding before it, restores it after it, and sets the framing.
package enum WholeBody {
    struct Result {
        var verdict: Verdict
        var body: ByteBuffer
        var framing: BodyFraming
        var isBodyChanged = false
        var isChanged = false
    }

    /// The maximum size of a decoded body, in bytes.
    package static let decodedLimit = 64 << 20

    static func pass<Head: FlowingHead>(
        _ gathered: inout MessageFlow<Head>.Gathering,
        hasTrailers: Bool,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Result {
        let received = gathered.body
        var body = received
        let codings = gathered.decoded && received.readableBytes > 0 ? codings(gathered.head.fields) : []
        if !codings.isEmpty {
            guard let plain = decode(received, codings, &exchange) else {
                return Result(verdict: .forward, body: received, framing: gathered.framing)
            }
            body = plain
        }
        let before = body
        let revision = gathered.head.revision
        let verdict = handler.whole(Head.direction, &gathered.head.fields, &body, &exchange)
        guard body != before else {
            let (framing, isChanged) = (gathered.framing, gathered.head.revision != revision)
            return Result(verdict: verdict, body: received, framing: framing, isChanged: isChanged)
        }
        if let error = encode(&body, codings, &gathered.head.fields) {
            exchange.note("the edited body could not be encoded again (\(error)); it is sent without content coding")
        }
        let framing: BodyFraming = hasTrailers ? .chunked : .length(Int64(body.readableBytes))
        return Result(verdict: verdict, body: body, framing: framing, isBodyChanged: true, isChanged: true)
    }

    /// The content codings in the order in which they were applied (RFC 9110 §8.4).
    static func codings(_ fields: FieldSection) -> [ContentCoding] {
        guard fields.contains(.contentEncoding) else { return [] }
        return ContentCoding.list(fields.values(of: .contentEncoding).joined(separator: ","))
    }

    private static func decode(
        _ received: ByteBuffer,
        _ codings: [ContentCoding],
        _ exchange: inout StageExchange
    ) -> ByteBuffer? {
        let result = ContentDecoder.decode(received, codings: codings, limit: decodedLimit)
        if let problem = result.problem {
            exchange.note("the body could not be decoded (\(problem)); it passed unmodified")
            return nil
        }
        return result.bytes
    }

    /// Applies content codings; if that fails, removes `Content-Encoding` and returns the error.
    static func encode(
        _ body: inout ByteBuffer,
        _ codings: [ContentCoding],
        _ fields: inout FieldSection
    ) -> (any Error)? {
        guard !codings.isEmpty else { return nil }
        do {
            body = try ContentEncoder.encode(body, codings: codings)
            return nil
        } catch {
            fields.removeAll(.contentEncoding)
            return error
        }
    }
}
