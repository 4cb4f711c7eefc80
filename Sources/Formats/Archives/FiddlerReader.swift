import Content
package import Files
import HTTPModel
import NIOCore

/// Reads a session of Fiddler (`.saz`): messages as on the wire, `raw/N_c.txt` and `raw/N_s.txt`, and `raw/N_m.xml`.
package struct FiddlerReader: ArchiveReader {
    private static let longestMeta = 4 << 20

    private let zip: ZipReader
    private let losses: ArchiveLosses
    private let textLimit: Int

    package static func isSession(_ zip: ZipReader) -> Bool { zip.entries.contains { part(of: $0)?.kind == "c.txt" } }

    package init(_ zip: ZipReader, textLimit: Int = 64 << 20, losses: ArchiveLosses) {
        (self.zip, self.textLimit, self.losses) = (zip, textLimit, losses)
    }

    private static func part(of entry: ZipReader.Entry) -> (number: Int, kind: String)? {
        let name = entry.name.replacing("\\", with: "/").lowercased()
        guard name.hasPrefix("raw/") else { return nil }
        let parts = name.dropFirst(4).split(separator: "_", maxSplits: 1)
        guard parts.count == 2, let number = Int(parts[0]) else { return nil }
        return (number, String(parts[1]))
    }

    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        var parts: [Int: [String: ZipReader.Entry]] = [:]
        for entry in zip.entries {
            guard let (number, kind) = FiddlerReader.part(of: entry) else { continue }
            parts[number, default: [:]][kind] = entry
        }
        for number in parts.keys.sorted() {
            guard let entries = parts[number], entries["c.txt"] != nil else { continue }
            if let entry = try entry(entries) { try body(entry) } else { losses.add(.unreadableURL) }
        }
    }

    private func entry(_ parts: [String: ZipReader.Entry]) throws -> ArchiveEntry? {
        var entry = ArchiveEntry()
        let meta = FiddlerMeta(try contents(of: parts["m.xml"], FiddlerReader.longestMeta) ?? [])
        guard let request = try message(parts["c.txt"], &entry.request), let head = StoredHead.request(request) else {
            return nil
        }
        entry.method = head.method
        add(head.fields, to: &entry.request, version: head.version)
        guard let target = FiddlerReader.target(head, entry.request, isSecure: meta.isSecure) else { return nil }
        entry.target = target
        if let response = try message(parts["s.txt"], &entry.response), let head = StoredHead.response(response) {
            (entry.status, entry.reason) = (head.status, head.reason)
            add(head.fields, to: &entry.response, version: head.version)
            entry.response.mediaType = entry.response.field("content-type") ?? ""
        }
        if target.scheme == "tunnel" {
            entry.kind = .tunnel
            // The bodies of a tunnel are only a page of Fiddler.
            (entry.request.bytes, entry.response.bytes) = (nil, nil)
            entry.isUnsent = true
        } else if parts["w.txt"] != nil {
            entry.kind = .webSocket
            (entry.request.bytes, entry.response.bytes) = (nil, nil)
            losses.add(.missingMessages)
        }
        meta.set(&entry, losses)
        return entry
    }

    private static func target(_ head: RequestHead, _ message: ArchiveEntry.Message, isSecure: Bool) -> RequestURL? {
        let target = head.target
        if head.method == "CONNECT" {
            guard let (host, port) = RequestURL.splitAuthority(target) else { return nil }
            return RequestURL(scheme: "tunnel", host: host, port: port ?? 443, path: "")
        }
        if let url = RequestURL(target) { return url }
        // The target is a path, like a server gets it.
        let scheme = isSecure ? "https" : "http"
        guard target.hasPrefix("/"), let host = message.field("host") else { return nil }
        return RequestURL("\(scheme)://\(host)\(target)")
    }

    /// Sets the body of a message and returns its head; `nil` if there is no message.
    private func message(_ part: ZipReader.Entry?, _ message: inout ArchiveEntry.Message) throws -> ByteBuffer? {
        guard let bytes = try contents(of: part, textLimit), !bytes.isEmpty else { return nil }
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.count
        message.bytes = ByteBuffer(bytes: bytes[end...])
        return ByteBuffer(bytes: bytes[..<end])
    }

    private func add(_ fields: FieldSection, to message: inout ArchiveEntry.Message, version: HTTPVersion) {
        message.version = version.description
        for field in fields {
            let bytes = Array(field.valueBytes)
            message.addField(field.name, field.value, bytes: UTF8Check.isValid(bytes) ? nil : bytes, losses)
        }
        let isChunked = message.field("transfer-encoding")?.lowercased().contains("chunked") == true
        if isChunked, let bytes = message.bytes { message.bytes = FiddlerReader.joinedChunks(bytes) ?? bytes }
    }

    /// Joins the chunks of a body (RFC 9112 §7.1); `nil` for other bytes.
    private static func joinedChunks(_ bytes: ByteBuffer) -> ByteBuffer? {
        var rest = bytes.readableBytesView
        var body = ByteBuffer()
        while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[..<end].prefix { $0 != UInt8(ascii: ";") && $0 != 0x0D }, as: UTF8.self)
            guard !line.isEmpty, line.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let size = Int(line, radix: 16)
            else { return nil }
            rest = rest[(end + 1)...]
            if size == 0 { return body }
            guard size <= rest.count else { return nil }
            body.writeBytes(rest.prefix(size))
            rest = rest.dropFirst(size)
            guard rest.first == 0x0D || rest.first == 0x0A else { return nil }
            rest = rest.dropFirst(rest.first == 0x0D ? 2 : 1)
        }
        return nil
    }

    private func contents(of entry: ZipReader.Entry?, _ limit: Int) throws -> [UInt8]? {
        guard let entry else { return nil }
        if let bytes = try zip.contents(of: entry, atMost: limit) { return bytes }
        losses.add(.init("message{|s} longer than 64 MiB"))
        return nil
    }
}

private struct FiddlerMeta {
    private var times: [String: String] = [:]
    /// Values by names in lower case.
    private var flags: [String: String] = [:]
    private var bits = ""

    /// Reads the bytes up to the first error; without them, an exchange has no times.
    init(_ bytes: [UInt8]) {
        var pieces = [bytes]
        var xml = XMLTokenReader(refill: UTF8Pieces.utf8 { pieces.popLast() ?? [] })
        while let token = try? xml.next() {
            guard case .start(let name, let attributes) = token else { continue }
            switch name {
            case "Session": bits = attributes["BitFlags"] ?? ""
            case "SessionTimers": times = attributes
            case "SessionFlag": flags[(attributes["N"] ?? "").lowercased()] = attributes["V"]
            default: break
            }
        }
    }

    /// Whether it was HTTPS: the lowest bit of `BitFlags`, which is hexadecimal, or an `https-` flag.
    var isSecure: Bool {
        bits.last?.hexDigitValue.map { $0 & 1 == 1 } == true || flags.keys.contains { $0.hasPrefix("https-") }
    }

    /// A time in microseconds since 1970; `nil` in the year 1, which means that the event did not happen.
    private func moment(_ name: String) -> Double? {
        times[name].flatMap { $0.hasPrefix("0001-") ? nil : ArchiveEntry.moment($0)?.microseconds }
    }

    private func milliseconds(_ from: String, _ to: String) -> Double? {
        guard let start = moment(from), let end = moment(to), end >= start else { return nil }
        return (end - start) / 1_000
    }

    func set(_ entry: inout ArchiveEntry, _ losses: ArchiveLosses) {
        let name = "ClientBeginRequest"
        entry.setStart(moment(name) == nil ? "" : times[name] ?? "", name, losses)
        entry.time = milliseconds(name, "ClientDoneResponse") ?? milliseconds(name, "ServerDoneResponse")
        entry.timings["send"] = milliseconds("FiddlerBeginRequest", "ServerGotRequest")
        entry.timings["wait"] = milliseconds("ServerGotRequest", "ServerBeginResponse")
        entry.timings["receive"] = milliseconds("ServerBeginResponse", "ServerDoneResponse")
        for (phase, timer) in [("dns", "DNSTime"), ("connect", "TCPConnectTime"), ("ssl", "HTTPSHandshakeTime")] {
            if let time = times[timer].flatMap({ Double($0) }), time > 0, time < 1e9 { entry.timings[phase] = time }
        }
        if let tls = entry.timings["ssl"] { entry.timings["connect"] = (entry.timings["connect"] ?? 0) + tls }
        if let address = flags["x-hostip"], HAREntry.isAddress(address) { entry.serverAddress = address }
        if let address = flags["x-clientip"], HAREntry.isAddress(address) {
            let port = flags["x-clientport"].flatMap { Int($0) }.flatMap { (1...65_535).contains($0) ? ":\($0)" : nil }
            entry.clientAddress = HostAddress.bracketed(address) + (port ?? "")
        }
        entry.comment = flags["ui-comments"] ?? ""
    }
}
