import Content
import ExchangeCore
package import Foundation
package import HTTPModel
import NIOCore

/// A message that waits, as `hold.list` shows it.
package struct HoldSummary: Codable, Sendable, Hashable {
    /// For example `12.1`.
    package var id: String
    /// `request` or `response`.
    package var side: String
    package var method: String
    /// Where the request will go; for a response the URL as the client sent it.
    package var url: String
    /// The response's status; `nil` for a request.
    package var status: Int?
    /// The body's size as received; `nil` where it is not held.
    package var size: Int?
    /// How long it has waited: seconds.
    package var age: Double
    /// `execute`, `cancel` or `abort`: what happens without a decision; `nil` where it waits without limit.
    package var unanswered: String?
    /// Seconds until then.
    package var remaining: Double?

    init(_ hold: WaitingHold) {
        id = hold.id.description
        method = hold.method
        url = hold.url
        age = HoldSummary.rounded(hold.age)
        unanswered = hold.unanswered?.resolution.decision.rawValue
        remaining = (hold.unanswered?.remaining).map(HoldSummary.rounded)
        switch hold.message {
        case .request(let head, let body, let destination):
            side = "request"
            method = head.method
            url = destination.url(of: head)
            size = body?.readableBytes
        case .response(let head, let body):
            side = "response"
            status = head.status
            size = body?.readableBytes
        }
    }

    /// Seconds to the millisecond.
    private static func rounded(_ seconds: Double) -> Double { (seconds * 1_000).rounded() / 1_000 }
}

/// A message that waits, whole, as `hold.show` shows it.
package struct HoldDetails: Codable, Sendable, Hashable {
    package struct Body: Codable, Sendable, Hashable {
        enum CodingKeys: String, CodingKey {
            case size, decodedSize, text, base64
            case isCut = "cut"
            case problem
        }

        /// Its size as received.
        package var size: Int
        /// Its size without content coding.
        package var decodedSize: Int
        /// The decoded body, where it is text.
        package var text: String?
        /// The decoded body, where it is not.
        package var base64: Data?
        /// Whether only the beginning is here.
        package var isCut: Bool
        /// Why it could not be decoded further.
        package var problem: String?

        init(_ content: HoldContent) {
            let shown = content.bytes.readableBytesView.prefix(ControlProtocol.longestShownBody)
            size = content.size
            decodedSize = content.bytes.readableBytes
            isCut = shown.count < decodedSize
            problem = content.problem
            text = isCut ? nil : content.text
            base64 = text == nil ? Data(shown) : nil
        }
    }

    package var summary: HoldSummary
    /// The start line and all fields, a line each.
    package var head: String
    /// The message as a text to edit, which `hold.edit` takes back as `raw`.
    package var draft: String
    /// The body; `nil` where the head alone is held and the body streams on.
    package var body: Body?

    init(_ hold: WaitingHold) {
        summary = HoldSummary(hold)
        let draft = HoldDraft(hold.message)
        head = draft.fullHead
        self.draft = draft.text
        body = HoldContent(hold.message).map(Body.init)
    }
}

extension Destination {
    /// The URL that a request with this head asks for there.
    package func url(of head: RequestHead) -> String {
        let port = RequestURL.defaultPort(of: scheme) == port ? "" : ":\(port)"
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(host)\(port)\(head.target == "*" ? "" : head.target)"
    }
}
