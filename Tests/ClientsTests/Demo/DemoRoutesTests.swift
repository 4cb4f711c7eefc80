import Content
import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Clients

@Suite("The demo's origin")
struct DemoRoutesTests {
    private func answer(
        _ method: String,
        _ target: String,
        fields: [(String, String)] = [],
        body: [String] = []
    ) throws -> DemoAnswer {
        var request = DemoRequest(head: RequestHead(method: method, target: target, fields: fields))
        for part in body { request.add(ByteBuffer(string: part)) }
        return try DemoRoutes.answer(request)
    }

    private func text(_ answer: DemoAnswer) -> String {
        answer.pieces.map { String(buffer: $0) }.joined()
    }

    private func json(_ answer: DemoAnswer) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text(answer).utf8))
    }

    private func values(_ name: String, _ answer: DemoAnswer) -> [String] {
        answer.fields.filter { $0.0 == name }.map(\.1)
    }

    @Test("lists products as JSON and sets cookies")
    func products() throws {
        let answer = try answer("GET", "/api/products?page=1")
        let products = try #require(try json(answer) as? [String: Any])
        #expect((products["products"] as? [Any])?.count == 7)
        #expect(values("Set-Cookie", answer).count == 2)
    }

    @Test("echoes a form and cookies as JSON, whatever characters they have")
    func order() throws {
        let answer = try answer(
            "POST",
            "/api/orders",
            fields: [("Cookie", "a=\"1\"")],
            body: ["name=%22q%22+%5C%0A&", "empty="]
        )
        #expect(answer.status == 201)
        let object = try #require(try json(answer) as? [String: Any])
        #expect(object["cookies"] as? String == "a=\"1\"")
        #expect(object["order"] as? [String: String] == ["name": "\"q\" \\\n", "empty": ""])
    }

    @Test("reads no more of a large form than it needs")
    func largeForm() throws {
        var request = DemoRequest(head: RequestHead(method: "POST", target: "/api/orders"))
        for _ in 0..<5 { request.add(ByteBuffer(repeating: UInt8(ascii: "x"), count: 10_000)) }
        #expect(request.body.readableBytes == 16_384)
        #expect(request.bodySize == 50_000)
    }

    @Test("redirects, fails, and knows nothing, with the right status")
    func statuses() throws {
        let moved = try answer("GET", "/old-page")
        #expect(moved.status == 302)
        #expect(try values("Location", moved).map { try answer("GET", $0).status } == [200])
        #expect(try answer("GET", "/api/broken").status == 500)
        #expect(try answer("GET", "/elsewhere").status == 404)
        #expect(try answer("DELETE", "/api/products").status == 404)
    }

    @Test("compresses articles")
    func articles() throws {
        let answer = try answer("GET", "/api/articles")
        #expect(values("Content-Encoding", answer) == ["gzip"])
        let body = try #require(answer.pieces.first)
        #expect(body.readableBytes < DemoContent.articles().utf8.count / 4)
        let decoded = ContentDecoder.decode(body, codings: [.gzip], limit: 1 << 20)
        #expect(String(buffer: decoded.bytes) == DemoContent.articles())
        #expect(try JSONSerialization.jsonObject(with: Data(decoded.bytes.readableBytesView)) is [Any])
    }

    @Test("takes its time where it says so, and leaves the length of a stream open")
    func timing() throws {
        #expect(try answer("GET", "/api/slow").delay == .milliseconds(400))
        let events = try answer("GET", "/api/events")
        #expect(events.framing == .chunked)
        #expect(events.pieces.count == 6)
        let more = try answer("GET", "/api/events?count=9&pause=1000")
        #expect(more.pieces.count == 9 && more.pause == .seconds(1))
        #expect(try answer("GET", "/api/events?count=-1").pieces.isEmpty)
        #expect(try answer("GET", "/api/events?count=1000000000000").pieces.count == 3_600)
    }

    @Test("tells how much was uploaded, with a checksum")
    func upload() throws {
        // The check value of CRC-32 in the catalogues of such codes.
        let answer = try answer("PUT", "/upload/large.bin", body: ["1234", "56789"])
        let object = try json(answer) as? [String: Any]
        #expect(object?["bytes"] as? Int == 9)
        #expect(object?["crc32"] as? String == "cbf43926")
    }

    @Test("announces five mebibytes for the large download")
    func download() throws {
        #expect(try answer("GET", "/download/large.bin").framing == .length(5 << 20))
    }

    @Test("draws a PNG whose chunks are well formed")
    func picture() throws {
        var picture = try DemoContent.picture(width: 5, height: 3)
        let signature = picture.readBytes(length: 8)
        #expect(signature == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        var types: [String] = []
        while let length = picture.readInteger(as: UInt32.self) {
            guard let chunk = picture.readSlice(length: Int(length) + 4) else { break }
            var checksum = CRC32()
            checksum.add(chunk)
            let stored = picture.readInteger(as: UInt32.self)
            #expect(stored == checksum.value)
            let type = try #require(chunk.getString(at: 0, length: 4))
            types.append(type)
            guard type == "IDAT", let data = chunk.getSlice(at: 4, length: Int(length)) else { continue }
            let rows = ContentDecoder.decode(data, codings: [.deflate], limit: 1 << 20)
            #expect(rows.problem == nil)
            #expect(rows.bytes.readableBytes == 3 * (1 + 5 * 3))
        }
        #expect(types == ["IHDR", "IDAT", "IEND"])
    }
}
