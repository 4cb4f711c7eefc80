import Foundation
import HTTPModel
import NIOCore

/// One exchange in Charles' JSON or XML; the members have Charles' names.
struct CharlesTransaction {
    struct Message {
        /// The status of a response; 0 if it is missing.
        var status = 0
        var firstLine = ""
        var fields: [(name: String, value: String)] = []
        var mediaType = ""
        var text = ""
        /// The bytes in base64, instead of `text`.
        var encoded: String?
        var bytes: ByteBuffer?
        var size: Int64 = 0

        mutating func add(_ field: (name: String, value: String), _ losses: ArchiveLosses) {
            if fields.count < 1_000 { fields.append(field) } else { losses.add(.field) }
        }
    }

    static let statuses = 0...999
    static let ports = 0...65_535
    /// Members by Charles' names.
    static let texts: [String: any WritableKeyPath<CharlesTransaction, String> & Sendable] = [
        "status": \.status, "method": \.method, "protocolVersion": \.protocolVersion, "scheme": \.scheme,
        "host": \.host, "path": \.path, "remoteAddress": \.remoteAddress, "clientAddress": \.clientAddress,
        "errorMessage": \.errorMessage, "notes": \.notes,
    ]
    static let portNames: [String: any WritableKeyPath<CharlesTransaction, Int?> & Sendable] = [
        "port": \.port, "actualPort": \.actualPort, "clientPort": \.clientPort,
    ]

    var status = ""
    var method = ""
    var protocolVersion = ""
    var scheme = ""
    var host = ""
    var port: Int?
    var actualPort: Int?
    var path = ""
    var query: String?
    var isTunnel = false
    var isWebSocket = false
    var remoteAddress = ""
    var clientAddress = ""
    var clientPort: Int?
    var start = ""
    /// Microseconds since 1970, in place of `start`.
    var startedAt: Double?
    /// Milliseconds, by Charles' names.
    var durations: [String: Double] = [:]
    var tlsProtocol = ""
    var cipherSuite = ""
    var alpn = ""
    var errorMessage = ""
    var notes = ""
    var request = Message()
    var response = Message()

    /// Calls `body` with the exchange, or counts it if it has no URL that can be read.
    func pass(to body: (ArchiveEntry) throws -> Void, _ losses: ArchiveLosses) throws {
        guard let entry = entry(losses) else { return losses.add(.unreadableURL) }
        try body(entry)
    }

    private func entry(_ losses: ArchiveLosses) -> ArchiveEntry? {
        guard let target else { return nil }
        var entry = ArchiveEntry()
        entry.kind = isTunnel ? .tunnel : isWebSocket ? .webSocket : .http
        entry.target = target
        entry.method = isTunnel ? "CONNECT" : method
        entry.status = response.status
        if let startedAt {
            entry.setStart(startedAt, "startTimeMillis", losses)
        } else {
            entry.setStart(start, "start", losses)
        }
        entry.comment = notes
        entry.request = message(request, losses)
        entry.response = message(response, losses)
        entry.request.encodeText(isOurs: false, losses)
        entry.response.encodeText(isOurs: false, losses)
        losses.check(entry.request)
        let line = response.firstLine.split(separator: " ", maxSplits: 2)
        if line.count > 2 { entry.reason = String(line[2]) }
        setTimes(&entry)
        setAddresses(&entry)
        switch status.uppercased() {
        case "COMPLETE", "": entry.error = errorMessage
        case "FAILED", "EXCEPTION": entry.error = errorMessage.isEmpty ? "It failed in Charles." : errorMessage
        default: entry.error = "It had not ended when Charles wrote it (\(status.prefix(40)))."
        }
        // A tunnel has no response.
        if isTunnel, entry.error.isEmpty { entry.isUnsent = true }
        entry.isTunnelledTLS = isTunnel && scheme.lowercased() == "https" && target.port != 443
        return entry
    }

    private var target: RequestURL? {
        let scheme = scheme.lowercased()
        guard let (host, _) = RequestURL.splitAuthority(HostAddress.bracketed(host)) else { return nil }
        let usual = RequestURL.defaultPort(of: scheme)
        let port = [port, actualPort, usual].compactMap { $0 }.first { (1...65_535).contains($0) }
        guard let port, usual != nil || isTunnel else { return nil }
        if isTunnel { return RequestURL(scheme: "tunnel", host: host, port: port, path: "") }
        let path = path.hasPrefix("/") || path == "*" ? path : "/" + path
        return RequestURL(scheme: scheme, host: host, port: port, path: path, query: query)
    }

    private func message(_ message: Message, _ losses: ArchiveLosses) -> ArchiveEntry.Message {
        var result = ArchiveEntry.Message()
        // The first line has the values of HTTP/2's pseudo fields.
        let fields = message.fields.filter { !$0.name.hasPrefix(":") }
        let hasHost = fields.contains { $0.name.lowercased() == "host" }
        if !hasHost, let authority = message.fields.first(where: { $0.name == ":authority" }) {
            result.addField("host", authority.value, losses)
        }
        for field in fields { result.addField(field.name, field.value, losses) }
        result.mediaType = message.mediaType
        if let bytes = message.bytes {
            result.bytes = bytes
        } else if let encoded = message.encoded {
            result.bytes = Data(base64Encoded: encoded, options: .ignoreUnknownCharacters).map { ByteBuffer(bytes: $0) }
        } else {
            result.text = message.text
        }
        // Charles discards bodies that are too long for it, and cuts others.
        if message.size > 0, result.isEmpty, !isTunnel {
            losses.add(.missingBody)
            (result.isCut, result.lostSize) = (true, message.size)
        }
        // Frames have no content coding, even if the head names one.
        if isWebSocket { result.isCoded = true }
        // Some files name HTTP/2 only as the ALPN protocol.
        result.version = ["h2", "h3"].contains(alpn) || protocolVersion.isEmpty ? alpn : protocolVersion
        return result
    }

    private func setTimes(_ entry: inout ArchiveEntry) {
        entry.time = durations["total"]
        let names = ["dns": "dns", "ssl": "ssl", "send": "request", "wait": "latency", "receive": "response"]
        for (phase, name) in names { entry.timings[phase] = durations[name] }
        if let connect = durations["connect"] { entry.timings["connect"] = connect + (durations["ssl"] ?? 0) }
    }

    private func setAddresses(_ entry: inout ArchiveEntry) {
        // The address is after a name and a slash.
        func address(_ text: String) -> String {
            text.lastIndex(of: "/").map { String(text[text.index(after: $0)...]) } ?? text
        }
        let remote = address(remoteAddress)
        if remote.contains(".") || remote.hasPrefix("["), let (host, port) = RequestURL.splitAuthority(remote) {
            entry.serverAddress = host
            entry.serverPort = String(port ?? target?.port ?? 0)
        } else {
            entry.serverAddress = remote
        }
        let client = address(clientAddress)
        if !client.isEmpty {
            let port = clientPort.flatMap { (1...65_535).contains($0) ? ":\($0)" : nil } ?? ""
            entry.clientAddress = HostAddress.bracketed(client) + port
        }
        guard !tlsProtocol.isEmpty else { return }
        entry.tls = TLSDetails(
            protocolVersion: tlsProtocol,
            cipherSuite: cipherSuite,
            serverName: host,
            applicationProtocol: alpn.isEmpty ? nil : alpn
        )
    }
}
