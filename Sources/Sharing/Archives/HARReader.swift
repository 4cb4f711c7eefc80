import Content
import HTTPModel
import NIOCore

/// Reads the entries of a HAR 1.2 one after the other, whatever its size.
package struct HARReader {
    /// More messages of one WebSocket are not read.
    private static let mostMessages = 100_000
    /// A WebSocket with more bytes in its messages is refused.
    private static let mostMessageBytes = 1 << 30
    private static let amounts = 0...Double(RecordedRange.amounts.upperBound)
    /// Milliseconds that a session can keep.
    private static let milliseconds = 0...amounts.upperBound / 1_000
    /// Seconds since 1970 that a session can keep.
    private static let seconds =
        Double(RecordedRange.moments.lowerBound) / 1_000_000...Double(RecordedRange.moments.upperBound) / 1_000_000

    /// The members of `timings` that become phases of an exchange.
    private static let phases: Set = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]
    /// The members that are read: one of them with a value of another type is counted.
    static let names = phases.union([
        "startedDateTime", "time", "serverIPAddress", "connection", "request", "response", "timings", "method", "url",
        "httpVersion", "headers", "postData", "bodySize", "status", "statusText", "content", "_transferSize",
        "mimeType", "text", "size", "encoding", "name", "value",
    ])

    /// Of Firefox, which lists what a page reads from itself too.
    private static let pageSchemes = ["data:", "blob:"]

    var json: JSONTokenReader
    private let textLimit: Int
    let losses: ArchiveLosses

    /// Prepares to read an archive that comes in pieces, of which an empty one is the end. Texts and bodies are cut off
    /// after `textLimit` bytes, as they are spelled in the archive.
    package init(
        textLimit: Int = 64 << 20,
        losses: ArchiveLosses = ArchiveLosses(),
        refill: @escaping () throws -> [UInt8]
    ) {
        json = JSONTokenReader(tokenLimit: textLimit, refill: refill)
        (self.textLimit, self.losses) = (textLimit, losses)
    }

    /// Calls `body` with each entry, in order. Throws `JSONSyntaxError` where the archive cannot be read.
    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        guard try json.next()?.kind == .objectBegin else { throw json.error("it is no object") }
        var hasEntries = false
        try members { reader, name, first in
            guard name == "log", first.kind == .objectBegin else { return try reader.json.skip(first) }
            try reader.members { reader, name, first in
                guard name == "entries", first.kind == .arrayBegin else { return try reader.json.skip(first) }
                hasEntries = true
                try reader.elements { reader in
                    let entry = try reader.entry()
                    if HARReader.pageSchemes.contains(where: { entry.url.hasPrefix($0) }) {
                        return reader.losses.add(.pageURL)
                    }
                    if RequestURL(entry.url) == nil {
                        reader.losses.add(.init("URL that cannot be read", "URLs that cannot be read"))
                    }
                    try body(entry)
                }
            }
        }
        guard hasEntries else { throw json.error("it has no 'log' with 'entries'") }
        _ = try json.next()
    }

    private mutating func entry() throws -> ArchiveEntry {
        var entry = ArchiveEntry()
        var (hasMessages, isOurs, scheme, rawURL) = (false, false, "", "")
        var kind: ExchangeRecord.Kind?
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("startedDateTime", .string): entry.setStart(reader.json.string(first), name, reader.losses)
            case ("time", .number), ("time", .string):
                entry.time = reader.number(name, first, HARReader.milliseconds)
            case ("serverIPAddress", .string): entry.serverAddress = reader.address(name, first)
            case ("connection", .string): entry.serverPort = reader.json.string(first)
            case ("connection", .number): entry.serverPort = reader.json.text(first)
            // Of Playwright, which has no `connection`.
            case ("_serverPort", .number) where entry.serverPort.isEmpty: entry.serverPort = reader.json.text(first)
            case ("comment", .string): entry.comment = reader.json.string(first)
            case ("_sluice", .objectBegin):
                isOurs = true
                try reader.members { reader, name, first in
                    switch (name, first.kind) {
                    case ("colour", .string): entry.colour = reader.json.string(first)
                    case ("scheme", .string): scheme = reader.json.string(first)
                    case ("masked", .arrayBegin): entry.masked = try reader.json.maskedParts()
                    case ("kind", .string):
                        let text = reader.json.string(first)
                        kind = ExchangeRecord.Kind.allCases.first { $0.exportName == text }
                    case ("requestTrailers", .arrayBegin): entry.request.trailers = try reader.fields()
                    case ("responseTrailers", .arrayBegin): entry.response.trailers = try reader.fields()
                    case ("state", .string): entry.setState(reader.json.string(first))
                    case ("url", .string): rawURL = reader.json.string(first)
                    default: try reader.json.skip(first)
                    }
                }
            case ("request", .objectBegin): try reader.request(&entry)
            case ("response", .objectBegin): try reader.response(&entry)
            case ("_webSocketMessages", .arrayBegin):
                entry.messages = try reader.messages()
                hasMessages = true
            case ("_eventSourceMessages", .arrayBegin): entry.eventTimes = try reader.eventTimes()
            case ("timings", .objectBegin):
                try reader.members { reader, name, first in
                    guard first.kind == .number || HARReader.phases.contains(name) && first.kind == .string else {
                        return try reader.pass(name, first)
                    }
                    entry.timings[name] = reader.number(name, first, HARReader.milliseconds)
                }
            default: try reader.pass(name, first)
            }
        }
        if entry.method.isEmpty {
            losses.add(.method)
            entry.method = "GET"
        }
        // Firefox does not write them.
        if !hasMessages, entry.status == 101, entry.url.hasPrefix("ws:") || entry.url.hasPrefix("wss:") {
            entry.kind = .webSocket
            losses.add(.missingMessages)
        }
        if ["http", "https"].contains(scheme), let colon = entry.url.firstIndex(of: ":"),
            ["ws", "wss"].contains(entry.url[..<colon])
        {
            entry.url = scheme + entry.url[colon...]
        }
        if RequestURL(rawURL) != nil { entry.url = rawURL }
        if let kind, kind != .webSocket, !hasMessages { entry.kind = kind }
        // HAR has no exchange without a method.
        if entry.kind == .malformed, entry.method == "CONNECT" { entry.method = "" }
        // HAR has no URL of a host and a port alone.
        if [.tunnel, .decryptedTunnel, .failedHandshake].contains(entry.kind), entry.method == "CONNECT",
            let url = RequestURL(entry.url), url.pathAndQuery == "/"
        {
            entry.target = RequestURL(scheme: "tunnel", host: url.host, port: url.port, path: "")
            entry.isTunnelledTLS = url.scheme == "https" && url.port != 443
        }
        if !isOurs, let bytes = HARReader.bytes(of: entry.request) {
            (entry.request.bytes, entry.request.text) = (bytes, "")
        }
        entry.request.encodeText(isOurs: isOurs, losses)
        entry.response.encodeText(isOurs: isOurs, losses)
        return entry
    }

    private mutating func request(_ entry: inout ArchiveEntry) throws {
        var size = 0.0
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("method", .string): entry.method = reader.json.string(first)
            case ("url", .string): entry.url = reader.json.string(first)
            case ("httpVersion", .string): entry.request.version = reader.json.string(first)
            case ("headers", .arrayBegin): entry.request.fields = try reader.fields()
            case ("postData", .objectBegin): try reader.content(&entry.request, encoding: "_encoding")
            case ("bodySize", .number), ("bodySize", .string):
                size = reader.number(name, first, HARReader.amounts) ?? 0
            default: try reader.pass(name, first)
            }
        }
        // Recorders over the DevTools protocol do not get bodies that are no text.
        if size > 0, entry.request.text.isEmpty, entry.request.bytes == nil { losses.add(.missingBody) }
    }

    private mutating func response(_ entry: inout ArchiveEntry) throws {
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("status", .number), ("status", .string): entry.status = reader.status(name, first)
            case ("statusText", .string): entry.reason = reader.json.string(first)
            case ("httpVersion", .string): entry.response.version = reader.json.string(first)
            case ("headers", .arrayBegin): entry.response.fields = try reader.fields()
            case ("content", .objectBegin): try reader.content(&entry.response, encoding: "encoding")
            case ("_transferSize", .number), ("_transferSize", .string):
                entry.response.wireSize = reader.number(name, first, HARReader.amounts).map { Int64($0) }
            // The content has its own.
            case ("bodySize", _): try reader.json.skip(first)
            // Of Chrome and Sluice, and of Playwright.
            case ("_error", .string), ("_failureText", .string): entry.error = reader.json.string(first)
            default: try reader.pass(name, first)
            }
        }
    }

    private mutating func content(_ message: inout ArchiveEntry.Message, encoding: String) throws {
        var (size, coding) = (0.0, "")
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("mimeType", .string): message.mediaType = reader.json.string(first)
            case ("text", .string):
                message.text = reader.json.string(first)
                if first.range.count >= reader.textLimit {
                    reader.losses.add(.cutBody)
                    message.isCut = true
                }
            case ("comment", .string):
                let comment = reader.json.string(first)
                message.charset = HARReader.charset(comment)
                message.isAsReceived = comment.hasPrefix(JSONBody.notDecoded)
            case ("size", .number), ("size", .string): size = reader.number(name, first, HARReader.amounts) ?? 0
            case (encoding, .string), ("encoding", .string): coding = reader.json.string(first)
            default: try reader.pass(name, first)
            }
        }
        // Browsers forget what a page no longer needs.
        if size > 0, message.text.isEmpty {
            losses.add(.missingBody)
            message.isCut = true
        }
        decode(&message, from: coding)
    }

    private mutating func fields() throws -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        try elements { reader in
            var field = (name: "", value: "")
            try reader.members { reader, name, first in
                switch (name, first.kind) {
                case ("name", .string): field.name = reader.json.string(first)
                case ("value", .string): field.value = reader.json.string(first)
                default: try reader.pass(name, first)
                }
            }
            // More fields than any message has are not kept.
            if fields.count < 1_000 { fields.append(field) } else { reader.losses.add(.field) }
        }
        return fields
    }

    private mutating func messages() throws -> [ArchiveEntry.SocketMessage] {
        var messages: [ArchiveEntry.SocketMessage] = []
        var bytes = 0
        try elements { reader in
            var message = ArchiveEntry.SocketMessage()
            // One whose time cannot be read came with the one before.
            message.time = messages.last?.time ?? 0
            try reader.members { reader, name, first in
                switch (name, first.kind) {
                case ("type", .string): message.isSent = reader.json.string(first) == "send"
                case ("time", .number): message.time = reader.moment(first) ?? message.time
                case ("opcode", .number):
                    message.opcode = Int(reader.number(name, first, HARReader.amounts) ?? -1)
                case ("data", .string): message.data = reader.json.string(first)
                default: try reader.pass(name, first)
                }
            }
            guard messages.count < HARReader.mostMessages else { return reader.losses.add(.socketMessage) }
            bytes += message.data.utf8.count
            if bytes > HARReader.mostMessageBytes {
                throw reader.json.error("a WebSocket has more than 1 GiB of messages")
            }
            messages.append(message)
        }
        return messages
    }

    private mutating func eventTimes() throws -> [Double?] {
        var times: [Double?] = []
        try elements { reader in
            var time: Double?
            try reader.members { reader, name, first in
                guard name == "time", first.kind == .number else { return try reader.json.skip(first) }
                time = reader.moment(first)
            }
            if times.count < HARReader.mostMessages { times.append(time) }
        }
        return times
    }

    /// When a message came, in seconds since 1970; Playwright writes milliseconds.
    private func moment(_ token: JSONToken) -> Double? {
        let number = Double(json.text(token)) ?? 0
        if number > HARReader.seconds.upperBound, HARReader.seconds.contains(number / 1_000) { return number / 1_000 }
        return self.number("time", token, HARReader.seconds)
    }

    /// Calls `body` at each object of an array; what is not an object is passed over.
    private mutating func elements(_ body: (inout HARReader) throws -> Void) throws {
        while let token = try json.next(), token.kind != .arrayEnd {
            if token.kind == .objectBegin {
                try body(&self)
            } else {
                losses.add(.value)
                try json.skip(token)
            }
        }
    }

    /// Calls `body` with each member's name and the first token of its value, of which it must read the rest.
    private mutating func members(_ body: (inout HARReader, String, JSONToken) throws -> Void) throws {
        while let token = try json.next(), token.kind == .name {
            let name = json.string(token)
            if let first = try json.next() { try body(&self, name, first) }
        }
    }
}
