import Text

/// Reads the exchanges of an archive one after the other, so that it is never whole in memory.
package protocol ArchiveReader {
    /// Calls `body` with each exchange, in order. Throws ``ArchiveError`` or `JSONSyntaxError` where the archive cannot
    /// be read further, and what `body` throws.
    mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws
}

extension HARReader: ArchiveReader {}

/// Where and why an archive cannot be read.
package struct ArchiveError: Error, Hashable, CustomStringConvertible {
    /// The place, as it follows the file's name: `:3:7` for a line and a column; empty where there is none.
    package var place: String
    package var message: String

    package init(_ message: String, place: String = "") { (self.message, self.place) = (message, place) }

    package var description: String { message }
}

/// What an import left out, counted by what it is. Belongs to one thread.
package final class ArchiveLosses {
    package struct Kind: Sendable, Hashable {
        /// What was lost: one of it, and several.
        package var one: String
        package var many: String

        package init(_ one: String, _ many: String) { (self.one, self.many) = (one, many) }

        static let cutBody = Kind(
            "body is cut off at the limit of its length",
            "bodies are cut off at the limit of their length"
        )
        static let missingBody = Kind("body that the archive does not have", "bodies that the archive does not have")
        static let field = Kind("header field beyond the first thousand", "header fields beyond the first thousand")
        static let socketMessage = Kind(
            "WebSocket message beyond the first 100000",
            "WebSocket messages beyond the first 100000"
        )
        static let missingMessages = Kind(
            "WebSocket whose messages the archive does not have",
            "WebSockets whose messages the archive does not have"
        )
        static let pageURL = Kind(
            "entry of a data: or blob: URL, for which nothing is sent",
            "entries of data: or blob: URLs, for which nothing is sent"
        )
        static let charset = Kind(
            "body's charset, which lacks some of its characters: it is UTF-8 now",
            "bodies' charsets, which lack some of their characters: they are UTF-8 now"
        )
        /// Names are the file's.
        static func outOfRange(_ name: String) -> Kind {
            let name = VisibleText.of(String(name.prefix(40)))
            return Kind("value of '\(name)' that is out of range", "values of '\(name)' that are out of range")
        }
        /// Names are the file's.
        static func unreadableTime(_ name: String) -> Kind {
            let name = VisibleText.of(String(name.prefix(40)))
            return Kind(
                "time '\(name)' that cannot be read: it is 1970 now",
                "times '\(name)' that cannot be read: they are 1970 now"
            )
        }
        /// Names are the file's.
        static func missingTime(_ name: String) -> Kind {
            Kind("missing time '\(name)': it is 1970 now", "missing times '\(name)': they are 1970 now")
        }
        /// Names are the file's.
        static func zonelessTime(_ name: String) -> Kind {
            Kind("time '\(name)' without a time zone, read as UTC", "times '\(name)' without a time zone, read as UTC")
        }
        /// Names are the file's.
        static func version(_ name: String) -> Kind {
            let name = VisibleText.of(String(name.prefix(40)))
            return Kind(
                "version '\(name)' that is not known: it is HTTP/1.1 now",
                "versions '\(name)' that are not known: they are HTTP/1.1 now"
            )
        }
        static let form = Kind(
            "form without its text: its body was made of its parameters",
            "forms without their text: their bodies were made of their parameters"
        )
        static let cookies = Kind(
            "message with cookies outside of its headers: a header field was made of them",
            "messages with cookies outside of their headers: header fields were made of them"
        )
        static let query = Kind(
            "query outside of its URL: it was added to the URL",
            "queries outside of their URLs: they were added to the URLs"
        )
        static let attachment = Kind("body in a file that is not there", "bodies in files that are not there")
        static let opcode = Kind(
            "WebSocket message of a kind that is not known",
            "WebSocket messages of kinds that are not known"
        )
        /// Names are the file's.
        static func unreadable(_ name: String) -> Kind {
            let name = VisibleText.of(String(name.prefix(40)))
            return Kind("value of '\(name)' that cannot be read", "values of '\(name)' that cannot be read")
        }
        static let base64 = Kind(
            "body whose base64 cannot be read: it is the text that stands there now",
            "bodies whose base64 cannot be read: they are the texts that stand there now"
        )
        /// Names are the file's.
        static func bodyEncoding(_ name: String) -> Kind {
            let name = VisibleText.of(String(name.prefix(40)))
            return Kind(
                "body's encoding '\(name)', which is not known: it is the text that stands there now",
                "bodies' encoding '\(name)', which is not known: they are the texts that stand there now"
            )
        }
        static let method = Kind("method that is missing: it is GET now", "methods that are missing: they are GET now")
        static let value = Kind("value that is no object", "values that are no objects")
        static let unreadableURL = Kind(
            "exchange without a URL that can be read",
            "exchanges without a URL that can be read"
        )
    }

    private var counts: [Kind: Int] = [:]
    private var order: [Kind] = []

    package init() {}

    package func add(_ kind: Kind, count: Int = 1) {
        guard count > 0 else { return }
        if counts[kind] == nil {
            // What files call things is theirs to choose.
            guard order.count < 100 else { return }
            order.append(kind)
        }
        counts[kind, default: 0] += count
    }

    /// A whole number from 0, as an archive spells it; a negative one is that of what is not known. `nil` for it, for what is
    /// no number, and for one beyond the range, which is counted.
    func whole(_ text: some StringProtocol, _ name: String, _ range: ClosedRange<Int>) -> Int? {
        guard let number = Double(text), number >= 0 else { return nil }
        if number <= Double(range.upperBound) { return Int(number) }
        add(.outOfRange(name))
        return nil
    }

    /// What was left out, a phrase each: `3 bodies that the archive does not have`.
    package var phrases: [String] {
        order.map { kind in
            let count = counts[kind] ?? 0
            return count == 1 ? "1 \(kind.one)" : "\(count) \(kind.many)"
        }
    }
}
