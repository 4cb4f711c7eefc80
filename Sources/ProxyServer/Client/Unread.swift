import HTTPModel
import NIOCore
import Synchronization

extension SniffLayer {
    /// Why a tunnel is to pass unread.
    enum Unread {
        /// No rule wants its host decrypted.
        case notIntercepted
        /// Its client refused our certificate; how long until that is tried again.
        case refused(CertificateRefusals.Pair, TimeAmount)

        /// `nil` where it is to be read.
        init?(_ tunnel: RequestScope.Tunnel, of connection: ClientConnection) {
            let loop = connection.loop
            guard tunnel.host != ProxyPages.host else { return nil }
            let (name, address) = tunnel.isUnnamed ? (nil, tunnel.host) : (tunnel.host, tunnel.askedAddress)
            guard loop.rules.decrypts(name, tunnel.port, address) else {
                self = .notIntercepted
                return
            }
            if tunnel.isUnnamed { return nil }
            let pair = connection.pair(with: tunnel)
            let rest = loop.shared.refusals.withLock { $0.remaining(pair, now: loop.eventLoop.now) }
            guard let rest else { return nil }
            self = .refused(pair, rest)
        }

        func apply(
            to arrival: inout RequestIntake.Arrival,
            _ layer: TunnelClientLayer,
            of connection: ClientConnection
        ) {
            switch self {
            case .notIntercepted: arrival.flags = .notIntercepted
            case .refused(let pair, let rest):
                arrival.flags = .certificateRefused
                layer.onEstablished = { [connection] _ in connection.opensTunnel(pair) }
                arrival.notes = [Undecrypted.note(pair, remaining: rest)]
            }
        }
    }
}
