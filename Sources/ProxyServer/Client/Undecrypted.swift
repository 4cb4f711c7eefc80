import ExchangeCore
import HTTPModel
import NIOCore
import Synchronization

/// Explains why a host is not decrypted for a client whose TLS failed, and how to change that.
enum Undecrypted {
    static func notice(
        _ pair: CertificateRefusals.Pair,
        _ reason: CertificateRefusals.Reason,
        _ wait: TimeAmount
    ) -> String {
        let beginning = "\(place(pair)) is not decrypted for \(words(wait)): "
        let end = "sluice decrypt \(place(pair)) (--no-auto-tunnel turns this off)"
        switch reason {
        case .certificate:
            return beginning + "its client \(pair.who) refuses Sluice's certificate. Let it trust that "
                + "(sluice ca export --format trust-help), then: \(end)"
        case .nothingShared:
            return beginning + "its client \(pair.who) and Sluice have no TLS version, cipher suite or signature "
                + "algorithm in common. To try again at once: \(end)"
        }
    }

    /// For a failed handshake after which no tunnel is opened, because a rule must read the host.
    static func hint(_ tool: String, reads place: String) -> String {
        "Connections to \(place) do not pass undecrypted, because a rule of '\(tool)' must read them."
    }

    static func hint(_ pair: CertificateRefusals.Pair, _ wait: TimeAmount) -> String {
        "For \(words(wait)) this client's connections to \(place(pair)) pass undecrypted; "
            + "'sluice decrypt \(place(pair))' ends that, --no-auto-tunnel turns it off."
    }

    static func note(
        _ pair: CertificateRefusals.Pair,
        _ reason: CertificateRefusals.Reason,
        remaining: TimeAmount
    ) -> String {
        let moment = remaining > .zero ? "in \(words(remaining))" : "once none of its tunnels to this host is open"
        let why =
            switch reason {
            case .certificate: "the client \(pair.who) refused Sluice's certificate for this host"
            case .nothingShared:
                "the client \(pair.who) and Sluice have no TLS version, cipher suite or signature algorithm in common"
            }
        return
            "not decrypted, because \(why); the next attempt is \(moment), or at once after 'sluice decrypt \(place(pair))'"
    }

    /// The server's authority in ASCII: bytes from 0x80 on, which a name may contain, are percent-encoded.
    static func place(_ pair: CertificateRefusals.Pair) -> String {
        place(RequestURL(scheme: "tunnel", host: pair.host, port: pair.port, path: ""))
    }

    static func place(_ url: RequestURL) -> String {
        url.authority.utf8.reduce(into: "") { text, byte in
            text += byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }
    }

    /// A time in the largest whole unit.
    private static func words(_ time: TimeAmount) -> String {
        let seconds = (time.nanoseconds + 999_999_999) / 1_000_000_000
        let (count, unit) =
            seconds < 120 ? (seconds, "second") : seconds < 7_200 ? (seconds / 60, "minute") : (seconds / 3_600, "hour")
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}

extension SniffLayer {
    enum Unread {
        case notIntercepted
        /// TLS with the client failed; the time is until the next attempt.
        case refused(CertificateRefusals.Pair, CertificateRefusals.Reason, TimeAmount)

        /// `nil` if Sluice is to read the tunnel, or must first wait until the client is known.
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
