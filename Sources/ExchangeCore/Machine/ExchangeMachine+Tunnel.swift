import HTTPModel
package import NIOCore

/// Tunnels: bytes that both connections carry unread, from a CONNECT or after a 101.
///
/// The end of the client's bytes is `requestEndReceived`, the end of the server's `responseEndReceived`; each is passed
/// on by itself, so that half-closed connections work. The tunnel is over when both have ended, or when either side is
/// gone.
extension ExchangeMachine {
    /// There is a connection for a CONNECT, or for a protocol that turned out not to be HTTP.
    mutating func beginTunnel() {
        let isAnswered = responseState != .none
        state = .tunnel(.open)
        responseState = .sending(.unknown)
        record.status = 200
        outgoing?.forget()
        request.flow.becomeTunnel(links)
        response.flow.becomeTunnel(links)
        if request.flow.isPaced { emit(.boundClientBuffer) }
        if !isAnswered {
            let head = ResponseHead(status: 200, reason: "Connection established")
            messages.responseHead = head.serialized()
            emit(.sendResponseHead(head, .none))
        }
        emit(.becomeTunnel)
        sink.record(.updated(record, messages))
    }

    /// After 101 both connections carry bytes of a different protocol (RFC 9110 §7.8).
    mutating func upgrade(to head: ResponseHead) {
        if case .relaying(.switching(isOpen: true)) = state { state = .tunnel(.open) } else { state = .tunnel(.closed) }
        record.kind = .upgraded
        // After a request body, readers of the session could not find where the frames begin.
        if record.sizes.requestBody == 0, head.fields.contains(.upgrade, token: "websocket") { beginWebSocket() }
        requestState = .receiving
        let isBound = request.flow.isPaced && outgoing?.framing != BodyFraming.none
        request.flow.becomeTunnel(links)
        response.flow.becomeTunnel(links)
        if request.flow.isPaced, !isBound { emit(.boundClientBuffer) }
        emit(.becomeTunnel)
        sink.record(.updated(record, messages))
    }

    /// The server's connection is gone, so nothing more comes for the client.
    mutating func tunnelCut(_ failure: ExchangeFailure) {
        let hasEnded = state == .tunnel(.ended) || hasClosedWebSocket
        abandonUpstream()
        guard hasEnded || responseState == .ended else {
            // The connection broke before the bytes ended: a regular end would mislead the client.
            record.failure = failure
            record.state = .failed
            emit(.abortClient(failure.resetCode ?? .connectError))
            finish()
            return
        }
        if responseState != .ended {
            note("the tunnel ended: \(failure.message)")
            guard response.flow.isEmpty else {
                // A stage still holds bytes of the server: the client gets them first.
                requestState = .ended(isClean: true)
                discardRequest()
                return
            }
            responseState = .ended
            emit(.sendResponseEnd(nil))
        }
        finish()
    }

    /// The tunnel's bytes are read as new exchanges; the client, still connected, gets nothing from this one.
    package mutating func tunnelIsRead(now: NIODeadline) {
        guard !isOver else { return }
        exchange.now = now
        abandonUpstream(.noError)
        finish()
    }

    package mutating func tunnelIsTLS(_ note: String) {
        guard !isOver else { return }
        record.flags.insert(.tunnelledTLS)
        self.note(note)
    }
}
