import HTTPModel
import NIOCore
import Testing
import Wire

/// What passes without a change keeps every byte; what must not be sent on as it is does not pass so.
@Suite struct HTTP1FidelityTests {
    private func request(_ bytes: ByteBuffer) throws -> RequestHead {
        var parser = HTTP1RequestParser()
        parser.receive(bytes)
        guard case .head(let head, _)? = try parser.next() else { throw CaseError(text: "no head") }
        return head
    }

    private func response(_ bytes: ByteBuffer, to method: String = "GET") throws -> ResponseHead {
        var parser = HTTP1ResponseParser()
        parser.expect(method: method)
        parser.receive(bytes)
        guard case .head(let head, _)? = try parser.next() else { throw CaseError(text: "no head") }
        return head
    }

    private func isWaiting(_ parser: inout HTTP1RequestParser) throws -> Bool {
        if case nil = try parser.next() { true } else { false }
    }

    @Test("a request's head keeps order, case, duplicates, white space, Latin-1 and its method, byte for byte")
    func requestBytes() throws {
        let text = "FROBnicate /\u{7e}%zz?%%# HTTP/1.1\r\nhOsT:  a.example\t \r\nX-Same: 1\r\nx-same:2\r\nX-Same:\r\n"
        var bytes = ByteBuffer(string: text)
        bytes.writeBytes(Array("N: ".utf8) + [0xFC, 0xFF, 0x80] + Array("\r\n\r\n".utf8))
        let head = try request(bytes)
        #expect(head.serialized() == bytes)
        #expect(head.received == bytes)
        #expect(head.fields.values(of: "x-same") == ["1", "2", ""])
        #expect(head.fields.value(of: "n") == "\u{FC}\u{FF}\u{80}")
    }

    @Test("a response's head keeps its reason phrase and bytes")
    func responseBytes() throws {
        var bytes = ByteBuffer(string: "HTTP/1.1 299  Most  ")
        bytes.writeBytes([0xEB, 0x21])
        bytes.writeString("\r\nSet-Cookie:a\r\nset-cookie: b\r\nContent-Length:\t0\r\n\r\n")
        let head = try response(bytes)
        #expect(head.serialized() == bytes)
        #expect(head.reason == " Most  \u{EB}!")
    }

    @Test("an edit leaves every other line as it was")
    func edit() throws {
        let bytes = ByteBuffer(string: "GET /a HTTP/1.1\r\nhOsT:  a \r\nX-A:1\r\nx-b:   2\t\r\n\r\n")
        var head = try request(bytes)
        head.fields.set("x-a", "new")
        #expect(String(buffer: head.serialized()) == "GET /a HTTP/1.1\r\nhOsT:  a \r\nX-A: new\r\nx-b:   2\t\r\n\r\n")
        #expect(head.received == bytes)
    }

    @Test("a minor version that we do not speak is not sent on")
    func newerMinor() throws {
        let head = try request(ByteBuffer(string: "GET / HTTP/1.3\r\nHost: a\r\n\r\n"))
        #expect(String(buffer: head.serialized()) == "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(!head.isChanged)
    }

    @Test(
        "faults that were let pass are mended in what is sent on, and kept in what was received",
        arguments: [
            ("HTTP/1.1 200 OK\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\nA:b\nC:d\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\nC:d\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\nA: b\r\n\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b  \tc\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
            ("HTTP/1.1 200\r\nA: b\r\n\r\n", "HTTP/1.1 200 \r\nA: b\r\n\r\n"),
        ]
    )
    func mended(received: String, sent: String) throws {
        let head = try response(ByteBuffer(string: received))
        #expect(!head.isChanged)
        #expect(String(buffer: head.serialized()) == sent)
        #expect(head.received == ByteBuffer(string: received))
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &output)
        #expect(String(buffer: output) == sent)
    }

    @Test("a head that lies in one buffer is a slice of it, and so are the parts")
    func slices() throws {
        let text = "POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\nabcdefgh"
        let buffer = ByteBuffer(string: text)
        let address = buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        var parser = HTTP1RequestParser()
        parser.receive(buffer)
        guard case .head(let head, .length(8))? = try parser.next(), case .part(let part)? = try parser.next() else {
            Issue.record("no head and part")
            return
        }
        #expect(head.received?.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } == address)
        #expect(
            part.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } == address + UInt(text.utf8.count - 8)
        )
    }

    @Test("takeRemaining hands over what was not parsed, and the parser is done")
    func remaining() throws {
        var parser = HTTP1RequestParser()
        parser.receive(ByteBuffer(string: "GET / HTTP/1.1\r\nHo"))
        #expect(try isWaiting(&parser))
        parser.receive(ByteBuffer(string: "st: a"))
        #expect(parser.takeRemaining() == ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a"))
        #expect(parser.takeRemaining() == nil)
        parser.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        #expect(try isWaiting(&parser))
    }
}
