package import Runner
package import Terminal

/// What has happened: the only thing that changes the model.
package enum Message: Sendable {
    package typealias Change = @Sendable (inout ConsoleModel) -> [Effect]

    case input(InputEvent)
    case command(Command, String?)
    /// A question was answered; `nil` if the answer does nothing.
    case chosen(ConfirmState.Choice?)
    /// On lines: the overlays and the answer to the last line were written.
    case written
    case resized(Size)
    /// In microseconds since 1970.
    case tick(Int64)
    case query(QueryEvent)
    /// The proxy runs or the session is open; with the path of the authority's certificate.
    case ready(authority: String)
    case proxy(ControlStatus, [HoldSummary])
    /// Why the proxy has ended or cannot be reached.
    case proxyLost(String)
    /// The result of an effect, as the change that its feature makes.
    case answer(Change)
    /// The same for what no user waits for: progress, connections, a rotated session.
    case news(Change)
    case failed(any Error)
    case stop

    static func said(_ words: String, _ kind: Notice.Kind = .info) -> Message {
        .answer {
            $0.tell(words, kind)
            return []
        }
    }

    /// Whether a user waits for it.
    var isAnswer: Bool {
        switch self {
        case .tick, .query, .proxy, .news: false
        default: true
        }
    }
}
