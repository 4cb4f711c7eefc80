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

    /// Sets the held body, given without content coding, which is applied again or, if that fails, removed from the
    /// head. Throws `NoBodyHeldError` if only the head is held.
    package mutating func setBody(decoded body: ByteBuffer) throws {
        switch self {
        case .request(var head, .some, let destination):
            let coded = HeldMessage.coded(body, &head.fields)
            self = .request(head, body: coded, destination: destination)
        case .response(var head, .some):
            let coded = HeldMessage.coded(body, &head.fields)
            self = .response(head, body: coded)
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

    private static func coded(_ body: ByteBuffer, _ fields: inout FieldSection) -> ByteBuffer {
        let codings = WholeBody.codings(fields)
        guard !codings.isEmpty else { return body }
        do {
            return try ContentEncoder.encode(body, codings: codings)
        } catch {
            fields.removeAll(.contentEncoding)
            return body
        }
    }
}
