import Content
package import ExchangeCore
package import HTTPModel

/// Messages whose bodies may never end, so that nothing may wait for the end.
package enum LiveStream {
    /// The media type of a message whose body is a stream; `nil` if the body ends.
    package static func kind(_ fields: FieldSection, _ direction: FlowDirection) -> String? {
        guard let value = fields.value(of: .contentType), let type = MediaType(value) else { return nil }
        if type.essence == "multipart/x-mixed-replace" { return type.essence }
        switch StreamCounter.Format(mediaType: type.essence) {
        case nil: return nil
        // An upload of JSON lines ends, and so does a response with a known length.
        case .jsonLines where direction == .request || fields.contains(.contentLength): return nil
        default: return type.essence
        }
    }
}
