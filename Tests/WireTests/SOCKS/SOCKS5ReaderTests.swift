import NIOCore
import Testing

@testable import Wire

@Suite("What clients of SOCKS say")
struct SOCKS5ReaderTests {
    typealias Event = SOCKS5Reader.Event

    private static let greeting: [UInt8] = [5, 2, 0, 2]
    private static let credentials: [UInt8] = [1, 3] + Array("ada".utf8) + [0]
    private static func request(_ address: [UInt8], command: UInt8 = 1, port: UInt16 = 443) -> [UInt8] {
        [5, command, 0] + address + [UInt8(port >> 8), UInt8(port & 0xFF)]
    }
    private static func name(_ text: String) -> [UInt8] { [3, UInt8(text.utf8.count)] + Array(text.utf8) }

    /// Reads pieces, asking for credentials where the client offers them; returns what was read, and the rest.
    private static func read(_ pieces: [[UInt8]]) -> (events: [Event], failure: SOCKS5Reader.Failure?, rest: [UInt8]) {
        var reader = SOCKS5Reader()
        var events: [Event] = []
        do throws(SOCKS5Reader.Failure) {
            for piece in pieces {
                reader.receive(ByteBuffer(bytes: piece))
                while let event = try reader.next() {
                    events.append(event)
                    if case .greeting(let methods) = event, methods.contains(2) { reader.expectCredentials() }
                }
            }
        } catch {
            return (events, error, [])
        }
        return (events, nil, reader.takeRest().map { Array(buffer: $0) } ?? [])
    }

    @Test("They are read wherever they are split, and what comes behind is the server's")
    func splits() {
        let addresses: [(bytes: [UInt8], place: SOCKS5Reader.Place)] = [
            ([1, 10, 0, 0, 7], .init(host: "10.0.0.7", port: 443, isAddress: true)),
            ([4] + [UInt8](repeating: 0, count: 15) + [1], .init(host: "::1", port: 443, isAddress: true)),
            (Self.name("Api.example.COM"), .init(host: "api.example.com", port: 443, isAddress: false)),
            (
                Self.name("api.example.com."),
                .init(host: "api.example.com", port: 443, isAddress: false, rootedName: "api.example.com.")
            ),
            (Self.name("10.0.0.7"), .init(host: "10.0.0.7", port: 443, isAddress: true)),
            (Self.name("2001:DB8::1"), .init(host: "2001:db8::1", port: 443, isAddress: true)),
        ]
        for (address, place) in addresses {
            let bytes = Self.greeting + Self.credentials + Self.request(address) + [22, 3, 1]
            let expected: [Event] = [
                .greeting(methods: [0, 2]), .credentials(user: Array("ada".utf8), password: []),
                .request(.connect, place),
            ]
            for split in 0...bytes.count {
                let (events, failure, rest) = Self.read([Array(bytes[..<split]), Array(bytes[split...])])
                #expect(events == expected && failure == nil && rest == [22, 3, 1], "split at \(split)")
            }
            let (events, failure, rest) = Self.read(bytes.map { [$0] })
            #expect(events == expected && failure == nil && rest == [22, 3, 1])
        }
    }

    @Test("Nothing is read before it is whole")
    func parts() {
        let bytes = Self.greeting + Self.credentials + Self.request(Self.name("a.example"))
        let (greeting, credentials) = (Self.greeting.count, Self.greeting.count + Self.credentials.count)
        for count in 0..<bytes.count {
            let expected = count < greeting ? 0 : count < credentials ? 1 : 2
            let (events, failure, _) = Self.read([Array(bytes[..<count])])
            #expect(events.count == expected && failure == nil, "\(count) bytes")
        }
    }

    @Test(
        "What is wrong is known at its first wrong byte",
        arguments: [
            ([4, 1, 0, 80], SOCKS5Reader.Failure.version(4)),
            ([71], .version(71)),
            ([5, 0], .noMethods),
            ([5, 1, 2, 2], .credentialsVersion(2)),
            ([5, 1, 2, 5, 1], .credentialsVersion(5)),
            ([5, 1, 0, 4], .requestVersion(4)),
            ([5, 1, 0, 5, 4], .command(4)),
            ([5, 1, 0, 5, 0], .command(0)),
            ([5, 1, 0, 5, 1, 0, 2], .addressType(2)),
            ([5, 1, 0, 5, 1, 0, 3, 0, 0, 80], .name([])),
            ([5, 1, 0, 5, 1, 0, 3, 3, 97, 0, 98, 0, 80], .name([97, 0, 98])),
            ([5, 1, 0, 5, 1, 0, 3, 4, 97, 58, 56, 48, 0, 80], .name(Array("a:80".utf8))),
            ([5, 1, 0, 5, 1, 0, 3, 1, 0xFF, 0, 80], .name([0xFF])),
            ([5, 1, 0, 5, 1, 0, 3, 4, 58, 58, 49, 0, 0, 80], .name([58, 58, 49, 0])),
            ([5, 1, 0, 5, 1, 0, 1, 1, 1, 1, 1, 0, 0], .noPort),
        ] as [([UInt8], SOCKS5Reader.Failure)]
    )
    func wrong(bytes: [UInt8], failure: SOCKS5Reader.Failure) {
        #expect(Self.read([bytes]).failure == failure)
        #expect(Self.read(bytes.map { [$0] }).failure == failure)
    }

    @Test("Other commands than CONNECT are known, with port 0, too")
    func commands() {
        let (bind, _, _) = Self.read([[5, 1, 0] + Self.request([1, 1, 2, 3, 4], command: 2)])
        let (udp, _, _) = Self.read([[5, 1, 0] + Self.request([1, 0, 0, 0, 0], command: 3, port: 0)])
        #expect(bind.last == .request(.bind, .init(host: "1.2.3.4", port: 443, isAddress: true)))
        #expect(udp.last == .request(.associate, .init(host: "0.0.0.0", port: 0, isAddress: true)))
    }
}
