import Content
import HTTPModel
import NIOCore

/// Reads a file of mitmproxy (versions 5 to 12; flow formats 7 to 21), flow by flow. The messages of a WebSocket are in
/// its HTTP flow; up to format 11, they are in a separate flow. Flows of other protocols are only counted.
package struct MitmproxyReader: ArchiveReader {
    private static let longestFlow = 512 << 20
    /// The maximum number of handshakes that wait for the flow with their messages.
    private static let mostHandshakes = 1_000
    private static let formats = 7...21.0

    private let refill: () throws -> [UInt8]
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private var offset = 0
    private let losses: ArchiveLosses
    private var handshakes: [String: ArchiveEntry] = [:]
    private var handshakeOrder: [String] = []

    /// Prepares to read a file; `refill` returns its next piece, and an empty piece at the end.
    package init(losses: ArchiveLosses, refill: @escaping () throws -> [UInt8]) {
        (self.losses, self.refill) = (losses, refill)
    }

    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        var count = 0
        while let length = try nextLength() {
            count += 1
            guard length <= MitmproxyReader.longestFlow else {
                losses.add(.init("flow{|s} longer than 512 MiB"))
                try pass(length + 1)
                continue
            }
            let bytes = try take(length + 1)
            var rest = (Array("\(length):".utf8) + bytes)[...]
            guard let flow = TypedNetstring(&rest), case .dictionary = flow else {
                throw error("flow \(count) is damaged, or no flow of mitmproxy")
            }
            try read(flow, body)
        }
        for id in handshakeOrder {
            if let entry = handshakes.removeValue(forKey: id) { try body(entry) }
        }
    }

    private mutating func read(_ flow: TypedNetstring, _ body: (ArchiveEntry) throws -> Void) throws {
        guard check(flow["version"]) else { return }
        switch flow["type"]?.string {
        case "http": break
        case "websocket":
            let id = flow["metadata"]?["websocket_handshake"]?.string ?? ""
            guard var entry = handshakes.removeValue(forKey: id) else {
                return losses.add(.init("WebSocket{|s} without {its handshake|their handshakes}"))
            }
            setMessages(flow, &entry)
            return try body(entry)
        case let type?:
            let name = String(type.unicodeScalars.prefix(20).filter { (0x21..<0x7F).contains($0.value) })
            return losses.add(.init("flow{|s} of NAME, not HTTP", of: name))
        case nil: return losses.add(.init("flow{|s} without a type"))
        }
        guard let entry = entry(flow) else { return losses.add(.unreadableURL) }
        if flow["metadata"]?["websocket"]?.isTrue == true, let id = flow["id"]?.string,
            handshakes.count < MitmproxyReader.mostHandshakes
        {
            if handshakes.updateValue(entry, forKey: id) == nil { handshakeOrder.append(id) }
        } else {
            try body(entry)
        }
    }

    /// Whether a flow of this format can be read. Counts old formats, and new formats, whose members may differ.
    private func check(_ format: TypedNetstring?) -> Bool {
        // Before mitmproxy 4.0, the format was the version of the program, as three numbers.
        let number = format?.number ?? format?.list?.first?.number ?? 0
        if MitmproxyReader.formats.contains(number) { return true }
        guard number > MitmproxyReader.formats.upperBound else {
            let hint = "'mitmdump -nr old -w new' of mitmproxy makes a file of today's"
            losses.add(.init("flow{|s} of {a format|formats} before 7, which {is|are} not read: \(hint)"))
            return false
        }
        let format = "\(Int(min(number, 1e9)))"
        losses.add(.init("flow{|s} of format NAME, which is newer than 21 and was read like it", of: format))
        return true
    }

    // MARK: - A flow

    private func entry(_ flow: TypedNetstring) -> ArchiveEntry? {
        guard let request = flow["request"], case .dictionary = request else { return nil }
        var entry = ArchiveEntry()
        entry.method = request["method"]?.string ?? ""
        entry.request = message(request)
        guard let target = target(request, flow["client_conn"]?["sni"]?.string, entry.request) else { return nil }
        entry.target = target
        if let response = flow["response"], case .dictionary = response {
            entry.response = message(response)
            if let status = response["status_code"]?.number {
                let isStatus = (0...999).contains(status)
                if isStatus { entry.status = Int(status) } else { losses.add(.outOfRange("status_code")) }
            }
            entry.reason = response["reason"]?.string ?? ""
            if response["content"] == .null {
                losses.add(.missingBody)
                entry.response.isCut = true
            }
        }
        if let error = flow["error"], case .dictionary = error {
            entry.error = error["msg"]?.string ?? "It failed in mitmproxy."
        }
        entry.comment = flow["comment"]?.string ?? ""
        setColour(flow["marked"], &entry)
        setTimes(flow, &entry)
        setConnections(flow, &entry)
        if let socket = flow["websocket"], case .dictionary = socket { setMessages(socket, &entry) }
        return entry
    }

    private func target(_ request: TypedNetstring, _ sni: String?, _ message: ArchiveEntry.Message) -> RequestURL? {
        let scheme = (request["scheme"]?.string ?? "http").lowercased()
        let port = request["port"]?.number.flatMap { Int(exactly: $0) } ?? RequestURL.defaultPort(of: scheme)
        guard let port, (1...65_535).contains(port), let name = request["host"]?.string else { return nil }
        var host = RequestURL.splitAuthority(HostAddress.bracketed(name))?.host
        // A transparent mitmproxy has only the address; the client named the host in Host, :authority or SNI.
        let isAddress = name.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 == UInt8(ascii: ".") } || name.contains(":")
        if isAddress {
            let names = [message.field("host"), request["authority"]?.string, sni]
            host = names.lazy.compactMap { $0.flatMap { RequestURL.splitAuthority($0)?.host } }.first ?? host
        }
        guard let host, RequestURL.defaultPort(of: scheme) != nil else { return nil }
        var target = RequestURL(scheme: scheme, host: host, port: port, path: "/")
        if let path = request["path"]?.string, path.hasPrefix("/") || path == "*" { target.setPathAndQuery(path) }
        return target
    }

    private func message(_ value: TypedNetstring) -> ArchiveEntry.Message {
        var message = ArchiveEntry.Message()
        message.version = value["http_version"]?.string ?? ""
        addFields(value["headers"], &message)
        var trailers = ArchiveEntry.Message()
        addFields(value["trailers"], &trailers)
        message.trailers = trailers.fields
        message.bytes = (value["content"]?.data).map { ByteBuffer(bytes: $0) }
        message.isCoded = true
        message.mediaType = message.field("content-type") ?? ""
        losses.check(message)
        return message
    }

    private func addFields(_ value: TypedNetstring?, _ message: inout ArchiveEntry.Message) {
        for pair in value?.list ?? [] {
            guard let pair = pair.list, pair.count >= 2, let name = pair[0].string, let text = pair[1].string else {
                continue
            }
            let isText = pair[1].data.map { UTF8Check.isValid($0) } ?? true
            message.addField(name, text, bytes: isText ? nil : pair[1].data.map(Array.init), losses)
        }
    }

    private func setColour(_ mark: TypedNetstring?, _ entry: inout ArchiveEntry) {
        guard let mark else { return }
        let name = mark.string ?? (mark.isTrue ? ":default:" : "")
        guard !name.isEmpty else { return }
        entry.colour = name.replacing("_circle", with: "").replacing(":", with: "")
        if ExchangeAnnotation.Colour(rawValue: entry.colour) == nil {
            losses.add(.init("mark{|s} that {is no colour|are no colours}"))
        }
    }

    // MARK: - Times and connections

    private func setTimes(_ flow: TypedNetstring, _ entry: inout ArchiveEntry) {
        func moment(_ names: String...) -> Double? {
            var value: TypedNetstring? = flow
            for name in names { value = value?[name] }
            return value?.number
        }
        func milliseconds(_ from: Double?, _ to: Double?) -> Double? {
            guard let from, let to, to >= from else { return nil }
            return (to - from) * 1_000
        }
        let (start, end) = (moment("request", "timestamp_start"), moment("request", "timestamp_end"))
        let (answered, done) = (moment("response", "timestamp_start"), moment("response", "timestamp_end"))
        if let start {
            entry.setStart(start * 1_000_000, "timestamp_start", losses)
        } else {
            losses.add(.missingTime("timestamp_start"))
        }
        entry.time = milliseconds(start, done ?? moment("error", "timestamp") ?? answered ?? end)
        entry.timings["send"] = milliseconds(start, end)
        entry.timings["wait"] = milliseconds(end, answered)
        entry.timings["receive"] = milliseconds(answered, done)
        // The times of a connection that was open before belong to an earlier exchange.
        guard let start, let began = moment("server_conn", "timestamp_start"), began >= start else { return }
        let connected = moment("server_conn", "timestamp_tcp_setup")
        let secured = moment("server_conn", "timestamp_tls_setup") ?? moment("server_conn", "timestamp_ssl_setup")
        entry.timings["ssl"] = milliseconds(connected, secured)
        entry.timings["connect"] = milliseconds(began, secured ?? connected)
    }

    private func setConnections(_ flow: TypedNetstring, _ entry: inout ArchiveEntry) {
        func address(_ value: TypedNetstring?) -> (host: String, port: Int)? {
            guard let list = value?.list ?? value?["address"]?.list, list.count >= 2, let host = list[0].string,
                let port = list[1].number.flatMap({ Int(exactly: $0) }), (1...65_535).contains(port)
            else { return nil }
            return (host, port)
        }
        let (client, server) = (flow["client_conn"], flow["server_conn"])
        if let (host, port) = address(client?["peername"]) ?? address(client?["address"]) {
            entry.clientAddress = HostAddress.withPort(host, port)
        }
        if let (host, port) = address(server?["peername"]) ?? address(server?["ip_address"]) {
            (entry.serverAddress, entry.serverPort) = (host, String(port))
        }
        guard let version = server?["tls_version"]?.string else { return }
        let alpn = (server?["alpn"] ?? server?["alpn_proto_negotiated"])?.string
        entry.tls = TLSDetails(
            protocolVersion: version,
            cipherSuite: (server?["cipher"] ?? server?["cipher_name"])?.string ?? "",
            serverName: server?["sni"]?.string,
            applicationProtocol: alpn?.isEmpty == true ? nil : alpn
        )
    }

    private func setMessages(_ socket: TypedNetstring, _ entry: inout ArchiveEntry) {
        for value in socket["messages"]?.list ?? [] {
            // Opcode, direction, content and time; later formats have more elements.
            guard let parts = value.list, parts.count >= 4, let opcode = parts[0].number.flatMap({ Int(exactly: $0) }),
                let data = parts[2].data
            else {
                losses.add(.init("WebSocket message{|s} that cannot be read"))
                continue
            }
            var message = ArchiveEntry.SocketMessage()
            (message.isSent, message.opcode, message.time) = (parts[1].isTrue, opcode, parts[3].number ?? 0)
            message.bytes = ByteBuffer(bytes: data)
            entry.add(message, losses)
        }
        guard let code = socket["close_code"]?.number.flatMap({ UInt16(exactly: $0) }), !entry.messages.isEmpty else {
            return
        }
        var close = ArchiveEntry.SocketMessage()
        close.isSent = socket["closed_by_client"]?.isTrue ?? (socket["close_sender"]?.string == "client")
        close.opcode = 8
        close.time = socket["timestamp_end"]?.number ?? entry.messages.last?.time ?? 0
        var payload = ByteBuffer(integer: code)
        payload.writeString(socket["close_reason"]?.string ?? "")
        close.bytes = payload
        entry.messages.append(close)
    }

    // MARK: - Bytes

    private func error(_ message: String) -> ArchiveError { ArchiveError("\(message) (at byte \(offset))") }

    private mutating func peek() throws -> UInt8? {
        if position == buffer.count, !isAtEnd {
            buffer = try refill()
            position = 0
            isAtEnd = buffer.isEmpty
        }
        return position < buffer.count ? buffer[position] : nil
    }

    /// The length of the next flow in bytes; `nil` at the end of the file.
    private mutating func nextLength() throws -> Int? {
        var (length, digits) = (0, 0)
        guard try peek() != nil else { return nil }
        while let byte = try peek() {
            position += 1
            offset += 1
            if byte == UInt8(ascii: ":"), digits > 0 { return length }
            guard byte &- 0x30 < 10, digits < 12 else { throw error("no flow of mitmproxy begins there") }
            length = length * 10 + Int(byte - 0x30)
            digits += 1
        }
        throw error("the file ends within a flow")
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try pass(count) { bytes += $0 }
        return bytes
    }

    private mutating func pass(_ count: Int, _ body: (ArraySlice<UInt8>) -> Void = { _ in }) throws {
        var rest = count
        while rest > 0 {
            guard try peek() != nil else { throw error("the file ends within a flow") }
            let part = buffer[position...].prefix(rest)
            body(part)
            position = part.endIndex
            offset += part.count
            rest -= part.count
        }
    }
}
