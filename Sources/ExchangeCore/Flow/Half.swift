import HTTPModel

/// One half of an exchange, the request or the response, on its way from one peer to the other.
struct Half<Head: FlowingHead> {
    var flow: MessageFlow<Head>
    var reading = Reading()
    /// The body, where it is a stream whose messages are counted and timed.
    var stream: StreamTap?
    /// How long the body is to be, where the head says so.
    var announced: Int64?

    init(budget: ByteBudget) { flow = MessageFlow(budget: budget) }
}

/// Whether the sender of a half is read, and what is waited for.
struct Reading {
    /// Why the sender is not read.
    var pauses: PauseReasons = []
    /// What the sender's adapter was last asked for.
    var isOn = true
    /// Names the wake or the work that is waited for; an older one is ignored.
    var generation = 0

    /// The change to ask the sender's adapter for, if there is one.
    mutating func takeChange() -> Bool? {
        guard isOn != pauses.isEmpty else { return nil }
        isOn.toggle()
        return isOn
    }
}
