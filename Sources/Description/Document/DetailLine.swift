/// A block of lines that can be folded into its first one.
package struct Fold: Sendable, Hashable {
    /// The index of the line after the block's last one.
    package var end: Int
    /// What is shown instead of the folded block, for example `{ 12 members }`.
    package var summary: String
    package var startsFolded = false
}

package struct DetailLine: Sendable, Hashable {
    package var spans: [Span]
    /// How many columns stay empty before the line; if the line wraps, before each of its rows.
    package var indent: Int
    package var fold: Fold?
    /// Whether a line that is too long goes on in the next row; if not, it is cut.
    package var wraps: Bool
    /// Whether a word that fits into a row is never broken, regardless of its length.
    package var keepsWords = false
    package var copyable: Copyable?
    /// The section or message whose heading the line is; position and folds are found again by this name.
    package var name: String?

    package init(_ spans: [Span], indent: Int = 0, fold: Fold? = nil, wraps: Bool = true) {
        self.spans = spans
        self.indent = indent
        self.fold = fold
        self.wraps = wraps
    }

    package var plain: String { String(repeating: " ", count: indent) + spans.lazy.map(\.text).joined() }

    /// The line with its block folded: the summary replaces the bracket that the line ends with, or follows the line.
    package var foldedSpans: [Span] {
        guard let fold else { return spans }
        let opener = spans.last.map { String($0.text.drop { $0 == " " }) } ?? ""
        if !opener.isEmpty, fold.summary.hasPrefix(opener) {
            return spans.dropLast() + [Span(fold.summary, .faint)]
        }
        return spans + [Span(" " + fold.summary, .faint)]
    }
}
