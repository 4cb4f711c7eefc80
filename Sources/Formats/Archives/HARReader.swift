import Content
import HTTPModel
import Text

/// Reads the entries of a HAR 1.2 one after the other, whatever its size.
package struct HARReader: JSONArchiveReader {
    /// Reads a body in a file beside the archive or in its zip; `nil` if there is no such file.
    package typealias Attachments = (_ name: String) throws -> [UInt8]?

    private static let mostPages = 10_000
    static let amounts = 0...Double(RecordedRange.amounts.upperBound)
    /// Milliseconds that a session can keep.
    static let milliseconds = 0...amounts.upperBound / 1_000
    /// The members of `timings` that become phases of an exchange.
    private static let phases: Set = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]
    /// The members that Sluice reads; a value of a wrong type is counted.
    static let names = phases.union([
        "startedDateTime", "time", "serverIPAddress", "connection", "request", "response", "timings", "method", "url",
        "httpVersion", "headers", "postData", "bodySize", "status", "statusText", "content", "_transferSize",
        "mimeType", "text", "size", "encoding", "name", "value", "params", "_file", "opcode",
    ])

    /// URLs that a page reads from itself; Firefox lists them, too.
    private static let pageSchemes = ["data:", "blob:"]

    var json: JSONTokenReader
    let textLimit: Int
    let losses: ArchiveLosses
    let attachments: Attachments
    /// The program that wrote the archive, in lower case.
    private var creator = ""
    private var pages: [String: String] = [:]

    /// Prepares to read an archive; `refill` returns an empty piece at the end. Cuts texts above `textLimit` bytes.
    package init(
        textLimit: Int = 64 << 20,
        losses: ArchiveLosses = ArchiveLosses(),
        attachments: @escaping Attachments = { _ in nil },
        refill: @escaping () throws -> [UInt8]
    ) {
        json = JSONTokenReader(tokenLimit: textLimit, refill: UTF8Pieces.utf8(refill))
        (self.textLimit, self.losses, self.attachments) = (textLimit, losses, attachments)
    }

    /// Calls `body` with each entry, in order. Throws `JSONSyntaxError` if the archive cannot be read.
    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        guard try json.next()?.kind == .objectBegin else { throw json.error("it is no object") }
        var hasEntries = false
        try members { reader, name, first in
            guard name == "log", first.kind == .objectBegin else { return try reader.json.skip(first) }
            try reader.members { reader, name, first in
                switch (name, first.kind) {
                case ("creator", .objectBegin):
                    reader.creator = try reader.texts("name")["name"]?.lowercased() ?? ""
                    return
                case ("pages", .arrayBegin): return try reader.readPages()
                case ("entries", .arrayBegin): hasEntries = true
                default: return try reader.json.skip(first)
                }
                try reader.elements { reader in
                    let entry = try reader.entry()
                    if HARReader.pageSchemes.contains(where: { entry.url.hasPrefix($0) }) {
                        return reader.losses.add(.pageURL)
                    }
                    if RequestURL(entry.url) == nil {
                        reader.losses.add(.init("URL{|s} that cannot be read"))
                    }
                    try body(entry)
                }
            }
        }
        guard hasEntries else { throw json.error("it has no 'log' with 'entries'") }
        _ = try json.next()
    }

    private mutating func readPages() throws {
        try elements { reader in
            let page = try reader.texts("id", "title")
            if reader.pages.count < HARReader.mostPages { reader.pages[page["id"] ?? ""] = page["title"] ?? "" }
        }
    }

    private mutating func entry() throws -> ArchiveEntry {
        var entry = ArchiveEntry()
        var (hasMessages, hasStart, connection) = (false, false, "")
        var ours: OwnMembers?
        try members { reader, name, first in
            switch (name, first.kind) {
            case ("startedDateTime", .string), ("startedDateTime", .number):
                hasStart = true
                let text = first.kind == .string ? reader.json.string(first) : reader.json.text(first)
                entry.setStart(text, name, reader.losses)
            case ("time", .number), ("time", .string): entry.time = reader.number(name, first, HARReader.milliseconds)
            case ("serverIPAddress", .string): entry.serverAddress = reader.address(name, first)
            case ("connection", .string): connection = reader.json.string(first)
            case ("connection", .number): connection = reader.json.text(first)
            // Playwright writes the port.
            case ("_serverPort", .number): entry.serverPort = reader.json.text(first)
            case ("pageref", .string): reader.setPage(reader.json.string(first), &entry)
            case ("comment", .string): entry.comment = reader.json.string(first)
            case ("_sluice", .objectBegin): ours = try reader.ownMembers(&entry)
            case ("request", .objectBegin): try reader.request(&entry)
            case ("response", .objectBegin): try reader.response(&entry)
            case ("_webSocketMessages", .arrayBegin):
                try reader.messages(&entry)
                hasMessages = true
            case ("_eventSourceMessages", .arrayBegin): entry.eventTimes = try reader.eventTimes()
            case ("timings", .objectBegin):
                try reader.members { reader, name, first in
                    guard first.kind == .number || HARReader.phases.contains(name) && first.kind == .string else {
                        return try reader.pass(name, first)
                    }
                    entry.timings[name] = reader.number(name, first, HARReader.milliseconds)
                }
            default:
                hasStart = hasStart || name == "startedDateTime"
                try reader.pass(name, first)
            }
        }
        if !hasStart { losses.add(.missingTime("startedDateTime")) }
        if entry.method.isEmpty {
            losses.add(.method)
            entry.method = "GET"
        }
        // Firefox does not write the messages of WebSockets.
        if !hasMessages, entry.status == 101, entry.url.hasPrefix("ws:") || entry.url.hasPrefix("wss:") {
            entry.kind = .webSocket
            losses.add(.missingMessages)
        }
        if let scheme = ours?.scheme, ["http", "https"].contains(scheme), let colon = entry.url.firstIndex(of: ":"),
            ["ws", "wss"].contains(entry.url[..<colon])
        {
            entry.url = scheme + entry.url[colon...]
        }
        if let url = ours?.url, RequestURL(url) != nil { entry.url = url }
        if let kind = ours?.kind, kind != .webSocket, !hasMessages { entry.kind = kind }
        // A HAR entry needs a method, so the export wrote CONNECT for a request without a method.
        if entry.kind == .malformed, entry.method == "CONNECT" { entry.method = "" }
        // A URL in a HAR cannot be only a host and a port, so the export added a scheme and a path.
        if [.tunnel, .decryptedTunnel, .failedHandshake].contains(entry.kind), entry.method == "CONNECT",
            let url = RequestURL(entry.url), url.pathAndQuery == "/"
        {
            entry.target = RequestURL(scheme: "tunnel", host: url.host, port: url.port, path: "")
            entry.isTunnelledTLS = url.scheme == "https" && url.port != 443
        }
        if ours == nil, let bytes = HARReader.bytes(of: entry.request) {
            (entry.request.bytes, entry.request.text) = (bytes, "")
        }
        setConnection(connection, isOurs: ours != nil, &entry)
        entry.request.encodeText(isOurs: ours != nil, losses)
        entry.response.encodeText(isOurs: ours != nil, losses)
        losses.check(entry.request, entry.response)
        return entry
    }

    /// HAR's `connection` is any text that identifies a connection. Sluice and Firefox write the server's port.
    private func setConnection(_ text: String, isOurs: Bool, _ entry: inout ArchiveEntry) {
        if entry.serverPort.isEmpty, isOurs || creator == "firefox" {
            entry.serverPort = text
        } else if RequestURL(entry.url).map({ "\($0.port)" }) != text {
            entry.connection = text
        }
    }

    private func setPage(_ name: String, _ entry: inout ArchiveEntry) {
        guard !name.isEmpty else { return }
        let title = pages[name].flatMap { $0.isEmpty ? nil : $0 } ?? name
        entry.notes.append("It belongs to the page '\(VisibleText.of(String(title.prefix(200))))' of the archive.")
    }
}
