import Content
import HTTPModel
import Masking
import NIOCore

struct CurlError: Error, CustomStringConvertible {
    let description: String

    init(description: String) { self.description = MarkedText.plain(description) }
}

/// A cURL command that sends a recorded request like the client sent it, but without fields for a proxy, and with
/// `Host` first, because curl always writes it first.
struct CurlCommand {
    /// Linux limits one argument to 128 KiB; other systems limit all arguments together.
    static let longestArgument = 100 * 1024
    /// Seconds after which curl ends, because a server that switches protocols keeps the connection open.
    private static let upgradeWait = 5
    /// Seconds that curl waits for the response's body, which it expects after HEAD with a body.
    private static let headWait = 5

    private let record: ExchangeRecord
    private let head: RequestHead
    private let files: (any BodyFiles)?
    private let bodySize: Int
    private var body: CurlBody?
    /// Whether the body is sent without the content coding that its head names.
    private var lacksCoding = false
    private var words: [[UInt8]] = ["curl".utf8.map { $0 }]
    private(set) var remarks: [String] = []
    /// Throws `CurlError` if curl cannot send the exchange, or the source's or files' error.
    init(_ exchange: RecordedExchange, source: any ExchangeSource, files: (any BodyFiles)?) throws {
        record = exchange.record
        guard [.http, .upgraded, .webSocket].contains(record.kind), record.method != "CONNECT" else {
            throw CurlError(description: "no HTTP request that curl could send again")
        }
        guard !record.method.isEmpty else { throw CurlError(description: "it has no method") }
        guard let head = exchange.messages.requestHead.flatMap({ StoredHead.request($0) }) else {
            throw CurlError(description: "the session does not hold its request head")
        }
        self.head = CurlCommand.named(head, as: exchange)
        let recorded = try RecordedBody.toRepeat(exchange, head, source)
        self.files = files
        var size = 0
        // Frames of a WebSocket are not a body of its handshake.
        let hasOne = try record.kind != .webSocket && !recorded.isEmpty
        if hasOne { try recorded.forEachPiece { size += $0.readableBytes } }
        bodySize = size
        if record.kind == .webSocket { remarks.append("this is the handshake alone, without the messages") }
        if record.kind != .http { try option("--max-time", "\(CurlCommand.upgradeWait)".utf8) }
        if exchange.messages.requestTrailers != nil { remarks.append("curl cannot send the request's trailers") }
        if let remark = exchange.remarkOnBody(size: size, source) { remarks.append(remark) }
        if size > 0 || mayBeEmpty { body = try CurlBody(recorded, size: size, of: record, method: head.method, files) }
        remarks += body?.remarks ?? []
        if record.kind != .webSocket, recorded.source.isMasking, let coding = head.fields.value(of: .contentEncoding) {
            lacksCoding = true
            if let remark = try recorded.remark(onCoding: coding, isEmpty: size == 0) { remarks.append(remark) }
        }
        version()
        try method()
        try headerFields()
        words += body?.words ?? []
        if head.fields.contains(.acceptEncoding) { option("--compressed") }
        try url()
        if let remark = Placeholder.remark(on: bytes) { remarks.append(remark) }
    }

    var bytes: [UInt8] {
        let printing = body.map(\.printing) ?? []
        return ShellWord.command(printing + (printing.isEmpty ? [] : [[UInt8(ascii: "|")]]) + words)
    }
    private var isChunked: Bool { head.fields.contains(.transferEncoding, token: "chunked") }
    private var isBodyless: Bool { head.method == "GET" || head.method == "HEAD" }
    private var isSecure: Bool { record.url.scheme == "https" || record.url.scheme == "wss" }

    private var mayBeEmpty: Bool { isChunked || (!isBodyless && head.fields.contains(.contentLength)) }
    private var hasBody: Bool { body != nil }

    private mutating func option(_ name: String) { words.append(Array(name.utf8)) }

    private mutating func option(_ name: String, _ value: some Collection<UInt8>) throws {
        option(name)
        try argument(name, value)
    }

    private mutating func argument(_ name: String, _ value: some Collection<UInt8>) throws {
        guard let word = ShellWord.quoted(value, followsLines: body?.hasLines ?? false) else {
            throw CurlError(description: "\(name) has a NUL, or more hidden characters than a command line can carry")
        }
        words.append(word)
    }

    private mutating func version() {
        // An upgrade needs HTTP/1.1, even if the client used a newer version.
        switch (record.kind == .http ? head.version : min(head.version, .http11), isSecure) {
        case (.http10, _): option("--http1.0")
        case (.http11, true): option("--http1.1")
        case (.http11, false): break
        // Few builds of curl speak HTTP/3.
        case (.http2, true), (.http3, true): option("--http2")
        case (.http2, false), (.http3, false): option("--http2-prior-knowledge")
        }
    }

    /// The head with the server's name in `Host` if a reverse proxy set it; the client's `Host` names the proxy.
    private static func named(_ head: RequestHead, as exchange: RecordedExchange) -> RequestHead {
        guard exchange.record.extras.listeningMode?.hasPrefix("reverse:") == true,
            let sent = exchange.messages.requestHeadSent.flatMap({ StoredHead.request($0) }),
            let host = sent.fields.value(of: .host), head.fields.value(of: .host) != host
        else { return head }
        var head = head
        head.fields.set("Host", host)
        return head
    }

    private mutating func method() throws {
        switch (head.method, hasBody) {
        case ("GET", false), ("POST", true): break
        case ("HEAD", false): option("--head")
        case ("HEAD", true):
            // Not `--head`: curl then expects no response body, but refuses to send a body.
            try option("-X", "HEAD".utf8)
            try option("--max-filesize", "1".utf8)
            try option("--speed-time", "\(CurlCommand.headWait)".utf8)
            let wait = "curl waits for a body after HEAD with a body, so it ends with an error: at once where the"
            remarks.append("\(wait) answer has a Content-Length, else after \(CurlCommand.headWait) seconds")
        default: try option("-X", head.method.utf8)
        }
    }

    private mutating func headerFields() throws {
        let fields = head.fields
        let host = fields.firstIndex(of: .host)
        if let host {
            try header(fields, at: host)
        } else if head.version < .http2 {
            try option("-H", "Host:".utf8)
        }
        for (index, field) in fields.enumerated() where index != host && isRepeatable(field, at: index) {
            try header(fields, at: index)
        }
        for name in ["User-Agent", "Accept"] where !fields.contains(FieldName(name)) {
            try option("-H", "\(name):".utf8)
        }
        guard let body else { return }
        // curl sets these fields itself if it sends data.
        if !fields.contains(.contentType) { try option("-H", "Content-Type:".utf8) }
        if !fields.contains(.expect), body.isAsked(isChunked: isChunked) { try option("-H", "Expect:".utf8) }
    }

    private func isRepeatable(_ field: Field, at index: Int) -> Bool {
        let name = FieldName(field.name)
        switch name {
        case .proxyConnection, .proxyAuthorization, .host: return false
        case .contentLength:
            // curl writes its own field last; at a different position, the command contains the recorded field.
            let isFirst = head.fields.firstIndex(of: .contentLength) == index
            let isWhereCurlWritesIt = hasBody && field.name == "Content-Length" && isLast(index)
            guard isFirst, !isChunked, !isWhereCurlWritesIt, body?.isMasked != true else { return false }
            return Int(field.value).map { $0 == bodySize } ?? false
        case .contentEncoding: return !lacksCoding
        default: return field.nameBytes.first != UInt8(ascii: ":")
        }
    }

    private func isLast(_ index: Int) -> Bool {
        head.fields[(index + 1)...].allSatisfy { field in
            [.contentLength, .proxyConnection, .proxyAuthorization, .host].contains(FieldName(field.name))
        }
    }

    private mutating func header(_ fields: FieldSection, at index: Int) throws {
        let field = fields[index]
        var line = Array(field.nameBytes)
        // For curl, `Name:` means "leave it out", and `Name;` means "send it empty".
        if field.valueBytes.isEmpty {
            line.append(UInt8(ascii: ";"))
        } else if let received = fields.receivedLine(index) {
            line = Array(received)
        } else {
            line.append(contentsOf: ": ".utf8)
            line.append(contentsOf: field.valueBytes)
        }
        guard line.first != UInt8(ascii: "@") else {
            throw CurlError(description: "curl takes the header '\(field.name)' for the name of a file")
        }
        guard line.count > CurlCommand.longestArgument else { return try option("-H", line) }
        let path = try files.write("header-\(words.count).txt", of: record) {
            try $0(ByteBuffer(bytes: MarkedText.plain(line)))
        }
        if MarkedText.plain(line) != line {
            remarks.append("in \(path) secrets are masked; put them in where it says sluice-…")
        }
        try option("-H", "@\(path)".utf8)
    }

    private mutating func url() throws {
        let base = "\(isSecure ? "https" : "http")://\(authority)"
        let target = head.originTarget
        // A secret, which is in a variable, may contain a bracket.
        let hasSecret = MarkedText.pieces(of: target).contains(where: \.isVariable)
        let isUpload = bodySize > CurlBody.longestInMemory
        if hasSecret || (base.utf8 + target).contains(where: { "[]{}".utf8.contains($0) }) { option("--globoff") }
        guard !isUpload, CurlCommand.isPlainTarget(target) else {
            try option("--request-target", target)
            return try argument("the URL", "\(base)/".utf8)
        }
        if target.indices.contains(where: { target[$0...].starts(with: "/.".utf8) }) { option("--path-as-is") }
        try argument("the URL", Array(base.utf8) + target)
    }

    private var authority: String {
        var url = record.url
        if url.scheme == "ws" { url.scheme = "http" }
        if url.scheme == "wss" { url.scheme = "https" }
        return url.authority
    }

    /// Whether curl sends this path and query unchanged if they are in a URL.
    private static func isPlainTarget(_ target: [UInt8]) -> Bool {
        target.first == UInt8(ascii: "/") && target.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
    }
}
