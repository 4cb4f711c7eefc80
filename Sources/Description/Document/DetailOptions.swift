package import HTTPModel

package enum DetailPage: String, CaseIterable, Sendable {
    /// What happened: URL, status, connections, times, sizes, rules.
    case overview
    case request, response, messages
    /// What rules changed, as received beside as sent.
    case difference

    /// The one of some pages that says most: what was carried, before how.
    package static func best(of pages: [DetailPage]) -> DetailPage {
        [.messages, .response].first { pages.contains($0) } ?? .overview
    }

    /// The page that may be shown beside this one: the response beside the request, and the other way round.
    package var counterpart: DetailPage? {
        switch self {
        case .request: .response
        case .response: .request
        case .overview, .messages, .difference: nil
        }
    }
}

package enum BodyForm: String, CaseIterable, Sendable {
    /// Laid out and highlighted by its type.
    case pretty
    /// The text as it came.
    case raw
    case hex
    /// In hexadecimal with its content coding, as it was received or sent.
    case wire
}

package enum MessageVersion: String, CaseIterable, Sendable {
    case received, sent
}

package struct HeldSide: Sendable, Hashable {
    let isRequest: Bool
    /// How one decides: `execute (ctrl-e), cancel (ctrl-x) or abort (ctrl-a)`.
    let ways: String

    package init(isRequest: Bool, ways: String) { (self.isRequest, self.ways) = (isRequest, ways) }
}

package struct DetailOptions: Sendable, Hashable {
    package var page: DetailPage
    package var bodyForm: BodyForm = .pretty
    package var version: MessageVersion = .received
    /// How many bytes of a body are looked at.
    package var bodyLimit = 1 << 20
    package var showsPreview = true
    /// The values that are shown of a body that is JSON; `nil` for all of the page.
    package var place: Place?
    /// Whether values are shown with what they may mean: base64, URL-encoded text, numbers as dates.
    package var decodesValues = false
    /// The first message of a stream to show, from 0.
    package var firstMessage = 0
    /// Whether the last messages of a stream are shown instead, however many come before.
    package var showsNewest = false
    /// Whether the page was chosen; if not, the one that says most about the exchange is shown.
    package var isPageChosen = true
    /// Whether messages replace a page chosen for another exchange that would have them as bytes only.
    package var prefersMessages = false
    /// A text that a body has: the page and the form of the body that show it are chosen. `nil` for none.
    package var bodyText: String?
    package var isSentFromHere = false
    /// How the reader gets to the help on trusting the certificate; `nil` for the command that prints it.
    package var wayToTrust: String?
    /// How the reader goes on without verifying a server; `nil` if no running proxy can be told.
    package var wayToSkip: String?
    /// How the reader gets from the values at ``place`` to the whole page; `nil` if the page has only the values.
    package var wayToWhole: String?
    package var held: HeldSide?
    /// Whether there are so few rows that headers are folded and nothing is left empty.
    package var isShort = false
    /// How many columns there are, for tables, bars and bytes in hexadecimal.
    package var width = 80
    /// The columns of request and response when they are shown beside each other; `nil` if one page is shown at a time.
    package var besideWidth: Int?
    /// Whether what is in flight goes on; in a recording that has ended it never ends.
    package var isLive = true
    package var isUnicode = true

    /// Whether lengths are drawn as bars beside their numbers.
    package var hasBars = true

    /// Whether the page is printed, as by `sluice show`: first and last messages, nothing that keys would open.
    package var isPrinted = false

    package init(page: DetailPage = .overview) { self.page = page }
}
