import ExchangeCore
import HTTPModel
import NIOCore

/// A connection whose CONNECT waits for the client's authentication.
final class AuthenticatingLayer: ClientLayer {
    private let pending: PendingTunnel
    private let check: AuthenticationCheck
    private var early = ByteBuffer()
    private var isClosed = false

    init(_ pending: PendingTunnel, _ check: AuthenticationCheck) {
        self.pending = pending
        self.check = check
    }

    var connection: ClientConnection { pending.connection }
    let wantsRead = false
    let isIdle = false

    func received(_ bytes: ByteBuffer) { early.writeImmutableBuffer(bytes) }
    func inputClosed(isHalfClose: Bool) { connection.close() }
    func closed() { isClosed = true }

    func begin() {
        if let known = check.known() { return decided(known) }
        loop.offload(isHeavy: true) { [check] in
            check.find()
        } then: { [self] result in
            decided((try? result.get()) ?? .missing)
        }
    }

    private func decided(_ outcome: ProxyAuthentication.Outcome) {
        guard !isClosed else { return }
        if outcome == .accepted {
            pending.open(nil, early: early)
        } else {
            refuse(outcome)
        }
        connection.flush()
    }

    private func refuse(_ outcome: ProxyAuthentication.Outcome) {
        pending.begin { arrival, _ in
            let sink = UnprovenSink(connection)
            sink.decided(isAccepted: false)
            arrival.sink = sink
            arrival.chain = StageChain([AuthenticationStage(check: check, outcome: outcome)])
        }
    }
}
