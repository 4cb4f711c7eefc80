/// The parts of an exchange's description.
package enum DetailPage: String, CaseIterable, Sendable {
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
package enum BodyForm: String, CaseIterable, Sendable {
    /// Laid out and highlighted by its type.
    case pretty
    /// The text as it came.
    case raw
    /// The bytes in hexadecimal.
    case hex
}

/// Which of two messages is shown, where a rule made another out of the first.
package enum MessageVersion: String, CaseIterable, Sendable {
    case received
    case sent
}

/// How an exchange is shown.
package struct DetailOptions: Sendable, Hashable {
    /// The part to show.
    package var page: DetailPage
    /// How bodies are shown.
    package var bodyForm: BodyForm = .pretty
    /// Which message is shown, where a rule changed it.
    package var version: MessageVersion = .received
    /// How many bytes of a body are looked at.
    package var bodyLimit = 1 << 20
    /// Whether images are drawn in half blocks.
    package var showsPreview = true
    /// The first message of a stream to show, from 0.
    package var firstMessage = 0
    /// How many columns there are, for tables, bars and bytes in hexadecimal.
    package var width = 80
    /// Whether what is in flight goes on; in a recording that has ended it never ends.
    package var isLive = true
    /// Whether signs that are not ASCII may be used.
    package var isUnicode = true

    /// Whether lengths are drawn as bars beside their numbers.
    package var hasBars = true

    /// Whether the page is printed and read from above, as `sluice show` does: streams with their first and last messages,
    /// binary bodies described, nothing that a key would open or save.
    package var isPrinted = false

    package init(page: DetailPage = .overview) { self.page = page }
}
