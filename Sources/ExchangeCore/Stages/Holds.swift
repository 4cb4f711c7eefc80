package import HTTPModel
package import NIOCore

package struct HoldID: Sendable, Hashable, CustomStringConvertible {
    package let exchange: ExchangeID
    /// The number of the hold in its exchange, from 1.
    package let ordinal: Int
    package init(exchange: ExchangeID, ordinal: Int) {
        self.exchange = exchange
        self.ordinal = ordinal
    }

    /// For example `12.1`.
    package var description: String { "\(exchange).\(ordinal)" }
}

/// A message that waits for a decision. The body keeps its content coding; it is `nil` if only the head is held and the
/// body streams on after the decision.
package enum HeldMessage: Sendable {
    /// A request before it is sent, and its destination. Editing the destination does not change `Host`.
    case request(RequestHead, body: ByteBuffer?, destination: Destination)
    /// A response before it is sent to the client.
    case response(ResponseHead, body: ByteBuffer?)
}

/// The decision about a held message, in Charles' words.
package enum HoldResolution: Sendable {
    /// Send the message as edited, `nil` for unedited; a body is ignored if only the head was held.
    case execute(HeldMessage?)
    /// Send the message as it was when it was held.
    case cancel
    /// Close the client's connection.
    case abort
}
