import NIOCore
import Testing

@testable import Wire

@Suite struct ClientHelloTests {
    /// A hello as our own client makes it.
    private func realHello(
        host: String = "www.example.com",
        protocols: [String] = ["h2", "http/1.1"]
    ) throws -> [UInt8] {
        let client = try TLSFixture().client.makeSession(host: host, applicationProtocols: protocols)
        var nothing = ByteBuffer()
        _ = client.advance(into: &nothing)
        return Array(try #require(client.takeOutput()).readableBytesView)
    }

    private let expected = ClientHello(
        serverName: "www.example.com",
        alpnProtocols: ["h2", "http/1.1"],
        supportedVersions: [0x0304, 0x0303]
    )

    @Test("A whole hello is understood, and bytes after it do not matter")
    func whole() throws {
        let hello = try realHello()
        #expect(ClientHello.parse(ByteBuffer(bytes: hello)) == .hello(expected))
        #expect(ClientHello.parse(ByteBuffer(bytes: hello + [23, 3, 3])) == .hello(expected))
    }

    @Test("A hello without name and protocols is understood")
    func minimal() throws {
        let hello = try realHello(host: "127.0.0.1", protocols: [])
        let result = ClientHello.parse(ByteBuffer(bytes: hello))
        #expect(result == .hello(ClientHello(supportedVersions: [0x0304, 0x0303])))
    }

    @Test("Every beginning of a hello needs more data")
    func truncations() throws {
        let hello = try realHello()
        for count in 0..<hello.count {
            #expect(ClientHello.parse(ByteBuffer(bytes: hello[..<count])) == .needMoreData, "\(count) bytes")
        }
    }

    @Test("A hello in several records is understood", arguments: [1, 3, 4, 5, 100])
    func records(size: Int) throws {
        let message = try realHello().dropFirst(5)
        var bytes: [UInt8] = []
        for start in stride(from: message.startIndex, to: message.endIndex, by: size) {
            let part = message[start..<min(start + size, message.endIndex)]
            bytes += [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 255)] + part
        }
        #expect(ClientHello.parse(ByteBuffer(bytes: bytes)) == .hello(expected))
        for count in 0..<bytes.count {
            #expect(ClientHello.parse(ByteBuffer(bytes: bytes[..<count])) == .needMoreData)
        }
    }

    @Test("What cannot become a hello is known at the first wrong byte")
    func notTLS() {
        let inputs: [[UInt8]] = [
            Array("GET / HTTP/1.1".utf8), Array("SSH-2.0".utf8), [0], [22, 3, 1, 0, 0],
            [22, 3, 1, 0x40, 1], [23, 3, 3], [22, 3, 1, 0, 9, 2], [22, 3, 1, 0, 9, 1, 2, 0, 0],
        ]
        for input in inputs {
            #expect(ClientHello.parse(ByteBuffer(bytes: input)) == .notTLS, "\(input)")
        }
        #expect(ClientHello.parse(ByteBuffer()) == .needMoreData)
    }

    @Test(
        "The version of records does not matter, nor the old one of the hello",
        arguments: [(3, 5), (3, 255), (2, 0)]
    )
    func recordVersion(major: UInt8, minor: UInt8) throws {
        var hello = try realHello()
        (hello[1], hello[2]) = (major, minor)
        #expect(ClientHello.parse(ByteBuffer(bytes: hello)) == .hello(expected))
        (hello[9], hello[10]) = (major, minor)
        #expect(ClientHello.parse(ByteBuffer(bytes: hello)) == .hello(expected))
    }

    @Test("A hello that claims to be endless is given up")
    func tooLong() {
        // 65,537 bytes in all, the length field says.
        #expect(ClientHello.parse(ByteBuffer(bytes: [22, 3, 1, 0x40, 0, 1, 1, 0, 1])) == .notTLS)
        #expect(ClientHello.parse(ByteBuffer(bytes: [22, 3, 1, 0x40, 0, 1, 1, 0, 0])) == .needMoreData)
    }

    @Test("A hello in records without end is given up: each byte that comes would have all of them read again")
    func manyRecords() throws {
        let message: [UInt8] = [1, 0, 0xFF, 0xF0] + [UInt8](repeating: 0, count: ClientHello.mostRecords)
        let records = message.prefix(ClientHello.mostRecords).flatMap { byte -> [UInt8] in [22, 3, 1, 0, 1, byte] }
        #expect(ClientHello.parse(ByteBuffer(bytes: records.dropLast())) == .needMoreData)
        #expect(ClientHello.parse(ByteBuffer(bytes: records)) == .notTLS)
    }

    @Test("A hello with changed bytes never reads out of bounds")
    func changedBytes() throws {
        let hello = try realHello()
        for position in 5..<hello.count {
            for value: UInt8 in [0, 1, 127, 255] {
                var changed = hello
                changed[position] = value
                _ = ClientHello.parse(ByteBuffer(bytes: changed))
            }
        }
        // A name list that ends beyond its extension.
        let body: [UInt8] =
            [3, 3] + [UInt8](repeating: 0, count: 32) + [0, 0, 2, 0x13, 1, 1, 0, 0, 6, 0, 0, 0, 2, 0, 9]
        let message: [UInt8] = [1, 0, 0, UInt8(body.count)] + body
        let record: [UInt8] = [22, 3, 1, 0, UInt8(message.count)] + message
        #expect(ClientHello.parse(ByteBuffer(bytes: record)) == .notTLS)
    }

    @Test("GREASE versions are left out, and a hello without extensions has its own version")
    func versions() {
        let old = ClientHello(supportedVersions: [0x0303], acceptsECDSA: false)
        #expect(ClientHello.parse(hello(suites: [0x1301])) == .hello(old))
        let grease: [UInt8] = [0, 9, 0, 43, 0, 5, 4, 0x3A, 0x3A, 3, 4]
        let result = ClientHello.parse(hello(suites: [0x1301], extensions: grease))
        #expect(result == .hello(ClientHello(supportedVersions: [0x0304])))
    }

    private func hello(suites: [UInt16], extensions: [UInt8] = []) -> ByteBuffer {
        func bytes(_ numbers: [UInt16]) -> [UInt8] { numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
        var body: [UInt8] = [3, 3] + [UInt8](repeating: 0, count: 32) + [0]
        body += bytes([UInt16(suites.count * 2)] + suites) + [1, 0] + extensions
        return ByteBuffer(bytes: [22, 3, 1, 0, UInt8(body.count + 4), 1, 0, 0, UInt8(body.count)] + body)
    }

    @Test("Whether a client accepts ECDSA is known by its suites, signature algorithms and curves")
    func acceptsECDSA() {
        let (tls13, tls12): ([UInt16], [UInt16]) = ([0x0304, 0x0303], [0x0303])
        // Versions, suites, signature algorithms, groups; nil for no such extension.
        let rows: [([UInt16], [UInt16], [UInt16]?, [UInt16]?, Bool)] = [
            (tls13, [0x1301, 0xC02F], [0x0403, 0x0804], [29], true),
            (tls13, [0x1301, 0xC02B], [0x0804, 0x0401], [23], false),
            // TLS 1.3 needs the very curve of our key, and is spoken if both can.
            (tls13, [0x1301, 0xC02B], [0x0503], [23, 24], false),
            (tls12, [0xC02B, 0xC02F], [0x0403, 0x0401], [29, 23], true),
            (tls12, [0xC02F], [0x0403, 0x0401], [23], false),
            (tls12, [0xC02B, 0xC02F], [0x0401], [23], false), (tls12, [0xC02B, 0xC02F], [0x0403], [29], false),
            (tls12, [0xC02B], [0x0503], nil, true), (tls12, [0xC02B], nil, nil, true),
            (tls12, [0x002F, 0x0033], nil, nil, false),
            (tls12, [0xCCA9], [0x0807], nil, false), (tls12, [0x1301, 0xCCA9], [0x0403], [23], true),
        ]
        func field(_ type: UInt8, _ numbers: [UInt16]?, lengthBytes: Int = 2) -> [UInt8] {
            guard let numbers else { return [] }
            let content = numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
            let length = (lengthBytes == 2 ? [0] : []) + [UInt8(content.count)]
            return [0, type, 0, UInt8(content.count + lengthBytes)] + length + content
        }
        for (versions, suites, algorithms, groups, accepts) in rows {
            let fields = field(43, versions, lengthBytes: 1) + field(13, algorithms) + field(10, groups)
            let parsed = ClientHello.parse(hello(suites: suites, extensions: [0, UInt8(fields.count)] + fields))
            let expected = ClientHello(supportedVersions: versions, acceptsECDSA: accepts)
            #expect(parsed == .hello(expected), "\(versions) \(suites) \(String(describing: algorithms))")
        }
    }
}
