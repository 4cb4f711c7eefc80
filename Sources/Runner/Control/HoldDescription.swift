import Content
import ExchangeCore
package import Foundation
package import HTTPModel
import NIOCore

/// A held message in the reply to `hold.list`.
package struct HoldSummary: Codable, Sendable, Hashable {
    package var id: String
    package var side: String
    package var method: String
    /// For a request the destination; for a response the URL that the client sent.
    package var url: String
    package var status: Int?
    /// The size of the received body in bytes; `nil` if the body is not held.
    package var size: Int?
    /// In seconds.
    package var age: Double
    /// What happens without a decision (`execute`, `cancel` or `abort`); `nil` if the message waits without limit.
    package var unanswered: String?
    package var remaining: Double?

    init(_ hold: WaitingHold) {
        id = hold.id.description
        method = hold.method
        url = hold.url
        age = HoldSummary.rounded(hold.age)
        unanswered = hold.unanswered?.resolution.decision.rawValue
        remaining = (hold.unanswered?.remaining).map(HoldSummary.rounded)
        size = hold.message.body?.readableBytes
        switch hold.message {
        case .request(let head, _, let destination):
            side = "request"
            method = head.method
            url = destination.url(of: head)
        case .response(let head, _):
            side = "response"
            status = head.status
        }
    }

    /// To the millisecond.
    private static func rounded(_ seconds: Double) -> Double { (seconds * 1_000).rounded() / 1_000 }
}

/// A held message in the reply to `hold.show`.
package struct HoldDetails: Codable, Sendable, Hashable {
    package struct Body: Codable, Sendable, Hashable {
        enum CodingKeys: String, CodingKey {
            case size, decodedSize, text, base64
            case isCut = "cut"
            case problem
        }

        /// The size of the received body in bytes.
        package var size: Int
        package var decodedSize: Int
        package var text: String?
        /// Set if the body is not text.
        package var base64: Data?
        package var isCut: Bool
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
    /// The text to edit, which `hold.edit` accepts as `raw`.
    package var draft: String
    /// `nil` if only the head is held.
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
    package func url(of head: RequestHead) -> String {
        let port = RequestURL.defaultPort(of: scheme) == port ? "" : ":\(port)"
        return "\(scheme)://\(HostAddress.bracketed(host))\(port)\(head.target == "*" ? "" : head.target)"
    }
}
