import Content
package import HTTPModel
package import Masking

extension MaskedSource {
    /// Reads an exchange, including the messages of streams, to collect its secrets. Throws the source's error.
    package func collectAll(_ exchange: RecordedExchange) throws {
        try collect(exchange)
        guard let timeline = MessageTimeline(exchange, source: self, payloadLimit: MessageTimeline.longestPayload)
        else { return }
        while try timeline.next() != nil {}
    }
}
