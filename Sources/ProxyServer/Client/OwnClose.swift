import HTTPModel

enum OwnClose {
    /// At the limit of connections; with how to raise it.
    case forOthers(hint: String)
    case stopping

    func failure(inTheMiddleOf beginning: String) -> ExchangeFailure {
        switch self {
        case .forOthers(let hint):
            let text = "Sluice closed the connection in the middle of \(beginning), to make room for another client."
            return ExchangeFailure(.clientTimeout, text, hint: hint)
        case .stopping: return ExchangeFailure(.stopped, "Sluice was stopped in the middle of \(beginning).")
        }
    }
}
