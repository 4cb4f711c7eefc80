import Text

/// A request as a program for Python's requests.
struct PythonCall {
    private let request: RequestToRepeat

    init(_ request: RequestToRepeat) { self.request = request }

    func text() -> String {
        let (comments, call, skipsFields) = parts()
        let imports = PythonCall.imports(skipsFields: skipsFields)
        // A comment in the first two lines could name the encoding of the program (PEP 263), unless there is a statement.
        return "\(imports)\n\(comments)" + call + PythonCall.printing("response.status_code, response.text")
    }

    /// A comment line; whatever could end it is made visible.
    static func comment(_ text: String) -> String { "# \(VisibleText.of(text))\n" }

    /// A line that prints values.
    static func printing(_ values: String) -> String { "print" + "(\(values))\n" }

    static func imports(skipsFields: Bool) -> String {
        "import requests\n" + (skipsFields ? "from urllib3.util import SKIP_HEADER\n" : "")
    }

    /// The statements of a program for one of several requests, which goes on after an error, and says so at its end.
    static func attempt(_ call: String, _ number: String, _ title: String) -> String {
        let steps = call + printing("\(literal(number)), response.status_code") + "response.close()\n"
        let lines = steps.split(separator: "\n").map { "    \($0)\n" }.joined()
        let report = printing("\(literal("\(number) \(title)")), error, file=sys.stderr")
        return "try:\n\(lines)except Exception as error:\n    \(report)    failed = True\n"
    }

    /// What is not the same, the statements that send the request, and whether they need `SKIP_HEADER`.
    /// Where it `streams`, a body is only read when it is asked for.
    func parts(streams: Bool = false) -> (comments: String, call: String, skipsFields: Bool) {
        let fields = request.joinedFields
        var remarks = request.remarks
        if fields.count < request.fields.count {
            remarks.append("header lines of one name are joined, as requests sends one")
        }
        if request.isURLChanged() { remarks.append("requests writes some characters of this URL in its own way") }
        let comments = remarks.map(PythonCall.comment).joined()
        // urllib3 adds these of its own accord.
        let added = ["User-Agent", "Accept-Encoding"].filter { !request.has($0.lowercased()) }
        let url = literal(request.url)
        var lines: [String] = []
        for field in fields { lines.append("        \(literal(field.name)): \(value(field.value)),") }
        lines += added.map { "        \"\($0)\": SKIP_HEADER," }
        // Without an authentication requests would send a password that ~/.netrc has for the host.
        var text = "session = requests.Session()\nsession.headers.clear()\nsession.auth = lambda request: request\n"
        text += "response = session.request(\n"
        text += "    \(literal(request.method)),\n    \(url),\n"
        if !lines.isEmpty { text += "    headers={\n\(lines.joined(separator: "\n"))\n    },\n" }
        if request.hasBody { text += "    data=\(bytes(request.body)),\n" }
        if streams { text += "    stream=True,\n" }
        return (comments, text + "    allow_redirects=False,\n)\n", !added.isEmpty)
    }

    /// A text as a literal between double quotes.
    static func literal(_ text: String) -> String {
        text.quoted { scalar in
            let isShort = scalar.value < 0x10000
            return "\\\(isShort ? "u" : "U")\(scalar.value.padded(to: isShort ? 4 : 8, radix: 16))"
        }
    }

    private func value(_ value: [UInt8]) -> String {
        value.allSatisfy { $0 < 0x80 } ? literal(String(decoding: value, as: UTF8.self)) : bytes(value)
    }

    private func literal(_ text: String) -> String { PythonCall.literal(text) }

    /// ASCII as it is, other bytes in hexadecimal.
    private func bytes(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !bytes.allSatisfy({ $0 < 0x80 }) {
            return "\(literal(text)).encode()"
        }
        let ascii = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        var literal = "b\""
        for scalar in ascii.unicodeScalars {
            if scalar.isASCII {
                literal += String(scalar).quoted { "\\x\($0.value.padded(to: 2, radix: 16))" }.dropFirst().dropLast()
            } else {
                literal += "\\x\(scalar.value.padded(to: 2, radix: 16))"
            }
        }
        return literal + "\""
    }
}
