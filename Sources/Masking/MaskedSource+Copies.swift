package import HTTPModel

extension MaskedSource {
    /// The bodies of an exchange up to this size, in bytes, are read for the notice about a copy.
    private static let longestForNotice = 16 << 20

    /// Reads an exchange for its secrets; where its bodies are long, its heads only.
    package func collectForNotice(_ exchange: RecordedExchange) throws {
        let isLong = exchange.record.sizes.bodies > MaskedSource.longestForNotice
        if isLong { collectHeads(exchange) } else { try collect(exchange) }
    }

    /// Reads a text that was shown for its secrets.
    package func collect(shown text: String) { _ = mask.masked(text, .text) }

    /// Reads a text of the session's rules for its secrets.
    package func collect(rules text: String) {
        (mask.host, mask.part) = ("", "rules")
        _ = mask.masked(text, .text)
    }

    /// A text that was shown, with its secrets replaced: a line or a value may stand in it without the name that made it
    /// a secret, so each word that is known as one is replaced, too.
    package func masked(shown text: String) -> String {
        if let placeholder = mask.book.placeholder(ofKnown: Array(text.utf8)) { return placeholder.text }
        let named = Array((mask.masked(text, .text) ?? text).utf8)
        var output: [UInt8] = []
        for word in named.split(omittingEmptySubsequences: false, whereSeparator: { MaskedSource.isBetweenWords($0) }) {
            if word.startIndex > 0 { output.append(named[word.startIndex - 1]) }
            output += mask.book.placeholder(ofKnown: Array(word)).map { Array($0.text.utf8) } ?? Array(word)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// A text that belongs to the session, such as its rules, with its secrets replaced: those that are named as such
    /// there, and those that were found elsewhere.
    package func masked(text: String) -> String { mask.masked(text, .text) ?? text }

    /// A regular expression of the session's rules, with the secrets replaced that are known: what stands behind a name in it is
    /// a pattern, `token=([^&]+)`.
    package func masked(pattern text: String) -> String { mask.masked(text, nil) ?? text }

    private static func isBetweenWords(_ byte: UInt8) -> Bool {
        byte <= 0x20 || "\"'`,;:=&()[]{}<>".utf8.contains(byte)
    }
}

extension SecretBook {
    /// The placeholder of a whole text that was found as a secret; `nil` for other texts.
    fileprivate func placeholder(ofKnown text: [UInt8]) -> Placeholder? {
        knows(text) ? placeholder(of: text, .token) : nil
    }
}
