import ExchangeCore
package import HTTPModel
package import Logging
package import NIOCore
import NIOPosix
import Synchronization
import Wire

/// A running proxy: its listener, its event loops, and the rules they follow.
package final class ProxyServer: Sendable {
    package let address: SocketAddress
    /// The messages that wait for a decision.
    package var holds: HoldBoard { shared.holds }

    /// The SHA-256 of the key that all certificates of this proxy have, as ``LeafKey/publicKeyHash`` has it.
    package var leafKeyHash: [UInt8]? { shared.leafKey.publicKeyHash }

    /// A number for an exchange that comes from elsewhere than the traffic.
    package func makeExchangeID() -> ExchangeID { shared.makeExchangeID() }
    /// A number for a connection of such an exchange.
    package func makeConnectionID() -> ConnectionID { shared.makeConnectionID() }

    let shared: SharedState
    private let group: MultiThreadedEventLoopGroup
    private let loops: [NIOLoopBound<LoopContext>]
    private let listener: any Channel

    /// Starts a proxy; `makeOutlet` makes the outlet for the records of one event loop, and `logger` gets what goes wrong
    /// outside any exchange.
    ///
    /// Throws `IOError` where the address cannot be listened on, and OpenSSL's reason where TLS cannot be set up.
    package static func start(
        _ configuration: ProxyConfiguration,
        rules: ProxyRules = ProxyRules(),
        makeOutlet: @escaping RecordOutletFactory,
        logger: Logger
    ) async throws -> ProxyServer {
        let shared = try SharedState(configuration, logger: logger)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.loopCount)
        do {
            var loops: [NIOLoopBound<LoopContext>] = []
            for eventLoop in group.makeIterator() {
                loops.append(try await makeLoop(eventLoop, shared, rules, makeOutlet))
            }
            let byLoop = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0.eventLoop), $0) })
            let listener = try await listen(configuration, group, byLoop, logger)
            return try ProxyServer(shared: shared, group: group, loops: loops, listener: listener)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private struct WeakContext {
        weak var context: LoopContext?
    }

    private static func makeLoop(
        _ eventLoop: any EventLoop,
        _ shared: SharedState,
        _ rules: ProxyRules,
        _ makeOutlet: @escaping RecordOutletFactory
    ) async throws -> NIOLoopBound<LoopContext> {
        try await eventLoop.submit {
            // Weakly, since the context keeps the outlet, which keeps the callback.
            let box = NIOLoopBoundBox(WeakContext(), eventLoop: eventLoop)
            let outlet = makeOutlet { eventLoop.execute { box.value.context?.recorder.onFull?(false) } }
            let context = try LoopContext(eventLoop: eventLoop, shared: shared, rules: rules, outlet: outlet)
            box.value.context = context
            let bound = NIOLoopBound(context, eventLoop: eventLoop)
            context.sweep = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
                bound.value.enforceTimeouts()
            }
            return bound
        }.get()
    }

    private static func listen(
        _ configuration: ProxyConfiguration,
        _ group: MultiThreadedEventLoopGroup,
        _ loops: [ObjectIdentifier: NIOLoopBound<LoopContext>],
        _ logger: Logger
    ) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let gate = AcceptGate(loops: Array(loops.values), logger: logger)
                    try channel.pipeline.syncOperations.addHandler(gate)
                }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let loop = loops[ObjectIdentifier(channel.eventLoop)]?.value,
                        configuration.access.allows(channel.remoteAddress)
                            || loop.rules.access?.allows(channel.remoteAddress) == true
                    else {
                        // Not even an answer: a client that may not use the proxy need not learn that it is one.
                        channel.close(promise: nil)
                        return
                    }
                    try channel.pipeline.syncOperations.addHandler(ClientConnection(loop: loop, channel: channel))
                }
            }
            .bind(host: configuration.host, port: configuration.port)
            .get()
    }

    private init(
        shared: SharedState,
        group: MultiThreadedEventLoopGroup,
        loops: [NIOLoopBound<LoopContext>],
        listener: any Channel
    ) throws {
        guard let address = listener.localAddress else { throw ChannelError.unknownLocalAddress }
        self.shared = shared
        self.group = group
        self.loops = loops
        self.listener = listener
        self.address = address
        shared.ownAddresses.withLock { $0 = ProxyServer.ownAddresses(address) }
    }

    /// The listener's address; for one that listens everywhere, those of every interface with its port.
    private static func ownAddresses(_ address: SocketAddress) -> [SocketAddress] {
        guard let host = address.ipAddress, host == "0.0.0.0" || host == "::", let port = address.port else {
            return [address]
        }
        let devices = (try? System.enumerateDevices()) ?? []
        let hosts = devices.compactMap { $0.address?.ipAddress } + [host, "127.0.0.1", "::1"]
        return hosts.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
    }

    /// Puts other rules in force for exchanges that begin after this returns; those going on keep theirs.
    package func replaceRules(_ rules: ProxyRules) async {
        for loop in loops { try? await loop.eventLoop.submit { loop.value.rules = rules }.get() }
    }

    /// Stops: takes no more clients, lets exchanges finish, and cuts what is left after the grace period.
    ///
    /// All records are in the outlets when this returns.
    package func stop(grace: Duration = .seconds(3)) async {
        try? await listener.close().get()
        for loop in loops { loop.eventLoop.execute { loop.value.beginStopping() } }
        await settle(within: grace)
        for loop in loops {
            try? await loop.eventLoop.submit { loop.value.interrupt() }.get()
            try? await loop.eventLoop.submit { loop.value.cut() }.get()
        }
        // What is still being done for the exchanges that were cut, or was left by them.
        await settle(within: max(grace, .seconds(1)))
        // A process must not end while OpenSSL is at work on another thread.
        for loop in loops {
            try? await loop.eventLoop.flatSubmit {
                loop.value.trustLoad ?? loop.eventLoop.makeSucceededVoidFuture()
            }.get()
        }
        try? await group.shutdownGracefully()
    }

    private func settle(within grace: Duration) async {
        let deadline = ContinuousClock.now + grace
        while ContinuousClock.now < deadline, await isBusy() {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func isBusy() async -> Bool {
        for loop in loops where (try? await loop.eventLoop.submit { loop.value.isBusy }.get()) == true { return true }
        return false
    }
}
