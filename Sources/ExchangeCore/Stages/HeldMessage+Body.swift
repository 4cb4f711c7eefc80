import Content
import HTTPModel
package import NIOCore

extension HeldMessage {
    /// A body was set for a message of which only the head is held.
    package struct NoBodyHeldError: Error, CustomStringConvertible {
        package let description = "Only the head of this message is held; its body streams on after it."
    }

    /// The held body decoded to at most `limit` bytes, with the problem if that failed; `nil` if only the head is held.
    package func decodedBody(limit: Int) -> (ByteBuffer, problem: String?)? {
        switch self {
        case .request(let head, let body, _): body.map { HeldMessage.decoded($0, head.fields, limit) }
        case .response(let head, let body): body.map { HeldMessage.decoded($0, head.fields, limit) }
        }
    }

    /// Sets the held body. `body` has no content coding: the coding is applied again or, if that fails, removed from
    /// the head. Throws `NoBodyHeldError` if only the head is held.
    package mutating func setBody(decoded body: ByteBuffer) throws {
        var body = body
        switch self {
        case .request(var head, .some, let destination):
            _ = WholeBody.encode(&body, WholeBody.codings(head.fields), &head.fields)
            self = .request(head, body: body, destination: destination)
        case .response(var head, .some):
            _ = WholeBody.encode(&body, WholeBody.codings(head.fields), &head.fields)
            self = .response(head, body: body)
        case .request(_, nil, _), .response(_, nil): throw NoBodyHeldError()
        }
    }

    private static func decoded(
        _ body: ByteBuffer,
        _ fields: FieldSection,
        _ limit: Int
    ) -> (ByteBuffer, problem: String?) {
        let codings = WholeBody.codings(fields)
        guard !codings.isEmpty, body.readableBytes > 0 else { return (body, nil) }
        let result = ContentDecoder.decode(body, codings: codings, limit: limit)
        return (result.bytes, result.problem?.description)
    }
}
