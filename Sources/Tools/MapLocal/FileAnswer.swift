import Content
import ExchangeCore
import HTTPModel
import NIOCore
import Rules

/// Answers a request from a file. The answer has no validators (`ETag`, `Last-Modified`), conditions are ignored, and
/// `If-Range` is never met (RFC 9110 §13.1.5), so that the next request gets an edited file.
struct FileAnswer {
    /// The request's `Range`; `nil` if it is missing or must be ignored.
    let range: String?
    /// Overrides the sidecar's status.
    let status: Int?
    /// The rule's fields; a field with an empty value is left out of the answer.
    let fields: FileSource.Fields

    /// In bytes; larger files are streamed.
    private static let mostInMemory: Int64 = 256 << 10
    /// In bytes; if several ranges are longer in total, the whole file is sent.
    private static let mostInParts: Int64 = 4 << 20

    init(_ head: RequestHead, status: Int?, fields: FileSource.Fields) {
        // Only GET has ranges (RFC 9110 §14.2).
        let hasRange = head.method == "GET" && !head.fields.contains("if-range")
        range = hasRange ? head.fields.value(of: "range") : nil
        (self.status, self.fields) = (status, fields)
    }

    /// Makes the answer; the extension of `name` gives the media type. Throws if the file cannot be read.
    func answer(_ found: consuming FileTree.Found, name: String, sidecar: Sidecar?) throws(SystemError) -> LocalAnswer {
        let length = found.status.size
        let status = self.status ?? sidecar?.status ?? 200
        var head = ResponseHead(status: status, reason: self.status == nil ? sidecar?.reason : nil)
        head.fields.append("Content-Type", MediaTypes.contentType(of: name))
        if status == 200 { head.fields.append("Accept-Ranges", "bytes") }
        head.fields.replace(sidecar?.fields ?? [])
        head.fields.replace(fields)
        // Ranges apply to status 200 only; with another status the body is not the requested content.
        let asked = status == 200 ? range.map { ByteRanges($0, length: length) } ?? .whole : .whole
        switch asked {
        case .unsatisfiable:
            (head.status, head.reason) = (416, "Range Not Satisfiable")
            head.fields.removeAll(.contentType)
            head.fields.append("Content-Range", "bytes */\(length)")
            head.fields.append("Content-Length", "0")
            return LocalAnswer(head: head)
        case .parts(let parts) where parts.count == 1:
            head.makePartial()
            head.fields.append("Content-Range", parts[0].contentRange(of: length))
            return try body(found.file, parts[0], head)
        case .parts(let parts) where parts.reduce(0, { $0 + Int64($1.count) }) <= FileAnswer.mostInParts:
            head.makePartial()
            return try multipart(found.file, parts, length, head)
        case .parts, .whole: return try body(found.file, 0..<length, head)
        }
    }

    /// Adds the rule's fields to an answer without a file, except for `Content-Type`, which describes the file.
    func explained(_ answer: LocalAnswer) -> LocalAnswer {
        var answer = answer
        answer.head.fields.replace(fields.filter { FieldName($0.name) != .contentType })
        return answer
    }

    private func body(
        _ file: consuming OpenFile,
        _ range: Range<Int64>,
        _ head: ResponseHead
    ) throws(SystemError) -> LocalAnswer {
        var head = head
        guard range.count <= FileAnswer.mostInMemory else {
            head.fields.append("Content-Length", String(range.count))
            let file = AnswerFile(descriptor: file.release(), offset: range.lowerBound, length: Int64(range.count))
            return LocalAnswer(head: head, file: file)
        }
        // The file may have become shorter since its status was read.
        let bytes = try file.read(range)
        head.fields.append("Content-Length", String(bytes.count))
        return LocalAnswer(head: head, body: ByteBuffer(bytes: bytes))
    }

    /// Several parts in one body (RFC 9110 §14.6).
    private func multipart(
        _ file: borrowing OpenFile,
        _ parts: [Range<Int64>],
        _ length: Int64,
        _ head: ResponseHead
    ) throws(SystemError) -> LocalAnswer {
        var head = head
        let type = head.fields.value(of: .contentType) ?? MediaTypes.unknown
        let boundary = "sluice-" + String(UInt64.random(in: .min ... .max), radix: 16)
        head.fields.set("Content-Type", "multipart/byteranges; boundary=\(boundary)")
        var body = ByteBuffer()
        for part in parts {
            body.writeString("--\(boundary)\r\nContent-Type: \(type)\r\n")
            body.writeString("Content-Range: \(part.contentRange(of: length))\r\n\r\n")
            body.writeBytes(try file.read(part))
            body.writeStaticString("\r\n")
        }
        body.writeString("--\(boundary)--\r\n")
        head.fields.append("Content-Length", String(body.readableBytes))
        return LocalAnswer(head: head, body: body)
    }
}

extension ResponseHead {
    fileprivate mutating func makePartial() { (status, reason) = (206, "Partial Content") }
}
