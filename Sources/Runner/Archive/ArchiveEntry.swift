import HTTPModel

/// One entry of a HAR 1.2, as far as a session can hold it.
struct ArchiveEntry {
    /// A request or a response.
    struct Message {
        /// `HTTP/1.1`, `h2` and the like; empty where the archive does not say.
        var version = ""
        /// Names and values in their order.
        var fields: [(name: String, value: String)] = []
        /// The body without content coding: text, or base64.
        var text = ""
        /// Whether `text` is base64.
        var isBase64 = false
        /// The media type that the archive gives the body.
        var mediaType = ""
        /// How many bytes the message had on the wire; `nil` where unknown.
        var wireSize: Int64?
    }

    var method = ""
    var url = ""
    var status = 0
    var reason = ""
    var request = Message()
    var response = Message()
    var startedDateTime = ""
    /// Milliseconds.
    var time: Double?
    /// Milliseconds, by HAR's names; phases that did not happen are left out.
    var timings: [String: Double] = [:]
    var serverAddress = ""
    var serverPort = ""
    var error = ""
    /// What a WebSocket carried.
    var messages: [ArchivedMessage] = []
}

/// Reads the entries of a HAR 1.2 one after the other, whatever its size.
struct ArchiveReading {
    /// Longer bodies are cut off: bytes as they stand in the archive.
    static let longestString = 64 << 20

    /// More messages of one WebSocket are not read.
    static let mostMessages = 100_000
    /// A WebSocket with more bytes in its messages is refused.
    static let mostMessageBytes = 1 << 30

    private static let amounts = 0...Double(RecordedRange.amounts.upperBound)
    /// Milliseconds that a session can keep.
    private static let milliseconds = 0...amounts.upperBound / 1_000
    /// Seconds since 1970 that a session can keep.
    private static let seconds =
        Double(RecordedRange.moments.lowerBound) / 1_000_000...Double(RecordedRange.moments.upperBound) / 1_000_000

    /// Calls `body` with each entry, in order.
    static func forEach(_ scanner: inout JSONScanner, _ body: (ArchiveEntry) throws -> Void) throws {
        guard try scanner.next() == .beginObject else { throw JSONScanner.Failure(message: "it is no object") }
        var hasEntries = false
        try members(&scanner) { scanner, name, first in
            guard name == "log", first == .beginObject else { return try scanner.skip(first) }
            try members(&scanner) { scanner, name, first in
                guard name == "entries", first == .beginArray else { return try scanner.skip(first) }
                hasEntries = true
                try elements(&scanner) { scanner in try body(entry(&scanner)) }
            }
        }
        guard hasEntries else { throw JSONScanner.Failure(message: "it has no 'log' with 'entries'") }
        guard try scanner.next() == .end else { throw JSONScanner.Failure(message: "something follows its end") }
    }

    private static func entry(_ scanner: inout JSONScanner) throws -> ArchiveEntry {
        var entry = ArchiveEntry()
        try members(&scanner) { scanner, name, first in
            switch (name, first) {
            case ("startedDateTime", .string(let text)): entry.startedDateTime = text
            case ("time", .literal(let text)): entry.time = try number(name, text, milliseconds)
            case ("serverIPAddress", .string(let text)): entry.serverAddress = text
            case ("connection", .string(let text)): entry.serverPort = text
            case ("request", .beginObject): try request(&scanner, &entry)
            case ("response", .beginObject): try response(&scanner, &entry)
            case ("_webSocketMessages", .beginArray): entry.messages = try messages(&scanner)
            case ("timings", .beginObject):
                try members(&scanner) { scanner, name, first in
                    guard case .literal(let text) = first else { return try scanner.skip(first) }
                    entry.timings[name] = try number(name, text, milliseconds)
                }
            default: try scanner.skip(first)
            }
        }
        return entry
    }

    private static func request(_ scanner: inout JSONScanner, _ entry: inout ArchiveEntry) throws {
        try members(&scanner) { scanner, name, first in
            switch (name, first) {
            case ("method", .string(let text)): entry.method = text
            case ("url", .string(let text)): entry.url = text
            case ("httpVersion", .string(let text)): entry.request.version = text
            case ("headers", .beginArray): entry.request.fields = try fields(&scanner)
            case ("postData", .beginObject): try content(&scanner, &entry.request, encoding: "_encoding")
            default: try scanner.skip(first)
            }
        }
    }

    private static func response(_ scanner: inout JSONScanner, _ entry: inout ArchiveEntry) throws {
        try members(&scanner) { scanner, name, first in
            switch (name, first) {
            case ("status", .literal(let text)): entry.status = Int(try number(name, text, 0...999) ?? 0)
            case ("statusText", .string(let text)): entry.reason = text
            case ("httpVersion", .string(let text)): entry.response.version = text
            case ("headers", .beginArray): entry.response.fields = try fields(&scanner)
            case ("content", .beginObject): try content(&scanner, &entry.response, encoding: "encoding")
            case ("_transferSize", .literal(let text)):
                let bytes = try number(name, text, amounts)
                entry.response.wireSize = bytes.map { Int64($0) }
            case ("_error", .string(let text)): entry.error = text
            default: try scanner.skip(first)
            }
        }
    }

    private static func content(
        _ scanner: inout JSONScanner,
        _ message: inout ArchiveEntry.Message,
        encoding: String
    ) throws {
        try members(&scanner) { scanner, name, first in
            switch (name, first) {
            case ("mimeType", .string(let text)): message.mediaType = text
            case ("text", .string(let text)): message.text = text
            case (encoding, .string(let text)): message.isBase64 = text.lowercased() == "base64"
            default: try scanner.skip(first)
            }
        }
    }

    private static func fields(_ scanner: inout JSONScanner) throws -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        try elements(&scanner) { scanner in
            var field = (name: "", value: "")
            try members(&scanner) { scanner, name, first in
                switch (name, first) {
                case ("name", .string(let text)): field.name = text
                case ("value", .string(let text)): field.value = text
                default: try scanner.skip(first)
                }
            }
            // More fields than any message has are not kept.
            if fields.count < 1_000 { fields.append(field) }
        }
        return fields
    }

    private static func messages(_ scanner: inout JSONScanner) throws -> [ArchivedMessage] {
        var messages: [ArchivedMessage] = []
        var bytes = 0
        try elements(&scanner) { scanner in
            var message = ArchivedMessage()
            try members(&scanner) { scanner, name, first in
                switch (name, first) {
                case ("type", .string(let text)): message.isSent = text == "send"
                case ("time", .literal(let text)): message.time = try number(name, text, seconds) ?? 0
                case ("opcode", .literal(let text)): message.opcode = Int(try number(name, text, amounts) ?? -1)
                case ("data", .string(let text)): message.data = text
                default: try scanner.skip(first)
                }
            }
            guard messages.count < mostMessages else { return }
            bytes += message.data.utf8.count
            if bytes > mostMessageBytes {
                throw JSONScanner.Failure(message: "a WebSocket has more than 1 GiB of messages")
            }
            messages.append(message)
        }
        return messages
    }

    /// A number in its range; `nil` for what is none, and below the range where that begins at 0: HAR 1.2 writes −1 for what
    /// is not known.
    private static func number(_ name: String, _ text: String, _ range: ClosedRange<Double>) throws -> Double? {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || first &- 0x30 < 10, let number = Double(text),
            !number.isNaN, number >= 0 || range.lowerBound < 0
        else { return nil }
        guard range.contains(number) else {
            throw JSONScanner.Failure(message: "'\(name)' is \(text), which is out of its range")
        }
        return number
    }

    /// Calls `body` at each object of an array; what is no object is passed over.
    private static func elements(
        _ scanner: inout JSONScanner,
        _ body: (inout JSONScanner) throws -> Void
    ) throws {
        while true {
            switch try scanner.next() {
            case .endArray: return
            case .beginObject: try body(&scanner)
            case .end: throw JSONScanner.Failure(message: "it ends too early")
            case let other: try scanner.skip(other)
            }
        }
    }

    /// Calls `body` with each member's name and the first token of its value, of which it must read the rest.
    private static func members(
        _ scanner: inout JSONScanner,
        _ body: (inout JSONScanner, String, JSONScanner.Token) throws -> Void
    ) throws {
        while true {
            switch try scanner.next() {
            case .endObject: return
            case .string(let name): try body(&scanner, name, try scanner.next())
            default: throw JSONScanner.Failure(message: "it is no JSON")
            }
        }
    }
}
