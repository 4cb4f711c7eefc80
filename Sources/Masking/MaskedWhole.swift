/// Why no variable can stand for the secrets of a masked body, so that a command needs the body itself.
package enum MaskedWhole: Sendable, Hashable {
    /// One sentence stands for the body, as it has secrets in compressed data, or too much of that.
    case packed
    /// It is text in UTF-16, and so are its placeholders.
    case wide

    /// `nil` for a body whose placeholders, if it has any, are plain.
    package init?(_ body: [UInt8], _ book: SecretBook) {
        if MaskedWhole.isSentence(body) {
            self = .packed
        } else if book.hasPlaceholders(inWide: body) {
            self = .wide
        } else {
            return nil
        }
    }

    /// Whether a body is the sentence that stands for one that was masked whole, in this export or an earlier one.
    package static func isSentence(_ body: some Collection<UInt8>) -> Bool {
        body.count <= longest && sentences.contains { body.elementsEqual($0.utf8) }
    }

    private static let sentences = [PackedBody.Replacement.holdsSecrets, .isTooLong].map(\.rawValue)
    private static let longest = sentences.map(\.utf8.count).max() ?? 0
}

extension SecretBook {
    /// Every second byte of what a placeholder begins with in UTF-16, whichever byte of a unit comes first.
    private static let widePrefix: [UInt8] = Placeholder.prefix.utf8.flatMap { [$0, 0] as [UInt8] }.dropLast()

    /// Whether placeholders that were given to secrets stand in a text in UTF-16.
    fileprivate func hasPlaceholders(inWide bytes: [UInt8]) -> Bool {
        var place = 0
        while let start = bytes[place...].firstIndex(of: SecretBook.widePrefix[0]) {
            if bytes[start...].starts(with: SecretBook.widePrefix) {
                return !placeholders(in: bytes[start...].filter { $0 != 0 }).isEmpty
            }
            place = start + 1
        }
        return false
    }
}
