import Content
import Description
import HTTPModel
import NIOCore

extension HAREntry {
    /// Multipart bodies up to this size are read into their parts.
    private static let longestMultipart = 1 << 20
    private static let location: FieldName = "location"

    func request(into writer: inout JSONWriter) throws {
        let record = exchange.record
        let head = heads.request
        let fields = head?.fields ?? FieldSection()
        writer.member("method", record.method.isEmpty ? "CONNECT" : record.method)
        writer.member("url", HARURL.text(record, head))
        writer.member("httpVersion", (head?.version ?? record.clientVersion).archiveName)
        try writer.pairs("cookies", Cookies.request(fields).map { ($0.name, $0.value) })
        try writer.fields("headers", fields)
        try writer.formFields("queryString", record.url.query.map { FormFields.parse(query: $0) } ?? [])
        let bodySize = record.kind == .webSocket ? 0 : try postData(fields, into: &writer)
        writer.member("headersSize", size(of: exchange.messages.requestHead, isRequest: true))
        writer.member("bodySize", bodySize)
    }

    /// A head's size as recorded; -1 without a head.
    private func size(of head: ByteBuffer?, isRequest: Bool) -> Int64 {
        let recorded = source.recordedHeadSize(of: exchange.record.id, isRequest: isRequest)
        return head.map { Int64(recorded ?? $0.readableBytes) } ?? -1
    }

    private func postData(_ fields: FieldSection, into writer: inout JSONWriter) throws -> Int64 {
        let record = exchange.record
        let contentType = heads.request == nil ? nil : heads.contentType(of: .requestReceived)
        let text = try JSONBody(exchange, .requestReceived, contentType?.mediaType, fields, from: source, options)
        if text.encodedSize > 0, [.http, .upgraded, .malformed].contains(record.kind) {
            try writer.object("postData") { try postData(text, contentType, into: &$0) }
        }
        return max(Int64(text.encodedSize), record.sizes.requestBody)
    }

    private func postData(_ text: JSONBody, _ type: ReadHeads.ContentType?, into writer: inout JSONWriter) throws {
        let mediaType = type?.mediaType
        writer.member("mimeType", type?.text ?? "application/octet-stream")
        let isForm = mediaType?.essence == "application/x-www-form-urlencoded"
        let limit = HAREntry.longestMultipart
        if isForm || mediaType?.type == "multipart", text.decodedSize <= limit {
            var whole = ByteBuffer()
            _ = try text.body.forEachDecodedPiece(text.codings, limit: limit) { whole.writeBytes($0) }
            if isForm {
                try writer.formFields("params", FormFields.parse(whole.readableBytesView))
            } else if let mediaType, let multipart = Multipart(whole, mediaType: mediaType) {
                try writer.parts(multipart)
            }
        }
        writer.key("text")
        try text.write(into: &writer)
        if text.isBase64 { writer.member("_encoding", "base64") }
        writer.optionalMember("comment", text.comment)
    }

    func response(into writer: inout JSONWriter) throws {
        let record = exchange.record
        let head = heads.responseSent
        let fields = head?.fields ?? FieldSection()
        writer.member("status", head?.status ?? record.status)
        writer.member("statusText", head?.reason ?? "")
        writer.member("httpVersion", (head?.version ?? record.clientVersion).archiveName)
        try writer.objects("cookies", Cookies.response(fields)) { $0.setCookie($1, at: record.startedAt) }
        try writer.fields("headers", fields)
        let bodySize = try content(fields, into: &writer)
        writer.member("redirectURL", fields.value(of: HAREntry.location) ?? "")
        writer.member("headersSize", size(of: exchange.messages.head(of: .responseSent), isRequest: false))
        writer.member("bodySize", head == nil ? -1 : bodySize)
        // The wire size of a response that failed midway was not counted.
        let received = record.sizes.responseHead + record.sizes.responseBody
        writer.member("_transferSize", max(record.sizes.responseWire, received))
        writer.optionalMember("_error", record.failure.map { "\($0.code.rawValue): \($0.message)" })
    }

    /// Writes the response's body, which is empty for a WebSocket. Returns the body's size as recorded.
    private func content(_ fields: FieldSection, into writer: inout JSONWriter) throws -> Int {
        let type = heads.responseSent == nil ? nil : heads.contentType(of: .responseSent)
        let contentType = type?.text
        writer.key("content")
        guard exchange.record.kind != .webSocket else {
            try writer.object {
                $0.member("size", 0)
                $0.member("mimeType", contentType ?? "x-unknown")
            }
            return 0
        }
        let text = try JSONBody(exchange, .responseSent, type?.mediaType, fields, from: source, options)
        try writer.object {
            let lost = exchange.record.flags.contains(.responseBodyIncomplete) && text.codings.isEmpty
            $0.member("size", max(text.decodedSize, lost ? Int(clamping: exchange.record.sizes.responseBody) : 0))
            if !text.codings.isEmpty, text.problem == nil, text.encodedSize > 0 {
                $0.member("compression", text.decodedSize - text.encodedSize)
            }
            // Chrome shows events only if the type has no parameters.
            let isEvents = resourceType == "eventsource"
            $0.member("mimeType", isEvents ? "text/event-stream" : contentType ?? "x-unknown")
            $0.key("text")
            try text.write(into: &$0)
            if text.isBase64 { $0.member("encoding", "base64") }
            let dropped = text.encodedSize == 0 ? exchange.wordsOfDroppedBodies : nil
            $0.optionalMember("comment", text.comment ?? dropped)
        }
        return text.encodedSize
    }
}

extension JSONWriter {
    fileprivate mutating func formFields(_ name: String, _ fields: [FormField]) throws {
        try pairs(name, fields.map { ($0.name, $0.value) })
    }

    fileprivate mutating func parts(_ multipart: Multipart) throws {
        try objects("params", multipart.parts) { writer, part in
            writer.member("name", part.name ?? "")
            // A file's content is in `text` already.
            if part.fileName == nil, UTF8Check.isValid(part.content.readableBytesView) {
                writer.member("value", String(buffer: part.content))
            }
            writer.optionalMember("fileName", part.fileName)
            writer.optionalMember("contentType", part.fields.value(of: .contentType))
        }
    }

    fileprivate mutating func setCookie(_ cookie: Cookies.SetCookie, at moment: Int64) {
        member("name", cookie.name)
        member("value", cookie.value)
        optionalMember("path", cookie.path)
        optionalMember("domain", cookie.domain)
        optionalMember("expires", cookie.expires(receivedAt: moment).map { Timestamp.iso8601($0) })
        member("httpOnly", cookie.isHTTPOnly)
        member("secure", cookie.isSecure)
        optionalMember("sameSite", cookie.sameSite)
    }
}

extension HTTPVersion {
    fileprivate var archiveName: String { self == .http2 ? "HTTP/2.0" : description }
}

/// URLs that every HAR reader accepts: some readers refuse a whole archive if they cannot parse one URL.
enum HARURL {
    /// The URL with path and query as sent; bytes that are not allowed in URLs (RFC 3986) are percent-encoded.
    static func text(_ record: ExchangeRecord, _ head: RequestHead?) -> String {
        var url = record.url
        if record.kind == .webSocket {
            if url.scheme == "http" { url.scheme = "ws" }
            if url.scheme == "https" { url.scheme = "wss" }
        }
        if RequestURL.defaultPort(of: url.scheme) == nil {
            url.scheme = record.flags.contains(.tunnelledTLS) || url.port == 443 ? "https" : "http"
        }
        if url.host.isEmpty { url.host = "unknown.invalid" }
        if !url.path.hasPrefix("/") { url.path = "/" + url.path }
        let text = url.description
        if text.utf8.allSatisfy({ $0 &- 0x21 < 0x5E }) { return text }
        // If the target is not UTF-8, each of its bytes was read as the character with that number.
        let isLatin1 = head.map { String(validating: $0.targetBytes, as: UTF8.self) == nil } ?? false
        return text.unicodeScalars.map { scalar in
            if scalar.value &- 0x21 < 0x5E { return String(scalar) }
            let byte = isLatin1 ? UInt8(exactly: scalar.value) : nil
            return (byte.map { [$0] } ?? Array(String(scalar).utf8)).map(\.percentEscape).joined()
        }.joined()
    }

    /// The URL as it was sent, if it has characters that `text` encodes; `nil` if it is not UTF-8.
    static func raw(_ record: ExchangeRecord, _ head: RequestHead?) -> String? {
        let url = record.url.description
        let isText = head.map { String(validating: $0.targetBytes, as: UTF8.self) != nil } ?? true
        return isText && !url.utf8.allSatisfy({ $0 < 0x80 }) ? url : nil
    }
}
