import Content
import ExchangeCore
import Foundation
import HTTPModel
import NIOCore

struct HoldContent {
    /// The decoded bytes: all of them, or those before the problem.
    let bytes: ByteBuffer
    /// Why it could not be decoded whole.
    let problem: String?
    private let size: Int

    /// A few bytes may stand for a great many.
    private static let longestDecoded = 64 << 20

    /// Decodes the body; `nil` where the head alone is held.
    init?(_ message: HeldMessage) {
        guard let decoded = message.decodedBody(limit: HoldContent.longestDecoded) else { return nil }
        size = message.body?.readableBytes ?? 0
        bytes = decoded.0
        problem = decoded.problem
    }

    /// The body as text, where it is valid UTF-8 that a person can read.
    var text: String? {
        guard problem == nil, !bytes.readableBytesView.contains(0), TextDecoder.isText(bytes) else { return nil }
        return String(validating: bytes.readableBytesView, as: UTF8.self)
    }

    /// What `hold.show` tells of it.
    func description(limit: Int) -> HoldDetails.Body {
        let shown = bytes.getSlice(at: bytes.readerIndex, length: min(bytes.readableBytes, limit)) ?? ByteBuffer()
        let isCut = shown.readableBytes < bytes.readableBytes
        let text = isCut || problem != nil ? nil : text
        return HoldDetails.Body(
            size: size,
            decodedSize: bytes.readableBytes,
            text: text,
            base64: text == nil ? shown.withUnsafeReadableBytes { Data($0) } : nil,
            isCut: isCut,
            problem: problem
        )
    }
}

extension HeldMessage {
    /// The body as received; `nil` where the head alone is held.
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

    /// Whether both would go out as the same bytes to the same place.
    func isSame(as other: HeldMessage) -> Bool {
        switch (self, other) {
        case (.request(let head, let body, let place), .request(let otherHead, let otherBody, let otherPlace)):
            head.serialized() == otherHead.serialized() && body == otherBody && place == otherPlace
        case (.response(let head, let body), .response(let otherHead, let otherBody)):
            head.serialized() == otherHead.serialized() && body == otherBody
        default: false
        }
    }

    /// Gives the message another body, whose content coding is put on again.
    ///
    /// - Throws: ``ControlFailure`` where the body is not held.
    mutating func setDecodedBody(_ decoded: ByteBuffer) throws(ControlFailure) {
        do {
            try setBody(decoded: decoded)
        } catch {
            throw ControlFailure.bodyStreamsOn
        }
    }
}

extension ControlFailure {
    static let bodyStreamsOn = ControlFailure(
        "Only the head is held; the body streams on and cannot be edited.",
        hint: "A rewrite rule can edit bodies of streams."
    )
}
