package import HTTPModel
package import NIOCore

/// A session file or an imported archive. If no rule changed a body, its `…Sent` side reads the received body.
package protocol ExchangeSource {
    /// Reads one exchange; `nil` if no exchange has this number.
    func exchange(_ id: ExchangeID) throws -> RecordedExchange?
    /// Reads a body, at most `limit` bytes from `offset`; fewer if it ends before.
    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer
    /// Reads at most `limit` arrivals of a body, in order of offset; the first one brought the byte at `offset`. Empty
    /// if arrivals were not recorded. The next page begins with the last arrival of this one.
    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival]

    /// Whether secrets are replaced; bodies are then returned without content coding.
    var isMasking: Bool { get }
    var asRecorded: any ExchangeSource { get }
    /// The same exchanges for shell commands: each secret is a marker, for which the command uses a variable.
    var forCommands: any ExchangeSource { get }
    /// The same exchanges for files: each secret is a plain placeholder.
    var forFiles: any ExchangeSource { get }
    /// The parts of an exchange in which secrets were replaced so far; complete once its bodies were read.
    func maskedParts(of record: ExchangeRecord) -> [String]
    /// How often secrets were replaced so far.
    var replacedCount: Int { get }
    /// The replaced secrets, with at most `most` entries; `nil` if the source does not look for secrets.
    func maskSummary(most: Int) -> MaskSummary?
    /// The recorded size of a head in bytes, if the source returns a head of a different size.
    func recordedHeadSize(of id: ExchangeID, isRequest: Bool) -> Int?
    /// The recorded and decoded sizes of a body that was read to its end, if the source decodes the body.
    func recordedSizes(of id: ExchangeID, side: BodySide) -> (encoded: Int, decoded: Int)?
    /// The same source for a second reading: its replacements are not counted again.
    var again: any ExchangeSource { get }
    /// A message of a stream, without its secrets if the source replaces them.
    func given(_ message: StreamedMessage, of exchange: RecordedExchange) -> StreamedMessage
    /// Why decoding a body stopped, if the source decodes bodies itself; known once the body was read to its end.
    func problem(of id: ExchangeID, side: BodySide) -> DecodingProblem?
    /// Whether nothing in a body is replaced, so that its recorded bytes can be used.
    func isUnchanged(_ id: ExchangeID, side: BodySide) throws -> Bool
    /// Whether the recorded bytes of a body contain a secret, for example after the compressed data.
    func hasSecretInRecordedBytes(_ id: ExchangeID, side: BodySide) throws -> Bool
}

/// The secrets that a source replaces, and their placeholders.
package struct MaskSummary {
    package struct Entry {
        package let placeholder: String
        /// The name of the field or member that had the secret.
        package let name: String
        package let host: String

        package init(placeholder: String, name: String, host: String) {
            (self.placeholder, self.name, self.host) = (placeholder, name, host)
        }
    }

    package let secretCount: Int
    /// How many values look like secrets and are not replaced.
    package let suspectCount: Int
    package let entries: [Entry]

    package init(secretCount: Int, suspectCount: Int, entries: [Entry]) {
        (self.secretCount, self.suspectCount, self.entries) = (secretCount, suspectCount, entries)
    }
}

extension ExchangeSource {
    package var isMasking: Bool { false }
    package var asRecorded: any ExchangeSource { self }
    package var forCommands: any ExchangeSource { self }
    package var forFiles: any ExchangeSource { self }
    package func maskedParts(of record: ExchangeRecord) -> [String] { record.extras.masked }
    package var replacedCount: Int { 0 }
    package func maskSummary(most: Int) -> MaskSummary? { nil }
    package func recordedHeadSize(of id: ExchangeID, isRequest: Bool) -> Int? { nil }
    package func recordedSizes(of id: ExchangeID, side: BodySide) -> (encoded: Int, decoded: Int)? { nil }
    package var again: any ExchangeSource { self }
    package func given(_ message: StreamedMessage, of exchange: RecordedExchange) -> StreamedMessage { message }
    package func problem(of id: ExchangeID, side: BodySide) -> DecodingProblem? { nil }
    package func isUnchanged(_ id: ExchangeID, side: BodySide) throws -> Bool { true }
    package func hasSecretInRecordedBytes(_ id: ExchangeID, side: BodySide) throws -> Bool { false }

    package func arrivals(of id: ExchangeID, side: BodySide, from: Int64, limit: Int) throws -> [Arrival] { [] }
}
