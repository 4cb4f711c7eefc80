import Foundation
import HTTPModel
import NIOCore
import NIOPosix
import Wire

/// Connects to a peer and waits until the connection is ready (RFC 8305 §5): address families alternate, the next
/// address is tried after a failure or 250 ms, and the first TCP connection wins.
final class ConnectAttempt {
    typealias Outcome = Result<EstablishedUpstream, ExchangeFailure>

    private let loop: LoopContext
    private let authority: String
    private let proxy: UpstreamProxy?
    private let addHandlers: (any Channel) throws -> UpstreamConnection
    private var addresses = AddressQueue()
    private var hasAllAddresses = false
    private var completion: ((Outcome) -> Void)?
    private var running: [ObjectIdentifier: any Channel] = [:]
    private var winner: (any Channel)?
    private var winningSocket: UpstreamConnection?
    private var next: Scheduled<Void>?
    private var limit: Scheduled<Void>?
    private var hasMadeRoom = false
    private var underway = 0
    private var lastBegan = NIODeadline.distantPast
    /// The tried addresses in order; `outcome` is `nil` while an attempt runs.
    private var tried: [(address: SocketAddress, outcome: String?)] = []
    /// The most telling error of an attempt.
    private var error: (any Error)?
    /// The address of that error.
    private var failedAddress: SocketAddress?

    /// How long an address has before the next one is tried too (RFC 8305 §8, Connection Attempt Delay).
    static let attemptDelay = TimeAmount.milliseconds(250)

    init(
        loop: LoopContext,
        authority: String,
        proxy: UpstreamProxy?,
        addHandlers: @escaping (any Channel) throws -> UpstreamConnection
    ) {
        self.loop = loop
        self.authority = authority
        self.proxy = proxy
        self.addHandlers = addHandlers
    }

    func add(_ found: [SocketAddress], areAll: Bool) {
        addresses.add(found)
        hasAllAddresses = areAll
        guard completion != nil, winner == nil else { return }
        if underway == 0 {
            if addresses.isEmpty { endIfDone() } else { tryNext() }
        } else if next == nil, !addresses.isEmpty {
            // The delay counts from the last attempt, not from the arrival of this address.
            scheduleNext(at: max(loop.eventLoop.now, lastBegan + Self.attemptDelay))
        }
    }

    /// The peer, at the beginning of a sentence.
    private var peer: String { proxy.map { "The upstream proxy \($0)" } ?? authority }

    private(set) var connectedAt: NIODeadline?
    private(set) var proxyConnection: (connection: ConnectionID, address: String)?

    func start(_ completion: @escaping (Outcome) -> Void) {
        self.completion = completion
        let seconds = loop.configuration.timeouts.connect
        limit = loop.eventLoop.assumeIsolated().scheduleTask(in: seconds) { [self] in
            let hint =
                "The \(proxy != nil && winningSocket?.isOpen != true ? "proxy" : "server") may be down, or a firewall drops the packets; "
                + "--connect-timeout sets the limit."
            let text = "\(unfinished) within \(seconds.inWords)."
            finish(.failure(ExchangeFailure(.timeout, text, hint: hint)))
        }
    }

    /// The beginning of a sentence.
    private var unfinished: String {
        if winner == nil {
            return "No connection to \(proxy.map { "the upstream proxy \($0)" } ?? authority) came about"
        }
        if let proxy, winningSocket?.isOpen != true {
            return "The upstream proxy \(proxy) opened no way to \(authority)"
        }
        return "The TLS handshake with \(authority) did not finish"
    }

    func cancel() {
        completion = nil
        stop()
    }

    private func tryNext() {
        next?.cancel()
        next = nil
        guard completion != nil, winner == nil, let address = addresses.next() else { return }
        guard let bootstrap = loop.makeServerBootstrap() else { return finish(.failure(.noConnection(authority))) }
        underway += 1
        tried.append((address, nil))
        lastBegan = loop.eventLoop.now
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let box = NIOLoopBoundBox<UpstreamConnection?>(nil, eventLoop: loop.eventLoop)
        bootstrap
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connectTimeout(loop.configuration.timeouts.connect)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let socket = try bound.value.addHandlers(channel)
                    box.value = socket
                    bound.value.watch(socket, channel)
                    bound.value.running[ObjectIdentifier(channel)] = channel
                }
            }
            .connect(to: address)
            .assumeIsolated()
            .whenFailure { [self] error in
                if let channel = box.value?.channel { running[ObjectIdentifier(channel)] = nil }
                box.value = nil
                note(address, Self.outcome(of: error))
                if !hasMadeRoom, (error as? IOError)?.isShortage == true {
                    hasMadeRoom = true
                    if loop.closeIdle() > 0 {
                        addresses.putBack(address)
                        tried.removeAll { $0.address == address }
                    }
                }
                failed(error, address)
            }
        if !addresses.isEmpty { scheduleNext(at: lastBegan + Self.attemptDelay) }
    }

    private func scheduleNext(at moment: NIODeadline) {
        next = loop.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [self] in tryNext() }
    }

    private func watch(_ socket: UpstreamConnection, _ channel: any Channel) {
        socket.onConnected = { [weak self, weak socket] in self?.connected(channel, socket) }
        socket.onReady = { [weak self] result in
            guard let self, winner === channel else { return }
            switch result {
            case .success(let upstream):
                running[ObjectIdentifier(channel)] = nil
                finish(.success(upstream))
            case .failure(let error): finish(.failure(failure(error)))
            }
        }
    }

    private func connected(_ channel: any Channel, _ socket: UpstreamConnection?) {
        guard winner == nil, completion != nil else { return channel.close(promise: nil) }
        winner = channel
        connectedAt = loop.eventLoop.now
        winningSocket = socket
        if proxy != nil, let record = socket?.record { proxyConnection = (record.id, record.peerAddress) }
        if let address = channel.remoteAddress { note(address, Self.connectedOutcome) }
        next?.cancel()
        next = nil
        for (id, other) in running where id != ObjectIdentifier(channel) { other.close(promise: nil) }
    }

    private func failed(_ error: any Error, _ address: SocketAddress) {
        underway -= 1
        guard winner == nil else { return }
        if self.error == nil || !Self.isUnreachable(error) { (self.error, failedAddress) = (error, address) }
        if addresses.isEmpty { endIfDone() } else { tryNext() }
    }

    private static let connectedOutcome = "connected"
    private static let silentOutcome = "did not answer"
    private static let unreachableOutcome = "cannot be reached"

    private func note(_ address: SocketAddress, _ outcome: String) {
        guard let index = tried.lastIndex(where: { $0.address == address && $0.outcome == nil }) else { return }
        tried[index].outcome = outcome
    }

    private static func outcome(of error: any Error) -> String {
        if isUnreachable(error) { return unreachableOutcome }
        switch (error as? IOError)?.errnoCode {
        case ECONNREFUSED: return "refused"
        case ECONNRESET: return "reset"
        case nil, ETIMEDOUT: return silentOutcome
        default: return "failed"
        }
    }

    /// The tried addresses in words. `nil` if one connected and all others cannot be reached, and for a single address
    /// that connected or that the client requested itself.
    func account(ofName isNamed: Bool) -> String? {
        guard tried.count > 1 || isNamed && !tried.isEmpty && connectedAt == nil else { return nil }
        let outcomes = tried.map { $0.outcome ?? Self.silentOutcome }
        let isPlain = outcomes.allSatisfy { [Self.connectedOutcome, Self.unreachableOutcome].contains($0) }
        guard !isPlain || !outcomes.contains(Self.connectedOutcome) else { return nil }
        let all = zip(tried, outcomes).map { "\(describe($0.address)) (\($1))" }
        return "addresses tried: \(all.joined(separator: ", "))"
    }

    private func endIfDone() {
        guard underway == 0, hasAllAddresses else { return }
        finish(.failure(error.map(failure) ?? ExchangeFailure(.dns, "No address of \(authority) was found.")))
    }

    /// Whether an error says only that this machine has no route to addresses of this family.
    private static func isUnreachable(_ error: any Error) -> Bool {
        guard let code = (error as? IOError)?.errnoCode else { return false }
        return [ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT].contains(code)
    }

    private func failure(_ error: any Error) -> ExchangeFailure {
        switch error {
        case let failure as ExchangeFailure: failure
        case let failure as TLSError: .tls(authority, failure)
        case let error as IOError: failure(of: error)
        case ChannelError.connectTimeout: ExchangeFailure(.timeout, "\(peer) did not answer in time.")
        default: ExchangeFailure(.connect, "\(peer) could not be connected to: \(error).")
        }
    }

    private func failure(of error: IOError) -> ExchangeFailure {
        let name = proxy == nil ? "server" : "proxy"
        let lacksInterface = winner == nil && failedAddress?.lacksInterface == true
        let (reason, hint): (String, String) =
            switch error.errnoCode {
            case _ where lacksInterface:
                (
                    "could not be connected to: its address is of one network only (link-local), and nothing says which",
                    "Name the interface behind the address, as in [fe80::1%eth0], or use another address of the \(name)."
                )
            case ECONNREFUSED: ("refused the connection", "Is the \(name) running, and is the port right?")
            case EHOSTUNREACH, ENETUNREACH: ("cannot be reached from here", "Check the network connection and routes.")
            case ETIMEDOUT: ("did not answer in time", "The \(name) may be down, or a firewall drops the packets.")
            case ECONNRESET: ("reset the connection", "")
            case EMFILE, ENFILE:
                (
                    "could not be connected to, since Sluice has as many connections and files open as it may have",
                    "Close some clients, or set a higher limit with ulimit -n."
                )
            default: ("could not be connected to (\(error.systemText))", "")
            }
        return ExchangeFailure(proxy == nil ? .connect : .upstreamProxy, "\(peer) \(reason).", hint: hint)
    }

    private func finish(_ outcome: Outcome) {
        guard let completion else { return }
        self.completion = nil
        winningSocket = nil
        if case .success = outcome { winner = nil }
        stop()
        completion(outcome)
    }

    private func stop() {
        next?.cancel()
        next = nil
        limit?.cancel()
        for channel in running.values { channel.close(promise: nil) }
        running = [:]
        winner?.close(promise: nil)
        winner = nil
    }
}

extension SocketAddress {
    /// Whether this is a link-local IPv6 address (RFC 4291 §2.5.6) that names no interface.
    fileprivate var lacksInterface: Bool {
        guard self.protocol == .inet6 else { return false }
        // `sockaddr_in6`, the same everywhere: family, port and flow, 8 bytes; the address, 16; the interface, 4.
        let bytes = withSockAddr { address, size in Array(UnsafeRawBufferPointer(start: address, count: size)) }
        return bytes.count == 28 && bytes[8] == 0xFE && bytes[9] & 0xC0 == 0x80 && bytes[24...].allSatisfy { $0 == 0 }
    }
}

extension ExchangeFailure {
    static func tls(_ peer: String, _ failure: TLSError) -> ExchangeFailure {
        ExchangeFailure(.tls, "TLS with \(peer) failed: \(failure.explanation)")
    }
}
