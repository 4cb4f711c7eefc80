import HTTPModel

/// One half of an exchange, the request or the response, on its way from one peer to the other.
struct Half<Head: FlowingHead> {
    var flow: MessageFlow<Head>
    var reading = Reading()
    /// The body, if it is a stream whose messages are counted and timed.
    var stream: StreamTap?
    var announced: Int64?

    init(budget: ByteBudget) { flow = MessageFlow(budget: budget) }
}

struct Reading {
    /// Why this half is not read.
    var pauses: PauseReasons = []
    /// The last request to the connection's adapter: whether to read.
    var isOn = true
    /// The number of the wake or work that this half waits for; older ones are ignored.
    var generation = 0

    /// The next request to the adapter, if it changes.
    mutating func takeChange() -> Bool? {
        guard isOn != pauses.isEmpty else { return nil }
        isOn.toggle()
        return isOn
    }
}
