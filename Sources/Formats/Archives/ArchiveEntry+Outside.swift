import Content
import HTTPModel
import NIOCore

/// Adds the query, cookies and form parameters to a message if a HAR has them only in separate members.
extension ArchiveEntry {
    mutating func addQuery(_ query: [HARReader.Pair], _ losses: ArchiveLosses) {
        guard !query.isEmpty, !url.utf8.contains(UInt8(ascii: "?")) else { return }
        let end = url.firstIndex(of: "#") ?? url.endIndex
        url.insert(contentsOf: "?" + ArchivedForm.encoded(query), at: end)
        losses.add(.query)
    }

    /// Adds a `Cookie` field if the request has no such field.
    mutating func addCookies(_ cookies: [HARReader.Pair], _ losses: ArchiveLosses) {
        guard !cookies.isEmpty, request.field("cookie") == nil else { return }
        let list = cookies.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "; ")
        request.addField("Cookie", list, losses)
        losses.add(.cookies)
    }

    /// Adds a `Set-Cookie` field for each cookie if the response has no such field (RFC 6265 §4.1).
    mutating func addSetCookies(_ cookies: [HARReader.Pair], _ losses: ArchiveLosses) {
        guard !cookies.isEmpty, response.field("set-cookie") == nil else { return }
        for cookie in cookies {
            var line = "\(cookie.name)=\(cookie.value ?? "")"
            for (member, attribute) in [("path", "Path"), ("domain", "Domain"), ("sameSite", "SameSite")] {
                guard let value = cookie.others[member], !value.isEmpty, value != "null" else { continue }
                line += "; \(attribute)=\(value)"
            }
            let end = cookie.others["expires"].flatMap { ArchiveEntry.moment($0)?.microseconds }
            if let end, let date = HTTPDate.text(RecordedRange.nearest(end, in: RecordedRange.moments) / 1_000_000) {
                line += "; Expires=\(date)"
            }
            if cookie.others["httpOnly"] == "true" { line += "; HttpOnly" }
            if cookie.others["secure"] == "true" { line += "; Secure" }
            response.addField("Set-Cookie", line, losses)
        }
        losses.add(.cookies)
    }

    /// Makes the body of a form from its parameters if the archive has no body.
    mutating func addForm(_ params: [HARReader.Pair], _ losses: ArchiveLosses) {
        guard !params.isEmpty, request.isEmpty else { return }
        let type = request.field("content-type") ?? request.mediaType
        if MediaType(type)?.type == "multipart" {
            let form = ArchivedForm.multipart(params, boundary: MediaType(type)?.parameter("boundary"))
            request.bytes = form.bytes
            if form.isCut {
                losses.add(.missingBody)
                request.isCut = true
            }
            setType(form.boundary.map { "\(type); boundary=\($0)" } ?? type, losses)
        } else {
            request.text = ArchivedForm.encoded(params, length: request.field("content-length").flatMap { Int($0) })
            setType(type.isEmpty ? "application/x-www-form-urlencoded" : type, losses)
        }
        losses.add(.form)
        notes.append("The archive has the form's parameters and not its text: the body was made of them.")
    }

    private mutating func setType(_ type: String, _ losses: ArchiveLosses) {
        if let place = request.fields.firstIndex(where: { $0.name.lowercased() == "content-type" }) {
            request.fields[place].value = type
        } else {
            request.addField("Content-Type", type, losses)
        }
    }
}

extension ArchiveEntry.Message {
    var isEmpty: Bool { text.isEmpty && bytes.map { $0.readableBytes == 0 } ?? true }
}

/// Forms in the format of browsers (WHATWG HTML §4.10.21), made of parameters.
private enum ArchivedForm {
    /// Names and values in one line. If the unencoded line has the known `length`, the values are encoded already.
    static func encoded(_ pairs: [HARReader.Pair], length: Int? = nil) -> String {
        func joined(_ encode: (String) -> String) -> String {
            pairs.map { "\(encode($0.name))=\(encode($0.value ?? ""))" }.joined(separator: "&")
        }
        let raw = joined { $0 }
        if raw.utf8.count == length, raw.utf8.allSatisfy({ $0 &- 0x21 < 0x5E }) { return raw }
        return joined { isEncoded($0) ? $0 : FormFields.encoded($0) }
    }

    /// Whether a value has percent-encoding, and no character that still needs encoding.
    private static func isEncoded(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return false }
        let decoded = FormFields.percentDecoded(text.utf8)
        return text.utf8.allSatisfy { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") || $0.isUnreserved }
            && decoded.count == text.utf8.count - 2 * text.utf8.count { $0 == UInt8(ascii: "%") }
    }
    /// Parts of RFC 7578. Returns a new `boundary` if it was `nil`; `isCut`: the content of a file is missing.
    static func multipart(
        _ pairs: [HARReader.Pair],
        boundary: String?
    ) -> (bytes: ByteBuffer, boundary: String?, isCut: Bool) {
        let line = boundary ?? "sluice-form-boundary"
        var bytes = ByteBuffer()
        for pair in pairs {
            bytes.writeString("--\(line)\r\nContent-Disposition: form-data; name=\"\(pair.name.inFormQuotes)\"")
            if let file = pair.others["fileName"] { bytes.writeString("; filename=\"\(file.inFormQuotes)\"") }
            if let type = pair.others["contentType"], !type.isEmpty {
                bytes.writeString("\r\nContent-Type: \(type.inFormQuotes)")
            }
            bytes.writeString("\r\n\r\n\(pair.value ?? "")\r\n")
        }
        bytes.writeString("--\(line)--\r\n")
        return (bytes, boundary == nil ? line : nil, pairs.contains { $0.value == nil })
    }
}
