import HTTPModel
import Text

/// The value of `--form NAME=VALUE`: text, `@FILE` to upload, `<FILE` for its text; then `;type=`, `;filename=`.
struct CurlFormValue {
    var bytes: [UInt8] = []
    var path: String?
    var type: String?
    var fileName: String?

    init(_ value: [UInt8], isText: Bool) {
        bytes = value
        guard !isText else { return }
        let mark = value.first
        let isFile = mark == UInt8(ascii: "@") || mark == UInt8(ascii: "<")
        var rest = isFile ? value.dropFirst() : value[...]
        bytes = CurlFormValue.word(&rest)
        while rest.popFirst() != nil {
            rest = rest.drop { $0 == 0x20 }
            let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            rest = rest.dropFirst(name.count)
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest.removeFirst()
            let text = String(fieldBytes: CurlFormValue.word(&rest))
            switch String(fieldBytes: name) {
            case "type": type = text
            case "filename": fileName = text
            default: break
            }
        }
        guard isFile else { return }
        let file = String(fieldBytes: bytes)
        path = file
        guard mark == UInt8(ascii: "@") else { return }
        fileName = fileName ?? file.split(separator: "/").last.map(String.init) ?? file
        type = type ?? CurlFormValue.type(of: file)
    }

    /// The bytes up to a `;`, or between quotes.
    private static func word(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var word: [UInt8] = []
        if rest.first == UInt8(ascii: "\"") {
            rest.removeFirst()
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                let isEscape = byte == UInt8(ascii: "\\") && rest.first.map { $0 == 0x22 || $0 == 0x5C } == true
                word.append(isEscape ? rest.removeFirst() : byte)
            }
            rest = rest.drop { $0 != UInt8(ascii: ";") }
        } else {
            word = Array(rest.prefix { $0 != UInt8(ascii: ";") })
            rest = rest.dropFirst(word.count)
        }
        return word
    }

    private static func type(of file: String) -> String {
        let types = [
            "gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml",
            "txt": "text/plain", "htm": "text/html", "html": "text/html", "pdf": "application/pdf",
            "xml": "application/xml",
        ]
        return types[file.split(separator: ".").last?.lowercased() ?? ""] ?? "application/octet-stream"
    }
}

extension String {
    /// A name or a type in a form's part (WHATWG HTML §4.10.21.8).
    var inFormQuotes: String { replacing(["\"": "%22", "\r": "%0D", "\n": "%0A"]) }
}
