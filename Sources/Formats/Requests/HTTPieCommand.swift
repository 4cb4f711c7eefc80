import Masking
import NIOCore

struct HTTPieCommand {
    /// Longer words are put in quotes, because only words in quotes can have several lines.
    private static let longestUnquoted = 1_000

    private let request: RequestToRepeat

    /// Throws ``CurlError`` if HTTPie would take the method for a URL, or a header's name for something different.
    init(_ request: RequestToRepeat) throws(CurlError) {
        guard !request.method.isEmpty, request.method.utf8.allSatisfy({ ($0 | 0x20) &- 0x61 < 26 }) else {
            throw CurlError(description: "HTTPie cannot send the method \(request.method): it takes letters only")
        }
        try request.checkNames(for: "HTTPie")
        self.request = request
    }

    /// The command; a body that no argument can contain is piped into it, or read from a file.
    func text(_ files: (any BodyFiles)?) throws -> String {
        var before = (request.remarks + remarks).map(ShellWord.comment).joined()
        var words: [[UInt8]] = []
        // Without `--ignore-netrc`, HTTPie would send a password from ~/.netrc.
        let program = ["http", "--path-as-is", "--ignore-netrc"].map { Array($0.utf8) }
        if !request.hasBody {
            words = program + [Array("--ignore-stdin".utf8)]
        } else if request.body.count <= CurlBody.longestWritten, ShellWord.isPlainText(request.body),
            let word = ShellWord.quoted(request.body)
        {
            words = program + [Array("--ignore-stdin".utf8), Array("--raw=".utf8) + word]
        } else {
            let body = MarkedText.plain(request.body)
            let printing = ShellWord.printing(body)
            if let files, printing.joined().count > CurlBody.longestWritten {
                let path = try files.write("exchange-\(request.number)-body.bin") { try $0(ByteBuffer(bytes: body)) }
                words = program + [Array("<".utf8) + (ShellWord.quoted(path.utf8) ?? [])]
                if body != request.body {
                    before += ShellWord.comment("in \(path) secrets are masked; put them in where it says sluice-…")
                }
            } else {
                words = printing + [[UInt8(ascii: "|")]] + program
            }
        }
        // A header whose name begins with a hyphen would be an option.
        let mayBeOption = request.fields.contains { $0.name.hasPrefix("-") || Self.beginsWithVariable($0.name.utf8) }
        if mayBeOption { words.append(Array("--".utf8)) }
        let hasLines = words.contains { $0.contains(0x0A) }
        try words += [word(request.method.utf8), word(request.url.utf8, hasLines)]
        for field in request.fields { try words.append(word(item(field.name, field.value), hasLines)) }
        // HTTPie adds these fields if they are missing; `Name:` prevents this.
        var added = ["User-Agent", "Accept-Encoding", "Accept"]
        if request.hasBody { added.append("Content-Type") }
        for name in added where !request.has(name.lowercased()) { try words.append(word("\(name):".utf8)) }
        return before + String(decoding: ShellWord.command(words), as: UTF8.self)
    }

    private var remarks: [String] {
        func names(_ isOdd: ([UInt8]) -> Bool) -> String? {
            let names = request.fields.filter { isOdd($0.value) }.map(\.name)
            return names.isEmpty ? nil : names.joined(separator: ", ")
        }
        let unsent = names { String(validating: $0, as: UTF8.self) == nil }
        let escaped = names { value in
            zip(value, value.dropFirst()).contains { $0 == UInt8(ascii: "\\") && ":;=@".utf8.contains($1) }
        }
        let blank = names { value in
            let text = String(decoding: value, as: UTF8.self).unicodeScalars
            return [text.first, text.last].contains { $0.map { !$0.isASCII && $0.properties.isWhitespace } ?? false }
        }
        let isURLChanged = request.isURLChanged(keepsPath: true)
        return [
            unsent.map { "HTTPie cannot send the value of \($0), which is not UTF-8" },
            escaped.map { "HTTPie may leave out a backslash of the value of \($0)" },
            blank.map { "HTTPie leaves out white space at the ends of the value of \($0)" },
            isURLChanged ? "HTTPie writes some characters of this URL in its own way" : nil,
        ].compactMap(\.self)
    }

    /// `Name:value`, or `Name;` for an empty value. HTTPie removes a space before a value; the space is necessary if
    /// the value begins like a different kind of item, or with a variable, whose value may begin like that.
    private func item(_ name: String, _ value: [UInt8]) -> [UInt8] {
        guard let first = value.first else { return Array("\(name);".utf8) }
        let isOther = "=@:".utf8.contains(first) || Self.beginsWithVariable(value)
        return Array("\(name):".utf8) + (isOther ? [0x20] : []) + value
    }

    private static func beginsWithVariable(_ bytes: some Collection<UInt8>) -> Bool {
        MarkedText.pieces(of: Array(bytes))[0].isVariable
    }

    private func word(_ bytes: some Collection<UInt8>, _ followsLines: Bool = false) throws -> [UInt8] {
        let isPlain = bytes.allSatisfy { $0.isLetterOrDigit || "-_./:=@%+,".utf8.contains($0) }
        let isShort = bytes.count <= HTTPieCommand.longestUnquoted
        let hasVariable = MarkedText.pieces(of: Array(bytes)).contains(where: \.isVariable)
        if isPlain, isShort, !bytes.isEmpty, !hasVariable { return Array(bytes) }
        guard let word = ShellWord.quoted(bytes, followsLines: followsLines) else {
            let reason = "The request has a NUL, or more hidden characters than a command line can carry."
            throw CurlError(description: reason)
        }
        return word
    }
}
