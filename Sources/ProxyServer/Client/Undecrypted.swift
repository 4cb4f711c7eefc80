import HTTPModel
import NIOCore

/// Says why a host is not decrypted for a client with which TLS did not come about, and how it is again.
enum Undecrypted {
    /// For the log.
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

    /// For the handshake that failed, where no tunnel is opened because a rule has to read the host.
    static func hint(_ tool: String, reads place: String) -> String {
        "Connections to \(place) are not passed through unread, since a rule of '\(tool)' has to read them."
    }

    /// For the handshake that failed.
    static func hint(_ pair: CertificateRefusals.Pair, _ wait: TimeAmount) -> String {
        "For \(words(wait)) this client's connections to \(place(pair)) are passed through unread; "
            + "'sluice decrypt \(place(pair))' ends that, --no-auto-tunnel turns it off."
    }

    /// For the trace of a tunnel.
    static func note(
        _ pair: CertificateRefusals.Pair,
        _ reason: CertificateRefusals.Reason,
        remaining: TimeAmount
    ) -> String {
        let moment =
            remaining > .zero ? "in \(words(remaining))" : "once none of its tunnels to this host is open any more"
        let why =
            switch reason {
            case .certificate: "the client \(pair.who) refused Sluice's certificate for this host"
            case .nothingShared:
                "the client \(pair.who) and Sluice have no TLS version, cipher suite or signature algorithm in common"
            }
        return
            "not decrypted, since \(why); that is tried again \(moment), or at once after 'sluice decrypt \(place(pair))'"
    }

    /// The server as an authority, ASCII only: a name may have any byte from 0x80 on.
    static func place(_ pair: CertificateRefusals.Pair) -> String {
        place(RequestURL(scheme: "tunnel", host: pair.host, port: pair.port, path: ""))
    }

    static func place(_ url: RequestURL) -> String {
        url.authority.utf8.reduce(into: "") { text, byte in
            text += byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }
    }

    /// A time in the largest unit that is there whole.
    private static func words(_ time: TimeAmount) -> String {
        let seconds = (time.nanoseconds + 999_999_999) / 1_000_000_000
        let (count, unit) =
            seconds < 120 ? (seconds, "second") : seconds < 7_200 ? (seconds / 60, "minute") : (seconds / 3_600, "hour")
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
