import Dispatch
import HTTPModel
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing

@testable import ProxyServer

@Suite("Looking up names")
struct ResolverTests {
    private let eventLoop = MultiThreadedEventLoopGroup.singleton.next()

    /// A name server that answers each name once it is told to.
    private final class NameServer: Sendable {
        private let asked = Mutex<[String: DispatchSemaphore]>([:])
        private let names = Mutex<[String]>([])

        /// The names it was asked for, in order.
        var log: [String] { names.withLock { $0 } }

        @Sendable
        func lookUp(_ host: String, _ family: AddressFamily) throws -> [SocketAddress] {
            names.withLock { $0.append(host) }
            gate(host).wait()
            if host == "missing" { throw ExchangeFailure(.dns, "There is no such name.") }
            return [try SocketAddress(ipAddress: "192.0.2.1", port: 0)]
        }

        func answer(_ host: String) { gate(host).signal() }

        private func gate(_ host: String) -> DispatchSemaphore {
            asked.withLock { asked in
                let gate = asked[host] ?? DispatchSemaphore(value: 0)
                asked[host] = gate
                return gate
            }
        }
    }

    @Test("A name that several ask for is looked up once")
    func coalesced() async throws {
        let server = NameServer()
        let resolver = Resolver(lookUp: server.lookUp)
        let inquiries = (0..<10).map { _ in resolver.resolve("a", .v4, on: eventLoop) }
        server.answer("a")
        for inquiry in inquiries { #expect(try await inquiry.addresses.get().map(\.ipAddress) == ["192.0.2.1"]) }
        #expect(server.log == ["a"])
        let again = resolver.resolve("a", .v4, on: eventLoop)
        server.answer("a")
        _ = try await again.addresses.get()
        #expect(server.log == ["a", "a"], "what is over is not kept")
    }

    @Test("A failure is told to all who wait")
    func failure() async throws {
        let server = NameServer()
        let resolver = Resolver(lookUp: server.lookUp)
        let inquiries = (0..<2).map { _ in resolver.resolve("missing", .v4, on: eventLoop) }
        server.answer("missing")
        for inquiry in inquiries { await #expect(throws: ExchangeFailure.self) { try await inquiry.addresses.get() } }
    }

    @Test("Names that are not answered hold up no other")
    func slowNames() async throws {
        let server = NameServer()
        let resolver = Resolver(lookUp: server.lookUp)
        let slow = (0..<20).map { resolver.resolve("slow\($0)", .v4, on: eventLoop) }
        let quick = resolver.resolve("quick", .v4, on: eventLoop)
        server.answer("quick")
        _ = try await quick.addresses.get()
        for (number, inquiry) in slow.enumerated() {
            resolver.withdraw(inquiry)
            server.answer("slow\(number)")
            await #expect(throws: CancellationError.self) { try await inquiry.addresses.get() }
        }
    }

    @Test("Over the limit a name waits until another is answered or given up, and over that of threads for an answer")
    func limits() async throws {
        let server = NameServer()
        let resolver = Resolver(limit: 2, threadLimit: 3, lookUp: server.lookUp)
        let inquiries = ["a", "b", "c", "d", "e"].map { resolver.resolve($0, .v4, on: eventLoop) }
        try await eventually("two are asked for") { Set(server.log) == ["a", "b"] }
        resolver.withdraw(inquiries[0])
        try await eventually("one was given up, so another is asked for") { server.log.last == "c" }
        resolver.withdraw(inquiries[1])
        // Three threads are at work, and so the name that waits cannot have one.
        resolver.withdraw(inquiries[4])
        server.answer("a")
        try await eventually("one is answered, so another is asked for") { server.log.last == "d" }
        for name in ["b", "c", "d"] { server.answer(name) }
        _ = try await inquiries[2].addresses.get()
        _ = try await inquiries[3].addresses.get()
        #expect(server.log.count == 4, "what was given up while it waited was never asked for: \(server.log)")
    }

    @Test("There is a limit for names that wait, and one that is asked for again is adopted")
    func queue() {
        var names = NameLookUps<String, String>(limit: 1, threadLimit: 2, queueLimit: 2)
        let first = names.add("1", for: "a")
        #expect(names.next() == "a")
        #expect(names.next() == nil)
        #expect(names.remove(first ?? 0, for: "a") == "1")
        #expect(names.remove(first ?? 0, for: "a") == nil)
        _ = names.add("2", for: "a")
        _ = names.add("3", for: "b")
        #expect(names.next() == nil, "somebody waits for the first again")
        _ = names.add("4", for: "c")
        #expect(names.add("5", for: "d") == nil)
        #expect(names.add("6", for: "c") != nil)
        #expect(names.finished("a") == ["2"])
        #expect(names.next() == "b")
        #expect(names.finished("b") == ["3"])
        #expect(names.next() == "c")
        #expect(names.finished("c").sorted() == ["4", "6"])
        #expect(names.next() == nil)
    }

    @Test("A name in letters outside ASCII is asked for as the name system has it")
    func letters() async throws {
        let server = NameServer()
        let inquiry = Resolver(lookUp: server.lookUp).resolve("bücher.example", .v4, on: eventLoop)
        server.answer("xn--bcher-kva.example")
        _ = try await inquiry.addresses.get()
        #expect(server.log == ["xn--bcher-kva.example"])
    }
}
