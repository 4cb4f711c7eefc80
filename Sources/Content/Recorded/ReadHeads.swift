package import HTTPModel

/// The parsed heads of one exchange; an export parses each head at most once.
package final class ReadHeads {
    private let messages: ExchangeMessages
    package private(set) lazy var request = messages.requestHead.flatMap { StoredHead.request($0) }
    package private(set) lazy var response = messages.responseHead.flatMap { StoredHead.response($0) }
    /// The response as sent to the client.
    package private(set) lazy var responseSent = messages.responseHeadSent.map { StoredHead.response($0) } ?? response
    private lazy var requestType = ContentType(fields(of: .requestReceived))
    private lazy var responseType = ContentType(fields(of: .responseReceived))
    private lazy var responseSentType = ContentType(fields(of: .responseSent))

    /// A `Content-Type` field, as text and parsed.
    package struct ContentType {
        package let text: String?
        package let mediaType: MediaType?

        init(_ fields: FieldSection) {
            text = fields.value(of: .contentType)
            mediaType = text.flatMap { MediaType($0) }
        }
    }

    package init(_ messages: ExchangeMessages) { self.messages = messages }

    /// The fields of the head that belongs to a body, like ``ExchangeMessages/fields(of:)``.
    package func fields(of side: BodySide) -> FieldSection {
        switch side {
        case .requestReceived: request?.fields ?? messages.fields(of: side)
        case .requestSent where messages.requestHeadSent == nil: fields(of: .requestReceived)
        case .responseReceived: response?.fields ?? messages.fields(of: side)
        case .responseSent where messages.responseHeadSent == nil: fields(of: .responseReceived)
        case .responseSent: responseSent?.fields ?? messages.fields(of: side)
        case .requestSent: messages.fields(of: side)
        }
    }

    package func contentType(of side: BodySide) -> ContentType {
        switch side {
        case .requestReceived: requestType
        case .requestSent: messages.requestHeadSent == nil ? requestType : ContentType(fields(of: side))
        case .responseReceived: responseType
        case .responseSent: messages.responseHeadSent == nil ? responseType : responseSentType
        }
    }
}
