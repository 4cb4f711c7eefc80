import HTTPModel
import NIOCore
import Text

/// A request as an HTTPie command.
struct HTTPieCommand {
    private let request: RequestToRepeat
    /// The masked secrets, for which the command has variables of the shell.
    private(set) var variables: ShellVariables?

    /// Throws ``CurlError`` where HTTPie would take the method for a URL.
    init(_ request: RequestToRepeat) throws(CurlError) {
        guard !request.method.isEmpty, request.method.utf8.allSatisfy({ ($0 | 0x20) &- 0x61 < 26 }) else {
            throw CurlError(description: "HTTPie cannot send the method \(request.method): it takes letters only")
        }
        try request.checkNames(for: "HTTPie")
        self.request = request
        variables = request.variables
    }

    /// The command; a body that no argument can carry is piped into it, or read from a file.
    mutating func text(_ files: (any BodyFiles)?) throws -> String {
        var before = Array((request.remarks + remarks).map(ShellWord.comment).joined().utf8)
        var words = ["http", "--path-as-is"].map { Array($0.utf8) }
        if !request.hasBody {
            words.append(Array("--ignore-stdin".utf8))
        } else if let held = request.heldBody {
            words.append(Array("<\"\(held.path)\"".utf8))
        } else if request.body.count <= CurlBody.longestWritten, ShellWord.isPlainText(request.body),
            let word = ShellWord.quoted(request.body, keepsTabs: true)
        {
            words += [Array("--ignore-stdin".utf8), Array("--raw=".utf8) + (variables?.inWord(word) ?? word)]
        } else {
            let printing = ShellWord.printing(request.body)
            if let files, printing.count > CurlBody.longestWritten {
                let path = try files.write("exchange-\(request.number)-body.bin") {
                    try $0(ByteBuffer(bytes: request.body))
                }
                words.append(Array("<".utf8) + (ShellWord.quoted(path.utf8) ?? []))
                if variables?.areNeeded(in: request.body) ?? false {
                    before +=
                        ShellWord.comment("in \(path) secrets are masked; put them in where it says sluice-…").utf8
                    before += CurlBody.guards(path)
                }
            } else {
                before += (variables?.inPrinting(printing) ?? printing) + Array(" | ".utf8)
            }
        }
        // A header whose name begins with a hyphen would be an option.
        if request.fields.contains(where: { $0.name.hasPrefix("-") }) { words.append(Array("--".utf8)) }
        try words += [word(request.method.utf8), word(request.url.utf8)]
        for field in request.fields { try words.append(word(item(field.name, field.value))) }
        // HTTPie adds these where there are none; a colon alone takes them away.
        var added = ["User-Agent", "Accept-Encoding", "Accept"]
        if request.hasBody { added.append("Content-Type") }
        for name in added where !request.has(name.lowercased()) { try words.append(word("\(name):".utf8)) }
        return String(decoding: before + words.joined(separator: [0x20]), as: UTF8.self)
    }

    /// What HTTPie does not send as it was, in sentences.
    private var remarks: [String] {
        var remarks: [String] = []
        func names(_ isOdd: ([UInt8]) -> Bool) -> String {
            request.fields.filter { isOdd($0.value) }.map(\.name).joined(separator: ", ")
        }
        let unsent = names { String(validating: $0, as: UTF8.self) == nil }
        if !unsent.isEmpty { remarks.append("HTTPie cannot send the value of \(unsent), which is not UTF-8") }
        let escaped = names { value in
            zip(value, value.dropFirst()).contains { $0 == UInt8(ascii: "\\") && ":;=@".utf8.contains($1) }
        }
        if !escaped.isEmpty { remarks.append("HTTPie may leave out a backslash of the value of \(escaped)") }
        if request.isURLChanged(keepsPath: true) {
            remarks.append("HTTPie writes some characters of this URL in its own way")
        }
        return remarks
    }

    /// `Name:value`; an empty value is written with a semicolon. A value that begins like another kind of item is escaped.
    private func item(_ name: String, _ value: [UInt8]) -> [UInt8] {
        guard let first = value.first else { return Array("\(name);".utf8) }
        let isOther = "=@:".utf8.contains(first)
        return Array("\(name):".utf8) + (isOther ? [UInt8(ascii: "\\")] : []) + value
    }

    private mutating func word(_ bytes: some Collection<UInt8>) throws -> [UInt8] {
        let isPlain = bytes.allSatisfy { byte in
            byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-_./:=@%+,".utf8.contains(byte)
        }
        let needsVariable = variables?.areNeeded(in: Array(bytes)) ?? false
        if isPlain, !bytes.isEmpty, !needsVariable { return Array(bytes) }
        guard let word = ShellWord.quoted(bytes, followsLines: request.body.contains(0x0A)) else {
            throw CurlError(description: "The request has a NUL that no command line can carry.")
        }
        return variables?.inWord(word) ?? word
    }
}
