/// The parts in which the detail pane shows an exchange.
public enum DetailPage: String, CaseIterable, Sendable {
    /// What happened: URL, status, connections, times, sizes, rules.
    case overview
    /// The request, head and body.
    case request
    /// The response, head and body.
    case response
    /// What a stream carried.
    case messages
    /// What rules changed, as received beside as sent.
    case difference
}

/// How a body is shown.
public enum BodyForm: String, CaseIterable, Sendable {
    /// Laid out and highlighted by its type.
    case pretty
    /// The text as it came.
    case raw
    /// The bytes in hexadecimal.
    case hex
}

/// Which of two messages is shown, where a rule made another out of the first.
public enum MessageStand: String, CaseIterable, Sendable {
    /// As it was received.
    case received
    /// As it was sent on.
    case sent
}

/// How an exchange is shown.
public struct DetailOptions: Sendable, Hashable {
    /// The part to show.
    public var page: DetailPage
    /// How bodies are shown.
    public var bodyForm: BodyForm = .pretty
    /// Which message is shown, where a rule changed it.
    public var stand: MessageStand = .received
    /// How many bytes of a body are looked at.
    public var bodyLimit = 1 << 20
    /// Whether images are drawn in half blocks.
    public var showsPreview = true
    /// The first message of a stream to show, from 0.
    public var firstMessage = 0
    /// How many columns there are, for tables, bars and bytes in hexadecimal.
    public var width = 80
    /// Whether what is in flight goes on; in a recording that has ended it never ends.
    public var isLive = true
    /// Whether signs that are not ASCII may be used.
    public var isUnicode = true

    /// Whether lengths are drawn as bars beside their numbers.
    public var hasBars = true

    /// Creates the usual options for a part.
    public init(page: DetailPage = .overview) {
        self.page = page
    }
}
