import Content
import Description
import HTTPModel
import ProxyServer
import Rules

extension ComparedRequest {
    struct Matching: Sendable {
        let query: ComparisonRules
        let body: ComparisonRules
        let headers: [FieldName]
        let ignored: Set<ReplayRules.Part>

        init(_ rules: ReplayRules = ReplayRules()) {
            query = ComparisonRules(ignoring: rules.ignoredQuery, isExact: true)
            body = ComparisonRules(ignoring: rules.ignoredBody, isExact: true)
            headers = rules.headers.map { FieldName($0) }
            ignored = rules.ignored
        }
    }

    init(_ method: String, _ url: RequestURL, _ fields: FieldSection, _ body: ComparedBody, _ rules: Matching) {
        self.init()
        self.method = method
        if !rules.ignored.contains(.scheme) { scheme = ComparedRequest.normalized(scheme: url.scheme) }
        if !rules.ignored.contains(.host) { host = url.host }
        if !rules.ignored.contains(.port) { port = String(url.port) }
        path = ComparedRequest.normalized(path: url.path)
        if let text = url.query, !text.isEmpty {
            query = rules.query.kept(of: FormFields.parse(Array(text.utf8), limit: .max), .query)
        }
        headers = ComparedRequest.headers(rules.headers, of: fields)
        if body.size > 0 { self.body = BodyMeaning(body, fields).without(rules.body) }
    }

    static func headers(_ names: [FieldName], of fields: FieldSection) -> [FormField] {
        names.filter { fields.contains($0) }.map { name in
            FormField(name: name.lowercased, value: fields.values(of: name).joined(separator: ", "))
        }
    }

    /// A WebSocket begins as HTTP.
    static func normalized(scheme: String) -> String {
        switch scheme {
        case "ws": "http"
        case "wss": "https"
        default: scheme
        }
    }

    /// With normalised percent-encoding (RFC 3986 §6.2.2).
    static func normalized(path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return path }
        var result: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            guard byte == UInt8(ascii: "%"), digits.count == 2, let high = digits.first?.hexadecimalValue,
                let low = digits.last?.hexadecimalValue
            else {
                result.append(byte)
                continue
            }
            rest = rest.dropFirst(2)
            let value = high << 4 | low
            let isLetter = (value | 0x20) &- 0x61 < 26 || value &- 0x30 < 10
            if isLetter || "-._~".utf8.contains(value) {
                result.append(value)
            } else {
                result.append(UInt8(ascii: "%"))
                result += digits.map { $0 &- 0x61 < 6 ? $0 - 0x20 : $0 }
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension BodyMeaning {
    /// Compares the decoded body. If decoding fails or the body is too long, compares its bytes.
    fileprivate init(_ body: ComparedBody, _ fields: FieldSection) {
        guard let raw = body.bytes else {
            self = .long(body.size, body.fingerprint)
            return
        }
        let codings = ContentCoding.list(fields.values(of: .contentEncoding).joined(separator: ","))
        let result = ContentDecoder.decode(raw, codings: codings, limit: Int(ComparedBody.longest))
        let isDecoded = codings.isEmpty || result.problem == nil
        let type = isDecoded ? fields.value(of: .contentType).flatMap { MediaType($0) } : nil
        self.init(LoadedBody(bytes: isDecoded ? result.bytes : raw, mediaType: type))
    }
}
