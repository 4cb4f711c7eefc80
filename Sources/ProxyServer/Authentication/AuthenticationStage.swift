import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// Authenticates a client before other stages (RFC 9110 §11.7).
struct AuthenticationStage: Stage {
    let id = StageID("proxy-auth", order: .min)
    let check: AuthenticationCheck
    var outcome: ProxyAuthentication.Outcome?

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        RequestHeadHandler { _, exchange in
            guard let known = outcome ?? check.known() else { return .perform(check) }
            check.record?.sink.value.decided(isAccepted: known == .accepted)
            let outcome = check.outcome(known)
            for entry in outcome.trace { exchange.note(entry.text) }
            return outcome.verdict
        }
    }
}

struct AuthenticationCheck: BlockingWork {
    /// `nil` if missing or unreadable.
    let credentials: BasicCredentials?
    let authentication: ProxyAuthentication
    let client: SocketAddress?
    /// Whether clients regard Sluice as the server.
    let isReverse: Bool

    var record: Record?

    struct Record: Sendable {
        let sink: NIOLoopBound<UnprovenSink>
        let entrance: LoopEntrance
    }

    func run() -> WorkOutcome {
        let found = find()
        if let record { record.entrance.execute { record.sink.value.decided(isAccepted: found == .accepted) } }
        return outcome(found)
    }

    func outcome(_ outcome: ProxyAuthentication.Outcome) -> WorkOutcome {
        let note = TraceEntry(stage: "proxy-auth", outcome: .note, text: note(outcome))
        guard let answer = answer(to: outcome) else { return WorkOutcome(.forward, trace: [note]) }
        return WorkOutcome(.refuse(answer), trace: [note])
    }

    let isHeavy = true

    /// `nil` if the credentials must be verified: then they are in the queue.
    func known() -> ProxyAuthentication.Outcome? {
        guard let credentials else { return .missing }
        return authentication.enqueue(credentials, client: client) ? nil : .busy
    }

    func find() -> ProxyAuthentication.Outcome {
        guard let credentials else { return .missing }
        return authentication.verify(credentials, client: client)
    }

    private func answer(to outcome: ProxyAuthentication.Outcome) -> LocalAnswer? {
        let title = "This proxy requires a user and a password"
        switch outcome {
        case .accepted: return nil
        case .missing: return challenge(title, "The request names no user. \(hint)")
        case .wrong: return challenge(title, "The user or the password is wrong. \(hint)")
        case .tooMany(let seconds):
            let text = "There were too many wrong passwords from this address; try again in \(seconds) s."
            let fields = [("Retry-After", String(seconds))]
            return .explanation(status: 429, title: title, text: text, fields: fields)
        case .busy:
            let text = "Too many passwords are waiting to be checked; try again in a second."
            return .explanation(status: 503, title: title, text: text, fields: [("Retry-After", "1")])
        }
    }

    private var hint: String {
        isReverse
            ? "Send it like to a server (curl -u USER), or in Proxy-Authorization if the server needs credentials of its own."
            : "Give it with the proxy's address (http://USER:PASSWORD@host:port, curl --proxy-user USER)."
    }

    private func challenge(_ title: String, _ text: String) -> LocalAnswer {
        let field = isReverse ? "WWW-Authenticate" : "Proxy-Authenticate"
        let fields = [(field, "Basic realm=\"Sluice\", charset=\"UTF-8\"")]
        return .explanation(status: isReverse ? 401 : 407, title: title, text: text, fields: fields)
    }

    private func note(_ outcome: ProxyAuthentication.Outcome) -> String {
        let user = credentials.map { "'" + String(fieldBytes: $0.user) + "'" } ?? ""
        return switch outcome {
        case .accepted: "the user \(user) may use the proxy"
        case .missing: "refused: the request names no user (--proxy-auth)"
        case .wrong: "refused: the user \(user) or the password is wrong (--proxy-auth)"
        case .busy: "refused: too many passwords are waiting to be checked (--proxy-auth)"
        case .tooMany(let seconds): "refused for \(seconds) s: there were too many wrong passwords (--proxy-auth)"
        }
    }
}
