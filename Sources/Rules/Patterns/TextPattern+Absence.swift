import Expressions
import Text

extension TextPattern {
    /// In bytes; longer patterns are not searched with different white space.
    private static let longestSpaced = 200

    /// Why the pattern is not found in a text: the pattern, the size of the text, and the most probable reason.
    package func absence(in text: String) -> String {
        let what = groupCount == nil ? "text \(description)" : description
        let count = text.utf8.count
        let place = "not found in \(count.grouped) byte\(count == 1 ? "" : "s")"
        return "\(what) \(place)" + (nearest(in: text).map { "; \($0)" } ?? "")
    }

    private func nearest(in text: String) -> String? {
        if isWhole, finds(isWhole: false, in: text) { return "'whole: true' requires the whole text" }
        if isCaseSensitive, finds(isCaseSensitive: false, in: text) {
            return "'case: true' distinguishes case, and the text differs in case"
        }
        guard groupCount == nil else { return nil }
        if let found = spaced(in: text) { return "it is there with different white space: '\(found.clipped(to: 60))'" }
        return isLikeExpression ? "/…/ would be a regular expression" : nil
    }

    private func finds(isCaseSensitive: Bool? = nil, isWhole: Bool? = nil, in text: String) -> Bool {
        let (isCaseSensitive, isWhole) = (isCaseSensitive ?? self.isCaseSensitive, isWhole ?? self.isWhole)
        let other = try? TextPattern(self.text, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        return (try? other?.matches(text)) ?? false
    }

    /// The part of the text that would match without white space.
    private func spaced(in text: String) -> String? {
        let plain = TextPattern.plain(self.text)
        guard plain.utf8.count <= TextPattern.longestSpaced else { return nil }
        let pieces = plain.unicodeScalars.filter { !$0.properties.isWhitespace }.map { scalar in
            scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
                ? "\\\(scalar)" : String(scalar)
        }
        let spaced = pieces.joined(separator: "\\s*")
        guard !pieces.isEmpty,
            let expression = try? RegularExpression(spaced, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        else { return nil }
        var found: String?
        try? expression.forEachMatch(in: text) { match, subject in
            found = String(decoding: UnsafeRawBufferPointer(rebasing: subject[match.whole]), as: UTF8.self)
            return false
        }
        return found
    }

    /// Whether a plain text was probably meant as a regular expression: it has groups, or other signs of one.
    package var isLikeExpression: Bool {
        guard groupCount == nil, let read = try? RegularExpression(text, isCaseSensitive: true) else { return false }
        return read.groupCount > 0 || [".*", ".+", "\\d", "\\w", "\\s", "\\."].contains { text.contains($0) }
    }
}
