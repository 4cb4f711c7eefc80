import ExchangeCore
import HTTPModel
import NIOCore

/// A connection whose CONNECT waits for the client's authentication.
final class AuthenticatingLayer: ClientLayer {
    private let tunnel: RequestScope.Tunnel
    private let check: AuthenticationCheck
    private let connection: ClientConnection
    private let version: HTTPVersion
    private let answer: TunnelClientLayer.Answer
    private var early = ByteBuffer()
    private var isClosed = false

    init(
        _ tunnel: RequestScope.Tunnel,
        _ check: AuthenticationCheck,
        on connection: ClientConnection,
        version: HTTPVersion,
        answer: TunnelClientLayer.Answer
    ) {
        self.tunnel = tunnel
        self.check = check
        self.connection = connection
        self.version = version
        self.answer = answer
    }

    let wantsRead = false
    let isIdle = false

    func received(_ bytes: ByteBuffer) { early.writeImmutableBuffer(bytes) }
    func inputClosed(isHalfClose: Bool) { connection.close() }
    func closed() { isClosed = true }

    func begin() {
        if let known = check.known() { return decided(known) }
        connection.loop.offload(isHeavy: true) { [check] in
            check.find()
        } then: { [self] result in
            decided((try? result.get()) ?? .missing)
        }
    }

    private func decided(_ outcome: ProxyAuthentication.Outcome) {
        guard !isClosed else { return }
        if outcome == .accepted {
            SniffLayer.open(tunnel, nil, on: connection, version: version, early: early, answer: answer)
        } else {
            refuse(outcome)
        }
        connection.flush()
    }

    private func refuse(_ outcome: ProxyAuthentication.Outcome) {
        let layer = TunnelClientLayer(connection: connection, .unanswered(answer, early: ByteBuffer()))
        var arrival = RequestIntake.Arrival(tunnel, version: version)
        arrival.purpose = .tunnel
        let sink = UnprovenSink(connection)
        sink.decided(isAccepted: false)
        arrival.sink = sink
        arrival.chain = StageChain([AuthenticationStage(check: check, outcome: outcome)])
        RequestIntake(connection: connection, scope: .proxy).begin(tunnel, arrival, through: layer)
        connection.become(layer)
    }
}
