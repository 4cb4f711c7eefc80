import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@testable import ProxyServer

@Suite("Clients with which TLS does not come about", .timeLimit(.minutes(1)))
struct UnreadClientTests {
    /// Knows the programs of clients as the test says, at once or when it is told to.
    private final class Programs: ClientProcessSource {
        private struct State {
            var name: String?
            var isLate = false
            var waiting: [@Sendable () -> Void] = []
        }

        private let state = Mutex(State())

        func use(_ name: String?, isLate: Bool = false) {
            state.withLock { ($0.name, $0.isLate) = (name, isLate) }
        }

        func find(client: SocketAddress, proxy: SocketAddress, deliver: @escaping @Sendable (ClientProcess?) -> Void) {
            state.withLock { state in
                let process = state.name.map { ClientProcess(id: 1, name: $0) }
                state.waiting.append { deliver(process) }
            }
            if !state.withLock({ $0.isLate }) { tell() }
        }

        func hasClosed(client: SocketAddress, proxy: SocketAddress) -> Bool { false }

        func tell() {
            let waiting = state.withLock { state in
                let waiting = state.waiting
                state.waiting = []
                return waiting
            }
            for deliver in waiting { deliver() }
        }
    }

    /// A hello of TLS 1.0 alone, with one cipher suite and no server name.
    private static let hello: [UInt8] = {
        let body = [3, 1] + Array("32 bytes that should be random..".utf8) + [0, 0, 2, 0xC0, 0x13, 1, 0]
        return [22, 3, 1, 0, UInt8(body.count + 4), 1, 0, 0, UInt8(body.count)] + body
    }()

    private let programs = Programs()
    private let origin: EndingOrigin

    init() async throws { origin = try await EndingOrigin(awaits: "random", answer: "from the server", end: .clean) }

    /// Sends the hello through a tunnel.
    private func begin(_ proxy: LoopbackProxy, host: String = "localhost") async throws -> EndingClient {
        let client = try await EndingClient(port: proxy.port)
        try await client.send("CONNECT \(host):\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        try await client.receives("\r\n\r\n")
        try await client.send(Self.hello)
        return client
    }

    /// Does it in vain.
    private func fails(_ proxy: LoopbackProxy, host: String = "localhost") async throws {
        let count = failures(proxy).count
        let client = try await begin(proxy, host: host)
        try await eventually("the failure is recorded") { failures(proxy).count == count + 1 }
        #expect(!client.log.text.contains("server"))
    }

    private func failures(_ proxy: LoopbackProxy) -> [ExchangeFailure?] {
        proxy.recorder.finished.filter { $0.record.kind == .failedHandshake }.map(\.record.failure)
    }

    @Test(
        "One of another version gets a tunnel after the second failure, which says why",
        arguments: ["localhost", "127.0.0.1"]
    )
    func sharesNothing(host: String) async throws {
        try await LoopbackProxy.run { proxy in
            try await fails(proxy, host: host)
            #expect(failures(proxy).last??.hint.isEmpty == true)
            try await fails(proxy, host: host)
            #expect(failures(proxy).last??.hint.contains("pass undecrypted") == true)
            #expect(failures(proxy).last??.message.contains("only TLS versions that Sluice does not accept") == true)
            try await begin(proxy, host: host).receives("from the server")
            try await eventually("the tunnel is recorded") { proxy.recorder.finished.last?.record.kind == .tunnel }
            let (record, messages) = try #require(proxy.recorder.finished.last)
            #expect(record.flags.contains(.certificateRefused))
            let note = "not decrypted, because the client 127.0.0.1 and Sluice have no TLS version"
            #expect(messages.trace.contains { $0.text.hasPrefix(note) }, "\(messages.trace)")
        }
    }

    @Test("What one program does not accept leaves the others at its address alone, even if it is known late")
    func programs() async throws {
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.identity = .seconds(60)
        try await LoopbackProxy.run(timeouts: timeouts, processes: programs) { proxy in
            programs.use("pinned")
            for _ in 1...2 { try await fails(proxy) }
            programs.use("browser")
            try await fails(proxy)
            programs.use("pinned", isLate: true)
            let pinned = try await begin(proxy)
            #expect(origin.log.text.isEmpty)
            programs.tell()
            try await pinned.receives("from the server")
            programs.use("browser", isLate: true)
            let count = failures(proxy).count
            let browser = try await begin(proxy)
            programs.tell()
            try await eventually("it is decrypted") { failures(proxy).count == count + 1 }
            #expect(!browser.log.text.contains("server"))
        }
    }

    @Test("A program that stays unknown is decrypted after a moment, and one that is known after it failed is counted")
    func unknown() async throws {
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.identity = .milliseconds(1)
        try await LoopbackProxy.run(timeouts: timeouts, processes: programs) { proxy in
            programs.use("pinned", isLate: true)
            for _ in 1...2 { try await fails(proxy) }
            programs.tell()
            try await eventually("both count") { !proxy.server.undecryptedHosts.isEmpty }
            programs.use("pinned")
            try await begin(proxy).receives("from the server")
            programs.use("nobody knows", isLate: true)
            try await fails(proxy)
        }
    }

    @Test("Where a rule has to read the host there is no tunnel, and the failure says so")
    func rules() async throws {
        struct Reading: StagePreselection {
            func candidates(for url: RequestURL) -> UInt64 { 0 }
            func reader(of url: RequestURL) -> Int? { url.host == "localhost" ? 0 : nil }
        }
        let chain = StageChain([ScriptedStage.on(.rewrite) { _ in }], preselection: Reading())
        try await LoopbackProxy.run(rules: ProxyRules(chain: chain)) { proxy in
            for _ in 1...4 { try await fails(proxy) }
            let hint = "do not pass undecrypted, because a rule of 'rewrite' must read them"
            #expect(failures(proxy).allSatisfy { $0?.hint.contains(hint) == true }, "\(failures(proxy))")
            #expect(origin.log.text.isEmpty)
            // Other hosts are as before.
            for _ in 1...2 { try await fails(proxy, host: "127.0.0.1") }
            try await begin(proxy, host: "127.0.0.1").receives("from the server")
        }
    }
}
