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
        for (name, meaning) in meanings { comments += PythonCall.comment("set \(name) to the \(meaning)") }
        let readsVariables = !meanings.isEmpty || request.heldBody != nil
        let imports = PythonCall.imports(readsVariables: readsVariables, skipsFields: skipsFields)
        // A comment in the first two lines could name the encoding of the program (PEP 263), unless there is a statement.
        return "\(imports)\n\(comments)" + call + PythonCall.printing("response.status_code, response.text")
    }

    /// A comment line; whatever could end it is made visible.
    static func comment(_ text: String) -> String { "# \(VisibleText.of(text))\n" }

    /// A line that prints values.
    static func printing(_ values: String) -> String { "print" + "(\(values))\n" }

    static func imports(readsVariables: Bool, skipsFields: Bool) -> String {
        (readsVariables ? "import os\n" : "") + "import requests\n"
            + (skipsFields ? "from urllib3.util import SKIP_HEADER\n" : "")
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
    mutating func parts(streams: Bool = false) -> (comments: String, call: String, skipsFields: Bool) {
        let fields = request.joinedFields
        var remarks = request.remarks
        if fields.count < request.fields.count {
            remarks.append("header lines of one name are joined, as requests sends one")
        }
        if request.isURLChanged() { remarks.append("requests writes some characters of this URL in its own way") }
        let comments = remarks.map(PythonCall.comment).joined()
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
        // Without an authentication requests would send a password that ~/.netrc has for the host.
        text += "session = requests.Session()\nsession.headers.clear()\nsession.auth = lambda request: request\n"
        text += "response = session.request(\n"
        text += "    \(method),\n    \(url),\n"
        if !lines.isEmpty { text += "    headers={\n\(lines.joined(separator: "\n"))\n    },\n" }
        if request.hasBody { text += "    data=\(body),\n" }
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
