import Content
import ExchangeCore
import HTTPModel
import Rules

/// Tells messages whose bodies go on for as long as both sides like, so that nobody may wait for their end.
enum LiveStream {
    /// What kind of stream a message begins, for traces; `nil` where its body has an end to wait for.
    static func kind(_ fields: FieldSection, _ direction: FlowDirection) -> String? {
        guard let value = fields.value(of: .contentType), let type = MediaType(value) else { return nil }
        if type.essence == "multipart/x-mixed-replace" { return type.essence }
        switch StreamCounter.Format(mediaType: type.essence) {
        case nil: return nil
        // An upload of JSON lines ends like any other, and so does a response whose length is known.
        case .jsonLines where direction == .request || fields.contains(.contentLength): return nil
        default: return type.essence
        }
    }

    /// Whether a request asks for another protocol on its connection (RFC 9110 §7.8).
    static func asksForUpgrade(_ head: RequestHead) -> Bool {
        head.fields.contains(.upgrade)
    }
}
