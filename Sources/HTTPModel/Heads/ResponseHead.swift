package import NIOCore

package struct ResponseHead: MessageHead {
    private var reasonRun: FieldSection.Run
    /// For HTTP/2, the version of the connection.
    package var version: HTTPVersion { didSet { fields.revision &+= 1 } }
    /// 100 to 999 (RFC 9110 §15).
    package var status: Int { didSet { fields.revision &+= 1 } }
    package var fields: FieldSection

    /// `received` covers the whole head, with the field lines added; `reason` is a range of its bytes and may be empty.
    package init(received: FieldSection, status: Int, reason: Range<Int>, version: HTTPVersion) {
        fields = received
        reasonRun = .init(reason)
        self.status = status
        self.version = version
    }

    package init(status: Int, reason: String? = nil, version: HTTPVersion = .http11, fields: [(String, String)] = []) {
        var section = FieldSection()
        reasonRun = section.store((reason ?? ResponseHead.standardReason(status)).utf8)
        for (name, value) in fields { section.append(name, value) }
        self.fields = section
        self.status = status
        self.version = version
        self.fields.revision &+= 1
    }

    /// RFC 9112 §4.
    package var reason: String {
        get { fields.text(reasonRun) }
        set {
            reasonRun = fields.store(newValue.utf8)
            fields.revision &+= 1
        }
    }

    package var isInformational: Bool { (100..<200).contains(status) }

    package func write(into output: inout ByteBuffer) {
        output.writeString(version.description)
        output.writeInteger(UInt8(ascii: " "))
        // RFC 9112 §4 requires three digits; HTTP/2 may have passed fewer.
        if status < 100 { output.writeStaticString(status < 10 ? "00" : "0") }
        output.writeString(String(status))
        output.writeInteger(UInt8(ascii: " "))
        output.writeBytes(fields.view(reasonRun))
        output.writeStaticString("\r\n")
        fields.write(into: &output)
        output.writeStaticString("\r\n")
    }

    /// By RFC 9110 §15; may be empty.
    package static func standardReason(_ status: Int) -> String { reasons[status] ?? "" }

    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        418: "I'm a teapot", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
        507: "Insufficient Storage", 508: "Loop Detected", 511: "Network Authentication Required",
    ]
}
