package struct PlaceValue: Sendable, Hashable {
    /// How a value is written in its message.
    package enum Notation: Sendable, Hashable {
        case plain
        /// Percent-encoded, with `+` for a space.
        case percentEncoded
        case jsonString
        /// A number, `true`, `false` or `null`.
        case jsonScalar
        case jsonContainer
        case xml
    }

    /// The decoded text, or the JSON of a container as written.
    package let bytes: [UInt8]
    package let notation: Notation

    package init(_ bytes: some Sequence<UInt8>, _ notation: Notation = .plain) {
        (self.bytes, self.notation) = (Array(bytes), notation)
    }

    init(_ text: String, _ notation: Notation = .plain) { self.init(text.utf8, notation) }

    /// Bytes that are not UTF-8 become U+FFFD.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
