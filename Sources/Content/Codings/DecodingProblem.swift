/// Why encoded bytes could not be decoded, or not in whole.
public struct DecodingProblem: Sendable, Hashable, CustomStringConvertible {
    /// The kind of problem.
    public enum Kind: String, Sendable, Hashable {
        /// The bytes are not what the coding allows.
        case corrupt
        /// The bytes end before the coding does.
        case truncated
        /// The coding ended and more bytes follow; they were left out.
        case trailingData = "trailing-data"
        /// The decoded bytes are more than the limit given; the rest was left out.
        case stoppedAtLimit = "stopped-at-limit"
        /// The coding is not one that can be undone; the bytes are as they were.
        case unknownCoding = "unknown-coding"
    }

    /// The kind of problem.
    public var kind: Kind
    /// The coding in which it arose.
    public var coding: ContentCoding
    /// Where it arose: the offset in the bytes that were fed to that coding's decoder.
    public var offset: Int
    /// What is wrong, in a few words.
    public var message: String

    /// Describes a problem.
    public init(kind: Kind, coding: ContentCoding, offset: Int, message: String) {
        self.kind = kind
        self.coding = coding
        self.offset = offset
        self.message = message
    }

    /// One sentence for people, for example `gzip: the data ends too early, at byte 512`.
    public var description: String {
        kind == .unknownCoding ? message : "\(coding): \(message), at byte \(offset)"
    }
}
