import Text

/// A request as a program for Python's requests.
struct PythonCall {
    private let request: RequestToRepeat
    /// The masked secrets, which the program reads from the environment.
    private(set) var variables: ShellVariables?

    init(_ request: RequestToRepeat) {
        self.request = request
        variables = request.variables
    }

    mutating func text() -> String {
        var (comments, call, skipsFields) = parts()
        let meanings = variables?.meanings ?? []
        for (name, meaning) in meanings { comments += "# set \(name) to the \(meaning)\n" }
        let readsVariables = !meanings.isEmpty || request.heldBody != nil
        let imports = PythonCall.imports(readsVariables: readsVariables, skipsFields: skipsFields)
        return "\(comments)\(imports)\n" + call + PythonCall.printing("response.status_code, response.text")
    }

    /// A line that prints values.
    static func printing(_ values: String) -> String { "print" + "(\(values))\n" }

    static func imports(readsVariables: Bool, skipsFields: Bool) -> String {
        (readsVariables ? "import os\n" : "") + "import requests\n"
            + (skipsFields ? "from urllib3.util import SKIP_HEADER\n" : "")
    }

    /// What is not the same, the statements that send the request, and whether they need `SKIP_HEADER`.
    mutating func parts() -> (comments: String, call: String, skipsFields: Bool) {
        let fields = request.joinedFields
        var comments = request.comments("#")
        if fields.count < request.fields.count {
            comments += "# header lines of one name are joined, as requests sends one\n"
        }
        if changesURL { comments += "# requests writes some characters of this URL in its own way\n" }
        // urllib3 adds these of its own accord.
        let added = ["User-Agent", "Accept-Encoding"].filter { !request.has($0.lowercased()) }
        let url = variable(request.url)
        var lines: [String] = []
        for field in fields { lines.append("        \(variable(field.name)): \(variable(field.value)),") }
        let held = request.heldBody
        let method = variable(request.method)
        let body =
            held.map { "open(os.environ[\"\($0.variable)\"], \"rb\").read()" } ?? variable(request.body, isBytes: true)
        lines += added.map { "        \"\($0)\": SKIP_HEADER," }
        var text = held?.guards(python: literal) ?? ""
        text += "session = requests.Session()\nsession.headers.clear()\nresponse = session.request(\n"
        text += "    \(method),\n    \(url),\n"
        if !lines.isEmpty { text += "    headers={\n\(lines.joined(separator: "\n"))\n    },\n" }
        if !request.body.isEmpty { text += "    data=\(body),\n" }
        return (comments, text + "    allow_redirects=False,\n)\n", !added.isEmpty)
    }

    /// Whether requests and urllib3 send another path or query than that of the URL: they take dot segments out, and
    /// write escapes in capitals, where they are needed and nowhere else.
    private var changesURL: Bool {
        let url = Array(request.url.utf8)
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")),
            let start = url[colon...].dropFirst(3).firstIndex(of: UInt8(ascii: "/"))
        else { return false }
        let target = Array(url[start...])
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let segments = path.split(separator: UInt8(ascii: "/"))
        let hasDots = segments.contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
        // An empty query goes, too.
        if hasDots || target.dropFirst(path.count).count == 1 { return true }
        return target.indices.contains { index in
            switch target[index] {
            case UInt8(ascii: "%"): !PythonCall.isKeptEscape(target[(index + 1)...].prefix(2))
            case let byte: !PythonCall.isUnreserved(byte) && !"/!$&'()*+,;=:@?".utf8.contains(byte)
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-._~".utf8.contains(byte)
    }

    /// Whether two digits after a percent sign stay as they are.
    private static func isKeptEscape(_ digits: ArraySlice<UInt8>) -> Bool {
        guard digits.count == 2, digits.allSatisfy({ $0 &- 0x30 < 10 || $0 &- 0x41 < 6 }),
            let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return false }
        return !isUnreserved(byte)
    }

    /// A text as a literal between double quotes.
    static func literal(_ text: String) -> String {
        text.quoted { scalar in
            let isShort = scalar.value < 0x10000
            return "\\\(isShort ? "u" : "U")\(scalar.value.padded(to: isShort ? 4 : 8, radix: 16))"
        }
    }

    private mutating func variable(_ text: String) -> String { joined(pieces(Array(text.utf8)), isBytes: false) }

    private mutating func variable(_ value: [UInt8], isBytes: Bool = false) -> String {
        joined(pieces(value), isBytes: isBytes || !value.allSatisfy { $0 < 0x80 })
    }

    private mutating func pieces(_ value: [UInt8]) -> [ShellVariables.Piece] {
        variables?.pieces(of: value) ?? [.text(value)]
    }

    /// A text with what it reads from the environment.
    private func joined(_ pieces: [ShellVariables.Piece], isBytes: Bool) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let value): isBytes ? bytes(value) : literal(String(decoding: value, as: UTF8.self))
            case .variable(let name):
                isBytes ? "os.fsencode(os.environ[\"\(name)\"])" : "os.environ[\"\(name)\"]"
            }
        }.joined(separator: " + ")
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
