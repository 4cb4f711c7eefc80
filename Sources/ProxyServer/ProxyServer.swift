package import HTTPModel
package import Logging
package import NIOCore
import NIOPosix
import Synchronization
import Wire

/// A running proxy with its listeners and event loops.
package final class ProxyServer: Sendable {
    package struct Listening: Sendable {
        package let mode: ListenerMode
        package let address: SocketAddress
    }

    package let listening: [Listening]
    /// The address of the first forward proxy; without a forward proxy, the first listener's address.
    package let address: SocketAddress
    package var holds: HoldBoard { shared.holds }

    /// The SHA-256 of the public key in all certificates that this proxy makes (``LeafKey/publicKeyHash``).
    package var leafKeyHash: [UInt8]? { shared.leafKey.publicKeyHash }

    /// For exchanges that are not proxied traffic, and their connections.
    package func makeExchangeID() -> ExchangeID { shared.makeExchangeID() }
    package func makeConnectionID() -> ConnectionID { shared.makeConnectionID() }

    let shared: SharedState
    private let group: MultiThreadedEventLoopGroup
    private let loops: [Loop]
    private let channels: [any Channel]
    /// Set when the proxy is stopping.
    private let ending = Mutex<EventLoopFuture<Void>?>(nil)

    /// Starts a proxy; `makeOutlet` makes a loop's outlet for records. All listeners have their ports before the first
    /// client is accepted. Throws ``ListeningError`` if a port cannot be opened, and OpenSSL's error if TLS fails.
    package static func start(
        _ configuration: ProxyConfiguration,
        rules: ProxyRules = ProxyRules(),
        makeOutlet: @escaping RecordOutletFactory,
        logger: Logger
    ) async throws -> ProxyServer {
        let shared = try SharedState(configuration, logger: logger)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.loopCount)
        do {
            // Each loop makes its TLS contexts on its own thread.
            let starting = group.makeIterator().map { makeLoop(LoopEntrance($0), shared, rules, makeOutlet) }
            let loops = try await EventLoopFuture.whenAllSucceed(starting, on: group.any()).get()
            let contexts = loops.map { (ObjectIdentifier($0.entrance.eventLoop), $0.context) }
            let byLoop = Dictionary(uniqueKeysWithValues: contexts)
            var channels: [any Channel] = []
            for listener in configuration.listeners {
                do {
                    channels.append(try await listen(listener, shared, group, byLoop, logger))
                } catch {
                    throw ListeningError(listener: listener, cause: error)
                }
            }
            let server = try ProxyServer(shared: shared, group: group, loops: loops, channels: channels)
            for channel in channels { try await channel.setOption(.autoRead, value: true).get() }
            return server
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private struct WeakContext { weak var context: LoopContext? }

    private struct Loop {
        let context: NIOLoopBound<LoopContext>
        let entrance: LoopEntrance
    }

    private static func makeLoop(
        _ entrance: LoopEntrance,
        _ shared: SharedState,
        _ rules: ProxyRules,
        _ makeOutlet: @escaping RecordOutletFactory
    ) -> EventLoopFuture<Loop> {
        let eventLoop = entrance.eventLoop
        return eventLoop.submit {
            // Weakly, because the context keeps the outlet, which keeps the callback.
            let box = NIOLoopBoundBox(WeakContext(), eventLoop: eventLoop)
            let outlet = makeOutlet { entrance.execute { box.value.context?.recorder.onFull?(false) } }
            let context = try LoopContext(entrance, shared: shared, rules: rules, outlet: outlet)
            box.value.context = context
            let bound = NIOLoopBound(context, eventLoop: eventLoop)
            context.sweep = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
                bound.value.enforceTimeouts()
            }
            return Loop(context: bound, entrance: entrance)
        }
    }

    /// Binds a port; clients wait until the channel is read.
    private static func listen(
        _ listener: Listener,
        _ shared: SharedState,
        _ group: MultiThreadedEventLoopGroup,
        _ loops: [ObjectIdentifier: NIOLoopBound<LoopContext>],
        _ logger: Logger
    ) async throws -> any Channel {
        let (access, counts) = (shared.configuration.access, shared.clientCounts)
        let refused = RefusedClients()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.autoRead, value: false)
            // Accepts one client at a time, so that no more are accepted than allowed.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let gate = AcceptGate(loops: Array(loops.values), counts: counts, logger: logger)
                    try channel.pipeline.syncOperations.addHandler(gate)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let loop = loops[ObjectIdentifier(channel.eventLoop)]?.value,
                        access.allows(channel.remoteAddress) || loop.rules.access?.allows(channel.remoteAddress) == true
                            || listener.mode == .transparent && isOfThisMachine(channel.remoteAddress)
                    else {
                        // Not even an answer: a client without permission need not learn that this is a proxy.
                        if let client = refused.new(channel.remoteAddress) {
                            logger.notice("the client \(client) may not use the proxy and was refused (--allow)")
                        }
                        return channel.close(promise: nil)
                    }
                    let admission = counts.admit(channel, now: loop.eventLoop.now)
                    if case .tooMany(let limit, let isNew) = admission {
                        let client = channel.remoteAddress.map(describe) ?? ""
                        let text = "has \(limit) connections open; further ones are closed (--max-client-connections)"
                        if isNew { logger.warning("the client \(client) \(text)") }
                        return channel.close(promise: nil)
                    }
                    let connection = ClientConnection(loop: loop, listener: listener, channel: channel)
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
        // An address is not looked up: if an interface has IPv4 and only loopback IPv6, getaddrinfo does not know `::`.
        if let address = try? SocketAddress(ipAddress: listener.host, port: listener.port) {
            return try await bootstrap.bind(to: address).get()
        }
        return try await bootstrap.bind(host: listener.host, port: listener.port).get()
    }

    /// Whether a client's address belongs to this machine: its redirected connections keep their source address.
    private static func isOfThisMachine(_ address: SocketAddress?) -> Bool {
        guard let bytes = address.flatMap(AccessRules.Network.bytes) else { return false }
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.contains { $0.address.flatMap(AccessRules.Network.bytes) == bytes }
    }

    private init(
        shared: SharedState,
        group: MultiThreadedEventLoopGroup,
        loops: [Loop],
        channels: [any Channel]
    ) throws {
        self.shared = shared
        self.group = group
        self.loops = loops
        self.channels = channels
        listening = try zip(shared.configuration.listeners, channels).map { listener, channel in
            guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
            return Listening(mode: listener.mode, address: address)
        }
        guard let first = listening.first(where: { $0.mode == .regular }) ?? listening.first else {
            throw ChannelError.unknownLocalAddress
        }
        address = first.address
        let own = listening.flatMap { ProxyServer.ownAddresses($0.address) }
        shared.ownAddresses.withLock { $0 = own }
    }

    /// The listener's address; for a wildcard address, those of every interface with its port.
    private static func ownAddresses(_ address: SocketAddress) -> [SocketAddress] {
        guard let host = address.ipAddress, host == "0.0.0.0" || host == "::", let port = address.port else {
            return [address]
        }
        let devices = (try? System.enumerateDevices()) ?? []
        let hosts = devices.compactMap { $0.address?.ipAddress } + [host, "127.0.0.1", "::1"]
        return hosts.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
    }

    /// Replaces the rules for exchanges that begin after this returns; earlier ones keep theirs.
    package func replaceRules(_ rules: ProxyRules) async {
        for loop in loops { await loop.entrance.perform { loop.context.value.rules = rules } }
    }

    /// Accepts no more clients, lets exchanges finish, and ends the rest after the grace period; then all records are
    /// in the outlets. Further callers wait for the same shutdown.
    package func stop(grace: Duration = .seconds(3)) async {
        let end = ending.withLock { ending in
            let end =
                ending
                ?? MultiThreadedEventLoopGroup.singleton.any().makeFutureWithTask { await self.end(after: grace) }
            ending = end
            return end
        }
        try? await end.get()
    }

    private func end(after grace: Duration) async {
        for channel in channels { try? await channel.close().get() }
        let contexts = loops.map(\.context)
        for loop in contexts { loop.eventLoop.execute { loop.value.beginStopping() } }
        await settle(within: grace)
        for loop in contexts {
            try? await loop.eventLoop.submit { loop.value.interrupt() }.get()
            try? await loop.eventLoop.submit { loop.value.cut() }.get()
        }
        // Waits for work of the exchanges that were interrupted.
        await settle(within: max(grace, .seconds(1)))
        // The loops end now, so other threads may no longer schedule on them. Their unfinished work is not awaited.
        for loop in loops { loop.entrance.shut() }
        // A process must not end while OpenSSL is at work on another thread.
        for loop in contexts {
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
        for loop in loops.map(\.context) {
            if (try? await loop.eventLoop.submit { loop.value.isBusy }.get()) == true { return true }
        }
        return false
    }

    /// Decrypts a host again for clients that refused Sluice's certificate, at `port` or all. Returns how many pairs.
    package func decryptAgain(_ host: String, port: Int?) -> Int {
        shared.refusals.withLock { $0.forget(host: host, port: port).count }
    }

    /// Turns certificate verification of a host on or off for new connections; `nil` toggles. Returns the new setting.
    package func setVerified(_ host: String, _ isVerified: Bool?) -> Bool {
        shared.setVerified(host.lowercased(), isVerified)
    }

    /// Hosts with ports that are not decrypted for some client because it refused Sluice's certificate, sorted.
    package var undecryptedHosts: [String] {
        let pairs = shared.refusals.withLock { $0.undecrypted }
        return Set(pairs.map(Undecrypted.place)).sorted()
    }
}
