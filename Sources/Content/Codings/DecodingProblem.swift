/// Why bytes could not be decoded completely.
package struct DecodingProblem: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable {
        case corrupt
        case truncated
        /// More bytes follow the end of the coding; they were dropped.
        case trailingData = "trailing-data"
        case stoppedAtLimit = "stopped-at-limit"
        /// The bytes are unchanged.
        case unknownCoding = "unknown-coding"
        /// Nothing could be decoded; the bytes are unchanged.
        case notCoded = "not-coded"
    }

    package var kind: Kind
    package var coding: ContentCoding
    /// The offset of the problem in the input of the coding's decoder.
    package var offset: Int
    package var message: String

    package var description: String {
        switch kind {
        case .unknownCoding: message
        case .notCoded: "it is not \(coding) and is shown unchanged (\(message), at byte \(offset))"
        default: "\(coding): \(message), at byte \(offset)"
        }
    }
}
