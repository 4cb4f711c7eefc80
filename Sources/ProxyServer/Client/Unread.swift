import ExchangeCore
import HTTPModel
import NIOCore
import Synchronization

extension SniffLayer {
    enum Unread {
        /// No rule decrypts its host.
        case notIntercepted
        /// TLS with its client failed; with the time until the next attempt.
        case refused(CertificateRefusals.Pair, CertificateRefusals.Reason, TimeAmount)

        /// `nil` if the tunnel is to be read, or if the client is not known yet and was not waited for.
        init?(_ tunnel: RequestScope.Tunnel, of connection: ClientConnection, hasWaited: Bool = false) {
            let loop = connection.loop
            let (name, address) = tunnel.isUnnamed ? (nil, tunnel.host) : (tunnel.host, tunnel.askedAddress)
            guard loop.rules.decrypts(name, tunnel.port, address) else {
                self = .notIntercepted
                return
            }
            if tunnel.isUnnamed || connection.identity.isAwaited && !hasWaited { return nil }
            let pair = connection.pair(with: tunnel)
            let refusal = loop.shared.refusals.withLock { refusals in
                refusals.remaining(pair, now: loop.eventLoop.now).map { ($0, refusals.reason(pair)) }
            }
            guard let (rest, reason) = refusal, loop.rules.reader(of: tunnel) == nil else { return nil }
            self = .refused(pair, reason, rest)
        }

        func apply(
            to arrival: inout RequestIntake.Arrival,
            _ layer: TunnelClientLayer,
            of connection: ClientConnection
        ) {
            switch self {
            case .notIntercepted: arrival.flags = .notIntercepted
            case .refused(let pair, let reason, let rest):
                arrival.flags = .certificateRefused
                layer.onEstablished = { [connection] _ in connection.opensTunnel(pair) }
                arrival.notes = [Undecrypted.note(pair, reason, remaining: rest)]
            }
        }
    }
}

extension ProxyRules {
    func reader(of tunnel: RequestScope.Tunnel) -> String? { chain.reader(of: tunnel.url)?.name }
}
