import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Support
import Testing

@Suite("Requests that lead back to the proxy")
struct LoopTests {
    /// How a client asks for a URL of the proxy's own port.
    enum Way: CaseIterable {
        case absolute
        case hostField
        case connect

        func request(to authority: String) -> String {
            switch self {
            case .absolute: "GET http://\(authority)/ HTTP/1.1\r\nHost: x\r\n\r\n"
            case .hostField: "GET / HTTP/1.1\r\nHost: \(authority)\r\n\r\n"
            case .connect:
                "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\nGET / HTTP/1.1\r\nHost: \(authority)\r\n\r\n"
            }
        }
    }

    private static let hasIPv6 =
        (try? System.enumerateDevices())?.contains { $0.address?.ipAddress == "::1" } == true

    /// Where the proxy listens, and a name for it that is not written so.
    private static let places: [(listening: String, name: String)] = {
        var places = [("127.0.0.1", "0.0.0.0"), ("127.0.0.1", "0")]
        #if os(Linux)
        places.append(("0.0.0.0", "127.5.6.7"))
        #endif
        if hasIPv6 {
            places += [("::1", "[::]"), ("::", "0.0.0.0"), ("::", "127.5.6.7")]
        }
        return places
    }()

    /// Has a request sent that leads back, and checks that one exchange says so and that there is no other.
    private static func check(
        _ request: (_ port: Int) -> String,
        listening: String,
        rules: ProxyRules = ProxyRules(),
        isAnswered: Bool = true
    ) async throws {
        try await LoopbackProxy.run(rules: rules, host: listening) { proxy in
            let client = try await LoopbackClient(port: proxy.port, host: listening == "::1" ? "::1" : "127.0.0.1")
            try await client.send(request(proxy.port))
            if isAnswered {
                try await client.receives("leads back to this proxy")
                #expect(client.text.contains("HTTP/1.1 508 "))
            } else {
                try await eventually("the tunnel is cut") { client.isClosed }
            }
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            #expect(proxy.recorder.finished.map(\.record.failure?.code) == [.loop])
            #expect(proxy.recorder.begun == 1)
        }
    }

    @Test("They are stopped at once, whatever they call it", arguments: places, Way.allCases)
    func spellings(place: (listening: String, name: String), way: Way) async throws {
        try await Self.check({ way.request(to: "\(place.name):\($0)") }, listening: place.listening)
    }

    @Test("Where a rule leads them back they are stopped too")
    func rules() async throws {
        let stage = ScriptedStage.on(.dnsSpoofing) { handler in
            handler.onRequestHead = { _, exchange in
                exchange.destination.address = "0.0.0.0"
                return .forward
            }
        }
        try await Self.check(
            { "GET http://server.example:\($0)/ HTTP/1.1\r\nHost: x\r\n\r\n" },
            listening: "127.0.0.1",
            rules: ProxyRules(chain: StageChain([stage]))
        )
    }

    @Test("A tunnel that is not read is cut with its first bytes")
    func tunnel() async throws {
        try await Self.check(
            { Way.connect.request(to: "0.0.0.0:\($0)") },
            listening: "127.0.0.1",
            rules: ProxyRules(decrypts: { _, _, _ in false }),
            isAnswered: false
        )
    }
}
