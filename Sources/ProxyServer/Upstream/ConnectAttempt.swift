import Foundation
import HTTPModel
import NIOCore
import NIOPosix
import Wire

/// Connects to one of several addresses, TLS handshake included (RFC 8305, simplified: the next address is tried when
/// one fails or has not answered for a quarter of a second; the first that has a TCP connection is taken).
final class ConnectAttempt {
    typealias Outcome = Result<EstablishedUpstream, ExchangeFailure>

    private let loop: LoopContext
    private var addresses: ArraySlice<SocketAddress>
    private let authority: String
    private let addHandlers: (any Channel) throws -> UpstreamConnection
    private var completion: ((Outcome) -> Void)?
    private var running: [ObjectIdentifier: any Channel] = [:]
    private var winner: (any Channel)?
    private var next: Scheduled<Void>?
    private var limit: Scheduled<Void>?
    /// Whether idle connections were closed for this one.
    private var hasMadeRoom = false
    /// Attempts that have neither a connection nor failed.
    private var underway = 0

    init(
        loop: LoopContext,
        addresses: [SocketAddress],
        authority: String,
        addHandlers: @escaping (any Channel) throws -> UpstreamConnection
    ) {
        self.loop = loop
        self.addresses = addresses[...]
        self.authority = authority
        self.addHandlers = addHandlers
    }

    func start(_ completion: @escaping (Outcome) -> Void) {
        self.completion = completion
        let seconds = loop.configuration.timeouts.connect
        limit = loop.eventLoop.assumeIsolated().scheduleTask(in: seconds) { [self] in
            let what =
                winner == nil
                ? "No connection to \(authority) came about" : "The TLS handshake with \(authority) did not finish"
            let hint = "The server may be down, or a firewall drops the packets; --connect-timeout sets the limit."
            finish(.failure(ExchangeFailure(.timeout, "\(what) within \(seconds.inSeconds) seconds.", hint: hint)))
        }
        tryNext()
    }

    func cancel() {
        completion = nil
        stop()
    }

    private func tryNext() {
        next?.cancel()
        guard completion != nil, winner == nil, let address = addresses.popFirst() else { return }
        guard let bootstrap = loop.makeServerBootstrap() else { return finish(.failure(.noConnection(authority))) }
        underway += 1
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let box = NIOLoopBoundBox<UpstreamConnection?>(nil, eventLoop: loop.eventLoop)
        bootstrap
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
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
                if !hasMadeRoom, (error as? IOError)?.isShortage == true {
                    hasMadeRoom = true
                    if loop.closeIdle() > 0 { addresses = [address] + addresses }
                }
                failed(error)
            }
        if !addresses.isEmpty {
            next = loop.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(250)) { [self] in tryNext() }
        }
    }

    /// Waits for the events of the socket: that TCP is there, that it is ready for use, that it failed before.
    private func watch(_ socket: UpstreamConnection, _ channel: any Channel) {
        socket.onConnected = { [weak self] in self?.connected(channel) }
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

    private func connected(_ channel: any Channel) {
        guard winner == nil, completion != nil else { return channel.close(promise: nil) }
        winner = channel
        next?.cancel()
        for (id, other) in running where id != ObjectIdentifier(channel) { other.close(promise: nil) }
    }

    private func failed(_ error: any Error) {
        underway -= 1
        guard winner == nil else { return }
        if !addresses.isEmpty {
            tryNext()
        } else if underway == 0 {
            finish(.failure(failure(error)))
        }
    }

    private func failure(_ error: any Error) -> ExchangeFailure {
        switch error {
        case let failure as ExchangeFailure: failure
        case let failure as TLSError: .tls(authority, failure)
        case let error as IOError: describe(error)
        case ChannelError.connectTimeout: ExchangeFailure(.timeout, "\(authority) did not answer in time.")
        default: ExchangeFailure(.connect, "No connection to \(authority) came about: \(error).")
        }
    }

    private func describe(_ error: IOError) -> ExchangeFailure {
        let (reason, hint): (String, String) =
            switch error.errnoCode {
            case ECONNREFUSED: ("refused the connection", "Is the server running, and is the port right?")
            case EHOSTUNREACH, ENETUNREACH:
                ("cannot be reached from here", "Check the network connection and routes.")
            case ETIMEDOUT: ("did not answer in time", "The server may be down, or a firewall drops the packets.")
            case ECONNRESET: ("reset the connection", "")
            case EMFILE, ENFILE:
                (
                    "could not be connected to, since Sluice has as many connections and files open as it may have",
                    "Close some clients, or set a higher limit with ulimit -n."
                )
            default: ("could not be connected to (\(error))", "")
            }
        return ExchangeFailure(.connect, "\(authority) \(reason).", hint: hint)
    }

    private func finish(_ outcome: Outcome) {
        guard let completion else { return }
        self.completion = nil
        if case .success = outcome { winner = nil }
        stop()
        completion(outcome)
    }

    private func stop() {
        next?.cancel()
        limit?.cancel()
        for channel in running.values { channel.close(promise: nil) }
        running = [:]
        winner?.close(promise: nil)
        winner = nil
    }
}

extension ExchangeFailure {
    static func tls(_ peer: String, _ failure: TLSError) -> ExchangeFailure {
        ExchangeFailure(.tls, "TLS with \(peer) failed: \(failure.explanation)")
    }
}
