package import HTTPModel

extension MaskedSource {
    /// Longer bodies are not read for the notice about a copy.
    private static let longestForNotice = 16 << 20

    package func collectForNotice(_ exchange: RecordedExchange) throws {
        let isLong = exchange.record.sizes.bodies > MaskedSource.longestForNotice
        if isLong { _ = masked(exchange) } else { try collect(exchange) }
    }

    package func collect(shown text: String) { _ = mask.masked(text, .text) }

    package func collect(rules text: String) {
        (mask.host, mask.part) = ("", "rules")
        _ = mask.masked(text, .text)
    }

    /// A shown line or value may lack the name that made it a secret, so each word that is a known secret is replaced,
    /// too.
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

    /// Replaces named and known secrets in a text of the session, such as its rules.
    package func masked(text: String) -> String { mask.masked(text, .text) ?? text }

    /// Replaces only known secrets: in `token=([^&]+)` the value is a pattern.
    package func masked(pattern text: String) -> String { mask.masked(text, nil) ?? text }

    private static func isBetweenWords(_ byte: UInt8) -> Bool {
        byte <= 0x20 || "\"'`,;:=&()[]{}<>".utf8.contains(byte)
    }
}

extension SecretBook {
    fileprivate func placeholder(ofKnown text: [UInt8]) -> Placeholder? {
        knows(text) ? placeholder(of: text, .token) : nil
    }
}
