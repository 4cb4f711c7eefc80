import HTTPModel
package import NIOCore

/// Tunnels: bytes that both legs carry unread, from a CONNECT or after a 101.
///
/// The end of the client's bytes is `requestEndReceived`, the end of the server's `responseEndReceived`; each is
/// passed on by itself, so that half-closed connections work. The tunnel is over when both have ended, or when either
/// side is gone.
extension ExchangeMachine {
    /// There is a connection for a CONNECT, or for a protocol that turned out not to be HTTP.
    mutating func beginTunnel() {
        isTunnel = true
        responseState = .sending
        record.status = 200
        outgoing?.forget()
        requestFlow.becomeTunnel(links)
        responseFlow.becomeTunnel(links)
        if requestFlow.isPaced { boundClientBuffer() }
        if !isTunnelEstablished {
            let head = ResponseHead(status: 200, reason: "Connection established")
            messages.responseHead = head.serialized()
            emit(.sendResponseHead(head, .none))
        }
        emit(.becomeTunnel)
        sink.record(.updated(record, messages))
    }

    /// Whoever paces the client's bytes wants few of them on their way.
    mutating func boundClientBuffer() {
        guard !hasBoundClientBuffer else { return }
        hasBoundClientBuffer = true
        emit(.boundClientBuffer)
    }

    /// After 101 both legs carry another protocol's bytes (RFC 9110 §7.8).
    mutating func upgrade(to head: ResponseHead) {
        isTunnel = true
        record.kind = .upgraded
        // With a body before them the frames would not begin where a reader of the session looks for them.
        if record.sizes.requestBody == 0, head.fields.contains(.upgrade, token: "websocket") { beginWebSocket() }
        requestState = .receiving
        requestFlow.becomeTunnel(links)
        responseFlow.becomeTunnel(links)
        if requestFlow.isPaced { boundClientBuffer() }
        emit(.becomeTunnel)
        sink.record(.updated(record, messages))
    }

    /// The server's connection is gone: the client is told that nothing more comes.
    mutating func tunnelCut(_ failure: ExchangeFailure) {
        let hasEnded = upstream == .answered || hasClosedWebSocket
        abandonUpstream()
        guard hasEnded || responseState == .ended else {
            // Not the end of its bytes, but of the stream that carried them: an end would be a lie to the client.
            record.failure = failure
            record.state = .failed
            emit(.abortClient(failure.resetCode ?? .connectError))
            finish()
            return
        }
        if responseState != .ended {
            exchange.stage = "sluice"
            exchange.note("the tunnel ended: \(failure.message)")
            guard responseFlow.isEmpty else {
                // A stage still holds some of what the server sent: the client gets that first.
                requestState = .ended
                discardsRequest = true
                unpause(.request, [.peerFull, .paced, .working])
                return
            }
            responseState = .ended
            emit(.sendResponseEnd(nil))
        }
        finish()
    }

    /// What was taken for a tunnel turned out to be read after all, in exchanges of its own.
    ///
    /// The client is still there, and is not told anything.
    package mutating func tunnelIsRead(now: NIODeadline) {
        guard !isFinished else { return }
        exchange.now = now
        abandonUpstream(.noError)
        finish()
    }

    /// The tunnelled bytes turned out to be TLS that stays unread.
    package mutating func tunnelIsTLS(_ note: String) {
        guard !isFinished else { return }
        recordsBodies = false
        record.flags.insert(.tunnelledTLS)
        exchange.stage = "sluice"
        exchange.note(note)
    }

    /// Writes down something worth knowing that the proxy noticed.
    package mutating func note(_ text: String) {
        exchange.stage = "sluice"
        exchange.note(text)
    }
}
