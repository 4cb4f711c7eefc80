package import HTTPModel
package import NIOCore

/// A session file or an imported archive. A `…Sent` side of a body that no stage changed reads the received one.
package protocol ExchangeSource {
    /// Reads one exchange; `nil` if there is none of that number.
    func exchange(_ id: ExchangeID) throws -> RecordedExchange?
    /// Reads a body, at most `limit` bytes from `offset`; fewer if it ends before.
    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer
    /// Reads when a body's bytes arrived, by growing offset, at most `limit` arrivals, first the one that brought the
    /// byte at `offset`; empty if that was not recorded. The next page begins with the last one read.
    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival]

    /// Whether secrets are replaced: then bodies come without their content coding.
    var isMasking: Bool { get }
    var asRecorded: any ExchangeSource { get }
    /// The same exchanges for commands of a shell: each secret has a mark, for which the command has a variable.
    var forCommands: any ExchangeSource { get }
    /// The same exchanges for files: each secret has a plain placeholder.
    var forFiles: any ExchangeSource { get }
    /// The parts of an exchange whose secrets were replaced so far: all of them, once its bodies were read.
    func maskedParts(of record: ExchangeRecord) -> [String]
    /// In how many places secrets were replaced so far.
    var replacedCount: Int { get }
    /// The secrets that are replaced, at most so many of them; `nil` if none are looked for.
    func maskSummary(most: Int) -> MaskSummary?
    /// The size of a head as recorded, in bytes, if the head that the source gives is of another size.
    func recordedHeadSize(of id: ExchangeID, isRequest: Bool) -> Int?
    /// The sizes of a body that was read to its end, as recorded and decoded, if the source decodes it.
    func recordedSizes(of id: ExchangeID, side: BodySide) -> (encoded: Int, decoded: Int)?
    /// The same source for a second reading beside the first: what it replaces is not counted again.
    var again: any ExchangeSource { get }
    /// A message of a stream, without its secrets if the source replaces them.
    func given(_ message: StreamedMessage, of exchange: RecordedExchange) -> StreamedMessage
    /// What stopped the decoding of a body that the source decodes itself, once it was read to its end.
    func problem(of id: ExchangeID, side: BodySide) -> DecodingProblem?
    /// Whether nothing of a body is replaced, so that it may be given as it was recorded.
    func isUnchanged(_ id: ExchangeID, side: BodySide) throws -> Bool
    /// Whether a secret is in the bytes of a body as recorded, such as beside its compressed data.
    func hasSecretInRecordedBytes(_ id: ExchangeID, side: BodySide) throws -> Bool
}

/// The secrets that a source replaces, and what stands for them.
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
