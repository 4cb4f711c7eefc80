package import HTTPModel

package enum DetailPage: String, CaseIterable, Sendable {
    /// What happened: URL, status, connections, times, sizes, rules.
    case overview
    case request, response, messages
    /// What rules changed: the received beside the sent version.
    case difference

    /// The most informative of some pages: messages, then the response, then the overview.
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
    /// Formatted and highlighted by its type.
    case pretty
    /// The unchanged text.
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
    /// How the user decides: `execute (ctrl-e), cancel (ctrl-x) or abort (ctrl-a)`.
    let ways: String

    package init(isRequest: Bool, ways: String) { (self.isRequest, self.ways) = (isRequest, ways) }
}

package struct DetailOptions: Sendable, Hashable {
    package var page: DetailPage
    package var bodyForm: BodyForm = .pretty
    package var version: MessageVersion = .received
    /// How many bytes of a body are read.
    package var bodyLimit = 1 << 20
    package var showsPreview = true
    /// The place of the values to show of a JSON body; `nil` shows the whole page.
    package var place: Place?
    /// Whether values are shown with their possible meanings: base64, URL-encoded text, numbers as dates.
    package var decodesValues = false
    /// The first message of a stream to show, from 0.
    package var firstMessage = 0
    /// Whether the last messages of a stream are shown, regardless of ``firstMessage``.
    package var showsNewest = false
    /// Whether the page was chosen; if not, the most informative page of the exchange is shown.
    package var isPageChosen = true
    /// Whether messages replace a request or response page, chosen for another exchange, if the bodies are frames.
    package var prefersMessages = false
    /// A text in a body: the page and the form of the body that show this text are chosen. `nil` if there is none.
    package var bodyText: String?
    package var isSentFromHere = false
    /// The key for help on trusting the certificate; if `nil`, the command that prints the help is shown.
    package var wayToTrust: String?
    /// How the user stops verifying a server; `nil` if there is no running proxy to control.
    package var wayToSkip: String?
    /// How the reader gets from the values at ``place`` to the whole page; `nil` if the page has only the values.
    package var wayToWhole: String?
    package var held: HeldSide?
    /// Whether there are few rows, so that headers are folded and no line is left empty.
    package var isShort = false
    /// The width in columns, for tables, bars and bytes in hexadecimal.
    package var width = 80
    /// The columns of request and response when they are shown beside each other; `nil` if one page is shown at a time.
    package var besideWidth: Int?
    /// Whether exchanges in flight may continue; in an ended recording they never end.
    package var isLive = true
    package var isUnicode = true

    /// Whether lengths are drawn as bars beside their numbers.
    package var hasBars = true

    /// Whether the page is printed, as by `sluice show`: first and last messages, nothing that keys would open.
    package var isPrinted = false

    package init(page: DetailPage = .overview) { self.page = page }
}
