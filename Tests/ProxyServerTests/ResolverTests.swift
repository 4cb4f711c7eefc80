import Dispatch
import ExchangeCore
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
        let inquiries = (0..<10).map { _ in resolver.resolve("a", .v4, for: .unknown, on: eventLoop) }
        server.answer("a")
        for inquiry in inquiries { #expect(try await inquiry.addresses.get().map(\.ipAddress) == ["192.0.2.1"]) }
        #expect(server.log == ["a"])
        let again = resolver.resolve("a", .v4, for: .unknown, on: eventLoop)
        server.answer("a")
        _ = try await again.addresses.get()
        #expect(server.log == ["a", "a"], "what is over is not kept")
    }

    @Test("A failure is told to all who wait")
    func failure() async throws {
        let server = NameServer()
        let resolver = Resolver(lookUp: server.lookUp)
        let inquiries = (0..<2).map { _ in resolver.resolve("missing", .v4, for: .unknown, on: eventLoop) }
        server.answer("missing")
        for inquiry in inquiries { await #expect(throws: ExchangeFailure.self) { try await inquiry.addresses.get() } }
    }

    @Test("Names that are not answered hold up no other")
    func slowNames() async throws {
        let server = NameServer()
        let resolver = Resolver(lookUp: server.lookUp)
        let slow = (0..<20).map { resolver.resolve("slow\($0)", .v4, for: .unknown, on: eventLoop) }
        let quick = resolver.resolve("quick", .v4, for: .unknown, on: eventLoop)
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
        let inquiries = ["a", "b", "c", "d", "e"].map { resolver.resolve($0, .v4, for: .unknown, on: eventLoop) }
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

    private typealias Names = NameLookUps<String, String>

    private func key(_ name: String, _ client: Int32 = 1) -> Names.Key {
        Names.Key(name: name, client: .process(client))
    }

    @Test("There is a limit for names that wait, and one that is asked for again is adopted")
    func queue() {
        var names = Names(limit: 1, threadLimit: 2, queueLimit: 2)
        let first = names.add("1", for: key("a"))
        #expect(names.next() == key("a"))
        #expect(names.next() == nil)
        #expect(names.remove(first ?? 0, for: key("a")) == "1")
        #expect(names.remove(first ?? 0, for: key("a")) == nil)
        _ = names.add("2", for: key("a"))
        _ = names.add("3", for: key("b"))
        #expect(names.next() == nil, "somebody waits for the first again")
        _ = names.add("4", for: key("c"))
        #expect(names.add("5", for: key("d")) == nil)
        #expect(names.add("6", for: key("c")) != nil)
        #expect(names.finished(key("a")) == ["2"])
        #expect(names.next() == key("b"))
        #expect(names.finished(key("b")) == ["3"])
        #expect(names.next() == key("c"))
        #expect(names.finished(key("c")).sorted() == ["4", "6"])
        #expect(names.next() == nil)
    }

    @Test(
        "A client whose names nobody answers leaves others room: to wait, to be looked up, and in what runs unawaited"
    )
    func shares() {
        var names = Names(limit: 8, threadLimit: 16, queueLimit: 16)
        let (many, other) = (Int32(1), Int32(2))
        var waiting: [(number: Int, key: Names.Key)] = []
        func fill(_ range: Range<Int>) {
            for key in range.map({ key("slow\($0)", many) }) {
                if let number = names.add("x", for: key) { waiting.append((number, key)) }
            }
        }
        func run() -> Int {
            var count = 0
            while names.next() != nil { count += 1 }
            return count
        }
        fill(0..<40)
        #expect(waiting.count == 14, "so many may wait")
        #expect(run() == 7, "so many run")
        fill(40..<80)
        #expect(waiting.count == 21)
        #expect(names.add("y", for: key("quick", other)) != nil)
        #expect(names.next() == key("quick", other))
        for round in [7, 0] {
            // What is given up goes on, and counts too.
            for (number, key) in waiting { _ = names.remove(number, for: key) }
            waiting = []
            // Other names, as one that still runs would be adopted.
            fill(round == 0 ? 120..<160 : 80..<120)
            #expect(run() == round)
        }
        #expect(names.add("z", for: key("another", other)) != nil)
        #expect(names.next() == key("another", other))
    }

    @Test("Names that wait take turns by client, and each client has its own name")
    func turns() {
        var names = Names(limit: 16, threadLimit: 16, queueLimit: 16)
        for name in ["a", "b", "c"] { _ = names.add("1", for: key(name, 1)) }
        for name in ["a", "d"] { _ = names.add("2", for: key(name, 2)) }
        var order: [Names.Key] = []
        while let next = names.next() { order.append(next) }
        #expect(order == [key("a", 1), key("a", 2), key("b", 1), key("d", 2), key("c", 1)])
    }

    @Test("A name in letters outside ASCII is asked for as the name system has it")
    func letters() async throws {
        let server = NameServer()
        let inquiry = Resolver(lookUp: server.lookUp).resolve("bücher.example", .v4, for: .unknown, on: eventLoop)
        server.answer("xn--bcher-kva.example")
        _ = try await inquiry.addresses.get()
        #expect(server.log == ["xn--bcher-kva.example"])
    }
}
