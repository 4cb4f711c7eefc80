import Text

struct PythonCall {
    let request: RequestToRepeat

    func text() -> String {
        let (comments, call, skipsFields) = parts()
        let imports = PythonCall.imports(skipsFields: skipsFields)
        // A comment in the first two lines could name an encoding (PEP 263), unless a statement comes before it.
        return "\(imports)\n\(comments)" + call + PythonCall.printing("response.status_code, response.text")
    }

    static func comment(_ text: String) -> String { "# \(VisibleText.of(text))\n" }

    private static func printing(_ values: String) -> String { "print" + "(\(values))\n" }

    static func imports(skipsFields: Bool) -> String {
        "import requests\n" + (skipsFields ? "from urllib3.util import SKIP_HEADER\n" : "")
    }

    /// The statements for one of several requests, which report an error and continue.
    static func attempt(_ call: String, _ number: String, _ title: String) -> String {
        let steps = call + printing("\(literal(number)), response.status_code") + "response.close()\n"
        let lines = steps.split(separator: "\n").map { "    \($0)\n" }.joined()
        let report = printing("\(literal("\(number) \(title)")), error, file=sys.stderr")
        return "try:\n\(lines)except Exception as error:\n    \(report)    failed = True\n"
    }

    /// Comments, statements, and whether they need `SKIP_HEADER`. If it `streams`, the response's body is not read.
    func parts(streams: Bool = false) -> (comments: String, call: String, skipsFields: Bool) {
        let remarks = [
            request.hasRepeatedNames ? "header lines of one name are joined, as requests sends one" : nil,
            request.isURLChanged() ? "requests writes some characters of this URL in its own way" : nil,
        ]
        let comments = (request.remarks + remarks.compactMap(\.self)).map(PythonCall.comment).joined()
        let added = ["User-Agent", "Accept-Encoding"].filter { !request.has($0.lowercased()) }
        let literal = PythonCall.literal
        var lines = request.joinedFields.map { "        \(literal($0.name)): \(PythonCall.value($0.value)),\n" }
        lines += added.map { "        \"\($0)\": SKIP_HEADER,\n" }
        // Without `session.auth`, requests would send a password from ~/.netrc.
        var text = "session = requests.Session()\nsession.headers.clear()\nsession.auth = lambda request: request\n"
        text += "response = session.request(\n    \(literal(request.method)),\n    \(literal(request.url)),\n"
        if !lines.isEmpty { text += "    headers={\n\(lines.joined())    },\n" }
        if request.hasBody { text += "    data=\(PythonCall.bytes(request.body)),\n" }
        if streams { text += "    stream=True,\n" }
        return (comments, text + "    allow_redirects=False,\n)\n", !added.isEmpty)
    }

    private static func literal(_ text: String) -> String {
        text.quoted { scalar in
            let isShort = scalar.value < 0x10000
            return "\\\(isShort ? "u" : "U")\(scalar.value.padded(to: isShort ? 4 : 8, radix: 16))"
        }
    }

    private static func value(_ value: [UInt8]) -> String {
        value.allSatisfy { $0 < 0x80 } ? literal(String(decoding: value, as: UTF8.self)) : bytes(value)
    }

    /// UTF-8 text that is not ASCII is encoded; in other bytes, those that are not ASCII are in hexadecimal.
    private static func bytes(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !bytes.allSatisfy({ $0 < 0x80 }) {
            return "\(literal(text)).encode()"
        }
        func escape(_ byte: UInt8) -> String { "\\x\(byte.padded(to: 2, radix: 16))" }
        return bytes.reduce(into: "b\"") { literal, byte in
            if byte < 0x80 {
                literal += String(Unicode.Scalar(byte)).quoted { _ in escape(byte) }.dropFirst().dropLast()
            } else {
                literal += escape(byte)
            }
        } + "\""
    }
}
