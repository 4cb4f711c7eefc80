import HTTPModel
import NIOCore
import Testing
import Wire

/// What the parsers do with too much of something.
@Suite struct HTTP1LimitTests {
    /// The error that a request gives, fed in pieces of `size` bytes, and how many bytes the parser took until then.
    private func error(_ text: String, size: Int = .max, limits: HTTP1Limits = .request) -> (HTTP1ParseError?, Int) {
        var parser = HTTP1RequestParser(limits: limits)
        let bytes = ByteBuffer(string: text)
        var taken = 0
        while let piece = bytes.getSlice(at: taken, length: min(size, bytes.writerIndex - taken)),
            piece.readableBytes > 0
        {
            taken += piece.readableBytes
            parser.receive(piece)
            do throws(HTTP1ParseError) {
                while case .some = try parser.next() {}
            } catch {
                return (error, taken)
            }
        }
        return (nil, taken)
    }

    @Test("a request line of 1 MB is a 414, found after 64 KiB", arguments: [Int.max, 65_536, 4_096, 1])
    func longRequestLine(size: Int) {
        let text = "GET /" + String(repeating: "a", count: 1 << 20) + " HTTP/1.1\r\nHost: a\r\n\r\n"
        let (error, taken) = error(text, size: size)
        #expect(error?.code == .startLineTooLong)
        #expect(error?.status == 414)
        #expect(error?.offset == Int64(65_536))
        if size < 65_536 { #expect(taken <= 65_536 + size) }
    }

    @Test("a request line of exactly 64 KiB passes and one byte more does not")
    func requestLineAtTheLimit() {
        let fixed = "GET / HTTP/1.1\r\n".utf8.count
        for (extra, code) in [(0, nil), (1, HTTP1ParseError.Code.startLineTooLong)] {
            let target = "/" + String(repeating: "a", count: 65_536 - fixed + extra)
            for size in [Int.max, 1_000] {
                #expect(error("GET \(target) HTTP/1.1\r\n\r\n", size: size).0?.code == code)
            }
        }
    }

    @Test("10,000 fields are a 431", arguments: [Int.max, 4_096, 7])
    func manyFields(size: Int) {
        let text = "GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 10_000) + "\r\n"
        let (error, _) = error(text, size: size)
        #expect(error?.code == .tooManyFields)
        #expect(error?.status == 431)
        #expect(error?.offset == Int64(16 + 256 * 6))
    }

    @Test("256 fields pass and 257 do not")
    func fieldsAtTheLimit() {
        for (count, code) in [(256, nil), (257, HTTP1ParseError.Code.tooManyFields)] {
            let text = "GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: count) + "\r\n"
            #expect(error(text).0?.code == code)
        }
    }

    @Test("a head without an end is a 431 after 256 KiB", arguments: [Int.max, 65_536, 4_000])
    func endlessHead(size: Int) {
        let text = "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 1 << 20)
        let (error, taken) = error(text, size: size)
        #expect(error?.code == .headTooLarge)
        #expect(error?.status == 431)
        if size < 1 << 20 { #expect(taken <= 262_144 + size) }
    }

    @Test("a complete head over the limit is the same error as an incomplete one")
    func largeHead() {
        let text = "GET / HTTP/1.1\r\nBad Name: x\r\nX: " + String(repeating: "a", count: 262_144) + "\r\n\r\n"
        let whole = error(text).0
        #expect(whole?.code == .headTooLarge)
        #expect(error(text, size: 10_000).0 == whole)
    }

    @Test("a response may have 1,000 fields")
    func responseFields() {
        for (count, code) in [(1_000, nil), (1_001, HTTP1ParseError.Code.tooManyFields)] {
            var parser = HTTP1ResponseParser()
            parser.expect(method: "HEAD")
            parser.receive(
                ByteBuffer(string: "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: count) + "\r\n")
            )
            var found: HTTP1ParseError?
            do throws(HTTP1ParseError) {
                _ = try parser.next()
            } catch {
                found = error
            }
            #expect(found?.code == code)
            #expect(found == nil || found?.status == 502)
        }
    }

    @Test("trailers have the limits of fields", arguments: [Int.max, 500])
    func trailers(size: Int) {
        let start = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        #expect(error(start + String(repeating: "a: b\r\n", count: 257) + "\r\n", size: size).0?.code == .tooManyFields)
        let endless = error(start + "X: " + String(repeating: "a", count: 300_000), size: size)
        #expect(endless.0?.code == .headTooLarge)
        #expect(endless.0?.status == 431)
    }

    @Test("a head fed byte by byte takes time in proportion to its length")
    func headByteByByte() throws {
        var parser = HTTP1RequestParser()
        let text =
            "GET / HTTP/1.1\r\n" + String(repeating: "name: value\r\n", count: 250) + "X: "
            + String(repeating: "x", count: 200_000) + "\r\n\r\n"
        var heads = 0
        for byte in text.utf8 {
            parser.receive(ByteBuffer(bytes: [byte]))
            if case .head? = try parser.next() { heads += 1 }
        }
        #expect(heads == 1)
    }
}
