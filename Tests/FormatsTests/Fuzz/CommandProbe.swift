import Content
import Formats
import HTTPModel
import NIOCore
import Support

/// Reads arbitrary text as a cURL command, and writes requests with arbitrary values and bodies as one, which must come
/// back as they were; the first decision says which.
enum CommandProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        try input.choose([read, read, again])(input.bytes)
    }

    // MARK: - Reading

    private static func read(_ bytes: [UInt8]) throws {
        _ = CurlCommandReader.isCommand(String(decoding: bytes, as: UTF8.self))
        let request: CurlRequest
        do throws(CurlReadError) {
            request = try CurlCommandReader.read(bytes: bytes)
        } catch {
            try demand((0...bytes.count).contains(error.offset), "offset \(error.offset) of \(bytes.count)")
            try check(error.description)
            return
        }
        let scheme = request.url.prefix { $0 != ":" }.lowercased()
        try demand(["http", "https", "ws", "wss"].contains(scheme), "the URL is \(request.url)")
        for remark in request.remarks { try check(remark) }
        let body = request.body { Array($0.utf8) }
        try demand(request.pieces.isEmpty ? body.isEmpty : true, "a body of nothing")
    }

    private static func check(_ message: String) throws {
        try demand(!message.isEmpty, "no message")
        let isClean = message.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
        try demand(isClean, "a message drives the terminal: \(message.debugDescription)")
    }

    // MARK: - Writing and reading

    /// The first line is the value of a field, the rest the body.
    private static func again(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let value = (parts.first ?? []).filter { $0 >= 0x20 && $0 != 0x7F }.trimmingSpaces
        let body = parts.count > 1 ? Array(parts[1]) : []
        let head =
            Array("POST /a?b=c HTTP/1.1\r\nHost: a.example\r\nContent-Type: x/y\r\nX-Value: ".utf8) + value
            + Array("\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(bytes: head)
        var record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: "POST",
            url: RequestURL(scheme: "https", host: "a.example", port: 443, path: "/a", query: "b=c"),
            clientConnection: ConnectionID(1)
        )
        record.sizes.requestBody = Int64(body.count)
        let exchange = RecordedExchange(record: record, messages: messages)
        let source = ProbeBody(body: ByteBuffer(bytes: body))
        for form in [CopyForm.fetch, .python, .httpie, .requestHeaders, .cookies] {
            _ = try form.text(exchange, source: source, files: nil)
        }
        guard let command = try? CopyForm.curl.text(exchange, source: source, files: nil) else { return }
        let request: CurlRequest
        do throws(CurlReadError) {
            request = try CurlCommandReader.read(command)
        } catch {
            throw ProbeError(description: "\(command.debugDescription) is no command: \(error)")
        }
        try demand(request.method == "POST", "\(request.method) of \(command.debugDescription)")
        try demand(request.url == "https://a.example/a?b=c", "\(request.url) of \(command.debugDescription)")
        try demand(request.body { _ in [] } == body, "another body of \(command.debugDescription)")
        let field = request.fields.first { $0.name == "X-Value" }
        try demand(
            field.map { Array($0.value.utf8) == Array(String(fieldBytes: value).utf8) } == true,
            "another value of \(command.debugDescription): \(field?.value.debugDescription ?? "none")"
        )
    }
}

extension [UInt8] {
    /// Without the white space that belongs to no field value (RFC 9110 §5.5).
    fileprivate var trimmingSpaces: [UInt8] {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return Array(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}

/// One request body.
private struct ProbeBody: ExchangeSource {
    let body: ByteBuffer

    func exchange(_ id: ExchangeID) -> RecordedExchange? { nil }

    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer {
        guard side == .requestReceived || side == .requestSent else { return ByteBuffer() }
        let start = Swift.min(Int(offset), body.readableBytes)
        return body.getSlice(at: body.readerIndex + start, length: Swift.min(limit, body.readableBytes - start))
            ?? ByteBuffer()
    }
}

/// Commands, values and bodies for the fuzzer's corpus.
enum CommandSeeds {
    private static let commands = [
        "curl 'https://a.example/b' -X PUT -H 'accept: */*' -b 'a=1' --data-raw $'{\"it\\'s\":\"\\u00e9\\r\\n\"}' --compressed",
        "curl ^\"https://h/a?x=^%^41^&y=1^\" ^\r\n -H ^\"accept: */*^\" ^\r\n --data-raw ^\"^{^\\^\"a^\\^\":1^}^\"",
        "curl -F a=b -F 'f=@x.png;type=image/png;filename=\"y\\\"z\"' http://u:p@h:8080/x/ -T up -G --data-urlencode a@b",
        "printf 'a\\000\\377%%b\\n' | curl --url h -d @- --json '{}' --next --bad -sSLkX HEAD -I",
        "$ env A=b sudo /usr/bin/curl h#x --request-target /y -u a:b -r 0-9 -e 'r;auto' --url-query +c=d -H 'X;' -H 'Y:'",
        "curl 'h\u{E9}' -d \"$(printf '\\303')\" -d `x` \"$HOME\" ${A} # comment", "curl \"h", "curl -d",
    ]

    static let all: [[UInt8]] =
        commands.map { FuzzInput.made(Array($0.utf8), [0]) }
        + commands.map { FuzzInput.made(Array("it's \"q\" $x `y` \\ %d \u{202E}\n\($0)\r\n\t".utf8), [2]) }
}
