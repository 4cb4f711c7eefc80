import Dispatch
import ExchangeCore
import HTTPModel
import Logging
import NIOCore
import NIOPosix
import Wire

/// The state of one event loop's connections: TLS contexts, the pool, the recorder's batch, the rules; nothing is
/// locked.
final class LoopContext {
    let eventLoop: any EventLoop
    let entrance: LoopEntrance
    let shared: SharedState
    let recorder: LoopRecorder
    let logger: Logger
    let serverTLS: TLSServerContext
    let clientTLS: TLSClientContext
    let mint: CertificateMint
    let pool: UpstreamPool
    var rules: ProxyRules { didSet { reverseChains = [:] } }
    private var reverseChains: [ReverseStages.Place: StageChain] = [:]
    var sweep: RepeatedTask?

    private var connections: [ObjectIdentifier: ClientConnection] = [:]
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    private(set) var isRecorderFull = false
    private(set) var isStopping = false

    init(_ entrance: LoopEntrance, shared: SharedState, rules: ProxyRules, outlet: @escaping RecordOutlet) throws {
        self.entrance = entrance
        eventLoop = entrance.eventLoop
        self.shared = shared
        self.rules = rules
        logger = shared.logger
        recorder = LoopRecorder(outlet: outlet, eventLoop: eventLoop)
        let configuration = shared.configuration
        serverTLS = try TLSServerContext(ticketKeys: shared.ticketKeys, keyLog: configuration.keyLog)
        clientTLS = try TLSClientContext(trust: configuration.trust, keyLog: configuration.keyLog)
        mint = try CertificateMint(authority: configuration.authority, leafKey: shared.leafKey)
        pool = UpstreamPool()
        recorder.onFull = { [weak self] isFull in self?.recorderBecameFull(isFull) }
    }

    var configuration: ProxyConfiguration { shared.configuration }

    func reverseChain(_ target: ReverseTarget, clientScheme: String) -> StageChain {
        let place = ReverseStages.Place(target: target, clientScheme: clientScheme)
        if let chain = reverseChains[place] { return chain }
        let chain = ReverseStages.chain(around: rules.chain, at: place, configuration.reverse)
        reverseChains[place] = chain
        return chain
    }

    /// Prepares a connection to a server; `nil` if a recording answers, so that no connection can be made.
    func makeServerBootstrap() -> ClientBootstrap? {
        configuration.answers == nil ? ClientBootstrap(group: eventLoop) : nil
    }

    private var hasTrust = false
    private(set) var trustLoad: EventLoopFuture<Void>?

    /// Calls `body` once the authorities are loaded, which may take 20 to 30 ms. TLS sessions report a failed load.
    func withTrust(_ body: @escaping () -> Void) {
        if hasTrust { return body() }
        let trust = shared.configuration.trust
        let load = trustLoad ?? NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try? trust.load() }
        trustLoad = load
        load.assumeIsolated().whenComplete { [self] _ in
            hasTrust = true
            body()
        }
    }

    private var keys: [LeafKey.Kind: EventLoopFuture<LeafKey>] = [:]

    /// Calls `body` once the mint has a key of this kind; another thread makes an RSA key, which takes some 100 ms.
    func makeKey(_ kind: LeafKey.Kind, _ body: @escaping (Result<Void, any Error>) -> Void) {
        let key = keys[kind] ?? NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try LeafKey(kind) }
        keys[kind] = key
        key.assumeIsolated().whenComplete { [self] result in body(Result { try mint.use(result.get()) }) }
    }

    private var works = 0

    /// Runs blocking work on another thread, `isHeavy` work one at a time; a stopping server waits a while for it.
    func offload<Value: Sendable>(
        isHeavy: Bool = false,
        _ work: @escaping @Sendable () throws -> Value,
        then deliver: @escaping (Result<Value, any Error>) -> Void
    ) {
        works += 1
        let finish = { [self] (result: Result<Value, any Error>) in
            works -= 1
            deliver(result)
        }
        let delivery = NIOLoopBound(finish, eventLoop: eventLoop)
        let perform = { @Sendable [entrance] (isActive: Bool) in
            let result = Result<Value, any Error> {
                guard isActive else { throw CancellationError() }
                return try work()
            }
            entrance.execute { delivery.value(result) }
        }
        if isHeavy {
            shared.heavyWork.async { perform(true) }
        } else {
            NIOThreadPool.singleton.submit { perform($0 == .active) }
        }
    }

    func performAfterwards(_ work: any BlockingWork) {
        offload {
            work.run()
        } then: { [logger] result in
            guard case .success(let outcome) = result, case .fail(let failure) = outcome.verdict else { return }
            logger.warning("\(failure.message)")
        }
    }

    func add(_ connection: ClientConnection) { connections[ObjectIdentifier(connection)] = connection }
    func remove(_ connection: ClientConnection) { connections[ObjectIdentifier(connection)] = nil }

    func add(_ exchange: Exchange) {
        exchanges[ObjectIdentifier(exchange)] = exchange
        if isRecorderFull { exchange.recorderBecameFull(true) }
    }

    func remove(_ exchange: Exchange) { exchanges[ObjectIdentifier(exchange)] = nil }

    var isBusy: Bool { works > 0 || !exchanges.isEmpty || connections.values.contains(where: \.isBusy) }

    private func recorderBecameFull(_ isFull: Bool) {
        guard isFull != isRecorderFull else { return }
        isRecorderFull = isFull
        for exchange in Array(exchanges.values) { exchange.recorderBecameFull(isFull) }
        if !isFull { for connection in Array(connections.values) { connection.resume() } }
    }

    /// Closes connections that exceed their idle time; runs once a second.
    func enforceTimeouts() {
        let now = eventLoop.now
        for connection in Array(connections.values) { connection.enforceTimeout(now: now) }
        for exchange in Array(exchanges.values) { exchange.enforceTimeout(now: now) }
        pool.closeIdle(before: now - configuration.timeouts.pooled)
    }

    /// Closes all idle connections to servers, or, without any, those of the most silent clients. Returns how many.
    func closeIdle() -> Int {
        let toServers = pool.closeIdle(before: .distantFuture)
        guard toServers == 0 else { return toServers }
        let (now, timeouts) = (eventLoop.now, configuration.timeouts)
        let idle = connections.values.filter { connection in
            let limit = connection.hasReceived ? timeouts.idleForOthers : timeouts.silentForOthers
            return now - connection.lastActivity > limit && !connection.isBusy
        }
        let closed = idle.sorted { $0.lastActivity < $1.lastActivity }.prefix(LoopContext.closedAtOnce)
        for connection in closed { connection.close(for: .forOthers(hint: configuration.connections.hint)) }
        return closed.count
    }

    /// How long the quietest connection that may be closed has been silent.
    func longestSilence() -> TimeAmount? { quietest?.time }

    /// Closes the quietest connection; returns whether there was one.
    func closeQuietest() -> Bool {
        guard let (connection, reason, time) = quietest else { return false }
        connection.giveWay(reason, after: time)
        return true
    }

    private var quietest: (connection: ClientConnection, reason: GivingWay, time: TimeAmount)? {
        let now = eventLoop.now
        return connections.values.compactMap { connection in
            connection.reasonToGiveWay(now: now).map { (connection: connection, reason: $0.reason, time: $0.time) }
        }.max { $0.time < $1.time }
    }

    private static let closedAtOnce = 8

    /// Accepts no further requests: idle connections are closed, busy ones after their exchange.
    func beginStopping() {
        isStopping = true
        for connection in Array(connections.values) { connection.beginStopping() }
    }

    /// Ends all exchanges; clients get the reason by the end of the tick.
    func interrupt() {
        sweep?.cancel()
        for exchange in Array(exchanges.values) {
            exchange.interrupt(ExchangeFailure(.stopped, "Sluice was stopped before the exchange was over."))
        }
    }

    func cut() {
        for connection in Array(connections.values) { connection.close() }
        pool.closeAll()
        recorder.flush()
    }
}
