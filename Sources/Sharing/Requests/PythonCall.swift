import Text

/// A request as a program for Python's requests.
struct PythonCall {
    private let request: RequestToRepeat

    init(_ request: RequestToRepeat) { self.request = request }

    var text: String {
        let fields = request.joinedFields
        var comments = request.comments("#")
        if fields.count < request.fields.count {
            comments += "# header lines of one name are joined, as requests sends one\n"
        }
        // urllib3 adds these of its own accord.
        let added = ["User-Agent", "Accept-Encoding"].filter { !request.has($0.lowercased()) }
        var lines = fields.map { "        \(literal($0.name)): \(literal($0.value))," }
        lines += added.map { "        \"\($0)\": SKIP_HEADER," }
        var text = "\(comments)import requests\n"
        if !added.isEmpty { text += "from urllib3.util import SKIP_HEADER\n" }
        text += "\nsession = requests.Session()\nsession.headers.clear()\nresponse = session.request(\n"
        text += "    \(literal(request.method)),\n    \(literal(request.url)),\n"
        if !lines.isEmpty { text += "    headers={\n\(lines.joined(separator: "\n"))\n    },\n" }
        if !request.body.isEmpty { text += "    data=\(bytes(request.body)),\n" }
        return text + "    allow_redirects=False,\n)\nprint(response.status_code, response.text)\n"
    }

    private func literal(_ text: String) -> String {
        text.quoted { scalar in
            let isShort = scalar.value < 0x10000
            return "\\\(isShort ? "u" : "U")\(scalar.value.padded(to: isShort ? 4 : 8, radix: 16))"
        }
    }

    private func literal(_ value: [UInt8]) -> String {
        value.allSatisfy { $0 < 0x80 } ? literal(String(decoding: value, as: UTF8.self)) : bytes(value)
    }

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
