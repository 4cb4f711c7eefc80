import Text

/// A media type with its parameters (RFC 9110 §8.3.1).
package struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// The type in lower case, for example `text`.
    package var type: String
    package var subtype: String
    /// The parameters in order: names in lower case, values without their quotes.
    package var parameters: [FormField]

    package init(type: String, subtype: String) {
        self.type = type
        self.subtype = subtype
        parameters = []
    }

    /// Reads a `Content-Type` value; `nil` if it does not begin with `type/subtype`. Wrong parameters are left out.
    package init?(_ text: some StringProtocol) {
        var scanner = ParameterScanner(String(text))
        let essence = scanner.upToSemicolon().lowercased()
        guard let slash = essence.firstIndex(of: "/") else { return nil }
        type = String(essence[..<slash])
        subtype = String(essence[essence.index(after: slash)...])
        parameters = []
        guard type.isToken, subtype.isToken else { return nil }
        while let (name, value) = scanner.nextParameter() { parameters.append(FormField(name: name, value: value)) }
    }

    /// The type and subtype without parameters, for example `text/html`.
    package var essence: String { "\(type)/\(subtype)" }

    /// The first value; the name is not case-sensitive.
    package func parameter(_ name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// RFC 8259, RFC 6839 §3.1.
    package var isJSON: Bool { subtype == "json" || subtype.hasSuffix("+json") }
    /// RFC 7303.
    package var isXML: Bool { subtype == "xml" || subtype.hasSuffix("+xml") }

    package var isTextual: Bool {
        type == "text" || isJSON || isXML || MediaType.textualEssences.contains(essence)
    }

    /// The media type as a field value, parameters included; values are quoted where they must be.
    package var description: String {
        parameters.reduce(into: essence) { text, parameter in
            let quoted = "\"\(parameter.value.replacing(["\"": "\\\"", "\\": "\\\\"]))\""
            text += "; \(parameter.name)=" + (parameter.value.isToken ? parameter.value : quoted)
        }
    }

    private static let textualEssences: Set<String> = [
        "application/javascript", "application/ecmascript", "application/x-javascript", "application/graphql",
        "application/x-www-form-urlencoded", "application/x-ndjson", "application/ndjson", "application/jsonl",
        "application/json-seq", "application/yaml",
        "application/x-yaml", "application/toml", "application/sql", "application/x-sh", "application/xhtml",
        "application/pem-certificate-chain", "application/x-pem-file", "application/rtf",
        "application/vnd.apple.mpegurl", "application/x-mpegurl", "message/rfc822", "message/http",
    ]
}

/// Reads `value; name=value; name="value"`, the syntax of media types and `Content-Disposition`.
package struct ParameterScanner {
    private let text: String.UTF8View
    private var position: String.Index

    package init(_ text: String) {
        self.text = text.utf8
        position = text.startIndex
    }

    /// The text before the first semicolon, trimmed.
    mutating func upToSemicolon() -> String {
        let end = text[position...].firstIndex(of: UInt8(ascii: ";")) ?? text.endIndex
        defer { position = end }
        return String(Substring(text[position..<end].trimmingASCIIWhitespace))
    }

    /// The name in lower case, the value unquoted.
    package mutating func nextParameter() -> (name: String, value: String)? {
        while position < text.endIndex {
            if text[position] == UInt8(ascii: ";") { position = text.index(after: position) }
            let mark = text[position...].firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
            let end = mark ?? text.endIndex
            let name = Substring(text[position..<end]).trimmingASCIIWhitespace.lowercased()
            position = end
            guard end < text.endIndex, text[end] == UInt8(ascii: "=") else { continue }
            position = text.index(after: end)
            let value = readValue()
            if !name.isEmpty { return (name, value) }
        }
        return nil
    }

    private mutating func readValue() -> String {
        while position < text.endIndex, text[position] == 0x20 || text[position] == 0x09 {
            position = text.index(after: position)
        }
        guard position < text.endIndex, text[position] == UInt8(ascii: "\"") else { return upToSemicolon() }
        position = text.index(after: position)
        var bytes: [UInt8] = []
        while position < text.endIndex {
            var byte = text[position]
            position = text.index(after: position)
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), position < text.endIndex {
                byte = text[position]
                position = text.index(after: position)
            }
            bytes.append(byte)
        }
        _ = upToSemicolon()
        return String(decoding: bytes, as: UTF8.self)
    }
}
