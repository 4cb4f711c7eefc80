import HTTPModel

/// Why Sluice closes a client's connection on which no request is answered, though nothing went wrong there.
enum OwnClose {
    /// There are as many connections as there may be; how there can be more.
    case forOthers(hint: String)
    /// Sluice stops.
    case stopping

    /// The failure of what the client was in the middle of.
    func failure(inTheMiddleOf beginning: String) -> ExchangeFailure {
        switch self {
        case .forOthers(let hint):
            let text = "Sluice closed the connection in the middle of \(beginning), to make room for another client."
            return ExchangeFailure(.clientTimeout, text, hint: hint)
        case .stopping:
            return ExchangeFailure(.stopped, "Sluice was stopped while the client was in the middle of \(beginning).")
        }
    }
}
