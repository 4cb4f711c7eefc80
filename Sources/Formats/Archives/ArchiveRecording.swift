import Content
import Foundation
package import HTTPModel
import NIOCore

/// Converts the entries of an archive to events of a recording.
package struct ArchiveRecording {
    private static let pieceSize = 256 << 10
    private static let longestUnreadable = 8 << 10
    package private(set) var count = 0
    package private(set) var first: ExchangeID?
    private var servers: [Server: ConnectionID] = [:]
    /// The name of the source, which is stored in each exchange.
    private let origin: String?
    private let makeExchange: () -> ExchangeID
    private let makeConnection: () -> ConnectionID
    private let client: ConnectionID

    /// Exchanges with equal values are shown on one connection.
    private struct Server: Hashable {
        let address: String
        let name: String
        let tls: TLSDetails?
    }

    /// Numbers exchanges and connections from 1.
    package init() {
        var (exchanges, connections): (Int64, Int64) = (0, 0)
        self.init(
            origin: nil,
            exchange: {
                exchanges += 1
                return ExchangeID(exchanges)
            },
            connection: {
                connections += 1
                return ConnectionID(connections)
            }
        )
    }

    /// `exchange` and `connection` return numbers that the session has not used yet.
    package init(origin: String?, exchange: @escaping () -> ExchangeID, connection: @escaping () -> ConnectionID) {
        (self.origin, makeExchange, makeConnection) = (origin, exchange, connection)
        client = connection()
    }

    package mutating func events(_ entry: ArchiveEntry) -> [RecordEvent] {
        count += 1
        var events: [RecordEvent] = []
        var record = ExchangeRecord(
            id: makeExchange(),
            kind: entry.kind,
            startedAt: entry.startedAt ?? 0,
            method: ArchiveRecording.line(entry.method),
            url: entry.target.map(ArchiveRecording.url) ?? ArchiveRecording.url(entry.url),
            clientConnection: client
        )
        first = first ?? record.id
        let clientAddress = ArchiveRecording.line(entry.clientAddress)
        record.clientAddress = clientAddress.isEmpty ? nil : clientAddress
        (record.upstreamConnection, record.serverAddress) = server(entry, record, &events)
        record.status = entry.status
        record.clientVersion = ArchiveRecording.version(entry.request.version)
        record.upstreamVersion = record.upstreamConnection == nil ? nil : record.clientVersion
        record.mediaType = MediaType(entry.response.mediaType)?.essence ?? ""
        record.timings = ArchiveRecording.timings(entry)
        record.extras.annotation = ArchiveRecording.annotation(entry)
        record.extras.origin = origin
        record.extras.masked = entry.masked
        if entry.isTunnelledTLS, record.url.scheme == "tunnel" { record.flags.insert(.tunnelledTLS) }
        let hasFailed = !entry.error.isEmpty || record.status == 0 && !entry.isUnsent
        record.state = entry.state ?? (hasFailed ? .failed : .complete)
        if record.state == .failed || record.state == .blocked && !entry.error.isEmpty {
            record.failure = ArchiveRecording.failure(entry)
        }
        if entry.request.isCut { record.flags.insert(.requestBodyIncomplete) }
        if entry.response.isCut { record.flags.insert(.responseBodyIncomplete) }

        let (request, response) = (entry.request, entry.response)
        var requestBody = ArchiveRecording.body(request)
        var responseBody = ArchiveRecording.body(response)
        let stream = ArchivedSocket(entry.messages)
        if !entry.messages.isEmpty {
            record.kind = .webSocket
            record.tally = stream.tally
            (requestBody, responseBody) = (stream.sent.bytes, stream.received.bytes)
        } else if record.kind == .webSocket {
            record.tally.fromClient = StreamCounter.ended(.webSocket, requestBody).count
            record.tally.fromServer = StreamCounter.ended(.webSocket, responseBody).count
        }
        var messages = ExchangeMessages()
        if !record.method.isEmpty || !request.fields.isEmpty {
            messages.requestHead = ArchiveRecording.requestHead(record, entry)
        }
        if record.status > 0 || !entry.response.fields.isEmpty {
            let version = ArchiveRecording.version(entry.response.version)
            let reason = ArchiveRecording.line(entry.reason)
            messages.responseHead = ByteBuffer(string: "\(version) \(record.status) \(reason)\r\n")
            messages.responseHead?.writeBytes(ArchiveRecording.fields(response))
        }
        messages.trace = (entry.notes + [request, response].compactMap(\.wordsOfCoding))
            .map { TraceEntry(stage: "sluice", outcome: .note, text: $0) }
        messages.requestTrailers = ArchiveRecording.trailers(entry.request)
        messages.responseTrailers = ArchiveRecording.trailers(entry.response)
        if record.kind == .http { ArchiveRecording.count(requestBody, responseBody, messages, in: &record) }
        record.sizes.requestHead = Int64(messages.requestHead?.readableBytes ?? 0)
        record.sizes.requestBody = max(Int64(requestBody.readableBytes), request.lostSize ?? 0)
        record.sizes.requestWire = record.sizes.requestHead + record.sizes.requestBody
        record.sizes.responseHead = Int64(messages.responseHead?.readableBytes ?? 0)
        record.sizes.responseBody = max(Int64(responseBody.readableBytes), response.lostSize ?? 0)
        let received = record.sizes.responseHead + record.sizes.responseBody
        record.sizes.responseWire = max(entry.response.wireSize ?? 0, received)

        var opened = record
        opened.state = .inFlight
        events.append(.opened(opened, messages))
        events += ArchiveRecording.pieces(requestBody).map { .body(record.id, .requestReceived, $0) }
        events += ArchiveRecording.pieces(responseBody).map { .body(record.id, .responseReceived, $0) }
        events += stream.sent.arrivals.map { .arrival(record.id, .requestReceived, offset: $0.offset, at: $0.at) }
        events += stream.received.arrivals.map { .arrival(record.id, .responseReceived, offset: $0.offset, at: $0.at) }
        if record.kind == .http, record.mediaType == "text/event-stream",
            !messages.fields(of: .responseReceived).contains(.contentEncoding)
        {
            events += ArchiveRecording.arrivals(ofEvents: entry.eventTimes, responseBody, record.id)
        }
        events.append(.finished(record, messages))
        return events
    }

    private static func annotation(_ entry: ArchiveEntry) -> ExchangeAnnotation {
        var annotation = ExchangeAnnotation()
        let comment = String(decoding: entry.comment.utf8.prefix(ExchangeAnnotation.longestComment), as: UTF8.self)
        annotation.comment = comment.isEmpty ? nil : comment
        annotation.colour = ExchangeAnnotation.Colour(rawValue: entry.colour)?.rawValue
        return annotation
    }

    private mutating func server(
        _ entry: ArchiveEntry,
        _ record: ExchangeRecord,
        _ events: inout [RecordEvent]
    ) -> (ConnectionID?, address: String?) {
        let address = ArchiveRecording.line(entry.serverAddress)
        guard !address.isEmpty else { return (nil, nil) }
        let port = UInt16(entry.serverPort).map { Int($0) } ?? record.url.port
        let peer = "\(address.hasPrefix("[") ? address : HostAddress.bracketed(address)):\(port)"
        let server = Server(address: peer, name: entry.connection, tls: entry.tls)
        if let known = servers[server] { return (known, peer) }
        let id = makeConnection()
        servers[server] = id
        let (opened, leg) = (record.startedAt, ConnectionRecord.Leg.upstream)
        var connection = ConnectionRecord(id: id, leg: leg, openedAt: opened, localAddress: "", peerAddress: peer)
        connection.tls = entry.tls
        events.append(.connection(connection))
        return (id, peer)
    }

    // MARK: - Messages

    private static func requestHead(_ record: ExchangeRecord, _ entry: ArchiveEntry) -> ByteBuffer {
        let url = record.url
        var head = ByteBuffer(string: "\(record.method) ")
        if let target = entry.targetBytes, record.method != "CONNECT" {
            head.writeString("\(url.scheme)://\(url.authority)")
            head.writeBytes(target.map { ArchiveRecording.isControl($0) ? 0x20 : $0 })
        } else {
            head.writeString(record.method == "CONNECT" ? url.authority : url.description)
        }
        head.writeString(" \(record.clientVersion)\r\n")
        head.writeBytes(fields(entry.request))
        return head
    }

    private static func fields(_ message: ArchiveEntry.Message) -> [UInt8] {
        var lines: [UInt8] = []
        for (index, field) in message.fields.enumerated() where !field.name.isEmpty {
            lines += "\(line(field.name)): ".utf8
            let value = message.valueBytes[index] ?? Array(field.value.utf8)
            // A value may have tabs in it (RFC 9110 §5.5).
            lines += value.map { isControl($0) && $0 != 0x09 ? 0x20 : $0 }
            lines += "\r\n".utf8
        }
        return lines + "\r\n".utf8
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    private static func trailers(_ message: ArchiveEntry.Message) -> ByteBuffer? {
        guard !message.trailers.isEmpty else { return nil }
        return ByteBuffer(string: message.trailers.map { "\(line($0.name)): \(line($0.value))\r\n" }.joined() + "\r\n")
    }

    /// The body with the content codings that the fields name, if Sluice can apply these codings.
    private static func body(_ message: ArchiveEntry.Message) -> ByteBuffer {
        let bytes = message.bytes ?? ByteBuffer(string: message.text)
        guard bytes.readableBytes > 0, !message.isAsReceived else { return bytes }
        let codings = message.codings
        if message.bytes != nil, message.isCoded ?? isCoded(bytes, codings) { return bytes }
        return (try? ContentEncoder.encode(bytes, codings: codings)) ?? bytes
    }

    private static func isCoded(_ bytes: ByteBuffer, _ codings: [ContentCoding]) -> Bool {
        let decoder = ContentDecoder(codings: codings, limit: 1 << 20)
        decoder.decode(bytes) { _ in }
        decoder.finish()
        return decoder.problem?.kind != .corrupt
    }

    private static func pieces(_ bytes: ByteBuffer) -> [ByteBuffer] {
        let view = bytes.readableBytesView
        // Copies, because a slice keeps the whole body in memory.
        return stride(from: 0, to: view.count, by: pieceSize).map {
            ByteBuffer(bytes: view.dropFirst($0).prefix(pieceSize))
        }
    }

    // MARK: - Values

    private static func line(_ text: String) -> String {
        guard text.utf8.contains(where: isControl) else { return text }
        let scalars = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The URL. An unreadable URL becomes the path of a host that does not exist, so that the user sees it.
    private static func url(_ text: String) -> RequestURL {
        if let url = RequestURL(line(text)) { return url }
        var url = RequestURL(scheme: "http", host: "unreadable.invalid", port: 80, path: "/")
        let path = text.utf8.prefix(longestUnreadable).percentEncoded { $0 &- 0x21 < 0x5E && $0 != UInt8(ascii: "#") }
        url.setPathAndQuery("/" + String(decoding: path, as: UTF8.self))
        return url
    }

    private static func url(_ target: RequestURL) -> RequestURL {
        var target = target
        (target.host, target.path, target.query) = (line(target.host), line(target.path), target.query.map(line))
        return target
    }

    private static func version(_ text: String) -> HTTPVersion { HTTPVersion(archived: text) ?? .http11 }

    private static func timings(_ entry: ArchiveEntry) -> Timings {
        func time(_ name: String) -> Int64? { entry.timings[name].map(microseconds) }
        var timings = Timings()
        timings.blocked = time("blocked")
        timings.dns = time("dns")
        timings.tls = time("ssl")
        // HAR's `connect` includes the TLS handshake.
        timings.connect = time("connect").map { max(0, $0 - (timings.tls ?? 0)) }
        timings.send = time("send")
        timings.wait = time("wait")
        timings.receive = time("receive")
        timings.total = entry.time.map(microseconds) ?? 0
        return timings
    }

    private static func microseconds(_ milliseconds: Double) -> Int64 {
        RecordedRange.nearest(milliseconds * 1_000, in: RecordedRange.amounts)
    }

    /// Error texts of mitmproxy, Charles, Chrome and Firefox for an exchange that the client ended.
    private static let clientEnds = [
        "reset by client", "client disconnected", "client closed", "net::err_aborted", "ns_binding_aborted",
    ]

    private static func failure(_ entry: ArchiveEntry) -> ExchangeFailure {
        let error = entry.error
        let parts = error.split(separator: ":", maxSplits: 1).map(String.init)
        if parts.count == 2, let code = ExchangeFailure.Code(rawValue: parts[0]) {
            return ExchangeFailure(code, parts[1].trimmingCharacters(in: .whitespaces))
        }
        if !error.isEmpty {
            let words = error.lowercased()
            return ExchangeFailure(clientEnds.contains { words.contains($0) } ? .clientGone : .reset, error)
        }
        let reason = "The response in the archive has no status that can be read."
        let hasResponse = entry.status > 0 || !entry.response.fields.isEmpty || !entry.response.isEmpty
        return ExchangeFailure(.reset, hasResponse ? reason : "The archive has no response.")
    }
}
