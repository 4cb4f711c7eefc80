import Content
import Foundation
import HTTPModel
import Text

/// Reads a cURL command in the forms of browsers, Charles, Postman and Sluice. Runs nothing and reads no file.
package struct CurlCommandReader {
    private var request = CurlRequest(method: "", url: "", version: nil, fields: [], pieces: [], remarks: [])
    private var data: [CurlRequest.Piece] = []
    private var parts: [(name: String, isText: Bool, value: [UInt8])] = []
    private var query: [[UInt8]] = []
    private var cookies: [String] = []
    private var method: String?
    private var upload: String?
    private var target: [UInt8]?
    /// Whether curl sends the credentials of `--user` only after a challenge or as a signature, not as `Basic`.
    private var isOtherScheme = false
    /// Long names of options that change the meaning of other options.
    private var switches: Set<String> = []
    /// Whether `--next` began a second request, which is left out.
    private var isOver = false
    /// Header lines that come from options such as `--user`.
    private var made: [CurlRequest.Line] = []
    /// Names of parts that are not imported, at most `mostUnread`.
    private var unread: [String] = []
    private var hasMoreUnread = false
    /// Standard input: the output of a `printf` before a `|`.
    private let input: [UInt8]?

    private static let mostUnread = 20

    private init(input: [UInt8]?) { self.input = input }

    package static func isCommand(_ text: String) -> Bool {
        guard let command = try? command(Array(text.utf8)) else {
            let start = text.trimmingPrefix { $0.isWhitespace }
            return start.hasPrefix("curl ") || start.hasPrefix("$ curl ")
        }
        return arguments(command.words) != nil
    }

    /// Reads the first command. Throws `CurlReadError` if it is not curl, has no URL, or has an open quote.
    package static func read(_ text: String) throws(CurlReadError) -> CurlRequest { try read(bytes: Array(text.utf8)) }

    /// Reads all cURL commands of a text; an unreadable command does not affect the others. Throws errors of `body`.
    static func forEach(in bytes: [UInt8], _ body: (Result<CurlRequest, CurlReadError>) throws -> Void) throws {
        let isPrompt = PromptReader.isWritten(bytes)
        var place = 0
        while place < bytes.count {
            var command: ShellCommand
            do throws(CurlReadError) {
                command = try self.command(bytes, at: place, isPrompt: isPrompt)
            } catch {
                try body(.failure(error))
                place = nextCommand(in: bytes, from: max(place, error.offset))
                continue
            }
            place = max(command.end, place + 1)
            command.remarks.removeAll { $0 == ShellCommand.othersFollow }
            if arguments(command.words) != nil {
                try body(Result { () throws(CurlReadError) in try read(command) })
            } else if let other = otherClient(command.words) {
                try body(.failure(CurlReadError("\(other) is not curl")))
            }
        }
    }

    /// The offset of the next line that begins with `curl`, to continue there after an unreadable command.
    private static func nextCommand(in bytes: [UInt8], from start: Int) -> Int {
        var rest = bytes[start...]
        while let end = rest.firstIndex(of: 0x0A) {
            rest = rest[(end + 1)...]
            let line = rest.drop { $0 == 0x20 || $0 == 0x09 }
            if line.starts(with: "curl ".utf8) || line.starts(with: "$ curl ".utf8) { return rest.startIndex }
        }
        return bytes.count
    }

    /// Reads the first command from bytes, which need not be UTF-8.
    package static func read(bytes: [UInt8]) throws(CurlReadError) -> CurlRequest { try read(command(bytes)) }

    private static func read(_ command: ShellCommand) throws(CurlReadError) -> CurlRequest {
        guard let words = arguments(command.words) else {
            let first = command.words.first.map { VisibleText.of(String(fieldBytes: $0.prefix(40))) }
            let reason = first.map { "it begins with '\($0)'" } ?? "there are no words"
            throw CurlReadError("This is no cURL command: \(reason).")
        }
        var reader = CurlCommandReader(input: command.input)
        try reader.take(words)
        try reader.finish()
        for remark in command.remarks { reader.request.remarks.append("not taken over: \(remark)") }
        return reader.request
    }

    private static func command(_ bytes: [UInt8]) throws(CurlReadError) -> ShellCommand {
        try command(bytes, at: 0, isPrompt: PromptReader.isWritten(bytes))
    }

    private static func command(_ bytes: [UInt8], at place: Int, isPrompt: Bool) throws(CurlReadError) -> ShellCommand {
        isPrompt ? try PromptReader.command(bytes, from: place) : try ShellReader.command(bytes, from: place)
    }

    private static func otherClient(_ words: [[UInt8]]) -> String? {
        let name = words.first.map { String(decoding: $0, as: UTF8.self).lowercased() }
        return name.flatMap { ["wget", "http", "https", "xh", "invoke-webrequest"].contains($0) ? $0 : nil }
    }

    /// The words after `curl`, or `nil`. A prompt, variables, `sudo` or `env` may come before `curl`.
    private static func arguments(_ words: [[UInt8]]) -> ArraySlice<[UInt8]>? {
        let isBefore = { (word: [UInt8]) in
            ["$", "%", "#", ">", "sudo", "env", "command"].contains { word.elementsEqual($0.utf8) }
                || word.first.map { ($0 | 0x20) &- 0x61 < 26 || $0 == 0x5F } == true && word.contains(UInt8(ascii: "="))
        }
        let rest = words.drop(while: isBefore)
        guard let name = rest.first.map({ String(decoding: $0, as: UTF8.self).lowercased() }) else { return nil }
        let last = name.split { $0 == "/" || $0 == "\\" }.last
        return last == "curl" || last == "curl.exe" ? rest.dropFirst() : nil
    }

    // MARK: Words

    private mutating func take(_ words: ArraySlice<[UInt8]>) throws(CurlReadError) {
        var words = words
        var hasOptions = true
        while let word = words.popFirst() {
            if !hasOptions || word.first != UInt8(ascii: "-") || word.count == 1 {
                try addURL(word)
            } else if word.elementsEqual("--".utf8) {
                hasOptions = false
            } else if word.starts(with: "--".utf8) {
                let option = CurlOption(long: String(decoding: word.dropFirst(2), as: UTF8.self))
                try take(option, option.takesValue ? value(of: "--\(option.name)", &words) : [])
            } else {
                var letters = word.dropFirst()
                while let letter = letters.popFirst() {
                    guard let option = CurlOption(letter: letter) else {
                        leave("-\(VisibleText.of(String(fieldBytes: [letter])))")
                        continue
                    }
                    if !option.takesValue {
                        try take(option, [])
                    } else if letters.isEmpty {
                        try take(option, value(of: "-\(Character(Unicode.Scalar(letter)))", &words))
                    } else {
                        try take(option, Array(letters))
                        break
                    }
                }
            }
            if isOver { return }
        }
    }

    private func value(of option: String, _ words: inout ArraySlice<[UInt8]>) throws(CurlReadError) -> [UInt8] {
        guard let value = words.popFirst() else {
            throw CurlReadError("\(option) has no value after it; the command was not copied whole.")
        }
        return value
    }

    private mutating func leave(_ option: String) {
        let name = VisibleText.of(String(option.prefix(60)))
        if unread.contains(name) { return }
        if unread.count < CurlCommandReader.mostUnread { unread.append(name) } else { hasMoreUnread = true }
    }

    private mutating func take(_ option: CurlOption, _ value: [UInt8]) throws(CurlReadError) {
        let text = String(fieldBytes: value)
        switch option.name {
        case "request": method = text
        case "url": try addURL(value)
        case "header": header(value)
        case "user-agent": set("User-Agent", text)
        case "referer":
            let referer = text.hasSuffix(";auto") ? String(text.dropLast(5)) : text
            if !referer.isEmpty { set("Referer", referer) }
        case "range": set("Range", "bytes=\(text)\(text.allSatisfy(\.isNumber) ? "-" : "")")
        case "oauth2-bearer": set("Authorization", "Bearer \(text)")
        case "user":
            let user = value.contains(UInt8(ascii: ":")) ? value : value + [UInt8(ascii: ":")]
            set("Authorization", "Basic \(Data(user).base64EncodedString())")
        case "digest", "ntlm", "negotiate", "anyauth", "aws-sigv4":
            isOtherScheme = true
            leave("--\(option.name)")
        case "basic", "http0.9": break
        case "cookie":
            if text.contains("=") { cookies.append(text) } else { leave("--cookie \(text)") }
        case "compressed", "get", "globoff", "head", "path-as-is": switches.insert(option.name)
        case "data", "data-ascii": addData(value, .withoutLineBreaks)
        case "data-binary": addData(value, .asItIs)
        case "data-raw": addPiece(.bytes(value))
        case "data-urlencode": encodedData(value)
        case "json":
            switches.insert("json")
            data.append(value.first == UInt8(ascii: "@") ? piece(of: value.dropFirst(), .asItIs) : .bytes(value))
        case "form", "form-string": try form(value, isText: option.name == "form-string")
        case "url-query":
            if value.first == UInt8(ascii: "@") { return leave("--url-query \(text)") }
            query.append(value.first == UInt8(ascii: "+") ? Array(value.dropFirst()) : encoded(value))
        case "upload-file": upload = text
        case "request-target": target = value
        case "http1.0": request.version = .http10
        case "http1.1": request.version = .http11
        case "http2", "http2-prior-knowledge": request.version = .http2
        case "next":
            isOver = true
            leave("what follows --next")
        default: if !option.isSilent { leave("--\(option.name)") }
        }
    }

    private mutating func addURL(_ word: [UInt8]) throws(CurlReadError) {
        guard request.url.isEmpty else { return leave("the URL \(String(fieldBytes: word))") }
        request.url = String(fieldBytes: word)
    }

    // MARK: Fields

    private mutating func header(_ bytes: [UInt8]) {
        let end = bytes.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }
        guard bytes.first != UInt8(ascii: "@"), let end else { return leave("--header \(String(fieldBytes: bytes))") }
        let name = String(fieldBytes: bytes[..<end])
        let rest = bytes[(end + 1)...]
        let value = String(Substring(String(fieldBytes: rest)).trimmingASCIIWhitespace)
        if bytes[end] == UInt8(ascii: ";") {
            guard value.isEmpty else { return leave("--header \(String(fieldBytes: bytes))") }
            add(name, "")
        } else if value.isEmpty {
            request.removed.insert(name.lowercased())
        } else {
            add(name, value)
            if String(validating: rest, as: UTF8.self) == nil {
                let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
                let end = rest.lastIndex { !blanks.contains($0) } ?? rest.startIndex
                request.fields[request.fields.count - 1].valueBytes = Array(rest[...end].drop(while: blanks.contains))
            }
        }
    }

    private mutating func add(_ name: String, _ value: String) { request.fields.append(.init(name, value)) }

    private func has(_ name: String) -> Bool {
        let name = name.lowercased()
        return request.removed.contains(name) || request.fields.contains { $0.name.lowercased() == name }
    }

    /// A header line of the command takes precedence over an option that makes the same header.
    private mutating func addUnlessThere(_ name: String, _ value: String) {
        if !has(name) { add(name, value) }
    }

    private mutating func set(_ name: String, _ value: String) {
        made.removeAll { $0.name == name }
        if value.isEmpty { request.removed.insert(name.lowercased()) } else { made.append(.init(name, value)) }
    }

    // MARK: Data

    private mutating func addPiece(_ piece: CurlRequest.Piece) {
        if !data.isEmpty { data.append(.bytes([UInt8(ascii: "&")])) }
        data.append(piece)
    }

    private mutating func addData(_ value: [UInt8], _ use: CurlRequest.FileUse) {
        addPiece(value.first == UInt8(ascii: "@") ? piece(of: value.dropFirst(), use) : .bytes(value))
    }

    /// The content of a file, or standard input for `-`.
    private func piece(of path: some Collection<UInt8>, _ use: CurlRequest.FileUse) -> CurlRequest.Piece {
        if path.elementsEqual("-".utf8), let input { return .bytes(use.applied(to: input)) }
        return .file(path.elementsEqual("-".utf8) ? "/dev/stdin" : String(fieldBytes: path), use)
    }

    private func encoded(_ value: [UInt8]) -> [UInt8] {
        guard let equals = value.firstIndex(of: UInt8(ascii: "=")) else { return value.percentEncoded() }
        return value[..<equals] + (equals == 0 ? [] : [UInt8(ascii: "=")]) + value[(equals + 1)...].percentEncoded()
    }

    /// `--data-urlencode`: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE`, `NAME@FILE`.
    private mutating func encodedData(_ value: [UInt8]) {
        let equals = value.firstIndex(of: UInt8(ascii: "="))
        let mark = equals ?? value.firstIndex(of: UInt8(ascii: "@"))
        guard let mark, value[mark] == UInt8(ascii: "@") else { return addPiece(.bytes(encoded(value))) }
        let file = piece(of: value[(mark + 1)...], .percentEncoded)
        guard mark > 0 else { return addPiece(file) }
        addPiece(.bytes(value[..<mark] + [UInt8(ascii: "=")]))
        data.append(file)
    }

    private mutating func form(_ value: [UInt8], isText: Bool) throws(CurlReadError) {
        guard let equals = value.firstIndex(of: UInt8(ascii: "=")) else {
            let beginning = VisibleText.of(String(fieldBytes: value.prefix(40)))
            throw CurlReadError("--form needs NAME=VALUE, not '\(beginning)'.")
        }
        parts.append((String(fieldBytes: value[..<equals]), isText, Array(value[(equals + 1)...])))
    }

    /// The body of `--form` (RFC 7578).
    private mutating func multipart() {
        let boundary = "------------------------" + UInt64.random(in: 0 ... .max).padded(to: 16, radix: 16)
        var pieces: [CurlRequest.Piece] = []
        for part in parts {
            let content = CurlFormValue(part.value, isText: part.isText)
            var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name.inFormQuotes)\""
            if let name = content.fileName { head += "; filename=\"\(name.inFormQuotes)\"" }
            if let type = content.type { head += "\r\nContent-Type: \(type.inFormQuotes)" }
            pieces.append(.bytes(Array("\(head)\r\n\r\n".utf8)))
            pieces.append(content.path.map { piece(of: $0.utf8, .asItIs) } ?? .bytes(content.bytes))
            pieces.append(.bytes([0x0D, 0x0A]))
        }
        pieces.append(.bytes(Array("--\(boundary)--\r\n".utf8)))
        request.pieces = pieces
        // curl appends the boundary to a type that the command sets.
        if let index = request.fields.firstIndex(where: { $0.name.lowercased() == "content-type" }) {
            request.fields[index].value += "; boundary=\(boundary)"
        } else {
            addUnlessThere("Content-Type", "multipart/form-data; boundary=\(boundary)")
        }
    }

    private mutating func finish() throws(CurlReadError) {
        if switches.contains("compressed") { addUnlessThere("Accept-Encoding", "gzip, deflate, br, zstd") }
        if isOtherScheme { made.removeAll { $0.value.hasPrefix("Basic ") } }
        for line in made { addUnlessThere(line.name, line.value) }
        if !cookies.isEmpty { addUnlessThere("Cookie", cookies.joined(separator: "; ")) }
        if switches.contains("get") {
            for case .file(let path, _) in data { leave("--get with the file \(path)") }
            query.insert(data.reduce(into: []) { if case .bytes(let bytes) = $1 { $0 += bytes } }, at: 0)
            data = []
        }
        try finishURL()
        if !parts.isEmpty {
            multipart()
        } else if let upload {
            request.pieces = [piece(of: upload.utf8, .asItIs)]
        } else if !data.isEmpty {
            request.pieces = data
            let isJSON = switches.contains("json")
            addUnlessThere("Content-Type", isJSON ? "application/json" : "application/x-www-form-urlencoded")
            if isJSON { addUnlessThere("Accept", "application/json") }
        }
        let usual = switches.contains("head") ? "HEAD" : upload != nil ? "PUT" : request.pieces.isEmpty ? "GET" : "POST"
        request.method = method ?? usual
        if hasMoreUnread { unread.append("and others") }
        if !unread.isEmpty { request.remarks.append("not taken over: \(unread.joined(separator: ", "))") }
    }

    private mutating func finishURL() throws(CurlReadError) {
        guard !request.url.isEmpty else { throw CurlReadError("The command has no URL.") }
        if !switches.contains("globoff") {
            let (url, patterns) = CurlURL.unescaped(request.url)
            request.url = url
            for pattern in patterns { leave("the pattern \(pattern) of the URL") }
        }
        if let end = request.url.range(of: "://") {
            let scheme = request.url[..<end.lowerBound].lowercased()
            guard ["http", "https", "ws", "wss"].contains(scheme) else {
                throw CurlReadError("The URL's scheme is '\(VisibleText.of(scheme))', not http or https.")
            }
        } else {
            request.url = "http://" + request.url
        }
        let start = request.url.range(of: "://")?.upperBound ?? request.url.startIndex
        if let target, target.first != UInt8(ascii: "/") {
            leave("--request-target \(String(fieldBytes: target))")
        } else if let target {
            request.target = target
            let end = request.url.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? request.url.endIndex
            request.url = request.url[..<end] + String(fieldBytes: target)
        } else if !switches.contains("path-as-is") {
            request.url = CurlURL.withoutDotSegments(request.url, from: start)
        }
        if target == nil, let hash = request.url.utf8[start...].firstIndex(of: UInt8(ascii: "#")) {
            // A fragment is never sent (RFC 9110 §4.2.5).
            request.url = String(request.url[..<hash])
        }
        // Compares bytes: a slash and a combining mark are one `Character`, but the host ends at the slash.
        if let user = request.url.utf8[start...].firstIndex(of: UInt8(ascii: "@")),
            !request.url.utf8[start..<user].contains(where: { "/?".utf8.contains($0) })
        {
            let credentials = FormFields.percentDecoded(Array(request.url[start..<user].utf8))
            request.url = String(request.url[..<start] + request.url[request.url.utf8.index(after: user)...])
            addUnlessThere("Authorization", "Basic \(Data(credentials).base64EncodedString())")
        }
        let added = query.filter { !$0.isEmpty }.map { String(fieldBytes: $0) }.joined(separator: "&")
        if !added.isEmpty { request.url += (request.url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + added }
        let hasNoPath = !request.url.utf8[start...].contains { "/?".utf8.contains($0) }
        if let upload, upload != "-", request.url.hasSuffix("/") || hasNoPath {
            request.url += (hasNoPath ? "/" : "") + String(upload.split(separator: "/").last ?? "")
        }
    }
}
