import HTTPModel
import NIOCore

/// A CONNECT or a SOCKS request that has no answer yet.
struct PendingTunnel {
    let tunnel: RequestScope.Tunnel
    let connection: ClientConnection
    let version: HTTPVersion
    let answer: TunnelClientLayer.Answer

    /// Answers the request and serves the tunnel; `early` has bytes that were read after the request.
    func open(_ check: AuthenticationCheck?, early: ByteBuffer?) {
        // The proxy's own pages need no credentials, so the tunnel to them must not reach anything else.
        let isForOwnPages = tunnel.host == ProxyPages.host
        if let check, !isForOwnPages {
            let layer = AuthenticatingLayer(self, check)
            connection.become(layer, with: early)
            return layer.begin()
        }
        guard !isForOwnPages, let reason = SniffLayer.Unread(tunnel, of: connection) else {
            let scope = isForOwnPages ? RequestScope.ownPages : .tunnel(tunnel)
            _ = answer.write(ResponseHead(status: 200, reason: "Connection established"), .none, nil)
            connection.flush()
            return connection.become(SniffLayer(connection: connection, scope: scope), with: early)
        }
        begin(early: early) { reason.apply(to: &$0, $1, of: connection) }
    }

    /// Begins an exchange for a tunnel that passes unread, or is refused by a stage.
    func begin(early: ByteBuffer? = nil, _ prepare: (inout RequestIntake.Arrival, TunnelClientLayer) -> Void) {
        let layer = TunnelClientLayer(connection: connection, .unanswered(answer, early: ByteBuffer()))
        var arrival = RequestIntake.Arrival(tunnel, version: version)
        prepare(&arrival, layer)
        RequestIntake(connection: connection, scope: .proxy).begin(tunnel, arrival, through: layer)
        connection.become(layer, with: early)
    }
}
