import Content
package import ExchangeCore
import HTTPModel
import NIOCore

/// The body of a held message, decoded.
struct HoldContent {
    /// If decoding failed, the bytes before the error.
    let bytes: ByteBuffer
    let problem: String?
    /// As received, in bytes.
    let size: Int

    private static let longestDecoded = 64 << 20

    /// `nil` if only the head is held.
    init?(_ message: HeldMessage) {
        guard let decoded = message.decodedBody(limit: HoldContent.longestDecoded) else { return nil }
        size = message.body?.readableBytes ?? 0
        (bytes, problem) = decoded
    }

    /// `nil` if the body cannot be decoded completely, or is not readable UTF-8 text.
    var text: String? {
        guard problem == nil, !bytes.readableBytesView.contains(0), TextDecoder.isText(bytes) else { return nil }
        return String(validating: bytes.readableBytesView, as: UTF8.self)
    }
}

extension HeldMessage {
    /// As received; `nil` if only the head is held.
    var body: ByteBuffer? {
        switch self {
        case .request(_, let body, _), .response(_, let body): body
        }
    }

    var fields: FieldSection {
        get {
            switch self {
            case .request(let head, _, _): head.fields
            case .response(let head, _): head.fields
            }
        }
        set {
            switch self {
            case .request(var head, let body, let destination):
                head.fields = newValue
                self = .request(head, body: body, destination: destination)
            case .response(var head, let body):
                head.fields = newValue
                self = .response(head, body: body)
            }
        }
    }

    /// Whether the same bytes would be sent to the same destination.
    package func isSame(as other: HeldMessage) -> Bool {
        switch (self, other) {
        case (.request(let head, let body, let place), .request(let otherHead, let otherBody, let otherPlace)):
            head.serialized() == otherHead.serialized() && body == otherBody && place == otherPlace
        case (.response(let head, let body), .response(let otherHead, let otherBody)):
            head.serialized() == otherHead.serialized() && body == otherBody
        default: false
        }
    }

    /// Encodes the body with the message's content coding. Throws if the body is not held.
    mutating func setDecodedBody(_ decoded: ByteBuffer) throws(ControlError) {
        do { try setBody(decoded: decoded) } catch { throw ControlError.bodyStreamsOn }
    }
}

extension ControlError {
    static let bodyStreamsOn = ControlError("The body is not held and cannot be edited.", hint: "Use a rewrite rule.")
}
