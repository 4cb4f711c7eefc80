import NIOCore
import Support
import Testing

@testable import HTTPModel

@Suite("Fields of a stored head, looked at where it lies")
struct StoredHeadSearchTests {
    private static let starts: [StoredSection: [String]] = [
        .request: ["GET / HTTP/1.1", "GET", "", " ", "GET http://a/ b HTTP/1.1"],
        .response: [
            "HTTP/1.1 200 OK", "HTTP/2 204", "HTTP/1.1 200", "HTTP/1.1 2000 x", "HTTP/1.1 xyz", "HTTP/1.1", "",
            "HTTP/1.1 +20",
        ],
        .trailers: [],
    ]
    private static let lines = [
        "X-A: one", "x-a:two ", "X-A:", "X-AB: one", "X-A : one", "x-a: \t one\t", ":path: /x", ":x", ":", "no colon",
        "",
        " folded", "\tx-a: folded", "X-B: x-a: one", "x-a", "\rX-A: one", "x-a: one\r",
    ]
    private static let names = ["x-a", "x-*", "*", ":path", ":p*", "x-a ", "?-a", ""]
    private static let values = [nil, "one", "*o*", "", "*folded", "x-a: one"]

    @Test(
        "are what reading it as a whole finds, or it says that it does not know",
        arguments: [StoredSection.request, .response, .trailers]
    )
    func agrees(section: StoredSection) throws {
        var random = SplitMix(0x5EED)
        var known = 0
        for _ in 0..<4_000 {
            var text = ""
            let count = random.number(below: 5)
            let starts = Self.starts[section] ?? []
            let start = starts.isEmpty ? [] : [starts[random.number(below: starts.count)]]
            for line in start + (0..<count).map({ _ in Self.lines[random.number(below: Self.lines.count)] }) {
                text += line + ["\r\n", "\n"][random.number(below: 2)]
            }
            if random.number(below: 8) == 0 { text = String(text.dropLast()) }
            let name = try Glob(Self.names[random.number(below: Self.names.count)], ignoringCase: true)
            let value = try Self.values[random.number(below: Self.values.count)].map {
                try Glob($0, ignoringCase: true)
            }
            let bytes = Array(text.utf8)
            let found = bytes.withUnsafeBufferPointer {
                StoredHead.hasField(section, in: $0, name: name, value: value)
            }
            guard let found else { continue }
            known += 1
            let whole = fields(section, ByteBuffer(bytes: bytes)).contains(where: { field in
                name.matches(field.name) && (value?.matches(field.value) ?? true)
            })
            #expect(found == whole, "\(text.debugDescription) name \(name) value \(value?.description ?? "any")")
        }
        #expect(known > 1_000)
    }

    private func fields(_ section: StoredSection, _ bytes: ByteBuffer) -> FieldSection {
        switch section {
        case .request: StoredHead.request(bytes)?.fields ?? FieldSection()
        case .response: StoredHead.response(bytes)?.fields ?? FieldSection()
        case .trailers: StoredHead.fields(bytes)
        }
    }

    @Test("are known of ordinary heads")
    func ordinary() throws {
        let head = Array("HTTP/1.1 200 OK\r\nServer: nginx\r\nX-Cache: HIT\r\n\r\n".utf8)
        func found(_ name: String, _ value: String?) throws -> Bool? {
            let name = try Glob(name, ignoringCase: true)
            let value = try value.map { try Glob($0, ignoringCase: true) }
            return head.withUnsafeBufferPointer { StoredHead.hasField(.response, in: $0, name: name, value: value) }
        }
        #expect(try found("server", nil) == true && found("x-cache", "hit") == true)
        #expect(try found("x-cache", "miss") == false && found("serve", nil) == false)
    }
}
