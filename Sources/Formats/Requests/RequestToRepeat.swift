import Content
import Description
import HTTPModel
import Masking
import NIOCore
import Text

/// A recorded request for programs that send it again, without the fields that clients write themselves.
struct RequestToRepeat {
    /// The longest body in the text of a program, in bytes.
    private static let longestBody = 8 << 20
    private static let ofConnection: Set<String> = [
        "content-length", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "transfer-encoding",
        "te", "trailer", "upgrade", "expect", "http2-settings",
    ]

    let number: ExchangeID
    let method: String
    let url: String
    let fields: [(name: String, value: [UInt8])]
    let body: [UInt8]
    /// Differences from the recorded request, in sentences.
    let remarks: [String]

    init(_ exchange: RecordedExchange, source: any ExchangeSource) throws {
        let record = exchange.record
        guard record.kind == .http || record.kind == .upgraded, record.method != "CONNECT",
            RequestURL.defaultPort(of: record.url.scheme) != nil,
            let head = exchange.messages.requestHead.flatMap({ StoredHead.request($0) })
        else { throw CurlError(description: "This exchange is no request that could be sent again.") }
        number = record.id
        method = head.method
        url = RequestToRepeat.url(record, head)
        let recorded = try RecordedBody.toRepeat(exchange, head, source)
        let authority = record.url.authority.lowercased()
        var bytes = ByteBuffer()
        try recorded.read(RequestToRepeat.longestBody + 1, into: &bytes)
        guard bytes.readableBytes <= RequestToRepeat.longestBody else {
            let limit = Measures.size(Int64(RequestToRepeat.longestBody))
            throw CurlError(description: "Its body is longer than \(limit); as cURL it goes to a file.")
        }
        body = Array(bytes.readableBytesView)
        let coding = recorded.source.isMasking ? head.fields.value(of: .contentEncoding) : nil
        fields = head.fields.filter { field in
            let name = field.name.lowercased()
            let isUsualHost = name == "host" && field.value.lowercased() == authority
            // Masked bodies are sent without their coding.
            let isLostCoding = name == "content-encoding" && coding != nil
            return !name.hasPrefix(":") && !isUsualHost && !isLostCoding && !Self.ofConnection.contains(name)
        }.map { ($0.name, Array($0.valueBytes)) }
        let target = head.originTarget
        let remarks = [
            Placeholder.remark(on: Array(url.utf8) + fields.flatMap(\.value) + body),
            try recorded.remark(onCoding: coding, isEmpty: body.isEmpty),
            target == Array("*".utf8) ? "the target * (the whole server) cannot be sent, so / is" : nil,
            target.contains(UInt8(ascii: "#")) ? "# and what follows it in the target is left out" : nil,
            exchange.messages.requestTrailers != nil ? "the request's trailers are left out" : nil,
            exchange.remarkOnBody(size: body.count, source),
        ]
        self.remarks = remarks.compactMap(\.self)
    }

    /// The URL with path and query as they were sent; bytes that are not ASCII are percent-encoded one by one.
    private static func url(_ record: ExchangeRecord, _ head: RequestHead) -> String {
        let target = head.originTarget.prefix { $0 != UInt8(ascii: "#") }
        let isPlain = target.first != UInt8(ascii: "/") || target.allSatisfy { $0 < 0x80 }
        if isPlain { return record.url.description }
        let encoded = String(decoding: target.percentEncoded { $0 < 0x80 }, as: UTF8.self)
        return "\(record.url.scheme)://\(record.url.authority)\(encoded)"
    }

    /// Whether Python's requests (also HTTPie) changes escapes or, unless `keepsPath`, removes dot segments.
    func isURLChanged(keepsPath: Bool = false) -> Bool {
        let url = Array(url.utf8)
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")),
            let start = url[colon...].dropFirst(3).firstIndex(of: UInt8(ascii: "/"))
        else { return false }
        let target = Array(url[start...])
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let segments = path.split(separator: UInt8(ascii: "/"))
        let hasDots = !keepsPath && segments.contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
        if hasDots || target.dropFirst(path.count).count == 1 { return true }
        return target.indices.contains { index in
            switch target[index] {
            case UInt8(ascii: "%"):
                !RequestToRepeat.isEscape(target[(index + 1)...].prefix(2), ofAny: keepsPath && index < path.count)
            case let byte: !byte.isUnreserved && !"/!$&'()*+,;=:@?".utf8.contains(byte)
            }
        }
    }

    /// Whether an escape stays unchanged: it has capital digits and, unless `ofAny`, its byte needs an escape.
    private static func isEscape(_ digits: ArraySlice<UInt8>, ofAny: Bool) -> Bool {
        guard digits.count == 2, digits.allSatisfy({ $0 &- 0x30 < 10 || $0 &- 0x41 < 6 }),
            let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return false }
        return ofAny || !byte.isUnreserved
    }

    var hasBody: Bool { !body.isEmpty }

    func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }

    var hasRepeatedNames: Bool { Set(fields.map { $0.name.lowercased() }).count < fields.count }

    /// Joins fields of the same name at the position of the first of them (RFC 9110 §5.3, RFC 6265 §5.4).
    var joinedFields: [(name: String, value: [UInt8])] {
        var joined: [(name: String, value: [UInt8])] = []
        for field in fields {
            let name = field.name.lowercased()
            if let index = joined.firstIndex(where: { $0.name.lowercased() == name }) {
                joined[index].value += Array((name == "cookie" ? "; " : ", ").utf8) + field.value
            } else {
                joined.append(field)
            }
        }
        return joined
    }

    /// Throws ``CurlError`` if a name is not a token, because the client may take such a name for a file.
    func checkNames(for client: String) throws(CurlError) {
        guard let name = fields.first(where: { !$0.name.isToken })?.name else { return }
        throw CurlError(description: "\(client) cannot send the header '\(name)', whose name is no token")
    }
}

extension String {
    /// A text as a literal in double quotes; `escape` writes the hidden characters.
    func quoted(_ escape: (Unicode.Scalar) -> String) -> String {
        unicodeScalars.reduce(into: "\"") { literal, scalar in
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where VisibleText.isHidden(scalar): literal += escape(scalar)
            default: literal.unicodeScalars.append(scalar)
            }
        } + "\""
    }
}
