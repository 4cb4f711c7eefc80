import Text

/// Reads the exchanges of an archive one after the other, so that it is never whole in memory.
package protocol ArchiveReader {
    /// Calls `body` with each exchange, in order. Throws ``ArchiveError``, a syntax error, or an error of `body`.
    mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws
}

package struct ArchiveError: Error, Hashable, CustomStringConvertible {
    /// The position, to append to the file's name: `:3:7` is line 3, column 7; may be empty.
    package var place: String
    package var message: String

    package init(_ message: String, place: String = "") { (self.message, self.place) = (message, place) }

    package var description: String { message }
}

/// Counts what an import left out, by kind. Use it on one thread.
package final class ArchiveLosses {
    package struct Kind: Sendable, Hashable {
        package var one: String
        package var many: String

        package init(_ one: String, _ many: String) { (self.one, self.many) = (one, many) }

        /// Braces contain the singular and the plural: `{body|bodies}`. `name`, which the file contains, replaces NAME.
        init(_ words: String, of name: String = "") {
            let name = VisibleText.of(String(name.prefix(40)))
            let parts = words.split(omittingEmptySubsequences: false) { $0 == "{" || $0 == "}" }
            func joined(_ choose: ([Substring]) -> Substring?) -> String {
                parts.map { choose($0.split(separator: "|", omittingEmptySubsequences: false)) ?? "" }.joined()
                    .replacing("NAME", with: name)
            }
            self.init(joined(\.first), joined(\.last))
        }

        static let cutBody = Kind("{body is|bodies are} cut off at the limit of {its|their} length")
        static let missingBody = Kind("{body|bodies} that the archive does not have")
        static let field = Kind("header field{|s} beyond the first thousand")
        static let socketMessage = Kind("WebSocket message{|s} beyond the first 100000")
        static let missingMessages = Kind("WebSocket{|s} whose messages the archive does not have")
        static let pageURL = Kind("{entry of a|entries of} data: or blob: URL{|s}, for which nothing is sent")
        static let charset = Kind(
            "{body's charset|bodies' charsets}, which lack{s|} some of {its|their} characters: {it is|they are} UTF-8 now"
        )
        static func outOfRange(_ name: String) -> Kind {
            Kind("value{|s} of 'NAME' that {is|are} out of range", of: name)
        }
        static func unreadableTime(_ name: String) -> Kind {
            Kind("time{|s} 'NAME' that cannot be read: {it is|they are} 1970 now", of: name)
        }
        static func missingTime(_ name: String) -> Kind {
            Kind("missing time{|s} 'NAME': {it is|they are} 1970 now", of: name)
        }
        static let form = Kind(
            "form{|s} without {its|their} text: {its body was|their bodies were} made of {its|their} parameters"
        )
        static let cookies = Kind(
            "message{|s} with cookies outside of {its|their} headers: {a header field was|header fields were} made of them"
        )
        static let query = Kind(
            "{query|queries} outside of {its URL|their URLs}: {it was|they were} added to the URL{|s}"
        )
        static let attachment = Kind("{body in a file that is|bodies in files that are} not there")
        static let opcode = Kind("WebSocket message{|s} of {a kind that is|kinds that are} not known")
        static func unreadable(_ name: String) -> Kind { Kind("value{|s} of 'NAME' that cannot be read", of: name) }
        static let base64 = Kind(
            "{body|bodies} whose base64 cannot be read: {it is the text that stands|they are the texts that stand} there now"
        )
        static func bodyEncoding(_ name: String) -> Kind {
            let now = "{it is the text that stands|they are the texts that stand} there now"
            return Kind("{body's|bodies'} encoding 'NAME', which is not known: \(now)", of: name)
        }
        static let method = Kind("method{|s} that {is|are} missing: {it is|they are} GET now")
        static let value = Kind("value{|s} that {is no object|are no objects}")
        static let unreadableURL = Kind("exchange{|s} without a URL that can be read")
    }

    private var counts: [Kind: Int] = [:]
    private var order: [Kind] = []

    package init() {}

    package func add(_ kind: Kind) {
        if counts[kind] == nil {
            // Limits the number of kinds, because names in files are arbitrary.
            guard order.count < 100 else { return }
            order.append(kind)
        }
        counts[kind, default: 0] += 1
    }

    /// A whole number; `nil` for other texts, for negative (unknown) numbers, and above the range, which is counted.
    func whole(_ text: some StringProtocol, _ name: String, _ range: ClosedRange<Int>) -> Int? {
        guard let number = Double(text), number >= 0 else { return nil }
        if number <= Double(range.upperBound) { return Int(number) }
        add(.outOfRange(name))
        return nil
    }

    /// One phrase for each kind: `3 bodies that the archive does not have`.
    package var phrases: [String] {
        order.map { kind in
            let count = counts[kind] ?? 0
            return count == 1 ? "1 \(kind.one)" : "\(count) \(kind.many)"
        }
    }
}
