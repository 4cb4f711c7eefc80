import HTTPModel
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Support
import Testing
import Wire

/// A message as both parsers can tell it.
private struct PlainMessage: Equatable {
    var start: [String] = []
    var fields: [String] = []
    var body: [UInt8] = []
    var trailers: [String] = []

    var lines: [String] { start + fields + [escaped(body)] + trailers }
}

/// Our parser beside NIOHTTP1's, which is llhttp inside.
@Suite struct HTTP1DifferentialTests {
    @Test("both parsers read the same from valid requests, however they are cut")
    func requests() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        for round in 0..<40 {
            let bytes = (0..<Int.random(in: 1...4, using: &random)).flatMap { _ in makeRequest(&random) }
            let pieces = cut(bytes, &random)
            let ours = try ourRequests(pieces)
            let theirs = try theirRequests(pieces)
            try #require(ours == theirs, "seed \(seed), round \(round): \(difference(ours, theirs))")
            #expect(!ours.isEmpty)
        }
    }

    @Test("both parsers read the same from valid responses, however they are cut")
    func responses() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        for round in 0..<40 {
            let bytes = makeResponse(&random)
            let pieces = cut(bytes, &random)
            let ours = try ourResponse(pieces)
            let theirs = try theirResponse(pieces)
            try #require(ours == theirs, "seed \(seed), round \(round): \(difference([ours], [theirs]))")
        }
    }

    private func difference(_ ours: [PlainMessage], _ theirs: [PlainMessage]) -> String {
        let pairs = zip(ours.flatMap(\.lines), theirs.flatMap(\.lines))
        let first = pairs.first { $0 != $1 }
        return first.map { "\($0.prefix(200)) | \($1.prefix(200))" } ?? "\(ours.count) and \(theirs.count) messages"
    }

    /// What NIOHTTP1 refuses and we accept, on purpose.
    private static let accepted: Set<String> = [
        // Any token is a method.
        "request-line.md: an unknown method", "request-line.md: a method of odd token characters",
        "request-line.md: a lower-case method is kept", "request-line.md: a method of 256 bytes",
        "request-line.md: PRI as a method of HTTP/1",
        // What some servers accept in a request line, so that it does not pass unread (RFC 9112 §3).
        "request-line.md: a space before the method", "request-line.md: a tab in place of a space",
        "request-line.md: a space after the version",
        // A minor version above one is read as 1.1 (RFC 9110 §2.5).
        "request-line.md: a minor version above one is read as 1.1",
        // Bytes above ASCII in a target are kept; they begin no other line.
        "request-line.md: bytes above ASCII in the target are kept",
        // A tab is optional white space too (RFC 9110 §5.6.3).
        "request-body.md: Content-Length with white space around",
        // White space may stand around the parts of a chunk extension (RFC 9112 §7.1.1).
        "chunked.md: white space around extensions",
        // What comes after CONNECT and 101 NIOHTTP1 leaves to other handlers.
        "response-body.md: 101 with framing fields", "response-body.md: 200 to CONNECT, then the tunnel",
        "response-body.md: 407 to CONNECT has a body",
        // The named tolerances of responses, and a greater status code.
        "response-head.md: no line ends with CR", "response-head.md: one bare LF in the head",
        "response-head.md: a space before the colon", "response-body.md: equal lengths in two fields",
        "response-body.md: a list of equal lengths", "response-body.md: chunked",
        "response-head.md: a space in a name", "response-head.md: odd names leave no doubt about the end",
        "response-head.md: control characters in a value", "response-head.md: an obs-fold",
        "response-head.md: an obs-fold after an empty first line",
    ]

    @Test("what NIOHTTP1 refuses, we refuse", arguments: try ParserCase.all().filter { !$0.endsWithEOF })
    func refusals(_ parserCase: ParserCase) throws {
        let weRefuse = parserCase.expected.contains { $0.hasPrefix("error ") }
        let input = [parserCase.input]
        let theyRefuse: Bool
        do {
            if parserCase.isRequest {
                _ = try theirRequests(input)
            } else {
                _ = try theirResponse(input, methods: parserCase.methods)
            }
            theyRefuse = false
        } catch {
            theyRefuse = true
        }
        let isAccepted = Self.accepted.contains(parserCase.description)
        #expect((theyRefuse && !weRefuse) == isAccepted, "NIOHTTP1 refuses: \(theyRefuse), we refuse: \(weRefuse)")
    }
}

// MARK: - Making messages

extension HTTP1DifferentialTests {
    private func makeFields(_ random: inout SplitMix) -> String {
        let names = ["Accept", "x-one", "X-Two", "User-Agent", "Referer", "X_3", "Cookie", "Date"]
        let values = [
            "a", "", "a b", "text/html;q=0.9, */*", "=?x\"y\"", "1", String(repeating: "v", count: 300), "\tx\ty ",
        ]
        return (0..<Int.random(in: 0...12, using: &random))
            .map { _ in
                let name = names.randomElement(using: &random) ?? "A"
                let space = ["", " ", "  ", "\t"].randomElement(using: &random) ?? ""
                return "\(name):\(space)\(values.randomElement(using: &random) ?? "")\r\n"
            }
            .joined()
    }

    private func makeBody(_ random: inout SplitMix) -> (field: String, bytes: [UInt8]) {
        let body = (0..<Int.random(in: 1...3_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        if Bool.random(using: &random) { return ("Content-Length: \(body.count)\r\n", body) }
        var bytes: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let part = rest.prefix(Int.random(in: 1...900, using: &random))
            rest = rest.dropFirst(part.count)
            let size = String(part.count, radix: 16, uppercase: Bool.random(using: &random))
            let extensions = ["", "", ";a=b", ";a=\"b;c\";d"].randomElement(using: &random) ?? ""
            bytes += Array("\(size)\(extensions)\r\n".utf8) + part + [0x0D, 0x0A]
        }
        let trailers = Bool.random(using: &random) ? "X-Sum: abc\r\nX-T:\r\n" : ""
        return ("transfer-encoding: chunked\r\n", bytes + Array("0\r\n\(trailers)\r\n".utf8))
    }

    private func makeRequest(_ random: inout SplitMix) -> [UInt8] {
        let method =
            ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PURGE", "HEAD"].randomElement(using: &random) ?? ""
        let target =
            ["/", "/a?b=c&d=%20#e", "*", "http://a.example:80/x", "/\"q\"|<>{}"].randomElement(using: &random) ?? ""
        let head = "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(makeFields(&random))"
        guard Bool.random(using: &random) else { return Array("\(head)\r\n".utf8) }
        let (field, bytes) = makeBody(&random)
        return Array("\(head)\(field)\(makeFields(&random))\r\n".utf8) + bytes
    }

    private func makeResponse(_ random: inout SplitMix) -> [UInt8] {
        let start =
            ["200 OK", "404 Not Found", "301 ", "599 Odd", "503 Service Unavailable"].randomElement(using: &random)
            ?? ""
        let (field, bytes) = makeBody(&random)
        return Array("HTTP/1.1 \(start)\r\n\(makeFields(&random))\(field)\(makeFields(&random))\r\n".utf8) + bytes
    }

    private func cut(_ bytes: [UInt8], _ random: inout SplitMix) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        let most = [1, 10, 500, 100_000].randomElement(using: &random) ?? 1
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Int.random(in: 1...most, using: &random)))
            pieces.append(piece)
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}

// MARK: - Reading them

extension HTTP1DifferentialTests {
    private func ourRequests(_ pieces: [[UInt8]]) throws -> [PlainMessage] {
        var parser = HTTP1RequestParser()
        var messages: [PlainMessage] = []
        var message = PlainMessage()
        for piece in pieces {
            parser.receive(ByteBuffer(bytes: piece))
            while let event = try parser.next() {
                switch event {
                case .head(let head, _):
                    message = PlainMessage(start: [head.method, head.target], fields: plain(head.fields))
                case .part(let part): message.body += Array(part.readableBytesView)
                case .end(let trailers):
                    message.trailers = trailers.map(plain) ?? []
                    messages.append(message)
                }
            }
        }
        return messages
    }

    private func ourResponse(_ pieces: [[UInt8]]) throws -> PlainMessage {
        var parser = HTTP1ResponseParser()
        parser.expect(method: "GET")
        var message = PlainMessage()
        for piece in pieces {
            parser.receive(ByteBuffer(bytes: piece))
            while let event = try parser.next() {
                switch event {
                case .informational: break
                case .head(let head, _):
                    message = PlainMessage(start: [String(head.status)], fields: plain(head.fields))
                case .part(let part): message.body += Array(part.readableBytesView)
                case .end(let trailers): message.trailers = trailers.map(plain) ?? []
                }
            }
        }
        return message
    }

    private func plain(_ fields: FieldSection) -> [String] {
        fields.map { "\($0.name)=\($0.value)" }
    }

    /// NIOHTTP1 leaves white space at the end of a value.
    private func plain(_ fields: HTTPHeaders) -> [String] {
        fields.map { field in
            var value = field.value[...]
            while let last = value.last, last == " " || last == "\t" { value.removeLast() }
            return "\(field.name)=\(value)"
        }
    }

    private func theirRequests(_ pieces: [[UInt8]]) throws -> [PlainMessage] {
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        try channel.pipeline.syncOperations.addHandler(
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes))
        )
        for piece in pieces { try channel.writeInbound(ByteBuffer(bytes: piece)) }
        var messages: [PlainMessage] = []
        var message = PlainMessage()
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let head):
                message = PlainMessage(start: [head.method.rawValue, head.uri], fields: plain(head.headers))
            case .body(let part): message.body += Array(part.readableBytesView)
            case .end(let trailers):
                message.trailers = trailers.map(plain) ?? []
                messages.append(message)
            }
        }
        return messages
    }

    private func theirResponse(_ pieces: [[UInt8]], methods: [String] = ["GET"]) throws -> PlainMessage {
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        try channel.pipeline.syncOperations.addHandler(
            ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
        )
        for method in methods {
            let request = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: "/")
            try channel.writeOutbound(HTTPClientRequestPart.head(request))
        }
        for piece in pieces { try channel.writeInbound(ByteBuffer(bytes: piece)) }
        var message = PlainMessage()
        while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
            switch part {
            case .head(let head):
                message = PlainMessage(start: [String(head.status.code)], fields: plain(head.headers))
            case .body(let part): message.body += Array(part.readableBytesView)
            case .end(let trailers): message.trailers = trailers.map(plain) ?? []
            }
        }
        return message
    }
}
